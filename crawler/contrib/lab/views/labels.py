"""The view "labels": the least certain pages and images, for people to label, and existing labels.

The newest pages are listed by certainty. Pages without a certainty come last, in the order in which they were stored.
No index has the pages that can be labelled: each part of the list checks a fixed number of pages, and the next part
continues after them.
"""

import json
from dataclasses import dataclass, fields
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection, func, select, tuple_

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, Number, Text, Whole, see_other, slow
from crawler.contrib.dashboard.edits import Action
from crawler.contrib.dashboard.views.choices import crawl_names
from crawler.contrib.dashboard.views.judged_images import KINDS, ShownImage, least_certain
from crawler.export.labelled_pages import gold_line
from crawler.store.batch.shared_learning import OFF_TOPIC, ON_TOPIC
from crawler.store.crawl_tables import crawl as crawl_table
from crawler.store.labels import CONTENT, NEWEST, NOISE, all_labels, count_labels, remove_label
from crawler.store.page_tables import LabelKind, label, page, stored_response
from crawler.store.read_only import NOTHING
from crawler.translation.message import N_

MOST_PAGES = 20
MOST_IMAGES = 12
MOST_LABELS = 20
MOST_BYTES = 32 * 1024 * 1024
"""Bytes of a file that is built in memory."""
BEGINNING = 300
"""Characters of a text that a list shows."""
NEWEST_PAGES = 50_000
"""Pages among which the least certain are searched: a million would take half a second."""
CHECKED = 1_000
"""Pages that are checked for a part of the list: reading their rows takes some tens of milliseconds."""
router = APIRouter()
api = APIRouter()
CrawlName = Annotated[Text, Query(description=N_("name of the crawl; by default the newest that stored responses"))]
After = Annotated[Whole, Query(description=N_("the page from which to continue"))]
Before = Annotated[Whole, Query(description=N_("list labels older than this one"))]


@dataclass(frozen=True, slots=True)
class UncertainPage:
    """A page that could be labelled."""

    id: int
    url: str
    title: str
    language: str | None
    certainty: float | None
    """The F1 that the method expects of its text; null for most methods."""
    fetched_at: str


@dataclass(frozen=True, slots=True)
class LabelledCrawl:
    """A crawl whose pages could be labelled."""

    id: int
    name: str
    kept: bool
    """Whether any response of its pages was stored."""


@dataclass(frozen=True, slots=True)
class ListedLabel:
    """A label in a list, without its details."""

    id: int
    kind: str
    url: str
    page: str
    """The page that shows the image; for a page, its own address."""
    value: str
    """The label; of a text, only the beginning."""
    said_at: float
    number: int | None
    """The number of the labelled page, if it still exists."""


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How many labels a crawl has."""

    texts: int
    """Pages whose main text is labelled."""
    content: int
    noise: int
    on_topic: int
    """Pages that are on the topic, by their labels."""
    off_topic: int


@dataclass(frozen=True, slots=True)
class LabelQueue:
    """The least certain pages and images."""

    crawl: str
    kept: bool
    """Whether responses of this crawl's pages were stored."""
    pages: tuple[UncertainPage, ...]
    after: int
    """The page from which to continue; 0 at the end."""
    images: tuple[ShownImage, ...]
    counts: LabelCounts


@dataclass(frozen=True, slots=True)
class LabelList:
    """Labels, newest first."""

    crawl: str
    labels: tuple[ListedLabel, ...]
    before: int
    """The label from which to continue; 0 at the end."""
    counts: LabelCounts


@api.get("/api/labels/queue", summary=N_("The pages and images that are least certain"))
def queue(context: Context, crawl: CrawlName = "", after: After = 0) -> LabelQueue:
    """The least certain pages and images of a crawl."""
    with context.reading() as connection:
        of = _chosen(connection, crawl)
        uncertain = uncertain_pages(connection, of, after, MOST_PAGES)
        images = least_certain(connection, of.id, KINDS, MOST_IMAGES)
        return LabelQueue(of.name, of.kept, *uncertain, images, _counts(connection, of.name))


@api.get("/api/labels", summary=N_("People's labels of pages and images"))
def labels(context: Context, crawl: CrawlName = "", before: Before = 0) -> LabelList:
    """The labels of a crawl; they outlive it."""
    with context.reading() as connection:
        name = crawl or _chosen(connection, "").name
        listed = list_labels(connection, name, before, MOST_LABELS + 1)
        next_before = listed[MOST_LABELS - 1].id if len(listed) > MOST_LABELS else 0
        return LabelList(name, listed[:MOST_LABELS], next_before, _counts(connection, name))


@router.get("/labels")
def show(context: Context, request: Request, crawl: CrawlName = "", after: After = 0) -> Response:
    with context.reading() as connection:
        of = crawl_to_label(connection, crawl)
        names = crawl_names(connection, of.name if of is not None else "")
    label_queue = queue(context, crawl, after) if names.names else None
    listed = labels(context, label_queue.crawl) if label_queue else None
    return context.page(request, "labels.html", crawls=names, queue=label_queue, said=listed, after=after)


@router.get("/labels/list")
def show_list(context: Context, request: Request, crawl: CrawlName = "", before: Before = 0) -> Response:
    return context.page(request, "labels_list.html", said=labels(context, crawl, before))


@slow(router.post("/labels/{label}/remove"))
def remove(context: Context, request: Request, number: Annotated[Number, Path(alias="label")]) -> Response:
    with context.reading() as connection:
        row = connection.execute(
            select(label.c.key, label.c.crawl, label.c.url).where(label.c.id == number)
        ).one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such label any more.")
    with context.changing() as engine:
        remove_label(engine, row.key)
    context.record(request, Action.LABEL_REMOVED, row.url)
    return see_other(f"/labels/list?{urlencode({'crawl': row.crawl})}")


@slow(router.get("/labels/gold.jsonl"))
def gold(context: Context, crawl: CrawlName = "") -> Response:
    """The labelled pages in the format that `winnow evaluate` reads; raises a RefusedError if they need too much
    memory.
    """
    with context.reading() as connection:
        gold_lines = []
        size = 0
        for labelled_page in all_labels(connection, crawl or None, LabelKind.TEXT):
            gold_lines.append(gold_line(labelled_page))
            size += len(gold_lines[-1])
            if size > MOST_BYTES:
                raise RefusedError(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    "This is too large for the dashboard; use winnow export --labels -o FILE.",
                )
    headers = {"Content-Disposition": 'attachment; filename="gold.jsonl"'}
    return Response(b"".join(gold_lines), headers=headers, media_type="application/x-ndjson")


def crawl_to_label(connection: Connection, name: str) -> LabelledCrawl | None:
    """The crawl of this name; without a name the newest one that stored responses, or the newest one."""
    kept = select(stored_response.c.key).where(stored_response.c.crawl_id == crawl_table.c.id).exists()
    order = (kept.desc(), crawl_table.c.started_at.desc(), crawl_table.c.id.desc())
    query = select(crawl_table.c.id, crawl_table.c.name, kept.label("kept")).order_by(*order).limit(1)
    row = connection.execute(query.where(crawl_table.c.name == name) if name else query).one_or_none()
    if row is not None:
        return LabelledCrawl(id=row.id, name=row.name, kept=bool(row.kept))
    return None


def uncertain_pages(
    connection: Connection,
    of: LabelledCrawl,
    after: int = 0,
    most: int = 20,
    *,
    checked: int = CHECKED,
    newest: int = NEWEST_PAGES,
) -> tuple[tuple[UncertainPage, ...], int]:
    """The next pages after this one, and the page from which to continue, 0 at the end.

    Pages have a stored response and no label. They are among the `newest` pages of the crawl, the least certain first;
    `checked` pages are read.
    """
    if not of.kept:
        return (), 0
    numbers = _next(connection, of.id, after, checked, newest)
    labelled = select(label.c.url).where(label.c.crawl == of.name, label.c.kind == LabelKind.TEXT)
    query = select(*(page.c[page_field.name] for page_field in fields(UncertainPage))).join(
        stored_response, stored_response.c.key == page.c.key
    )
    rows = connection.execute(query.where(page.c.id.in_(numbers), page.c.url.not_in(labelled)))
    page_of_number = {row.id: UncertainPage(*row) for row in rows}
    pages = tuple(page_of_number[number] for number in numbers if number in page_of_number)[:most]
    if len(pages) == most:
        return pages, pages[-1].id
    if len(numbers) == checked:
        return pages, numbers[-1]
    return pages, 0


def _next(connection: Connection, crawl_id: int, after: int, most: int, newest: int) -> list[int]:
    """The ids of the next pages to check; only an index is read."""
    of_crawl = page.c.crawl_id == crawl_id
    last = connection.execute(select(page.c.certainty).where(of_crawl, page.c.id == after)).one_or_none()
    last_older = select(page.c.id).where(of_crawl).order_by(page.c.id.desc()).offset(newest).limit(1)
    newest_pages = select(page.c.id).where(of_crawl, page.c.id > (connection.execute(last_older).scalar() or 0))
    with_certainty = newest_pages.where(page.c.certainty.is_not(None)).order_by(page.c.certainty, page.c.id)
    without_certainty = newest_pages.where(page.c.certainty.is_(None)).order_by(page.c.id)
    if last is None:
        queries = [with_certainty, without_certainty]
    elif last.certainty is not None:
        is_after = tuple_(page.c.certainty, page.c.id) > (last.certainty, after)
        queries = [with_certainty.where(is_after), without_certainty]
    else:
        queries = [without_certainty.where(page.c.id > after)]
    numbers: list[int] = []
    for query in queries:
        numbers += connection.execute(query.limit(most - len(numbers))).scalars()
    return numbers


def list_labels(connection: Connection, crawl: str, before: int = 0, most: int = 20) -> tuple[ListedLabel, ...]:
    """The labels of a crawl before this one, newest first; a changed label keeps its place."""
    # Ids are chosen first, so that long texts are read only for these few labels.
    numbers = select(label.c.id).where(label.c.crawl == crawl, label.c.id < (before or NEWEST))
    beginning = func.substr(label.c.value, 1, BEGINNING, type_=label.c.value.type).label("value")
    query = select(label.c.id, label.c.kind, label.c.url, label.c.page, beginning, label.c.said_at, label.c.detail)
    query = query.where(label.c.id.in_(numbers.order_by(label.c.id.desc()).limit(most))).order_by(label.c.id.desc())
    rows = connection.execute(query).all()

    # The pages of the labels that still exist.
    page_numbers = {row.id: json.loads(row.detail)["number"] for row in rows if row.kind != LabelKind.IMAGE}
    pages_query = select(page.c.id, page.c.url).where(
        page.c.id.in_([number for number in page_numbers.values() if number])
    )
    pages = {(row.id, row.url) for row in connection.execute(pages_query)}
    listed = []
    for row in rows:
        number = page_numbers.get(row.id)
        listed.append(ListedLabel(*row[:-1], number if (number, row.url) in pages else None))
    return tuple(listed)


def _chosen(connection: Connection, name: str) -> LabelledCrawl:
    """The crawl of this name, or the default one; raises a RefusedError if there is none."""
    of = crawl_to_label(connection, name)
    if of is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, N_("There is no such crawl.") if name else NOTHING)
    return of


def _counts(connection: Connection, name: str) -> LabelCounts:
    texts, images, topics = (
        count_labels(connection, name, kind) for kind in (LabelKind.TEXT, LabelKind.IMAGE, LabelKind.TOPIC)
    )
    return LabelCounts(
        texts=texts.get(LabelKind.TEXT, 0),
        content=images.get(CONTENT, 0),
        noise=images.get(NOISE, 0),
        on_topic=topics.get(ON_TOPIC, 0),
        off_topic=topics.get(OFF_TOPIC, 0),
    )
