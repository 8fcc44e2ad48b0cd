"""The view "labels": what is least certain, to be labelled by people, and their labels."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection, select

from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context, see_other
from crawler.dashboard.views import Number, Text, Whole, slow
from crawler.dashboard.views.choices import crawl_names
from crawler.dashboard.views.judged_images import JudgedPicture, shown
from crawler.export.export_pages import gold_line
from crawler.labels.labels import (
    TEXT,
    LabelledCrawl,
    ListedLabel,
    UncertainPage,
    all_labels,
    count_labels,
    crawl_to_label,
    list_labels,
    remove_label,
    uncertain_pages,
)
from crawler.labels.verdict_lists import KINDS, least_certain
from crawler.store.images import PICTURE
from crawler.store.page_tables import label
from crawler.store.read_only import NOTHING
from crawler.translation.message import N_

MOST_PAGES, MOST_PICTURES, MOST_LABELS = 20, 12, 20
MOST_BYTES = 32 * 1024 * 1024
"""Of a file that is made in memory."""
LINES_TYPE = "application/x-ndjson"
router, api = APIRouter(), APIRouter()
CrawlName = Annotated[
    Text, Query(description=N_("name of the crawl; the one begun last that kept its responses if it is not given"))
]
After = Annotated[Whole, Query(description=N_("the page from which to look on"))]
Before = Annotated[Whole, Query(description=N_("the label before which the others are older"))]


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How much of a crawl is labelled."""

    texts: int
    """Pages whose main text is labelled."""
    content: int
    """Pictures that are content."""
    noise: int
    """Pictures that are noise."""


@dataclass(frozen=True, slots=True)
class LabelQueue:
    """What is least certain."""

    crawl: str
    kept: bool
    """Whether responses of this crawl's pages were kept."""
    pages: tuple[UncertainPage, ...]
    after: int
    """From which to look on; 0 where that was all."""
    pictures: tuple[JudgedPicture, ...]
    counts: LabelCounts


@dataclass(frozen=True, slots=True)
class LabelList:
    """Labels, the newest first."""

    crawl: str
    labels: tuple[ListedLabel, ...]
    before: int
    """Before which the others are; 0 where these are all."""
    counts: LabelCounts


@api.get("/api/labels/queue", summary=N_("The pages and pictures that are least certain"))
def queue(context: Context, crawl: CrawlName = "", after: After = 0) -> LabelQueue:
    """What is least certain of a crawl."""
    with context.reading() as connection:
        of = _chosen(connection, crawl)
        found = uncertain_pages(connection, of, after, MOST_PAGES)
        pictures = tuple(map(shown, least_certain(connection, of.id, KINDS, MOST_PICTURES)))
        return LabelQueue(of.name, of.kept, *found, pictures, _counts(connection, of.name))


@api.get("/api/labels", summary=N_("What people said of pages and pictures"))
def labels(context: Context, crawl: CrawlName = "", before: Before = 0) -> LabelList:
    """The labels of a crawl, which outlive it."""
    with context.reading() as connection:
        name = crawl or _chosen(connection, "").name
        found = list_labels(connection, name, before, MOST_LABELS + 1)
        next_before = found[MOST_LABELS - 1].id if len(found) > MOST_LABELS else 0
        return LabelList(name, found[:MOST_LABELS], next_before, _counts(connection, name))


@router.get("/labels")
def show(context: Context, request: Request, crawl: CrawlName = "", after: After = 0) -> Response:
    """The page with both queues."""
    with context.reading() as connection:
        of = crawl_to_label(connection, crawl)
        names = crawl_names(connection, of.name if of is not None else "")
    found = queue(context, crawl, after) if names.names else None
    listed = labels(context, found.crawl) if found else None
    return context.page(request, "labels.html", crawls=names, queue=found, said=listed, after=after)


@router.get("/labels/list")
def show_list(context: Context, request: Request, crawl: CrawlName = "", before: Before = 0) -> Response:
    """The page with all labels."""
    return context.page(request, "labels_list.html", said=labels(context, crawl, before))


@slow(router.post("/labels/{label}/remove"))
def remove(context: Context, number: Annotated[Number, Path(alias="label")]) -> Response:
    """Remove a label."""
    with context.reading() as connection:
        row = connection.execute(select(label.c.key, label.c.crawl).where(label.c.id == number)).one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such mark any more.")
    engine = context.changing()
    try:
        remove_label(engine, row.key)
    finally:
        engine.dispose()
    return see_other(f"/labels/list?{urlencode({'crawl': row.crawl})}")


@slow(router.get("/labels/gold.jsonl"))
def gold(context: Context, crawl: CrawlName = "") -> Response:
    """The labelled pages as `scrapy evaluate` reads them; a RefusedError where they are too many for memory."""
    with context.reading() as connection:
        found, size = [], 0
        for one in all_labels(connection, crawl or None, TEXT):
            found.append(gold_line(one))
            size += len(found[-1])
            if size > MOST_BYTES:
                raise RefusedError(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    "This is too much for the dashboard; scrapy export --labels -o FILE writes it.",
                )
    headers = {"Content-Disposition": 'attachment; filename="gold.jsonl"'}
    return Response(b"".join(found), headers=headers, media_type=LINES_TYPE)


def _chosen(connection: Connection, name: str) -> LabelledCrawl:
    """The crawl of this name, or the one to begin with; a RefusedError where there is none."""
    of = crawl_to_label(connection, name)
    if of is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, N_("There is no such crawl.") if name else NOTHING)
    return of


def _counts(connection: Connection, name: str) -> LabelCounts:
    texts, pictures = (count_labels(connection, name, kind) for kind in (TEXT, PICTURE))
    return LabelCounts(texts.get(TEXT, 0), pictures.get("content", 0), pictures.get("noise", 0))
