"""Compressed bodies on both sides of the limits for their size, their codings and their parts."""

import gzip
import sys
import zlib
from collections.abc import Callable
from functools import partial, reduce

import brotli
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure

from crawler.contrib.bulk.archives.http_response import MOST_CODINGS
from crawler.middlewares.compression import MOST_PARTS, LimitedCompression
from crawler.outcomes import Code, Outcome
from crawler.spiders.request_outcomes import outcome_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LARGEST = 5_000
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=1),
    "zstd": zstd.compress,
}
SKIPPED = b"\x50\x2a\x4d\x18\x00\x00\x00\x00"
"""A part of zstd without content."""


def unpacked(body: bytes, codings: str) -> bytes | Outcome:
    """The body after the middleware, or why it is refused."""
    middleware = LimitedCompression.from_crawler(get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": LARGEST}))
    answer = Response("http://example.com/", body=body, headers={"Content-Encoding": codings})
    try:
        found = middleware.process_response(Request(answer.url), answer)
    except Exception as error:
        return outcome_of(Failure(error))
    assert isinstance(found, Response)
    return found.body


def test_a_body_may_be_so_large() -> None:
    for coding in PACK:
        for more in [0, 1, 5_000_000]:
            body = bytes(LARGEST + more)
            assert unpacked(PACK[coding](body), coding) == (Outcome(Code.BODY_TOO_LARGE) if more else body)


def test_a_body_has_so_many_codings() -> None:
    rows = ["gzip", "br, zstd", "deflate, gzip", "gzip, gzip, gzip", "zstd, br, deflate, gzip"]
    for codings in rows:
        names = codings.split(", ")
        body = reduce(lambda found, name: PACK[name](found), names, b"Bees.")
        assert unpacked(body, codings) == (b"Bees." if len(names) <= MOST_CODINGS else Outcome(Code.BODY_TOO_LARGE))


def test_a_body_has_so_many_parts() -> None:
    rows = [
        ("gzip", gzip.compress(b"")),
        ("x-gzip", gzip.compress(b"x")),
        ("zstd", zstd.compress(b"x")),
        ("zstd", SKIPPED),
    ]
    for coding, part in rows:
        assert isinstance(unpacked(part * MOST_PARTS, coding), bytes)
        assert unpacked(part * (MOST_PARTS + 1), coding) == Outcome(Code.BODY_TOO_LARGE)
        assert unpacked(gzip.compress(part * (MOST_PARTS + 1)), f"{coding}, gzip") == Outcome(Code.BODY_TOO_LARGE)
