"""What Prometheus reads, by its own reader."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from dashboard_client import Answer, Request, answer
from prometheus_client.parser import text_string_to_metric_families
from scrapy.settings import Settings
from sqlalchemy import Engine, insert
from sqlalchemy.engine import URL, make_url

from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.metrics import MOST_CRAWLS
from crawler.store.crawl_tables import crawl, job, run, sample, worker
from crawler.store.database import database_time, open_database

EVIL = 'be"es\\\n{x="y"} 1\n# TYPE \u202e<b>'


@pytest.fixture
def url(sqlite_url: URL) -> URL:
    return sqlite_url


def asked(url: URL) -> Answer:
    desk = DashboardContext(url, Path("output"), Settings(), AccessControl())
    return answer(desk, Request("GET", "/metrics", headers={"host": "localhost"}))


def figures(url: URL) -> Mapping[tuple[str, ...], float]:
    """What is measured, by its name and its labels' values."""
    found = asked(url)
    assert found.status == 200, found.body
    families = list(text_string_to_metric_families(found.body.decode()))
    assert all(one.documentation for one in families)
    return {(each.name, *each.labels.values()): each.value for one in families for each in one.samples}


def fill(engine: Engine) -> float:
    """A crawl that runs, another with no sample, and a job; the time."""
    with engine.begin() as connection:
        now = database_time(connection)
        begun = {"seeds": "[]", "started_at": now}
        connection.execute(insert(crawl).values(id=1, name="bees", pages=10, waiting=12, unlikely=7, round=2, **begun))
        connection.execute(insert(crawl).values(id=2, name=EVIL, **begun))
        for number, beat in ((1, now), (2, now - 3_600)):
            values = {"crawl_id": 1, "number": number, "folder_id": "x", "heartbeat": beat, "pages": 7, "waiting": -2}
            connection.execute(insert(worker).values(**values))
        counts: dict[str, Any] = {"pages": 4, "read": 4, "on_topic": 1, "requests": 6, "failed": 1, "bytes": 100}
        counts |= {"images": 2, "image_bytes": 2_000, "skipped": 3, "waiting": 1, "seconds": 5.0}
        for at, statuses in ((now - 7_200, '{"200":5,"404":1}'), (now - 10, '{"200":4,"none":2}')):
            connection.execute(insert(sample).values(crawl_id=1, number=1, at=at, statuses=statuses, **counts))
        values = {"cron": "@daily", "timezone": "UTC", "spider": "topic", "arguments": "{}", "settings": "{}"}
        values |= {"runs": 1}
        connection.execute(
            insert(job).values(id=1, name="daily", crawl="bees", paused=False, next_at=now + 9, **values)
        )
        connection.execute(insert(job).values(id=2, name=EVIL, crawl="x", paused=True, next_at=now + 9, **values))
        values = {"job_id": 1, "number": 1, "how": "now", "place": "x", "host": "x", "started_at": now, "beat": now}
        connection.execute(insert(run).values(status="failed", exit=1, ended_at=now, **values))
    return now


def test_all_figures(url: URL) -> None:
    engine = open_database(url)
    now = fill(engine)
    engine.dispose()
    found = figures(url)
    right = {
        ("winnow_pages_total", "bees"): 8,
        ("winnow_on_topic_total", "bees"): 2,
        ("winnow_failed_total", "bees"): 2,
        ("winnow_bytes_total", "bees"): 200,
        ("winnow_responses_total", "bees", "200"): 9,
        ("winnow_responses_total", "bees", "404"): 1,
        ("winnow_responses_total", "bees", "none"): 2,
        ("winnow_saved_bytes", "bees"): 6_000,
        ("winnow_round", "bees"): 2,
        ("winnow_round_pages", "bees"): 24,
        ("winnow_waiting", "bees"): 1,
        ("winnow_unlikely", "bees"): 7,
        ("winnow_workers", "bees"): 1,
        ("winnow_workers", EVIL): 0,
        ("winnow_due_pages", "bees"): 0,
        ("winnow_harvest", "bees"): 0.25,
        ("winnow_sampled_timestamp_seconds", "bees"): pytest.approx(now - 5),
        ("winnow_job_next_timestamp_seconds", "daily"): pytest.approx(now + 9),
        ("winnow_job_running", "daily"): 0,
        ("winnow_job_failed", "daily"): 1,
    }
    assert {name: found.get(name) for name in right} == right
    assert ("winnow_pages_total", EVIL) not in found
    assert ("winnow_job_next_timestamp_seconds", EVIL) not in found
    assert ("winnow_job_running", EVIL) in found


def test_where_nothing_was_ever_crawled(tmp_path: Path) -> None:
    found = figures(make_url(f"sqlite:///{tmp_path / 'crawl.db'}"))
    assert [name for name, *_ in found] == ["winnow_info", "winnow_left_out_crawls"]


@pytest.mark.parametrize("left_out", [0, 1])
def test_crawls_that_are_too_many_are_counted(url: URL, left_out: int) -> None:
    engine = open_database(url)
    fill(engine)
    more = [
        {"id": 3 + number, "name": f"c{number}", "seeds": "[]", "started_at": 9e9}
        for number in range(MOST_CRAWLS - 2 + left_out)
    ]
    with engine.begin() as connection:
        connection.execute(insert(crawl), more)
    engine.dispose()
    found = figures(url)
    assert found["winnow_left_out_crawls",] == left_out
    assert ("winnow_pages_total", "bees") in found  # which is at work; the other one is older than the rest
    assert (("winnow_round", EVIL) in found) is (left_out == 0)
