"""Blocks as text that reads well."""

import re
import time
from pathlib import Path

import pytest
from hostile_pages import PAGES

from crawler.extraction.output.markdown import markdown
from crawler.extraction.output.plain_text import plain
from crawler.page.page import Extraction, Page

CASES = Path(__file__).parent.parent.parent / "pages"
LONG = "Bees dance to tell the others the way to the flowers, and the longer they dance the farther it is. " * 2
WRAPPED = (
    "Bees dance to tell the others the way to<br>the flowers. The longer they dance the<br>"
    "farther it is, and the more of them dance<br>the better it must be there.<br>"
)
RAGGED = (
    "Bees dance to tell the others all about the way<br>to the flowers. The longer they dance the<br>"
    "a long way off it is, and the more of them that<br>dance the better it must be there."
)
CHINESE = (
    "蜜蜂用舞蹈告诉同伴花在哪里，舞跳得越<br>久，花就越远；跳舞的蜜蜂越多，那里的<br>"
    "花就越好。春天来了，公园里的花都开<br>了。"
)


def text(html: str) -> list[str]:
    return plain(Page.from_html(html, "http://e.com/").blocks).split("\n")


def test_plain() -> None:
    rows = [
        ("<h1>a</h1><p>b</p>c", ["a", "b", "c"]),
        # Lists.
        ("<ul><li>a<li>b</ul>", ["- a", "- b"]),
        ("<ul><li><p>a</p><p>b</p><li>c<br>d</ul>", ["- a", "b", "- c", "d"]),
        ("<ul><li>a<ol><li>b<ul><li>c</ul><li>• d</ol><li>e</ul>", ["- a", "  1. b", "    - c", "  • d", "- e"]),
        (
            "<ul><li>" + "<p>a</p><ul><li>" * 12 + "b</ul>",
            ["  " * min(at, 8) + "- a" for at in range(12)] + ["  " * 8 + "- b"],
        ),
        ("<ul><li><div><div><div>a</div></div></div><ul><li>b</ul></ul>", ["a", "- b"]),
        ("<ul><li>• a<li>1. b<li>(2) c<li>3.5 d<li>一、e</ul>", ["• a", "1. b", "(2) c", "- 3.5 d", "一、e"]),
        ("<ul><li><div><h3>a</h3><p>b</div><li><h3>c</h3></ul>", ["a", "b", "c"]),
        ("<ol><li>a<li>b</ol>", ["1. a", "2. b"]),
        ("<ol start=3><li>a<li value=7><p>b</p><p>c</p><li>1. d</ol>", ["3. a", "7. b", "c", "1. d"]),
        ("<li>a", ["- a"]),
        # Tables.
        ("<table><tr><th>a<th>b<tr><td>c<td>d<br>e</table>", ["a | b", "c | d e"]),
        ("<table><tr><td>a<td> <td>b<tr><td>c</table>", ["a | b", "c"]),
        ("<table><tr><td> <td>a<td>b<tr><td>c<td> <td>d<td> </table>", ["| a | b", "c |  | d"]),
        (
            "<table><tr><th>a<th colspan=2>b<th>c<th>d<tr><td>e<td><td>f<td><td>g</table>",
            ["a | b | c | d", "e |  | f |  | g"],
        ),
        ("<table><tr><th colspan=2>a<th>b<th>c<tr><td>d<td><td>e<td>f</table>", ["a | b | c", "d | e | f"]),
        (
            "<table><tr>" + "<td>a" * 58 + "<td> <td>b<tr>" + "<td>c" * 60 + "</table>",
            [" | ".join([*"a" * 58, "", "b"]), " | ".join("c" * 60)],
        ),
        (
            "<table><tr>" + "<td>a" * 59 + "<td> <td>b<tr>" + "<td>c" * 61 + "</table>",
            [" | ".join([*"a" * 59, "b"]), " | ".join("c" * 61)],
        ),
        ("<table><tr><td><p>a</p><td><div><p>b</div></table>", ["a | b"]),
        (f"<table><tr><td>{'<div>' * 3}a{'</div>' * 3}<td>b</table>", ["a | b"]),
        (f"<table><tr><td>{'<div>' * 4}a{'</div>' * 4}<td>b</table>", ["a", "b"]),
        (f"<table><tr><td>{'a' * 120}<td>b</table>", ["a" * 120 + " | b"]),
        (f"<table><tr><td>{'a' * 121}<td>b</table>", ["a" * 121, "b"]),
        ("<table><tr>" + f"<td>{'a' * 100}" * 4 + "</table>", [" | ".join(["a" * 100] * 4)]),
        ("<table><tr>" + f"<td>{'a' * 101}" * 4 + "</table>", ["a" * 101] * 4),
        ("<table><tr><td>a<td><table><tr><td>b<td>c</table><td>d</table>", ["a", "b | c", "d"]),
        ("<table><tr><td><h2>a</h2><td>b</table>", ["a", "b"]),
        # Code.
        ("<pre>a\n  b\n</pre>", ["a", "  b"]),
        ("<pre><div>a {</div><div>  b</div>}</pre>", ["a {", "  b", "}"]),
        ("<pre>a<br>  b<br><br>c</pre>", ["a", "  b", "", "c"]),
        ("<pre><code><span>a</span>\n<div> b</div></code></pre>", ["a", " b"]),
        ("<table><tr><td><pre>1\n2</pre><td><pre>a\n b</pre></table>", ["a", " b"]),
        ("<table><tr><td><pre>1<br>2</pre><td><pre>a<br> b</pre></table>", ["a", " b"]),
        ("<div><pre class=line-numbers>9\n10</pre><pre>a</pre></div>", ["a"]),
        ("<div><pre>1\n2</pre><pre>a</pre></div>", ["1", "2", "a"]),
        ("<div class=gutter><pre>1\n3</pre></div>", ["1", "3"]),
        # What is there twice.
        (f"<p>{LONG}</p><div><p>{LONG}</div><p>a<p>a", [LONG.strip(), "a", "a"]),
        (f"<p>{'a' * 159}</p><p>{'a' * 159}</p>", ["a" * 159] * 2),
        (f"<p>{'a' * 160}</p><p>{'a' * 160}</p>", ["a" * 160]),
        (f"<p>{'蜂' * 80}</p><p>{'蜂' * 80}</p>", ["蜂" * 80]),
        (f"<p>{'蜂' * 79}</p><p>{'蜂' * 79}</p>", ["蜂" * 79] * 2),
        # Lines that the page broke.
        (f"<p>{WRAPPED}</p>", [WRAPPED.replace("<br>", " ").strip()]),
        (f"<td>{WRAPPED}<br>{WRAPPED}", [WRAPPED.replace("<br>", " ").strip()] * 2),
        (
            f"<p>{WRAPPED.replace('dance the<br>', 'dance the<br><br>')}</p>",
            WRAPPED.replace("dance the<br>", "dance the\n").replace("<br>", " ").strip().split("\n"),
        ),
        (f"<p>{RAGGED}</p>", [RAGGED.replace("<br>", " ")]),
        (f"<p>{CHINESE}</p>", [CHINESE.replace("<br>", "")]),
        (f"<ul><li>{WRAPPED}</ul>", ["- " + WRAPPED.replace("<br>", " ").strip()]),
        # Lines that are lines: a poem, an address, a list, a timetable.
        *[
            ("<p>" + "<br>".join(lines), lines)
            for lines in (
                [
                    "How doth the busy bee",
                    "Improve each shining hour,",
                    "And gather honey all the day",
                    "From every flower!",
                ],
                ["Bee Research Institute", "16 North Road", "Cardiff", "CF10 3DY", "United Kingdom. Open daily."],
                ["蜜蜂告诉同伴花在哪里", "跳舞的蜜蜂越多花越好", "春天来了公园里花都开", "夏天的蜂蜜比春天的多"],
                [
                    "The bees that came in the morning of the day and",
                    "went over the hill and past the old mill, to the",
                    "singing",
                    "they came to the meadow in the light of the sun,",
                    "home.",
                ],
                "The bees came in the morning of the day,/over hill and mill,/singing,/through meadows/home.".split(
                    "/"
                ),
                [f"地点：南开大学第{n}教学楼三百零一室，请从东门进入校园" for n in "一二三四五"] + ["完。"],
                [f"・蜜蜂的第{n}次舞蹈，比前一次更长，花也就更远了一些" for n in "一二三四五"] + ["完。"],
                [f"蜜蜂的第{n}次舞蹈比前一次更长花也就更远了一些" for n in "一二三四五"],
                [f"•the bee that danced on day {n} and on the next." for n in range(5)],
            )
        ],
        ("", [""]),
    ]
    for html, expected in rows:
        assert text(html) == expected


@pytest.mark.parametrize(
    ("kept", "expected"),
    [([0, 1, 2, 3], ["a {", "", "  b", "    c", "}"]), ([1, 2], ["  b", "    c"]), ([3], ["}"])],
)
def test_code_of_which_lines_are_missing(kept: list[int], expected: list[str]) -> None:
    page = Page.from_html("<pre>a {<br><br>  b<div>    c</div>}</pre>")
    assert plain([page.blocks[at] for at in kept]).split("\n") == expected


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def test_every_word_is_there_once_and_in_order() -> None:
    for body in [*PAGES.values(), *((case / "input.html").read_bytes() for case in CASES.iterdir())]:
        blocks = Page("http://e.com/", body).blocks
        seen: set[str] = set()
        expected = []
        for block in blocks:
            if block.text not in seen or len(block.text) < 160:
                expected += words(block.text)
            seen.add(block.text)
        assert words(plain(blocks)) == expected


def test_code_in_many_parts_costs_little() -> None:
    part = "if a:<br>  b()<section>Bees {} dance.</section>"
    page = Page.from_html("<pre>" + "".join(part.format(number) for number in range(5_000)) + "</pre>")
    started = time.process_time()
    lines = plain(page.blocks).split("\n")
    assert time.process_time() - started < 2  # measured 0.4
    assert lines[:3] == ["if a:", "  b()", "Bees 0 dance."]
    assert len(lines) == 15_000


@pytest.mark.parametrize("part", ["{}<p>Bees dance.</p>", "<div>{}<p>Bees dance.</p>"], ids=["runs", "nested"])
def test_many_broken_paragraphs_cost_little(part: str) -> None:
    page = Page.from_html("<div>" + part.format(WRAPPED) * 1_500)
    assert len(page.blocks) == 7_500
    for written in (lambda: plain(page.blocks), lambda: markdown(page, Extraction("", "", blocks=page.blocks))):
        started = time.process_time()
        lines = written().replace("\n\n", "\n").split("\n")
        assert time.process_time() - started < 2  # measured 0.3
        assert lines[:2] == [WRAPPED.replace("<br>", " ").strip(), "Bees dance."]
        assert len(lines) == 3_000
