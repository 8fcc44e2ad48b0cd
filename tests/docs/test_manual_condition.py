"""The condition for manuals, in the pages that name it, keeps pages full of code that Gopher's rules remove."""

import re

import pytest
from fork_server import ROOT

from crawler.contrib.corpus.quality import broken_limit
from crawler.extraction.auto import auto
from crawler.metadata.text_quality import text_quality
from crawler.page.page import Page
from crawler.reports.condition import condition_of

PAGES = [
    ROOT / "docs" / "how-to" / "export.md",
    ROOT / "docs" / "tutorial" / "data-set.md",
    ROOT / "docs" / "zh" / "tutorial" / "data-set.md",
]
CONDITION = re.compile(r'--where "(quality\.words[^"]*alpha_word_frac[^"]*)"')
CODE = [f"<pre>size_{letter} = read(path, {letter!r}) + {{'a': [1, 2, 3]}} # -> {{}}</pre>" for letter in "abcdefgh"]
PROSE = [
    f"<p>The option {letter} of the command sets the size of the buffer that holds what is read from the file.</p>"
    for letter in "abcdefgh"
]
MANUAL = "".join(f"{prose}{code}" for prose, code in zip(PROSE, CODE, strict=True))
NUMBERS = "<p>" + " ".join(f"{number} / {number * 7} :" for number in range(200)) + "</p>"
SHORT = "<p>See the other page of the manual.</p>"


def numbers(body: str) -> dict[str, float | None]:
    html = f"<html lang=en><title>The buffer</title><body><main><h1>The buffer</h1>{body}</main></body></html>"
    page = Page.from_html(html, "http://a.example/buffer")
    return text_quality(page, auto(page))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_it_keeps_manuals_and_removes_what_is_no_prose(path: object) -> None:
    (text,) = set(CONDITION.findall(path.read_text(encoding="utf-8")))
    condition = condition_of(text)
    kept = {body: condition.holds({"quality": numbers(body)}) for body in (MANUAL, NUMBERS, SHORT)}
    assert kept == {MANUAL: True, NUMBERS: False, SHORT: False}


def test_gopher_removes_a_manual_by_its_code() -> None:
    limit = broken_limit(numbers(MANUAL), "gopher", "en")
    assert limit is not None
    assert limit.name == "alpha_word_frac"
