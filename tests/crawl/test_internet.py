"""Crawls of a small internet, in which each host has a habit, through kills and a crash of the database.

The long form is tests/bench/soak.py.
"""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import fork_server
import pytest
from fault_injection import Running, database, prose, wait_for
from fork_server import Forked
from internet import HOUR, Article, Internet, Span
from internet_counts import Truth, answers, closing_line, statistics
from internet_crawls import Served, served
from internet_habits import HABITS
from internet_verdict import Row, lines_wrong, pages_wrong, pauses_wrong, requests_wrong, state_wrong
from postgres import Server
from short_backoff import HURRIED

PAUSE = 0.3
SETTINGS = {
    "DOWNLOAD_DELAY": f"{PAUSE}",
    "AUTOTHROTTLE_ENABLED": "False",
    "DOWNLOAD_TIMEOUT": "4",
    "RETRY_TIMES": "0",
    "SITE_PAGE_LIMIT": "8",
    "LOG_LEVEL": "INFO",
    "RECRAWL_LEAST": "0.001",
    "RECRAWL_MOST": "0.001",
    "STATS_DUMP": "True",
    "HURRIED_ROBOTS_DELAY": "0.1",
} | HURRIED


def article(number: int) -> Article:
    texts = [text for turn in range(3) for text in prose(number * 31 + turn * 1_009 + 1, 3)]
    return Article(f"a{number}", f"Article {number}", tuple(texts), (f"a{number // 2}",))


@pytest.fixture
def internet(tmp_path: Path) -> Iterator[Served]:
    now, hosts = time.time(), len(HABITS)
    articles = [[article(number) for number in range(hosts * 2)]]
    with served(Internet(articles, hosts, HABITS, Span(now - HOUR, now + 3 * HOUR)), tmp_path) as found:
        yield found


def start(internet: Served, folder: Path, state: str) -> Running:
    def begin(line: list[str], place: Path, log: Path) -> Forked:
        return fork_server.common().start(line, place, (str(log), str(log)), internet.environment)

    topic = {"topic": "river bridge winter garden harbour"}  # words of articles, so that traps come last
    return Running(folder, internet.arguments(0) | topic, SETTINGS | {"STATE_URL": state}, begin)


def test_what_is_reachable_and_allowed_is_stored_once(
    tmp_path: Path, internet: Served, postgres_server: Server
) -> None:
    """The database crashes, a worker is killed and another continues its work; pages change in a second round."""
    state, log = postgres_server.database(), internet.server.log
    killed = start(internet, tmp_path / "one", state)
    wait_for(lambda: len(log) > 60)
    postgres_server.stop()
    postgres_server.start()
    wait_for(lambda: len(log) > 160)
    killed.kill()
    wait_for(lambda: not internet.server.connections)  # what it had sent has arrived
    for folder in ("one", "two"):
        before = len(log)
        ended = start(internet, tmp_path / folder, state)
        assert ended.wait() == 0, ended.said
        assert "Traceback" not in killed.said + ended.said
        assert answers(ended.said) == Counter(hit.status for hit in log[before:] if hit.status)
        internet.server.wall = lambda: time.time() + 2 * HOUR
    with database(state) as ask:
        rows = [Row(*row) for row in ask("SELECT url, text FROM page")]
        truth = Truth.of_part(internet.web, log, 0, [row.url for row in rows])
        changes = truth.changes(log[before].wall, log[-1].wall)
        assert changes["changed"] > len(HABITS) / 6
        assert closing_line(ended.said) == statistics(ended.said) == changes
        wrong = [
            *state_wrong(ask),
            *requests_wrong(internet.web, log),
            *pauses_wrong(internet.web, log, PAUSE),
            *pages_wrong(internet.web, log, rows, [0]),
            *lines_wrong("topic", rows, tmp_path.glob("*/output")),
        ]
    assert not wrong, "\n".join(wrong)
