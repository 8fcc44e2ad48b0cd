"""What people said of images and texts is kept by itself, the newest of each thing."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, select, update
from store_workers import Crew, candidates

from crawler.contrib.lab.views.labels import list_labels
from crawler.errors import StateError
from crawler.store.crawl_tables import crawl
from crawler.store.database import open_database
from crawler.store.deletion import delete_crawl
from crawler.store.labels import LABELS_AT_ONCE, Label, all_labels, count_labels, put_label, remove_label
from crawler.store.page_tables import LabelKind, label, page

BEES = Label(LabelKind.IMAGE, "bees", "http://a.example/1.png", "http://a.example/", "noise", '["x"]', b"", 5.0)
STORY = Label(
    LabelKind.TEXT,
    "bees",
    "http://a.example/",
    "http://a.example/",
    "Bees dance.",
    '{"number": 7}',
    b"<p>Bees dance.",
    6.0,
)


def found(engine: Engine, crawl: str | None = "bees", kind: str = LabelKind.IMAGE) -> list[Label]:
    with engine.connect() as connection:
        return list(all_labels(connection, crawl, kind))


def test_labels_come_back_as_they_were(engine: Engine) -> None:
    for one in (BEES, STORY):
        put_label(engine, one)
    assert found(engine) == [BEES]
    assert found(engine, kind=LabelKind.TEXT) == [STORY]
    assert found(engine, "other") == []
    assert found(engine, None) == [BEES]


def test_the_newest_of_a_thing_replaces_the_older(engine: Engine) -> None:
    put_label(engine, BEES)
    newer = replace(BEES, value="content", detail='["y"]', said_at=9.0)
    put_label(engine, newer)
    assert found(engine) == [newer]


def test_what_is_another_thing(engine: Engine) -> None:
    put_label(engine, BEES)
    others = (
        {"crawl": "wasps"},
        {"url": "http://a.example/2.png"},
        {"page": "http://a.example/2"},
        {"url": "http://a.example/1.png http://a.example/", "page": ""},
        {"kind": LabelKind.TEXT},
    )
    for number, changes in enumerate(others, start=2):
        put_label(engine, replace(BEES, **changes))
        with engine.connect() as connection:
            assert len(connection.execute(select(label.c.id)).all()) == number, changes


def test_what_is_taken_back_is_gone(engine: Engine) -> None:
    put_label(engine, BEES)
    assert remove_label(engine, replace(BEES, value="content").key) is True
    assert found(engine) == []
    assert remove_label(engine, BEES.key) is False


@pytest.mark.parametrize("at_once", [1, 3, 7, 100])
def test_all_are_read_a_few_at_once(engine: Engine, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setitem(LABELS_AT_ONCE, LabelKind.IMAGE, at_once)
    made = [replace(BEES, url=f"http://a.example/{n}.png") for n in range(7)]
    for one in made:
        put_label(engine, one)
    assert found(engine) == found(engine, None) == made


def test_a_list_names_the_page_while_it_is_there(engine: Engine) -> None:
    row = {"key": 7, "crawl_id": 1, "url": STORY.url, "requested_url": STORY.url, "fetched_at": "", "title": ""}
    row |= {"text": "", "status": 200, "depth": 0, "relevance": 1.0, "images": "[]", "extractor": "auto"}
    with engine.begin() as connection:
        connection.execute(insert(crawl).values(id=1, name="bees", seeds="[]", started_at=0.0))
        connection.execute(insert(page), [row | {"id": 7}, row | {"id": 8, "key": 8, "url": "http://b.example/"}])
    for number, url in ((7, STORY.url), (8, "http://a.example/8"), (9, "http://a.example/9")):
        put_label(engine, replace(STORY, url=url, page=url, detail=json.dumps({"number": number})))
    put_label(engine, replace(STORY, url="http://a.example/7", value="x" * 301))
    with engine.connect() as connection:
        listed = list_labels(connection, "bees")
        assert list_labels(connection, "bees", listed[1].id, 1) == listed[2:3]
    assert [one.number for one in listed] == [None, None, None, 7]
    assert listed[0].value == "x" * 300


def test_they_are_counted(engine: Engine) -> None:
    for n in range(5):
        put_label(engine, replace(BEES, url=str(n), value="noise" if n < 3 else "content", crawl="ab"[n % 2]))
    put_label(engine, STORY)
    with engine.connect() as connection:
        assert count_labels(connection, None, LabelKind.IMAGE) == {"noise": 3, "content": 2}
        assert count_labels(connection, "b", LabelKind.IMAGE) == {"noise": 1, "content": 1}
        assert count_labels(connection, None, LabelKind.TEXT) == {"text": 1}


def test_any_text_can_be_kept(engine: Engine) -> None:
    put_label(engine, replace(STORY, value="a\x00b\ud800", url="<script>'\""))
    (one,) = found(engine, kind=LabelKind.TEXT)
    assert (one.value, one.url) == ("ab?", "<script>'\"")


def test_they_outlive_their_crawl(crew: Crew) -> None:
    one = crew.join(*candidates("http://a.example/"), name="bees")
    put_label(crew.engine, BEES)
    one.leave()
    delete_crawl(crew.engine.url, "bees")
    assert found(crew.engine) == [BEES]


def test_who_waits_too_long_says_so(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.store.labels.LOCK_SECONDS", 0.3)
    monkeypatch.setattr("crawler.store.database.LOCK_SECONDS", 0.3)
    put_label(engine, BEES)
    hasty = open_database(engine.url)
    with engine.begin() as connection:
        connection.execute(update(label).values(value="content"))
        began = time.monotonic()
        with pytest.raises(StateError, match=r"^[^\n]+: [^\n]+$"):
            put_label(hasty, BEES)
        assert time.monotonic() - began < 3
    put_label(hasty, BEES)
    hasty.dispose()
