"""WACZ 1.1.1: a ZIP file with the WARC file of an export, an index of it, and a list of its pages.

The index is CDXJ in blocks that are compressed separately; `index.idx` has the offset of each, so that a reader over
the network loads only one block. The lines of the index are sorted in a temporary database. The ZIP file stores WARC
and index without further compression, so that a record can be read at its offset.

The format: https://specs.webrecorder.net/wacz/1.1.1/
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from crawler import __version__
from crawler.contrib.corpus.byte_sink import ByteSink
from crawler.contrib.corpus.warc import RobotsBodies, RobotsRecords, WarcRecord, address, date, info, page_records
from crawler.errors import OutputError
from crawler.export.formats import compressed
from crawler.frontier.page_result import raw_digest
from crawler.reports.stored_pages import StoredPage

VERSION = "1.1.1"
WARC_NAME = "data.warc.gz"
INDEX_NAME = "index.cdx.gz"
# Paths within the ZIP file.
WARC = f"archive/{WARC_NAME}"
INDEX = f"indexes/{INDEX_NAME}"
INDEX_BLOCKS = "indexes/index.idx"
PAGES = "pages/pages.jsonl"
INDEXED = frozenset(("response", "revisit", "resource"))
"""The types of records that the index lists."""
LINES_OF_BLOCK = 300
"""Lines of a block of the index."""
_WWW = re.compile(r"www\d*\.")


def wacz(
    pages: Iterable[StoredPage],
    fields: Sequence[str] = (),
    robots: RobotsBodies = lambda digest: None,
    folder: Path | None = None,
) -> Iterator[bytes]:
    """The parts of the file; `fields` is ignored. `robots` returns the bytes of a robots.txt by its digest. `folder` is
    where temporary files go, None for the system's folder.
    """
    try:
        with TemporaryDirectory(dir=folder) as name, closing(sqlite3.connect(Path(name) / "lines.db")) as database:
            database.executescript("PRAGMA journal_mode=OFF; CREATE TABLE cdx (line); CREATE TABLE page (line, crawl)")
            package = _Package()
            yield from package.add(WARC, _archive(pages, robots, database))
            block_lines: list[str] = []  # `_index` appends to it
            yield from package.add(INDEX, _index(database, block_lines))
            yield from package.add(INDEX_BLOCKS, (f"{line}\n".encode() for line in block_lines), packed=True)
            yield from package.add(PAGES, _page_list(database), packed=True)
            yield from package.finish(_title(database))
    except (OSError, sqlite3.Error) as error:
        raise OutputError("the temporary files of the export cannot be written ({why})", why=str(error)) from None


class _Package:
    """A ZIP file that is written in parts and ends with a list of its files and their digests."""

    def __init__(self) -> None:
        self._sink = ByteSink()
        self._zip = ZipFile(self._sink, "w")
        self._resources: list[dict[str, Any]] = []

    def add(self, path: str, parts: Iterable[bytes], packed: bool = False) -> Iterator[bytes]:
        """Add a file, compressed if `packed`, and yield the parts of the ZIP file."""
        entry = ZipInfo(path)
        entry.compress_type = ZIP_DEFLATED if packed else ZIP_STORED
        entry.external_attr = 0o644 << 16  # the permissions of the file on Unix
        digest = sha256()
        size = 0
        with self._zip.open(entry, "w", force_zip64=True) as file:
            for part in parts:
                file.write(part)
                digest.update(part)
                size += len(part)
                yield self._sink.take()
        _, _, name = path.rpartition("/")
        self._resources.append({"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": size})

    def finish(self, title: str) -> Iterator[bytes]:
        """Add the list of files, and a file with its digest; yields the last parts of the ZIP file."""
        description = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "title": title,
            "created": date(datetime.now(UTC).isoformat()),
            "software": f"Winnow/{__version__}",
            "resources": [*self._resources],
        }
        name = "datapackage.json"
        data = json.dumps(description, ensure_ascii=False, indent=2).encode("utf-8", "replace")
        yield from self.add(name, [data], packed=True)
        digest = json.dumps({"path": name, "hash": raw_digest(data)}).encode()
        yield from self.add("datapackage-digest.json", [digest], packed=True)
        self._zip.close()
        yield self._sink.take()


def _archive(pages: Iterable[StoredPage], robots: RobotsBodies, database: sqlite3.Connection) -> Iterator[bytes]:
    """The compressed records; their lines for the index and the list of pages are written to the database."""
    description = b"".join(compressed([info().data], ".gz"))
    yield description
    offset = len(description)
    robots_records = RobotsRecords(robots)
    for page in pages:
        if page.response is not None:
            database.execute("INSERT INTO page VALUES (?, ?)", (_page_line(page), page.values["crawl"]))
        for record in (*robots_records.of(page), *page_records(page)):
            data = b"".join(compressed([record.data], ".gz"))
            if record.head["WARC-Type"] in INDEXED:
                database.execute("INSERT INTO cdx VALUES (?)", (_index_line(record, page, offset, len(data)),))
            offset += len(data)
            yield data


def _index_line(record: WarcRecord, page: StoredPage, offset: int, length: int) -> str:
    """The line of a record in the index, which begins with its search key."""
    head = record.head
    url = head["WARC-Target-URI"]
    values = {"url": url}
    if head["WARC-Type"] == "revisit":
        values["mime"] = "warc/revisit"
    elif head["WARC-Type"] == "resource":  # a robots.txt
        values |= {"mime": head["Content-Type"], "status": "200"}
    else:
        values |= {"mime": _media_type(page), "status": str(page.values["status"])}
    if "WARC-Payload-Digest" in head:
        values["digest"] = head["WARC-Payload-Digest"]
    values |= {"length": str(length), "offset": str(offset), "filename": WARC_NAME}
    return f"{surt(url)} {_stamp(head['WARC-Date'])} {json.dumps(values)}"


def _media_type(page: StoredPage) -> str:
    headers = page.response.headers if page.response is not None else ()
    declared = next((value for name, value in headers if name.lower() == "content-type"), "")
    return declared.partition(";")[0].strip().lower() or "text/html"


def _page_line(page: StoredPage) -> str:
    values = page.values
    listed = {"id": str(page.key), "url": address(values["url"]), "ts": date(values["fetched_at"])}
    listed |= {"title": values["title"], "text": values["text"]}
    return json.dumps(listed)


def _stamp(moment: str) -> str:
    """A date of WARC in 14 digits.

    >>> _stamp("2026-11-22T12:00:00Z")
    '20261122120000'
    """
    return re.sub(r"\D", "", moment)


def surt(url: str) -> str:
    """The search key of an address (SURT): in lower case, without `www`, with the host reversed and the query sorted.

    >>> surt("http://www.Example.com/A/?b=2&a=1"), surt("http://a.example:8000")
    ('com,example)/a/?a=1&b=2', 'example,a:8000)/')
    """
    parts = urlsplit(url.lower())
    name, _, port = _WWW.sub("", parts.netloc.rpartition("@")[2], count=1).partition(":")
    query = "&".join(sorted(parts.query.split("&")))
    key = ",".join(reversed(name.split(".")))
    if port:
        key += f":{port}"
    key += f"){parts.path or '/'}"
    if query:
        key += f"?{query}"
    return key


def _index(database: sqlite3.Connection, block_lines: list[str]) -> Iterator[bytes]:
    """The index in compressed blocks; a line about each block is appended to `block_lines`."""
    block_lines.append(f"!meta 0 {json.dumps({'format': 'cdxj-gzip-1.0', 'filename': INDEX_NAME})}")
    rows = database.execute("SELECT line FROM cdx ORDER BY line")
    sorted_lines = (line for (line,) in rows)
    offset = 0
    while lines := list(islice(sorted_lines, LINES_OF_BLOCK)):
        data = b"".join(compressed([f"{line}\n".encode() for line in lines], ".gz"))
        block = {"offset": offset, "length": len(data), "digest": raw_digest(data), "filename": INDEX_NAME}
        key_and_date, _, _ = lines[0].partition(" {")
        block_lines.append(f"{key_and_date} {json.dumps(block)}")
        offset += len(data)
        yield data


def _page_list(database: sqlite3.Connection) -> Iterator[bytes]:
    head = {"format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": True}
    yield json.dumps(head).encode() + b"\n"
    for (line,) in database.execute("SELECT line FROM page ORDER BY rowid"):
        yield f"{line}\n".encode()


def _title(database: sqlite3.Connection) -> str:
    """The names of the crawls whose pages are listed."""
    return ", ".join(name for (name,) in database.execute("SELECT DISTINCT crawl FROM page ORDER BY crawl"))
