"""One file cleaned into one file: what becomes of it, whatever it is."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import saved

from crawler.bulk.cleaning import NAMED, Cleaner, FileCleaner, FileResult, cleaner
from crawler.bulk.manifest import NAME, go_on, maker, pairs
from crawler.extraction import EXTRACTORS


def by(method: str) -> Cleaner:
    return cleaner(method, EXTRACTORS[method])


@pytest.fixture
def work(tmp_path: Path) -> FileCleaner:
    (tmp_path / "out").mkdir()
    return FileCleaner(tmp_path / "out", go_on(tmp_path / "out", {}, []), by("leaf-tags"), maker())


def clean(work: FileCleaner, folder: Path, name: str, data: bytes | None) -> FileResult:
    """What becomes of a file with these bytes, through the pickles by which others get it."""
    path = folder / name
    if data is not None:
        path.write_bytes(data)
    (pair,) = pairs([str(path)])
    found = pickle.loads(pickle.dumps(work))(pickle.loads(pickle.dumps(pair)))
    return pickle.loads(pickle.dumps(found))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", saved.line(1) + saved.line(2)),
        ("a.warc.xz", saved.PACK[".xz"](saved.warc(1) + saved.warc(2))),
        ("raw", saved.tianwang(1) + saved.tianwang(2)),
        ("蜂\n\x1b[2J", saved.line(1) + saved.line(2)),
    ],
)
def test_an_archive_becomes_lines_in_their_order(work: FileCleaner, tmp_path: Path, name: str, data: bytes) -> None:
    outcome = clean(work, tmp_path, name, data)
    assert (outcome.failed, outcome.stops, outcome.was_there, outcome.named) == ("", False, False, [])
    assert (outcome.tally.pages, outcome.tally.broken) == (2, 0)
    output = (work.folder / f"{name}.jsonl").read_text("utf-8")
    assert output.index(saved.text(1)) < output.index(saved.text(2))
    assert sorted(path.name for path in work.folder.iterdir()) == sorted([NAME, f"{name}.jsonl"])


def test_a_file_that_is_there_is_not_touched(work: FileCleaner, tmp_path: Path) -> None:
    (work.folder / "a.jsonl.jsonl").write_bytes(b"before")
    outcome = clean(work, tmp_path, "a.jsonl", saved.line(1))
    assert (outcome.was_there, outcome.tally.pages) == (True, 0)
    assert (work.folder / "a.jsonl.jsonl").read_bytes() == b"before"


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.warc", None, "a.warc' cannot be read (No such file or directory)"),
        ("odd", b"bees", "odd' is nothing that can be cleaned; inputs are"),
        ("page", b"<html><p>Bees dance.", "page' is HTML; --into cleans WARC"),
    ],
)
def test_what_cannot_be_read_has_no_output(
    work: FileCleaner, tmp_path: Path, name: str, data: bytes | None, why: str
) -> None:
    outcome = clean(work, tmp_path, name, data)
    assert why in outcome.failed
    assert (outcome.stops, list(work.folder.iterdir())) == (False, [work.folder / NAME])


@pytest.mark.parametrize("count", [NAMED, NAMED + 1])
def test_of_broken_records_the_first_are_named_and_all_counted(work: FileCleaner, tmp_path: Path, count: int) -> None:
    outcome = clean(work, tmp_path, "a.jsonl", b"{\n" * count + saved.line(1))
    assert (outcome.tally.broken, len(outcome.named), outcome.tally.pages) == (count, NAMED, 1)
    assert outcome.named[0].place.endswith("a.jsonl: line 1")


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ({"folder": Path("missing")}, "is not the folder that is written to"),
        ({"name": "0" * 32}, "is not the folder that is written to"),
        ({"maker": "Winnow 0.0.0"}, "is another Winnow or Python: Winnow 0."),
    ],
)
def test_what_stops_all_files(work: FileCleaner, tmp_path: Path, trouble: dict[str, Any], said: str) -> None:
    outcome = clean(replace(work, **trouble), tmp_path, "a.jsonl", saved.line(1))
    assert outcome.stops
    assert said in outcome.failed
    assert list(work.folder.iterdir()) == [work.folder / NAME]


def test_a_full_disk_stops_all_files(work: FileCleaner, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(saved.line(1))
    (pair,) = pairs([str(tmp_path / "a.jsonl")])
    outcome = work(replace(pair, output="b" * 300))  # which no file system takes, as a full one takes nothing
    assert outcome.stops
    assert "cannot be written to (File name too long)" in outcome.failed
