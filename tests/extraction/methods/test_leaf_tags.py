from pathlib import Path

import pytest

from crawler.extraction.methods.leaf_tags import LEGAL_LENGTH, TEXT_TAGS, leaf_tags
from crawler.page.page import Page

CASES = sorted((Path(__file__).parent.parent.parent / "pages").iterdir())


@pytest.mark.parametrize("encoding", ["gbk", "gb18030", "utf-16"])
def test_an_undeclared_encoding_changes_nothing(encoding: str) -> None:
    folder = next(folder for folder in CASES if folder.name == "old_chinese_news")
    body = (folder / "input.html").read_text(encoding="utf-8").encode(encoding)
    assert leaf_tags(Page("http://example.com/a", body)).text == (folder / "expected.txt").read_text("utf-8").strip()


def test_rules() -> None:
    rows = [
        ("<p>It rains.</p>", "It rains."),
        ("<p>It rains</p>", ""),
        ("<p>天气很好。</p>", "天气很好。"),
        ("<p>天气很好</p>", ""),
        ("<p>Four<a href=x>.by.</a></p>", "Four.by."),
        ("<p>Fou<a href=x>.by.</a></p>", ""),
        ("<h1>Head</h1><p>It rains.</p>", "Head\nIt rains."),
        ("<h6>Head</h6><p>It rains.</p>", "Head\nIt rains."),
        ("<h1>Head</h1><p>It rains</p>", ""),
        ("<h1>Head.</h1><p>x</p><p>It rains.</p>", "It rains."),
        ("<h1><a href=x>Head</a></h1><p>It rains.</p>", "It rains."),
        ("<p>It rains.</p><h1>Head</h1>", "It rains."),
        ("<button>Press. Now.</button><label>Say. So.</label>", "Say. So."),
        ("<pre>It rains.\n  A lot.</pre>", "It rains.\n  A lot."),
        (f"<p>© {'x' * (LEGAL_LENGTH - 4)}.</p>", ""),
        (f"<p>© {'x' * (LEGAL_LENGTH - 3)}.</p>", f"© {'x' * (LEGAL_LENGTH - 3)}."),
    ]
    for html, text in rows:
        assert leaf_tags(Page.from_html(html)).text == text


def test_every_text_tag_may_hold_prose() -> None:
    for tag in sorted(TEXT_TAGS - {"html", "body", "td", "th", "tr", "caption"}):
        assert leaf_tags(Page.from_html(f"<{tag}>It rains.</{tag}>")).text == "It rains."


PAPER = """<html>
<head>
<title> web 网页净化 </title>
<meta name="Generator" content="EditPlus">
<meta name="Author" content="">
<meta name="Keywords" content="">
<meta name="Description" content="">
</head>
<body>
<div id="" class="">
<font size="" color=""> web 网页净化</font>
<p> web 网页净化</p>
</div>
<p> web 网页净化</p>
</body>
</html>"""


def test_the_tree_of_the_paper() -> None:
    """The leaves of Fig. 2, from the source printed there: title, meta, font, p, p."""
    page = Page.from_html(PAPER)
    assert page.title == "web 网页净化"
    assert page.meta == {"generator": "EditPlus", "author": "", "keywords": "", "description": ""}
    # The font is inline: its text is a leaf of the div, as in what a browser shows.
    assert [(block.tag, block.text) for block in page.blocks] == [(tag, "web 网页净化") for tag in ("div", "p", "p")]


@pytest.mark.parametrize(("stop", "lines"), [("", 0), ("。", 3)])
def test_the_leaves_of_the_paper_with_and_without_full_stops(stop: str, lines: int) -> None:
    found = leaf_tags(Page.from_html(PAPER.replace("净化<", f"净化{stop}<")))
    assert (found.text, found.title) == ("\n".join([f"web 网页净化{stop}"] * lines), "web 网页净化")


@pytest.mark.parametrize("tag", ["form", "script", "style"])
def test_what_the_paper_drops(tag: str) -> None:
    # A form goes where its text is its own; paragraphs in it stay, for whole pages stand in one form.
    html = PAPER.replace("<p> web 网页净化</p>\n</div>", f"<{tag}><p>网页净化。</p></{tag}></div>")
    assert leaf_tags(Page.from_html(html)).text == ("网页净化。" if tag == "form" else "")
