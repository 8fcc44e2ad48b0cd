import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.evaluation.gold import GoldPage, read_set

ROW = {"id": "a", "url": "http://example.com/x", "lang": "en", "html": "<p>Bees", "gold": "Bees", "set": "s"}
PAGE = GoldPage("a", "http://example.com/x", "en", "", "<p>Bees", "Bees")
LINE = json.dumps(ROW).encode() + b"\n"


@pytest.mark.parametrize(
    ("name", "pack"), [("s.jsonl", bytes), ("s.jsonl.gz", gzip.compress), ("s.jsonl.xz", lzma.compress)]
)
def test_files(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / name
    path.write_bytes(pack(LINE + b"\n" + LINE))
    assert read_set(path)[:3] == ("s", (PAGE, PAGE), ())


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"{", "no JSON"),
        (b"\xff\xfe{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[1]", "no object"),
        (b'{"html": "x"}', "gold must be there and be text"),
        (b'{"html": null, "gold": 3}', "html and gold must be there and be text"),
    ],
)
def test_broken_lines_are_named_and_left_out(tmp_path: Path, line: bytes, fault: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LINE + line + b"\n" + LINE)
    found = read_set(path)
    assert found.pages == (PAGE, PAGE)
    assert found.faults == (f"{path}:2: {fault}",)


def test_a_file_that_breaks_off_keeps_what_was_before(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl.gz"
    rows = b"".join(json.dumps(ROW | {"gold": str(number) * 50}).encode() + b"\n" for number in range(2_000))
    path.write_bytes(gzip.compress(rows)[:-500])
    found = read_set(path)
    assert 0 < len(found.pages) < 2_000
    assert found.faults[0].startswith(f"{path}:{len(found.pages) + 1}: the file cannot be read from here on (")


def test_a_file_without_pages_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n")
    assert read_set(path)[1:3] == ((), (f"{path}: no page is in it",))


@pytest.mark.parametrize(
    ("row", "page"),
    [
        ({"html": "", "gold": ""}, GoldPage("1", "", "", "", "", "")),
        (
            {"id": 7, "url": None, "lang": 3, "page_type": "forum", "html": "", "gold": ""},
            GoldPage("7", "", "", "forum", "", ""),
        ),
    ],
)
def test_what_is_not_needed_may_be_missing(tmp_path: Path, row: dict[str, object], page: GoldPage) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(row))
    assert read_set(path).pages == (page,)


@pytest.mark.parametrize(
    ("url", "host"), [("http://News.example.com:80/x", "news.example.com"), ("", ""), ("http://[x", ""), ("x", "")]
)
def test_host(url: str, host: str) -> None:
    assert PAGE._replace(url=url).host == host


@pytest.mark.parametrize("field", ["id", "html", "gold"])
def test_fingerprint_tells_other_pages(tmp_path: Path, field: str) -> None:
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    for path, row in zip(paths, (ROW, ROW | {"set": "t"}, ROW | {field: "\ud800"}), strict=True):
        path.write_text(json.dumps(row))
    first, same, other = (read_set(path).fingerprint for path in paths)
    assert first == same != other
