"""A page whose blocks people label: the sheet, the text of the chosen blocks, and the label that is kept."""

from typing import NamedTuple
from urllib.parse import urlencode

from sqlalchemy import select

from crawler.dashboard.desk import Desk
from crawler.dashboard.gold import Line, Sheet
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, Request, see_other
from crawler.dashboard.reread import Reread, reread_at
from crawler.dashboard.views import Changes, Data, Views
from crawler.state.dashboard_tables import label
from crawler.state.label_queue import UncertainPages, crawl_to_label, uncertain_pages
from crawler.state.labels import TEXT, key_of, put_label

ANEW = (Parameter("anew", False, "whether to begin with what the extractor says, whatever was marked before"),)
NOTHING = (Parameter("nothing", False, "whether no block is main text"),)


class LabelSheet(NamedTuple):
    """A page whose blocks can be labelled."""

    id: int
    crawl: str
    url: str
    title: str
    fingerprint: str
    """Of what the blocks come from; a label has to name it."""
    method: str
    """That says which blocks are main text."""
    certainty: float | None
    older: bool
    """Whether the source that was kept is older than the page."""
    elsewhere: bool
    """Whether its text stands in its scripts, and so in none of its blocks."""
    marked: bool
    """Whether somebody labelled it as it is now."""
    outdated: bool
    """Whether somebody labelled it as it was before."""
    lines: tuple[Line, ...]
    text: str
    """The text of the chosen blocks."""


def data(desk: Desk, given: Given) -> LabelSheet:
    """The blocks of a page."""
    read = reread_at(desk, given["page"])
    found, row = Sheet(read), read.row
    detail = _detail(desk, read)
    before = found.labelled_before(detail) if detail is not None else None
    kept = read.kept if before is None or given["anew"] else before
    return LabelSheet(
        *(row["id"], row["crawl"], row["url"], row["title"]),
        *(found.fingerprint, read.method, row["certainty"]),
        older=read.source_at != row["fetched_at"],
        elsewhere=bool(read.extraction.text) and not read.kept,
        marked=before is not None,
        outdated=detail is not None and before is None,
        lines=found.lines(kept),
        text=found.text(kept),
    )


def _detail(desk: Desk, read: Reread) -> str | None:
    """The detail of a page's label, if it has one."""
    key = key_of(read.row["crawl"], TEXT, read.row["url"], read.row["url"])
    with desk.reading() as connection:
        return connection.execute(select(label.c.detail).where(label.c.key == key)).scalar_one_or_none()


def show(desk: Desk, request: Request, given: Given) -> Answer:
    """The page on which a page's blocks are labelled."""
    return desk.page(request, "labels_page.html", sheet=data(desk, given))


def skip(desk: Desk, request: Request, given: Given) -> Answer:
    """Send the browser on to the next page."""
    return _next(desk, reread_at(desk, given["page"]))


def save(desk: Desk, request: Request, given: Given) -> Answer:
    """Keep a page's label, and send the browser on to the next page."""
    read = reread_at(desk, given["page"])
    found = Sheet(read)
    places = found.chosen(request.form)
    engine = desk.changing()
    try:
        put_label(engine, found.label(frozenset() if given["nothing"] else places))
    finally:
        engine.dispose()
    return _next(desk, read)


def preview(desk: Desk, request: Request, given: Given) -> Answer:
    """The text of the chosen blocks; nothing is kept."""
    found = Sheet(reread_at(desk, given["page"]))
    text = found.text(found.chosen(request.form))
    return desk.page(request, "labels_preview.html", number=given["page"], text=text)


def _next(desk: Desk, read: Reread) -> Answer:
    name = read.row["crawl"]
    with desk.reading() as connection:
        of = crawl_to_label(connection, name)
        found = uncertain_pages(connection, of, read.row["id"], 1) if of is not None else UncertainPages((), 0)
    if found.pages:
        return see_other(f"/labels/pages/{found.pages[0].id}")
    return see_other(f"/labels?{urlencode({'crawl': name, 'after': found.after})}")


VIEWS: Views = {"/labels/pages/{page}": (show, ANEW), "/labels/pages/{page}/skip": (skip, ())}
CHANGES: Changes = {"/labels/pages/{page}": (save, NOTHING), "/labels/pages/{page}/preview": (preview, ())}
API: Data = {"/api/labels/pages/{page}": (data, ANEW, "The blocks of a page, to be marked")}
