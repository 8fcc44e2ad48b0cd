"""WARC 1.1 (ISO 28500:2017): for each page its response, if it was stored, and its clean text.

The text is a record of the type `conversion`, as in Common Crawl's WET files, and refers to the response. Responses are
decompressed; if that changed the length, the original one is in X-Crawler-Content-Length. The same pages give the same
records, except for the date and the id of the first.
"""

import re
from base64 import b32encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha1
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid4, uuid5

from crawler import __version__
from crawler.frontier.page_result import StoredResponse
from crawler.reports.stored_pages import StoredPage

BREAKS = re.compile(r"[\r\n\x00]+")
NO_TOKEN = re.compile(r"[^!#$%&'*+.^_`|~0-9A-Za-z-]")
# The number of received bytes, before decompression.
OF_THE_WAY = frozenset(("content-length", "transfer-encoding"))


def warc(pages: Iterable[StoredPage], fields: Sequence[str] = ()) -> Iterator[bytes]:
    """The whole records: first a description of the file, then those of the pages."""
    yield _info()
    for page in pages:
        url, fetched_at = page.values["url"], page.values["fetched_at"]
        about = {"WARC-Target-URI": _address(url), "WARC-Date": _date(fetched_at)}
        answer = {}
        if page.response is not None:
            number = _number("response", page.key, fetched_at)
            answer = {"WARC-Refers-To": number}
            block = _block(page.response)
            kind = {
                "WARC-Type": "response",
                "WARC-Record-ID": number,
                "Content-Type": "application/http; msgtype=response",
            }
            yield _record(kind | about | {"WARC-Payload-Digest": _digest(page.response.body)}, block)
        kind = {"WARC-Type": "conversion", "WARC-Record-ID": _number("conversion", page.key, fetched_at)}
        kind["Content-Type"] = "text/plain; charset=utf-8"
        yield _record(kind | about | answer, page.values["text"].encode("utf-8", "replace"))


def _info() -> bytes:
    head = {"WARC-Type": "warcinfo", "WARC-Record-ID": f"<{uuid4().urn}>", "Content-Type": "application/warc-fields"}
    said = f"software: Winnow/{__version__}\r\nformat: WARC File Format 1.1\r\n"
    return _record(head | {"WARC-Date": _date(datetime.now(UTC).isoformat())}, said.encode())


def _record(head: Mapping[str, str], block: bytes) -> bytes:
    named = {**head, "WARC-Block-Digest": _digest(block), "Content-Length": str(len(block))}
    lines = ["WARC/1.1", *(f"{name}: {value}" for name, value in named.items()), "", ""]
    return "\r\n".join(lines).encode() + block + b"\r\n\r\n"


def _block(response: StoredResponse) -> bytes:
    """The response as a server would send it without compression or chunks."""
    size = str(len(response.body))
    lines = [BREAKS.sub(" ", response.status_line)]
    for name, value in response.headers:
        if (name.lower(), value) != ("content-length", size):
            other = "X-Crawler-" if name.lower() in OF_THE_WAY else ""
            lines.append(f"{other}{NO_TOKEN.sub('-', name)}: {BREAKS.sub(' ', value)}")
    head = "\r\n".join([*lines, f"Content-Length: {size}", "", ""])
    return head.encode("latin-1", "replace") + response.body


def _number(kind: str, key: int, fetched_at: str) -> str:
    """The id of a record, the same whenever it is written."""
    return f"<{uuid5(NAMESPACE_URL, f'winnow {kind} {key} {fetched_at}').urn}>"


def _digest(data: bytes) -> str:
    return f"sha1:{b32encode(sha1(data, usedforsecurity=False).digest()).decode()}"


def _address(url: str) -> str:
    """The address with everything escaped that cannot be in a header line.

    >>> _address("http://a.example/b c\\r\\n%20")
    'http://a.example/b%20c%0D%0A%20'
    """
    return quote(url, safe=";/?:@&=+$,-_.!~*'()%#[]", errors="replace")


def _date(time: str) -> str:
    """A time in ISO 8601, in UTC, to the second.

    >>> _date("2026-11-22T13:00:00.5+01:00")
    '2026-11-22T12:00:00Z'
    """
    return datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
