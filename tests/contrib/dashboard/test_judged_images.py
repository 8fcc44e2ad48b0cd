"""Lists of verdicts: which are in them, in which order, how one goes on, and what people's labels add."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert

from crawler.contrib.dashboard.views.images import agreement, audits
from crawler.contrib.dashboard.views.judged_images import (
    KINDS,
    ImageList,
    VerdictFilter,
    least_certain,
    list_verdicts,
    read_verdicts,
)
from crawler.noise.image_evidence import Sighting
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.images import label_key, save_verdicts
from crawler.store.crawl_tables import crawl, site
from crawler.store.labels import CONTENT, NOISE, Label, put_label, remove_label
from crawler.store.page_tables import LabelKind, verdict
from crawler.urls.canonical import Canonical

PAGE = "http://a.example/"
KEYS = AddressKeys(1, Canonical(()))


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


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
            values = row(number) | one
            values["label_key"] = label_key("bees", LabelKind.IMAGE, values["url"], values["page"])
            connection.execute(insert(verdict).values(values))


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
        "sight": Sighting(url, "", PAGE).record(),
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


def numbers(found: ImageList) -> list[int]:
    return [one.id for one in found.images]


def through(connection: Connection, wanted: VerdictFilter, most: int = 2) -> list[int]:
    """All of a list, a part at a time."""
    part = list_verdicts(connection, 1, wanted, 0, most)
    found = numbers(part)
    while part.before:
        assert len(part.images) == most
        part = list_verdicts(connection, 1, wanted, part.before, most)
        found += numbers(part)
    return found


def test_a_list_is_gone_through_from_its_newest(engine: Engine) -> None:
    rows = [
        (VerdictFilter(False), [8, 5, 3, 1]),
        (VerdictFilter(True), [10, 9, 7, 6, 4, 2]),
        (VerdictFilter(False, kinds=("image",)), [8, 5, 1]),
        (VerdictFilter(True, kinds=("link",)), [10, 6]),
        (VerdictFilter(False, site_id=2), [5]),
        (VerdictFilter(True, site_id=2), [9, 4]),
        (VerdictFilter(True, by="size"), [10, 9, 2]),
        (VerdictFilter(True, by="keyword"), []),
        (VerdictFilter(True, kinds=("image",), site_id=2, by="size"), [9]),
        (VerdictFilter(True, audited=True), [10, 9, 7]),
        (VerdictFilter(True, kinds=("image",), audited=True), [9, 7]),
        (VerdictFilter(True, site_id=1, audited=True), [10, 7]),
    ]
    enter(engine, *VERDICTS)
    with engine.connect() as connection:
        for wanted, numbers_in_order in rows:
            for most in (1, 2, 3, 24):
                assert (wanted, through(connection, wanted, most)) == (wanted, numbers_in_order)


def test_a_verdict_is_shown_with_its_site(engine: Engine) -> None:
    enter(engine, KEPT | {"site_id": 2, "file": "ab/c.png"}, KEPT | {"site_id": 77})
    with engine.connect() as connection:
        gone, first = list_verdicts(connection, 1, VerdictFilter(False)).images
    assert (first.site, first.is_here, gone.site, gone.is_here) == ("b.example", True, None, False)


def test_lists_are_read_by_indexes(engine: Engine) -> None:
    """Of millions of verdicts, what sorts or reads all of them takes seconds."""
    enter(engine, *VERDICTS)
    for wanted, index in (
        (VerdictFilter(True), "COVERING INDEX verdict_list"),
        (VerdictFilter(True, site_id=1), "COVERING INDEX verdict_list"),
        (VerdictFilter(True, by="size"), "COVERING INDEX verdict_list"),
        (VerdictFilter(True, site_id=1, by="size"), "COVERING INDEX verdict_list"),
        (VerdictFilter(True, audited=True), "COVERING INDEX verdict_audit"),
        (VerdictFilter(True, audited=True, site_id=1, by="size"), "COVERING INDEX verdict_audit"),
    ):
        plan = plan_of(engine, wanted)
        assert index in plan
        assert "B-TREE" not in plan
    assert "INDEX label_crawl" in (plan := plan_of(engine, VerdictFilter(True, labelled=True)))
    assert "COVERING INDEX verdict_label" in plan


def plan_of(engine: Engine, wanted: VerdictFilter) -> str:
    """How the database says that it finds the numbers of a part of a list, of one kind."""
    statements: list[str] = []
    with engine.connect() as connection:
        connection.connection.driver_connection.set_trace_callback(statements.append)  # type: ignore[union-attr]
        list_verdicts(connection, 1, wanted, 9, 2)
        connection.connection.driver_connection.set_trace_callback(None)  # type: ignore[union-attr]
        numbers = [one for one in statements if one.startswith("SELECT") and "JOIN crawl" not in one]
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {one}") for one in numbers]
        return " ".join(row.detail for plan in plans for row in plan)


# Doubt.

DOUBTS = (
    KEPT | {"probability": 0.9},  # 1, the edge of the content
    noise(probability=0.94),  # 2, the edge of the noise
    noise(probability=1.0),  # 3
    KEPT | {"probability": 0.0},  # 4
    noise(probability=0.96) | link("http://c.example/"),  # 5
    link(probability=0.999),  # 6: an image that is noise may lead to a good page
    KEPT | {"probability": 0.5},  # 7
)


def test_the_least_certain_are_nearest_to_the_limit(engine: Engine) -> None:
    rows = [("image", 9, [2, 1, 7, 3, 4]), ("image", 3, [2, 1, 7]), ("link", 9, [5, 6]), ("", 4, [2, 1, 5, 7])]
    enter(engine, *DOUBTS)
    with engine.connect() as connection:
        for kind, most, expected in rows:
            near = [one.id for one in least_certain(connection, 1, (kind,) if kind else KINDS, most)]
            assert near[:2] in (expected[:2], expected[1::-1])
            assert near[2:] == expected[2:]


def test_the_least_certain_are_among_the_newest(engine: Engine) -> None:
    enter(engine, *DOUBTS)
    with engine.connect() as connection:
        assert [one.id for one in least_certain(connection, 1, ("image",), 9, newest=2)] == [7, 2, 3, 4]


def test_what_is_labelled_is_in_no_doubt(engine: Engine) -> None:
    enter(engine, *DOUBTS)
    say(engine, 2, CONTENT)
    say(engine, 1, CONTENT, name="wasps")
    with engine.connect() as connection:
        assert [one.id for one in least_certain(connection, 1, ("image",), 2)] == [1, 7]
        assert least_certain(connection, 3, ("image",), 2) == ()


@pytest.mark.parametrize("verdicts", [(), (KEPT,), (noise(),), (noise(probability=0.0), KEPT | {"probability": 1.0})])
def test_doubt_where_there_is_one_side_or_none(engine: Engine, verdicts: tuple[dict[str, Any], ...]) -> None:
    enter(engine, *verdicts)
    with engine.connect() as connection:
        assert len(least_certain(connection, 1, KINDS, 9)) == len(verdicts)


# The audit, and labels.


def test_audits_are_counted_by_kind(engine: Engine) -> None:
    enter(engine, *VERDICTS)
    with engine.connect() as connection:
        found = [(one.kind, one.chosen, one.mistaken.of, one.mistaken.wrong) for one in audits(connection, 1)]
        assert found == [("image", 2, 2, 1), ("link", 1, 0, 0)]
        assert audits(connection, 2) == ()


def say(engine: Engine, number: int, value: str, name: str = "bees") -> Label:
    """Label the image of a verdict."""
    said = Label(LabelKind.IMAGE, name, f"http://cdn.example/{number}.png", PAGE, value, said_at=1.0)
    put_label(engine, said)
    return said


def labelled(engine: Engine, wanted: VerdictFilter, most: int = 9) -> list[int]:
    with engine.connect() as connection:
        return through(connection, replace(wanted, labelled=True), most)


def test_labels_are_of_the_image_and_of_the_pages_behind_it(engine: Engine) -> None:
    same = {"url": "http://cdn.example/1.png"}
    enter(engine, KEPT, noise() | link("http://b.example/") | same, noise() | link("http://c.example/") | same, noise())
    said = say(engine, 1, CONTENT)
    say(engine, 4, NOISE, name="wasps")
    with engine.connect() as connection:
        seen = read_verdicts(connection, (1, 2, 3, 4))
    assert [one.label for one in seen] == [CONTENT, CONTENT, CONTENT, ""]
    assert labelled(engine, VerdictFilter(False)) == [1]
    for most in (1, 2):
        assert labelled(engine, VerdictFilter(True), most) == [3, 2]
    assert labelled(engine, VerdictFilter(True, disputed=True)) == [3, 2]
    assert (
        labelled(engine, VerdictFilter(False, disputed=True))
        == labelled(engine, VerdictFilter(True, kinds=("image",)))
        == []
    )
    remove_label(engine, said.key)
    assert labelled(engine, VerdictFilter(False)) == []


def test_labelled_ones_are_filtered_like_others(engine: Engine) -> None:
    enter(engine, *VERDICTS)
    for number in (8, 1, 5, 2, 7):
        say(engine, number, NOISE)
    for most in (1, 2, 3, 9):
        assert labelled(engine, VerdictFilter(False), most) == [8, 5, 1]
        assert labelled(engine, VerdictFilter(True), most) == [7, 2]
    assert labelled(engine, VerdictFilter(False, site_id=2, disputed=True)) == [5]
    assert labelled(engine, VerdictFilter(True, by="size")) == [2]


def test_labels_are_counted_beside_verdicts(engine: Engine) -> None:
    enter(engine, *VERDICTS)
    for number, value in ((1, CONTENT), (5, CONTENT), (8, NOISE), (2, CONTENT), (4, NOISE), (77, NOISE)):
        say(engine, number, value)
    say(engine, 9, CONTENT, name="wasps")
    put_label(engine, Label(LabelKind.IMAGE, "bees", "http://cdn.example/7.png", "http://elsewhere.example/", NOISE))
    with engine.connect() as connection:
        found = Counter[str](unknown=2, content_kept=2, content_skipped=1, noise_kept=1, noise_skipped=1)
        assert agreement(connection, 1) == found
        assert agreement(connection, 3) == Counter()


def test_of_an_image_without_a_verdict_the_pages_behind_it_count(engine: Engine) -> None:
    same = {"url": "http://cdn.example/1.png"}
    enter(engine, noise() | link("http://b.example/"), link("http://c.example/") | same, noise() | {"kind": "link"})
    for number in (1, 3):
        say(engine, number, NOISE)
    with engine.connect() as connection:
        assert agreement(connection, 1) == Counter[str](noise_kept=1, noise_skipped=1)


def test_a_verdict_that_is_kept_has_the_key_of_its_label(engine: Engine) -> None:
    enter(engine)
    say(engine, 1, NOISE)
    with engine.begin() as connection:
        save_verdicts(
            connection, 1, [{name: value for name, value in row(1).items() if name not in ("id", "crawl_id")}]
        )
    assert len(labelled(engine, VerdictFilter(False))) == 1
