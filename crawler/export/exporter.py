"""Writes the pages of a crawl, or those that people labelled, into a file or a folder of files, and counts them."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy.engine import URL

from crawler.export.csv import Formulas, csv_lines
from crawler.export.formats import FORMATS, compressed, compression_of
from crawler.export.markdown import markdown
from crawler.export.parquet import parquet
from crawler.export.warc import warc
from crawler.files import AtomicFile, AtomicFolder, OutputError
from crawler.labels.labels import Label
from crawler.page.page import Page
from crawler.reports.stored_pages import PageFilter, StoredPage, StoredPages
from crawler.store.output_files import json_line


def jsonl(pages: Iterable[StoredPage], fields: Sequence[str]) -> Iterator[bytes]:
    """Pages as lines of JSON, as a crawl writes them."""
    return (json_line({name: page.values[name] for name in fields}) for page in pages)


WRITERS = {"jsonl": jsonl, "parquet": parquet, "warc": warc}
# How the names of a database's files end, without which it is not whole.
OF_SQLITE = ("", "-wal", "-shm", "-journal")


@dataclass
class Tally:
    """What was written."""

    pages: int = 0
    bytes: int = 0
    bare: int = 0
    """Pages without what their format is about: a response, or Markdown."""


@dataclass(frozen=True)
class Exporter:
    """How pages are written, and which."""

    format: str
    fields: Sequence[str]
    filter: PageFilter
    formulas: Formulas

    def write(self, crawl: StoredPages, target: AtomicFile | AtomicFolder, tally: Tally) -> None:
        """Write the pages of a crawl one after another."""
        kind = FORMATS[self.format]
        columns = [*dict.fromkeys((*kind.needs, *(self.fields if kind.chooses else ())))]
        pages = self._counted(crawl.pages(columns, self.filter, responses=self.format == "warc"), tally)
        if isinstance(target, AtomicFolder):
            for name, data in markdown(pages, self.fields):
                target.write(name, data)
                tally.bytes += len(data)
            return
        make = partial(csv_lines, formulas=self.formulas) if self.format == "csv" else WRITERS[self.format]
        _write_parts(make(pages, self.fields), target, tally, kind.apart)

    def _counted(self, pages: Iterable[StoredPage], tally: Tally) -> Iterator[StoredPage]:
        """The pages, counted."""
        for page in pages:
            tally.pages += 1
            values = page.values
            of_text = bool(values.get("text")) and not values.get("markdown")
            tally.bare += page.response is None if self.format == "warc" else of_text
            yield page


def write_labels(labels: Iterable[Label], target: AtomicFile, tally: Tally) -> None:
    """Write the pages that people labelled, as gold."""

    def lines() -> Iterator[bytes]:
        for label in labels:
            tally.pages += 1
            yield gold_line(label)

    _write_parts(lines(), target, tally)


def gold_line(label: Label) -> bytes:
    """A labelled page and its main text as a line of JSON, which `scrapy evaluate` and `scrapy train` read."""
    told = json.loads(label.detail)
    row = {
        "id": label.url,
        "url": label.url,
        "lang": told["language"],
        "page_type": told["page_type"],
        "html": Page(label.url, label.source, told["content_type"]).html,
        "gold": label.value,
    }
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _write_parts(parts: Iterable[bytes], target: AtomicFile, tally: Tally, apart: bool = False) -> None:
    ending = "" if target.path is None else compression_of(target.shown)
    for part in compressed(parts, ending, apart):
        target.write(part)
        tally.bytes += len(part)


def check_apart(output: str, folder: Path, crawls: Iterable[StoredPages], url: URL) -> None:
    """Raise an OutputError where the output would take the place of what crawls write."""
    path = Path(output).resolve()
    own = "|".join(re.escape(one.name) for one in crawls)
    if path.parent == folder.resolve() and re.fullmatch(rf"(?:{own})(?:-\d+)?(?:\.images)?\.jsonl", path.name):
        raise OutputError(f"{output!r} is what a crawl writes itself: give another name")
    database = Path(str(url.database)).resolve()
    if url.drivername == "sqlite" and path in {database.with_name(database.name + end) for end in OF_SQLITE}:
        raise OutputError(f"{output!r} is to be read and cannot be written to")
