"""Parses an HTTP response as archives store it: status line and headers, an empty line, the body."""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import brotli

from crawler.api.saved_document import saved_document
from crawler.contrib.bulk.archives.records import (
    EMPTY_LINE,
    MAX_HEAD,
    MAX_PAGE,
    BrokenError,
    WalledError,
    fields_of,
)
from crawler.contrib.bulk.archives.stream import GZIP_BITS, RAW_BITS, ZLIB_BITS, Inflate, ZstdDecompressor, ZstdError
from crawler.page.document_type import may_be_document, text_type
from crawler.page.page import NotHtmlError, Page, is_html, media_type
from crawler.page.walls import wall_service
from crawler.urls.http_limits import MOST_CHUNKS, MOST_CODINGS

CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
"""The first line of a chunk: its size, and perhaps extensions. https://www.rfc-editor.org/rfc/rfc9112#section-7.1"""
STATUS = re.compile(rb"HTTP/[\d.]+[ \t]+(\d{3})\b", re.IGNORECASE)
LINE_END = re.compile(rb"\r?\n")
BROTLI_PIECE_BYTES = 1024 * 1024
TOO_LONG = f"the page is longer than {MAX_PAGE:,} bytes"


def page_of(response: bytes, url: str, is_whole: bool = True) -> Page:
    """The page in a response; raises a NotHtmlError, BrokenError or WalledError if there is none.

    If the response is not whole, only its beginning was read, because it is too long.
    """
    headers, body = split(response)
    page = page_of_body(body, url, headers, is_whole)
    status = STATUS.match(response)
    if status is not None and (service := wall_service(int(status[1]), headers, page)):
        raise WalledError(service)
    return page


def page_of_body(body: bytes, url: str, headers: Mapping[str, str], is_whole: bool = True) -> Page:
    """The page in a body as it was sent; raises a NotHtmlError or BrokenError if there is none.

    The type is checked before the length: a body of another type is not a page, whether it is complete or not.
    """
    content_type = headers.get("content-type", "")
    is_file = may_be_document(media_type(content_type), url, headers.get("content-disposition", ""))
    is_document = is_file or bool(text_type(content_type, url))
    if media_type(content_type) and not is_document:
        check_type(content_type, b"")  # by the declared type alone, before the body is decompressed

    if not is_whole:
        raise BrokenError(TOO_LONG)
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = unchunked(body)

    # Codings are removed in reverse order, as the last one was applied last. Unknown names are ignored.
    declared_codings = map(str.strip, headers.get("content-encoding", "").lower().split(","))
    codings = [coding for coding in declared_codings if coding in DECODERS]
    if len(codings) > MOST_CODINGS:
        raise BrokenError(f"the body is compressed more than {MOST_CODINGS} times")
    for coding in reversed(codings):
        body = decoded(body, coding)

    robots_header = headers.get("x-robots-tag", "")
    if is_document:
        document = _document(length_checked(body), url, content_type, robots_header)
        if document is not None:
            return document
    check_type(content_type, body)
    return Page(url=url, body=length_checked(body), content_type=content_type, robots_header=robots_header)


def _document(body: bytes, url: str, content_type: str, robots_header: str) -> Page | None:
    """The page of a document, or None if the body has no declared type and is a web page."""
    if not media_type(content_type) and is_html("", body):
        return None
    return saved_document(body, url, robots_header, content_type)


def split(response: bytes) -> tuple[dict[str, str], bytes]:
    """The headers by lower-case name, and the body; no headers if there is no status line.

    >>> split(b"HTTP/1.0 200 OK\\nContent-Type: text/html\\n\\n<p>")[1]
    b'<p>'
    """
    if response[:5].upper() != b"HTTP/":
        return {}, response
    empty_line = EMPTY_LINE.search(response, 0, MAX_HEAD)
    if empty_line is None:
        raise BrokenError("the HTTP headers have no end")
    return fields_of(response[: empty_line.start()]), response[empty_line.end() :]


def check_type(content_type: str, body: bytes) -> None:
    """Raise a NotHtmlError unless this is a web page."""
    if not is_html(content_type, body):
        raise NotHtmlError(media_type(content_type))


def length_checked(body: bytes) -> bytes:
    """The body; raises a BrokenError if it is too long."""
    if len(body) > MAX_PAGE:
        raise BrokenError(TOO_LONG)
    return body


def unchunked(body: bytes) -> bytes:
    """The body without chunk sizes; unchanged if it was stored without them."""
    if CHUNK_SIZE.match(body):
        return b"".join(_chunks(body))
    return body


def _chunks(body: bytes) -> Iterator[bytes]:
    """The content of each chunk; raises a BrokenError if a chunk is damaged or cut off."""
    at = 0
    count = 0
    while at < len(body):  # some bodies lack the last, empty chunk
        count += 1
        if count > MOST_CHUNKS:
            raise BrokenError(f"the body has more than {MOST_CHUNKS:,} chunks")
        size = CHUNK_SIZE.match(body, at)
        if size is None:
            raise BrokenError(f"the chunk at byte {at:,} of the body is damaged")
        length = int(size[1], 16)
        if not length:
            return
        start = size.end()
        end = start + length
        if end > len(body):
            raise BrokenError("the last chunk of the body is cut off")
        yield body[start:end]
        line_end = LINE_END.match(body, end)
        at = line_end.end() if line_end else end


def decoded(body: bytes, coding: str) -> bytes:
    """The body without its content coding. An HTML body that was stored without the declared coding is unchanged."""
    if not body:
        return body
    try:
        return length_checked(DECODERS[coding](body))
    except (zlib.error, ZstdError, brotli.error, EOFError, ValueError) as error:
        if is_html("", body):
            return body
        raise BrokenError(f"the body's {coding} data are damaged ({str(error) or 'cut off'})") from None


def _inflated(body: bytes) -> bytes:
    """The content of deflate data, which servers send with or without zlib's header.

    https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.2
    """
    try:
        return unpack(body, Inflate(ZLIB_BITS), MAX_PAGE)
    except zlib.error:
        return unpack(body, Inflate(RAW_BITS), MAX_PAGE)


def _brotli_decoded(body: bytes) -> bytes:
    """The content of brotli data, or its beginning if it is longer than a page may be."""
    decompressor = brotli.Decompressor()
    pieces = [decompressor.process(body, output_buffer_limit=BROTLI_PIECE_BYTES)]
    size = len(pieces[0])
    while not decompressor.is_finished() and size <= MAX_PAGE:
        pieces.append(decompressor.process(b"", output_buffer_limit=BROTLI_PIECE_BYTES))
        size += len(pieces[-1])
        if not pieces[-1] and not decompressor.is_finished():
            raise EOFError
    return b"".join(pieces)


def _decoder(new_decompressor: Callable[[], Any]) -> Callable[[bytes], bytes]:
    return lambda body: unpack(body, new_decompressor(), MAX_PAGE)


DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _decoder(lambda: Inflate(GZIP_BITS)),
    "x-gzip": _decoder(lambda: Inflate(GZIP_BITS)),
    "deflate": _inflated,
    "br": _brotli_decoded,
    "zstd": _decoder(ZstdDecompressor),
}


def unpack(data: bytes, decompressor: Any, limit: int) -> bytes:
    """The content of one compressed part; raises an EOFError if it is cut off.

    At most `limit` + 1 bytes are returned, so that the caller sees that the content is too long.

    >>> unpack(zlib.compress(b"bees" * 9), Inflate(ZLIB_BITS), 4)
    b'beesb'
    """
    pieces = [decompressor.decompress(data, limit + 1)]
    size = len(pieces[0])
    while not decompressor.eof and size <= limit:
        if decompressor.needs_input:
            raise EOFError
        pieces.append(decompressor.decompress(b"", limit + 1 - size))
        size += len(pieces[-1])
    return b"".join(pieces)
