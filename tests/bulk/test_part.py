"""A file while it is written: whole or not there, and nobody's when its writer is dead."""

import subprocess
import sys
from pathlib import Path

import pytest

from crawler.bulk.part import LONGEST, Part, sweep
from crawler.whole_file import OutputError

TOKEN = "0123456789abcdef"
STRAY = f"a.jsonl.clean-{TOKEN}.part"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["a.warc.jsonl", "蜂\n\x1b[2J.jsonl", "b" * (LONGEST - 6) + ".jsonl"])
def test_lines_get_their_name_when_they_are_all_there(tmp_path: Path, name: str) -> None:
    with Part(tmp_path / name) as part:
        part.write(b"1\n")
        assert not (tmp_path / name).exists()
        part.write(b"2\n")
        part.finish()
    assert names(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"1\n2\n"


def test_lines_that_are_not_finished_are_gone(tmp_path: Path) -> None:
    def write() -> None:
        with Part(tmp_path / "a.jsonl") as part:
            part.write(b"1\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert names(tmp_path) == []


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    with Part(tmp_path / "a.jsonl") as one, Part(tmp_path / "a.jsonl") as other:
        one.write(b"1\n")
        other.write(b"1\n")
        one.finish()
        other.finish()
    assert (names(tmp_path), (tmp_path / "a.jsonl").read_bytes()) == (["a.jsonl"], b"1\n")


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=r"a.jsonl' cannot be written \(No such file or directory\)"),
        Part(tmp_path / "missing" / "a.jsonl"),
    ):
        pass


def test_an_output_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with Part(tmp_path / "a.jsonl") as part, pytest.raises(OutputError, match="cannot be written"):
        part.finish()
    assert names(tmp_path) == ["a.jsonl"]


@pytest.mark.parametrize(
    ("name", "goes"),
    [
        (STRAY, True),
        (f"蜂\n\x1b[2J.jsonl.clean-{TOKEN}.part", True),
        (f"a.jsonl.clean-{TOKEN}.lock", True),
        (f"a.jsonl.clean-{TOKEN}0.part", False),
        (f"a.jsonl.clean-{TOKEN[1:]}.part", False),
        (f"a.jsonl.clean-{TOKEN[1:]}x.part", False),
        (f"a.warc.clean-{TOKEN}.part", False),
        (f"a.jsonl.clean-{TOKEN}.part.jsonl", False),
        (f".jsonl.clean-{TOKEN}.part", False),
        ("a.jsonl", False),
        ("a.jsonl.4711.part", False),
        (".clean.json", False),
        (".clean.lock", False),
    ],
)
def test_what_is_swept(tmp_path: Path, name: str, goes: bool) -> None:
    (tmp_path / name).write_bytes(b"1\n")
    assert sweep(tmp_path) == (goes and name.endswith(".part"))
    assert names(tmp_path) == ([] if goes else [name])


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    (tmp_path / STRAY).touch()
    with Part(tmp_path / "a.jsonl") as part:
        part.write(b"1\n")
        assert sweep(tmp_path) == 1
        assert part.path.exists()
        part.finish()
    assert names(tmp_path) == ["a.jsonl"]


def test_a_folder_of_that_name_stays(tmp_path: Path) -> None:
    (tmp_path / STRAY).mkdir()
    assert sweep(tmp_path) == 0
    assert names(tmp_path) == [STRAY]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_where_a_link_leads_nothing_is_removed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "folder" / STRAY).symlink_to(tmp_path / "mine")
    (tmp_path / "folder" / STRAY).with_suffix(".lock").symlink_to(tmp_path / "mine")
    sweep(tmp_path / "folder")
    assert (tmp_path / "mine").read_bytes() == b"mine"


def test_what_a_killed_writer_leaves_is_swept(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from crawler.bulk.part import Part\n"
        "with Part(Path(sys.argv[1])) as part: part.write(b'1'); print(flush=True); sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "a.jsonl")], **pipes) as writer:
        writer.stdout.readline()
        assert (sweep(tmp_path), len(names(tmp_path))) == (0, 2)
        writer.kill()
    assert (sweep(tmp_path), names(tmp_path)) == (1, [])
