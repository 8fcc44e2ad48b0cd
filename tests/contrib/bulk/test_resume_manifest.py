"""With what a folder was made, and what it cannot be gone on with."""

import json
from pathlib import Path
from typing import Any

import pytest

from crawler.contrib.bulk.resume_manifest import MANIFEST, FileToClean, is_same_folder, maker, write_manifest
from crawler.errors import WrongUseError

HOW = {"--method": "auto", "--with": []}


def pair(name: str, size: int | None = 5) -> FileToClean:
    return FileToClean(name, Path("/archive") / name, f"{name}.jsonl", size)


def saved(folder: Path) -> dict[str, Any]:
    return json.loads((folder / MANIFEST).read_text("utf-8"))


def test_a_new_folder(tmp_path: Path) -> None:
    name = write_manifest(tmp_path, HOW, [pair("a"), pair("蜂\udcff", None)])
    assert saved(tmp_path) == {
        "folder": name,
        "maker": maker(),
        "options": HOW,
        "sizes": {"a.jsonl": 5, "蜂\udcff.jsonl": None},
    }
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


@pytest.mark.parametrize(
    ("now", "sizes"),
    [
        ([pair("a"), pair("b")], {"a.jsonl": 5, "b.jsonl": 5}),
        ([pair("b")], {"a.jsonl": 5, "b.jsonl": 5}),
        ([pair("a", None)], {"a.jsonl": 5}),
        ([], {"a.jsonl": 5}),
    ],
)
def test_going_on_with_the_same_or_with_more(tmp_path: Path, now: list[FileToClean], sizes: dict[str, int]) -> None:
    write_manifest(tmp_path, HOW, [pair("a")])
    (tmp_path / "a.jsonl").touch()
    write_manifest(tmp_path, HOW, now)
    assert saved(tmp_path)["sizes"] == sizes


def test_a_file_that_can_be_read_at_last(tmp_path: Path) -> None:
    write_manifest(tmp_path, HOW, [pair("a", None)])
    write_manifest(tmp_path, HOW, [pair("a", 7)])
    assert saved(tmp_path)["sizes"] == {"a.jsonl": 7}


@pytest.mark.parametrize(
    ("options", "size", "said"),
    [
        ({"--method": "slope", "--with": []}, 5, "was made with --method 'auto', not 'slope': give another"),
        ({"--method": "auto", "--with": ["author"]}, 5, "was made with --with [], not ['author']: give"),
        (
            {"--method": "auto"},
            5,
            "was made with --with [], not None: give another FOLDER, or empty",
        ),
        (HOW | {"--favour": "recall"}, 5, "was made with --favour None, not 'recall': give another"),
        (HOW, 6, "had 5 bytes, and now has 6: give another FOLDER"),
    ],
)
def test_another_manifest_is_refused(tmp_path: Path, options: dict[str, Any], size: int, said: str) -> None:
    write_manifest(tmp_path, HOW, [pair("a")])
    before = (tmp_path / MANIFEST).read_bytes()
    with pytest.raises(WrongUseError) as error:
        write_manifest(tmp_path, options, [pair("a", size)])
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert (tmp_path / MANIFEST).read_bytes() == before


def test_lines_of_another_winnow_are_refused(tmp_path: Path) -> None:
    write_manifest(tmp_path, HOW, [pair("a")])
    (tmp_path / MANIFEST).write_text((tmp_path / MANIFEST).read_text().replace("Winnow ", "Winnow 0."))
    with pytest.raises(WrongUseError, match=r"Winnow 0\..*\bWinnow \d"):
        write_manifest(tmp_path, HOW, [pair("a")])


@pytest.mark.parametrize("known", [True, False])
def test_files_of_others_are_not_taken_for_done(tmp_path: Path, known: bool) -> None:
    (tmp_path / "a.jsonl").touch()
    if known:
        (tmp_path / "a.jsonl").unlink()
        write_manifest(tmp_path, HOW, [pair("a")])
        (tmp_path / "a.jsonl").touch()
        write_manifest(tmp_path, HOW, [pair("a")])
    else:
        with pytest.raises(WrongUseError, match=r"a\.jsonl' .*--into"):
            write_manifest(tmp_path, HOW, [pair("a")])
        assert not (tmp_path / MANIFEST).exists()


def test_a_folder_is_known_by_its_manifest(tmp_path: Path) -> None:
    name = write_manifest(tmp_path, HOW | {"more": "x" * 10_000}, [])
    assert write_manifest(tmp_path, HOW | {"more": "x" * 10_000}, []) == name
    assert is_same_folder(tmp_path, name)
    assert not is_same_folder(tmp_path, "0" * 32)
    assert not is_same_folder(tmp_path / "missing", name)
    (tmp_path / "other").mkdir()
    assert write_manifest(tmp_path / "other", HOW, []) != name


def test_who_makes_lines_is_told_by_all_they_depend_on() -> None:
    for word in ("Winnow 0", "lxml ", "numpy ", "py3langid ", "w3lib ", "Python 3."):
        assert word in maker()
