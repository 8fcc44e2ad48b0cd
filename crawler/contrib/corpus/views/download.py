"""An export that a visitor downloads: built in memory, and refused if it gets too large or takes too long."""

import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, select, text
from sqlalchemy.engine import URL

from crawler.atomic_files import AtomicFile
from crawler.contrib.corpus.corpus_export import CorpusExporter
from crawler.contrib.corpus.corpus_selection import CorpusSource
from crawler.contrib.corpus.deduplication import Deduplication
from crawler.contrib.corpus.views.export_form import OUTPUTS, ExportForm
from crawler.contrib.dashboard.access import RefusedError
from crawler.errors import SlowError, WrongUseError
from crawler.export.csv import Formulas
from crawler.export.exporter import Tally
from crawler.export.formats import FORMATS
from crawler.items import TYPES
from crawler.reports.stored_pages import PageFilter, StoredPage, StoredPages
from crawler.store.crawl_tables import crawl
from crawler.store.read_only import limited_reading
from crawler.translation.message import N_

MOST_BYTES = 32 * 1024 * 1024
"""The most bytes of a download."""
EXPORT_SECONDS = 20.0
"""Time limit of an export."""
EXPORT_LOCK = Lock()
"""Held during an export, so that exports leave CPU time for the other views."""
TOO_LARGE = N_("This is too large for the dashboard; use the command.")
TOO_SLOW = N_("This takes too long for the dashboard; use the command.")


class DownloadFile(AtomicFile):
    """A file in memory; a RefusedError is raised if it becomes too large."""

    def __init__(self, name: str) -> None:
        self.shown = name
        self.path = Path(name)  # never opened; its ending chooses the compression
        self.parts: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > MOST_BYTES:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE)
        self.parts.append(data)


class PagesInTime(StoredPages):
    """The pages of a crawl, which can be read up to a time of the monotonic clock; then a RefusedError is raised."""

    def __init__(self, connection: Connection, row: RowMapping, deadline: float) -> None:
        super().__init__(connection, row)
        self._deadline = deadline

    def pages(
        self,
        columns: Sequence[str],
        page_filter: PageFilter,
        responses: bool = False,
        where: ColumnElement[bool] | None = None,
    ) -> Iterator[StoredPage]:
        for stored_page in super().pages(columns, page_filter, responses, where):
            self._seconds_left()  # raises a RefusedError after the deadline
            yield stored_page

    def _next_rows(self, query: Any) -> list[RowMapping]:
        seconds_left = self._seconds_left()
        if self.dialect == "postgresql":  # each part is read in a separate transaction
            milliseconds = int(1_000 * seconds_left) + 1  # 0 would be no limit
            self._connection.execute(text(f"SET LOCAL statement_timeout = {milliseconds}"))
        return super()._next_rows(query)

    def _seconds_left(self) -> float:
        """The seconds up to the deadline; raises a RefusedError after it."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, TOO_SLOW)
        return left


def downloaded(url: URL, crawl_id: int, form: ExportForm) -> bytes:
    """The file that a form describes; raises a RefusedError if it is invalid, not a file, too large or too slow, or
    while another download is being made.
    """
    if not EXPORT_LOCK.acquire(blocking=False):
        raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "Another download is being made; try again in a moment.")
    try:
        form.check()
        if not OUTPUTS[form.output].is_file:
            raise WrongUseError("a folder cannot be downloaded; use the command")
        with limited_reading(url, EXPORT_SECONDS) as connection:  # aborts a query that takes too long
            return _export(connection, crawl_id, form)
    except WrongUseError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, error.message) from None
    except SlowError:
        raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, TOO_SLOW) from None
    finally:
        EXPORT_LOCK.release()


def _export(connection: Connection, crawl_id: int, form: ExportForm) -> bytes:
    row = connection.execute(select(crawl).where(crawl.c.id == crawl_id)).mappings().one()
    # Ends the export between two pages: `limited_reading` aborts queries, but not what is done with the pages.
    pages = PagesInTime(connection, row, time.monotonic() + EXPORT_SECONDS)
    output = OUTPUTS[form.output]
    source = CorpusSource(
        [pages],
        PageFilter(places=form.places),
        form.selection,
        completes_quality=form.selection.compares_text_numbers or output.format == "parquet",
    )
    target = DownloadFile(f"pages{output.ending}")
    copies = Deduplication(form.dedupe, form.preference)
    exporter = CorpusExporter(
        format=FORMATS[output.format],
        fields=[*TYPES],
        source=source,
        formulas=Formulas(quoted=True),
        copies=copies,
        masks=form.mask,
    )
    exporter.write(target, Tally())
    return b"".join(target.parts)
