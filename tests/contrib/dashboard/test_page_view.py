"""One page on the dashboard: what is known of it, its original, its blocks, its versions and its links."""

import json
import re
import time
from typing import Any

import pytest
from attacks import ATTACKS, BEYOND_TEXT
from dashboard_client import Answer, Request, answer
from sqlalchemy import Engine, insert, update

from crawler.checked_settings import canonical_of
from crawler.contrib.dashboard.app import app
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.views.page import MOST_READ
from crawler.contrib.dashboard.views.page_versions import MOST_VERSIONS
from crawler.extraction import extract
from crawler.outcomes import Code, Outcome
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.responses import zstd
from crawler.store.crawl_tables import address
from crawler.store.page_tables import page, page_version, stored_response, verdict

HOME = "http://a.example/"
PROSE = "Bees dance in the dark of the hive, and others follow them out to the flowers. They come back with nectar."
SOURCE = (
    "<head><title>How bees dance</title></head><body><nav><a href=/>Home</a> <a href=/new>New &lt;b&gt;</a>"
    "<a href=/high>High</a></nav><main><h1>How bees dance</h1>"
    f"{f'<p>{PROSE}</p>' * 4}<img src=/bee.png alt='A bee'><img src=/ad.png></main><script>alert(1)</script>"
)
IN_SCRIPT = (
    f'<head><title>T</title><script type="application/ld+json">{{"@type": "Article", "articleBody": "{PROSE * 5}", '
    '"headline": "T"}</script></head><body><p>Hi'
)
TEXT = "\n".join([PROSE] * 4)
VIEWS = ("", "/original", "/blocks", "/versions", "/links", "/links?of=all", "/links?of=images")


def key_of(desk: DashboardContext, url: str, kind: str = "link") -> int:
    return AddressKeys(1, canonical_of(desk.settings))(url, kind)


def stored(desk: DashboardContext, engine: Engine, source: str | None = SOURCE, **more: Any) -> int:
    """The number of a page that is stored now."""
    key = key_of(desk, more.get("url", HOME))
    values = {"key": key, "crawl_id": 1, "url": HOME, "requested_url": HOME, "fetched_at": "2026-01-02T03:04:05+00:00"}
    values |= {
        "crawl": "bees",
        "status": 200,
        "depth": 0,
        "title": "How bees dance",
        "text": TEXT,
        "relevance": 0.5,
        "images": "[]",
    }
    with engine.begin() as connection:
        number = connection.execute(insert(page).values(**(values | {"extractor": "auto"} | more))).inserted_primary_key
        if source is not None:
            kept = {"key": key, "crawl_id": 1, "fetched_at": values["fetched_at"], "status_line": "HTTP/1.1 200 OK"}
            body = zstd.compress(source.encode("utf-8", "replace"))
            headers = json.dumps([["Content-Type", "text/html; charset=utf-8"]])
            connection.execute(insert(stored_response).values(headers=headers, body=body, **kept))
    assert number is not None
    return int(number[0])


def ask(desk: DashboardContext, path: str, language: str = "en") -> Answer:
    where, _, query = path.partition("?")
    given = dict(part.split("=", 1) for part in query.split("&") if part)
    return answer(desk, Request("GET", where, given, headers={"host": "localhost", "accept-language": language}))


def shown(desk: DashboardContext, path: str, language: str = "en") -> str:
    """The text of a view, its blanks folded."""
    found = ask(desk, path, language)
    assert found.status == 200, found.body[-500:]
    return " ".join(found.body.decode().split())


def told(desk: DashboardContext, path: str) -> dict[str, Any]:
    found = ask(desk, "/api" + path)
    assert found.status == 200, found.body
    return dict(json.loads(found.body))


@pytest.mark.parametrize("view", ["", "/original", "/blocks", "/versions", "/links"])
def test_a_page_that_is_not_there(desk: DashboardContext, engine: Engine, view: str) -> None:
    assert ask(desk, f"/pages/7{view}").status == 404
    assert ask(desk, f"/pages/{10**18 - 1}{view}").status == 404


def test_a_document_is_not_shown_as_if_it_were_a_web_page(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine, "%PDF-1.7 nothing", extractor="document", content_type="application/pdf")
    for view in VIEWS:
        shown = ask(desk, f"/pages/{number}{view}")
        assert shown.status == (404 if view == "/original" else 200)
        assert "%PDF" not in shown.body.decode()


def test_what_is_known_of_a_page(desk: DashboardContext, engine: Engine) -> None:
    parent = stored(desk, engine, None, url="http://a.example/parent", title="The <i>parent</i>")
    number = stored(
        desk,
        engine,
        parent="http://a.example/parent",
        duplicate_of="http://b.example/not-stored",
        link_score=0.7,
        certainty=0.9,
        via="sitemap",
        comments="First!\nSecond.",
        markdown="# How",
    )
    found = told(desk, f"/pages/{number}")
    assert found["found_on"] == {"url": "http://a.example/parent", "id": parent, "title": "The <i>parent</i>"}
    assert found["original"] == {"url": "http://b.example/not-stored", "id": None, "title": ""}
    assert (found["site"], found["certainty"], found["has_source"], found["text"]) == ("a.example", 0.9, True, TEXT)
    text = shown(desk, f"/pages/{number}")
    assert f'<a href="/pages/{parent}"><bdi>The &lt;i&gt;parent&lt;/i&gt;</bdi></a>' in text
    assert 'href="http://b.example/not-stored"' in text
    assert f"<p>{PROSE}</p>" in text
    assert f'<iframe sandbox="" src="/pages/{number}/original"' in text
    for said in ("70%", "90%", "First!", "Second.", "# How", "sitemap", "near-duplicate"):
        assert said in text


def test_what_the_page_may_be_used_for(desk: DashboardContext, engine: Engine) -> None:
    uses = {"search": "allowed", "ai-input": "unknown", "ai-train": "disallowed"}
    evidence = {"signal": "content_signal", "where": "robots.txt", "says": "Content-Signal: ai-train=no", "read_at": ""}
    rights = {"licence": "CC-BY-4.0", "uses": uses, "evidence": [evidence]}
    number = stored(desk, engine, rights=json.dumps(rights))
    assert told(desk, f"/pages/{number}")["rights"] == rights
    text = shown(desk, f"/pages/{number}")
    for said in (
        "CC-BY-4.0",
        ">AI training: <bdi>disallowed<",
        ">search: <bdi>allowed<",
        "Content-Signal: ai-train=no",
    ):
        assert said in text
    assert "AI 训练" in shown(desk, f"/pages/{number}", "zh")
    nothing = stored(desk, engine, url="http://a.example/b", rights=json.dumps(rights | {"evidence": []}))
    assert "Content-Signal" not in shown(desk, f"/pages/{nothing}")


@pytest.mark.parametrize(("view", "language"), [(view, language) for view in VIEWS for language in ("en", "zh")])
def test_without_its_source(desk: DashboardContext, engine: Engine, view: str, language: str) -> None:
    number = stored(desk, engine, None)
    if view == "/original":
        assert ask(desk, f"/pages/{number}{view}").status == 404
        return
    text = shown(desk, f"/pages/{number}{view}", language)
    assert "<iframe" not in text
    assert ("KEEP_RESPONSES" in text) is (view not in ("/versions", "/links"))


def test_numbers_of_published_rules(desk: DashboardContext, engine: Engine) -> None:
    quality = {"words": 61, "certainty": None, "<b>": 0.5}
    number = stored(desk, engine, quality=json.dumps(quality))
    view = shown(desk, f"/pages/{number}")
    for name, value in (("words", "61"), ("certainty", "–"), ("&lt;b&gt;", "0.5")):
        assert f"<dt>{name}</dt><dd>{value}</dd>" in re.sub("</?bdi>", "", view)
    assert told(desk, f"/pages/{number}")["quality"] == quality
    computed = stored(desk, engine, url=f"{HOME}3", key=8, text="Bees dance.", quality=json.dumps({"kept_frac": 0.5}))
    numbers = told(desk, f"/pages/{computed}")["quality"]
    assert (numbers["kept_frac"], numbers["words"]) == (0.5, 2)
    other = stored(desk, engine, url=f"{HOME}2", key=7)
    assert "Numbers of published rules" not in shown(desk, f"/pages/{other}")


def test_a_source_that_is_far_larger_than_it_looks(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine)
    with engine.begin() as connection:
        connection.execute(update(stored_response).values(body=zstd.compress(b" " * (MOST_READ + 1))))
    assert "too large" in shown(desk, f"/pages/{number}")
    assert ask(desk, f"/pages/{number}/original").status == 404


@pytest.mark.parametrize(("of", "after"), [("found", "x"), ("found", "1"), ("all", "-1"), ("images", "1.2")])
def test_a_place_among_links_that_no_answer_gave(desk: DashboardContext, engine: Engine, of: str, after: str) -> None:
    assert ask(desk, f"/pages/{stored(desk, engine)}/links?of={of}&after={after}").status == 400


def test_the_original(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine, text=extract(SOURCE, "http://a.example/").text)
    found = ask(desk, f"/pages/{number}/original")
    text = found.body.decode()
    policy = dict(found.headers)["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in text
    assert len(re.findall(rf'<span class="kept" title="kept \(\d+%\): [^"]+">{PROSE}</span>', text)) == 4
    assert re.search(r'<span class="left" title="left out \(\d+%\): [^"]+">Home</span>', text)
    assert 'class="said"' not in text


@pytest.mark.parametrize(
    ("more", "source", "said"),
    [
        ({"text": "Something else."}, SOURCE, "differs a little from the stored one"),
        ({"extractor": "framework"}, SOURCE, "the highlights are those of auto"),
        ({"extractor": "slope"}, SOURCE, ""),
        ({"fetched_at": "2026-05-05T00:00:00+00:00"}, SOURCE, "This source is older"),
        ({}, SOURCE + "<i>x</i>" * 60_000, "not read to its end"),
        ({}, SOURCE + "<p>" + "x" * 1_000_000, "too large to show reasons here"),
        (
            {},
            IN_SCRIPT,
            "is in the page&#x27;s scripts",
        ),
    ],
)
def test_what_is_said_of_the_tints(
    desk: DashboardContext, engine: Engine, more: dict[str, Any], source: str, said: str
) -> None:
    number = stored(desk, engine, source, **more)
    assert said in ask(desk, f"/pages/{number}/original").body.decode()


def test_blocks(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine)
    found = told(desk, f"/pages/{number}/blocks")
    assert (found["method"], found["is_explained"], found["total"]) == ("auto", True, len(found["blocks"]))
    kept = [one for one in found["blocks"] if one["kept"]]
    assert [one["text"] for one in kept if one["tag"] == "p"] == [PROSE] * 4
    assert all(one["probability"] >= found["limit"] and one["reasons"] for one in kept)
    for which, number_of in (("kept", len(kept)), ("left", found["total"] - len(kept))):
        assert told(desk, f"/pages/{number}/blocks?which={which}")["matching"] == number_of
    assert ask(desk, f"/pages/{number}/blocks?which=none").status == 400
    assert "it has sentences" in shown(desk, f"/pages/{number}/blocks")


@pytest.mark.parametrize("method", ["leaf-tags", "dom-tags", "max-text", "crunch", "slope"])
def test_blocks_of_other_methods(desk: DashboardContext, engine: Engine, method: str) -> None:
    number = stored(desk, engine, extractor=method)
    found = told(desk, f"/pages/{number}/blocks")
    assert (found["method"], found["limit"]) == (method, None)
    assert {one["probability"] for one in found["blocks"]} == {None}


def test_many_blocks_come_part_by_part(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine, "<body>" + "".join(f"<p>Line {at}</p>" for at in range(450)))
    places, start = [], 0
    while start is not None:
        found = told(desk, f"/pages/{number}/blocks?start={start}")
        places += [one["place"] for one in found["blocks"]]
        start = found["next"]
    assert places == list(range(450))


def test_versions(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine, text="Bees waltz.\nBees hum.")
    assert "has not changed" in shown(desk, f"/pages/{number}/versions")
    with engine.begin() as connection:
        for at, text in enumerate(["Bees dance.", "Bees dance.\nBees hum."], 1):
            values = {"key": key_of(desk, HOME), "crawl_id": 1, "fetched_at": f"2026-01-01T0{at}:00:00+00:00"}
            connection.execute(insert(page_version).values(id=at, title="<b>x</b>", text=text, **values))
    found = told(desk, f"/pages/{number}/versions")
    assert [one["id"] for one in found["versions"]] == [0, 2, 1]
    assert [one["share"] for one in found["versions"]] == [pytest.approx(22 / 42), pytest.approx(9 / 32), None]
    assert (found["old"], found["new"]) == (2, 0)
    text = shown(desk, f"/pages/{number}/versions")
    assert "<bdi>Bees </bdi><del><bdi>dance</bdi></del><ins><bdi>waltz</bdi></ins><bdi>.</bdi>" in text
    older = shown(desk, f"/pages/{number}/versions?old=1&new=2")
    assert "<ins><bdi>Bees hum.</bdi></ins>" in older
    assert told(desk, f"/pages/{number}/versions?new=2")["old"] == 1
    assert ask(desk, f"/pages/{number}/versions?old=77").status == 404


@pytest.mark.long
def test_versions_of_very_many_lines_take_no_longer(desk: DashboardContext, engine: Engine) -> None:
    texts = ["\n".join(f"{number * 40_000 + line:x}" for line in range(33_000)) for number in range(MOST_VERSIONS + 1)]
    number = stored(desk, engine, text=texts[0] + "\nx" * 500_000)
    values = {"key": key_of(desk, HOME), "crawl_id": 1, "fetched_at": "2026-01-01T01:00:00+00:00", "title": "x"}
    with engine.begin() as connection:
        connection.execute(insert(page_version), [{**values, "text": text} for text in texts[1:]])
    begun = time.process_time()
    found = told(desk, f"/pages/{number}/versions")
    assert time.process_time() - begun < 4
    assert [one["share"] > 0.5 for one in found["versions"][:-1]] == [True] * MOST_VERSIONS


def test_links(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine)
    high = stored(desk, engine, None, url="http://a.example/high", title="High <b>", relevance=0.8)
    whole = {"host_id": 1, "depth": 0, "kind": "link"}
    with engine.begin() as connection:
        connection.execute(insert(address).values(id=1, key=key_of(desk, HOME), url=HOME, priority=10_000, **whole))
        for at in range(150):
            url = ("http://a.example/new", "http://a.example/high")[at] if at < 2 else f"http://a.example/{at}"
            values = {"id": 10 + at, "key": key_of(desk, url), "url": url, "priority": 900 - at, "parent": 1}
            connection.execute(insert(address).values(state=0 if at % 2 else 2, **values, **whole))
    first = told(desk, f"/pages/{number}/links")
    assert (len(first["links"]), first["total"], first["unread"]) == (100, 150, 0)
    rest = told(desk, f"/pages/{number}/links?after={first['next']}")
    assert [one["score"] for one in first["links"] + rest["links"]] == [(900 - at) / 1000 for at in range(150)]
    assert rest["next"] is None
    assert [one["anchor"] for one in first["links"][:3]] == ["New <b>", "High", None]
    assert (first["links"][1]["page"], first["links"][1]["relevance"]) == (high, 0.8)
    every = told(desk, f"/pages/{number}/links?of=all")
    assert [(one["url"], one["state"]) for one in every["links"]] == [
        (HOME, "waiting"),
        ("http://a.example/new", "done"),
        ("http://a.example/high", "waiting"),
    ]
    assert f'<a href="/pages/{high}"><bdi>High &lt;b&gt;</bdi></a>' in shown(desk, f"/pages/{number}/links")


def columns(outcome: Outcome | None) -> dict[str, str | None]:
    """An outcome as the table of addresses has it."""
    return {"outcome": outcome and outcome.code, "outcome_detail": (outcome and outcome.detail) or None}


@pytest.mark.parametrize(
    ("outcome", "said"), [(Outcome(Code.HTTP_STATUS, "410"), " · failed · <bdi>410 Gone</bdi>"), (None, "")]
)
def test_what_came_of_the_last_check_is_said(
    desk: DashboardContext, engine: Engine, outcome: Outcome | None, said: str
) -> None:
    number = stored(desk, engine, checked_at=1e9)
    with engine.begin() as connection:
        values = {"key": key_of(desk, HOME), "url": HOME, "host_id": 1, "depth": 0, "kind": "link", "priority": 500}
        connection.execute(insert(address).values(id=1, state=2, **columns(outcome), **values))
    assert f"2001-09-09 01:46 UTC</time>{said}</dd>" in shown(desk, f"/pages/{number}")
    assert told(desk, f"/pages/{number}")["outcome"] == (outcome and {"code": "http_status", "detail": "410"})


@pytest.mark.parametrize(
    ("outcome", "english", "chinese"),
    [
        (Outcome(Code.ERROR, "Odd<b>"), "failed · <bdi>Odd&lt;b&gt;</bdi>", "失败 · <bdi>Odd"),
        (
            Outcome(Code.ROBOTS_FORBIDS),
            "left out · <bdi>refused by robots.txt</bdi>",
            "舍弃 · <bdi>robots.txt 不允许</bdi>",
        ),
        (
            Outcome(Code.NOISE, "learned"),
            "skipped as noise · <bdi>learned model</bdi>",
            "作为噪声跳过 · <bdi>学习模型</bdi>",
        ),
        (Outcome(Code.REDIRECTED), "<bdi>redirect</bdi>", "<bdi>重定向</bdi>"),
        (Outcome(Code.NOT_HTML, "</td>/x"), "<bdi>not HTML: &lt;/td&gt;/x</bdi>", "<bdi>不是 HTML：&lt;/td"),
    ],
)
def test_what_became_of_a_link_is_said_in_words(
    desk: DashboardContext, engine: Engine, outcome: Outcome, english: str, chinese: str
) -> None:
    number = stored(desk, engine)
    values = {"host_id": 1, "depth": 0, "kind": "link", "priority": 500}
    with engine.begin() as connection:
        connection.execute(insert(address).values(id=1, key=key_of(desk, HOME), url=HOME, **values))
        url = "http://a.example/new"
        values |= {"key": key_of(desk, url), "url": url, "parent": 1, "state": 2, **columns(outcome)}
        connection.execute(insert(address).values(id=2, **values))
    text = shown(desk, f"/pages/{number}/links")
    assert english in text.partition('<td class="became whole"')[2].partition("</td>")[0]
    assert "badge good" not in text  # as if all had been well
    assert chinese in shown(desk, f"/pages/{number}/links", "zh")


def test_images(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine)
    values = {"crawl_id": 1, "site_id": 1, "kind": "image", "url": "u", "target": "", "page": HOME, "bytes": None}
    values |= {"decided_by": "model", "audited": False, "bytes_are_measured": False, "decided_at": "2026", "sight": ""}
    key = key_of(desk, "http://a.example/ad.png", "image")
    with engine.begin() as connection:
        reasons = json.dumps([{"code": "keywords", "values": {"words": ["<b>why</b>"]}}])
        connection.execute(insert(verdict).values(key=key, noise=True, probability=0.9, reasons=reasons, **values))
    found = told(desk, f"/pages/{number}/links?of=images")["images"]
    assert [(one["url"], one["alt"], one["noise"], one["reasons"]) for one in found] == [
        ("http://a.example/bee.png", "A bee", None, []),
        ("http://a.example/ad.png", "", True, [{"code": "keywords", "values": {"words": ["<b>why</b>"]}}]),
    ]
    text = shown(desk, f"/pages/{number}/links?of=images")
    assert "&lt;b&gt;why" in text
    assert "not judged" in text
    assert '<img src="http' not in text


@pytest.mark.parametrize("attack", [*ATTACKS, BEYOND_TEXT], ids=range(len(ATTACKS) + 1))
def test_what_the_web_says_is_text(desk: DashboardContext, engine: Engine, attack: str) -> None:
    safe = attack.replace("\x00", "").replace("\ud800", "")
    fields = ("title", "author", "published", "language", "comments", "markdown", "parent", "duplicate_of", "via")
    web = dict.fromkeys((*fields, "page_type", "requested_url", "extractor", "fetched_at", "first_seen"), safe)
    written = safe.replace("<", "&lt;").replace('"', "&quot;")
    source = (
        f'<title>{written}</title><body><p title="{written}" lang="{written}">{written} {PROSE}<img alt="{written}">'
    )
    source += (
        f'<a href="{written}">{written}</a><a href="http://a.example/{written}">{written}</a><img src="{written}">'
    )
    uses = dict.fromkeys(("search", "ai-input", "ai-train"), safe)
    evidence = [dict.fromkeys(("signal", "where", "says", "read_at"), safe)]
    web["rights"] = json.dumps({"licence": safe, "uses": uses, "evidence": evidence})
    number = stored(desk, engine, source, text=f"{safe}\n{TEXT}", **web)
    whole = {"host_id": 1, "depth": 0, "kind": safe, "outcome": Code.ERROR, "outcome_detail": safe, "state": 2}
    with engine.begin() as connection:
        connection.execute(insert(address).values(id=1, key=key_of(desk, HOME), url=HOME, priority=0, **whole))
        connection.execute(insert(address).values(id=2, key=5, url=safe, priority=0, parent=1, **whole))
        values = {"key": key_of(desk, HOME), "crawl_id": 1, "fetched_at": safe, "title": safe, "text": safe}
        connection.execute(insert(page_version).values(**values))
    for view in VIEWS:
        text = ask(desk, f"/pages/{number}{view}").body.decode()
        assert "<script>alert" not in text
        assert not re.search(r"<[^>]*\sonmouseover=", text)
        assert not re.search(r"<[^>]*(?:href|src|action)=[\"']?\s*javascript", text)
        assert not re.search(r"\b49\b", text) or "{{" not in attack
        assert "\x1b" not in text
        assert "\x00" not in text
        assert len(text) < 150_000
    for view in ("", "/blocks", "/versions", "/links", "/links?of=all", "/links?of=images"):
        assert told(desk, f"/pages/{number}{view}")


def test_the_description_for_programs() -> None:
    schemas = app.openapi()["components"]["schemas"]
    assert {"PageDetail", "PageRef", "PageBlocks", "PageVersions", "PageLinks", "Difference"} <= schemas.keys()


FACTS = (
    "<html lang=en><head><meta property=og:type content=article><title>How bees dance</title></head><body>"
    "<nav><a href=/>Home</a></nav><article>"
    f"<h1>How bees dance</h1><p class=byline>By <a href=/ann>Ann Lee</a></p><p class=date>May 6, 2024</p>"
    f"{f'<p>{PROSE}</p>' * 4}<table><tr><th>Bee<th>Size<tr><td>Queen<td>20 mm</table><p>{PROSE}</p></article>"
    "<div class=comments><p>I have seen it too, in the spring of last year.</p></div>"
)


def test_the_text_looks_like_its_markdown(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine, FACTS)
    found = shown(desk, f"/pages/{number}")
    assert "<h3>How bees dance</h3>" in found
    assert "<td>Queen</td>" in found
    assert "<h3>How bees dance</h3>" not in shown(desk, f"/pages/{stored(desk, engine, None, url=HOME + 'x')}")


def test_the_original_shows_where_the_facts_stand(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine, FACTS)
    found = shown(desk, f"/pages/{number}/original")
    said = {
        fact: re.findall(rf'class="[a-z]+ {fact}"[^>]*>([^<]*)<', found) for fact in ("title", "author", "published")
    }
    assert said == {"title": ["How bees dance"], "author": ["By ", "Ann Lee"], "published": ["May 6, 2024"]}
    assert "I have seen it too" in "".join(re.findall(r'class="left comments"[^>]*>([^<]*)<', found))
