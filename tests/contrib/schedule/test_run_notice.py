"""Who is told how a run ended, what is sent, and what no webhook and no command can do."""

import json
import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from receivers import Receiver, receiving
from scrapy.settings import Settings
from sqlalchemy import Engine, insert, select

from crawler.contrib.schedule import run_notice
from crawler.contrib.schedule.job_definition import column_values, may_be_set
from crawler.contrib.schedule.job_store import DueRun, Job, Jobs, Run, RunPlace, find_job
from crawler.contrib.schedule.run_notice import (
    LEAST_READ,
    NoticeSender,
    NoticeSettings,
    event_of,
    notice_settings,
    post,
    run_command,
    usual_harvest,
    webhook_address,
    webhook_host,
    within,
)
from crawler.errors import ArgumentError
from crawler.store.crawl_tables import crawl, sample
from crawler.store.crawl_tables import run as run_table
from crawler.urls.public_hosts import AllowList

HERE = RunPlace("here", "a.example")
LOOPBACK = AllowList(["127.0.0.1"])


def a_run(read: int | None, on_topic: int, status: str = "done") -> Run:
    fixed: dict[str, Any] = {"id": 1, "job_id": 1, "number": 1, "how": "cron", "due": None, "missed": 0, "passed": 0}
    fixed |= {"exit": 0, "started_at": 0.0, "beat": 0.0, "ended_at": 0.0, "place": "", "host": "", "pid": None}
    return Run(**fixed, pages=0, status=status, read=read, on_topic=on_topic)


def test_a_run_is_one_event() -> None:
    rows = [
        (a_run(100, 30), [a_run(100, 60)], "ended"),
        (a_run(100, 29), [a_run(100, 60)], "harvest_fell"),
        (a_run(100, 29), [a_run(100, 60)] * 5 + [a_run(100, 0)] * 50, "harvest_fell"),
        (a_run(100, 29), [], "ended"),
        (a_run(100, 29), [a_run(LEAST_READ - 1, LEAST_READ - 1), a_run(None, 0)], "ended"),
        (a_run(LEAST_READ, 0), [a_run(LEAST_READ, LEAST_READ)], "harvest_fell"),
        (a_run(LEAST_READ - 1, 0), [a_run(LEAST_READ, LEAST_READ)], "ended"),
        (a_run(100, 29), [a_run(100, 100, "failed"), a_run(100, 50)], "ended"),
        (a_run(100, 0, "failed"), [a_run(100, 60)], "failed"),
        (a_run(100, 60, "stopped"), [a_run(100, 60)], "ended"),
        (a_run(0, 0), [a_run(100, 60)], "ended"),
    ]
    for run, earlier, event in rows:
        assert event_of(run, usual_harvest(earlier)) == event


@pytest.mark.parametrize("right", ["https://hooks.example/a?b=c", "http://10.0.0.1:8080", "http://[::1]/"])
def test_an_address_is_taken(right: str) -> None:
    assert webhook_address(right) == right


def test_what_is_no_address_is_refused() -> None:
    rows = [
        *("hooks.example", "ftp://hooks.example/", "file:///etc/passwd", "https://", "javascript:alert(1)"),
        *("https://user:word@hooks.example/", "https://hooks.example:99999/", "https://hooks.example:0/", "http://[1"),
        *("https://hooks.example/a b", "https://hooks.example/\r\nX: y", "https://bücher.example/"),
        "https://hooks.example/" + "a" * 2_000,
    ]
    for wrong in rows:
        with pytest.raises(ArgumentError, match=r"https?://"):
            webhook_address(wrong)
        assert post(wrong, b"{}", LOOPBACK) == "unreachable"  # it may have been written into the database
        assert "word" not in webhook_host(wrong)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as there:
        yield there


@pytest.mark.parametrize(
    ("path", "result"),
    [("", "sent"), ("/a?b=c", "sent"), ("/500", "status:500"), ("/moved", "status:302"), ("/endless", "sent")],
)
def test_a_notice_is_posted_once(receiver: Receiver, path: str, result: str) -> None:
    begun = time.monotonic()
    assert post(receiver.url + path, b'{"job": "bees"}', LOOPBACK) == result
    assert receiver.got == [(path or "/", {"job": "bees"})]  # no redirect was followed
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("allowed", [[], ["10.0.0.0/8"]])
def test_a_private_address_is_not_posted_to(receiver: Receiver, allowed: list[str]) -> None:
    for url in (receiver.url, receiver.url.replace("127.0.0.1", "localhost"), "http://2130706433/"):
        assert post(url, b"{}", AllowList(allowed)) in ("private", "unreachable")
    assert post(receiver.url, b"{}", AllowList(allowed)) == "private"
    assert receiver.got == []


def test_nobody_waits_for_ever(receiver: Receiver) -> None:
    begun = time.monotonic()
    assert within(0.5, lambda: post(f"{receiver.url}/drip", b"{}", LOOPBACK)) == "timeout"
    assert time.monotonic() - begun < 3
    assert post("http://127.0.0.1:1/", b"{}", LOOPBACK) == "unreachable"
    assert post("http://no.such.name.invalid/", b"{}", LOOPBACK) == "unreachable"


COPIES = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"


def test_a_command_reads_the_notice_and_no_shell_reads_its_words(tmp_path: Path) -> None:
    file = tmp_path / "a; echo $HOME"
    assert run_command([sys.executable, "-c", COPIES, str(file)], b'{"job": "bees"}') == "sent"
    assert json.loads(file.read_text()) == {"job": "bees"}
    assert run_command([sys.executable, "-c", "raise SystemExit(3)"], b"{}") == "exit:3"
    assert run_command([str(tmp_path / "none")], b"{}") == "not_started"


def test_a_command_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_notice, "COMMAND_SECONDS", 0.3)
    assert run_command([sys.executable, "-c", "import time; time.sleep(60)"], b"{}") == "timeout"


@pytest.mark.parametrize(
    ("given", "words"),
    [("", ()), ("true 'a b'", ("true", "a b")), (["true", "a b"], ("true", "a b"))],
)
def test_the_command_is_read_from_the_settings(given: Any, words: tuple[str, ...]) -> None:
    assert notice_settings(Settings({"SCHEDULE_NOTIFY_COMMAND": given})).command == words


@pytest.mark.parametrize("wrong", ["no-such-program-here", "true 'a"])
def test_a_wrong_command_is_refused(wrong: str) -> None:
    with pytest.raises(ArgumentError, match="SCHEDULE_NOTIFY_COMMAND"):
        notice_settings(Settings({"SCHEDULE_NOTIFY_COMMAND": wrong}))


def test_no_job_may_have_a_command() -> None:
    assert not may_be_set("SCHEDULE_NOTIFY_COMMAND")


@pytest.fixture
def jobs(engine: Engine) -> Jobs:
    return Jobs(engine)


def ended(jobs: Jobs, address: str | None, exit_status: int | None = 0, read: int = 0, on_topic: int = 0) -> Run:
    """A run of the job `bees` that has ended; the job is added where it is missing."""
    if not jobs.all()[0]:
        values = {"cron": "0 3 * * *", "timezone": "UTC", "spider": "topic", "crawl": "bees", "next_at": None}
        jobs.add("bees", lambda now: values | column_values({}, {}) | {"notify": address})
    run = jobs.start(job_of(jobs), DueRun("now"), HERE)
    assert run is not None
    with jobs.writing() as connection:
        if (number := connection.execute(select(crawl.c.id)).scalar()) is None:
            number = connection.execute(
                insert(crawl).values(name="bees", seeds="demo", started_at=0.0).returning(crawl.c.id)
            ).scalar_one()
        values = dict.fromkeys((column.name for column in sample.c), 0) | {"statuses": "{}", "seconds": 1.0}
        values |= {"crawl_id": number, "at": run.started_at, "number": run.number, "read": read, "on_topic": on_topic}
        connection.execute(insert(sample).values(**values))
    return jobs.end(run, exit_status, "bees")


def job_of(jobs: Jobs) -> Job:
    return find_job(jobs.all()[0], "bees")


def test_what_is_sent(jobs: Jobs, receiver: Receiver) -> None:
    sender = NoticeSender(jobs, NoticeSettings(allowed=LOOPBACK))
    for exit_status, read, on_topic in ((0, 100, 60), (0, 100, 10), (1, 40, 30)):
        run = ended(jobs, f"{receiver.url}/hook", exit_status, read, on_topic)
        sender.send_once(job_of(jobs), run)
        sender.send_once(job_of(jobs), run)  # whoever else saw the end
        sender.wait()
        time.sleep(0.01)
    assert [path for path, _ in receiver.got] == ["/hook"] * 3
    sent = [body for _, body in receiver.got]
    assert [one["event"] for one in sent] == ["ended", "harvest_fell", "failed"]
    assert [(one["harvest"], one["usual_harvest"]) for one in sent] == [(0.6, None), (0.1, 0.6), (0.75, 0.35)]
    last = sent[-1]
    assert (last["job"], last["crawl"], last["run"], last["status"], last["exit"]) == ("bees", "bees", 3, "failed", 1)
    assert (last["pages"], last["new"], last["changed"], last["gone"], last["read"]) == (0, 0, 0, 0, 40)
    assert last["started_at"] <= last["ended_at"]
    assert job_of(jobs).last.notice == "sent"


def test_nothing_is_sent_if_nobody_asked(jobs: Jobs) -> None:
    run = ended(jobs, None)
    NoticeSender(jobs, NoticeSettings()).send_once(job_of(jobs), run)
    assert job_of(jobs).last.notice is None


def test_failures_are_recorded_and_logged(jobs: Jobs, receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    by = NoticeSettings((sys.executable, "-c", "raise SystemExit(3)"), LOOPBACK)
    sender = NoticeSender(jobs, by)
    run = ended(jobs, f"{receiver.url}/500")
    sender.send_once(job_of(jobs), run)
    sender.wait()
    assert job_of(jobs).last.notice == "exit:3 status:500"
    assert [line[-3:] for line in caplog.messages if line.startswith("bees: run 1: ")] == ["s 3", "500"]


def test_a_run_that_is_under_way_is_told_of_by_nobody(jobs: Jobs) -> None:
    ended(jobs, "https://hooks.example/")
    run = jobs.start(job_of(jobs), DueRun("now"), HERE)
    assert run is not None
    assert not jobs.claim_notice(run.id)
    jobs.end(run, 0, "bees")
    assert [jobs.claim_notice(run.id) for _ in range(3)] == [True, False, False]
    with jobs.reading() as connection:
        assert connection.execute(select(run_table.c.notice).where(run_table.c.id == run.id)).scalar() == ""
