"""The view "images": two lists, of the pictures that were kept and of those that were skipped, and people's labels."""

import time
from collections.abc import Collection
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sqlalchemy import Connection, select

from crawler.dashboard.context import DashboardContext
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, RefusedError, Request, see_other
from crawler.dashboard.views import Changes, Data, Views
from crawler.dashboard.views.choices import OfCrawl, SiteChoice, chosen_crawl, chosen_site, crawl_names, offered_sites
from crawler.dashboard.views.judged_images import ImageErrors, JudgedPicture, errors, picture, shown
from crawler.labels.labels import CONTENT, NOISE, Label, put_label, remove_label
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
from crawler.noise.image_filter import BY_LIST
from crawler.noise.verdict import MODELS
from crawler.store.images import PICTURE
from crawler.store.page_tables import verdict
from crawler.store.schema import crawl

MOST = 24
"""Pictures of a list at once."""
MOST_DOUBTFUL = 48
NONE = "none"
LABELS = (CONTENT, NOISE, NONE)
BOTH, KEPT, SKIPPED, DOUBTFUL = "both", "kept", "skipped", "doubtful"
ALL, AUDITED, MARKED, DISPUTED = "all", "audited", "marked", "disputed"
PARAMETERS = (
    Parameter("crawl", "", "name of the crawl; the latest that judged pictures where it is not given"),
    Parameter("wall", BOTH, "what is shown; of the doubtful no filter holds but the kind",
              (BOTH, KEPT, SKIPPED, DOUBTFUL)),
    Parameter("kind", ALL, "pictures, or the pages that pictures lead to", (ALL, *KINDS)),
    Parameter("site", "", "the site whose pages show them: its name or a part of it"),
    Parameter("by", "", "the model that called them noise", (*MODELS, BY_LIST)),
    Parameter("only", ALL, "those fetched by the audit, those marked, those that people see otherwise",
              (ALL, AUDITED, MARKED, DISPUTED)),
    Parameter("kept_before", 0, "the kept ones that follow, as before of an answer says"),
    Parameter("skipped_before", 0, "the skipped ones that follow, as before of an answer says"),
)  # fmt: skip
OF_CRAWL = PARAMETERS[:1]
FILTERS = {one.name: one.default for one in PARAMETERS if one.name in ("kind", "site", "by", "only")}


class PictureList(NamedTuple):
    """Some pictures, the newest first, or the least certain first."""

    pictures: tuple[JudgedPicture, ...]
    before: int
    """What the parameter of the list is to be for those that follow; 0 where none do."""


class ImageLists(NamedTuple):
    """The lists of a crawl that were asked for."""

    crawl: str
    kept: PictureList | None
    skipped: PictureList | None
    doubtful: PictureList | None
    """Those nearest to the limit that nobody has labelled."""
    site: SiteChoice = SiteChoice(None)
    """The site that is meant, where one was given."""


def lists(desk: DashboardContext, given: Given) -> ImageLists:
    """The lists."""
    with desk.reading() as connection:
        return _lists(connection, chosen_crawl(connection, given["crawl"], verdict), given)


def error_rate(desk: DashboardContext, given: Given) -> ImageErrors:
    """How often pictures are judged wrongly."""
    with desk.reading() as connection:
        of = chosen_crawl(connection, given["crawl"], verdict)
        if of is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "No crawl has judged pictures yet.")
        return _errors(connection, of)


def one(desk: DashboardContext, given: Given) -> JudgedPicture:
    """One of them."""
    with desk.reading() as connection:
        return shown(_one(connection, given["verdict"]))


def show(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page with the lists."""
    with desk.reading() as connection:
        of = chosen_crawl(connection, given["crawl"], verdict)
        found = _lists(connection, of, given)
        rate = _errors(connection, of) if of is not None else None
        crawls = crawl_names(connection, found.crawl)
        sites = offered_sites(connection, of.id) if of is not None else []
    return desk.page(
        request,
        "images.html",
        found=found,
        rate=rate,
        given=given,
        crawls=crawls,
        sites=sites,
        filtered=sum(given[name] != usual for name, usual in FILTERS.items() if name in _filters(given)),
        models=(*MODELS, BY_LIST),
        address=lambda **other: f"/images?{urlencode(_given(given, other))}",
    )


def show_one(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page with one of them, which is also the answer to a label."""
    with desk.reading() as connection:
        found = _one(connection, given["verdict"])
        name = _crawl_of(connection, found)
    return desk.page(request, "images_one.html", one=shown(found), crawl=name)


def show_picture(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The picture itself, as it was downloaded."""
    with desk.reading() as connection:
        one = _one(connection, given["verdict"])
    found = picture(desk.output / "images" / one.file) if one.file else None
    if found is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "This picture is not here.")
    return found


def say(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """Keep or forget what somebody says of a picture."""
    if not given["value"]:
        allowed = ", ".join(LABELS)
        raise RefusedError(
            HTTPStatus.BAD_REQUEST, "{name} is wrong; allowed is {allowed}", name="value", allowed=allowed
        )
    with desk.reading() as connection:
        one = _one(connection, given["verdict"])
        name = _crawl_of(connection, one)
    said = Label(PICTURE, name, one.url, one.page, given["value"], one.sight, said_at=time.time())
    engine = desk.changing()
    try:
        if said.value == NONE:
            remove_label(engine, said.key)
        else:
            put_label(engine, said)
    finally:
        engine.dispose()
    return see_other(f"/images/{one.id}")


def _lists(connection: Connection, of: OfCrawl | None, given: Given) -> ImageLists:
    if of is None:
        return ImageLists("", None, None, None)
    kinds = KINDS if given["kind"] == ALL else (given["kind"],)
    if given["wall"] == DOUBTFUL:
        return ImageLists(
            of.name, None, None, _list(VerdictPage(least_certain(connection, of.id, kinds, MOST_DOUBTFUL), 0))
        )
    found: dict[str, PictureList | None] = {KEPT: None, SKIPPED: None}
    site = given["site"].strip()
    of_site = chosen_site(connection, of.id, site) if site else SiteChoice(None)
    only, by = given["only"], given["by"]
    for name, noise in ((KEPT, False), (SKIPPED, True)):
        if given["wall"] not in (BOTH, name):
            continue
        if (site and of_site.id is None) or (not noise and (by or only == AUDITED)):  # there are none
            found[name] = PictureList((), 0)
            continue
        is_labelled = only in (MARKED, DISPUTED)
        wanted = VerdictFilter(noise, kinds, of_site.id, by, only == AUDITED, is_labelled, only == DISPUTED)
        found[name] = _list(list_verdicts(connection, of.id, wanted, given[f"{name}_before"], MOST))
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


def _filters(given: Given) -> Collection[str]:
    """Those that hold."""
    return ("kind",) if given["wall"] == DOUBTFUL else FILTERS


def _given(given: Given, other: dict[str, Any]) -> dict[str, Any]:
    """What an address of the lists holds: what was given, and other values; not those that go without saying."""
    usual = {one.name: one.default for one in PARAMETERS}
    return {name: value for name, value in {**given, **other}.items() if value != usual.get(name)}


SAID = (Parameter("value", "", "what the picture is", LABELS),)
VIEWS: Views = {
    "/images": (show, PARAMETERS),
    "/images/{verdict}": (show_one, ()),
    "/images/{verdict}/picture": (show_picture, ()),
}
CHANGES: Changes = {"/images/{verdict}/mark": (say, SAID)}
API: Data = {
    "/api/images": (lists, PARAMETERS, "Pictures that were kept or skipped, with verdicts, scores, reasons and marks"),
    "/api/images/{verdict}": (one, (), "A judged picture, with its verdict, scores, reasons and marks"),
    "/api/images/error-rate": (error_rate, OF_CRAWL, "How often pictures are judged wrongly, by audit and by marks"),
}
