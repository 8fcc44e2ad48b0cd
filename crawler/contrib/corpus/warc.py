"""WARC 1.1 (ISO 28500:2017): the requests and responses of pages, if they were stored, and their clean texts.

Each page has a `response`, its `request`, a `conversion` with its text, as in Common Crawl's WET files, and a `revisit`
if the page was unchanged when it was last requested again. A robots.txt precedes the first page whose request it
allowed, once for each version. It is a `resource`, because the database has its bytes and not its response. Digests are
SHA-256. The payload digest of a page is in the item field `raw_digest`, the digest of a robots.txt in `rights`.

Responses are decompressed; if that changed the length, X-Crawler-Content-Length has the original one. Two exports of
the same pages differ only in the date and the id of the first record, which describes the file.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

from crawler import __version__
from crawler.frontier.page_result import StoredResponse, raw_digest
from crawler.recrawl.page_history import NOT_MODIFIED
from crawler.reports.stored_pages import StoredPage
from crawler.rights.robots_file import MAX_SIZE
from crawler.rights.statement import Signal
from crawler.store.batch.responses import record_id

BREAKS = re.compile(r"[\r\n\x00]+")
"""Characters that would end a header."""
NO_TOKEN = re.compile(r"[^!#$%&'*+.^_`|~0-9A-Za-z-]")
"""Characters that the name of a header cannot have: https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2"""
OF_TRANSFER = frozenset(("content-length", "transfer-encoding"))
"""Headers that describe the received bytes, before decompression; they are renamed to X-Crawler-..."""
PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
"""The beginning of the profile of a `revisit`."""
ROBOTS_PLACE = re.compile(r"(https?://.+)#sha256=([0-9a-f]{64})")
"""The value `where` of evidence from a robots.txt in the item field `rights`: the file's address and its digest."""
RobotsBodies = Callable[[str], bytes | None]
"""Returns the bytes of the robots.txt with this digest; None if they are no longer stored."""


@dataclass(frozen=True)
class WarcRecord:
    """A record: its header fields in order, and its block."""

    head: Mapping[str, str]
    block: bytes

    @cached_property
    def data(self) -> bytes:
        fields = {**self.head, "WARC-Block-Digest": raw_digest(self.block), "Content-Length": str(len(self.block))}
        lines = ["WARC/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        return "\r\n".join(lines).encode() + self.block + b"\r\n\r\n"


@dataclass
class RobotsRecords:
    """Makes the records of robots.txt files, each once."""

    bodies: RobotsBodies
    _written_places: set[str] = field(default_factory=set)

    def of(self, page: StoredPage) -> Iterator[WarcRecord]:
        """The records of the robots.txt files that allowed the request of a page, unless they were made before."""
        for evidence in (page.values["rights"] or {}).get("evidence", ()):
            where = evidence["where"]
            if evidence["signal"] != Signal.ROBOTS_TXT or where in self._written_places:
                continue
            self._written_places.add(where)
            place = ROBOTS_PLACE.fullmatch(where)
            if place is None:
                continue
            url, digest = place.groups()
            body = self.bodies(digest)
            if body is not None:
                yield _robots_record(url, digest, evidence["read_at"], body)


def _robots_record(url: str, digest: str, read_at: str, body: bytes) -> WarcRecord:
    head = _head("resource", record_id("robots", url, digest, read_at), url)
    head |= {"WARC-Date": date(read_at), "Content-Type": "text/plain"}
    if len(body) >= MAX_SIZE:
        head["WARC-Truncated"] = "length"
    return WarcRecord(head | {"WARC-Payload-Digest": raw_digest(body)}, body)


def warc(
    pages: Iterable[StoredPage], fields: Sequence[str] = (), robots: RobotsBodies = lambda digest: None
) -> Iterator[bytes]:
    """The records as bytes: first a description of the file, then the records of the pages. `fields` is ignored, and
    `robots` returns the bytes of a robots.txt by its digest.
    """
    yield info().data
    robots_records = RobotsRecords(robots)
    for page in pages:
        for record in (*robots_records.of(page), *page_records(page)):
            yield record.data


def info() -> WarcRecord:
    """The record that describes the file."""
    head = {"WARC-Type": "warcinfo", "WARC-Record-ID": f"<{uuid4().urn}>", "Content-Type": "application/warc-fields"}
    fields = f"software: Winnow/{__version__}\r\nformat: WARC File Format 1.1\r\n"
    return WarcRecord(head | {"WARC-Date": date(datetime.now(UTC).isoformat())}, fields.encode())


def page_records(page: StoredPage) -> Iterator[WarcRecord]:
    """The records of a page."""
    url = page.values["url"]
    fetched_at = page.values["fetched_at"]
    when = {"WARC-Date": date(fetched_at)}
    refers_to = {}
    if page.response is not None:
        response_id = record_id("response", page.key, fetched_at)
        refers_to = {"WARC-Refers-To": response_id}
        head = _head("response", response_id, url) | when | {"Content-Type": "application/http; msgtype=response"}
        yield WarcRecord(head | {"WARC-Payload-Digest": raw_digest(page.response.body)}, _response_block(page.response))
        if page.response.request_line:
            head = _head("request", record_id("request", page.key, fetched_at), url) | when
            head |= {"Content-Type": "application/http; msgtype=request", "WARC-Concurrent-To": response_id}
            yield WarcRecord(head, _request_block(page.response, url))
    head = _head("conversion", record_id("conversion", page.key, fetched_at), url) | when | refers_to
    text = page.values["text"].encode("utf-8", "replace")
    yield WarcRecord(head | {"Content-Type": "text/plain; charset=utf-8"}, text)
    if page.response is not None and page.values["revisited_at"] is not None:
        yield WarcRecord(_revisit(page, page.response) | refers_to, b"")


def _head(kind: str, id: str, url: str) -> dict[str, str]:
    return {"WARC-Type": kind, "WARC-Record-ID": id, "WARC-Target-URI": address(url)}


def _revisit(page: StoredPage, response: StoredResponse) -> dict[str, str]:
    """The head of the `revisit` for the last visit, on which the page was unchanged."""
    values: Mapping[str, Any] = page.values
    is_304 = values["revisit_status"] == NOT_MODIFIED
    profile = PROFILES + ("server-not-modified" if is_304 else "identical-payload-digest")
    head = _head("revisit", record_id("revisit", page.key, values["revisited_at"]), values["url"])
    head |= {"WARC-Date": date(values["revisited_at"]), "WARC-Profile": profile}
    head |= {"WARC-Refers-To-Target-URI": address(values["url"]), "WARC-Refers-To-Date": date(values["fetched_at"])}
    if is_304:
        return head
    return head | {"WARC-Payload-Digest": raw_digest(response.body)}


def _response_block(response: StoredResponse) -> bytes:
    """The response as a server would send it without compression or chunks."""
    size = str(len(response.body))
    headers = []
    for name, value in response.headers:
        # Content-Length is added below; a header with the same value is dropped.
        is_same_length = name.lower() == "content-length" and value == size
        if name.lower() not in OF_TRANSFER:
            headers.append((name, value))
        elif not is_same_length:
            headers.append((f"X-Crawler-{name}", value))
    return _http_head(response.status_line, [*headers, ("Content-Length", size)]) + response.body


def _request_block(response: StoredResponse, url: str) -> bytes:
    """The request as it was sent; the header Host, which may not be among the stored headers, comes first."""
    headers = [(name, value) for name, value in response.request_headers if name.lower() != "host"]
    return _http_head(response.request_line, [("Host", urlsplit(url).netloc.rpartition("@")[2]), *headers])


def _http_head(first_line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"{NO_TOKEN.sub('-', name)}: {BREAKS.sub(' ', value)}" for name, value in headers]
    return "\r\n".join([BREAKS.sub(" ", first_line), *lines, "", ""]).encode("latin-1", "replace")


def address(url: str) -> str:
    """The address, in which characters that a header line cannot have are escaped.

    >>> address("http://a.example/b c\\r\\n%20")
    'http://a.example/b%20c%0D%0A%20'
    """
    return quote(url, safe=";/?:@&=+$,-_.!~*'()%#[]", errors="replace")


def date(time: str) -> str:
    """A time in ISO 8601, in UTC, to the second.

    >>> date("2026-11-22T13:00:00.5+01:00")
    '2026-11-22T12:00:00Z'
    """
    return datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
