"""Decompresses bodies as Scrapy does, and also limits the number of encodings and of compressed parts of a body."""

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware

from crawler.outcomes import Code, Outcome
from crawler.spiders.request_outcomes import Refusal
from crawler.urls.http_limits import MOST_CODINGS

MOST_PARTS = 1_000
"""The most compressed parts of a body, which follow one another; each takes 10 µs, even if it is empty."""
MAGIC_NUMBERS = {
    b"gzip": (b"\x1f\x8b\x08",),
    b"x-gzip": (b"\x1f\x8b\x08",),
    b"zstd": (b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"),
}
"""The bytes with which parts begin: https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1 for gzip, and
https://www.rfc-editor.org/rfc/rfc8878#section-3.1 for zstd, where the second one is common to all frames to skip, whose
first byte differs.
"""


class LimitedCompression(HttpCompressionMiddleware):
    """Scrapy's middleware, which itself limits only the size of the decompressed body, with further limits."""

    @staticmethod
    def _split_encodings(content_encoding: list[bytes]) -> tuple[list[bytes], list[bytes]]:
        codings, unknown = HttpCompressionMiddleware._split_encodings(content_encoding)
        if len(codings) > MOST_CODINGS:
            raise Refusal(Outcome(Code.BODY_TOO_LARGE))
        return codings, unknown

    @staticmethod
    def _decode(body: bytes, encoding: bytes, max_size: int) -> bytes:
        most_parts_possible = sum(map(body.count, MAGIC_NUMBERS.get(encoding, ())))
        if most_parts_possible > MOST_PARTS:
            raise Refusal(Outcome(Code.BODY_TOO_LARGE))
        return HttpCompressionMiddleware._decode(body, encoding, max_size)
