from pathlib import Path

import pytest

from crawler.extraction.leaf_tags import LEGAL_LENGTH, TEXT_TAGS, leaf_tags
from crawler.page import Page

CASES = sorted((Path(__file__).parent.parent / "pages").iterdir())


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_page(folder: Path) -> None:
    expected = (folder / "expected.txt").read_text(encoding="utf-8").rstrip("\n")
    assert leaf_tags(Page("http://example.com/a", (folder / "input.html").read_bytes())).text == expected


@pytest.mark.parametrize("encoding", ["gbk", "gb18030", "utf-16"])
def test_an_undeclared_encoding_changes_nothing(encoding: str) -> None:
    folder = next(folder for folder in CASES if folder.name == "old_chinese_news")
    body = (folder / "input.html").read_text(encoding="utf-8").encode(encoding)
    assert leaf_tags(Page("http://example.com/a", body)).text == (folder / "expected.txt").read_text("utf-8").strip()


@pytest.mark.parametrize(
    ("html", "text"),
    [
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
    ],
)
def test_rules(html: str, text: str) -> None:
    assert leaf_tags(Page.from_html(html)).text == text


@pytest.mark.parametrize("tag", sorted(TEXT_TAGS - {"html", "body", "td", "th", "tr", "caption"}))
def test_every_text_tag_may_hold_prose(tag: str) -> None:
    assert leaf_tags(Page.from_html(f"<{tag}>It rains.</{tag}>")).text == "It rains."
