"""Files and folders that are there as a whole or not at all."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crawler.atomic_files import LONGEST_NAME, MARKER, AtomicFile, AtomicFolder, remove_parts
from crawler.errors import OutputError

TOKEN = "0123456789abcdef"
STRAY = f"a.jsonl.{TOKEN}.part"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_file_is_there_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("before")
    file = AtomicFile(str(path))
    file.write(b"1\n")
    assert path.read_text() == "before"
    assert file.part is not None
    assert re.fullmatch(r"a\.jsonl\.[0-9a-f]{16}\.part", file.part.name)
    file.finish()
    file.close()
    assert path.read_text() == "1\n"
    assert names(tmp_path) == ["a.jsonl"]


def test_what_was_written_of_an_unfinished_one_stays(tmp_path: Path) -> None:
    file = AtomicFile(str(tmp_path / "a"))
    file.write(b"1\n")
    file.close()
    assert file.part is not None
    assert file.part.read_text() == "1\n"
    assert not (tmp_path / "a").exists()


def test_nothing_stays_of_nothing(tmp_path: Path) -> None:
    file = AtomicFile(str(tmp_path / "a"))
    file.close()
    assert (file.part, names(tmp_path)) == (None, [])


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_signal_while_it_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    make = Path.open

    def broken_off(*words: Any) -> None:
        make(*words).close()
        raise stop

    monkeypatch.setattr(Path, "open", broken_off)
    with pytest.raises(stop):
        AtomicFile(str(tmp_path / "pages"))
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["a.warc.jsonl", "蜂\n\x1b[2J.jsonl", "b" * (LONGEST_NAME - 6) + ".jsonl"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    with AtomicFile(str(tmp_path / name)) as file:
        file.write(b"1\n")
        file.finish()
    assert names(tmp_path) == [name]


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    with AtomicFile(str(tmp_path / "a")) as one, AtomicFile(str(tmp_path / "a")) as other:
        one.write(b"1\n")
        other.write(b"1\n")
        one.finish()
        other.finish()
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"1\n")


def test_nothing_finished_is_an_empty_file(tmp_path: Path) -> None:
    file = AtomicFile(str(tmp_path / "a"))
    file.finish()
    file.close()
    assert (tmp_path / "a").read_bytes() == b""


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").symlink_to("folder/b")
    file = AtomicFile(str(tmp_path / "a"))
    file.write(b"1\n")
    file.finish()
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "folder" / "b").read_text() == "1\n"


def test_a_device_is_written_to() -> None:
    file = AtomicFile(os.devnull)
    file.write(b"1\n")
    file.finish()
    file.close()
    assert not Path(os.devnull).is_file()
    assert file.part is None


@pytest.mark.parametrize("name", ["missing/a", ".", "file/a"])
def test_where_nothing_can_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=rf"{re.escape(repr(str(tmp_path / name)))}.* \(\w"):
        AtomicFile(str(tmp_path / name))
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk() -> None:
    file = AtomicFile("/dev/full")
    with pytest.raises(OutputError, match=r"'/dev/full'.*\(No space left on device\)"):
        file.write(b"1" * 100_000)
    file.close()


def test_what_is_discarded_leaves_what_was_there_before(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("before")
    file = AtomicFile(str(tmp_path / "a"))
    file.write(b"1\n")
    file.discard()
    file.discard()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "before"


def test_what_is_finished_stays_when_it_is_discarded(tmp_path: Path) -> None:
    file = AtomicFile(str(tmp_path / "a"))
    file.write(b"1\n")
    file.finish()
    file.discard()
    assert (tmp_path / "a").read_text() == "1\n"


# Folders.


def all_names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def made(path: Path, *files: str) -> None:
    folder = AtomicFolder(str(path))
    for name in files:
        folder.write(name, name.encode())
    folder.finish()
    folder.discard()


def test_the_folder_is_there_when_it_is_finished(tmp_path: Path) -> None:
    folder = AtomicFolder(str(tmp_path / "pages"))
    folder.write("a/1.md", b"1")
    folder.write("a/2.md", b"2")
    assert folder.part is not None
    assert re.fullmatch(r"pages\.[0-9a-f]{16}\.part", folder.part.name)
    assert all_names(folder.part) == ["a/1.md", "a/2.md"]
    folder.finish()
    folder.discard()
    assert all_names(tmp_path) == [f"pages/{MARKER}", "pages/a/1.md", "pages/a/2.md"]
    assert (tmp_path / "pages/a/2.md").read_bytes() == b"2"


def test_one_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    folder = AtomicFolder(str(tmp_path / "pages"))
    folder.write("a/1.md", b"1")
    folder.discard()
    folder.discard()
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_signal_while_a_folder_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    make = Path.mkdir

    def broken_off(*words: Any) -> None:
        make(*words)
        raise stop

    monkeypatch.setattr(Path, "mkdir", broken_off)
    with pytest.raises(stop):
        AtomicFolder(str(tmp_path / "pages"))
    assert [*tmp_path.iterdir()] == []


def test_one_that_was_made_so_is_replaced(tmp_path: Path) -> None:
    made(tmp_path / "pages", "a/1.md")
    made(tmp_path / "pages", "b/1.md")
    assert all_names(tmp_path) == [f"pages/{MARKER}", "pages/b/1.md"]


def test_an_empty_one_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    made(tmp_path / "pages", "a/1.md")
    assert all_names(tmp_path) == [f"pages/{MARKER}", "pages/a/1.md"]


@pytest.mark.parametrize("kind", ["folder", "file", "marker that is a folder"])
def test_what_is_somebody_elses_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "pages"
    if kind == "file":
        path.write_text("mine")
    else:
        (path / (MARKER if kind != "folder" else "mine")).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match="pages"):
        AtomicFolder(str(path))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "pages").symlink_to("there")
    made(tmp_path / "pages", "a/1.md")
    assert (tmp_path / "pages").is_symlink()
    assert all_names(tmp_path / "there") == [MARKER, "a/1.md"]


def test_where_nothing_can_be_written_one_sentence_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"/no/pages'.*\(No such file or directory\)$"):
        AtomicFolder(str(tmp_path / "no" / "pages"))


def test_what_goes_wrong_on_the_way_is_said(tmp_path: Path) -> None:
    folder = AtomicFolder(str(tmp_path / "pages"))
    with pytest.raises(OutputError, match="File name too long"):
        folder.write("a" * 300 + "/1.md", b"1")
    folder.discard()
    assert [*tmp_path.iterdir()] == []


def test_the_one_before_stays_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "pages", "a/1.md")
    folder = AtomicFolder(str(tmp_path / "pages"))
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
    assert all_names(tmp_path / "pages") == [MARKER, "a/1.md"]


# Parts of the dead.


@pytest.mark.parametrize(
    ("name", "goes"),
    [
        (STRAY, True),
        (f"蜂\n\x1b[2J.jsonl.{TOKEN}.part", True),
        (f"a.jsonl.{TOKEN}0.part", False),
        (f"a.jsonl.{TOKEN[1:]}.part", False),
        (f"a.jsonl.{TOKEN[1:]}x.part", False),
        (f"a.warc.{TOKEN}.part", False),
        (f"a.jsonl.{TOKEN}.part.jsonl", False),
        (f".jsonl.{TOKEN}.part", False),
        ("a.jsonl", False),
        ("a.jsonl.4711.part", False),
        (".clean.json", False),
        (".clean.lock", False),
    ],
)
def test_what_is_swept(tmp_path: Path, name: str, goes: bool) -> None:
    (tmp_path / name).write_bytes(b"1\n")
    assert remove_parts(tmp_path, ".jsonl") == (goes)
    assert names(tmp_path) == ([] if goes else [name])


def test_a_folder_of_that_name_stays(tmp_path: Path) -> None:
    (tmp_path / STRAY).mkdir()
    assert remove_parts(tmp_path, ".jsonl") == 0
    assert names(tmp_path) == [STRAY]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_where_a_link_leads_nothing_is_removed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "folder" / STRAY).symlink_to(tmp_path / "mine")
    remove_parts(tmp_path / "folder", ".jsonl")
    assert (tmp_path / "mine").read_bytes() == b"mine"


def test_what_a_killed_writer_leaves_is_swept(tmp_path: Path) -> None:
    program = (
        "import sys; from crawler.atomic_files import AtomicFile\n"
        "with AtomicFile(sys.argv[1]) as file: file.write(b'1'); print(flush=True); sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "a.jsonl")], **pipes) as writer:
        writer.stdout.readline()
        writer.kill()
    assert len(names(tmp_path)) == 1
    assert (remove_parts(tmp_path, ".jsonl"), names(tmp_path)) == (1, [])


def test_a_reader_of_standard_output_may_stop_early() -> None:
    program = (
        "from crawler.atomic_files import AtomicFile; from crawler.command_line.terminal import standard_output\n"
        "with standard_output(), AtomicFile(None) as file:\n"
        "    for _ in range(100): file.write(b'x' * 10_000)\n"
        "    file.finish()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        assert writer.stdout.read(1) == b"x"
        writer.stdout.close()
        assert (writer.wait(), writer.stderr.read()) == (0, b"")
