"""What people said of pictures and texts is kept by itself, the newest of each thing."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update
from workers import Crew, candidates

from crawler.state.clearing import reset
from crawler.state.dashboard_tables import label
from crawler.state.database import StateError, open_database
from crawler.state.marks import MOST_LETTERS, MOST_SOURCE, PICTURE, TEXT, Mark, all_marks, count, mark, marks, unmark

BEES = Mark(PICTURE, "bees", "http://a.example/1.png", "http://a.example/", "noise", '["x"]', None, 5.0)
STORY = Mark(TEXT, "bees", "http://a.example/", "http://a.example/", "Bees dance.", "[0]", b"<p>Bees dance.", 6.0)


def found(engine: Engine, crawl: str | None = "bees", kind: str = PICTURE) -> list[Mark]:
    with engine.connect() as connection:
        return [one.mark for one in marks(connection, crawl, kind)]


def test_marks_come_back_as_they_were(engine: Engine) -> None:
    for one in (BEES, STORY):
        mark(engine, one)
    assert found(engine) == [BEES]
    assert found(engine, kind=TEXT) == [STORY]
    assert found(engine, "other") == []
    assert found(engine, None) == [BEES]


def test_the_newest_of_a_thing_replaces_the_older(engine: Engine) -> None:
    mark(engine, BEES)
    newer = replace(BEES, value="content", detail='["y"]', said_at=9.0)
    mark(engine, newer)
    assert found(engine) == [newer]


@pytest.mark.parametrize(
    "changes",
    [
        {"crawl": "wasps"},
        {"url": "http://a.example/2.png"},
        {"page": "http://a.example/2"},
        {"url": "http://a.example/1.png http://a.example/", "page": ""},
        {"kind": TEXT},
    ],
)
def test_what_is_another_thing(engine: Engine, changes: dict[str, str]) -> None:
    mark(engine, BEES)
    mark(engine, replace(BEES, **changes))
    with engine.connect() as connection:
        assert len(connection.execute(select(label.c.id)).all()) == 2


def test_what_is_taken_back_is_gone(engine: Engine) -> None:
    mark(engine, BEES)
    assert unmark(engine, replace(BEES, value="content")) is True
    assert found(engine) == []
    assert unmark(engine, BEES) is False


@pytest.mark.parametrize(("most", "sizes"), [(1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (100, [7])])
def test_one_reads_on_behind_the_last(engine: Engine, most: int, sizes: list[int]) -> None:
    made = [replace(BEES, url=f"http://a.example/{n}.png") for n in range(7)]
    for one in made:
        mark(engine, one)
    parts, after = [], 0
    with engine.connect() as connection:
        while part := marks(connection, "bees", PICTURE, after, most):
            parts.append(part)
            after = part[-1].number
        assert [one.mark for part in parts for one in part] == made == list(all_marks(connection, None, PICTURE))
    assert [len(part) for part in parts] == sizes


def test_they_are_counted(engine: Engine) -> None:
    for n in range(5):
        mark(engine, replace(BEES, url=str(n), value="noise" if n < 3 else "content", crawl="ab"[n % 2]))
    mark(engine, STORY)
    with engine.connect() as connection:
        assert count(connection, None, PICTURE) == {"noise": 3, "content": 2}
        assert count(connection, "b", PICTURE) == {"noise": 1, "content": 1}
        assert count(connection, None, TEXT) == {"text": 1}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "song"}, "a mark is of a picture or a text, not of 'song'"),
        ({"value": "<b>"}, "a picture is content or noise, not '<b>'"),
        *(
            ({name: "x" * (most + 1)}, f"the {name} of a mark")
            for name, most in MOST_LETTERS.items()
            if name != "value"
        ),
        ({"source": b"x" * (MOST_SOURCE + 1)}, "what a page is made of has more than"),
    ],
)
def test_what_is_no_mark(engine: Engine, changes: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        mark(engine, replace(BEES, **changes))
    assert found(engine) == []


def test_any_text_can_be_kept(engine: Engine) -> None:
    mark(engine, replace(STORY, value="a\x00b\ud800", url="<script>'\""))
    (one,) = found(engine, kind=TEXT)
    assert (one.value, one.url) == ("ab?", "<script>'\"")


def test_they_outlive_their_crawl(crew: Crew) -> None:
    one = crew.join(*candidates("http://a.example/"), name="bees")
    mark(crew.engine, BEES)
    one.leave()
    reset(crew.engine.url, "bees")
    assert found(crew.engine) == [BEES]


def test_who_waits_too_long_says_so(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.state.marks.LOCK_SECONDS", 0.3)
    monkeypatch.setattr("crawler.state.database.LOCK_SECONDS", 0.3)
    mark(engine, BEES)
    hasty = open_database(engine.url)
    with engine.begin() as connection:
        connection.execute(update(label).values(value="content"))
        began = time.monotonic()
        with pytest.raises(StateError, match=r"^the label cannot be kept: [^\n]+$"):
            mark(hasty, BEES)
        assert time.monotonic() - began < 3
    mark(hasty, BEES)
    hasty.dispose()
