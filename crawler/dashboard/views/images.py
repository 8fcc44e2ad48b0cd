"""The view "images": two walls, of the pictures that were kept and of those that were skipped, and people's marks."""

import time
from collections.abc import Collection, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sqlalchemy import Connection, select

from crawler.dashboard.crawl_choice import OfCrawl, chosen_crawl, crawl_names
from crawler.dashboard.desk import Desk
from crawler.dashboard.judged_pictures import ImageErrors, JudgedPicture, errors, shown
from crawler.dashboard.kept_picture import picture
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, RefusedError, Request, see_other
from crawler.dashboard.site_choice import SiteChoice, chosen_site, offered_sites
from crawler.dashboard.views import Changes, Data, Views
from crawler.judging import BY_LIST
from crawler.noise.verdict import MODELS
from crawler.opening import canonical
from crawler.state.entries import Keys
from crawler.state.glance import glance
from crawler.state.marked import Marks, Tally
from crawler.state.marks import CONTENT, NOISE, PICTURE, Mark, mark, unmark
from crawler.state.schema import crawl, verdict
from crawler.state.walls import KINDS, Seen, Stretch, Wanted, audits, doubtful, marked_of, read, wall

MOST = 24
"""Pictures of a wall at once."""
MOST_DOUBTFUL = 48
COUNTED_AGAIN = 10.0  # seconds until many marks are counted once more
LONG = 30.0  # seconds that this may take
NONE = "none"
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


class PictureWall(NamedTuple):
    """Some pictures, the newest first, or the least certain first."""

    pictures: tuple[JudgedPicture, ...]
    before: int
    """What the parameter of the wall is to be for those that follow; 0 where none do."""


class ImageWalls(NamedTuple):
    """The walls of a crawl that were asked for."""

    crawl: str
    kept: PictureWall | None
    skipped: PictureWall | None
    doubtful: PictureWall | None
    """Those nearest to the limit that nobody has marked."""
    site: SiteChoice = SiteChoice(None)
    """The site that is meant, where one was given."""


def walls(desk: Desk, given: Given) -> ImageWalls:
    """The walls."""
    with desk.reading() as connection:
        return _walls(desk, connection, chosen_crawl(connection, given["crawl"], verdict), given)


def error_rate(desk: Desk, given: Given) -> ImageErrors:
    """How often pictures are judged wrongly."""
    with desk.reading() as connection:
        of = chosen_crawl(connection, given["crawl"], verdict)
        if of is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "No crawl has judged pictures yet.")
        return _errors(desk, connection, of)


def one(desk: Desk, given: Given) -> JudgedPicture:
    """One of them."""
    with desk.reading() as connection:
        seen, name = _one(connection, given["verdict"])
        return _shown(connection, name, (seen,))[0]


def show(desk: Desk, request: Request, given: Given) -> Answer:
    """The page with the walls."""
    with desk.reading() as connection:
        of = chosen_crawl(connection, given["crawl"], verdict)
        found = _walls(desk, connection, of, given)
        rate = _errors(desk, connection, of) if of is not None else None
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


def show_one(desk: Desk, request: Request, given: Given) -> Answer:
    """The page with one of them, which also answers to a mark."""
    with desk.reading() as connection:
        seen, name = _one(connection, given["verdict"])
        (found,) = _shown(connection, name, (seen,))
    return desk.page(request, "images_one.html", one=found, crawl=name)


def show_picture(desk: Desk, request: Request, given: Given) -> Answer:
    """The picture itself, as it was downloaded."""
    with desk.reading() as connection:
        seen, _ = _one(connection, given["verdict"])
    found = picture(desk.output / "images" / seen.file) if seen.file is not None else None
    if found is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "This picture is not here.")
    return found


def say(desk: Desk, request: Request, given: Given) -> Answer:
    """Keep or forget what somebody says of a picture."""
    with desk.reading() as connection:
        seen, name = _one(connection, given["verdict"])
    said = Mark(PICTURE, name, seen.url, seen.page, given["value"], seen.sight, said_at=time.time())
    engine = desk.changing()
    try:
        if said.value == NONE:
            unmark(engine, said)
        else:
            mark(engine, said)
    except ValueError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"This cannot be marked: {error}.") from None
    finally:
        engine.dispose()
    return see_other(f"/images/{seen.id}")


def _walls(desk: Desk, connection: Connection, of: OfCrawl | None, given: Given) -> ImageWalls:
    if of is None:
        return ImageWalls("", None, None, None)
    kinds = KINDS if given["kind"] == ALL else (given["kind"],)
    if given["wall"] == DOUBTFUL:
        seen = doubtful(connection, of.id, "" if given["kind"] == ALL else given["kind"], MOST_DOUBTFUL)
        return ImageWalls(of.name, None, None, PictureWall(_shown(connection, of.name, seen), 0))
    found: dict[str, PictureWall | None] = {KEPT: None, SKIPPED: None}
    site = given["site"].strip()
    of_site = chosen_site(connection, of.id, site) if site else SiteChoice(None)
    site_id = of_site.id or 0 if site else None
    for name, noise in ((KEPT, False), (SKIPPED, True)):
        if given["wall"] in (BOTH, name):
            wanted = Wanted(noise, kinds, site_id, given["by"], given["only"] == AUDITED)
            stretch = _stretch(desk, connection, of, wanted, given)
            found[name] = PictureWall(_shown(connection, of.name, stretch.seen), stretch.before)
    return ImageWalls(of.name, found[KEPT], found[SKIPPED], None, of_site)


def _stretch(desk: Desk, connection: Connection, of: OfCrawl, wanted: Wanted, given: Given) -> Stretch:
    before = given["skipped_before" if wanted.noise else "kept_before"]
    only_noise = bool(wanted.by or wanted.audited)
    if wanted.site_id == 0 or (only_noise and not wanted.noise):
        return Stretch((), 0)
    if given["only"] in (MARKED, DISPUTED):
        marks = _marks(desk, connection, of)
        return marks.wall(wanted, mistaken=given["only"] == DISPUTED, before=before, most=MOST)
    return wall(connection, of.id, wanted, before, MOST)


def _shown(connection: Connection, name: str, seen: Sequence[Seen]) -> tuple[JudgedPicture, ...]:
    """Verdicts of the crawl of this name, as they are shown."""
    marked = marked_of(connection, name, seen)
    return tuple(shown(one, marked.get(one.id, "")) for one in seen)


def _errors(desk: Desk, connection: Connection, of: OfCrawl) -> ImageErrors:
    tally = _marks(desk, connection, of).tally()
    if not tally.is_all:  # it takes longer than an answer may
        tally = desk.background.get(("marked pictures", *of), lambda: _tally(desk, of), COUNTED_AGAIN).value or tally
    return errors(of.name, audits(connection, of.id), tally)


def _tally(desk: Desk, of: OfCrawl) -> Tally:
    with glance(desk.url, LONG) as connection:
        return _marks(desk, connection, of).tally(LONG / 2)


def _marks(desk: Desk, connection: Connection, of: OfCrawl) -> Marks:
    return Marks(connection, of.name, Keys(of.id, canonical(desk.settings)))


def _one(connection: Connection, number: int) -> tuple[Seen, str]:
    """A verdict, and the name of its crawl."""
    found = read(connection, (number,))
    if not found:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such picture.")
    mine = select(crawl.c.name).join(verdict, verdict.c.crawl_id == crawl.c.id).where(verdict.c.id == number)
    return found[0], connection.execute(mine).scalar_one()


def _filters(given: Given) -> Collection[str]:
    """Those that hold."""
    return ("kind",) if given["wall"] == DOUBTFUL else FILTERS


def _given(given: Given, other: dict[str, Any]) -> dict[str, Any]:
    """What an address of the walls holds: what was given, and other values; not those that go without saying."""
    usual = {one.name: one.default for one in PARAMETERS}
    return {name: value for name, value in {**given, **other}.items() if value != usual.get(name)}


SAID = (Parameter("value", "", "what the picture is", (CONTENT, NOISE, NONE)),)
VIEWS: Views = {
    "/images": (show, PARAMETERS),
    "/images/{verdict}": (show_one, ()),
    "/images/{verdict}/picture": (show_picture, ()),
}
CHANGES: Changes = {"/images/{verdict}/mark": (say, SAID)}
API: Data = {
    "/api/images": (walls, PARAMETERS, "Pictures that were kept or skipped, with verdicts, scores, reasons and marks"),
    "/api/images/{verdict}": (one, (), "A judged picture, with its verdict, scores, reasons and marks"),
    "/api/images/error-rate": (error_rate, OF_CRAWL, "How often pictures are judged wrongly, by audit and by marks"),
}
