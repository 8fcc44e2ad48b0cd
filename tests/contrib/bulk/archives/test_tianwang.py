"""Tianwang's raw pages: records whose lengths are off are read, and damage costs one record."""

import re
import zlib
from pathlib import Path

import pytest
from saved_pages import PACK, answer, html, outcomes, summary, text, tianwang, url

from crawler.contrib.bulk.archives.inputs import Input
from crawler.contrib.bulk.archives.records import MAX_PAGE, MAX_STORED, Raw

RECORDS = [tianwang(number) for number in range(4)]
BEFORE = len(RECORDS[0])
LENGTH = len(answer(html(1).encode("gbk"), content_type="text/html", end="\n"))


def read(folder: Path, data: bytes) -> list[str]:
    (folder / "a").write_bytes(data)
    return summary(outcomes(folder / "a"), folder)


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("packed", [True, False])
def test_pages_and_addresses(tmp_path: Path, suffix: str, packed: bool) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(PACK[suffix](b"".join(tianwang(number, packed=packed) for number in range(3))))
    assert outcomes(path) == [
        {"id": None, "url": url(n), "text": text(n), "title": f"Title {n}", "method": "leaf-tags"} for n in range(3)
    ]


def test_unknown_names_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(tianwang(1, origin="http://b.example/", X_Colour="green: 1"))
    (found,) = Input(str(tmp_path / "a")).records()
    assert isinstance(found, Raw)
    assert dict(found.decode(found).head) == {
        "version": "1.0",
        "url": url(1),
        "date": "Tue, 15 Apr 2003 08:13:06 GMT",
        "ip": "162.105.129.12",
        "origin": "http://b.example/",
        "x-colour": "green: 1",
        "length": str(LENGTH),
    }


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["gbk", "utf-8", "big5"])
@pytest.mark.parametrize("declared", ["text/html", "text/html; charset=gb2312", "text/html;charset=iso-8859-1"])
def test_line_ends_and_wrong_charsets(tmp_path: Path, end: str, encoding: str, declared: str) -> None:
    page = "<p>我們說春天來了，" * 3 + "公園裡的花都開了。</p>"
    data = answer(page.encode(encoding), content_type=declared, end=end)
    assert read(tmp_path, RECORDS[0] + tianwang(1, data) + RECORDS[2])[1].endswith("公園裡的花都開了。")


@pytest.mark.parametrize("off", [-LENGTH, -60, -1, 1, 2, 60, 300, BEFORE + 7, 10**6, 10**12])
@pytest.mark.parametrize("packed", [True, False])
def test_lengths_that_are_off(tmp_path: Path, off: int, packed: bool) -> None:
    off = max(off, -len(zlib.compress(html(1).encode()))) if packed else off
    data = RECORDS[0] + tianwang(1, off=off, packed=packed) + RECORDS[2] + RECORDS[3]
    assert read(tmp_path, data) == [text(n) for n in range(4)]
    assert read(tmp_path, RECORDS[0] + tianwang(1, off=off, packed=packed)) == [text(0), text(1)]


def test_an_unzip_length_that_is_off_or_for_nothing(tmp_path: Path) -> None:
    packed = tianwang(1, packed=True)
    assert read(tmp_path, packed.replace(b"unzip-length: ", b"unzip-length: 1")) == [text(1)]
    assert read(tmp_path, tianwang(1, unzip_length="7")) == [text(1)]


def test_a_page_with_a_line_like_a_record(tmp_path: Path) -> None:
    data = answer(html(1, "<pre>\nversion: 1.0\nurl: x\n\n</pre>").encode("gbk"))
    assert [one.splitlines()[0] for one in read(tmp_path, RECORDS[0] + tianwang(1, data) + RECORDS[2])] == [
        text(n) for n in range(3)
    ]


PACKED = tianwang(1, packed=True)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (RECORDS[1].replace(b"length: ", b"length: x"), "its head has no length"),
        (RECORDS[1].replace(b"length: ", b"size: "), "its head has no length"),
        (RECORDS[1].replace(b"length: ", b"length: -"), "its head has no length"),
        (b"version: 1.0\nurl: http://a.example/\n", "its head has no end"),
        (b"version: 1.0\nx: " + b"y" * 100_000 + b"\n\n", "its head has no end"),
        (PACKED[:-20] + b"\n", "the zlib data are cut off"),
        (PACKED[:-5] + b"beef\n", "the zlib data are damaged (Error -3 while decompressing data: "),
        (tianwang(1, b"<p>", unzip_length="9"), "the zlib data are damaged (Error -3 while decompressing data: "),
        (tianwang(1, b"HTTP/1.1 200 OK\nContent-Type: text/html"), "the HTTP headers have no end"),
    ],
)
def test_damage_costs_one_record(tmp_path: Path, record: bytes, why: str) -> None:
    first, broken, *rest = read(tmp_path, RECORDS[0] + record + RECORDS[2] + RECORDS[3])
    assert (first, rest) == (text(0), [text(2), text(3)])
    assert broken.startswith(f"a: byte {BEFORE}: {why}")


@pytest.mark.parametrize("at", range(0, BEFORE, 7))
def test_any_byte_may_be_damaged(tmp_path: Path, at: int) -> None:
    damaged = bytearray(RECORDS[1])
    damaged[at] ^= 0x55
    found = read(tmp_path, RECORDS[0] + bytes(damaged) + RECORDS[2] + RECORDS[3])
    assert (found[0], found[-2:]) == (text(0), [text(2), text(3)])
    assert len(found) == 4


def test_the_end_of_a_file_is_cut_off(tmp_path: Path) -> None:
    for kept in (slice(-30), slice(30)):  # without the end of the page, and within the head
        first, broken = read(tmp_path, RECORDS[0] + RECORDS[1][kept])
        assert (first, broken.startswith(f"a: byte {BEFORE}: ")) == (text(0), True)


def test_other_types_are_left_out(tmp_path: Path) -> None:
    image = tianwang(1, answer(b"GIF89a\nversion: ", content_type="image/gif"))
    assert read(tmp_path, RECORDS[0] + image + RECORDS[2]) == [text(0), "(not_html/image/gif)", text(2)]


@pytest.mark.parametrize(
    ("packed", "more", "good"),
    [(False, 0, True), (False, 1, False), (False, MAX_STORED, False), (True, 0, True), (True, 1, False)],
)
def test_long_pages(tmp_path: Path, packed: bool, more: int, good: bool) -> None:
    data = answer(b"<p>" + bytes(MAX_PAGE - 3 + more))
    found = read(tmp_path, tianwang(1, data, packed=packed) + RECORDS[2])
    assert (re.match(rf"a: byte 0: .*{MAX_PAGE:,}", found[0]) is None) is good
    assert found[1:] == [text(2)]


def test_a_long_record_is_not_unpacked(tmp_path: Path) -> None:
    record = tianwang(1, bytes(MAX_STORED + 1), unzip_length="9")
    first, second = read(tmp_path, record + RECORDS[2])
    assert re.match(rf"a: byte 0: .*{MAX_PAGE:,}", first)
    assert second == text(2)
