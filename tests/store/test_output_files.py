"""Files of JSON lines: what is appended, what is cut off, and what an earlier crawl left."""

import json
import os
from errno import EISDIR
from pathlib import Path
from typing import Any

import pytest

from crawler.store.output_files import FileOffset, JsonLines, rename_previous


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "crawl.jsonl"


NOTHING = FileOffset()


def committed(lines: JsonLines, *records: dict[str, Any], after: FileOffset = NOTHING) -> FileOffset:
    return lines.append(records, after)


@pytest.mark.parametrize(
    "text",
    ["", "plain", 'a "quote"', "two\nlines", "a\r\nb", "a\u2028b\u2029c\x85d", "\x00\x0b\x0c\x1c\x1d\x1e", "Grüße 😀"],
)
def test_one_record_is_one_line(path: Path, text: str) -> None:
    lines = JsonLines(path)
    committed(lines, {"text": text, "n": 1}, {text: None})
    lines.close()
    written = path.read_text("utf-8")
    assert [json.loads(line) for line in written.splitlines()] == [{"text": text, "n": 1}, {text: None}]
    assert written.endswith("\n")


def test_text_is_readable(path: Path) -> None:
    lines = JsonLines(path)
    committed(lines, {"text": "Grüße"})
    lines.close()
    assert path.read_bytes() == '{"text": "Grüße"}\n'.encode()


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_half_characters_are_replaced(path: Path, text: str) -> None:
    lines = JsonLines(path)
    committed(lines, {"text": text})
    lines.close()
    assert json.loads(path.read_text("utf-8"))["text"] == text.encode("utf-8", "replace").decode()


def test_a_file_is_made_when_there_is_something_to_write(path: Path) -> None:
    lines = JsonLines(path)
    assert lines.append([], NOTHING) == NOTHING
    assert not path.exists()
    assert lines.append([{}], NOTHING).size == 3
    assert path.exists()
    lines.close()


def test_what_was_not_committed_is_written_over(path: Path) -> None:
    lines = JsonLines(path)
    first = committed(lines, {"n": 1})
    assert lines.append([{"n": 2, "long": "x" * 100}], first).size > first.size
    both = committed(lines, {"n": 3}, after=first)
    lines.append([{"n": 4}], both)
    lines.cut(both)
    lines.close()
    assert path.read_text() == '{"n": 1}\n{"n": 3}\n'


@pytest.mark.parametrize("more", [b"", b"half a li", b"x" * 200])
def test_an_open_file_has_what_is_committed(path: Path, more: bytes) -> None:
    before = JsonLines(path)
    offset = committed(before, {"n": 1}, {"n": 2})
    before.close()
    with path.open("ab") as file:
        file.write(more)
    lines = JsonLines(path)
    committed(lines, {"n": 3}, after=lines.open(offset))
    lines.close()
    assert path.read_text() == '{"n": 1}\n{"n": 2}\n{"n": 3}\n'


@pytest.mark.parametrize(
    ("found", "aside"),
    [
        (None, None),
        (b"", None),
        (b'{"n": 1}\n', b'{"n": 1}\n'),
        (b'{"n": 1}\n{"n": 2}', b'{"n": 1}\n{"n": 2}'),
        (b'{"n": 1}\n{"n": 9}\n', b'{"n": 1}\n{"n": 9}\n'),
        (b'{"other": "crawl"}\n' * 9, b'{"other": "crawl"}\n' * 9),
    ],
)
def test_a_file_that_is_not_what_was_written_is_kept_aside(
    path: Path, caplog: pytest.LogCaptureFixture, found: bytes | None, aside: bytes | None
) -> None:
    before = JsonLines(path)
    offset = committed(before, {"n": 1}, {"n": 2})
    before.close()
    path.unlink()
    if found is not None:
        path.write_bytes(found)
    lines = JsonLines(path)
    committed(lines, {"n": 3}, after=lines.open(offset))
    lines.close()
    assert path.read_text() == '{"n": 3}\n'
    kept = path.with_name("crawl.previous.jsonl")
    assert (kept.read_bytes() if kept.exists() else None) == aside
    assert [str(path) in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere an open file cannot be deleted")
def test_a_file_that_is_deleted_while_it_is_written_is_missed(path: Path) -> None:
    lines = JsonLines(path)
    offset = committed(lines, {})
    path.unlink()
    with pytest.raises(OSError, match=r"it was deleted.*crawl\.jsonl"):
        lines.append([{}], offset)
    lines.close()


def test_what_cannot_be_written_says_where(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(OSError, match=r"crawl\.jsonl") as caught:
        JsonLines(path).append([{}], NOTHING)
    assert (caught.value.errno, caught.value.filename) == (EISDIR, str(path))


def test_a_closed_file_may_be_closed_and_cut(path: Path) -> None:
    lines = JsonLines(path)
    lines.cut(NOTHING)
    lines.close()
    committed(lines, {})
    lines.close()
    lines.close()
    lines.cut(NOTHING)
    assert path.read_bytes() == b"{}\n"


@pytest.mark.parametrize(("before", "kept"), [(None, None), (b"", None), (b"{}\n", b"{}\n")])
def test_an_earlier_file_is_kept_aside(tmp_path: Path, before: bytes | None, kept: bytes | None) -> None:
    path, aside = tmp_path / "a.b.jsonl", tmp_path / "a.b.previous.jsonl"
    if before is not None:
        path.write_bytes(before)
    assert rename_previous(path) == (aside if kept else None)
    assert (aside.read_bytes() if aside.exists() else None) == kept
    assert path.exists() == (before == b"")


def test_what_was_kept_aside_before_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for number in range(3):
        path.write_text(f"{number}\n")
        rename_previous(path)
    kept = [tmp_path / f"a.previous{number}.jsonl" for number in ("", "-2", "-3")]
    assert [file.read_text() for file in kept] == ["0\n", "1\n", "2\n"]
