"""The processes of runs: what they alone are told, their logs, and the locks that say whether they live."""

import sys
from pathlib import Path

import pytest

from crawler.contrib.schedule.job_process import RunProcess, delete_old_logs, folder_of, lock_of, log_of
from crawler.processes.held_lock import is_held, take_lock

SECRET = "postgresql+psycopg://me:secret@db.example/crawls"


def test_what_a_process_is_told_nobody_else_sees(tmp_path: Path) -> None:
    looks = "import os, sys; from crawler.processes.child_process import ParentPipe; "
    looks += "print(ParentPipe().read_message().decode(), sys.argv, dict(os.environ))"
    if sys.platform == "linux":
        looks += "; print(open('/proc/self/cmdline').read(), open('/proc/self/environ').read())"
    child = RunProcess(["-c", looks, "bees"], {"STATE_URL": SECRET}, log_of(tmp_path, "bees", 1))
    assert child.wait(30) == child.poll() == 0
    said = log_of(tmp_path, "bees", 1).read_text()
    assert said.startswith(f'{{"STATE_URL": "{SECRET}"}} ')
    assert said.count("secret") == 1
    assert "'bees'" in said


def test_one_that_reads_nothing_does_no_harm(tmp_path: Path) -> None:
    child = RunProcess(["-c", "raise SystemExit(7)"], {"a": "b" * 10}, log_of(tmp_path, "bees", 1))
    assert child.wait(30) == 7
    child.tell_to_stop()
    child.kill()


def test_a_log_is_added_to(tmp_path: Path) -> None:
    for _ in range(2):
        RunProcess(["-c", "print('once')"], {}, log_of(tmp_path, "bees", 1)).wait(30)
    assert (tmp_path / "logs" / "bees" / "1.log").read_text() == "once\nonce\n"


def test_who_has_the_lock_lives(tmp_path: Path) -> None:
    assert not is_held(lock_of(tmp_path, "bees"))
    lock = take_lock(lock_of(tmp_path, "bees"))
    assert lock is not None
    assert is_held(lock_of(tmp_path, "bees"))
    assert take_lock(lock_of(tmp_path, "bees"), 0.1) is None
    assert not is_held(lock_of(tmp_path, "wasps"))
    assert take_lock(lock_of(tmp_path)) is not None  # that of the scheduler is another
    lock.release()
    assert not is_held(lock_of(tmp_path, "bees"))
    assert not is_held(lock_of(tmp_path, "bees"))  # to look is not to hold


@pytest.mark.parametrize(("before", "kept"), [(0, 3), (2, 3), (3, 2), (11, 1), (12, 0)])
def test_old_logs_are_deleted_and_nothing_else(tmp_path: Path, before: int, kept: int) -> None:
    folder = folder_of(tmp_path, "bees")
    folder.mkdir(parents=True)
    for name in ("2.log", "10.log", "11.log", "notes.log", "3.txt", ".lock", "²²².log"):
        (folder / name).touch()
    delete_old_logs(tmp_path, "bees", before)
    left = {path.name for path in folder.iterdir()}
    assert left >= {"notes.log", "3.txt", ".lock", "²²².log"}
    assert len(left) - 4 == kept
