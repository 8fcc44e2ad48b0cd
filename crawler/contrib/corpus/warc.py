"""WARC 1.1 (ISO 28500:2017): the requests and responses of pages, if they were stored, and their clean texts.

For each page a `response`, the `request` for it, a `conversion` with its text, as in Common Crawl's WET files, and a
`revisit` if the page was the same when it was last requested again. Before the first page of a host comes its
robots.txt, once for each version that stored pages were requested by. It is a `resource`, as the database has its bytes
and not its response. Digests are SHA-256; that of a payload is the item field `raw_digest`, and that of a robots.txt
the one which the field `rights` names.

Responses are decompressed; if that changed the length, the original one is in X-Crawler-Content-Length. The same pages
give the same records, except for the date and the id of the first.
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
NO_TOKEN = re.compile(r"[^!#$%&'*+.^_`|~0-9A-Za-z-]")
# The number of received bytes, before decompression.
OF_THE_WAY = frozenset(("content-length", "transfer-encoding"))
PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
ROBOTS_PLACE = re.compile(r"(https?://.+)#sha256=([0-9a-f]{64})")
RobotsBodies = Callable[[str], bytes | None]
"""The bytes of the robots.txt with a digest; None if they are not stored any more."""


@dataclass(frozen=True)
class WarcRecord:
    """A record, with the fields of its head in order."""

    head: Mapping[str, str]
    block: bytes

    @cached_property
    def data(self) -> bytes:
        named = {**self.head, "WARC-Block-Digest": raw_digest(self.block), "Content-Length": str(len(self.block))}
        lines = ["WARC/1.1", *(f"{name}: {value}" for name, value in named.items()), "", ""]
        return "\r\n".join(lines).encode() + self.block + b"\r\n\r\n"


@dataclass
class RobotsRecords:
    """Makes the records of robots.txt files, each once."""

    bodies: RobotsBodies
    _made: set[str] = field(default_factory=set)

    def of(self, page: StoredPage) -> Iterator[WarcRecord]:
        """Those by which a page was requested, if they are not among the records yet."""
        for said in (page.values["rights"] or {}).get("evidence", ()):
            if said["signal"] != Signal.ROBOTS_TXT or said["where"] in self._made:
                continue
            self._made.add(said["where"])
            place = ROBOTS_PLACE.fullmatch(said["where"])
            body = self.bodies(place[2]) if place is not None else None
            if place is not None and body is not None:
                head = _head("resource", record_id("robots", *place.groups(), said["read_at"]), place[1])
                cut = {"WARC-Truncated": "length"} if len(body) >= MAX_SIZE else {}
                head |= {"WARC-Date": date(said["read_at"]), "Content-Type": "text/plain", **cut}
                yield WarcRecord(head | {"WARC-Payload-Digest": raw_digest(body)}, body)


def warc(
    pages: Iterable[StoredPage], fields: Sequence[str] = (), robots: RobotsBodies = lambda digest: None
) -> Iterator[bytes]:
    """The whole records: first a description of the file, then those of the pages."""
    yield info().data
    of_hosts = RobotsRecords(robots)
    for page in pages:
        for record in (*of_hosts.of(page), *page_records(page)):
            yield record.data


def info() -> WarcRecord:
    """The description of a file."""
    head = {"WARC-Type": "warcinfo", "WARC-Record-ID": f"<{uuid4().urn}>", "Content-Type": "application/warc-fields"}
    said = f"software: Winnow/{__version__}\r\nformat: WARC File Format 1.1\r\n"
    return WarcRecord(head | {"WARC-Date": date(datetime.now(UTC).isoformat())}, said.encode())


def page_records(page: StoredPage) -> Iterator[WarcRecord]:
    """The records of a page."""
    url = page.values["url"]
    fetched_at = page.values["fetched_at"]
    when = {"WARC-Date": date(fetched_at)}
    refers = {}
    if page.response is not None:
        number = record_id("response", page.key, fetched_at)
        refers = {"WARC-Refers-To": number}
        head = _head("response", number, url) | when | {"Content-Type": "application/http; msgtype=response"}
        yield WarcRecord(head | {"WARC-Payload-Digest": raw_digest(page.response.body)}, _response_block(page.response))
        if page.response.request_line:
            head = _head("request", record_id("request", page.key, fetched_at), url) | when
            head |= {"Content-Type": "application/http; msgtype=request", "WARC-Concurrent-To": number}
            yield WarcRecord(head, _request_block(page.response, url))
    head = _head("conversion", record_id("conversion", page.key, fetched_at), url) | when | refers
    text = page.values["text"].encode("utf-8", "replace")
    yield WarcRecord(head | {"Content-Type": "text/plain; charset=utf-8"}, text)
    if page.response is not None and page.values["revisited_at"] is not None:
        yield WarcRecord(_revisit(page, page.response) | refers, b"")


def _head(kind: str, number: str, url: str) -> dict[str, str]:
    return {"WARC-Type": kind, "WARC-Record-ID": number, "WARC-Target-URI": address(url)}


def _revisit(page: StoredPage, response: StoredResponse) -> dict[str, str]:
    """The head of the record of the last visit on which the page was as it is stored."""
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
    headers = [
        (f"X-Crawler-{name}" if name.lower() in OF_THE_WAY else name, value)
        for name, value in response.headers
        if (name.lower(), value) != ("content-length", size)
    ]
    return _http_head(response.status_line, [*headers, ("Content-Length", size)]) + response.body


def _request_block(response: StoredResponse, url: str) -> bytes:
    """The request as it was sent, with the Host that is sent with each."""
    headers = [one for one in response.request_headers if one[0].lower() != "host"]
    return _http_head(response.request_line, [("Host", urlsplit(url).netloc.rpartition("@")[2]), *headers])


def _http_head(first: str, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"{NO_TOKEN.sub('-', name)}: {BREAKS.sub(' ', value)}" for name, value in headers]
    return "\r\n".join([BREAKS.sub(" ", first), *lines, "", ""]).encode("latin-1", "replace")


def address(url: str) -> str:
    """The address with everything escaped that cannot be in a header line.

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
