import json
import time

import pytest

from crawler.extraction.script_text import ScriptData, replacement, script_text
from crawler.page.page import Page

LINES = [f"In week {number} the bees danced on the comb, and told the others the way." for number in range(12)]
TEXT = "\n".join(LINES)
LONG = [f"In year {number} the bees danced on the comb, and told the others the way." for number in range(40)]
FAR = [f"In century {number} the bees danced on the comb, and told the others the way." for number in range(70)]
HTML = "".join(f"<p>{line}</p>" for line in LINES)
TITLE = "Why bees dance"
STORY = {"title": TITLE, "id": 7}


def of(script: str, kind: str = "", body: str = "") -> str:
    head = f"<title>{TITLE} | Post</title><script type='{kind}'>{script}</script>"
    return script_text(Page.from_html(f"<html><head>{head}</head><body>{body}<div id=root></div></body></html>"))


def written(*paragraphs: str) -> list[dict[str, object]]:
    return [{"type": "p", "content": [{"type": "text", "value": paragraph}]} for paragraph in paragraphs]


LINKED = [{"text": "Bees "}, {"type": "link", "content": [{"text": "dance"}]}, {"text": " on the comb."}]


def test_text_beside_the_title() -> None:
    rows = [
        STORY | {"body": HTML},
        STORY | {"body": TEXT},
        STORY | {"body": HTML.replace("<", "&lt;")},
        STORY | {"body": LINES},
        STORY | {"elements": [{"type": "text", "content": f"{line[:9]}<b>{line[9:]}</b>"} for line in LINES]},
        STORY | {"body": {"content": written(*LINES)}},
        STORY | {"body": [{"text": line, "html": f"<p>{line}</p>"} for line in LINES]},
        STORY | {"body": json.dumps([{"html": line} for line in LINES])},
        STORY | {"body": LINES, "comments": [{"text": line} for line in LONG]},
        STORY | {"body": LINES, "related": [{"body": line} for line in LONG]},
        STORY | {"body": LINES, "next": {"title": "What wasps do", "url": "/wasps", "body": LONG}},
        STORY | {"body": LINES, "code": "function(a){return a;};" * 200, "key": "a" * 5_000},
        {"a": {"b": [{"post": STORY | {"html": HTML}}]}, "translations": dict(enumerate(LONG))},
        {"headline": "Post: Why bees dance", "text": HTML},
    ]
    for data in rows:
        assert of(json.dumps(data), "application/json") == TEXT
        assert of(f"window.__STATE__ = {json.dumps(data)};run()", body="<p>Shown.</p>" * 1_000) == TEXT


def test_pieces_of_a_line_are_joined() -> None:
    data = STORY | {"body": {"content": [*written(*LINES), {"type": "p", "content": LINKED}]}}
    assert of(json.dumps(data).replace("value", "text")) == f"{TEXT}\nBees dance on the comb."


def test_text_without_a_title_where_the_page_shows_little() -> None:
    rows = [
        "var a = 1; b = {{text: {}}}".format(json.dumps("".join(f"<p>{line}</p>" for line in LONG))),
        "run('{}')".format("".join(f"<p>{line}</p>" for line in LONG).replace("<", "\\x3C")),
        "run(JSON.parse({}))".format(json.dumps(json.dumps({"body": LONG}))),
        "self.push([1, {}])".format(json.dumps("<div>" + "".join(f"<p>{line}</p>" for line in LONG))),
        json.dumps({"body": LONG}),
    ]
    for script in rows:
        assert of(script) == "\n".join(LONG)
        assert of(script, body="a" * 999) == "\n".join(LONG)
        assert of(script, body="a" * 1_000) == ""


@pytest.mark.parametrize(("short", "found"), [(0, True), (1, False)])
def test_how_long_a_text_must_be(short: int, found: bool) -> None:
    for titled, least in ((STORY, 250), ({}, 1_500)):
        text = ("Bees dance on the comb. " * 100)[: least - short - 1].rstrip(" .").ljust(least - short - 1, "x") + "."
        assert of(json.dumps(titled | {"body": text})) == (text if found else "")


def test_json_ld() -> None:
    rows = [
        (f'{{"@type": "Article", "headline": "{TITLE}", "articleBody": {json.dumps(TEXT)}}}', TEXT),
        (f'{{"@type": "Article", "headline": "{TITLE}", "articleBody": {json.dumps(HTML)}}}', TEXT),
        (f'{{"@type": "Article", "headline": "{TITLE}", "articleBody": "Short. And cut off."}}', ""),
        (
            json.dumps(
                {
                    "@type": "Question",
                    "name": TITLE,
                    "text": LINES[0],
                    "suggestedAnswer": [{"text": TEXT[len(LINES[0]) + 1 :]}],
                }
            ),
            TEXT,
        ),
    ]
    for html, expected in rows:
        assert of(html, "application/ld+json", "<p>Shown.</p>" * 1_000) == expected


def test_no_text() -> None:
    for script in ["", "{", "[1, 2]", '{"a": 1}', "run()" * 100, "null", '"a"', "{}" * 200]:
        assert of(script) == ""


@pytest.mark.parametrize(("length", "expected"), [(0, TEXT), (len(TEXT) // 3, TEXT), (len(TEXT) // 3 + 1, "")])
def test_when_it_is_taken(length: int, expected: str) -> None:
    page = Page.from_html(f"<title>{TITLE}</title><script>{json.dumps(STORY | {'body': LINES})}</script>")
    assert replacement(page, "a" * length) == expected


@pytest.mark.parametrize(("own", "is_taken"), [("a" * 1_499, True), ("a" * 1_500, False), ("蜂" * 750, False)])
def test_a_long_text_is_kept_whatever_is_in_the_scripts(own: str, is_taken: bool) -> None:
    page = Page.from_html(f"<title>{TITLE}</title><script>{json.dumps(STORY | {'body': FAR})}</script>")
    assert bool(replacement(page, own)) is is_taken


def data(length: int, start: str = "") -> str:
    """A script of so many characters with the text."""
    return f"{start}{json.dumps(STORY | {'body': LINES})}".ljust(length)


def chinese(length: int) -> str:
    """A story as JSON of so many characters."""
    return json.dumps({"title": TITLE, "body": "。"}, ensure_ascii=False).replace("。", "蜂" * (length - 40) + "。")


def test_which_scripts_are_read() -> None:
    rows = [
        (["", *[""] * 198, data(0)], True),
        (["", *[""] * 199, data(0)], False),
        ([data(3_000_000)], True),
        ([data(3_000_001)], False),
        ([chinese(200)], True),
        ([chinese(199)], False),
        ([f"window.run('{chinese(198)}')"], True),
        ([f"window.run('{chinese(197)}')"], False),
    ]
    for scripts, is_found in rows:
        written = "".join(f"<script>{script}</script>" for script in scripts)
        assert bool(script_text(Page.from_html(f"<title>{TITLE}</title>{written}"))) is is_found


def test_the_type_of_a_script() -> None:
    rows = [
        ("application/json", TEXT),
        ("importmap", ""),
        ("x" * 93 + "ld+json", ""),
        ("x" * 94 + "ld+json", TEXT),  # so much of a type is looked at
    ]
    for kind, expected in rows:
        assert of(data(0), kind) == expected


def test_hostile_scripts_cost_little() -> None:
    rows = [
        '{"a":' * 100_000,
        json.dumps([["a"] * 2] * 200_000),
        json.dumps({"body": ["Bees dance. "] * 200_000}),
        "[" + "[" * 900 + json.dumps(TEXT) + "]" * 900 + "]",
        '"' + '\\"' * 1_000_000,
        "'\"`" * 500_000,
        json.dumps({"body": "<" * 400_000 + "Bees dance."}),
        json.dumps({"body": "<p><a " * 80_000 + "Bees dance."}),
        json.dumps(json.dumps({"body": json.dumps(LINES * 1_000)})),
        "window." * 400_000 + "={}",
        "a = " * 400_000 + "{}",
    ]
    for script in rows:
        page = Page.from_html(f"<title>{TITLE}</title><script>{script}</script>")
        assert page.blocks is not None
        started = time.process_time()
        assert isinstance(script_text(page), str)
        assert time.process_time() - started < 1.5  # measured at most 0.4


def test_many_lists_under_a_long_name_cost_little() -> None:
    nodes = '"' + '","' * 49_998 + '"'
    script = '{"' + "x" * 60 + '":' + "[" * 19 + f"[{nodes}]" + f",{nodes}]" * 19 + "}"
    started = time.process_time()
    assert of(script, "application/json") == ""
    assert time.process_time() - started < 1.5  # measured 0.4


def test_a_line_in_many_pieces_costs_little() -> None:
    pieces = ["the bees dance. " * 25] * 8_000
    data = ScriptData({"body": [["Bees dance in the sun all day long. "], pieces]}, "")
    started = time.process_time()
    assert data.paragraphs(data.is_list.index(True), data.pieces) == [
        "Bees dance in the sun all day long. " + "".join(pieces)
    ]
    assert time.process_time() - started < 1  # measured 0.1
