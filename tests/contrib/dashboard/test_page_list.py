"""The list of pages on the dashboard: searched, filtered, gone on with, and whatever pages and visitors send."""

import json
import re
import time
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from attacks import ATTACKS
from dashboard_client import data, get
from sqlalchemy import Engine, delete, insert, update

from crawler.contrib.dashboard.context import Background, DashboardContext
from crawler.contrib.dashboard.rendering import excerpt
from crawler.contrib.dashboard.search_index import SearchIndex
from crawler.contrib.dashboard.views.page_query import find_pages
from crawler.store.crawl_tables import crawl, site
from crawler.store.page_tables import page


@pytest.fixture
def engine(engine: Engine) -> Engine:
    with engine.begin() as connection:
        connection.execute(insert(crawl).values(id=2, name="rails", seeds="[]", started_at=0.0))
        connection.execute(insert(site).values(id=1, crawl_id=1, name="bees.com"))
    return engine


def store(engine: Engine, number: int, **more: Any) -> None:
    values = {"id": number, "key": number, "crawl_id": 1, "url": f"http://www.bees.com/{number}", "requested_url": ""}
    values |= {"fetched_at": f"2026-01-02T03:{number // 60:02}:{number % 60:02}+00:00", "status": 200, "depth": 0}
    values |= {"title": f"Page {number}", "text": "Bees dance in the dark.", "relevance": 0.5, "images": "[]"}
    values |= {"extractor": "auto", "language": "en", "page_type": "article", "site_id": 1}
    with engine.begin() as connection:
        connection.execute(insert(page).values(**(values | more)))


def shown(desk: DashboardContext, **query: str) -> str:
    """The text of the list, its blanks folded."""
    found = get(desk, "/pages", **query)
    assert found.status == 200, found.body[-500:]
    return " ".join(found.body.decode().split())


def numbers(answered: Any) -> list[int]:
    return [one["page"]["id"] for one in answered["pages"]]


def test_a_page_as_it_is_shown(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 7, changed_round=1, gone_round=1, duplicate_of="http://bees.com/first", relevance=0.25)
    text = shown(desk, q="DARK")
    assert '<a href="/pages/7" data-key="o"><bdi>Page 7</bdi></a>' in text
    assert "Bees dance in the <mark>dark</mark>." in text
    assert 'href="http://www.bees.com/7"' in text
    assert 'href="/pages?crawl=bees&amp;q=DARK&amp;site=bees.com"' in text
    for badge in (
        "changed",
        "gone",
        "near-duplicate",
        "article",
        ">en<",
        "25%",
        "1 page found",
    ):
        assert badge in text
    assert 'badge good">new' not in text  # all pages of a first round are


def test_words_are_marked_wherever_they_were_found(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 7, title="All <b>bees</b>")
    text = shown(desk, q="bees 7")
    assert "<bdi>All &lt;b&gt;<mark>bees</mark>&lt;/b&gt;</bdi></a>" in text
    assert "><bdi>http://www.<mark>bees</mark>.com/<mark>7</mark></bdi></a>" in text
    assert 'href="http://www.bees.com/7"' in text


def test_words_are_marked_in_addresses_too(desk: DashboardContext, engine: Engine) -> None:
    url = "http://bees.com/%E8%9C%9C%E8%9C%82/a%2Fb"
    store(engine, 7, url=url, title="")
    text = shown(desk, q="蜜蜂")
    assert f'href="{url}"' in text
    assert text.count("<bdi>http://bees.com/<mark>蜜蜂</mark>/a%2Fb</bdi>") == 2  # as its title, as it has none


def test_a_new_page_of_a_later_round(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1)
    store(engine, 2, first_round=2)
    with engine.begin() as connection:
        connection.execute(update(crawl).where(crawl.c.id == 1).values(round=2))
    assert shown(desk).count('badge good">new') == 1
    assert numbers(data(desk, "/api/pages", state="new")) == [2]
    assert numbers(data(desk, "/api/pages", state="new", round="1")) == [1]


@pytest.mark.parametrize("count", [49, 50, 51, 130])
def test_more_of_them(desk: DashboardContext, engine: Engine, count: int) -> None:
    for number in range(1, count + 1):
        store(engine, number)
    every, given, said = [], {}, []
    while True:
        text = shown(desk, **given)
        every += [int(one) for one in re.findall(r'href="/pages/(\d+)"', text)]
        said += re.findall(r"(\d+) of (?:\d+) pages searched so far, (\d+) found", text)
        going = re.search(r'<form action="/pages" data-part="progress".*?</form>', text)
        if going is None:
            break
        assert "data-goes-on" not in going[0]  # so many were found as are shown at once
        given = dict(re.findall(r'name="(\w+)" value="([^"]*)"', going[0]))
    assert every == list(range(count, 0, -1))
    assert all(looked == found for looked, found in said)
    assert f"{count} pages found" in text


def test_a_search_that_is_not_through_goes_on_by_itself(
    desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 61):
        store(engine, number, title="Honey" if number == 3 else "Else")
    monkeypatch.setattr("crawler.contrib.dashboard.views.page_list.find_pages", lambda *given: find_pages(*given, 0.0))
    monkeypatch.setattr("crawler.contrib.dashboard.views.page_query.SMALL_PART", 25)
    monkeypatch.setattr(SearchIndex, "update", lambda *_: False)
    first = shown(desk, q="honey")
    assert re.search(r"\b25 of 60 pages\b.*\b0 found", first)
    assert re.search(r"index.*\b0 pages\b", first)
    assert "data-goes-on" in first
    assert "Search further" in first
    answers = [data(desk, "/api/pages", q="honey")]
    while after := answers[-1]["after"]:
        answers.append(data(desk, "/api/pages", q="honey", after=after))
    assert [numbers(one) for one in answers] == [[], [], [3]]
    assert [(one["looked"], one["found"]) for one in answers] == [(25, 0), (50, 0), (60, 1)]


def test_a_search_by_the_index(desk: DashboardContext, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.contrib.dashboard.search_index.AGE", 0.0)
    for number in range(1, 61):
        store(engine, number, text="蜜蜂在花丛中飞舞" if number != 7 else "关于冬天")
    while not data(desk, "/api/pages", q="蜜蜂")["is_indexed"]:
        time.sleep(0.01)
    assert "50 pages found" in shown(desk, q="蜜蜂")
    assert [numbers(data(desk, "/api/pages", q="冬天")), numbers(data(desk, "/api/pages", q="蜂蜜"))] == [[7], []]
    with engine.begin() as connection:
        connection.execute(delete(page).where(page.c.id > 50))
        connection.execute(update(page).where(page.c.id == 50).values(text="别的"))
    text = shown(desk, q="蜜蜂")
    assert "48 pages found" in text
    assert '"/pages/50"' not in text


def test_filters_stay_in_the_address(desk: DashboardContext, engine: Engine) -> None:
    for number in range(1, 61):
        store(engine, number, language="zh")
    query = {"q": "bees dance", "language": "zh", "type": "article", "from": "0.1", "to": "0.9", "sort": "best"}
    text = shown(desk, **query, site="WWW.bees.com")
    for name, value in query.items():
        assert f'name="{name}" value="{value}"' in text or f'<option value="{value}" selected>' in text
    going = re.search(r'<form action="/pages" data-part="progress".*?</form>', text)
    assert going is not None
    assert dict(re.findall(r'name="(\w+)" value="([^"]*)"', going[0])).items() >= query.items()
    assert '<option value="zh" selected>zh (60)</option>' in text


def test_a_site_is_known_by_its_name_and_by_an_address_of_it(desk: DashboardContext, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(insert(site).values(id=2, crawl_id=1, name="xn--3d2a0b.example"))
    store(engine, 1)
    store(engine, 2, site_id=2)
    rows = [
        ("bees.com", [1]),
        (" BEES.COM ", [1]),
        ("www.bees.com", [1]),
        ("http://www.bees.com/there?x", [1]),
        ("wasps.com", []),
        ("bees", [1]),
        ("es.c", [1]),
        ("es_c", []),
        ("http://[", []),
        ("%", []),
        ("http://bees.com:99999999/", [1]),
        ("蜜蜂.example", [2]),
        ("http://蜜蜂.example/花?x", [2]),
        (" ", [2, 1]),
    ]
    for name, expected in rows:
        assert (name, numbers(data(desk, "/api/pages", site=name))) == (name, expected)


def test_a_part_of_several_names_is_asked_about(desk: DashboardContext, engine: Engine) -> None:
    with engine.begin() as connection:
        for number in range(2, 25):
            connection.execute(insert(site).values(id=number, crawl_id=1, name=f"<b>{number}.bees.org", pages=number))
        connection.execute(insert(site).values(id=99, crawl_id=2, name="other.bees.org"))
    store(engine, 1)
    store(engine, 2, site_id=24)
    assert numbers(data(desk, "/api/pages", site="bees.com")) == [1]  # that name itself
    assert numbers(data(desk, "/api/pages", site="24.bees")) == [2]
    found = data(desk, "/api/pages", site="bees", q="dance")
    assert (found["pages"], found["site"]["id"], len(found["site"]["names"]), found["site"]["is_cut"]) == (
        [],
        None,
        20,
        True,
    )
    assert found["site"]["names"][0] == "<b>24.bees.org"
    text = shown(desk, site="bees", q="dance")
    assert 'href="/pages?crawl=bees&amp;q=dance&amp;site=%3Cb%3E24.bees.org"' in text
    assert "<bdi>&lt;b&gt;24.bees.org</bdi>" in text
    assert "There are more: type" in text
    assert "<b>" not in text
    assert "other.bees.org" not in text


def test_the_largest_sites_are_offered(desk: DashboardContext, engine: Engine) -> None:
    with engine.begin() as connection:
        for number in range(2, 60):
            connection.execute(insert(site).values(id=number, crawl_id=1, name=f"s{number}.org", pages=number))
    offered = re.findall(r'<option value="(s\d+.org)">', shown(desk))
    assert offered == [f"s{number}.org" for number in range(59, 9, -1)]


def test_relevance_is_a_share_everywhere(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1, relevance=0.625)
    for least, share in {"0.3": "30%", "0.25": "25%", "0.001": "&lt;1%"}.items():
        text = shown(desk, **{"from": least})
        assert f'<option value="{least}" selected>{share}</option>' in text
        assert "</meter> 62%</span>" in text
        assert "Filters (1)" in text


def test_the_crawl_with_the_newest_page_is_shown(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1)
    store(engine, 2, crawl_id=2, site_id=None, fetched_at="2026-02-01T00:00:00+00:00")
    assert (data(desk, "/api/pages")["crawl"], data(desk, "/api/pages", crawl="bees")["crawl"]) == ("rails", "bees")
    assert get(desk, "/pages", crawl="none").status == 404


def test_nothing_yet(desk: DashboardContext, engine: Engine) -> None:
    assert [data(desk, "/api/pages")["pages"], data(desk, "/api/pages", q="bees")["pages"]] == [[], []]
    assert ['href="/pages/' in shown(desk, q=words) for words in ("", "bees")] == [False, False]
    store(engine, 1)
    desk = replace(desk, background=Background())  # which has not counted the pages yet
    assert "No page matches" in shown(desk, q="wasps")
    assert "没有符合条件的页面" in shown(desk, q="wasps", lang="zh")


def test_no_crawl_yet(desk: DashboardContext, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(delete(site))
        connection.execute(delete(crawl))
    assert get(desk, "/pages").status == 404
    assert b"No crawl was ever run here" in get(desk, "/pages").body


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_pages_say_is_text(desk: DashboardContext, engine: Engine, attack: str) -> None:
    store(engine, 1, title=attack, url=attack, text=attack, language=attack, page_type=attack, duplicate_of=attack)
    with engine.begin() as connection:
        connection.execute(update(site).values(name=attack))
    for text in (shown(desk), shown(desk, lang="zh", q=attack[:20])):
        outside = re.sub(r'="[^"]*"', "", text)
        assert "<script>alert" not in text
        assert '"onmouseover' not in text
        assert 'href="javascript' not in text
        assert "49 " not in text
        assert "\x1b" not in outside
        assert "\x01" not in outside
        assert outside.count("\u202e") <= outside.count("<bdi>")
        assert len(text) < 60_000
        assert text.count('href="/pages/1"') == 1


def test_what_visitors_send(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1)
    names = ("crawl", "q", "site", "language", "type", "state", "round", "from", "to", "sort", "after")
    values = (*ATTACKS, "\x00", "-1", str(2**62), "9" * 400, "1e-300", "nan", "𝟙", "0.5_1_1_1")
    for name, value in product(names, values):
        shown = get(desk, "/pages", **{name: value})
        assert shown.status in (200, 400, 404), (name, value)
        assert b"<script>alert" not in shown.body
        assert b'"onmouseover' not in shown.body
        assert get(desk, "/api/pages", **{name: value}).status == shown.status, (name, value)


def test_a_place_that_no_answer_gave(desk: DashboardContext, engine: Engine) -> None:
    places = "x 0.5 0.5_1_1 0.5_1_1_1_1 nan_1_1_1 inf_1_1_1 -0.1_1_1_1 0.5_-1_1_1".split()
    for place in (*places, "1_1_1_" + "9" * 19):
        refused = get(desk, "/pages", after=place)
        assert (place, refused.status, b"after is wrong" in refused.body) == (place, 400, True)


def test_too_many_words(desk: DashboardContext, engine: Engine) -> None:
    assert get(desk, "/pages", q=" ".join(map(str, range(10)))).status == 200
    assert get(desk, "/pages", q=" ".join(map(str, range(11)))).status == 400


def test_how_many_there_are(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1)
    store(engine, 2, language=None, page_type="forum")
    found = json.loads(get(desk, "/api/pages/counts").body)
    assert found == {"pages": 2, "languages": {"en": 1, "": 1}, "page_types": {"article": 1, "forum": 1}}


def test_where_words_stand() -> None:
    rows = [
        ("All bees like Honey.", ["honey"], "All bees like [Honey]."),
        ("All bees.", [], "All bees."),
        ("All bees.", ["wasp"], "All bees."),
        ("", ["bees"], ""),
        ("关于蜜蜂的书", ["蜜蜂"], "关于[蜜蜂]的书"),
        ("ΜΈΛΙ και μέλι", ["μέλι"], "[ΜΈΛΙ] και [μέλι]"),
        ("a.b a+b", ["a+b"], "a.b [a+b]"),
        ("beehive bee", ["bee", "beehive"], "[beehive] [bee]"),
        ("x" * 500, [], "x" * 240 + "…"),
        ("beehive " * 50, [], "beehive " * 29 + "beehive…"),
        ("蜜蜂，" * 100, [], "蜜蜂，" * 80 + "…"),
        (
            "before " * 20 + "honey " + "behind " * 20,
            ["honey"],
            "… " + "before " * 8 + "[honey] " + ("behind " * 12).strip() + "…",
        ),
        ("蜜蜂 " * 50 + "honey", ["honey"], "… " + "蜜蜂 " * 20 + "[honey]"),
        ("x" * 100 + "bee" + "y" * 100, ["bee"], "… " + "x" * 60 + "[bee]" + "y" * 90 + "…"),
        ("ß " * 200_000 + "Bee", ["bee"], "… " + "ß " * 30 + "[Bee]"),
        ("İ" + "x" * 100 + "bee", ["bee"], "… " + "x" * 60 + "[bee]"),
        ("a\x00\x1bbee", ["bee"], "a\ufffd\ufffd[bee]"),
    ]
    for text, words, said in rows:
        assert "".join(f"[{one.text}]" if one.is_word else one.text for one in excerpt(text, words)) == said


def test_many_words_in_long_texts_take_no_longer() -> None:
    words = [f"{letter}xyz" for letter in "abcdefghij"]
    text = " ".join(words) + " bead cage hide fig jag" * 9_000
    begun = time.process_time()
    for _ in range(50):
        excerpt(text, words)
    assert time.process_time() - begun < 1


def test_an_excerpt_is_short(desk: DashboardContext) -> None:
    pieces = excerpt("bee " * 100_000 + "honey " * 100_000, ["bee", "honey"])
    assert len(pieces) < 200
    assert sum(len(one.text) for one in pieces) < 2_000
