"""The walls of judged pictures: which are on them, in which order, how one goes on, and what people's marks add."""

import json
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert, text

from crawler.canonical import Canonical
from crawler.state import walls
from crawler.state.entries import Keys
from crawler.state.marked import Marks, Tally
from crawler.state.marks import CONTENT, NOISE, PICTURE, Mark, mark, unmark
from crawler.state.schema import crawl, site, verdict
from crawler.state.walls import NEWEST, Audited, Wanted, audits, doubtful, marked_of, wall

PAGE = "http://a.example/"
KEYS = Keys(1, Canonical(()))


def enter(engine: Engine, *verdicts: dict[str, Any]) -> None:
    """Verdicts of the crawl `bees` with the numbers 1, 2, 3 ...; of another crawl there is one more."""
    with engine.begin() as connection:
        for number, name in ((1, "bees"), (2, "wasps")):
            values = {"id": number, "name": name, "seeds": "[]", "started_at": 0.0}
            connection.execute(insert(crawl).values(values))
        for number, name in ((1, "a.example"), (2, "b.example")):
            connection.execute(insert(site).values(id=number, crawl_id=1, name=name))
        others = {"id": 1_000, "crawl_id": 2, "key": -1, "url": "http://other.example/"}
        for number, one in enumerate((*verdicts, others), 1):
            connection.execute(insert(verdict).values(row(number) | one))


def row(number: int) -> dict[str, Any]:
    url = f"http://cdn.example/{number}.png"
    return {
        "id": number,
        "key": KEYS(url, "image"),
        "crawl_id": 1,
        "site_id": 1,
        "kind": "image",
        "url": url,
        "target": "",
        "page": PAGE,
        "noise": False,
        "probability": 0.1,
        "reasons": "[]",
        "decided_by": "",
        "audited": False,
        "mistaken": None,
        "bytes_are_measured": False,
        "decided_at": "2026-11-22T00:00:00+00:00",
    }


def noise(by: str = "learned", **other: Any) -> dict[str, Any]:
    return {"noise": True, "probability": 0.97, "decided_by": by} | other


def link(target: str = "http://b.example/", **other: Any) -> dict[str, Any]:
    return {"kind": "link", "target": target, "key": KEYS(target)} | other


KEPT: dict[str, Any] = {}
VERDICTS = (
    KEPT,  # 1
    noise("size"),  # 2
    link(),  # 3
    noise("learned", site_id=2),  # 4
    KEPT | {"site_id": 2},  # 5
    noise("learned") | link("http://c.example/"),  # 6
    noise("learned", audited=True, mistaken=True),  # 7
    KEPT,  # 8
    noise("size", audited=True, mistaken=False, site_id=2),  # 9
    noise("size", audited=True) | link("http://d.example/"),  # 10
)


def numbers(found: walls.Stretch) -> list[int]:
    return [one.id for one in found.seen]


def through(connection: Connection, wanted: Wanted, most: int = 2) -> list[int]:
    """All of a wall, a part at a time."""
    found: list[int] = []
    before = NEWEST
    while before:
        part = wall(connection, 1, wanted, before, most)
        assert len(part.seen) <= most
        found += numbers(part)
        before = part.before
    return found


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(False), [8, 5, 3, 1]),
        (Wanted(True), [10, 9, 7, 6, 4, 2]),
        (Wanted(False, ("image",)), [8, 5, 1]),
        (Wanted(True, ("link",)), [10, 6]),
        (Wanted(False, site_id=2), [5]),
        (Wanted(True, site_id=2), [9, 4]),
        (Wanted(True, by="size"), [10, 9, 2]),
        (Wanted(True, by="keyword"), []),
        (Wanted(True, ("image",), 2, "size"), [9]),
        (Wanted(True, audited=True), [10, 9, 7]),
        (Wanted(True, ("image",), audited=True), [9, 7]),
        (Wanted(True, site_id=1, audited=True), [10, 7]),
    ],
)
def test_a_wall_is_gone_through_from_its_newest(engine: Engine, wanted: Wanted, found: list[int]) -> None:
    enter(engine, *VERDICTS)
    with engine.connect() as connection:
        for most in (1, 2, 3, 24):
            assert through(connection, wanted, most) == found


def test_what_no_index_tells_is_looked_for_as_long_as_there_is_time(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walls, "STRETCH", 2)
    monkeypatch.setattr(walls, "SECONDS", 0.0)
    enter(engine, noise("size"), *[noise("learned")] * 6)
    with engine.connect() as connection:
        first = wall(connection, 1, Wanted(True, by="size"), 0, 5)
        assert (numbers(first), first.before) == ([], 6)
        assert through(connection, Wanted(True, by="size"), 5) == [1]


def test_no_kind_is_passed_over_where_the_other_is_rare(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "STRETCH", 2)
    links = (noise("size") | link("http://c.example/"), noise("size") | link("http://d.example/"))
    enter(engine, *links, noise(), noise("size"), *[noise()] * 4)
    with engine.connect() as connection:
        assert through(connection, Wanted(True, by="size"), 5) == [4, 2, 1]


def test_a_verdict_is_shown_with_its_site(engine: Engine) -> None:
    enter(engine, KEPT | {"site_id": 2, "sight": "[]", "file": "ab/c.png"}, KEPT | {"site_id": 77})
    with engine.connect() as connection:
        gone, first = wall(connection, 1, Wanted(False), 0, 5).seen
    assert (first.site, first.sight, first.file, gone.site) == ("b.example", "[]", "ab/c.png", None)


def test_walls_are_read_by_indexes(sqlite_engine: Engine) -> None:
    """On a wall of millions, what sorts or reads all of it takes seconds."""
    enter(sqlite_engine, *VERDICTS)
    for wanted, index in (
        (Wanted(True), "verdict_wall"),
        (Wanted(True, site_id=1), "verdict_site"),
        (Wanted(True, audited=True), "verdict_audit"),
    ):
        asked = walls._chosen(1, wanted).where(verdict.c.kind == "image", verdict.c.id < 9)
        found = (
            asked.order_by(verdict.c.id.desc()).limit(3).compile(sqlite_engine, compile_kwargs={"literal_binds": True})
        )
        with sqlite_engine.connect() as connection:
            plan = " ".join(one.detail for one in connection.execute(text(f"EXPLAIN QUERY PLAN {found}")))
        assert index in plan
        assert "B-TREE" not in plan


# Doubt.

DOUBTS = (
    KEPT | {"probability": 0.9},  # 1, the edge of the content
    noise(probability=0.94),  # 2, the edge of the noise
    noise(probability=1.0),  # 3
    KEPT | {"probability": 0.0},  # 4
    noise(probability=0.96) | link("http://c.example/"),  # 5
    link(probability=0.999),  # 6: a picture that is noise may lead to a good page
    KEPT | {"probability": 0.5},  # 7
)


@pytest.mark.parametrize(
    ("kind", "most", "found"),
    [("image", 9, [2, 1, 7, 3, 4]), ("image", 3, [2, 1, 7]), ("link", 9, [5, 6]), ("", 4, [2, 1, 5, 7])],
)
def test_the_least_certain_are_nearest_to_the_limit(engine: Engine, kind: str, most: int, found: list[int]) -> None:
    enter(engine, *DOUBTS)
    with engine.connect() as connection:
        near = [one.id for one in doubtful(connection, 1, kind, most)]
    assert near[:2] in (found[:2], found[1::-1])
    assert near[2:] == found[2:]


def test_what_is_marked_is_in_no_doubt(engine: Engine) -> None:
    enter(engine, *DOUBTS)
    say(engine, 2, CONTENT)
    say(engine, 1, CONTENT, name="wasps")
    with engine.connect() as connection:
        assert [one.id for one in doubtful(connection, 1, "image", 2)] == [1, 7]
        assert doubtful(connection, 3, "image", 2) == ()


@pytest.mark.parametrize("verdicts", [(), (KEPT,), (noise(),), (noise(probability=0.0), KEPT | {"probability": 1.0})])
def test_doubt_where_there_is_one_side_or_none(engine: Engine, verdicts: tuple[dict[str, Any], ...]) -> None:
    enter(engine, *verdicts)
    with engine.connect() as connection:
        assert len(doubtful(connection, 1, "", 9)) == len(verdicts)


# The audit, and marks.


def test_audits_are_counted_by_kind(engine: Engine) -> None:
    enter(engine, *VERDICTS)
    with engine.connect() as connection:
        assert audits(connection, 1) == (Audited("image", 2, 2, 1), Audited("link", 1, 0, 0))
        assert audits(connection, 2) == ()


def say(engine: Engine, number: int, value: str, target: str = "", name: str = "bees") -> Mark:
    """Mark the picture of a verdict."""
    url = f"http://cdn.example/{number}.png"
    said = Mark(PICTURE, name, url, PAGE, value, json.dumps([url, target, PAGE]), said_at=1.0)
    mark(engine, said)
    return said


def marked(engine: Engine, wanted: Wanted, *, mistaken: bool = False, most: int = 9) -> list[int]:
    with engine.connect() as connection:
        marks = Marks(connection, "bees", KEYS)
        found, before = [], NEWEST
        while before:
            part = marks.wall(wanted, mistaken=mistaken, before=before, most=most)
            found += numbers(part)
            before = part.before
        return found


def test_marks_are_of_the_picture_and_of_the_page_behind_it(engine: Engine) -> None:
    target = "http://b.example/"
    enter(engine, KEPT | {"target": target}, noise() | link(target) | {"url": "http://cdn.example/1.png"}, noise())
    said = say(engine, 1, CONTENT, target)
    with engine.connect() as connection:
        seen = walls.read(connection, (1, 2, 3))
        assert marked_of(connection, "bees", seen) == {1: CONTENT, 2: CONTENT}
        assert marked_of(connection, "wasps", seen) == {}
    assert marked(engine, Wanted(False)) == [1]
    assert marked(engine, Wanted(True)) == marked(engine, Wanted(True), mistaken=True) == [2]
    assert marked(engine, Wanted(False), mistaken=True) == marked(engine, Wanted(True, ("image",))) == []
    unmark(engine, said)
    assert marked(engine, Wanted(False)) == []


def test_marked_ones_are_gone_through_from_the_newest_mark(engine: Engine) -> None:
    enter(engine, *VERDICTS)
    for number in (8, 1, 5, 2, 7):
        say(engine, number, NOISE)
    for most in (2, 3, 9):
        assert marked(engine, Wanted(False), most=most) == [5, 1, 8]
        assert marked(engine, Wanted(True), most=most) == [7, 2]
    assert marked(engine, Wanted(False, site_id=2), mistaken=True) == [5]
    assert marked(engine, Wanted(True, by="size")) == [2]


def test_marks_are_counted_beside_verdicts(engine: Engine) -> None:
    enter(engine, *VERDICTS)
    for number, value in ((1, CONTENT), (5, CONTENT), (8, NOISE), (2, CONTENT), (4, NOISE), (77, NOISE)):
        say(engine, number, value)
    say(engine, 9, CONTENT, name="wasps")
    mark(
        engine,
        Mark(PICTURE, "bees", "http://cdn.example/7.png", "http://elsewhere.example/", NOISE, '["", ""]', said_at=1.0),
    )
    with engine.connect() as connection:
        assert Marks(connection, "bees", KEYS).tally() == Tally(7, True, 2, 2, 1, 1, 1)


def test_only_so_many_marks_are_counted(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.state.marked.AT_ONCE", 2)
    monkeypatch.setattr("crawler.state.marked.MOST_COUNTED", 4)
    enter(engine, *VERDICTS)
    for number in range(1, 10):
        say(engine, number, CONTENT)
    with engine.connect() as connection:
        tally = Marks(connection, "bees", KEYS).tally()
        assert (tally.counted, tally.is_all, tally.unknown) == (4, False, 1)
        in_no_time = Marks(connection, "bees", KEYS).tally(0.0)
    assert (in_no_time.counted, in_no_time.is_all) == (2, False)
