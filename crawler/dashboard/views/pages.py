"""The view "pages": the pages of a crawl, searched and filtered."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field, FiniteFloat
from sqlalchemy import Connection

from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context, DashboardContext
from crawler.dashboard.excerpts import ExcerptPiece, excerpt
from crawler.dashboard.views import Text, Whole
from crawler.dashboard.views.choices import SiteChoice, chosen_site, crawl_names, offered_sites
from crawler.dashboard.views.page_list import Held, ListedPage, PageCounts, choices, held, listed
from crawler.dashboard.views.page_search import ORDERS, STATES, PageQuery, Place, look
from crawler.store.read_only import glance
from crawler.translation.message import N_

AT_ONCE = 50
MOST_WORDS = 10
COUNTING = 30.0
"""Seconds that counting a crawl's pages may take, in the background."""
AGE, PATIENCE = 60.0, 0.05

router, api = APIRouter(), APIRouter()
CrawlName = Annotated[
    Text, Query(description=N_("name of the crawl; the one with the newest page if this is not given"))
]


class PageParameters(BaseModel):
    """Which pages are listed."""

    crawl: Text = Field(
        default="", description=N_("name of the crawl; the one with the newest page if this is not given")
    )
    q: Text = Field(default="", description=N_("words that must all be in title, text or address"))
    site: Text = Field(default="", description=N_("site of the pages: its name or a part of it, such as example.com"))
    language: Text = Field(default="", description=N_("language of the pages, such as en"))
    type: Text = Field(default="", description=N_("type of the pages, such as article"))
    state: Literal["", "new", "changed", "gone", "copy"] = Field(default="", description=N_("state of the pages"))
    round: Whole = Field(
        default=0, description=N_("round in which that was; without a state, the round of the last fetch")
    )
    least: FiniteFloat = Field(default=0.0, alias="from", description=N_("least relevance"))
    most: FiniteFloat = Field(default=1.0, alias="to", description=N_("most relevance"))
    sort: Literal["newest", "best", "worst"] = Field(
        default="newest", description=N_("what comes first: the newest page, or the most or least relevant one")
    )
    after: Text = Field(default="", description=N_("from where on, as the answer before says"))

    @property
    def words(self) -> tuple[str, ...]:
        """What is searched for, each word once."""
        return tuple(dict.fromkeys(self.q.casefold().split()))

    @property
    def highlights(self) -> tuple[str, ...]:
        """The words that are highlighted, also as they were typed, since ß and ss are found by each other."""
        return tuple(dict.fromkeys((*self.q.split(), *self.words)))


Given = Annotated[PageParameters, Query()]
NAMES = frozenset(one.alias or name for name, one in PageParameters.model_fields.items())


class Progress(NamedTuple):
    """How far a list has come in all its answers together."""

    place: Place | None = None
    looked: int = 0
    found: int = 0

    def __str__(self) -> str:
        """What `after` is given to go on from here."""
        place = self.place or Place(0)
        return f"{place.relevance!r}_{place.id}_{self.looked}_{self.found}"


@dataclass(frozen=True, slots=True)
class PageFound:
    """A page, and where the words stand in it."""

    page: ListedPage
    excerpt: tuple[ExcerptPiece, ...]


@dataclass(frozen=True, slots=True)
class PageList:
    """Some pages of a crawl, and how far it was looked for them."""

    crawl: str
    round: int
    """The crawl's."""
    first_round: int
    pages: tuple[PageFound, ...]
    looked: int
    """Pages that were looked at, by all answers so far."""
    found: int
    """Of them those that are wanted."""
    after: str | None
    """To go on from here; None at the end."""
    is_full: bool
    """Whether so many were found as are shown at once; else the time was up."""
    site: SiteChoice
    """The site that is meant, where one was given."""


@api.get("/api/pages", summary=N_("Pages of a crawl, searched and filtered"))
def data(context: Context, given: Given) -> PageList:
    """Pages of a crawl that meet all conditions."""
    with context.reading() as connection:
        return found(connection, chosen(connection, given.crawl), given)


def found(connection: Connection, crawl: Held, given: PageParameters) -> PageList:
    """The same of one crawl."""
    before, words, name = progress(given.after), given.words, given.site.strip()
    if len(words) > MOST_WORDS:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "q is wrong; allowed are {most} words", most=MOST_WORDS)
    of_site = chosen_site(connection, crawl.id, name) if name else SiteChoice(None)
    wanted = PageQuery(
        crawl.id,
        words,
        of_site.id,
        given.language,
        given.type,
        given.state,
        # In the first round all pages are new, and in a later one those of that round.
        given.round or (crawl.round if given.state == "new" else 0),
        given.least,
        given.most,
        given.sort,
    )
    how = crawl.name, crawl.round, crawl.first_round
    if name and of_site.id is None:
        return PageList(*how, (), before.looked, before.found, None, is_full=False, site=of_site)
    seen = look(connection, wanted, before.place, AT_ONCE - before.found % AT_ONCE)
    texts = {hit.id: hit.text for hit in seen.hits}
    pages = listed(connection, [hit.id for hit in seen.hits])
    after = Progress(seen.place, before.looked + seen.looked, before.found + len(seen.hits))
    return PageList(
        *how,
        tuple(PageFound(one, excerpt(texts[one.id] or one.beginning, given.highlights)) for one in pages),
        after.looked,
        after.found,
        str(after) if seen.place is not None else None,
        is_full=bool(seen.hits) and after.found % AT_ONCE == 0,
        site=of_site,
    )


def chosen(connection: Connection, name: str) -> Held:
    """The crawl of a name, or the one with the newest page; a RefusedError where there is none."""
    crawl = held(connection, name)
    if crawl is None:
        what = "There is no crawl of this name." if name else "No crawl was ever run here."
        raise RefusedError(HTTPStatus.NOT_FOUND, what)
    return crawl


def progress(after: str) -> Progress:
    """How far the answers before came."""
    if not after:
        return Progress()
    try:
        relevance, *whole = after.split("_")
        number, looked, count = (int(one) if one.isascii() and one.isdigit() and len(one) < 19 else -1 for one in whole)
        place = Place(number, float(relevance))
        if min(number, looked, count) < 0 or not 0 <= place.relevance <= 1:
            raise ValueError
    except ValueError:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "after is wrong; allowed is what an answer has given") from None
    return Progress(place, looked, count)


@api.get("/api/pages/counts", summary=N_("How many pages a crawl has, by language and type"))
def counts(context: Context, crawl: CrawlName = "") -> PageCounts | None:
    """How many pages a crawl has, and of which languages and types; null while they are being counted."""
    with context.reading() as connection:
        found = chosen(connection, crawl)
    return counted(context, found)


def counted(context: DashboardContext, crawl: Held) -> PageCounts | None:
    """The same of one crawl."""

    def count() -> PageCounts:
        with glance(context.url, COUNTING) as connection:
            return choices(connection, crawl.id)

    result = context.background.get(("pages", crawl.id, crawl.started_at), count, AGE, PATIENCE)
    return result.value  # type: ignore[no-any-return]


@router.get("/pages")
def show(context: Context, request: Request, given: Given) -> Response:
    """The page."""
    with context.reading() as connection:
        crawl = chosen(connection, given.crawl)
        crawls = crawl_names(connection, crawl.name)
        pages = found(connection, crawl, given)
        sites = offered_sites(connection, crawl.id)
    filters = {name: value for name, value in request.query_params.items() if name in NAMES and name != "after"}
    return context.page(
        request,
        "pages.html",
        crawls=crawls,
        list=pages,
        words=given.highlights,
        counts=counted(context, crawl),
        sites=sites,
        given=given,
        filters={"crawl": crawl.name, **filters},
        # What a site's name in the list leads to.
        others=urlencode({**{"crawl": crawl.name}, **{name: v for name, v in filters.items() if name != "site"}}),
        is_filtered=bool(filters.keys() - {"crawl", "sort"}),
        filtered=len(filters.keys() - {"crawl", "q", "sort"}),
        states=STATES,
        orders=ORDERS,
    )
