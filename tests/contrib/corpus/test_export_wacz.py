"""WACZ as its specification has it: read by a reader of ZIP files and by warcio, record by record."""

import gzip
import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import pytest
from export_pages import odd, stored
from warcio.archiveiterator import ArchiveIterator

from crawler.contrib.corpus.wacz import LINES_OF_BLOCK, surt, wacz
from crawler.errors import OutputError
from crawler.frontier.page_result import StoredResponse, raw_digest

HTML = (("Content-Type", "Text/HTML; charset=utf-8"),)
AGAIN = {"revisited_at": "2026-12-01T00:00:00+00:00", "revisit_status": 304}
ROBOTS = b"User-agent: *\nDisallow: /private/"


def kept(number: int, **more: Any) -> Any:
    """A page with its response."""
    response = StoredResponse("HTTP/1.1 200 OK", HTML, b"<p>Bees %d" % number, f"GET /{number} HTTP/1.1")
    return stored(number, response, crawl="bees", **more)


def opened(pages: list[Any]) -> ZipFile:
    rights = {"evidence": [{"signal": "robots_txt", "says": "", "read_at": AGAIN["revisited_at"]}]}
    rights["evidence"][0]["where"] = f"http://a.example/robots.txt#sha256={sha256(ROBOTS).hexdigest()}"
    pages[0].values["rights"] = rights
    return ZipFile(io.BytesIO(b"".join(wacz(pages, robots=lambda digest: ROBOTS))))


def test_its_files_are_those_of_the_specification() -> None:
    package = opened([kept(1), stored(2), odd()])
    assert package.testzip() is None
    entries = {entry.filename: entry for entry in package.infolist()}
    described = json.loads(package.read("datapackage.json"))
    assert (described["profile"], described["wacz_version"], described["title"]) == ("data-package", "1.1.1", "bees")
    assert [one["path"] for one in described["resources"]] == [
        *("archive/data.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"),
    ]
    assert entries.keys() == {one["path"] for one in described["resources"]} | {
        "datapackage.json",
        "datapackage-digest.json",
    }
    for one in described["resources"]:
        data = package.read(one["path"])
        assert (one["bytes"], one["hash"]) == (len(data), raw_digest(data))
        assert one["path"].endswith(one["name"])
    signed = json.loads(package.read("datapackage-digest.json"))
    assert signed == {"path": "datapackage.json", "hash": raw_digest(package.read("datapackage.json"))}
    # What is compressed may not be compressed again, so that one record can be read.
    assert {name for name, entry in entries.items() if entry.compress_type == ZIP_STORED} == {
        *("archive/data.warc.gz", "indexes/index.cdx.gz"),
    }


def test_what_is_archived_is_found_by_its_address() -> None:
    count = LINES_OF_BLOCK + 5
    package = opened([kept(number, **(AGAIN if number == 7 else {})) for number in range(count)])
    index, archive = package.read("indexes/index.cdx.gz"), package.read("archive/data.warc.gz")
    meta, *blocks = package.read("indexes/index.idx").decode().splitlines()
    assert json.loads(meta.removeprefix("!meta 0 ")) == {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
    lines, at = [], 0
    for block in blocks:
        key, _, place = block.partition(" {")
        told = json.loads("{" + place)
        data = index[told["offset"] : told["offset"] + told["length"]]
        assert (told["offset"], told["digest"]) == (at, raw_digest(data))
        mine = gzip.decompress(data).decode().splitlines()
        assert mine[0].startswith(f"{key} {{")
        lines, at = lines + mine, at + told["length"]
    assert (len(blocks), at) == (2, len(index))
    assert lines == sorted(lines)
    found = {}
    for line in lines:
        key, moment, rest = line.split(" ", 2)
        told = json.loads(rest)
        assert told["filename"] == "data.warc.gz"
        part = archive[int(told["offset"]) : int(told["offset"]) + int(told["length"])]
        record = next(iter(ArchiveIterator(io.BytesIO(part), check_digests="raise")))
        body = record.content_stream().read()
        head = record.rec_headers
        assert (told["url"], told.get("digest")) == tuple(
            head.get_header(f"WARC-{name}") for name in ("Target-URI", "Payload-Digest")
        )
        assert (key, moment) == (surt(told["url"]), "".join(filter(str.isdigit, head.get_header("WARC-Date"))))
        found[key, record.rec_type] = told["mime"], told.get("status"), body
    assert len(found) == count + 2
    assert found["example,a)/7", "response"] == ("text/html", "200", b"<p>Bees 7")
    assert found["example,a)/7", "revisit"] == ("warc/revisit", None, b"")
    assert found["example,a)/robots.txt", "resource"] == ("text/plain", "200", ROBOTS)


def test_pages_that_can_be_shown_are_listed() -> None:
    package = opened([kept(1), stored(2), kept(3, title='"<b>\n', url="http://a.example/a b")])
    head, *pages = map(json.loads, package.read("pages/pages.jsonl").decode().splitlines())
    assert (head["format"], head["hasText"]) == ("json-pages-1.0", True)
    assert [(one["url"], one["ts"], one["title"], one["text"]) for one in pages] == [
        ("http://a.example/1", "2026-11-22T12:30:00Z", "Page 1", "Bees 1."),
        ("http://a.example/a%20b", "2026-11-22T12:30:00Z", '"<b>\n', "Bees 3."),
    ]
    assert len({one["id"] for one in pages}) == 2


def test_keys_of_addresses() -> None:
    rows = [
        ("http://a.example", "example,a)/"),
        ("https://WWW2.A.example/B/?z&a=2&a=1", "example,a)/b/?a=1&a=2&z"),
        ("http://www.example", "example)/"),
        ("http://me@a.example:8000/?", "example,a:8000)/"),
        ("http://127.0.0.1/a%20b", "1,0,0,127)/a%20b"),
        ("http://[::1]:81/x", "[::1]:81)/x"),
    ]
    for url, key in rows:
        assert surt(url) == key


def test_no_room_for_temporary_files_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="temporary files"):
        b"".join(wacz([kept(1)], folder=tmp_path / "missing"))
