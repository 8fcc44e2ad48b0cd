"""The corpus of a crawl on the dashboard: rights, quality and copies, on both databases."""

import json
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from attacks import ATTACKS, acting
from dashboard_client import Answer, Request, answer
from sqlalchemy import Engine, delete, insert, update

from crawler.contrib.corpus.quality import PUBLISHED, broken_limit, measured
from crawler.contrib.corpus.views import quality_sample, rights_shares
from crawler.contrib.dashboard.context import Background, DashboardContext
from crawler.store.batch.addresses import AddressKeys
from crawler.store.crawl_tables import crawl, site
from crawler.store.page_tables import page

ALLOWED = {"search": "allowed", "ai-input": "allowed", "ai-train": "disallowed"}
SILENT = dict.fromkeys(ALLOWED, "unknown")
LOOKS = 300
"""Each of them waits for the background for a tenth of a second."""
TEXT = "The bees dance in the dark, and they tell of the flowers that they have found.\n" * 2


BOTH = pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    """A database with two crawls and three sites, of SQLite where a test does not name its kind."""
    engine: Engine = request.getfixturevalue(f"{getattr(request, 'param', 'sqlite')}_engine")
    with engine.begin() as connection:
        connection.execute(insert(crawl), [{"id": 1, "name": "bees", "seeds": "[]", "started_at": 0.0}])
        connection.execute(insert(crawl), [{"id": 2, "name": "wasps", "seeds": "[]", "started_at": 0.0}])
        connection.execute(insert(site), [{"id": n, "crawl_id": 1, "name": f"{n}.example"} for n in (1, 2, 3)])
    return engine


def store(engine: Engine, number: int, size: int = 0, uses: Any = None, licence: Any = None, **more: Any) -> None:
    """Store a page, whose text has so many bytes if a size is given."""
    url = more.get("url", f"http://1.example/{number}")
    rights = None if uses is None else json.dumps({"licence": licence, "uses": uses, "evidence": []})
    values = {"id": number, "key": AddressKeys(1, str)(url), "crawl_id": 1, "url": url, "requested_url": ""}
    values |= {"fetched_at": "2026-01-02T03:04:05+00:00", "status": 200, "depth": 0, "text": TEXT, "site_id": 1}
    values |= {"title": f"Page {number}", "extractor": "auto", "language": "en", "images": "[]", "rights": rights}
    values |= {"quality": json.dumps({"certainty": 0.9, "kept_frac": 0.5})}
    if size:
        values["text"] = "é" * (size // 2)
    with engine.begin() as connection:
        connection.execute(insert(page).values(**(values | more)))


def ask(desk: DashboardContext, path: str, **query: str) -> Answer:
    found = answer(desk, Request("GET", path, query, headers={"host": "localhost"}))
    assert found.status == 200, found.body[-500:]
    return found


def told(desk: DashboardContext, what: str, looks: int = LOOKS, **query: str) -> Any:
    """What the background came to; None if it is not there after so many looks."""
    for _ in range(looks):
        found = json.loads(ask(desk, f"/api/crawls/1/{what}", **query).body)[what]
        if found is not None:
            return found
    return None


def shown(desk: DashboardContext, what: str = "", looks: int = LOOKS, **query: str) -> str:
    """The page, once its numbers are there or after so many looks."""
    for _ in range(looks):
        text = " ".join(ask(desk, f"/crawls/1/corpus{what}", **query).body.decode().split())
        if 'data-live="2"' not in text:
            break
    return text


@BOTH
def test_what_pages_may_be_used_for(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1, 10, ALLOWED, "CC-BY-4.0")
    store(engine, 2, 30, SILENT)
    store(engine, 3, 60, None, site_id=2)
    store(engine, 4, 99, ALLOWED, gone_at="2026-01-03T00:00:00+00:00", gone_round=1)
    store(engine, 5, 99, ALLOWED, crawl_id=2)
    found = told(desk, "rights")
    assert found["whole"]["all"] == {"pages": 3, "bytes": 100}
    assert found["whole"]["uses"]["ai-train"] == {
        "disallowed": {"pages": 1, "bytes": 10},
        "unknown": {"pages": 2, "bytes": 90},
    }
    assert found["whole"]["licences"] == {"CC-BY-4.0": {"pages": 1, "bytes": 10}}
    assert [(one["site"], one["all"]["pages"]) for one in found["sites"]] == [("1.example", 2), ("2.example", 1)]
    assert (found["others"], found["other_sites"]) == (None, 0)


@BOTH
def test_each_cell_leads_to_its_pages(desk: DashboardContext, engine: Engine) -> None:
    for number in range(1, 25):
        uses = (ALLOWED, SILENT, ALLOWED | {"search": "malformed"})[number % 3]
        gone = {"gone_at": "2026-01-03T00:00:00+00:00", "gone_round": 1} if number % 5 == 0 else {}
        store(engine, number, 10, uses, "MIT" if number % 4 == 0 else None, site_id=1 + number % 2, **gone)
    found = re.findall(r'<a class="badge [^"]*" href="(/pages\?[^"]+)">([^<]+)', shown(desk))
    assert len(found) > 20
    for link, said in found:
        query = dict(parse_qsl(urlsplit(unescape(link)).query))
        pages = json.loads(ask(desk, "/api/pages", **query).body)["pages"]
        every = len(json.loads(ask(desk, "/api/pages", **{"state": "present"} | _site(query)).body)["pages"])
        share = re.search(r"(\d+)%", said)
        assert len(pages) > 0
        assert share is None or int(share[1]) == round(100 * len(pages) / every), (link, said)


def _site(query: dict[str, str]) -> dict[str, str]:
    return {name: query[name] for name in ("crawl", "site") if name in query}


@BOTH
def test_small_sites_are_counted_together(desk: DashboardContext, engine: Engine) -> None:
    large = range(10, 10 + rights_shares.MOST_SITES)
    with engine.begin() as connection:
        connection.execute(insert(site), [{"id": n, "crawl_id": 1, "name": f"{n}.example"} for n in large])
    for number, of in enumerate((2, 3, None, *large, *large), 1):
        store(engine, number, 10, ALLOWED if of == 3 else SILENT, site_id=of)
    found = told(desk, "rights")
    assert {one["site"] for one in found["sites"]} == {f"{n}.example" for n in large}
    assert (found["others"]["all"]["pages"], found["other_sites"]) == (3, 2)
    assert found["others"]["uses"]["search"] == {
        "allowed": {"pages": 1, "bytes": 10},
        "unknown": {"pages": 2, "bytes": 20},
    }
    assert "2 other sites" in shown(desk)


@BOTH
def test_statements_are_whatever_sites_say(desk: DashboardContext, engine: Engine) -> None:
    says = '\0 \\u0000 "uses": {"search": "allowed"}'
    rights = {"licence": None, "uses": SILENT, "evidence": [{"says": says, "where": "robots.txt"}]}
    store(engine, 1, 10, rights=json.dumps(rights, ensure_ascii=False))
    for number in range(2, 12):
        store(engine, number, 2, ALLOWED, f"<b>{number}</b>{'x' * 200}")
    found = told(desk, "rights")["whole"]
    assert found["uses"]["search"] == {"allowed": {"pages": 10, "bytes": 20}, "unknown": {"pages": 1, "bytes": 10}}
    assert (len(found["licences"]), found["other_licences"]["pages"]) == (rights_shares.MOST_LICENCES, 5)
    assert "<b>" not in shown(desk)
    tally = rights_shares.RightsTally()
    for number in range(rights_shares.MOST_COUNTED + 3):
        tally.add(["unknown"] * 3, str(number), rights_shares.Amount(1, 1))
    assert (len(tally.licences), tally.other_licences.pages) == (rights_shares.MOST_COUNTED, 3)
    assert len(json.loads(ask(desk, "/api/pages", rights="search:unknown").body)["pages"]) == 1


def test_numbers_are_computed_in_the_background(
    desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(engine, 1)
    monkeypatch.setattr(Background, "_work", lambda self: None)
    for what, name in (("", "rights"), ("/quality", "quality"), ("/copies", "copies")):
        assert f'id="{name}" data-live="2"' in shown(desk, what, looks=1)
        assert told(desk, name, looks=1) is None


def test_another_crawl_of_the_same_number_has_numbers_of_its_own(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1, url="http://1.example/first")
    store(engine, 2, duplicate_of="http://1.example/first")
    counts = (
        told(desk, "rights")["whole"]["all"]["pages"],
        told(desk, "quality")["sampled"],
        told(desk, "copies")["pages"],
    )
    assert counts == (2, 2, 2)
    with engine.begin() as connection:
        connection.execute(delete(page))
        connection.execute(update(crawl).values(started_at=1.0))
    counts = (
        told(desk, "rights")["whole"]["all"]["pages"],
        told(desk, "quality")["sampled"],
        told(desk, "copies")["pages"],
    )
    assert counts == (0, 0, 0)


def test_a_crawl_without_pages(desk: DashboardContext, engine: Engine) -> None:
    for what in ("", "/quality", "/copies", "/export"):
        assert "Corpus" in shown(desk, what)


def test_what_published_rules_keep(desk: DashboardContext, engine: Engine) -> None:
    texts = {number: TEXT * number + "一只蜜蜂在花丛中飞舞。\n" * (number % 3) for number in range(1, 13)}
    languages = {number: ("en", "zh", "fr")[number % 3] for number in texts}
    for number, text in texts.items():
        stored = {"certainty": 0.9, "kept_frac": 0.5}
        if number % 2:  # as a crawl with quality=yes stores them
            stored |= measured(text, languages[number])
        store(engine, number, text=text, language=languages[number], quality=json.dumps(stored))
    store(engine, 20, quality=None)
    found = told(desk, "quality")
    assert (found["sampled"], found["is_sample"]) == (12, False)
    whole = found["kept"][0]
    for rules in PUBLISHED:
        kept = [broken_limit(measured(text, languages[n]), rules, languages[n]) is None for n, text in texts.items()]
        assert whole["kept"][rules] == pytest.approx(sum(kept) / 12)
    assert {one["language"]: one["pages"] for one in found["kept"]} == {"": 12, "en": 4, "zh": 4, "fr": 4}
    assert all(sum(bar["pages"] for bar in one["bars"]) == one["pages"] for one in found["numbers"])
    only = told(desk, "quality", language="zh")
    assert (only["language"], only["sampled"]) == ("zh", 4)
    assert told(desk, "quality", language="<b>")["language"] == ""


@pytest.mark.parametrize(
    ("name", "values", "bar", "best"),
    [
        ("words", (0, 1, 49, 50, 63, 64, 200_000), {0: 1, 1: 1, 6: 3, 7: 1, 17: 1}, 200_000),
        ("dup_line_frac", (0, 0.049, 0.05, 0.3, 1), {0: 2, 1: 1, 6: 1, 19: 1}, 0),
    ],
)
def test_how_a_number_is_spread(
    desk: DashboardContext, engine: Engine, name: str, values: tuple[float, ...], bar: dict[int, int], best: float
) -> None:
    for number, value in enumerate(values, 1):
        store(engine, number, quality=json.dumps(measured(TEXT, "en") | {name: value}))
    (found,) = (one for one in told(desk, "quality")["numbers"] if one["name"] == name)
    assert {at: one["pages"] for at, one in enumerate(found["bars"]) if one["pages"]} == bar
    assert (found["best"][0]["value"], len(found["best"]), len(found["worst"])) == (best, 3, 3)
    limit = next(one for one in found["thresholds"] if one["rules"] == "gopher")
    admitted = [value >= limit["bound"] if limit["sign"] == ">=" else value <= limit["bound"] for value in values]
    assert limit["kept"] == pytest.approx(sum(admitted) / len(values))


def test_a_large_corpus_is_sampled(desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality_sample, "SAMPLED", 5)
    for number in range(1, 9):
        store(engine, number)
    found = told(desk, "quality")
    assert (found["sampled"], found["is_sample"]) == (5, True)
    assert re.search(r"\b5 pages\b", shown(desk, "/quality"))


def test_the_sample_ends_where_many_numbers_are_computed(
    desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality_sample, "MOST_MEASURED", 3)
    for number in range(1, 9):
        store(engine, number)
    found = told(desk, "quality")
    assert (found["sampled"], found["is_sample"]) == (3, True)
    with engine.begin() as connection:
        connection.execute(update(page).values(quality=json.dumps(measured(TEXT, "en"))))
        connection.execute(update(crawl).values(started_at=1.0))
    found = told(desk, "quality")
    assert (found["sampled"], found["is_sample"]) == (8, False)


@BOTH
def test_copies_are_clusters(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1, url="http://1.example/first", title="First")
    for number in range(2, 10):
        store(engine, number, duplicate_of="http://1.example/first", site_id=1 + number % 2)
    store(engine, 10, duplicate_of="http://1.example/unknown")
    store(engine, 11, duplicate_of="http://1.example/first", gone_at="2026-01-03T00:00:00+00:00", gone_round=1)
    store(engine, 12, duplicate_of="http://1.example/first", crawl_id=2)
    found = told(desk, "copies")
    assert (found["pages"], found["copies"], found["cluster_count"]) == (10, 9, 2)
    first, second = found["clusters"]
    assert (first["original"]["id"], first["copies"], first["sites"], len(first["members"])) == (1, 8, 2, 5)
    assert (second["original"]["id"], second["original"]["url"]) == (None, "http://1.example/unknown")
    text = shown(desk, "/copies")
    assert "8 copies on 2 sites" in text
    assert "3 more" in text


@pytest.mark.parametrize("attack", ATTACKS)
def test_whatever_pages_say_is_text(desk: DashboardContext, engine: Engine, attack: str) -> None:
    url = f"http://1.example/{attack}"
    store(engine, 1, uses=ALLOWED, licence=attack, title=attack, text=attack, language=attack[:20], url=url)
    store(engine, 2, duplicate_of=url, title=attack)
    with engine.begin() as connection:
        connection.execute(update(site).values(name=site.c.name + attack))
    for what in ("", "/quality", "/copies", "/export"):
        text = shown(desk, what, where=attack[:400], language=attack[:400], by=attack[:400])
        assert acting(text.replace("\x1b", "")) == []
