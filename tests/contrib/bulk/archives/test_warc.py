"""WARC: pages among other records, and no record that is lost by another one's damage."""

import gzip
import io
from functools import partial
from pathlib import Path

import brotli
import pytest
import saved_pages
from saved_pages import PACK, answer, html, outcomes, summary, text, url, warc
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.contrib.bulk.archives.http_response import MOST_CHUNKS
from crawler.contrib.bulk.archives.records import MAX_HEAD, MAX_PAGE

RECORDS = [warc(number) for number in range(4)]
BEFORE = len(RECORDS[0])


def read(folder: Path, data: bytes, name: str = "a.warc") -> list[str]:
    (folder / name).write_bytes(data)
    return summary(outcomes(folder / name), folder)


def chunked(body: bytes, size: int = 50) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;a=b\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("named", [True, False])
def test_ids_and_addresses(tmp_path: Path, suffix: str, named: bool) -> None:
    path = tmp_path / (f"a.warc{suffix}" if named else "a")
    path.write_bytes(PACK[suffix](b"".join(RECORDS)))
    assert outcomes(path) == [
        {"id": f"<urn:uuid:{n}>", "url": url(n), "text": text(n), "title": f"Title {n}", "method": "leaf-tags"}
        for n in range(4)
    ]


@pytest.mark.parametrize("suffix", list(PACK)[1:])
def test_a_record_a_part(tmp_path: Path, suffix: str) -> None:
    assert read(tmp_path, b"".join(map(PACK[suffix], RECORDS)), f"a.warc{suffix}") == [text(n) for n in range(4)]


def write_by_another_hand(path: Path, packed: bool) -> None:
    """A warcinfo record, then a request and its response three times."""
    asked = StatusAndHeaders("GET / HTTP/1.0", [], is_http_request=True)
    answered = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.0")
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=packed)
        writer.write_record(writer.create_warcinfo_record("a.warc", {"software": "test"}))
        for number in range(3):
            body = io.BytesIO(html(number).encode("gb18030"))
            writer.write_record(writer.create_warc_record(url(number), "request", http_headers=asked))
            writer.write_record(writer.create_warc_record(url(number), "response", body, http_headers=answered))


@pytest.mark.filterwarnings("ignore:Unclosed file <tempfile:ResourceWarning")  # warcio's own
@pytest.mark.parametrize("packed", [True, False])
def test_by_another_hand(tmp_path: Path, packed: bool) -> None:
    write_by_another_hand(tmp_path / "a", packed)
    found = outcomes(tmp_path / "a")
    assert [one["url"] for one in found if isinstance(one, dict)] == [url(n) for n in range(3)]
    pairs = [said for number in range(3) for said in ("(no_response/request)", text(number))]
    assert summary(found, tmp_path) == ["(no_response/warcinfo)", *pairs]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (answer(html(1).encode()), text(1)),
        (answer(html(1).encode("gb18030"), content_type="text/html"), text(1)),
        (answer(html(1).encode("big5", "ignore"), content_type="text/html; charset=big5"), "Page 1 "),
        (answer(html(1).encode(), content_type="application/xhtml+xml"), text(1)),
        (answer(html(1).encode(), content_type=""), text(1)),
        (answer(html(1).encode(), end="\n"), text(1)),
        (answer(chunked(html(1).encode()), "Transfer-Encoding: chunked"), text(1)),
        (answer(chunked(html(1).encode())[:-5], "Transfer-Encoding: chunked"), text(1)),  # without the last chunk
        (answer(html(1).encode(), "Transfer-Encoding: chunked"), text(1)),  # stored without its chunks
        (answer(gzip.compress(html(1).encode()), "Content-Encoding: gzip"), text(1)),
        (answer(saved_pages.zlib.compress(html(1).encode()), "Content-Encoding: deflate"), text(1)),
        (answer(saved_pages.zlib.compress(html(1).encode())[2:-4], "Content-Encoding: deflate"), text(1)),
        (answer(brotli.compress(html(1).encode()), "content-encoding: BR"), text(1)),
        (answer(saved_pages.zstd.compress(html(1).encode()), "Content-Encoding: zstd"), text(1)),
        (answer(brotli.compress(gzip.compress(html(1).encode())), "Content-Encoding: gzip, br"), text(1)),
        (answer(html(1).encode(), "Content-Encoding: gzip"), text(1)),  # stored without its coding
        (answer(html(1).encode(), "Content-Encoding: identity"), text(1)),
        (
            answer(chunked(gzip.compress(html(1).encode())), "Transfer-Encoding: chunked", "Content-Encoding: gzip"),
            text(1),
        ),
        (answer(text(1).encode(), content_type="text/plain"), text(1)),
        (answer(text(1).encode("gbk"), content_type="text/plain; charset=gbk"), text(1)),
        (answer(f"# {text(1)}".encode(), content_type="text/markdown"), text(1)),
        (answer(gzip.compress(text(1).encode()), "Content-Encoding: gzip", content_type="text/plain"), text(1)),
        (answer(html(1).encode(), content_type="text/plain"), "(unread_document/broken)"),
        (answer(b"x[1] = {2};\n", content_type="text/plain"), "(unread_document/no_sentences)"),
        (answer(b"\x89PNG", content_type="image/png"), "(not_html/image/png)"),
        (answer(b"\x89PNG", content_type=""), "(not_html)"),
        (answer(b"not gzip", "Content-Encoding: gzip", content_type="a/b"), "(not_html/a/b)"),
        (answer(b"", content_type="text/html"), ""),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html", "the HTTP headers have no end"),
        (
            answer(chunked(html(1).encode())[:-50], "Transfer-Encoding: chunked"),
            "the last chunk of the body is cut off",
        ),
        (answer(b"1\r\n \r\n" * MOST_CHUNKS, "Transfer-Encoding: chunked"), ""),
        (
            answer(b"1\r\n \r\n" * (MOST_CHUNKS + 1), "Transfer-Encoding: chunked"),
            "the body has more than 64,000 chunks",
        ),
        (answer(gzip.compress(gzip.compress(html(1).encode())), "Content-Encoding: gzip, identity, gzip"), text(1)),
        (answer(b"", "Content-Encoding: gzip, br, gzip"), "the body is compressed more than 2 times"),
        (answer(b"3\r\n<p>\r\nzz\r\n", "Transfer-Encoding: chunked"), "the chunk at byte 8 of the body is damaged"),
        (answer(gzip.compress(html(1).encode())[:-9], "Content-Encoding: gzip"), "the body's gzip data are damaged"),
        (answer(b"\x1f\x8b\x08\0damaged", "Content-Encoding: gzip"), "the body's gzip data are damaged"),
        (answer(brotli.compress(html(1).encode())[:-9], "Content-Encoding: br"), "the body's br data are damaged"),
    ],
)
def test_bodies(tmp_path: Path, data: bytes, expected: str) -> None:
    before, found, after = read(tmp_path, RECORDS[0] + warc(1, data) + RECORDS[2])
    assert (before, after) == (text(0), text(2))
    place, _, why = found.rpartition(f"a.warc: byte {BEFORE}: ")
    assert why.startswith(expected) if place or why.startswith("the ") else found.startswith(expected)
    assert bool(expected) == bool(found)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (warc(1, html(1).encode(), "resource", Content_Type="text/html"), text(1)),
        (warc(1, html(1).encode(), "resource"), text(1)),
        (warc(1, b"%PDF", "resource", Content_Type="application/pdf"), "(not_html/application/pdf)"),
        (warc(1, b"20030415", Content_Type="text/dns"), "(not_html/text/dns)"),
        (warc(1, kind="RESPONSE", Content_Type="application/http"), text(1)),
        (warc(1, b"GET / HTTP/1.0\r\n\r\n", "request"), "(no_response/request)"),
        (warc(1, kind=""), "(no_response)"),
        (warc(1).replace(b"WARC/1.0", b"WARC/1.1"), text(1)),
        (warc(1).replace(b"WARC-Type", b"warc-type"), text(1)),
        (warc(1).replace(b"WARC-Type: ", b"WARC-Type:\r\n "), text(1)),
        (warc(1).replace(b"\r\n", b"\n", 7), text(1)),
        (warc(1, answer(html(1, "\n\nWARC/1.0\r\n").encode())), text(1)),
    ],
)
def test_records(tmp_path: Path, record: bytes, expected: str) -> None:
    assert read(tmp_path, RECORDS[0] + record + RECORDS[2]) == [text(0), expected, text(2)]


def test_addresses_in_brackets_and_none_at_all(tmp_path: Path) -> None:
    bare = warc(2, WARC_Record_ID="", WARC_Target_URI="")
    (tmp_path / "a.warc").write_bytes(warc(1, WARC_Target_URI=f"<{url(1)}>") + bare)
    assert [(one["id"], one["url"]) for one in outcomes(tmp_path / "a.warc")] == [("<urn:uuid:1>", url(1)), (None, "")]


LENGTH = len(answer(html(1).encode()))


@pytest.mark.parametrize(
    ("record", "why"),
    [
        *[(warc(1, length=LENGTH + off), "its length is off") for off in (-LENGTH, -50, -1, 5, 30, 200, 400, 10**6)],
        (warc(1, length=10**12), "its length is off"),
        (warc(1).replace(b"\r\n\r\n", b"\r\n"), "its head has no end"),
        (warc(1).replace(b"Content-Length: ", b"Content-Length: -"), "its head has no content-length"),
        (warc(1).replace(b"Content-Length", b"Content-Width"), "its head has no content-length"),
        (warc(1)[:100] + b"\n", "its head has no end"),
        (warc(1)[: -LENGTH // 2] + b"\r\n", "its length is off"),
        (warc(1, length=LENGTH + 30, kind="request"), "its length is off"),
    ],
)
def test_damage_costs_one_record(tmp_path: Path, record: bytes, why: str) -> None:
    data = RECORDS[0] + record + RECORDS[2] + RECORDS[3]
    assert read(tmp_path, data) == [text(0), f"a.warc: byte {BEFORE}: {why}", text(2), text(3)]


@pytest.mark.parametrize("junk", [b"junk", b"\0" * 100, b"x\r\n" * 100_000, b"WARC", b"<p>WARC/1.0"])
def test_junk_between_records(tmp_path: Path, junk: bytes) -> None:
    said = f"a.warc: byte {BEFORE:,}: {len(junk) + 2:,} bytes are not part of a record"
    assert read(tmp_path, RECORDS[0] + junk + b"\r\n" + RECORDS[1]) == [text(0), said, text(1)]


@pytest.mark.parametrize("blank", [b"", b"\r\n", b"\r\n" * 40])
def test_white_space_between_records(tmp_path: Path, blank: bytes) -> None:
    assert read(tmp_path, blank + RECORDS[0] + blank + RECORDS[1] + blank) == [text(0), text(1)]


@pytest.mark.parametrize("end", [1, 4, 20, BEFORE // 2, BEFORE - 10])
def test_an_end_that_is_cut_off(tmp_path: Path, end: int) -> None:
    first, *rest = read(tmp_path, RECORDS[0] + RECORDS[1][:end])
    assert first == text(0)
    assert len(rest) == 1
    assert rest[0].startswith(f"a.warc: byte {BEFORE}: ")


def test_a_record_without_the_line_ends_behind_it_is_whole(tmp_path: Path) -> None:
    assert read(tmp_path, RECORDS[0] + RECORDS[1][:-4]) == [text(0), text(1)]
    assert read(tmp_path, RECORDS[0][:-4] + RECORDS[1]) == [text(0), text(1)]


@pytest.mark.parametrize("suffix", list(PACK)[1:])
@pytest.mark.parametrize("at", [0, 1, 3, 20, 60, -8, -1])
def test_a_damaged_part(tmp_path: Path, suffix: str, at: int) -> None:
    parts = [PACK[suffix](record) for record in RECORDS]
    damaged = bytearray(parts[1])
    damaged[at] ^= 0xFF
    found = read(tmp_path, parts[0] + bytes(damaged) + parts[2] + parts[3], f"a.warc{suffix}")
    pages, broken = [one for one in found if one.startswith("Page")], [one for one in found if ".warc" in one]
    assert set(pages) >= {text(0), text(2), text(3)}
    assert len(pages) + len(broken) == len(found)
    if suffix != ".zst":  # whose checks are optional, and off
        assert broken


@pytest.mark.parametrize("suffix", list(PACK)[1:])
def test_a_part_that_is_cut_off(tmp_path: Path, suffix: str) -> None:
    parts = [PACK[suffix](record) for record in RECORDS]
    first, broken, last = read(tmp_path, parts[0] + parts[1][:-40] + parts[2], f"a.warc{suffix}")
    assert (first, last) == (text(0), text(2))
    assert f"{BEFORE:,}: the " in broken
    assert broken.endswith(f"at byte {len(parts[0]):,} of the file")
    found = read(tmp_path, parts[0] + parts[1][:-20], f"a.warc{suffix}")
    assert found[0] == text(0)
    assert f" byte {len(parts[0] + parts[1]) - 20:,} " in found[-1]
    assert [one for one in found[1:-1] if ".warc" in one] == []


@pytest.mark.parametrize("size", [100_000, 3_000_000])
def test_a_damaged_part_that_holds_much_in_few_bytes(tmp_path: Path, size: int) -> None:
    damaged = bytearray(gzip.compress(warc(1, answer(html(1, " " * size).encode()))))
    damaged[-8] ^= 0xFF  # the checksum
    found = read(tmp_path, bytes(damaged) + gzip.compress(RECORDS[2]) + gzip.compress(RECORDS[3]), "a.warc.gz")
    assert found[-2:] == [text(2), text(3)]


@pytest.mark.parametrize(
    ("more", "kind", "expected"),
    [
        (0, "text/html", text(1)),
        (1, "text/html", "the page is longer than"),
        (MAX_HEAD, "text/html", "the page is longer than"),
        (MAX_HEAD, "video/mp4", "(not_html/video/mp4)"),
    ],
)
def test_long_pages(tmp_path: Path, more: int, kind: str, expected: str) -> None:
    long = html(1).encode()
    long += b" " * (MAX_PAGE - len(long) + more)
    found = read(tmp_path, warc(1, answer(long, content_type=kind)) + RECORDS[2])
    assert len(found) == 2
    assert expected in found[0]
    assert found[1] == text(2)


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("gzip", gzip.compress), ("br", partial(brotli.compress, quality=1)), ("zstd", saved_pages.zstd.compress)],
)
def test_a_bomb(tmp_path: Path, coding: str, pack: saved_pages.Callable[[bytes], bytes]) -> None:
    data = answer(pack(b"<html>" + bytes(MAX_PAGE)), f"Content-Encoding: {coding}")
    (first, second) = read(tmp_path, warc(1, data) + RECORDS[2])
    assert f"{MAX_PAGE:,} bytes" in first
    assert second == text(2)
