"""The view "labels": what is least certain, to be labelled by people, and their labels."""

from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlencode

from sqlalchemy import Connection, select

from crawler.dashboard.context import DashboardContext
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, RefusedError, Request, see_other
from crawler.dashboard.views import Changes, Data, Views, label_sheet
from crawler.dashboard.views.choices import crawl_names
from crawler.dashboard.views.judged_images import JudgedPicture, shown
from crawler.export.gold import gold_line
from crawler.labels.label_queue import LabelledCrawl, UncertainPage, crawl_to_label, uncertain_pages
from crawler.labels.labels import TEXT, ListedLabel, all_labels, count_labels, list_labels, remove_label
from crawler.labels.verdict_lists import KINDS, least_certain
from crawler.store.dashboard_tables import label
from crawler.store.images import PICTURE

MOST_PAGES, MOST_PICTURES, MOST_LABELS = 20, 12, 20
MOST_BYTES = 32 * 1024 * 1024
"""Of a file that is made in memory."""
LINES_TYPE = "application/x-ndjson"
CRAWL = Parameter("crawl", "", "name of the crawl; the one begun last that kept its responses if it is not given")
QUEUE = (CRAWL, Parameter("after", 0, "the page from which to look on"))
LISTED = (CRAWL, Parameter("before", 0, "the label before which the others are older"))


class LabelCounts(NamedTuple):
    """How much of a crawl is labelled."""

    texts: int
    """Pages whose main text is labelled."""
    content: int
    """Pictures that are content."""
    noise: int
    """Pictures that are noise."""


class LabelQueue(NamedTuple):
    """What is least certain."""

    crawl: str
    kept: bool
    """Whether responses of this crawl's pages were kept."""
    pages: tuple[UncertainPage, ...]
    after: int
    """From which to look on; 0 where that was all."""
    pictures: tuple[JudgedPicture, ...]
    counts: LabelCounts


class LabelList(NamedTuple):
    """Labels, the newest first."""

    crawl: str
    labels: tuple[ListedLabel, ...]
    before: int
    """Before which the others are; 0 where these are all."""
    counts: LabelCounts


def queue(desk: DashboardContext, given: Given) -> LabelQueue:
    """What is least certain of a crawl."""
    with desk.reading() as connection:
        of = _chosen(connection, given["crawl"])
        found = uncertain_pages(connection, of, given["after"], MOST_PAGES)
        pictures = tuple(map(shown, least_certain(connection, of.id, KINDS, MOST_PICTURES)))
        return LabelQueue(of.name, of.kept, *found, pictures, _counts(connection, of.name))


def labels(desk: DashboardContext, given: Given) -> LabelList:
    """The labels of a crawl, which outlive it."""
    with desk.reading() as connection:
        name = given["crawl"] or _chosen(connection, "").name
        found = list_labels(connection, name, given["before"], MOST_LABELS + 1)
        before = found[MOST_LABELS - 1].id if len(found) > MOST_LABELS else 0
        return LabelList(name, found[:MOST_LABELS], before, _counts(connection, name))


def show(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page with both queues."""
    with desk.reading() as connection:
        of = crawl_to_label(connection, given["crawl"])
        names = crawl_names(connection, of.name if of is not None else "")
    found = queue(desk, given) if names.names else None
    listed = labels(desk, {"crawl": found.crawl, "before": 0}) if found else None
    return desk.page(request, "labels.html", crawls=names, queue=found, said=listed, after=given["after"])


def show_list(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page with all labels."""
    return desk.page(request, "labels_list.html", said=labels(desk, given))


def remove(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """Remove a label."""
    with desk.reading() as connection:
        row = connection.execute(select(label.c.key, label.c.crawl).where(label.c.id == given["label"])).one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such mark any more.")
    engine = desk.changing()
    try:
        remove_label(engine, row.key)
    finally:
        engine.dispose()
    return see_other(f"/labels/list?{urlencode({'crawl': row.crawl})}")


def gold(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The labelled pages as `scrapy evaluate` reads them; a RefusedError where they are too many for memory."""
    with desk.reading() as connection:
        found, size = [], 0
        for one in all_labels(connection, given["crawl"] or None, TEXT):
            found.append(gold_line(one))
            size += len(found[-1])
            if size > MOST_BYTES:
                raise RefusedError(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    "This is too much for the dashboard; scrapy export --labels -o FILE writes it.",
                )
    headers = (("Content-Disposition", 'attachment; filename="gold.jsonl"'),)
    return Answer(b"".join(found), LINES_TYPE, headers=headers)


def _chosen(connection: Connection, name: str) -> LabelledCrawl:
    """The crawl of this name, or the one to begin with; a RefusedError where there is none."""
    of = crawl_to_label(connection, name)
    if of is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such crawl." if name else "No crawl was ever run here.")
    return of


def _counts(connection: Connection, name: str) -> LabelCounts:
    texts, pictures = (count_labels(connection, name, kind) for kind in (TEXT, PICTURE))
    return LabelCounts(texts.get(TEXT, 0), pictures.get("content", 0), pictures.get("noise", 0))


VIEWS: Views = {
    "/labels": (show, QUEUE),
    "/labels/list": (show_list, LISTED),
    "/labels/gold.jsonl": (gold, (CRAWL,)),
    **label_sheet.VIEWS,
}
CHANGES: Changes = {"/labels/{label}/remove": (remove, ()), **label_sheet.CHANGES}
API: Data = {
    "/api/labels": (labels, LISTED, "What people said of pages and pictures"),
    "/api/labels/queue": (queue, QUEUE, "The pages and pictures that are least certain"),
    **label_sheet.API,
}
