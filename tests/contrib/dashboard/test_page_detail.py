"""What hangs together with a stored page."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert

from crawler.contrib.dashboard.views.page import page_refs
from crawler.contrib.dashboard.views.page_links import found_count, found_on, known_by_key, link, verdicts_by_key
from crawler.contrib.dashboard.views.page_versions import MOST_LETTERS, texts_before
from crawler.outcomes import Code, Outcome
from crawler.store.crawl_tables import AddressState, address, crawl
from crawler.store.page_tables import page, page_version, verdict

HOME, OTHER = 10, 20
"""Keys of pages."""
# Address, kind, priority, state, status; in no order of what they promise.
FOUND = [
    ("http://a.example/low", "link", 100, AddressState.WAITING, None),
    ("http://a.example/high", "link", 900, AddressState.DONE, None),
    ("http://a.example/same1", "link", 500, AddressState.HELD, None),
    ("http://a.example/same2", "link", 500, AddressState.DONE, "404"),
    ("http://a.example/p.png", "image", 600, AddressState.RECORDED, None),
    ("http://a.example/chance", "link", 999, AddressState.WAITING, None),
    ("http://a.example/minus", "link", -5, AddressState.WAITING, None),
]


def _page(key: int, **more: Any) -> dict[str, Any]:
    values = {"key": key, "crawl_id": 1, "url": f"http://a.example/{key}", "requested_url": "", "fetched_at": "2026"}
    return values | {"status": 200, "depth": 0, "title": f"Page {key}", "text": "x", "relevance": 0.5} | more


@pytest.fixture
def connection(sqlite_engine: Engine) -> Iterator[Connection]:
    with sqlite_engine.connect() as found:
        found.execute(insert(crawl).values(id=1, name="bees", seeds="[]", started_at=0.0))
        whole = {"host_id": 1, "depth": 0}
        found.execute(insert(address).values(id=1, key=HOME, url="http://a.example/", kind="seed", priority=1, **whole))
        for at, (url, kind, priority, state, status) in enumerate(FOUND):
            values = {"id": 100 + at, "key": 100 + at, "url": url, "kind": kind, "priority": priority, "parent": 1}
            outcome = {"outcome": status and Code.HTTP_STATUS, "outcome_detail": status}
            found.execute(insert(address).values(state=state, **outcome, **values, **whole))
        elsewhere = {"id": 999, "key": 999, "url": "http://b.example/", "kind": "link", "priority": 700, "parent": 2}
        found.execute(insert(address).values(**elsewhere, **whole))
        for row in (_page(HOME), _page(OTHER), _page(101, title="<b>High</b>", relevance=0.75)):
            found.execute(insert(page).values(extractor="auto", images="[]", **row))
        yield found


def test_what_was_first_found_on_a_page(connection: Connection) -> None:
    rows = [link(row.url, None, row) for row in found_on(connection, HOME)]
    names = [one.url.rpartition("/")[2] for one in rows]
    assert names == ["chance", "high", "p.png", "same1", "same2", "low", "minus"]
    by_name = dict(zip(names, rows, strict=True))
    assert [one.score for one in rows] == [None, 0.9, None, 0.5, 0.5, 0.1, None]
    assert [by_name[name].state for name in ("low", "high", "same1", "p.png")] == [
        "waiting",
        "done",
        "held",
        "recorded",
    ]
    assert by_name["same2"].outcome == Outcome(Code.HTTP_STATUS, "404")
    assert (by_name["high"].title, by_name["high"].relevance) == ("<b>High</b>", 0.75)
    assert by_name["high"].page is not None
    assert by_name["low"].page is None
    assert found_count(connection, HOME) == (len(FOUND), False)


def test_they_come_part_by_part(connection: Connection) -> None:
    for most in (1, 2, 3, 4, 7, 8):
        every, after = [], None
        while part := found_on(connection, HOME, after, most):
            assert len(part) <= most
            every += part
            after = (part[-1].priority, part[-1].id)
        assert every == found_on(connection, HOME)


def test_nothing_was_found_on_others(connection: Connection) -> None:
    for key in (OTHER, 12345):
        assert found_on(connection, key) == []
        assert found_count(connection, key) == (0, False)


def test_no_more_than_so_many_are_listed(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    for most, is_cut in ((7, False), (6, True)):
        monkeypatch.setattr("crawler.contrib.dashboard.views.page_links.MOST_FOUND", most)
        assert found_count(connection, HOME) == (most, is_cut)
        assert len(found_on(connection, HOME)) == most


def test_addresses_and_pages_by_their_keys(connection: Connection) -> None:
    found = known_by_key(connection, [101, 103, 101, 5])
    assert {key: one.url for key, one in found.items()} == {101: "http://a.example/high", 103: "http://a.example/same2"}
    assert known_by_key(connection, range(2_000, 9_000)) == {}
    assert {key: one.title for key, one in page_refs(connection, [HOME, 5]).items()} == {HOME: "Page 10"}


def test_verdicts_by_their_keys(connection: Connection) -> None:
    values = {"crawl_id": 1, "site_id": 1, "kind": "image", "url": "u", "target": "", "page": "p", "reasons": '["x"]'}
    values |= {"decided_by": "model", "audited": False, "bytes_are_measured": False, "decided_at": "2026", "sight": ""}
    connection.execute(insert(verdict).values(key=7, noise=True, probability=0.75, **values))
    found = verdicts_by_key(connection, [7, 8])
    assert {key: (one.noise, one.probability, one.reasons) for key, one in found.items()} == {7: (True, 0.75, '["x"]')}


def test_what_a_page_said_before(connection: Connection) -> None:
    for at in range(3):
        values = {"key": HOME, "crawl_id": 1, "fetched_at": f"2026-01-0{at + 1}", "title": f"Title {at}"}
        connection.execute(insert(page_version).values(text="蜂" * (MOST_LETTERS + at), **values))
    found = texts_before(connection, HOME, 2)
    assert [one.title for one in found] == ["Title 2", "Title 1"]
    assert [len(one.text) for one in found] == [MOST_LETTERS, MOST_LETTERS]
    assert texts_before(connection, OTHER) == []
