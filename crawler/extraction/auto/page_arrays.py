"""Reads a page into arrays, before any weights are used: a column for each property of its blocks and of the elements
around them.

`BlockColumns` adds intermediate values from which several features are computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from operator import sub

import numpy as np
from numpy.typing import NDArray

from crawler.extraction.auto import page_names, text_arrays
from crawler.extraction.auto.text_arrays import (
    CASELESS,
    LOWER,
    QUOTE,
    STOP,
    UNSPACED,
    UPPER,
    Characters,
    Ints,
    NameWords,
)
from crawler.metadata.structured_data import structured
from crawler.page.element_names import element_names, kinds
from crawler.page.html_tree import MAX_BLOCKS
from crawler.page.page import Page
from crawler.page.text import unescaped

Floats = NDArray[np.floating]
MOST_LETTERS = 1_200
"""Characters of a block that are read; its length counts in full."""
MOST_BODY = 40_000  # characters of the article in the page's JSON-LD
MOST_OF_ALL = 1_000_000
"""Characters of all blocks, or of all names, that are read: far more than pages have."""
EXTRA = 3
"""Texts that are read in addition to the blocks: title, description, and the article in the page's JSON-LD."""
MOST_NAME = 200  # characters of the names of an element
MOST_TITLE = 300  # characters
MOST_ABOUT = 1_000  # characters of the description

TAGS = (
    "p div li td th h1 h2 h3 h4 h5 h6 dt dd pre blockquote figcaption section article body label button option center "
    "noscript"
).split()
"""The tags of blocks that are distinguished."""
TAG_NUMBERS = dict(zip(TAGS, count(1)))
WRAPS = "a b strong em i span font time small code img label".split()
"""The tags of wraps that are distinguished. A wrap is the first inline element that begins in a block."""
WRAP_NUMBERS = dict(zip(WRAPS, count(1)))
FRAMES = (
    "nav header footer aside article main form table tr td li ul ol dl figure figcaption noscript blockquote pre "
    "section button label h1 h2 h3 h4 h5 h6 p a dd dt center font address details iframe"
).split()
"""The tags of elements around a block that are distinguished."""
FRAME_BITS = {tag: 1 << place for place, tag in enumerate(FRAMES)}
_TAG_IN_TEXT = re.compile(r"<[^<>]{0,300}>")
_OG_TYPES = ("article", "website", "product", "profile", "video", "blog")


@dataclass(frozen=True, slots=True)
class ContainerArrays:
    """The containers of a page in page order, as columns."""

    names: Ints
    """The number of the container's name among the names of the page's elements."""
    parents: Ints
    """The container around it; -1 for the first."""
    outer: Ints
    """The nearest container around it that contains more blocks; for the first container, itself."""
    frames: Ints
    """A bit for each of FRAMES that the container is or is in."""
    depths: Ints
    """The levels from the root to the container."""
    paths: Ints
    """A number that containers share if their names, and those of all containers around them, are the same."""
    places: Ints
    """A number that containers share if they repeat; see `places`."""
    starts: Ints
    """The index of its first block."""
    ends: Ints
    """The index of the first block after it."""


@dataclass(frozen=True, slots=True)
class PageArrays:
    """Everything that the model reads from a page, before any weights are used."""

    words: NameWords
    """The words in the names of elements: tags, classes, ids, roles and item properties."""
    texts: Characters
    """The texts of the blocks, then the title, the description, and the article in the page's JSON-LD."""
    outline: ContainerArrays
    homes: Ints
    """The innermost container around each block."""
    wraps: Ints
    """The number of the name of each block's wrap, its first inline element; -1 if there is none."""
    wrap_tags: Ints
    """The number of the wrap's tag among WRAPS, counted from 1; 0 for other tags, and if there is no wrap."""
    tags: Ints
    """The number of each block's tag among TAGS, counted from 1; 0 for other tags."""
    lengths: Floats
    linked: Floats
    """How many characters of each block are in links."""
    copies: Ints
    """A number that blocks with the same text share."""
    links: Floats
    """How many links to other pages are in each block."""
    images: Floats
    """How many images are in each block, or between the last block and it; the last entry counts the images after all
    blocks.
    """
    page: Floats
    """The values that HEAD names, from the address and the head of the page."""
    names: tuple[int, ...]
    """The buckets of the page's own names (.page_names)."""


def _outline(page: Page) -> ContainerArrays:
    """The containers of a page."""
    name_numbers = element_names(page).containers
    parents = page.containers.parents
    starts = page.containers.starts
    ends = page.containers.ends
    tags = page.containers.tags
    if len(page.blocks) > MAX_BLOCKS:  # only the containers of the blocks that are judged
        last = 1 + max(page.homes[:MAX_BLOCKS])
        name_numbers = name_numbers[:last]
        parents = parents[:last]
        starts = starts[:last]
        tags = tags[:last]
        ends = [min(end, MAX_BLOCKS) for end in ends[:last]]
    # The columns are shifted by one, so that the first container has a parent, too.
    frames = [0]
    depths = [0]
    paths = [0]
    path_numbers: dict[tuple[int, int], int] = {}
    bits = FRAME_BITS.get
    for name, parent, start, end, tag in zip(name_numbers, parents, starts, ends, tags, strict=True):
        if start == end:  # a container without blocks is not needed
            for column in (frames, depths, paths):
                column.append(0)
            continue
        around = parent + 1
        frames.append(frames[around] | bits(tag, 0))
        depths.append(depths[around] + 1)
        paths.append(path_numbers.setdefault((paths[around], name), len(path_numbers) + 1))
    outer = outward(parents, starts, ends)
    repeated = page.once(places)[: len(name_numbers)]
    return ContainerArrays(
        names=np.array(name_numbers, np.int64),
        parents=np.array(parents, np.int64),
        outer=np.array(outer, np.int64),
        frames=np.array(frames[1:], np.int64),
        depths=np.array(depths[1:], np.int64),
        paths=np.array(paths[1:], np.int64),
        places=np.array(repeated, np.int64),
        starts=np.array(starts, np.int64),
        ends=np.array(ends, np.int64),
    )


def places(page: Page) -> Ints:
    """A number for each container of a page. Containers that repeat have the same number: their kinds are the same, and
    so are the kinds of the two containers around them. If none of these has a class, as in tables for the layout, the
    container has a number of its own.
    """
    names = element_names(page)
    # The kinds of each container, of its parent and of the parent of that. A kind is negative for an element without a
    # class, and 0 above the first container.
    own = np.array(kinds(names.names))[names.containers]
    parents = np.array(page.containers.parents)
    around = np.append(own, 0)[parents]  # -1, the parent of the first, is the last position
    farther = np.append(around, 0)[parents]

    # The three kinds are the digits of a number. If none of them has a class, the number is beyond all such numbers.
    base = 2 * int(np.abs(own).max()) + 1
    shared = (own * base + around) * base + farther
    has_class = np.maximum(np.maximum(own, around), farther) > 0
    numbers: Ints = np.where(has_class, shared, base**3 + np.arange(len(own)))
    return numbers


def outward(parents: list[int], starts: list[int], ends: list[int]) -> list[int]:
    """For each container the nearest one around it that contains more blocks; for the first, itself."""
    sizes = list(map(sub, ends, starts))
    larger = [0] if parents else []
    for parent, size in zip(parents[1:], sizes[1:], strict=True):
        larger.append(parent if sizes[parent] > size else larger[parent])
    return larger


def page_arrays(page: Page) -> PageArrays:
    """The arrays of a page, which must have a block."""
    blocks = page.blocks[:MAX_BLOCKS]
    wraps = page.wraps[:MAX_BLOCKS]
    homes = page.homes[:MAX_BLOCKS]
    block_count = len(blocks)

    # The texts that are read in addition to the blocks.
    meta = page.meta
    title = f"{page.title[:MOST_TITLE]} {meta.get('og:title', '')[:MOST_TITLE]}"
    about = meta.get("og:description") or meta.get("description") or meta.get("twitter:description") or ""

    number_of_text: dict[str, int] = {}
    names = element_names(page)
    texts = _beginnings((block.text for block in blocks), MOST_LETTERS)
    name_texts = _beginnings((" ".join(filter(None, name)) for name in names.names), MOST_NAME)
    return PageArrays(
        words=text_arrays.read_names(name_texts),
        texts=text_arrays.read([*texts, title, about[:MOST_ABOUT], _body(page)]),
        outline=_outline(page),
        homes=np.array(homes, np.int64),
        wraps=np.array(names.wraps[:MAX_BLOCKS], np.int64),
        wrap_tags=np.array([0 if wrap is None else WRAP_NUMBERS.get(wrap.tag, 0) for wrap in wraps], np.int64),
        tags=np.array([TAG_NUMBERS.get(block.tag, 0) for block in blocks], np.int64),
        lengths=np.array([len(block.text) for block in blocks], np.float32),
        linked=np.array([block.linked for block in blocks], np.float32),
        copies=np.array([number_of_text.setdefault(block.text, len(number_of_text)) for block in blocks], np.int64),
        links=_counts([link.at for link in page.link_elements if _leads_to_page(link.href)], block_count + 1)[
            :block_count
        ],
        images=_counts([min(image.at, block_count) for image in page.image_elements], block_count + 1),
        page=_head(page),
        names=page_names.page_names(page),
    )


def _beginnings(texts: Iterable[str], most: int) -> list[str]:
    """The first characters of each text, at most `most`; fewer if all texts together have more than MOST_OF_ALL."""
    beginnings = [text[:most] for text in texts]
    if sum(map(len, beginnings)) <= MOST_OF_ALL:
        return beginnings
    return [text[: max(1, MOST_OF_ALL // len(beginnings))] for text in beginnings]


def _counts(indexes: list[int], end: int) -> Floats:
    """How often each index below `end` occurs; no index is higher."""
    return np.bincount(indexes, minlength=end).astype(np.float32)


def _leads_to_page(href: str | None) -> bool:
    """Whether a link leads to another page, judged by its first characters."""
    return href is not None and href[:1] not in ("", "#") and href[:11].lower() != "javascript:"


def _body(page: Page) -> str:
    """The text of the article in the page's JSON-LD, without tags."""
    body = structured(page).body[:MOST_BODY]
    if "<" in body or "&" in body:
        return _TAG_IN_TEXT.sub(" ", unescaped(body))
    return body


def _head(page: Page) -> Floats:
    """Values from the address and the head of a page."""
    path, _, query = page.url.split("://")[-1].partition("/")[2][:300].partition("?")
    kind = page.meta.get("og:type", "").lower()
    return np.array(
        [
            path.count("/"),
            np.log1p(len(path)),
            np.log1p(path.count("-")),
            np.log1p(sum(map(str.isdigit, path))),
            bool(query),
            path.endswith((".html", ".htm", ".shtml")),
            *(kind.startswith(name) for name in _OG_TYPES),
            "article:published_time" in page.meta,
        ],
        np.float32,
    )


HEAD = (*"depth,length,hyphens,digits,query,.html".split(","), *(f"og {kind}" for kind in _OG_TYPES), "published")
"""The names of the values that `_head` computes."""


LEVELS = 5
"""The number of containers around a block that are considered (`ranges`)."""
PAIRS = 1 << 18
"""The number of buckets for pairs of adjacent words."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of names and words; they are trained before the network, each separately."""

    own: Floats
    """The score of each block by the names of its innermost container and of the first inline element in it."""
    around: Floats
    """The score of each container by its names and those of the containers around it."""
    words: Floats
    """The score of each block by its words."""
    page_types: Floats
    """The probability of each type of page, by the page's own names."""


@dataclass(frozen=True, slots=True)
class BlockColumns:
    """Values from which several features are computed."""

    arrays: PageArrays
    scores: Scores
    levels: Ints
    """For each level and block, the index of a container; see `ranges`."""
    block_count: int
    """The number of blocks."""
    at: Ints
    """The indexes of the blocks."""
    kinds: Floats
    """For each kind of character, how many of the characters that were read are of this kind."""
    characters_read: Floats
    """How many characters were read, at least 1."""
    words: Floats
    """How many words were read."""
    letters: Floats
    """How many letters were read, at least 1."""
    stops: Floats
    """How many full stops a block has, estimated from the characters that were read."""
    unspaced: Floats
    """How many characters of scripts without spaces a block has, estimated likewise."""
    widths: Floats
    """The lengths; a Chinese character counts as three letters."""
    log_widths: Floats
    density: Floats
    """The share of a block's text in links."""
    prose: Floats
    """The width of the text outside links, for blocks with a full stop."""
    ends_stop: NDArray[np.bool_]
    """Whether a block ends with a full stop, or with a quotation mark after one."""
    in_body: Floats
    """How much of a block is in the article in the page's JSON-LD."""
    around: Floats
    """The score of each block by the names of the containers around it."""
    total: float
    """The characters of all blocks, at least 1."""


def ranges(arrays: PageArrays) -> Ints:
    """For each level and block, the index of a container. At the first level it is the innermost container around the
    block, at each next level the nearest container around that one that contains more blocks.
    """
    levels = [arrays.homes]
    for _ in range(LEVELS - 1):
        levels.append(arrays.outline.outer[levels[-1]])
    return np.array(levels)


def block_columns(arrays: PageArrays, scores: Scores, levels: Ints) -> BlockColumns:
    """The values of all blocks from which features are computed."""
    block_count = len(arrays.homes)
    lengths = arrays.lengths
    kinds = arrays.texts.kinds[:block_count].T
    # Only the beginning of a long block is read: the counts are scaled to the length of the whole block.
    characters_read = np.maximum(kinds.sum(0), 1)
    stops, unspaced = kinds[[STOP, UNSPACED]] * (lengths / characters_read)
    widths = lengths + 2 * unspaced
    density = arrays.linked / np.maximum(lengths, 1)
    last = arrays.texts.last[:block_count]
    return BlockColumns(
        arrays=arrays,
        scores=scores,
        levels=levels,
        block_count=block_count,
        at=np.arange(block_count),
        kinds=kinds,
        characters_read=characters_read,
        words=np.bincount(arrays.texts.owner, minlength=block_count + EXTRA)[:block_count].astype(np.float32),
        letters=np.maximum(kinds[[LOWER, UPPER, CASELESS, UNSPACED]].sum(0), 1),
        stops=stops,
        unspaced=unspaced,
        widths=widths,
        log_widths=np.log1p(widths),
        density=density,
        prose=widths * (1 - density) * (stops > 0),
        ends_stop=(last == STOP) | ((last == QUOTE) & (stops > 0)),
        in_body=_in_body(arrays.texts, block_count),
        around=scores.around[arrays.homes],
        total=max(1.0, float(lengths.sum())),
    )


def _in_body(texts: Characters, block_count: int) -> Floats:
    """The share of each block's pairs of words that are in the article of the structured data; 0 without an article."""
    first = int(np.searchsorted(texts.owner, block_count + 2))  # the article's first word: its text is the last one
    if first == len(texts.words):
        return np.zeros(block_count, np.float32)
    # The pairs of adjacent words, hashed to buckets by two primes.
    pairs = (texts.words[:-1] * 31 + texts.words[1:] * 7919) % PAIRS
    is_in_article = np.zeros(PAIRS, bool)
    is_in_article[pairs[first:]] = True
    is_within_text = texts.owner[:-1] == texts.owner[1:]  # otherwise the two words are of two texts
    owner = texts.owner[:-1][is_within_text]
    counts = np.bincount(owner, minlength=block_count)[:block_count]
    hits = np.bincount(owner[is_in_article[pairs[is_within_text]]], minlength=block_count)[:block_count]
    return (hits / np.maximum(counts, 1)).astype(np.float32)
