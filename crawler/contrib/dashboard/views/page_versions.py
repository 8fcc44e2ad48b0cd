"""The earlier texts of a page, and the difference between two of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import pairwise
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection, func, literal, select

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, Number, Whole, slow
from crawler.contrib.dashboard.views.page_differences import Difference, difference
from crawler.store.crawl_tables import crawl
from crawler.store.page_tables import page, page_version
from crawler.translation.message import N_

DEFAULT = -1
"""The value of `old` and `new` if the visitor chose no version: `new` is then the current text, `old` the one before
`new`.
"""
MOST_VERSIONS = 50
"""The most versions that are listed, newest first."""
MOST_LETTERS = 200_000
"""Characters of a version that are read."""
MOST_LINES = 2_000
"""Lines of a version that are compared with the previous version, for the list."""
router = APIRouter()
api = APIRouter()
PageNumber = Annotated[Number, Path(alias="page")]
Old = Annotated[Whole, Query(description=N_("number of the older version; by default the one before"))]
New = Annotated[Whole, Query(description=N_("number of the newer one; 0 or none is the current text"))]


@dataclass(frozen=True, slots=True)
class PageVersion:
    """The text of a page at a time."""

    id: int
    """0 for the current text."""
    fetched_at: str
    title: str
    letters: int
    share: float | None
    """The share of its text and the previous text that is only in one of the two, from 0 to 1; None for the oldest."""


@dataclass(frozen=True, slots=True)
class PageVersions:
    """The versions of a page, the newest first, and what changed between two of them."""

    page: int
    crawl: str
    title: str
    changes: int
    """The number of its changes since it was new."""
    versions: tuple[PageVersion, ...]
    old: int | None
    new: int | None
    difference: Difference | None


@slow(
    api.get("/api/pages/{page}/versions", summary=N_("Earlier texts of a page, and the difference between two of them"))
)
def data(context: Context, number: PageNumber, old: Old = DEFAULT, new: New = DEFAULT) -> PageVersions:
    """The versions of a page, and the difference between two of them."""
    with context.reading() as connection:
        columns = page.c.key, page.c.fetched_at, page.c.title, page.c.changes, page.c.text, crawl.c.name.label("crawl")
        query = select(literal(0).label("id"), *columns).join(crawl, crawl.c.id == page.c.crawl_id)
        row = connection.execute(query.where(page.c.id == number)).one_or_none()
        if row is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")
        texts = [row, *texts_before(connection, row.key)]

    listed = tuple(
        PageVersion(version.id, version.fetched_at, version.title, len(version.text), share)
        for version, share in zip(texts, _shares(texts), strict=True)
    )
    versions = PageVersions(
        page=number,
        crawl=row.crawl,
        title=row.title,
        changes=row.changes,
        versions=listed,
        old=None,
        new=None,
        difference=None,
    )
    if len(texts) < 2:
        return versions

    newer = _chosen(texts, new, default=texts[0])
    index = texts.index(newer)
    oldest = len(texts) - 1
    older = _chosen(texts, old, default=texts[min(index + 1, oldest)])
    return replace(versions, old=older.id, new=newer.id, difference=difference(older.text, newer.text))


def texts_before(connection: Connection, key: int, most: int = MOST_VERSIONS) -> Sequence[Any]:
    """The earlier texts of the page with this key, the newest first, each at most MOST_LETTERS long."""
    newest = (
        select(
            page_version.c.id,
            page_version.c.fetched_at,
            page_version.c.title,
            func.substr(page_version.c.text, 1, MOST_LETTERS, type_=page_version.c.text.type).label("text"),
        )
        .where(page_version.c.key == key)
        .order_by(page_version.c.id.desc())
        .limit(most)
    )
    return connection.execute(newest).all()


def _chosen(texts: list[Any], number: int, default: Any) -> Any:
    """The version with a number, or the default for DEFAULT; raises a RefusedError if there is none."""
    if number == DEFAULT:
        return default
    chosen_version = next((version for version in texts if version.id == number), None)
    if chosen_version is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such version of this page any more.")
    return chosen_version


def _shares(texts: list[Any]) -> Iterator[float | None]:
    """For each text and the one before it in time, the share of both that is only in one of the two. Whole lines are
    compared, which is quick; the rest of a text after MOST_LINES lines counts as one line.
    """
    read_texts = [version.text[:MOST_LETTERS] for version in texts]
    lines = [Counter(text.split("\n", MOST_LINES)) for text in read_texts]
    for (new_text, old_text), (new, old) in zip(pairwise(read_texts), pairwise(lines), strict=True):
        different_lines = (new - old) + (old - new)
        different_letters = sum(len(line) * count for line, count in different_lines.items())
        yield different_letters / max(1, len(new_text) + len(old_text))
    yield None  # the oldest text has no previous one


@slow(router.get("/pages/{page}/versions"))
def show(context: Context, request: Request, page: Number, old: Old = DEFAULT, new: New = DEFAULT) -> Response:
    versions = data(context, page, old, new)
    bounds = {"most_letters": MOST_LETTERS, "most_versions": MOST_VERSIONS}
    return context.page(request, "page_versions.html", found=versions, tab="versions", **bounds)
