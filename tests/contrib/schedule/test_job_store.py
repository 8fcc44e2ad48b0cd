"""Jobs and their runs in both databases: who starts what, how it ends, and that no two do the same."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, insert
from sqlalchemy.engine import URL

from crawler.contrib.schedule.job_definition import column_values
from crawler.contrib.schedule.job_store import (
    DueRun,
    Job,
    JobError,
    Jobs,
    RunPlace,
    RunStatus,
    find_job,
    history_of,
    pages_of,
)
from crawler.errors import StateError
from crawler.store.crawl_tables import crawl
from crawler.store.database import open_database
from crawler.store.page_tables import page

HERE, THERE = RunPlace("here", "a.example"), RunPlace("there", "b.example")
DUE = DueRun("cron", due_at=100.0, missed=0, next_at=200.0)
BY_HAND = DueRun("now")


class Clock:
    """A clock that goes when it is told to."""

    now = 50.0

    def __call__(self, connection: object) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(engine: Engine, clock: Clock) -> Jobs:
    return Jobs(engine, clock)


def add(jobs: Jobs, name: str = "bees", **changes: Any) -> Job:
    values = {"cron": "0 3 * * *", "timezone": "UTC", "spider": "topic", "crawl": name, "next_at": 100.0}
    jobs.add(name, lambda now: values | column_values({"seeds": "demo"}, {"DOWNLOAD_DELAY": "0"}) | changes)
    return find_job(jobs.all()[0], name)


def test_a_job_is_as_it_was_added(jobs: Jobs) -> None:
    job = add(jobs)
    assert (job.name, job.cron, job.timezone, job.spider, job.crawl) == ("bees", "0 3 * * *", "UTC", "topic", "bees")
    assert (job.arguments, job.settings) == ('{"seeds": "demo"}', '{"DOWNLOAD_DELAY": "0"}')
    assert (job.paused, job.next_at, job.runs, job.now, job.last) == (False, 100.0, 0, None, None)


@pytest.mark.parametrize(
    ("name", "crawl_name", "said"),
    [
        ("bees", "x", "there is already a job 'bees'"),
        ("BEES", "x", "a job 'bees'"),
        ("wasps", "bees", "the crawl 'bees' already belongs"),
    ],
)
def test_names_of_jobs_and_of_crawls_are_theirs(jobs: Jobs, name: str, crawl_name: str, said: str) -> None:
    add(jobs)
    with pytest.raises(JobError, match=said):
        add(jobs, name, crawl=crawl_name)
    assert [job.name for job in jobs.all()[0]] == ["bees"]
    assert add(jobs, "wasps", crawl="x").name == "wasps"


@pytest.mark.parametrize("act", [Jobs.pause, Jobs.remove])
def test_a_job_that_is_not_there(jobs: Jobs, act: Any) -> None:
    with pytest.raises(JobError, match="'wasps'"):
        act(jobs, "wasps")
    add(jobs)
    with pytest.raises(JobError, match=r"'wasps'.*bees$"):
        act(jobs, "wasps")


def test_a_run_is_entered_once(jobs: Jobs, clock: Clock) -> None:
    job = add(jobs)
    clock.now = 170.0
    run = jobs.start(job, DueRun("late", due_at=100.0, missed=2, next_at=200.0), HERE)
    assert (run.number, run.how, run.due, run.missed, run.passed) == (1, "late", 100.0, 2, 0)
    assert (run.status, run.exit, run.started_at, run.beat, run.ended_at) == ("running", None, 170.0, 170.0, None)
    assert (run.place, run.host, run.pid, run.pages) == (HERE.folder_id, HERE.host, None, None)
    now = find_job(jobs.all()[0], "bees")
    assert (now.now, now.last, now.next_at, now.runs) == (run, None, 200.0, 1)
    assert jobs.start(job, DueRun("late", due_at=100.0, missed=2, next_at=200.0), THERE) is None
    assert jobs.start(now, DueRun("cron", due_at=200.0, missed=0, next_at=300.0), THERE) is None
    assert jobs.start(now, BY_HAND, THERE) is None
    ended = jobs.end(run, 0, "bees")
    now = find_job(jobs.all()[0], "bees")
    assert (now.now, now.last, now.next_at) == (None, ended, 200.0)
    assert jobs.start(now, DueRun("cron", due_at=200.0, missed=0, next_at=300.0), THERE).number == 2


@pytest.mark.parametrize(
    ("change", "due", "starts"),
    [
        ({}, DUE, True),
        ({"next_at": 99.0}, DUE, False),  # another scheduler saw to it
        ({"next_at": None}, DUE, False),
        ({"paused": True}, DUE, False),
        ({"paused": True}, BY_HAND, True),
        ({"next_at": None}, BY_HAND, True),
    ],
)
def test_what_starts(jobs: Jobs, change: dict[str, Any], due: DueRun, starts: bool) -> None:
    job = add(jobs, **change)
    assert (jobs.start(replace(job, next_at=100.0), due, HERE) is not None) is starts
    after = find_job(jobs.all()[0], "bees").next_at
    assert after == (200.0 if starts and due is DUE else job.next_at)


def test_a_job_that_was_removed_is_not_started(jobs: Jobs) -> None:
    job = add(jobs)
    jobs.remove("bees")
    assert jobs.start(job, BY_HAND, HERE) is None
    assert jobs.all()[0] == []


def test_of_many_schedulers_one_starts_a_run(url: URL) -> None:
    engines = [open_database(url) for _ in range(4)]
    crew = [Jobs(engine) for engine in engines]
    add(crew[0], next_at=0.0)
    with ThreadPoolExecutor(4) as threads:
        for due in range(8):
            job = find_job(crew[0].all()[0], "bees")
            at = DueRun("cron", due_at=float(due), missed=0, next_at=due + 1.0)
            runs = list(threads.map(lambda one, job=job, at=at: one.start(job, at, HERE), crew))
            (run,) = [run for run in runs if run is not None]
            assert run.number == due + 1
            crew[due % 4].end(run, 0, "bees")
    for engine in engines:
        engine.dispose()


def test_times_that_pass_while_it_runs_are_counted_once(jobs: Jobs) -> None:
    job = add(jobs)
    run = jobs.start(job, DUE, HERE)
    job = find_job(jobs.all()[0], "bees")
    for _ in range(2):  # two schedulers see it
        jobs.skip_times(job, run, DueRun("cron", due_at=200.0, missed=3, next_at=300.0))
    job = find_job(jobs.all()[0], "bees")
    assert (job.now.passed, job.next_at) == (4, 300.0)


def test_a_process_arrives_and_gives_signs_of_life(jobs: Jobs, clock: Clock) -> None:
    run = jobs.start(add(jobs), DUE, HERE)
    assert jobs.record_process("bees", 2, 4711) is None
    clock.now = 60.0
    job, found = jobs.record_process("bees", 1, 4711)
    assert (job.name, found.id) == ("bees", run.id)
    now = find_job(jobs.all()[0], "bees").now
    assert (now.pid, now.beat) == (4711, 60.0)
    clock.now = 70.0
    assert jobs.beat(run.id)
    assert find_job(jobs.all()[0], "bees").now.beat == 70.0
    jobs.stop(run.id, RunStatus.STOPPING)
    assert jobs.beat(run.id)  # it has its signal already
    jobs.stop(run.id, RunStatus.TOLD)
    assert not jobs.beat(run.id)
    jobs.end(run, 0, "bees")
    clock.now = 80.0
    assert not jobs.beat(run.id)
    assert find_job(jobs.all()[0], "bees").last.beat == 70.0
    assert jobs.record_process("bees", 1, 4711) is None


@pytest.mark.parametrize("status", [RunStatus.STOPPING, RunStatus.TOLD])
def test_a_process_of_a_run_that_is_to_stop_does_not_begin(jobs: Jobs, status: str) -> None:
    run = jobs.start(add(jobs), DUE, HERE)
    jobs.stop(run.id, status)
    assert jobs.record_process("bees", 1, 4711) is None


@pytest.mark.parametrize(
    ("stopping", "exit_status", "status", "ended_at"),
    [
        ("", 0, "done", 90.0),
        ("", 1, "failed", 90.0),
        ("", -9, "failed", 90.0),
        ("", None, "failed", 70.0),  # its last heartbeat
        (RunStatus.STOPPING, 0, "stopped", 90.0),
        (RunStatus.STOPPING, -15, "stopped", 90.0),
        (RunStatus.TOLD, 0, "stopped", 90.0),
        (RunStatus.TOLD, None, "stopped", 70.0),
        (RunStatus.STOPPING, 1, "failed", 90.0),
    ],
)
def test_how_it_ended(
    jobs: Jobs, clock: Clock, stopping: str, exit_status: int | None, status: str, ended_at: float
) -> None:
    run = jobs.start(add(jobs), DUE, HERE)
    clock.now = 70.0
    jobs.beat(run.id)
    if stopping:
        jobs.stop(run.id, stopping)
    clock.now = 90.0
    ended = jobs.end(run, exit_status, "bees")
    assert (ended.status, ended.exit, ended.ended_at, ended.pages) == (status, exit_status, ended_at, 0)
    assert jobs.end(run, 3, "bees") == ended  # who comes later changes nothing
    assert find_job(jobs.all()[0], "bees").last == ended
    jobs.stop(run.id, RunStatus.STOPPING)
    assert find_job(jobs.all()[0], "bees").last == ended


def test_a_job_that_runs_is_not_removed(jobs: Jobs) -> None:
    run = jobs.start(add(jobs), DUE, HERE)
    with pytest.raises(JobError, match=r"run 1 .*'bees'"):
        jobs.remove("bees")
    jobs.end(run, 0, "bees")
    jobs.remove("bees")
    assert jobs.all()[0] == []
    assert jobs.end(run, 0, "bees") == run


def test_a_paused_job_goes_on_from_now(jobs: Jobs, clock: Clock) -> None:
    add(jobs)
    assert jobs.pause("bees")
    assert not jobs.pause("bees")
    clock.now = 1_000.0
    assert jobs.resume("bees", lambda job, now: now + 1)
    assert not jobs.resume("bees", lambda job, now: now + 2)
    job = find_job(jobs.all()[0], "bees")
    assert (job.paused, job.next_at) == (False, 1_001.0)


@pytest.mark.parametrize("keep", [1, 2, 5])
def test_old_runs_are_forgotten(jobs: Jobs, keep: int) -> None:
    job, other = add(jobs), add(jobs, "wasps")
    for which in (other, job, job, job):
        jobs.end(jobs.start(which, BY_HAND, HERE), 0, which.crawl)
    under_way = jobs.start(job, BY_HAND, HERE)
    jobs.forget(job, keep)
    with jobs.reading() as connection:
        assert [run.number for run in history_of(connection, "bees")[1]] == [4, 3, 2, 1][:keep]
        assert len(history_of(connection, "wasps")[1]) == 1
    assert find_job(jobs.all()[0], "bees").now == under_way


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [(0, 4e9, 2), (0, 1_700_000_009.9, 1), (1_700_000_000.9, 1_700_000_010.0, 2)],
)
def test_pages_of_a_time(engine: Engine, since: float, until: float, expected: int) -> None:
    with engine.begin() as connection:
        for number, name in enumerate(("bees", "wasps"), 1):
            connection.execute(insert(crawl).values(id=number, name=name, seeds="[]", started_at=0.0))
        rows = [(1, "2023-11-14T22:13:20+00:00"), (1, "2023-11-14T22:13:30+00:00"), (2, "2023-11-14T22:13:25+00:00")]
        for key, (number, time) in enumerate(rows):
            values = {"key": key, "crawl_id": number, "url": "u", "requested_url": "u", "fetched_at": time}
            values |= {"status": 200, "depth": 0, "title": "", "text": "", "relevance": 0.0, "first_seen": time}
            connection.execute(insert(page).values(**values, extractor="x", images="[]"))
        found = pages_of(connection, "bees", since, until)
        assert found == {"pages": expected, "new": expected, "changed": 0, "gone": 0}
        assert pages_of(connection, "nobody", since, until) == dict.fromkeys(found, 0)


def test_pages_are_new_changed_or_gone_in_a_time(engine: Engine) -> None:
    before, within, after = (f"2023-11-14T22:13:{second}+00:00" for second in (19, 25, 31))
    stored = (
        {"fetched_at": within, "first_seen": within},
        {"fetched_at": within, "first_seen": before, "changed_at": within},
        {"fetched_at": after, "first_seen": within, "changed_at": after},
        {"fetched_at": before, "first_seen": before, "changed_at": before, "gone_at": within},
    )
    with engine.begin() as connection:
        connection.execute(insert(crawl).values(id=1, name="bees", seeds="[]", started_at=0.0))
        for key, times in enumerate(stored):
            values = {"key": key, "crawl_id": 1, "url": "u", "requested_url": "u", "status": 200, "depth": 0} | times
            connection.execute(
                insert(page).values(**values, title="", text="", relevance=0.0, extractor="x", images="[]")
            )
        counts = pages_of(connection, "bees", 1_700_000_000, 1_700_000_010)
    assert counts == {"pages": 2, "new": 2, "changed": 1, "gone": 1}


def test_a_file_that_was_deleted_is_not_written_on(sqlite_url: URL) -> None:
    engine = open_database(sqlite_url)
    jobs = Jobs(engine)
    add(jobs)
    Path(str(sqlite_url.database)).unlink()
    with pytest.raises(StateError, match=r"was deleted$"):
        jobs.all()
    engine.dispose()
