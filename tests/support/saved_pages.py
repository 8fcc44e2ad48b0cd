"""Saved pages in every format, written for the tests, and what is read from them."""

import bz2
import gzip
import json
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from crawler.contrib.bulk.archives.inputs import Input
from crawler.contrib.bulk.archives.records import Broken
from crawler.contrib.bulk.cleaning import Cleaned, method_cleaner
from crawler.extraction import EXTRACTORS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}
UNKNOWN = bz2.compress(b"<html>")


def text(number: int) -> str:
    return f"Page {number} 说，春天来了。"


def html(number: int, more: str = "") -> str:
    return f"<html><head><title>Title {number}</title></head><body><p>{text(number)}</p>{more}</body></html>"


def url(number: int) -> str:
    return f"http://a.example/{number}"


def answer(body: bytes, *headers: str, content_type: str = "text/html; charset=utf-8", end: str = "\r\n") -> bytes:
    """What a server sends."""
    lines = ["HTTP/1.1 200 OK", *[f"Content-Type: {content_type}"] * bool(content_type), *headers, "", ""]
    return end.join(lines).encode() + body


def warc(
    number: int, data: bytes | None = None, kind: str = "response", length: int | None = None, **more: str
) -> bytes:
    """A record of a WARC file."""
    data = answer(html(number).encode()) if data is None else data
    fields = {"WARC-Type": kind, "WARC-Record-ID": f"<urn:uuid:{number}>", "WARC-Target-URI": url(number)}
    fields |= {"Content-Type": "application/http; msgtype=response"} if kind == "response" else {}
    fields |= {name.replace("_", "-"): value for name, value in more.items()}
    fields["Content-Length"] = str(len(data) if length is None else length)
    lines = ["WARC/1.0", *(f"{name}: {value}" for name, value in fields.items() if value), "", ""]
    return "\r\n".join(lines).encode() + data + b"\r\n\r\n"


def tianwang(number: int, data: bytes | None = None, off: int = 0, packed: bool = False, **more: str) -> bytes:
    """A record in the raw page format, its length off by so much."""
    data = answer(html(number).encode("gbk"), content_type="text/html", end="\n") if data is None else data
    fields = {"version": "1.0", "url": url(number), "date": "Tue, 15 Apr 2003 08:13:06 GMT", "ip": "162.105.129.12"}
    fields |= {name.replace("_", "-"): value for name, value in more.items()}
    if packed:
        fields["unzip-length"], data = str(len(data)), zlib.compress(data)
    fields["length"] = str(len(data) + off)
    lines = [*(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\n".join(lines).encode() + data + b"\n"


def line(number: int, **more: Any) -> bytes:
    """A line of JSON."""
    values = {"id": number, "url": url(number), "html": html(number)} | more
    return json.dumps({name: value for name, value in values.items() if value is not ...}).encode() + b"\n"


def outcomes(*inputs: Path | str, method: str = "leaf-tags") -> list[Any]:
    """What becomes of everything in the inputs: the objects of pages, and what is broken or left out as it is."""
    clean = method_cleaner(method, EXTRACTORS[method])
    results = [clean(found) for name in inputs for found in Input(str(name)).records()]
    return [json.loads(result.line) if isinstance(result, Cleaned) else result for result in results]


def summary(results: Iterable[Any], folder: Path) -> list[str]:
    """The same in few words: the texts of pages, the reasons of the others, the latter with their places."""
    said = []
    for result in results:
        if isinstance(result, dict):
            said.append(result["text"])
        elif isinstance(result, Broken):
            said.append(f"{result.place.removeprefix(folder.as_posix() + '/')}: {result.why}")
        else:
            said.append(f"({result.outcome})")
    return said
