"""The overview and the page of one crawl: figures on both databases, sites, and hostile words that stay words."""

import json
import re
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS
from dashboard_client import data, get, text
from scrapy.settings import Settings
from sqlalchemy import Engine, insert, update
from sqlalchemy.engine import URL

from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.views.one_crawl import course_through
from crawler.frontier.batch import SAMPLE_COUNTS, WorkerSample
from crawler.outcomes import Code, Outcome
from crawler.reports import sites
from crawler.reports.throughput import SamplePoint
from crawler.store.crawl_tables import (
    AddressState,
    address,
    address_pattern,
    crawl,
    host,
    job,
    sample,
    site,
    worker,
)
from crawler.store.database import database_time
from crawler.store.heartbeats import LEASE_SECONDS
from crawler.store.page_tables import page

WORDS = re.compile(r"<bdi>[^<]*</bdi>|<title>[^<]*</title>|value=\"[^\"]*\"")
"""Where words of others may have a direction of their own."""
CRON = {"cron": "0 3 * * *", "timezone": "UTC", "spider": "topic", "arguments": "{}", "settings": "{}"}
PATIENCE = 100
"""Looks until the background has done its part."""


BOTH = pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    """A database with empty tables, of SQLite where a test does not name its kind."""
    engine: Engine = request.getfixturevalue(f"{getattr(request, 'param', 'sqlite')}_engine")
    return engine


def now(engine: Engine) -> float:
    with engine.connect() as connection:
        return database_time(connection)


def enter(engine: Engine, table: Any, *rows: dict[str, Any]) -> None:
    with engine.begin() as connection:
        for row in rows:
            connection.execute(insert(table).values(**row))


def begin(engine: Engine, number: int = 1, name: str = "", age: float = 100.0, **known: Any) -> None:
    """A crawl."""
    given = {"id": number, "name": name or f"crawl-{number}", "seeds": "[]", "started_at": now(engine) - age}
    enter(engine, crawl, given | known)


def work(engine: Engine, number: int = 1, silent: float = 0.0, crawl_id: int = 1, **known: Any) -> None:
    """A worker at it."""
    given = {"crawl_id": crawl_id, "number": number, "folder_id": "x", "heartbeat": now(engine) - silent}
    enter(engine, worker, given | known)


def note(engine: Engine, age: float, number: int = 1, crawl_id: int = 1, **known: Any) -> None:
    """A sample of five seconds that ended so long ago."""
    given = dict.fromkeys(SAMPLE_COUNTS, 0) | {"seconds": 5.0, "statuses": "{}", "waiting": 0}
    row = {"crawl_id": crawl_id, "number": number, "at": now(engine) - age - 5.0}
    enter(engine, sample, given | row | known)


def meet(engine: Engine, number: int, name: str = "", hosts: int = 1, waiting: int = 0, **known: Any) -> None:
    """A site, its hosts, and what waits of the first of them."""
    enter(engine, site, {"id": number, "crawl_id": 1, "name": name or f"s{number}.example"} | known)
    for n in range(hosts):
        at = 1_000 * number + n
        row = {"id": at, "crawl_id": 1, "site_id": number, "name": f"h{n}.{name or number}", "next_at": 0.0}
        enter(engine, host, row | ({"best": 5} if waiting and not n else {}))
    for n in range(waiting):
        find(engine, 1_000 * number + n, 1_000 * number, state=AddressState.WAITING)


def find(engine: Engine, number: int, host_id: int, **known: Any) -> None:
    """An address."""
    row = {"id": number, "key": number, "host_id": host_id, "url": f"http://h/{number}", "kind": "link", "via": "link"}
    enter(engine, address, row | {"priority": 5, "depth": 1} | known)


def awaited(desk: DashboardContext, path: str, what: str) -> Any:
    """What the background came to."""
    for _ in range(PATIENCE):
        found = data(desk, path)
        if (found if what in found else found["outcomes"])[what] is not None:
            return found
        desk.background.get("rest", lambda: None, 0.0, 0.05)
    pytest.fail("It was never there.")


def one(desk: DashboardContext, number: int = 1) -> Any:
    return data(desk, f"/api/crawls/{number}")["figures"]


# All crawls.


def test_without_a_crawl_it_says_how_to_begin(tmp_path: Path) -> None:
    desk = DashboardContext(
        URL.create("sqlite", database=str(tmp_path / "crawl.db")), tmp_path, Settings(), AccessControl()
    )
    said = text(desk, "/")
    assert "winnow crawl" in said
    assert data(desk, "/api/crawls") == {"crawls": [], "more": None}
    assert list(tmp_path.iterdir()) == []


def test_a_crawl_without_a_sample_has_no_figures(desk: DashboardContext, engine: Engine) -> None:
    begin(engine)
    assert [one(desk)[name] for name in ("failed", "harvest", "requests", "saved")] == [None] * 4


@BOTH
def test_the_figures_of_a_crawl_that_runs(desk: DashboardContext, engine: Engine) -> None:
    begin(engine, pages=10, waiting=5, round=2, age=35.0)
    work(engine, 1, pages=7, waiting=-2)
    work(engine, 2, silent=3.0, pages=1, waiting=1)
    note(engine, 20.0, pages=10, read=20, on_topic=5, failed=1, requests=30, bytes=3_000_000_000, statuses='{"200":30}')
    note(engine, 10.0, pages=20, images=2, image_bytes=2_000, skipped=3)
    note(engine, 10.0, number=2, pages=5)
    found = one(desk)
    told = {"status": "running", "pages": 18, "waiting": 4, "round": 2, "workers": 2, "failed": 1, "harvest": 0.25}
    told |= {"requests": 30, "bytes": 3_000_000_000, "images": 2, "skipped": 3, "saved": 3_000}
    assert {name: found[name] for name in told} == told
    assert found["rate"] == pytest.approx(3.0 + 1.0)  # what two do side by side
    assert "1 crawl is running" in text(desk, "/")
    assert "4.0 pages a second." in text(desk, "/")


@pytest.mark.parametrize(("rounds", "is_said"), [((1, 1), False), ((1, 2), True)])
def test_what_is_of_one_round_and_what_of_all_is_said(
    desk: DashboardContext, engine: Engine, rounds: tuple[int, int], is_said: bool
) -> None:
    for number, its in enumerate(rounds, start=1):
        begin(engine, number, round=its)
    assert ("rounds together" in text(desk, "/")) is is_said
    assert "rounds together" not in text(desk, "/crawls/1")
    assert ("those of round 2" in text(desk, "/crawls/2")) is is_said


def test_whether_it_is_at_work(desk: DashboardContext, engine: Engine) -> None:
    rows: list[tuple[dict[str, Any], float | None, str]] = [
        ({}, 0.0, "running"),
        ({}, LEASE_SECONDS + 5, "broken"),
        ({}, None, "stopped"),
        ({"ended_at": 1.0}, None, "finished"),
        ({"ended_at": 1.0, "waiting": 3}, None, "full"),
        ({"ended_at": 1.0, "waiting": 3, "unlikely": 2}, None, "full"),
        ({"ended_at": 1.0, "waiting": 3, "unlikely": 3}, None, "finished"),
        ({"ended_at": 1.0, "waiting": 3, "behind_images": 2}, None, "full"),
        ({"ended_at": 1.0, "waiting": 3, "behind_images": 3}, None, "finished"),
        ({"ended_at": 1.0, "waiting": 3, "unlikely": 1, "behind_images": 1}, None, "full"),
        ({"ended_at": 1.0, "waiting": 3, "unlikely": 1, "behind_images": 2}, None, "finished"),
    ]
    for number, (known, silent, status) in enumerate(rows, 1):
        begin(engine, number, **known)
        if silent is not None:
            work(engine, crawl_id=number, silent=silent)
        assert (known, silent, one(desk, number)["status"]) == (known, silent, status)


@pytest.mark.parametrize(("waiting", "said"), [(3, "and it requests nothing more."), (4, "command that started it")])
def test_links_behind_images_are_told_apart(desk: DashboardContext, engine: Engine, waiting: int, said: str) -> None:
    begin(engine, ended_at=1.0, waiting=waiting, behind_images=3)
    assert one(desk)["behind_images"] == 3
    shown = text(desk, "/crawls/1")
    assert re.search(r"\b3 links behind images\b.*max_pages", shown)
    assert said in shown


@BOTH
def test_those_at_work_come_first_and_none_is_left_out(desk: DashboardContext, engine: Engine) -> None:
    for number in range(1, 61):
        begin(engine, number)
    for number in (2, 40):
        work(engine, crawl_id=number)
    seen, more = [], 0
    while more is not None:
        found = data(desk, "/api/crawls", before=str(more))
        seen.append([each["id"] for each in found["crawls"]])
        more = found["more"]
    assert seen[0][:3] == [40, 2, 60]
    assert sorted({number for part in seen for number in part}) == list(range(1, 61))
    assert [len(part) for part in seen][:2] == [25, 25]
    assert "/?before=" in text(desk, "/")


def test_when_a_crawl_comes_again(desk: DashboardContext, engine: Engine) -> None:
    begin(engine, 1, ended_at=1.0, round=2, first_round=2)
    begin(engine, 2, ended_at=1.0)
    begin(engine, 3, ended_at=1.0)
    for number, known in enumerate([{"last_round": 1, "due_at": 3.0}, {"due_at": 1e12}, {"due_at": 9e9}]):
        row = {"id": number + 1, "key": number, "crawl_id": 1, "url": "http://a/", "requested_url": "http://a/"}
        words = ("language", "title", "text", "comments", "author", "page_type", "extractor", "text_fingerprint")
        row |= dict.fromkeys(words, "") | {"fetched_at": "x", "status": 200, "depth": 0, "via": "seed", "images": "[]"}
        enter(engine, page, row | {"relevance": 1.0, "link_score": 1.0, "last_round": 2, "first_round": 1} | known)
    for number, paused in ((2, False), (3, True)):
        row = {"name": f"j{number}", "crawl": f"crawl-{number}", "paused": paused, "next_at": 8e9}
        enter(engine, job, CRON | row)
    due, coming, held = (one(desk, number) for number in (1, 2, 3))
    assert (due["next_due"], due["next_run"], due["job"]) == (3.0, None, None)
    assert (coming["next_run"], coming["job"]) == (8e9, "waiting")
    assert (held["next_run"], held["job"]) == (None, "paused")


LOST = Outcome(Code.HTTP_STATUS, "404")


def test_outcomes_are_counted_in_the_background(desk: DashboardContext, engine: Engine) -> None:
    begin(engine, age=10_000.0)
    meet(engine, 1)
    for number, outcome in enumerate([LOST, LOST, Outcome(Code.TIMEOUT), Outcome(Code.NOINDEX), None]):
        code, detail = outcome or (None, None)
        find(engine, number + 1, 1_000, state=AddressState.DONE, outcome=code, outcome_detail=detail or None)
    found = awaited(desk, "/api/crawls/1", "counted_at")
    assert found["outcomes"]["ends"] == {"failed": 3, "page": 1, "skipped": 1}
    assert found["outcomes"]["reasons"]["failed"] == {"http_status/404": 2, "timeout": 1}
    assert "no response in time" in text(desk, "/crawls/1")


# One crawl.


def test_there_is_no_such_crawl(desk: DashboardContext) -> None:
    for number, part in product(("7", "0", "999999999999999999"), ("", "/course", "/sites", "/slow")):
        found = get(desk, f"/api/crawls/{number}{part}")
        assert (found.status, [*json.loads(found.body)]) == (404, ["error"]), (number, part)


def test_its_workers(desk: DashboardContext, engine: Engine) -> None:
    begin(engine)
    work(engine, 1, silent=2.0)
    work(engine, 2, silent=LEASE_SECONDS + 10)
    first, second = data(desk, "/api/crawls/1")["workers"]
    assert (first["alive"], second["alive"]) == (True, False)
    assert first["silent"] == pytest.approx(2.0, abs=1.5)
    assert "considered dead" in text(desk, "/crawls/1")


@BOTH
def test_its_course(desk: DashboardContext, engine: Engine) -> None:
    begin(engine)
    note(engine, 4_000.0, pages=50, read=50, on_topic=50)
    note(
        engine,
        5.0,
        pages=10,
        read=50,
        requests=20,
        failed=5,
        bytes=500,
        waiting=9,
        statuses='{"200":10,"204":5,"503":5}',
    )
    found = data(desk, "/api/crawls/1/course")
    lines = {line["name"]: line["values"] for line in found["series"]}
    assert all(len(values) == len(found["at"]) == 3 for values in lines.values())  # and a pause between
    expected = {"pages": 2.0, "requests": 4.0, "failed": 1.0, "bytes": 100.0, "ok": 3.0, "broken": 1.0, "harvest": 0.0}
    assert {name: lines[name][-1] for name in expected} == expected
    assert (lines["harvest"][0], lines["waiting"][-1], lines["pages"][1]) == (1.0, 9, None)
    assert len(data(desk, "/api/crawls/1/course", hours="1")["at"]) == 1
    assert get(desk, "/api/crawls/1/course", hours="2").status == 400


def points(*known: dict[str, Any]) -> list[SamplePoint]:
    """A point of one worker every five seconds."""
    found = []
    for n, one in enumerate(known):
        counts: dict[str, Any] = {"seconds": 5.0} | {name: one[name] for name in one if name not in ("at", "waiting")}
        found.append(SamplePoint(one.get("at", 5.0 * n), 1, one.get("waiting", 0), WorkerSample(**counts)))
    return found


def test_the_harvest_is_of_enough_pages() -> None:
    rows = [
        ([{"read": 10, "on_topic": 10}, {"read": 30}], (1.0, 0.25)),  # of too few, of all there were
        ([{"read": 50, "on_topic": 50}, {"read": 49}, {"read": 1}], (1.0, 50 / 99, 0.0)),
        ([{}, {"read": 2, "on_topic": 1}], (None, 0.5)),
        ([], ()),
    ]
    for made, harvest in rows:
        assert {line.name: line.values for line in course_through(points(*made)).series}["harvest"] == harvest


@pytest.mark.parametrize(("apart", "broken"), [(65.0, False), (66.0, True)])
def test_a_pause_breaks_the_line(apart: float, broken: bool) -> None:
    found = course_through(points({}, {"at": apart}))
    assert found.at == ((0.0, 5.0, apart) if broken else (0.0, apart))


# Its sites.


def names(found: Any) -> list[str]:
    return [row["name"] for row in found["sites"]["rows"]]


def fill(engine: Engine, count: int = 120) -> None:
    """Sites, of which some have as many pages as others."""
    begin(engine)
    enter(engine, site, *({"id": n, "crawl_id": 1, "name": f"s{n:03}.example"} for n in range(1, count + 1)))
    with engine.begin() as connection:
        connection.execute(update(site).values(pages=site.c.id % 5, requests=site.c.id % 7))


@pytest.mark.parametrize(
    ("sort", "of"),
    [
        ("pages", lambda row: (-row["pages"], -row["id"])),
        ("requests", lambda row: (-row["requests"], -row["id"])),
        ("name", lambda row: row["name"]),
    ],
)
@BOTH
def test_sites_come_sorted_and_each_once(desk: DashboardContext, engine: Engine, sort: str, of: Any) -> None:
    fill(engine)
    for held, count in {"": 120, "5.ex": 12}.items():
        rows, after = [], ""
        while after is not None:
            found = data(desk, "/api/crawls/1/sites", sort=sort, site=held, after=after)
            assert found["sites"]["sort"] == sort
            rows += found["sites"]["rows"]
            after = found["more"]
        assert len({row["name"] for row in rows}) == len(rows) == count
        assert rows == sorted(rows, key=of)


def test_too_many_sites_are_sorted_by_pages_and_it_says_so(
    desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(engine)
    for few, sort in ((120, "requests"), (119, "pages")):
        monkeypatch.setattr(sites, "FEW", few)
        assert data(desk, "/api/crawls/1/sites", sort="requests")["sites"]["sort"] == sort
    first = data(desk, "/api/crawls/1/sites", sort="requests")
    more = data(desk, "/api/crawls/1/sites", sort="requests", after=first["more"])
    assert more["sites"]["rows"][0] not in first["sites"]["rows"]
    assert "More than 119 sites" in text(desk, "/crawls/1")


def test_what_waits_of_a_site_is_counted_up_to_a_bound(
    desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(engine)
    meet(engine, 1, waiting=200)
    meet(engine, 2, waiting=201, hosts=3)
    meet(engine, 3)
    for few in (sites.FEW_HOSTS, 2):  # at once, and site by site
        monkeypatch.setattr(sites, "FEW_HOSTS", few)
        rows = {row["id"]: row for row in data(desk, "/api/crawls/1/sites")["sites"]["rows"]}
        assert [(rows[n]["waiting"], rows[n]["waiting_is_least"]) for n in (1, 2, 3)] == [
            (200, False),
            (200, True),
            (0, False),
        ]
        assert [rows[n]["hosts"] for n in (1, 2, 3)] == [1, 3, 1]
    assert "200 or more" in text(desk, "/crawls/1")


def test_hosts_of_a_site_are_looked_at_up_to_a_bound(
    desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(engine)
    meet(engine, 1, hosts=3)
    for few in (sites.FEW_HOSTS, 1):  # at once, and site by site
        for bound, are_least in ((3, False), (2, True)):
            monkeypatch.setattr(sites, "FEW_HOSTS", few)
            monkeypatch.setattr(sites, "MOST_HOSTS", bound)
            (row,) = data(desk, "/api/crawls/1/sites")["sites"]["rows"]
            assert (row["hosts"], row["hosts_are_least"]) == (bound, are_least)


def test_hosts_of_a_site(desk: DashboardContext, engine: Engine) -> None:
    begin(engine)
    meet(engine, 1, hosts=2, waiting=1)
    with engine.begin() as connection:
        mine = update(host).where(host.c.id == 1_000)
        connection.execute(mine.values(next_at=now(engine) + 100, crawl_delay=30.0, delay=2.0, latency=0.5))
        connection.execute(update(host).where(host.c.id == 1_001).values(closed=Code.HOST_CLOSED, latency=3.0))
    (row,) = data(desk, "/api/crawls/1/sites")["sites"]["rows"]
    assert (row["closed"], row["why"], row["latency"], row["pause"]) == (1, "host_closed", 3.0, 30.0)
    assert row["rests_until"] > now(engine) + 90


def test_what_is_no_place_among_the_sites(desk: DashboardContext, engine: Engine) -> None:
    begin(engine)
    for after in ("x", "1", "1-x", "-1-1", "1-" + "9" * 19, "٣-٣"):
        assert get(desk, "/api/crawls/1/sites", after=after).status == 400, after


@BOTH
def test_what_names_hold_is_no_pattern(desk: DashboardContext, engine: Engine) -> None:
    fill(engine, 3)
    for held in ("%", "_", "\\", "'"):
        assert names(data(desk, "/api/crawls/1/sites", site=held)) == []
        assert "s001.example" not in text(desk, "/crawls/1", site=held)


# Why it is slow.


def test_the_slowest_are_looked_for_in_the_background(desk: DashboardContext, engine: Engine) -> None:
    begin(engine, waiting=3)
    meet(engine, 1, "slow.example", waiting=3)
    with engine.begin() as connection:
        connection.execute(update(host).values(crawl_delay=30.0))
    (found,) = awaited(desk, "/api/crawls/1/slow", "looked_at")["hosts"]
    assert (found["why"], found["waiting"], found["seconds"]) == ("pace", 3, 90.0)
    said = " ".join(text(desk, "/crawls/1").split())
    assert re.search(r"\b3 addresses\b.*\b30 s\b", said)


# What addresses of a pattern bring.


def count_pattern(engine: Engine, pattern: str, *counts: int) -> None:
    names = ("useful", "useless", "in_a_row", "open", "put_off")
    row = {"site_id": 1, "crawl_id": 1, "pattern": pattern} | dict(zip(names, counts, strict=True))
    enter(engine, address_pattern, row)


def test_patterns_are_shown_with_what_is_put_off(desk: DashboardContext, engine: Engine) -> None:
    begin(engine)
    assert data(desk, "/api/crawls/1/patterns") == []
    assert "Address patterns" not in text(desk, "/crawls/1")
    meet(engine, 1, "a.example")
    count_pattern(engine, "/post/*", 30, 2, 0, 1, 0)
    count_pattern(engine, "/tag/*", 0, 7, 7, 0, 1_234)
    found = [tuple(row.values()) for row in data(desk, "/api/crawls/1/patterns")]
    assert found == [("a.example", "/tag/*", 7, 0, 1_234), ("a.example", "/post/*", 33, 30, 0)]
    said = text(desk, "/crawls/1")
    assert re.search(r"a\.example.*/tag/\*.*>7<.*>0<.*>1,234<", said)


# Words of others.


class Tags(HTMLParser):
    """The elements of a page and what they have, of which none is to come from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_hostile_words_stay_words(desk: DashboardContext, engine: Engine, attack: str) -> None:
    begin(engine, name=attack, seeds=json.dumps([attack] * 7))
    work(engine)
    meet(engine, 1, attack, waiting=1)
    find(engine, 99, 1_000, state=AddressState.DONE, outcome=Code.ERROR, outcome_detail=attack)
    count_pattern(engine, attack, 0, 7, 7, 0, 1)
    with engine.begin() as connection:
        connection.execute(update(host).values(closed=Code.HOST_CLOSED))
    awaited(desk, "/api/crawls/1", "counted_at")
    awaited(desk, "/api/crawls/1/slow", "looked_at")
    for said in (text(desk, "/"), text(desk, "/crawls/1", site=attack[:5]), text(desk, "/crawls/1")):
        tags = Tags()
        tags.feed(said)
        assert not {name for _, given in tags.found for name in given if name.startswith("on")}
        assert [given.get("src") for tag, given in tags.found if tag == "script"] == [
            given["src"] for tag, given in tags.found if tag == "script" and (given["src"] or "").startswith("/static/")
        ]
        assert not [given for _, given in tags.found if (given.get("href") or "").startswith("javascript:")]
        assert {given["src"] for tag, given in tags.found if tag == "img"} == {"/static/winnow.svg"}
        assert "\u202e" not in WORDS.sub("", said)
        assert "\x1b" not in said
        assert "a" * 1_000 not in said
