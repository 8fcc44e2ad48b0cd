"""Pages as large as a download may be, made to cost time or memory: what reading one takes is bounded."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huge_pages import HUGE, SIZE
from lxml import etree
from measured_extraction import Cost
from sites import environment

from crawler.page import html_tree
from crawler.page.page import Page

FOLDER = Path(__file__).parent.parent / "support"
SECONDS, MEGABYTES = 3.0, 240
"""Three times what the slowest takes on an idle machine; what grows with the square of a page takes minutes. The most
memory is 215 MB, in any order of the pages.
"""

SOME = [*list(HUGE)[::6], "classes"]
"""Some pages, and the one that takes the most memory. The others are left to the long run."""
URL = "http://example.com/"


class Watcher:
    """A process that reads these pages and says what each costs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def cost(self, name: str) -> Cost:
        """What the page costs; what seems slow is measured again, as other programs may be in the way."""
        first = self._ask(name)
        return first if first.seconds < SECONDS else self._ask(name)

    def _ask(self, name: str) -> Cost:
        asking, answering = self._process.stdin, self._process.stdout
        assert asking
        assert answering
        asking.write(f"{name}\n")
        asking.flush()
        return Cost(*json.loads(answering.readline()))


@pytest.fixture(scope="module")
def watcher() -> Iterator[Watcher]:
    line = [sys.executable, str(FOLDER / "measured_extraction.py"), "auto"]
    with subprocess.Popen(
        line, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        yield Watcher(process)


@pytest.mark.parametrize(
    "name", [*SOME, *(pytest.param(name, marks=pytest.mark.long) for name in HUGE if name not in SOME)]
)
def test_any_page_is_read_soon_and_in_little_memory(name: str, watcher: Watcher) -> None:
    cost = watcher.cost(name)
    assert not cost.error
    assert cost.seconds < SECONDS
    assert cost.megabytes < MEGABYTES


def test_the_pages_are_as_large_as_they_may_be() -> None:
    for name in ["text", "<p>", "noise", "a class"]:
        assert 0.99 * SIZE < len(HUGE[name]()) <= SIZE


def test_what_is_not_read_is_said() -> None:
    rows = [
        ("x" + " " * 999, html_tree.MAX_BYTES // 1_000, html_tree.Cut.BYTES),
        ("<p>x", html_tree.MAX_TAGS, html_tree.Cut.TAGS),
        ("x</p>", html_tree.MAX_TAGS, html_tree.Cut.TAGS),
        ("x</html>", html_tree.MAX_TAGS, html_tree.Cut.TAGS),
        ("x</body>", html_tree.MAX_TAGS, html_tree.Cut.TAGS),
        ("x<br/>", html_tree.MAX_TAGS, html_tree.Cut.TAGS),
        ("x < ", html_tree.MAX_SIGNS, html_tree.Cut.TAGS),
        ("<p " + " ".join(f"a{n}" for n in range(100)) + ">x</p>", html_tree.MAX_ATTRIBUTES // 100, html_tree.Cut.TAGS),
        (
            "<p " + " ".join(f"a{n}='>'" for n in range(100)) + ">x</p>",
            html_tree.MAX_ATTRIBUTES // 100,
            html_tree.Cut.TAGS,
        ),
        ("<div>x", 2_040, html_tree.Cut.DEPTH),
    ]
    for unit, limit, where in rows:
        assert Page.from_html(unit * (limit - 10)).ended is None
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
    assert html_tree.bounded(source) == (source, None)
    assert html_tree.bounded(source + unit.encode()) == (source, html_tree.Cut.TAGS)


@pytest.mark.parametrize(("levels", "is_deep"), [(2_039, False), (2_040, True)])
def test_a_tree_may_be_so_deep(levels: int, is_deep: bool) -> None:
    root = etree.fromstring("<p>" * levels + "</p>" * levels, etree.XMLParser(huge_tree=True))
    assert html_tree.is_deep(root) is is_deep


def test_crowded_tags_are_text() -> None:
    for count, has_text in [(500, True), (501, False)]:
        for before in ["", "<script>a<b</script>", "<p title='<script>'>", "<!-- <p ", "<b ='> <q=\">"]:
            for attribute in ["a{}", "a{}=1", "a{}='>'", 'a{}=">"', "a{}=\n'>'", "a{}\n=\n1"]:
                tag = " ".join(map(attribute.format, range(count)))
                source, where = html_tree.bounded(f"{before}<div {tag}>One.</div>".encode())
                assert (b"<div a0" in source, where) == (has_text, None)


@pytest.mark.parametrize(
    "script",
    ["if(a<b){" + "c = 'd e'; " * 2_000 + "}", "<p " + "a b c=' " * 1_000],
)
def test_scripts_that_look_crowded_cost_no_text(script: str) -> None:
    page = Page.from_html(f"<p>One.</p><script>{script}</script><p>It's two.</p><p title='>'>Three.</p>", URL)
    assert [block.text for block in page.blocks] == ["One.", "It's two.", "Three."]
    assert page.ended is None
