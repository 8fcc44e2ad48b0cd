"""The view "images": two lists, of the pictures that were kept and of those that were skipped, and people's labels."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection, select

from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context, see_other
from crawler.dashboard.views import Number, Text, Whole, slow
from crawler.dashboard.views.choices import OfCrawl, SiteChoice, chosen_crawl, chosen_site, crawl_names, offered_sites
from crawler.dashboard.views.judged_images import ImageErrors, JudgedPicture, errors, picture, shown
from crawler.labels.labels import Label, put_label, remove_label
from crawler.labels.verdict_lists import (
    KINDS,
    ListedVerdict,
    VerdictFilter,
    VerdictPage,
    agreement,
    audits,
    least_certain,
    list_verdicts,
    read_verdicts,
)
from crawler.noise.verdict import BY_LIST, MODELS
from crawler.store.images import PICTURE
from crawler.store.page_tables import verdict
from crawler.store.schema import crawl
from crawler.translation.message import N_

MOST = 24
"""Pictures of a list at once."""
MOST_DOUBTFUL = 48
NONE = "none"
BOTH, KEPT, SKIPPED, DOUBTFUL = "both", "kept", "skipped", "doubtful"
ALL, AUDITED, MARKED, DISPUTED = "all", "audited", "marked", "disputed"
router, api = APIRouter(), APIRouter()
NO_SITE = SiteChoice(None)
FILTERS: dict[str, Any] = {"kind": ALL, "site": "", "by": "", "only": ALL}


class ImageParameters(BaseModel):
    """Which pictures are listed."""

    crawl: Text = Field(
        default="", description=N_("name of the crawl; the latest that judged pictures where it is not given")
    )
    wall: Literal["both", "kept", "skipped", "doubtful"] = Field(
        default="both", description=N_("what is shown; of the doubtful no filter holds but the kind")
    )
    kind: Literal["all", "image", "link"] = Field(
        default="all", description=N_("pictures, or the pages that pictures lead to")
    )
    site: Text = Field(default="", description=N_("the site whose pages show them: its name or a part of it"))
    by: Literal["", "learned", "size", "keyword", "redundancy", "entropy", "filter_list"] = Field(
        default="", description=N_("the model that called them noise")
    )
    only: Literal["all", "audited", "marked", "disputed"] = Field(
        default="all", description=N_("those fetched by the audit, those marked, those that people see otherwise")
    )
    kept_before: Whole = Field(default=0, description=N_("the kept ones that follow, as before of an answer says"))
    skipped_before: Whole = Field(
        default=0, description=N_("the skipped ones that follow, as before of an answer says")
    )


Given = Annotated[ImageParameters, Query()]
VerdictNumber = Annotated[Number, Path(alias="verdict")]
PeoplesLabel = Annotated[Literal["content", "noise", "none"], Query()]
CrawlName = Annotated[
    Text, Query(description=N_("name of the crawl; the latest that judged pictures where it is not given"))
]


@dataclass(frozen=True, slots=True)
class PictureList:
    """Some pictures, the newest first, or the least certain first."""

    pictures: tuple[JudgedPicture, ...]
    before: int
    """What the parameter of the list is to be for those that follow; 0 where none do."""


@dataclass(frozen=True, slots=True)
class ImageLists:
    """The lists of a crawl that were asked for."""

    crawl: str
    kept: PictureList | None
    skipped: PictureList | None
    doubtful: PictureList | None
    """Those nearest to the limit that nobody has labelled."""
    site: SiteChoice = NO_SITE
    """The site that is meant, where one was given."""


@api.get("/api/images", summary=N_("Pictures that were kept or skipped, with verdicts, scores, reasons and marks"))
def lists(context: Context, given: Given) -> ImageLists:
    """The lists."""
    with context.reading() as connection:
        return _lists(connection, chosen_crawl(connection, given.crawl, verdict), given)


@api.get("/api/images/error-rate", summary=N_("How often pictures are judged wrongly, by audit and by marks"))
def error_rate(context: Context, crawl: CrawlName = "") -> ImageErrors:
    """How often pictures are judged wrongly."""
    with context.reading() as connection:
        of = chosen_crawl(connection, crawl, verdict)
        if of is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "No crawl has judged pictures yet.")
        return _errors(connection, of)


@api.get("/api/images/{verdict}", summary=N_("A judged picture, with its verdict, scores, reasons and marks"))
def one(context: Context, number: VerdictNumber) -> JudgedPicture:
    """One of them."""
    with context.reading() as connection:
        return shown(_one(connection, number))


@router.get("/images")
def show(context: Context, request: Request, given: Given) -> Response:
    """The page with the lists."""
    with context.reading() as connection:
        of = chosen_crawl(connection, given.crawl, verdict)
        found = _lists(connection, of, given)
        rate = _errors(connection, of) if of is not None else None
        crawls = crawl_names(connection, found.crawl)
        sites = offered_sites(connection, of.id) if of is not None else []
    return context.page(
        request,
        "images.html",
        found=found,
        rate=rate,
        given=given,
        crawls=crawls,
        sites=sites,
        filtered=sum(getattr(given, name) != usual for name, usual in FILTERS.items() if name in _filters(given)),
        models=(*MODELS, BY_LIST),
        address=lambda **other: f"/images?{urlencode(_given(given, other))}",
    )


@router.get("/images/{verdict}")
def show_one(context: Context, request: Request, number: VerdictNumber) -> Response:
    """The page with one of them, which is also the answer to a label."""
    with context.reading() as connection:
        found = _one(connection, number)
        name = _crawl_of(connection, found)
    return context.page(request, "images_one.html", one=shown(found), crawl=name)


@router.get("/images/{verdict}/picture")
def show_picture(context: Context, number: VerdictNumber) -> Response:
    """The picture itself, as it was downloaded."""
    with context.reading() as connection:
        one = _one(connection, number)
    found = picture(context.output / "images" / one.file) if one.file else None
    if found is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "This picture is not here.")
    return found


@slow(router.post("/images/{verdict}/mark"))
def say(
    context: Context,
    number: VerdictNumber,
    value: Annotated[Literal["content", "noise", "none"], Query()],
) -> Response:
    """Keep or forget what somebody says of a picture."""
    with context.reading() as connection:
        one = _one(connection, number)
        name = _crawl_of(connection, one)
    said = Label(PICTURE, name, one.url, one.page, value, one.sight, said_at=time.time())
    engine = context.changing()
    try:
        if said.value == NONE:
            remove_label(engine, said.key)
        else:
            put_label(engine, said)
    finally:
        engine.dispose()
    return see_other(f"/images/{one.id}")


def _lists(connection: Connection, of: OfCrawl | None, given: ImageParameters) -> ImageLists:
    if of is None:
        return ImageLists("", None, None, None)
    kinds = KINDS if given.kind == ALL else (given.kind,)
    if given.wall == DOUBTFUL:
        return ImageLists(
            of.name, None, None, _list(VerdictPage(least_certain(connection, of.id, kinds, MOST_DOUBTFUL), 0))
        )
    found: dict[str, PictureList | None] = {KEPT: None, SKIPPED: None}
    site = given.site.strip()
    of_site = chosen_site(connection, of.id, site) if site else NO_SITE
    only, by = given.only, given.by
    for name, noise in ((KEPT, False), (SKIPPED, True)):
        if given.wall not in (BOTH, name):
            continue
        if (site and of_site.id is None) or (not noise and (by or only == AUDITED)):  # there are none
            found[name] = PictureList((), 0)
            continue
        is_labelled = only in (MARKED, DISPUTED)
        wanted = VerdictFilter(noise, kinds, of_site.id, by, only == AUDITED, is_labelled, only == DISPUTED)
        found[name] = _list(list_verdicts(connection, of.id, wanted, getattr(given, f"{name}_before"), MOST))
    return ImageLists(of.name, found[KEPT], found[SKIPPED], None, of_site)


def _list(found: VerdictPage) -> PictureList:
    return PictureList(tuple(map(shown, found.verdicts)), found.before)


def _errors(connection: Connection, of: OfCrawl) -> ImageErrors:
    return errors(of.name, audits(connection, of.id), agreement(connection, of.id))


def _one(connection: Connection, number: int) -> ListedVerdict:
    found = read_verdicts(connection, (number,))
    if not found:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such picture.")
    return found[0]


def _crawl_of(connection: Connection, one: ListedVerdict) -> str:
    """The name of the crawl whose verdict this is."""
    name = select(crawl.c.name).join(verdict, verdict.c.crawl_id == crawl.c.id).where(verdict.c.id == one.id)
    return str(connection.execute(name).scalar_one())


def _filters(given: ImageParameters) -> Collection[str]:
    """Those that hold."""
    return ("kind",) if given.wall == DOUBTFUL else FILTERS


def _given(given: ImageParameters, other: dict[str, Any]) -> dict[str, Any]:
    """What an address of the lists holds: what was given, and other values; not those that go without saying."""
    usual = ImageParameters().model_dump()
    return {name: value for name, value in {**given.model_dump(), **other}.items() if value != usual.get(name)}
