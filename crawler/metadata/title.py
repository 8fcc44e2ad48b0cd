"""The headline of a page: the heading that agrees with the page's descriptions of itself.

The descriptions <title>, og:title, twitter:title and JSON-LD contain the page's title, often beside the site's name.
The heading that repeats them is the headline that readers see. If no heading does, the descriptions are used: a
heading that shares no word with them is a slogan, a greeting or the name of the site. Texts are compared by their keys,
which are their letters (`letters` in crawler/metadata/structured_data.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, dropwhile, islice, takewhile
from urllib.parse import unquote

from lxml import etree

from crawler.metadata.structured_data import letters, plain, site_keys, structured
from crawler.page.blocks import Block
from crawler.page.page import Page
from crawler.page.text import width, words
from crawler.urls.parsing import route

# Separators between the headline and the site's name; a hyphen only with spaces around it. An underscore joins words of
# Latin letters ("my_module"), but it is a separator beside a space or a Chinese character.
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_SPACED_SEPARATOR = r"\s+[-–—|·•»«:]\s+|\s*[|｜]\s*|\s*[-–—]{2,}\s*|\s+_\s*|_\s+"
SEPARATORS = re.compile(rf"{_SPACED_SEPARATOR}|(?<=[{_HAN}])_|_(?=[{_HAN}])")
# Separators beside a known name of the site, where any underscore is a separator.
_BESIDE_SITE = re.compile(rf"{_SPACED_SEPARATOR}|_")
# Single characters between a page's title and the site's name, or around the site's name.
_JOINTS = " :-–—|｜·•»«_[]()"
_VERTICAL_LINE = re.compile(r"\s[|｜]\s")
HEADINGS = frozenset(("h1", "h2", "h3"))
# A part shorter than this is a label such as "News"; a Chinese character counts as two letters.
MIN_LENGTH = 5
# A part before a vertical line that is shorter than this may be a label, too.
MIN_FIRST = 12
# Characters of <title> and of headings that are read, as each heading is compared with <title>. No headline is longer
# than MAX_TITLE.
MAX_TITLE = 1_000
MAX_HEADING = 300
MAX_HEADINGS = 100
MAX_LINES = 2_000
# Headings in a row before the main text that may belong to it.
MAX_ROW = 3
# Of two similar texts, the shorter has at least this share of the letters of the longer. It is also the least share of
# a heading's words that must be in the address.
SHARE = 0.5
# The least share of the words of a heading that must be in the descriptions.
SHARED_WORDS = 0.25
# The least number of words in the last segment of an address that names the page.
MIN_SLUG = 4
# Characters of a label such as "Thread: " that may come before a headline.
MAX_LABEL = 24
# How many elements are checked: the element of a line, and its ancestors.
MAX_ABOVE = 4
# Characters of their classes and ids that are read.
MAX_CLASS = 200
# Classes and ids of elements at the top of a page, with the name of the site.
_HEAD = re.compile(
    r"(?:^|[\s_-])(?:header|banner|masthead|logo|brand|(?:site|project)[_-]?(?:name|title))", re.IGNORECASE
)
# A version after the name of the subject of a manual.
_VERSION = re.compile(r"\s+v?\d[\w.-]{0,15}$", re.IGNORECASE)
MAX_VERSION = 20
_TITLES = ("og:title", "twitter:title")
_GREETING = re.compile(
    r"(?:welcome|hello|hi|log ?in|sign ?(?:in|up)|register|menu|search|home|error|404|403|access denied|just a moment"
    r"|subscribe|cookies?|欢迎|您好|你好|登录|注册|首页|搜索)\b",
    re.IGNORECASE,
)
MAX_GREETING = 30


@dataclass(frozen=True, slots=True)
class _Descriptions:
    """The titles of a page in its descriptions."""

    headline: str
    """The headline in JSON-LD."""
    titles: tuple[str, ...]
    """The titles in the meta elements _TITLES, without the site's name; empty strings for missing elements."""
    title: str
    """<title>, without the site's name if that is a line above the page's heading (`_name_above`)."""
    parts: tuple[str, ...]
    """The parts of <title> between separators, without the site's name; all parts if each is the site's name."""
    sites: frozenset[str]
    """Names of the site, reduced to their letters."""


def headline(page: Page, main: Sequence[Block] = ()) -> str:
    """The heading that the page's descriptions repeat, or that is related to them; else the title in the descriptions;
    else the first heading.

    If the descriptions only name the site, as in many applications, it is the heading at which the main text (`main`)
    begins.
    """
    descriptions = _descriptions(page, main)
    heading = _below_name(page, main, descriptions)
    if heading:
        return heading

    # The headings that may be the headline, each with its letters. The surest are an h1, or repeat a description.
    headings = list(islice((block for block in page.blocks if block.tag in HEADINGS), MAX_HEADINGS))
    keyed = [(letters(block.text[:MAX_HEADING]), block) for block in headings]
    fit = [(key, block) for key, block in keyed if _is_fit(block.text, key, descriptions)]
    repeated = {letters(text) for text in (descriptions.headline, *descriptions.titles, *descriptions.parts)}
    surest = [(key, block) for key, block in fit if block.tag == "h1" or key in repeated]

    chosen_title = (
        _agreed(surest, descriptions)
        or _related(fit, descriptions, page.url, _headings_at_start(page, main))
        or _title_line(page, descriptions)
        or _agreed(fit, descriptions)
        or _description(descriptions)
        or _part(page, descriptions)
        or next((block.text for block in headings), descriptions.title)
    )
    chosen_title = _without_site(chosen_title, descriptions.sites)
    if len(chosen_title) <= MAX_TITLE:
        return chosen_title
    return chosen_title[:MAX_TITLE].rpartition(" ")[0] or chosen_title[:MAX_TITLE]


def _below_name(page: Page, main: Sequence[Block], descriptions: _Descriptions) -> str:
    """The heading at which the main text begins, if the descriptions only name the site; empty otherwise.

    The descriptions only name the site if all of them are the text of a linked heading outside of the main text, and an
    <h1> with another text is at the beginning of the main text. Of the headings there that are no part of the name, the
    first with the words of the address is chosen, else the first.
    """
    name = letters(_whole_title(page))
    other_descriptions = {letters(text) for text in (descriptions.headline, *descriptions.titles) if text} - {name}
    if not main or not name or other_descriptions:
        return ""

    # The linked heading with the name.
    inside = set(map(id, main))
    has_linked_name = any(
        block.tag in HEADINGS and block.linked == len(block.text) and letters(block.text[:MAX_HEADING]) == name
        for block in page.blocks[:MAX_LINES]
        if id(block) not in inside
    )
    if not has_linked_name:
        return ""

    # The headings of the main text, without links: on the front page of a blog, the newest post's title is a link.
    blocks_elsewhere = page.once(_blocks_leading_elsewhere)
    elsewhere = {id(page.blocks[at]) for at in blocks_elsewhere if at < len(page.blocks)}
    row = [
        block
        for block in _headings_at_start(page, main)
        if block.linked < len(block.text) or id(block) not in elsewhere
    ]
    if not any(block.tag == "h1" and letters(block.text[:MAX_HEADING]) != name for block in row):
        return ""  # the page may have no other headline than the name
    address = page.url.partition("#")[0] + route(page.url).lstrip("#")
    own = [block.text[:MAX_HEADING] for block in row if letters(block.text[:MAX_HEADING]) not in name]
    return next((text for text in own if _is_in_address(text, address)), next(iter(own), ""))


def _descriptions(page: Page, main: Sequence[Block]) -> _Descriptions:
    """The descriptions of a page, without the site's name."""
    metas = page.head.metas
    sites = site_keys(page)
    name, rest = _name_above(page, main)
    if name:
        sites |= {letters(name)}
    title = rest or _whole_title(page)
    parts = [part.strip() for part in SEPARATORS.split(_without_site(title, sites)) if part.strip()]
    titles = tuple(_without_site(plain(metas.get(name, "")), sites) for name in _TITLES)
    own = tuple(part for part in parts if letters(part) not in sites)
    return _Descriptions(
        headline=structured(page).headline, titles=titles, title=title, parts=own or tuple(parts), sites=sites
    )


def _whole_title(page: Page) -> str:
    """<title>, up to MAX_TITLE characters."""
    return page.title[:MAX_TITLE].strip()


def _name_above(page: Page, main: Sequence[Block]) -> tuple[str, str]:
    """The site's name above the page's heading, and <title> without the name; both empty if no name is found.

    The name is a line by itself, and the beginning or the end of <title>.
    """
    title = _whole_title(page)
    blocks = page.blocks[:MAX_LINES]
    first_h1 = next((block for block in blocks if block.tag == "h1"), None)
    own_headings = _headings_at_start(page, main)
    for at, block in enumerate(blocks):
        if len(block.text) > len(title) + MAX_VERSION or (block.linked and block is not first_h1):
            continue
        name = block.text
        if block.tag not in HEADINGS:
            name = _VERSION.sub("", name)
        rest = _without_name(title, name)
        if not rest or name.isdigit():
            continue
        if block is first_h1 and (_is_name_of_manual(block, title, own_headings) or _is_linked_name(page, at, rest)):
            return name, rest
        if _is_name_in_head(page, at, letters(rest), title.startswith(f"{name}:")):
            return name, rest
    return "", ""


def _is_name_of_manual(name: Block, title: str, own_headings: Sequence[Block]) -> bool:
    """Whether an h1 that ends <title> stands before another h1, at which the main text begins."""
    below = list(dropwhile(lambda block: block is not name, own_headings))[1:] or own_headings
    return name not in below and title.endswith(name.text) and any(block.tag == "h1" for block in below)


def _is_linked_name(page: Page, at: int, rest: str) -> bool:
    """Whether an h1 is a link to another page, above an h1 without a link or a heading with the rest of <title>."""
    name = page.blocks[at]
    if name.linked < len(name.text) or at not in page.once(_blocks_leading_elsewhere):
        return False
    key = letters(rest)
    return any(
        (block.tag == "h1" and not block.linked) or (block.tag in HEADINGS and letters(block.text[:MAX_TITLE]) == key)
        for block in page.blocks[at + 1 : MAX_LINES]
    )


def _is_name_in_head(page: Page, at: int, rest: str, has_colon: bool) -> bool:
    """Whether a line is at the top of the page (`_is_in_head`), above a line with the rest of <title>.

    `rest` are the letters of the rest. The line with it must be the next line, unless the name is not a heading and is
    followed by a colon in <title> (`has_colon`).
    """
    name = page.blocks[at]
    if has_colon and name.tag not in HEADINGS:
        is_rest_below = page.once(_last_places).get(rest, -1) > at
    else:
        below = page.blocks[at + 1 : min(at + 2, MAX_LINES)]
        is_rest_below = any(not block.linked and letters(block.text[:MAX_TITLE]) == rest for block in below)
    return is_rest_below and _is_in_head(name.element)


def _last_places(page: Page) -> dict[str, int]:
    """For the letters of each line without a link, the index of the last such line."""
    return {letters(block.text[:MAX_TITLE]): at for at, block in enumerate(page.blocks[:MAX_LINES]) if not block.linked}


def _headings_at_start(page: Page, main: Sequence[Block]) -> list[Block]:
    """The headings in a row at which the main text begins: at most MAX_ROW just before it, and the first in it."""
    if not main:
        return []
    start = next(number for number, block in enumerate(page.blocks) if block is main[0])
    before = takewhile(lambda block: block.tag in HEADINGS, reversed(page.blocks[max(0, start - MAX_ROW) : start]))
    return [*reversed(list(before)), *takewhile(lambda block: block.tag in HEADINGS, main)]


def _without_name(title: str, name: str) -> str:
    """A title without the name at its start or end; empty if the name is at neither."""
    bare = title.strip(_JOINTS)
    if bare.startswith(name) and bare[len(name) : len(name) + 1] in _JOINTS:
        return bare[len(name) :].strip(_JOINTS)
    if bare.endswith(name) and bare[: -len(name)][-1:] in _JOINTS:
        return bare[: -len(name)].strip(_JOINTS)
    return ""


def _blocks_leading_elsewhere(page: Page) -> frozenset[int]:
    """The indexes of blocks with a link to another page."""
    here = page.url.partition("#")[0]
    return frozenset(link.at for link in page.links if link.url.partition("#")[0] != here)


def _is_in_head(element: etree._Element) -> bool:
    """Whether an element is at the top of the page, with the site's name and menu."""
    around = islice(chain([element], element.iterancestors()), MAX_ABOVE)
    return any(
        ancestor.tag == "header"
        or _HEAD.search(f"{ancestor.get('class', '')[:MAX_CLASS]} {ancestor.get('id', '')[:MAX_CLASS]}")
        for ancestor in around
    )


def _is_fit(text: str, key: str, descriptions: _Descriptions) -> bool:
    """Whether a text can be a headline: neither the site's name, nor a greeting that is not the whole <title>."""
    if not key or key in descriptions.sites:
        return False
    return not (len(text) <= MAX_GREETING and _GREETING.match(text) and text != descriptions.title)


def _agreed(headings: list[tuple[str, Block]], descriptions: _Descriptions) -> str:
    """The heading that most of the descriptions repeat.

    JSON-LD and og:title count 3 if the heading repeats them exactly, and 2 if it is similar to them. If the heading
    repeats the first part of <title>, that counts 2, and each other part 1; the whole <title> counts 2 if the heading
    is similar to it and not longer. A score of 1 is too little. An h1 is preferred to other headings of equal score,
    then the longest heading.
    """
    weighted_titles = [(letters(text), 3) for text in (descriptions.headline, *descriptions.titles[:1]) if text]
    weighted_parts = [(letters(part), 2 if number == 0 else 1) for number, part in enumerate(descriptions.parts)]
    whole = letters(descriptions.title)
    best = ""
    best_rank = (0, 0)
    for key, block in headings:
        score = sum(weight - (key != title) for title, weight in weighted_titles if _is_much_of(key, title))
        score += sum(weight for part, weight in weighted_parts if key == part)
        score += 2 * (len(key) <= len(whole) and _is_much_of(key, whole))
        rank = (2 * score + (block.tag == "h1"), len(block.text))
        if score > 1 and rank > best_rank:
            best = block.text
            best_rank = rank
    best = _after_name(best, headings, descriptions)

    # A label such as "Thread: " before the headline is not part of it.
    bare = descriptions.headline
    if bare and best.endswith(bare) and len(best) - len(bare) <= MAX_LABEL and bare in descriptions.parts:
        return bare
    return best


def _after_name(best: str, headings: list[tuple[str, Block]], descriptions: _Descriptions) -> str:
    """The heading that is the first part of <title>, if the best heading stands above it and is the last part of
    <title>; else the best heading.

    In manuals, each page has the manual's name above its own heading, but <title> has the heading first.
    """
    name = letters(best)
    if not name or len(descriptions.parts) < 2 or name != letters(SEPARATORS.split(descriptions.title)[-1]):
        return best
    first = letters(descriptions.parts[0])
    at = [key for key, _ in headings].index(name)
    return next((block.text for key, block in headings[at + 1 :] if key == first), best)


def _related(
    headings: list[tuple[str, Block]], descriptions: _Descriptions, url: str, own_headings: Sequence[Block]
) -> str:
    """The page's only h1, or the only one at which the main text begins, if it is related to the descriptions."""
    h1s = [(key, block) for key, block in headings if block.tag == "h1"]
    if len(h1s) > 1:
        parts = [letters(part) for part in descriptions.parts]
        # A heading that is a part of <title> with a label is excluded: the part is the better title.
        h1s = [
            (key, block)
            for key, block in h1s
            if block in own_headings
            and not any(key != part and (key.startswith(part) or key.endswith(part)) for part in parts)
            and _is_related(key, block.text, descriptions, url)
        ]
    if len(h1s) != 1:
        return ""
    [(key, block)] = h1s
    if _is_related(key, block.text, descriptions, url):
        return block.text
    return ""


def _is_related(key: str, text: str, descriptions: _Descriptions, url: str) -> bool:
    """Whether the descriptions or the address share some words with a heading that is not a name in <title>."""
    if any(_is_a_name(part, descriptions) for part in descriptions.parts if letters(part) == key):
        return False
    described = {
        word
        for description in (descriptions.headline, *descriptions.titles, *descriptions.parts)
        for word in words(description)
    }
    own = set(words(text[:MAX_HEADING]))
    return _is_in_address(text[:MAX_HEADING], url) or not described or len(own & described) >= SHARED_WORDS * len(own)


def _is_in_address(text: str, url: str) -> bool:
    """Whether half of a heading's words are in the path of an address, or its first words are the last segment, with at
    least MIN_SLUG words.
    """
    _, _, host_and_rest = url.partition("//")
    host_and_path = re.split(r"[?#]", host_and_rest[:MAX_TITLE], maxsplit=1)[0]
    path = host_and_path.partition("/")[2].rstrip("/")
    own = words(text)
    slug = words(unquote(path.rpartition("/")[2]))
    if len(slug) >= MIN_SLUG and own[: len(slug)] == slug:
        return True
    return bool(own) and len(set(own).intersection(words(unquote(path)))) >= SHARE * len(set(own))


def _description(descriptions: _Descriptions) -> str:
    """The first description that can be a headline, without the section, the site or the slogan after a vertical line.
    Empty if no description can be a headline.
    """
    titles = (descriptions.headline, *descriptions.titles)
    text = next((title for title in titles if _is_fit(title, letters(title), descriptions)), "")
    first, *others = _VERTICAL_LINE.split(text)
    is_label = width(first) < MIN_FIRST or any(len(first) * 2 <= len(other) for other in others)
    if is_label:
        return text
    return first.strip()


def _part(page: Page, descriptions: _Descriptions) -> str:
    """The longest part of <title> that is a line of the page by itself and not a link; else the first part that is not
    a label; else <title>.
    """
    if len(descriptions.parts) > 1:
        lines = {block.text for block in page.blocks[:MAX_LINES] if not block.linked}
        part_lines = [part for part in descriptions.parts if part in lines and not _is_a_name(part, descriptions)]
        if part_lines:
            return max(part_lines, key=len)
    return next((part for part in descriptions.parts if width(part) >= MIN_LENGTH), descriptions.title)


def _title_line(page: Page, descriptions: _Descriptions) -> str:
    """<title>, if it has only one part, and is a line of the page by itself and not a link; otherwise empty."""
    if len(descriptions.parts) != 1:
        return ""
    is_line = any(block.text == descriptions.title and not block.linked for block in page.blocks[:MAX_LINES])
    return descriptions.title if is_line else ""


def _is_a_name(part: str, descriptions: _Descriptions) -> bool:
    """Whether a part of <title> is much shorter than another part, as site names are."""
    return len(part) * 2 <= max(map(len, descriptions.parts))


def _is_much_of(key: str, other: str) -> bool:
    """Whether one of two keys contains the other and is not much longer."""
    if len(key) < len(other):
        return len(key) >= SHARE * len(other) and key in other
    return len(other) >= SHARE * len(key) and other in key


def _without_site(text: str, sites: frozenset[str]) -> str:
    """A title without the site's names before and after it."""
    # The start and the end of each part between separators, in turn.
    bounds = [0, *(at for separator in _BESIDE_SITE.finditer(text) for at in separator.span()), len(text)]
    while len(bounds) > 2 and letters(text[bounds[-2] : bounds[-1]]) in sites:
        bounds = bounds[:-2]
    while len(bounds) > 2 and letters(text[bounds[0] : bounds[1]]) in sites:
        bounds = bounds[2:]
    return text[bounds[0] : bounds[-1]].strip()
