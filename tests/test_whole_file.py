"""Output that is there as a whole or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

from crawler.whole_file import OutputError, WholeFile


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_file_is_there_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("before")
    file = WholeFile(str(path))
    file.write(b"1\n")
    assert path.read_text() == "before"
    assert file.part == tmp_path / f"a.jsonl.{os.getpid()}.part"
    file.finish()
    file.close()
    assert path.read_text() == "1\n"
    assert names(tmp_path) == ["a.jsonl"]


def test_what_was_written_of_an_unfinished_one_stays(tmp_path: Path) -> None:
    file = WholeFile(str(tmp_path / "a"))
    file.write(b"1\n")
    file.close()
    assert file.part is not None
    assert file.part.read_text() == "1\n"
    assert not (tmp_path / "a").exists()


def test_nothing_stays_of_nothing(tmp_path: Path) -> None:
    file = WholeFile(str(tmp_path / "a"))
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
        WholeFile(str(tmp_path / "pages"))
    assert [*tmp_path.iterdir()] == []


def test_nothing_finished_is_an_empty_file(tmp_path: Path) -> None:
    file = WholeFile(str(tmp_path / "a"))
    file.finish()
    file.close()
    assert (tmp_path / "a").read_bytes() == b""


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").symlink_to("folder/b")
    file = WholeFile(str(tmp_path / "a"))
    file.write(b"1\n")
    file.finish()
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "folder" / "b").read_text() == "1\n"


def test_a_device_is_written_to() -> None:
    file = WholeFile(os.devnull)
    file.write(b"1\n")
    file.finish()
    file.close()
    assert not Path(os.devnull).is_file()
    assert file.part is None


@pytest.mark.parametrize("name", ["missing/a", ".", "file/a"])
def test_where_nothing_can_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"cannot be written to \(\w"):
        WholeFile(str(tmp_path / name))
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk() -> None:
    file = WholeFile("/dev/full")
    with pytest.raises(OutputError, match=r"'/dev/full' cannot be written any further \(No space left on device\)"):
        file.write(b"1" * 100_000)
    file.close()


def test_what_is_discarded_leaves_what_was_there_before(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("before")
    file = WholeFile(str(tmp_path / "a"))
    file.write(b"1\n")
    file.discard()
    file.discard()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "before"


def test_what_is_finished_stays_when_it_is_discarded(tmp_path: Path) -> None:
    file = WholeFile(str(tmp_path / "a"))
    file.write(b"1\n")
    file.finish()
    file.discard()
    assert (tmp_path / "a").read_text() == "1\n"
