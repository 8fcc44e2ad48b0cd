"""Pages of an archive are cleaned with what pages of their host have in common, by any number of processes."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command

from crawler.contrib.bulk.host_libraries import PAGES_A_HOST
from crawler.extraction.methods.template import N1

NOTICE = "This story was written by a member of the valley's bee keepers, who meet on Mondays."


def row(number: int, host: str) -> dict[str, str]:
    own = "".join(
        f"<p>Hive {number} of {host} has {word} bees, which carry pollen home.</p>" for word in ("some", "more")
    )
    return {"url": f"http://{host}/{number}", "html": f"<article><h1>Hive {number}</h1>{own}<p>{NOTICE}</p></article>"}


def archive(path: Path) -> Path:
    """Pages of a large host and of one that is too small to learn from."""
    rows = [row(number, "large.example") for number in range(PAGES_A_HOST + 5)]
    rows += [row(number, "small.example") for number in range(N1 - 1)]
    rows += [{"html": f"<p>{NOTICE}</p>"}, row(1, "not a host")]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def noticed(lines: str) -> dict[str, int]:
    """How many texts of each host have the notice."""
    found: dict[str, int] = {}
    for line in lines.splitlines():
        one = json.loads(line)
        name = (one["url"] or "//none").split("/")[2]
        found[name] = found.get(name, 0) + (NOTICE in one["text"])
    return found


EXPECTED = {"large.example": 0, "small.example": N1 - 1, "none": 1, "not a host": 1}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_pages_are_cleaned_with_what_their_host_has_in_common(tmp_path: Path, capsys: Any, jobs: str) -> None:
    status, out, err = run_command(capsys, "clean", str(archive(tmp_path / "a.jsonl")), "--jobs", jobs)
    assert (status, noticed(out)) == (0, EXPECTED), err


def test_each_file_of_a_folder_is_learned_from_by_itself(tmp_path: Path, capsys: Any) -> None:
    path = archive(tmp_path / "a.jsonl")
    status, _, err = run_command(capsys, "clean", str(path), "--into", str(tmp_path / "out"))
    assert status == 0, err
    (made,) = (tmp_path / "out").glob("a*.jsonl*")
    assert noticed(made.read_text("utf-8")) == EXPECTED


def test_a_method_that_does_not_learn_is_given_nothing(tmp_path: Path, capsys: Any) -> None:
    path = archive(tmp_path / "a.jsonl")
    _, out, _ = run_command(capsys, "clean", str(path), "--method", "leaf-tags", "--jobs", "1")
    assert noticed(out)["large.example"] == PAGES_A_HOST + 5
