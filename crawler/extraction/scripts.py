"""The main text of a page that stands in its scripts alone, where a browser would put it together.

Such text is the articleBody of JSON-LD, or lies in the data that a script starts from (__NEXT_DATA__,
window.__INITIAL_STATE__ = {...}), or in a long string of a program. Of all that is prose the longest is taken, and what
stands beside the page's own title before all else. Scripts are read only where the page itself shows little text.
"""

import re
from collections.abc import Iterator
from itertools import islice

from crawler.extraction.script_data import (
    MAX_TEXT,
    MAX_TITLE,
    Candidate,
    ScriptData,
    as_html,
    document,
    prose,
)
from crawler.metadata.structured_data import letters, structured
from crawler.metadata.title import headline
from crawler.page.page import Page

MAX_SCRIPTS = 200
MAX_SCRIPT, MAX_ALL = 3_000_000, 5_000_000  # characters of one script, and of all
MIN_TEXT = 250  # a Chinese character counts for two
MIN_STRING = 200  # characters of a string in a program
# Text that does not stand beside the page's title is believed where the page itself shows no more characters.
MAX_SHOWN = 1_000
MIN_UNTITLED = 1_500
# The text of the scripts is taken in place of one that is shorter than this, and so many times shorter than it.
MAX_OWN = 1_500
TIMES = 3

_SKIPPED_TYPES = re.compile("ld\\+json|importmap|speculationrules|x-mathjax", re.IGNORECASE)
_STRING = re.compile(
    r"\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?|`[^`\\]*+(?:\\.[^`\\]*+)*+`?", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "\n": "", "0": ""}


def instead(page: Page, text: str) -> str:
    """The text of the scripts, where it is to be taken in place of what a method found in the page; else empty."""
    if len(text) >= MAX_OWN or (own := _width(text)) >= MAX_OWN:
        return ""
    found = scripted(page)
    return found if _width(found) >= TIMES * own else ""


def scripted(page: Page) -> str:
    """The main text that is found in the page's scripts, a line for each paragraph; empty where there is none."""
    return page.once(_scripted)


def _scripted(page: Page) -> str:
    said = structured(page)
    body = as_html([post.text for post in said.posts] if len(said.posts) > 1 else [said.body])
    found = [Candidate(prose(body), body, True), *_in_data(page)]
    shown = sum(len(block.text) for block in page.blocks)
    best = max(found, key=lambda one: (one.titled, one.weight))
    least = MIN_TEXT
    if not best.weight and shown < MAX_SHOWN:  # a page that shows nothing without its scripts
        best, least = max(found, key=lambda one: one.weight), MIN_UNTITLED
    text = _text(best.html) if best.weight else ""
    return text if _width(text) >= least else ""


def _in_data(page: Page) -> Iterator[Candidate]:
    """What may be the text in each script."""
    left = MAX_ALL
    title = letters(headline(page)[:MAX_TITLE])
    for element in islice(page.root.iter("script"), MAX_SCRIPTS):
        source, kind = element.text or "", element.get("type", "")
        if not MIN_STRING <= len(source) <= MAX_SCRIPT or _SKIPPED_TYPES.search(kind[:100]):
            continue
        left -= len(source)
        if left < 0:
            return
        if "html" in kind or "template" in kind:
            yield Candidate(prose(source), source)
            continue
        yield from _of(source, title)


def _of(source: str, title: str) -> Iterator[Candidate]:
    """What may be the text in a script: in the data it starts with, else in its strings."""
    if (data := document(source)) is not None:
        yield from ScriptData(data, title).found()
        return
    longest: Candidate | None = None
    for string in _STRING.finditer(source):
        if string.end() - string.start() < MIN_STRING:
            continue
        text = _ESCAPE.sub(_unescaped, string[0][1:-1])
        if text[:1] in ("{", "[") and (data := document(text)) is not None:
            yield from ScriptData(data, title).found()
        elif (weight := prose(text)) and (longest is None or weight > longest.weight):
            longest = Candidate(weight, text)
    if longest is not None:
        yield Candidate(longest.weight, as_html([longest.html]))


def _unescaped(found: re.Match[str]) -> str:
    if code := found[1] or found[2]:
        return chr(int(code, 16))
    return _ESCAPED.get(found[3], found[3])


def _text(html: str) -> str:
    """The lines of a text that is written as HTML, each once: data often says the same in two ways."""
    return "\n".join(dict.fromkeys(block.text for block in Page.from_html(html[:MAX_TEXT]).blocks))


def _width(text: str) -> int:
    return sum(1 + (character >= "\u2e80") for character in text)
