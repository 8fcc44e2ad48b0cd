"""The view "labels": the least certain pages and images, for people to label, and existing labels.

Of the NEWEST_PAGES newest pages, the least certain come first. Pages without a certainty come last, in the order in
which they were stored. No database index has only the pages that can be labelled. So each part of the list checks at
most CHECKED_PAGES pages, and the next part continues after them.
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
from crawler.contrib.dashboard.edit_record import Action
from crawler.contrib.dashboard.views.choices import crawl_names
from crawler.contrib.dashboard.views.judged_images import KINDS, ShownImage, least_certain
from crawler.export.labelled_pages import gold_line
from crawler.extraction.document_text import METHOD as DOCUMENT
from crawler.store.batch.shared_learning import OFF_TOPIC, ON_TOPIC
from crawler.store.crawl_tables import crawl as crawl_table
from crawler.store.labels import CONTENT, NEWEST, NOISE, all_labels, count_labels, remove_label
from crawler.store.page_tables import LabelKind, label, page, stored_response
from crawler.store.read_only import NOTHING
from crawler.translation.message import N_

MOST_PAGES = 20
MOST_IMAGES = 12
MOST_LABELS = 20
"""The most pages, images and labels in one part of a list."""
MOST_BYTES = 32 * 1024 * 1024
"""The largest file of labelled pages that the dashboard builds; it builds files in memory."""
BEGINNING = 300
"""Characters of a text that a list shows."""
NEWEST_PAGES = 50_000
"""Pages among which the least certain are searched: a million would take half a second."""
CHECKED_PAGES = 1_000
"""The most pages that are checked for a part of the list: reading their rows takes some tens of milliseconds."""
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
    """The page that shows the image; for a label of a page, its address."""
    value: str
    """The label; of a main text, only the beginning."""
    said_at: float
    number: int | None
    """The id of the labelled page; null for an image, and for a page that does not exist any more."""


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
    """The id of the page after which the next part begins; 0 at the end."""
    images: tuple[ShownImage, ...]
    counts: LabelCounts


@dataclass(frozen=True, slots=True)
class LabelList:
    """Labels, newest first."""

    crawl: str
    labels: tuple[ListedLabel, ...]
    before: int
    """The id of the label before which the next part begins; 0 at the end."""
    counts: LabelCounts


@api.get("/api/labels/queue", summary=N_("The pages and images that are least certain"))
def queue(context: Context, crawl: CrawlName = "", after: After = 0) -> LabelQueue:
    """The least certain pages and images of a crawl."""
    with context.reading() as connection:
        chosen = _chosen(connection, crawl)
        pages, next_after = uncertain_pages(connection, chosen, after, MOST_PAGES)
        return LabelQueue(
            crawl=chosen.name,
            kept=chosen.kept,
            pages=pages,
            after=next_after,
            images=least_certain(connection, chosen.id, KINDS, MOST_IMAGES),
            counts=_counts(connection, chosen.name),
        )


@api.get("/api/labels", summary=N_("People's labels of pages and images"))
def labels(context: Context, crawl: CrawlName = "", before: Before = 0) -> LabelList:
    """The labels of a crawl, which are kept when the crawl is deleted."""
    with context.reading() as connection:
        name = crawl or _chosen(connection, "").name
        listed = list_labels(connection, name, before, MOST_LABELS + 1)
        next_before = listed[MOST_LABELS - 1].id if len(listed) > MOST_LABELS else 0
        counts = _counts(connection, name)
        return LabelList(crawl=name, labels=listed[:MOST_LABELS], before=next_before, counts=counts)


@router.get("/labels")
def show(context: Context, request: Request, crawl: CrawlName = "", after: After = 0) -> Response:
    with context.reading() as connection:
        chosen = crawl_to_label(connection, crawl)
        names = crawl_names(connection, chosen.name if chosen is not None else "")
    label_queue = queue(context, crawl, after) if names.names else None
    listed = labels(context, label_queue.crawl) if label_queue else None
    return context.page(request, "labels.html", crawls=names, queue=label_queue, listed=listed, after=after)


@router.get("/labels/list")
def show_list(context: Context, request: Request, crawl: CrawlName = "", before: Before = 0) -> Response:
    return context.page(request, "labels_list.html", listed=labels(context, crawl, before))


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
    crawl: LabelledCrawl,
    after: int = 0,
    most: int = 20,
    *,
    checked: int = CHECKED_PAGES,
    newest: int = NEWEST_PAGES,
) -> tuple[tuple[UncertainPage, ...], int]:
    """The next pages to label, after the page with the id `after`; and the id after which to continue, 0 at the end.

    Pages to label are web pages with a stored response and without a label. They are searched among the `newest` pages
    of the crawl, the least certain first; at most `checked` pages are read.
    """
    if not crawl.kept:
        return (), 0

    # Check the next pages: keep those that can be labelled, in their order.
    page_ids = _next_page_ids(connection, crawl.id, after, checked, newest)
    labelled = select(label.c.url).where(label.c.crawl == crawl.name, label.c.kind == LabelKind.TEXT)
    query = select(*(page.c[page_field.name] for page_field in fields(UncertainPage))).join(
        stored_response, stored_response.c.key == page.c.key
    )
    query = query.where(page.c.id.in_(page_ids), page.c.url.not_in(labelled), page.c.extractor != DOCUMENT)
    rows = connection.execute(query)
    page_by_id = {row.id: UncertainPage(*row) for row in rows}
    pages = tuple(page_by_id[page_id] for page_id in page_ids if page_id in page_by_id)[:most]

    # Continue after the last page that was returned, or after the last one that was checked.
    if len(pages) == most:
        return pages, pages[-1].id
    if len(page_ids) == checked:
        return pages, page_ids[-1]
    return pages, 0


def _next_page_ids(connection: Connection, crawl_id: int, after: int, most: int, newest: int) -> list[int]:
    """The ids of the next `most` pages to check, read from an index alone."""
    of_crawl = page.c.crawl_id == crawl_id
    last_page = connection.execute(select(page.c.certainty).where(of_crawl, page.c.id == after)).one_or_none()

    # The newest pages, in two parts: by certainty, and by id.
    first_too_old = select(page.c.id).where(of_crawl).order_by(page.c.id.desc()).offset(newest).limit(1)
    newest_pages = select(page.c.id).where(of_crawl, page.c.id > (connection.execute(first_too_old).scalar() or 0))
    with_certainty = newest_pages.where(page.c.certainty.is_not(None)).order_by(page.c.certainty, page.c.id)
    without_certainty = newest_pages.where(page.c.certainty.is_(None)).order_by(page.c.id)

    # Start after the page `after`, in its part; from the beginning if there is no such page.
    if last_page is None:
        queries = [with_certainty, without_certainty]
    elif last_page.certainty is not None:
        is_after = tuple_(page.c.certainty, page.c.id) > (last_page.certainty, after)
        queries = [with_certainty.where(is_after), without_certainty]
    else:
        queries = [without_certainty.where(page.c.id > after)]
    page_ids: list[int] = []
    for query in queries:
        page_ids += connection.execute(query.limit(most - len(page_ids))).scalars()
    return page_ids


def list_labels(connection: Connection, crawl: str, before: int = 0, most: int = 20) -> tuple[ListedLabel, ...]:
    """The labels of a crawl that are older than the label with the id `before`, newest first.

    A changed label keeps its id, and so its place.
    """
    # Ids are chosen first, so that long texts are read only for these few labels.
    label_ids = select(label.c.id).where(label.c.crawl == crawl, label.c.id < (before or NEWEST))
    beginning = func.substr(label.c.value, 1, BEGINNING, type_=label.c.value.type).label("value")
    query = select(label.c.id, label.c.kind, label.c.url, label.c.page, beginning, label.c.said_at, label.c.detail)
    query = query.where(label.c.id.in_(label_ids.order_by(label.c.id.desc()).limit(most))).order_by(label.c.id.desc())
    rows = connection.execute(query).all()

    # The labelled pages that still exist. The id of a deleted page may be another page's, so addresses are compared.
    page_ids = {row.id: json.loads(row.detail)["number"] for row in rows if row.kind != LabelKind.IMAGE}
    pages_query = select(page.c.id, page.c.url).where(page.c.id.in_([*filter(None, page_ids.values())]))
    existing_pages = {(row.id, row.url) for row in connection.execute(pages_query)}
    listed = []
    for row in rows:
        page_id = page_ids.get(row.id)
        is_stored = (page_id, row.url) in existing_pages
        listed_label = ListedLabel(
            id=row.id,
            kind=row.kind,
            url=row.url,
            page=row.page,
            value=row.value,
            said_at=row.said_at,
            number=page_id if is_stored else None,
        )
        listed.append(listed_label)
    return tuple(listed)


def _chosen(connection: Connection, name: str) -> LabelledCrawl:
    """The crawl of this name, or the default one; raises a RefusedError if there is none."""
    chosen = crawl_to_label(connection, name)
    if chosen is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, N_("There is no such crawl.") if name else NOTHING)
    return chosen


def _counts(connection: Connection, name: str) -> LabelCounts:
    texts, images, topics = (
        count_labels(connection, name, kind) for kind in (LabelKind.TEXT, LabelKind.IMAGE, LabelKind.TOPIC)
    )
    return LabelCounts(
        texts=texts.get(LabelKind.TEXT, 0),  # texts are counted together, under their kind
        content=images.get(CONTENT, 0),
        noise=images.get(NOISE, 0),
        on_topic=topics.get(ON_TOPIC, 0),
        off_topic=topics.get(OFF_TOPIC, 0),
    )
