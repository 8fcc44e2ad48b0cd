"""Pages as large as a download may be, made to cost time or memory: what reading one takes is bounded."""

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from huge import HUGE, SIZE
from lxml import etree
from sites import environment
from watched import Cost

from crawler import bounds
from crawler.page import Page

FOLDER = Path(__file__).parent
SECONDS, MEGABYTES = 3.0, 200
"""Three times what the slowest takes on an idle machine; what grows with the square of a page takes minutes."""

URL = "http://example.com/"


def costs(names: Sequence[str]) -> dict[str, Cost]:
    """What these pages cost, read in two processes at the same time."""
    with ThreadPoolExecutor(2) as pool:
        halves = pool.map(costs_by_itself, [half for half in (names[::2], names[1::2]) if half])
        return {name: cost for half in halves for name, cost in half.items()}


def costs_by_itself(names: Sequence[str]) -> dict[str, Cost]:
    line = [sys.executable, str(FOLDER / "watched.py"), "auto", *names]
    ended = subprocess.run(line, env=environment(), capture_output=True, encoding="utf-8", check=True)
    return {name: Cost(*cost) for name, *cost in map(json.loads, ended.stdout.splitlines())}


@pytest.fixture(scope="module")
def found() -> dict[str, Cost]:
    """What each page costs; what seems slow is measured again, as other programs may be in the way."""
    first = costs(list(HUGE))
    slow = [name for name, cost in first.items() if cost.seconds > SECONDS]
    return first | (costs_by_itself(slow) if slow else {})


@pytest.mark.parametrize("name", HUGE)
def test_any_page_is_read_soon_and_in_little_memory(name: str, found: dict[str, Cost]) -> None:
    assert not found[name].error
    assert found[name].seconds < SECONDS
    assert found[name].megabytes < MEGABYTES


@pytest.mark.parametrize("name", ["text", "<p>", "noise", "a class"])
def test_the_pages_are_as_large_as_they_may_be(name: str) -> None:
    assert 0.99 * SIZE < len(HUGE[name]()) <= SIZE


@pytest.mark.parametrize(
    ("unit", "limit", "where"),
    [
        ("<p>x", bounds.MAX_TAGS, bounds.TOO_MANY),
        ("x</p>", bounds.MAX_TAGS, bounds.TOO_MANY),
        ("x</html>", bounds.MAX_TAGS, bounds.TOO_MANY),
        ("x</body>", bounds.MAX_TAGS, bounds.TOO_MANY),
        ("x<br/>", bounds.MAX_TAGS, bounds.TOO_MANY),
        ("x < ", bounds.MAX_SIGNS, bounds.TOO_MANY),
        ("<p " + " ".join(f"a{n}" for n in range(100)) + ">x</p>", bounds.MAX_ATTRIBUTES // 100, bounds.TOO_MANY),
        ("<p " + " ".join(f"a{n}='>'" for n in range(100)) + ">x</p>", bounds.MAX_ATTRIBUTES // 100, bounds.TOO_MANY),
        ("<div>x", 2_040, bounds.TOO_DEEP),
    ],
)
def test_what_is_not_read_is_said(unit: str, limit: int, where: str) -> None:
    assert Page.from_html(unit * (limit - 10)).ended == ""
    over = Page.from_html(unit * (limit + 50) + "<p>Over.")
    assert over.ended == where
    text = " ".join(block.text for block in over.blocks)
    assert limit - 10 <= text.count("x") <= limit + 10
    assert "Over." not in text


@pytest.mark.parametrize(
    ("unit", "limit"),
    [("<p>x", 50_000), ("< ", 500_000), ("<p " + " ".join(f"a{n}" for n in range(100)) + ">", 2_000)],
    ids=["tags", "signs", "attributes"],
)
def test_so_much_is_parsed_and_no_more(unit: str, limit: int) -> None:
    source = unit.encode() * limit
    assert bounds.bounded(source) == (source, "")
    assert bounds.bounded(source + unit.encode()) == (source, bounds.TOO_MANY)


@pytest.mark.parametrize(("levels", "is_deep"), [(2_039, False), (2_040, True)])
def test_a_tree_may_be_so_deep(levels: int, is_deep: bool) -> None:
    tree = etree.fromstring("<p>" * levels + "</p>" * levels, etree.XMLParser(huge_tree=True))
    assert bounds.is_deep(tree) is is_deep


@pytest.mark.parametrize(("count", "has_text"), [(500, True), (501, False)])
@pytest.mark.parametrize("before", ["", "<script>a<b</script>", "<p title='<script>'>", "<!-- <p ", "<b ='> <q=\">"])
@pytest.mark.parametrize("attribute", ["a{}", "a{}=1", "a{}='>'", 'a{}=">"', "a{}=\n'>'", "a{}\n=\n1"])
def test_crowded_tags_are_text(count: int, has_text: bool, before: str, attribute: str) -> None:
    tag = " ".join(map(attribute.format, range(count)))
    source, where = bounds.bounded(f"{before}<div {tag}>One.</div>".encode())
    assert (b"<div a0" in source, where) == (has_text, "")


@pytest.mark.parametrize(
    "script",
    ["if(a<b){" + "c = 'd e'; " * 2_000 + "}", "<p " + "a b c=' " * 1_000],
)
def test_scripts_that_look_crowded_cost_no_text(script: str) -> None:
    page = Page.from_html(f"<p>One.</p><script>{script}</script><p>It's two.</p><p title='>'>Three.</p>", URL)
    assert [block.text for block in page.blocks] == ["One.", "It's two.", "Three."]
    assert page.ended == ""
