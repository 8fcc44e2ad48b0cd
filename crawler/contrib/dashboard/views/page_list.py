"""The view "pages": the pages of a crawl, searched and filtered, and the values of its filters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from http import HTTPStatus
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field, FiniteFloat
from sqlalchemy import Connection, func, select

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, DashboardContext, Text, Whole
from crawler.contrib.dashboard.rendering import ExcerptPiece, excerpt
from crawler.contrib.dashboard.search_index import search_index
from crawler.contrib.dashboard.views.choices import (
    CHOSEN_CRAWLS,
    ChosenCrawl,
    SiteChoice,
    chosen_crawl,
    chosen_site,
    crawl_names,
    offered_sites,
)
from crawler.contrib.dashboard.views.page import USES
from crawler.contrib.dashboard.views.page_query import ORDERS, STATES, PageQuery, Place, find_pages
from crawler.rights.statement import State
from crawler.store.batch.shared_learning import topic_labels
from crawler.store.crawl_tables import crawl, site
from crawler.store.page_tables import page
from crawler.store.read_only import NOTHING, limited_reading
from crawler.translation.message import N_

AT_ONCE = 50
"""Pages of a list, before the visitor asks for more."""
MOST_WORDS = 10
"""The most words of a search."""
COUNT_SECONDS = 30.0
"""Seconds that counting a crawl's pages may take, in the background."""
AGE = 60.0
"""Seconds after which the pages are counted again."""
PATIENCE = 0.05
"""Seconds that a request waits for the counts."""
BEGINNING = 300
"""Characters of a text that a list shows."""

router = APIRouter()
api = APIRouter()
CrawlName = Annotated[Text, Query(description=N_("name of the crawl; by default the one with the newest page"))]
Rights = Literal[
    "",
    "search:allowed",
    "search:disallowed",
    "search:unknown",
    "search:malformed",
    "ai-input:allowed",
    "ai-input:disallowed",
    "ai-input:unknown",
    "ai-input:malformed",
    "ai-train:allowed",
    "ai-train:disallowed",
    "ai-train:unknown",
    "ai-train:malformed",
]


class PageParameters(BaseModel):
    """Which pages are listed."""

    crawl: CrawlName = ""
    q: Text = Field(default="", description=N_("words that must all be in title, text or address"))
    site: Text = Field(default="", description=N_("site of the pages: its name or a part of it, such as example.com"))
    language: Text = Field(default="", description=N_("language of the pages, such as en"))
    type: Text = Field(default="", description=N_("type of the pages, such as article"))
    state: Literal["", "new", "changed", "gone", "copy", "present"] = Field(
        default="", description=N_("state of the pages; gone: also those that have noindex now; present: all others")
    )
    round: Whole = Field(
        default=0,
        description=N_("round in which the pages got the state; without a state, the round of the last fetch"),
    )
    rights: Rights = Field(default="", description=N_("what the site says about a use, such as ai-train:disallowed"))
    licence: Text = Field(default="", description=N_("licence of the pages, such as CC-BY-4.0"))
    least: FiniteFloat = Field(default=0.0, alias="from", description=N_("least relevance"))
    most: FiniteFloat = Field(default=1.0, alias="to", description=N_("most relevance"))
    sort: Literal["newest", "best", "worst"] = Field(
        default="newest", description=N_("order: newest, most relevant or least relevant first")
    )
    after: Text = Field(default="", description=N_("where to continue, from the previous response"))

    @property
    def words(self) -> tuple[str, ...]:
        """The case-folded words that are searched."""
        return tuple(dict.fromkeys(self.q.casefold().split()))

    @property
    def highlights(self) -> tuple[str, ...]:
        """The words that are highlighted: case-folded, and as they were typed, as ß is folded to ss."""
        return tuple(dict.fromkeys((*self.q.split(), *self.words)))


Parameters = Annotated[PageParameters, Query()]
PARAMETER_NAMES = frozenset(parameter.alias or name for name, parameter in PageParameters.model_fields.items())
"""The names of the parameters in an address."""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page in a list."""

    id: int
    url: str
    title: str
    site: str | None
    """None if its site is not known."""
    language: str | None
    page_type: str
    relevance: float
    fetched_at: str
    last_round: int
    """The round in which it was last fetched or unchanged."""
    first_round: int
    changed_round: int | None
    """The round in which its text last changed; None if it never did."""
    changed_at: str | None
    gone_round: int | None
    """The round in which it was found gone or with noindex; None while it is neither."""
    gone_at: str | None
    noindex: bool
    """Whether it is not gone, but has noindex."""
    duplicate_of: str | None
    """The address of the page of which it is a near-duplicate."""
    beginning: str
    """The beginning of its text."""


@dataclass(frozen=True, slots=True)
class ListedCounts:
    """The number of a crawl's pages, by language and by type."""

    pages: int
    languages: Mapping[str, int]
    page_types: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search got, in all its responses together; `str` and `progress` write and read it as `after`."""

    _: KW_ONLY
    place: Place | None = None
    """The last page that was checked."""
    searched: int = 0
    """Pages that were searched."""
    matching: int = 0
    """Pages that match."""

    def __str__(self) -> str:
        """The value of `after` with which the search continues, e.g. `0.8_7_200_50`."""
        place = self.place or Place(id=0)
        return f"{place.relevance!r}_{place.id}_{self.searched}_{self.matching}"


@dataclass(frozen=True, slots=True)
class PageFound:
    """A page that matches, with the text around the words."""

    page: ListedPage
    excerpt: tuple[ExcerptPiece, ...]
    label: str | None = None
    """on_topic or off_topic, if somebody labelled it."""


@dataclass(frozen=True, slots=True)
class PageList:
    """Some pages of a crawl, and how far the search for them got."""

    crawl: str
    round: int
    """The current round of the crawl."""
    first_round: int
    """The first round since the last fresh start of the crawl."""
    pages: tuple[PageFound, ...]
    """The pages of this response."""
    looked: int
    """Pages that were searched, in all responses so far."""
    found: int
    """Pages that match, in all responses so far."""
    after: str | None
    """The value of `after` with which the search continues; None at the end."""
    is_full: bool
    """Whether the list has AT_ONCE pages; otherwise the time limit or the end was reached."""
    site: SiteChoice
    """The requested site, if any."""
    is_indexed: bool = False
    """Whether the full-text index was used to find the words."""
    indexed: int | None = None
    """Pages in the full-text index, while it is being built."""


@api.get("/api/pages", summary=N_("Pages of a crawl, searched and filtered"))
def data(context: Context, parameters: Parameters) -> PageList:
    """Pages of a crawl that meet all conditions."""
    with context.reading() as connection:
        return matching_pages(context, connection, crawl_or_newest(connection, parameters.crawl), parameters)


def matching_pages(
    context: DashboardContext, connection: Connection, crawl: ChosenCrawl, parameters: PageParameters
) -> PageList:
    """Pages of a crawl that meet all conditions."""
    before = progress(parameters.after)
    words = parameters.words
    if len(words) > MOST_WORDS:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "q is wrong; at most {most} words are allowed", most=MOST_WORDS)

    # The requested site. If no site or several sites match, no pages are listed, and the visitor may choose a site.
    site_choice = SiteChoice(None)
    site_name = parameters.site.strip()
    if site_name:
        site_choice = chosen_site(connection, crawl.id, site_name)
        if site_choice.id is None:
            return PageList(
                crawl=crawl.name,
                round=crawl.round,
                first_round=crawl.first_round,
                pages=(),
                looked=before.searched,
                found=before.matching,
                after=None,
                is_full=False,
                site=site_choice,
            )

    # Unless a round is requested, the new pages are those of the current round.
    state_round = parameters.round
    if not state_round and parameters.state == "new":
        state_round = crawl.round
    use, _, right = parameters.rights.partition(":")
    query = PageQuery(
        crawl=crawl.id,
        words=words,
        site=site_choice.id,
        language=parameters.language,
        page_type=parameters.type,
        state=parameters.state,
        round=state_round,
        least_relevance=parameters.least,
        most_relevance=parameters.most,
        order=parameters.sort,
        use=use,
        right=right,
        licence=parameters.licence.strip(),
    )

    # The search. A list may take several responses, of which this one adds the pages that are missing.
    index = search_index(context.url, context.output)
    is_indexed = bool(words) and index.update(crawl.id, crawl.started_at)
    indexed: int | None = None
    if words and not is_indexed:
        indexed = index.page_count(crawl.id)
    most_hits = AT_ONCE - before.matching % AT_ONCE
    search = find_pages(connection, query, before.place, most_hits, index if is_indexed else None)

    # What the list shows of the pages.
    texts = {hit.id: hit.text for hit in search.hits}
    listed_pages = listed(connection, [hit.id for hit in search.hits])
    labels = topic_labels(connection, crawl.name, (listed_page.url for listed_page in listed_pages))
    pages = tuple(
        PageFound(
            page=listed_page,
            excerpt=excerpt(texts[listed_page.id] or listed_page.beginning, parameters.highlights),
            label=labels.get(listed_page.url),
        )
        for listed_page in listed_pages
    )
    after = Progress(
        place=search.place,
        searched=before.searched + search.searched,
        matching=before.matching + len(search.hits),
    )
    return PageList(
        crawl=crawl.name,
        round=crawl.round,
        first_round=crawl.first_round,
        pages=pages,
        looked=after.searched,
        found=after.matching,
        after=str(after) if search.place is not None else None,
        is_full=bool(search.hits) and after.matching % AT_ONCE == 0,
        site=site_choice,
        is_indexed=is_indexed,
        indexed=indexed,
    )


def crawl_or_newest(connection: Connection, name: str) -> ChosenCrawl:
    """The crawl with this name; without a name the crawl with the newest page, or the first if no crawl has a page.
    Raises a RefusedError if there is no such crawl.
    """
    newest = select(func.max(page.c.fetched_at)).where(page.c.crawl_id == crawl.c.id).scalar_subquery()
    crawl_choice = chosen_crawl(connection, name, CHOSEN_CRAWLS.order_by(func.coalesce(newest, "").desc(), crawl.c.id))
    if crawl_choice is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, NOTHING)
    return crawl_choice


def listed(connection: Connection, numbers: Sequence[int]) -> list[ListedPage]:
    """The pages with these numbers, in this order, without those that were deleted."""
    names = [page_field.name for page_field in fields(ListedPage)][:-1]  # all except the beginning
    columns = [site.c.name if name == "site" else page.c[name] for name in names]
    beginning = func.substr(page.c.text, 1, BEGINNING, type_=page.c.text.type)
    rows = select(*columns, beginning).outerjoin(site, site.c.id == page.c.site_id)
    listed_pages = (ListedPage(*tuple(row)) for row in connection.execute(rows.where(page.c.id.in_(numbers))))
    page_of_number = {listed_page.id: listed_page for listed_page in listed_pages}
    return [page_of_number[number] for number in numbers if number in page_of_number]


def progress(after: str) -> Progress:
    """How far the previous responses got, from the parameter `after`; raises a RefusedError if it is malformed."""
    if not after:
        return Progress()
    try:
        relevance, *numbers = after.split("_")
        page_id, searched, matching = map(_whole_number, numbers)
        place = Place(id=page_id, relevance=float(relevance))
        if not 0 <= place.relevance <= 1:
            raise ValueError
    except ValueError:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "after is wrong; use the value from the previous response") from None
    return Progress(place=place, searched=searched, matching=matching)


def _whole_number(digits: str) -> int:
    """The number that digits write; raises a ValueError if they are not digits, or too many for a database."""
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        raise ValueError
    return int(digits)


@api.get("/api/pages/counts", summary=N_("How many pages a crawl has, by language and type"))
def counts(context: Context, crawl: CrawlName = "") -> ListedCounts | None:
    """The number of pages of a crawl, by language and type; null while they are being counted."""
    with context.reading() as connection:
        counted_crawl = crawl_or_newest(connection, crawl)
    return last_counts(context, counted_crawl)


def last_counts(context: DashboardContext, crawl: ChosenCrawl) -> ListedCounts | None:
    """The number of a crawl's pages, as they were counted last; None during the first count."""

    def compute() -> ListedCounts:
        with limited_reading(context.url, COUNT_SECONDS) as connection:
            return count_pages(connection, crawl.id)

    result = context.background.get(("pages", crawl.id, crawl.started_at), compute, AGE, PATIENCE)
    return result.value  # type: ignore[no-any-return]


def count_pages(connection: Connection, crawl_id: int) -> ListedCounts:
    """The number of a crawl's pages, counted in an index alone: a million entries take a second."""
    groups = select(page.c.language, page.c.page_type, func.count()).where(page.c.crawl_id == crawl_id)
    languages: Counter[str] = Counter()
    page_types: Counter[str] = Counter()
    pages = 0
    for language, page_type, count in connection.execute(groups.group_by(page.c.language, page.c.page_type)):
        pages += count
        languages[language or ""] += count
        page_types[page_type] += count
    return ListedCounts(pages, dict(languages.most_common()), dict(page_types.most_common()))


@router.get("/pages")
def show(context: Context, request: Request, parameters: Parameters) -> Response:
    with context.reading() as connection:
        crawl = crawl_or_newest(connection, parameters.crawl)
        crawls = crawl_names(connection, crawl.name)
        pages = matching_pages(context, connection, crawl, parameters)
        sites = offered_sites(connection, crawl.id)
    filters = {name: value for name, value in request.query_params.items() if name in PARAMETER_NAMES - {"after"}}
    return context.page(
        request,
        "pages.html",
        crawls=crawls,
        list=pages,
        words=parameters.highlights,
        counts=last_counts(context, crawl),
        sites=sites,
        given=parameters,
        filters={"crawl": crawl.name, **filters},
        # The parameters of the link from the name of a site, except the site.
        others=urlencode({"crawl": crawl.name} | {name: value for name, value in filters.items() if name != "site"}),
        is_filtered=bool(filters.keys() - {"crawl", "sort"}),
        filtered=len(filters.keys() - {"crawl", "q", "sort"}),
        states=STATES,
        orders=ORDERS,
        uses=USES,
        rights=[*State],
    )
