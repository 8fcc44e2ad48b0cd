"""A folder that is there as a whole or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

from crawler.whole_file import OutputError
from crawler.whole_folder import MARKER, WholeFolder


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def made(path: Path, *files: str) -> None:
    folder = WholeFolder(str(path))
    for name in files:
        folder.write(name, name.encode())
    folder.finish()
    folder.discard()


def test_the_folder_is_there_when_it_is_finished(tmp_path: Path) -> None:
    folder = WholeFolder(str(tmp_path / "pages"))
    folder.write("a/1.md", b"1")
    folder.write("a/2.md", b"2")
    assert names(tmp_path) == [f"pages.{os.getpid()}.part/a/{n}.md" for n in (1, 2)]
    folder.finish()
    folder.discard()
    assert names(tmp_path) == [f"pages/{MARKER}", "pages/a/1.md", "pages/a/2.md"]
    assert (tmp_path / "pages/a/2.md").read_bytes() == b"2"


def test_one_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    folder = WholeFolder(str(tmp_path / "pages"))
    folder.write("a/1.md", b"1")
    folder.discard()
    folder.discard()
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_signal_while_it_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    make = Path.mkdir

    def broken_off(*words: Any) -> None:
        make(*words)
        raise stop

    monkeypatch.setattr(Path, "mkdir", broken_off)
    with pytest.raises(stop):
        WholeFolder(str(tmp_path / "pages"))
    assert [*tmp_path.iterdir()] == []


def test_one_that_was_made_so_is_replaced(tmp_path: Path) -> None:
    made(tmp_path / "pages", "a/1.md")
    made(tmp_path / "pages", "b/1.md")
    assert names(tmp_path) == [f"pages/{MARKER}", "pages/b/1.md"]


def test_an_empty_one_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    made(tmp_path / "pages", "a/1.md")
    assert names(tmp_path) == [f"pages/{MARKER}", "pages/a/1.md"]


@pytest.mark.parametrize("kind", ["folder", "file", "marker that is a folder"])
def test_what_is_somebody_elses_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "pages"
    if kind == "file":
        path.write_text("mine")
    else:
        (path / (MARKER if kind != "folder" else "mine")).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match="is there already and is no folder of an export: give another name"):
        WholeFolder(str(path))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "pages").symlink_to("there")
    made(tmp_path / "pages", "a/1.md")
    assert (tmp_path / "pages").is_symlink()
    assert names(tmp_path / "there") == [MARKER, "a/1.md"]


def test_where_nothing_can_be_written_one_sentence_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"^'.*/no/pages' cannot be written to \(No such file or directory\)$"):
        WholeFolder(str(tmp_path / "no" / "pages"))


def test_what_goes_wrong_on_the_way_is_said(tmp_path: Path) -> None:
    folder = WholeFolder(str(tmp_path / "pages"))
    with pytest.raises(OutputError, match="cannot be written any further"):
        folder.write("a" * 300 + "/1.md", b"1")
    folder.discard()
    assert [*tmp_path.iterdir()] == []


def test_the_one_before_stays_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "pages", "a/1.md")
    folder = WholeFolder(str(tmp_path / "pages"))
    folder.write("b/1.md", b"1")
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path == folder.part:
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError, match="Input/output error"):
        folder.finish()
    monkeypatch.undo()
    folder.discard()
    assert names(tmp_path / "pages") == [MARKER, "a/1.md"]
