"""What a job may be, whoever wrote it into the database."""

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.settings import default_settings as theirs
from sqlalchemy.engine import URL

from crawler import settings as ours
from crawler.contrib.schedule import job_process
from crawler.contrib.schedule.job_definition import checked, column_values, may_be_set
from crawler.contrib.schedule.job_process import crawl
from crawler.contrib.schedule.job_store import DueRun, Job, Jobs, Run, RunPlace, RunStatus
from crawler.errors import ArgumentError
from crawler.store.database import open_database


@pytest.fixture
def settings() -> Settings:
    found = Settings()
    found.setmodule("crawler.settings", priority="project")
    return found


def test_settings_that_a_job_may_have() -> None:
    rows = (
        "DOWNLOAD_DELAY EXTRACTOR USER_AGENT IGNORED_PARAMETERS RETRY_HTTP_CODES CONTACT LOG_LEVEL IMAGE_NOISE_WEIGHTS "
        "ALLOWED_PRIVATE_HOSTS CLOSESPIDER_TIMEOUT CLOSESPIDER_PAGECOUNT DNS_TIMEOUT STATS_DUMP".split()
    )
    for name in rows:
        assert may_be_set(name)


def test_settings_that_it_may_not_have() -> None:
    rows = (
        "OUTPUT_DIR STATE_URL SCHEDULE_AT_ONCE SCHEDULER SPIDER_MODULES COMMANDS_MODULE ITEM_PIPELINES EXTENSIONS "
        "DOWNLOADER_MIDDLEWARES TWISTED_DNS_RESOLVER TELNETCONSOLE_ENABLED REMOTE_CONTROL_ENABLED DOWNLOAD_HANDLERS "
        "FEEDS FEED_URI LOG_FILE LOG_FORMATTER JOBDIR STATS_CLASS ADDONS TWISTED_REACTOR DUPEFILTER_CLASS user_agent "
        "annotations __file__ MISSPELT".split()
    )
    for name in rows:
        assert not may_be_set(name)


def test_no_job_names_code() -> None:
    """Whatever is set to the name of a class, a module or a function is out of a job's reach."""
    for module in (ours, theirs):
        named = {name: value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}
        code = [name for name, value in named.items() if value.startswith(("scrapy.", "crawler.", "twisted."))]
        assert code
        assert not any(map(may_be_set, code))


@pytest.mark.parametrize(
    ("spider", "arguments", "given", "said"),
    [
        ("topik", {"seeds": "demo"}, {}, "there is no spider 'topik'; there is topic"),
        ("topic", {}, {}, "no seeds"),
        ("topic", {"seeds": "demo", "depth": "3"}, {}, "there is no argument 'depth'"),
        ("topic", {"seeds": "demo", "max_pages": "0"}, {}, "max_pages='0' is wrong"),
        ("topic", {"seeds": "demo", "name": "../x"}, {}, "name='../x' cannot be a file name"),
        ("topic", {"seeds": "demo"}, {"DOWNLOAD_DELAY": "soon"}, "DOWNLOAD_DELAY='soon' is wrong"),
        ("topic", {"seeds": "demo"}, {"IMAGE_NOISE_MODELS": "magic"}, "IMAGE_NOISE_MODELS"),
        ("topic", {"seeds": "demo"}, {"SCHEDULER": "os.system"}, "jobs may not have the setting 'SCHEDULER'"),
        ("topic", {"seeds": "demo"}, {"OUTPUT_DIR": "/"}, "jobs may not have the setting 'OUTPUT_DIR'"),
    ],
)
def test_what_cannot_be_is_said(
    settings: Settings, spider: str, arguments: dict[str, str], given: dict[str, str], said: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        checked(spider, arguments, given, settings)
    assert said in str(caught.value)


def test_what_can_be_is_read(settings: Settings) -> None:
    found = checked("topic", {"seeds": "demo", "name": "bees"}, {"DOWNLOAD_DELAY": "0"}, settings)
    assert (found.name, found.demo) == ("bees", True)
    assert settings["DOWNLOAD_DELAY"] == ours.DOWNLOAD_DELAY


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": '{"ITEM_PIPELINES": "{}"}'},
        {"spider": "-h"},
    ],
)
def test_nothing_is_crawled_for_what_no_job_may_have(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], changes: dict[str, Any]
) -> None:
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "crawler.settings")
    values = {"id": 1, "name": "bees", "cron": "@daily", "timezone": "UTC", "spider": "topic", "crawl": "bees"}
    values |= {"paused": False, "next_at": 0.0, "runs": 1}
    values |= column_values({"seeds": "demo"}, {}) | changes
    assert crawl(Job(**values), {"OUTPUT_DIR": "output", "STATE_URL": "", "AUTO_WORKERS_LIMIT": "1"}) == 2
    assert capsys.readouterr().err.count("'bees'") == 1


@pytest.mark.parametrize(
    ("act", "ends"),
    [
        (lambda jobs, run: jobs.stop(run.id, RunStatus.TOLD), True),
        (lambda jobs, run: jobs.end(run, None, "bees"), True),  # by who took it for dead
        (lambda jobs, run: jobs.stop(run.id, RunStatus.STOPPING), False),  # a second signal would end it uncleanly
        (lambda jobs, run: None, False),
    ],
)
def test_a_crawl_that_is_not_to_go_on_ends_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Jobs, Run], object], ends: bool
) -> None:
    monkeypatch.setattr(job_process, "BEAT_SECONDS", 0.01)
    heard = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: heard.set())
    jobs = Jobs(open_database(URL.create("sqlite", database=str(tmp_path / "crawl.db"))))
    values = {"cron": "@daily", "timezone": "UTC", "spider": "topic", "crawl": "bees", **column_values({}, {})}
    jobs.add("bees", lambda now: values)
    run = jobs.start(jobs.all()[0][0], DueRun("now"), RunPlace("here", "a.example"))
    pulse = job_process.Heartbeat(jobs, run)
    pulse.start()
    act(jobs, run)
    assert heard.wait(10 if ends else 0.3) is ends
    pulse.end()
    signal.signal(signal.SIGTERM, before)
    jobs.engine.dispose()
