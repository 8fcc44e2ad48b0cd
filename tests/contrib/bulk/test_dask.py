"""Files cleaned by Dask's workers: a real scheduler and real workers, some of which are killed."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import whole_archives
from missing import need

need("distributed")

COUNTS = (80, 120, 150, 30, 30)


@pytest.fixture
def place(tmp_path: Path) -> Callable[[str], Path]:
    def made(name: str) -> Path:
        (tmp_path / name).mkdir()
        return tmp_path / name

    return made


@pytest.mark.long
def test_a_worker_that_is_killed_costs_nothing(place: Callable[[str], Path]) -> None:
    here = place("archive")
    names = whole_archives.archive(here, *COUNTS)
    with whole_archives.cluster(place("cluster"), 2) as (address, (first, _)):
        run = whole_archives.begin(here, "--into", "by-dask", "--engine", "dask", "--scheduler", address, *names)
        whole_archives.until(whole_archives.under_way(here / "by-dask", 2))
        first.kill()
        status, said = whole_archives.end(run)
        lines = [line for line in said.splitlines() if " INFO: " not in line]  # of progress, on a slow machine
        assert (status, len(lines)) == (0, 2), said  # one about the worker that is gone
    assert whole_archives.clean(here, "--into", "by-processes", *names)[0] == 0
    found = whole_archives.lines(here / "by-dask")
    assert found == whole_archives.lines(here / "by-processes")
    assert sorted(found) == [f"{name}.jsonl" for name in sorted(names)]
    assert [len(found[f"{name}.jsonl"].splitlines()) for name in names] == list(COUNTS)


@pytest.mark.long
def test_a_file_that_kills_workers_is_given_up_and_done_at_the_next_run(place: Callable[[str], Path]) -> None:
    here = place("archive")
    names = whole_archives.archive(here, *COUNTS)
    with whole_archives.cluster(place("cluster"), 2, SCHEDULER__ALLOWED_FAILURES="0") as (address, (first, _)):
        words = ("--into", "out", "--engine", "dask", "--scheduler", address, *names)
        run = whole_archives.begin(here, *words)
        whole_archives.until(whole_archives.under_way(here / "out", 2))
        first.kill()
        status, said = whole_archives.end(run)
        assert status == 1
        assert re.match(r"Failed: 1 file\b", said.splitlines()[-1])
        assert len(whole_archives.lines(here / "out")) == len(names) - 1
        assert whole_archives.clean(here, *words)[0] == 0
        assert sorted(whole_archives.lines(here / "out")) == [f"{name}.jsonl" for name in sorted(names)]


def test_without_an_address_there_is_a_cluster_here(tmp_path: Path) -> None:
    names = whole_archives.archive(tmp_path, 20, 20, 20)
    status, said = whole_archives.clean(tmp_path, "--into", "out", "--engine", "dask", "--jobs", "1", *names)
    lines = [line for line in said.splitlines() if " INFO: " not in line]  # of progress, on a slow machine
    assert (status, len(lines)) == (0, 1), said
    assert "60 pages) cleaned in " in said
    assert " by 1 worker: " in said
    outputs = sorted(whole_archives.lines(tmp_path / "out").items())
    assert [len(found.splitlines()) for _, found in outputs] == [
        20,
        20,
        20,
    ]


@pytest.mark.long
def test_a_scheduler_that_goes_away_ends_the_run(place: Callable[[str], Path]) -> None:
    here = place("archive")
    names = whole_archives.archive(here, 2_000)
    with whole_archives.cluster(place("cluster"), 1) as (address, _):
        words = ("--into", "out", "--engine", "dask", "--scheduler", address, *names)
        run = whole_archives.begin(here, *words)
        whole_archives.until(whole_archives.under_way(here / "out", 1))
    status, said = whole_archives.end(run)
    assert (status, "Traceback" in said) == (1, False), said
    assert "Stopped: " in said


@pytest.mark.parametrize(
    ("address", "why"), [("tcp://127.0.0.1:1", "Timed out"), ("tls://127.0.0.1:1", "tls:// needs certificates: ")]
)
def test_there_is_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, why: str) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    names = whole_archives.archive(tmp_path, 1)
    status, said = whole_archives.clean(tmp_path, "--into", "out", "--engine", "dask", "--scheduler", address, *names)
    assert (status, "Traceback" in said) == (1, False)
    assert re.match(rf"Stopped: .*{re.escape(repr(address))} \({re.escape(why)}", said), said
    assert whole_archives.lines(tmp_path / "out") == {}
