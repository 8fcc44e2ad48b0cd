"""Which file becomes which: names that meet, and files that are no archives."""

import os
import sys
from pathlib import Path

import pytest

from crawler.atomic_files import LONGEST_NAME
from crawler.contrib.bulk.resume_manifest import files_to_clean, largest_first
from crawler.errors import WrongUseError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    for name, size in {"a/2004.warc": 3, "2004.warc.gz": 30, "raw": 5, "蜂\n\x1b[2J": 1, "a/2004.jsonl": 5}.items():
        (tmp_path / name).write_bytes(bytes(size))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "output", "size"),
    [
        ("a/2004.warc", "2004.warc.jsonl", 3),
        ("2004.warc.gz", "2004.warc.gz.jsonl", 30),
        ("./a/../raw", "raw.jsonl", 5),
        ("蜂\n\x1b[2J", "蜂\n\x1b[2J.jsonl", 1),
        ("a/2004.jsonl", "2004.jsonl.jsonl", 5),
        ("..jsonl", "..jsonl.jsonl", None),
        ("missing.warc", "missing.warc.jsonl", None),
        ("nul\0", "nul\0.jsonl", None),
    ],
)
def test_what_a_file_becomes(here: Path, name: str, output: str, size: int | None) -> None:
    (file,) = files_to_clean([name])
    assert (file.shown, file.output, file.size) == (name, output, size)
    assert file.input.is_absolute()
    assert "/" not in file.output
    if size is not None:
        assert file.input.samefile(here / name)


def test_files_of_many_folders_and_packings_have_names_of_their_own() -> None:
    names = ["a/2004.warc", "2004.warc.gz", "raw", "a/2004.jsonl"]
    assert len({file.output for file in files_to_clean(names)}) == 4


def test_what_cannot_be_is_one_sentence() -> None:
    rows = [
        (["2004.warc", "a/2004.warc"], "'2004.warc' and 'a/2004.warc' would both become '2004.warc.jsonl'"),
        (["raw", "./raw"], "'raw' and './raw' would both become 'raw.jsonl'"),
        (["raw", "RAW"], "'raw' and 'RAW' would both become 'RAW.jsonl'"),
        (["a"], "'a' is a folder; --into cleans WARC files"),
        (["raw", "/dev/null"], "'/dev/null' is not a file; --into cleans"),
        (["-"], "standard input has no name from which to name its output; --into cleans"),
        (["page.html"], "'page.html' is a single page; --into cleans"),
        (["page.htm.gz"], "'page.htm.gz' is a single page; --into cleans"),
        (["b" * (LONGEST_NAME - 5)], "the name of 'bbb"),
        (["蜂" * 80], "the name of '蜂蜂蜂"),
    ]
    for names, said in rows:
        if "/dev/null" in names and sys.platform == "win32":
            pytest.skip("there is no such file")
        with pytest.raises(WrongUseError) as error:
            files_to_clean(names)
        assert str(error.value).startswith(said)


def test_the_longest_name_there_may_be() -> None:
    (file,) = files_to_clean(["b" * (LONGEST_NAME - len(".jsonl"))])
    assert len(os.fsencode(file.output)) == LONGEST_NAME


def test_the_largest_is_begun_first() -> None:
    found = files_to_clean(["missing", "a/2004.warc", "raw", "2004.warc.gz", "a/2004.jsonl"])
    assert [file.shown for file in largest_first(found)] == [
        "2004.warc.gz",
        "a/2004.jsonl",
        "raw",
        "a/2004.warc",
        "missing",
    ]
