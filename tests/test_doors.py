"""The doors of the crawler: parts of this package, parts that are missing, and parts of other packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from missing import need

from crawler.doors import PARTS, Part, find, load, resolve
from crawler.errors import MissingPartError

EVERY = [(door, name) for door, parts in PARTS.items() for name in parts]


def test_each_part_of_this_package_is_there() -> None:
    need("pypdfium2", "pyarrow", "playwright", "cronsim", "fastapi")
    for door, name in EVERY:
        assert load(door, name) is find(door, name) is not None, (door, name)


def test_the_extra_of_each_part_is_one_of_the_package() -> None:
    text = (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    for parts in PARTS.values():
        for part in parts.values():
            assert f"\n{part.extra} = [" in text, part


@pytest.mark.parametrize(
    ("part", "module"),
    [
        (Part("crawler.contrib.gone.part:Part"), "crawler.contrib.gone"),
        (Part("crawler.contrib.documents.process:DocumentProcess", ("no_such_library",)), "no_such_library"),
    ],
)
def test_a_missing_part_names_what_installs_it(part: Part, module: str) -> None:
    with pytest.raises(MissingPartError) as raised:
        resolve(part)
    assert raised.value.message.values == {"module": module, "extra": part.reference.split(".")[2]}


def test_an_error_inside_a_part_is_no_missing_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_part.py").write_text("raise ZeroDivisionError")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        resolve(Part("broken_part:Part"))


def test_parts_of_other_packages(tmp_path: Path) -> None:
    (tmp_path / "their_part.py").write_text("def reader(): return 'theirs'")
    distribution = tmp_path / "theirs-1.dist-info"
    distribution.mkdir()
    (distribution / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (distribution / "entry_points.txt").write_text("[winnow.documents]\ntheirs = their_part:reader\n")
    program = (
        "from crawler.doors import Door, load, names; "
        "print(names(Door.DOCUMENTS)[-1], load(Door.DOCUMENTS, 'theirs')())"
    )
    paths = os.pathsep.join((str(tmp_path), *sys.path))
    line = [sys.executable, "-c", program]
    ended = subprocess.run(line, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=True)
    assert ended.stdout == "theirs theirs\n"
