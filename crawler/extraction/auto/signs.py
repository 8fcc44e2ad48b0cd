"""What is seen of each block of a page, as a matrix of numbers: a row a sign, a column a block.

The signs of a block are of its text, of its element and those around it, of its place, of its neighbours, of what the
containers around it hold, of the blocks in the same kind of element (those with the same path), and of the whole page.
"""

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.extraction.auto import characters
from crawler.extraction.auto.characters import CASELESS, COMMA, KINDS, LOWER, QUOTE, STOP, UNSPACED, UPPER, Characters, Ints
from crawler.extraction.auto.names import names, page_names
from crawler.page import Page

Floats = NDArray[np.float32]
MOST_LETTERS = 1_200
"""Letters of a block that are looked at; its length counts whole."""
LEVELS = 5
REACHES = (4, 16)

TAGS = (
    "p div li td th h1 h2 h3 h4 h5 h6 dt dd pre blockquote figcaption section article body label button option center "
    "noscript"
).split()
_TAG = dict(zip(TAGS, count(1)))
WRAPS = "a b strong em i span font time small code img label".split()
_WRAP = dict(zip(WRAPS, count(1)))
FRAMES = (
    "nav header footer aside article main form table tr td li ul ol dl figure figcaption noscript blockquote pre "
    "section button label h1 h2 h3 h4 h5 h6 p a dd dt center font address details iframe"
).split()
_FRAME = dict(zip(FRAMES, (1 << place for place in count())))
_FRAME_BITS = np.arange(len(FRAMES))[:, None]
_HEADINGS = (_TAG["h1"], _TAG["h6"])
_OG_TYPES = ("article", "website", "product", "profile", "video", "blog")


class Outline(NamedTuple):
    """The containers of a page, in columns, in page order."""

    names: list[tuple[int, ...]]
    parents: Ints
    outer: Ints
    """The nearest container around that holds more blocks; the first is its own."""
    frames: Ints
    """A bit for each kind of element that it is or is in."""
    depths: Ints
    paths: Ints
    """The same number for containers whose names, and those of all around them, are the same."""
    starts: Ints
    ends: Ints


class Sight(NamedTuple):
    """All that is seen of a page, before any weight."""

    texts: Characters
    """Of the blocks; then of the title and of the description."""
    outline: Outline
    homes: Ints
    """The innermost container around each block."""
    wraps: list[tuple[int, ...]]
    """The names of the first inline element that begins in each block."""
    wrap_tags: Ints
    tags: Ints
    lengths: Floats
    linked: Floats
    copies: Ints
    """The same number for blocks of the same text."""
    links: Floats
    """How many there are in each block."""
    images: Floats
    """How many stand before each block, or in it; one more, of those after the last."""
    page: Floats
    """What the address and the head tell."""
    names: tuple[int, ...]
    """The names of the page."""


class Scores(NamedTuple):
    """What names and words speak for, learned one by one."""

    own: Floats
    """Of each block, by the names of its home."""
    around: Floats
    """Of each container, by the names of those around it, its own too."""
    words: Floats
    """Of each block."""
    kinds: Floats
    """Of the page: the probability of each page type."""


def outline(page: Page) -> Outline:
    """The containers of a page."""
    elements, parents, starts, ends = page.containers
    named: list[tuple[int, ...]] = []
    frames, depths, paths = [0], [0], [0]  # one further on, so that the first has something around it
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    for element, parent in zip(elements, parents, strict=True):
        name = names(element)
        around = parent + 1
        named.append(name)
        frames.append(frames[around] | _FRAME.get(element.tag, 0))
        depths.append(depths[around] + 1)
        paths.append(numbers.setdefault((paths[around], name), len(numbers) + 1))
    outer = outward(parents, starts, ends)
    columns = (parents, outer, frames[1:], depths[1:], paths[1:], starts, ends)
    return Outline(named, *(np.array(column, np.int64) for column in columns))


def outward(parents: Sequence[int] | Ints, starts: Sequence[int] | Ints, ends: Sequence[int] | Ints) -> Ints:
    """For each container the nearest one around it that holds more blocks, for the first itself."""
    found = [0]
    for index, (parent, start, end) in enumerate(zip(parents, starts, ends, strict=True)):
        if index:
            found.append(parent if ends[parent] - starts[parent] > end - start else found[parent])
    return np.array(found[: len(parents)], np.int64)


def sight(page: Page) -> Sight:
    """What is seen of a page."""
    blocks, wraps = page.blocks, page.wraps
    number = len(blocks)
    meta = page.meta
    title = f"{page.title[:300]} {meta.get('og:title', '')[:300]}"
    about = meta.get("og:description") or meta.get("description") or meta.get("twitter:description") or ""
    same: dict[str, int] = {}
    return Sight(
        characters.read([*(block.text[:MOST_LETTERS] for block in blocks), title, about[:1_000]]),
        outline(page),
        np.array(page.homes, np.int64),
        [() if wrap is None else names(wrap) for wrap in wraps],
        np.array([0 if wrap is None else _WRAP.get(wrap.tag, 0) for wrap in wraps], np.int64),
        np.array([_TAG.get(block.tag, 0) for block in blocks], np.int64),
        np.array([len(block.text) for block in blocks], np.float32),
        np.array([block.linked for block in blocks], np.float32),
        np.array([same.setdefault(block.text, len(same)) for block in blocks], np.int64),
        np.bincount([link.at for link in page.links], minlength=number + 1)[:number].astype(np.float32),
        np.bincount([image.at for image in page.images], minlength=number + 1).astype(np.float32),
        _head(page),
        page_names(page),
    )


def _head(page: Page) -> Floats:
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


_HEAD = [*"depth,length,hyphens,digits,query,.html".split(","), *(f"og {kind}" for kind in _OG_TYPES), "published"]


class Signs(NamedTuple):
    """The matrix, with the name of each row."""

    matrix: Floats
    names: list[str]


def signs(seen: Sight, scores: Scores, levels: Ints) -> Signs:
    """The signs of all blocks."""
    number = len(seen.homes)
    rows: list[NDArray[np.floating]] = []
    labels: list[str] = []

    def add(rows_of: Sequence[str], values: NDArray[np.floating]) -> None:
        labels.extend(rows_of)
        rows.append(np.broadcast_to(values, (len(rows_of), number)))

    def choose(name: str, values: Ints, kinds: int) -> None:
        one = np.zeros((kinds, number), np.float32)
        one[values, np.arange(number)] = 1
        add([f"{name} {kind}" for kind in range(kinds)], one)

    kinds = seen.texts.kinds[:number].T
    looked_at = np.maximum(kinds.sum(0), 1)
    lengths, linked = seen.lengths, seen.linked
    owner = seen.texts.owner
    words = np.bincount(owner, minlength=number + 2)[:number].astype(np.float32)
    stops = kinds[STOP] * lengths / looked_at
    unspaced = kinds[UNSPACED] * lengths / looked_at
    letters = np.maximum(kinds[LOWER] + kinds[UPPER] + kinds[CASELESS] + kinds[UNSPACED], 1)
    widths = lengths + 2 * unspaced  # a Chinese character says as much as three letters
    density = linked / np.maximum(lengths, 1)
    first, last = seen.texts.first[:number], seen.texts.last[:number]
    ends_stop = (last == STOP) | ((last == QUOTE) & (stops > 0))
    log_widths = np.log1p(widths)
    own, word_scores = scores.own, scores.words
    # The text of a block.
    add(
        ["length", "width", "words", "density", "word length", "stops", "commas", "ends with stop", "word score"],
        np.stack([np.log1p(lengths), log_widths, np.log1p(words), density, letters / np.maximum(words, 1), np.log1p(stops), np.log1p(kinds[COMMA]), ends_stop, word_scores]),
    )
    add([f"share {KINDS[kind]}" for kind in range(UPPER, len(KINDS))], kinds[UPPER:] / looked_at)
    choose("begins", first, len(KINDS))
    choose("ends", last, len(KINDS))
    # The elements around it.
    outline, homes = seen.outline, seen.homes
    frames = outline.frames[homes]
    choose("tag", seen.tags, len(TAGS) + 1)
    choose("wrap", seen.wrap_tags, len(WRAPS) + 1)
    add([f"in {tag}" for tag in FRAMES], (frames >> _FRAME_BITS) & 1)
    depths = outline.depths[homes].astype(np.float32)
    around = scores.around[homes]
    add(["depth", "own names", "names around", "links", "images", "images after"], np.stack([depths, own, around, *np.log1p([seen.links, seen.images[:number], seen.images[1:]])]))
    # Its place.
    at = np.arange(number)
    total = max(1.0, float(lengths.sum()))
    before = np.cumsum(lengths) - lengths
    add(["text before", "text after", "at", "log at", "log from end"], np.stack([before / total, 1 - (before + lengths) / total, at / max(1, number), np.log1p(at), np.log1p(number - at)]))
    add(["copies"], np.log(np.bincount(seen.copies)[seen.copies]))
    shares, covers = _echoes(seen.texts, number, words)
    add(["in title", "in description", "of title", "of description"], np.concatenate([shares, covers]))
    titled = shares[0] * covers[0] + 0.3 * (seen.tags == _TAG["h1"])
    title = int(titled.argmax()) if titled.max() > 0.4 else None
    away = np.log1p(np.abs(at - title)) if title is not None else np.zeros(number)
    add(["after title", "before title", "is title"], np.stack([away * (at > (title or 0)), away * (at < (title or 0)), at == title if title is not None else np.zeros(number)]))
    # Its neighbours.
    prose = widths * (1 - density) * (stops > 0)
    near = np.stack([log_widths, density, own, word_scores, ends_stop])
    for step in (1, -1):
        add([f"{name} {step:+d}" for name in ("width", "density", "own names", "words", "ends with stop")], _shifted(near, step))
    links_of = [homes, outline.parents[homes]]
    same = np.zeros((2, number + 1), np.float32)
    for row, home in enumerate(links_of):
        same[row, 1:number] = home[1:] == home[:-1]
    steps = np.diff(depths, prepend=depths[:1])
    add(["same home before", "sibling before", "same home after", "sibling after"], np.concatenate([same[:, :number], same[:, 1:]]))
    add(["step", "step after"], np.stack([steps, _shifted(steps[None], -1)[0]]))
    window = np.stack([widths, linked, prose, own, around, word_scores, seen.links]).astype(np.float64)
    sums = np.concatenate([np.zeros((len(window), 1)), window.cumsum(1)], 1)
    for reach in REACHES:
        left, right = np.maximum(at - reach, 0), np.minimum(at + reach + 1, number)
        part = (sums[:, right] - sums[:, left]) / (right - left)
        np.log1p(part[:3], out=part[:3])
        add([f"{name} ±{reach}" for name in ("width", "linked", "prose", "own names", "names around", "words", "links")], part)
    is_prose = prose > 60
    ago = at - np.maximum.accumulate(np.where(is_prose, at, -99))
    ahead = np.minimum.accumulate(np.where(is_prose, at, number + 99)[::-1])[::-1] - at
    add(["prose ago", "prose ahead"], np.log1p(np.minimum([ago, ahead], 99)))
    headings = np.maximum.accumulate(np.where((seen.tags >= _HEADINGS[0]) & (seen.tags <= _HEADINGS[1]), at, -1))
    there = headings >= 0
    choose("heading", np.where(there, seen.tags[headings] - _HEADINGS[0] + 1, 0), 7)
    add(["heading words", "heading ago"], np.stack([word_scores[headings] * there, np.where(there, np.log1p(at - headings), 8)]))
    # What the containers around it hold.
    held = np.stack([widths, linked, prose, stops, own, word_scores, np.ones(number), seen.images[:number]]).astype(np.float64)
    sums = np.concatenate([np.zeros((len(held), 1)), held.cumsum(1)], 1)
    whole = np.maximum(sums[:, -1], 1)
    inside = sums[:, outline.ends] - sums[:, outline.starts]
    part = inside[:, levels]  # sums, levels, blocks
    wide, many = np.maximum(part[0], 1), np.maximum(part[6], 1)
    shown = {
        "width": np.log1p(part[0]),
        "share": part[0] / whole[0],
        "prose share": part[2] / whole[2],
        "density": part[1] / wide,
        "prose density": part[2] / wide,
        "stops": part[3] / wide * 100,
        "names": part[4] / many,
        "words": part[5] / many,
        "blocks": np.log1p(part[6]),
        "images": np.log1p(part[7] / many),
        "around": scores.around[levels],
    }
    for name, values in shown.items():
        add([f"{name} ^{level}" for level in range(LEVELS)], values)
    # The blocks of the same path.
    path = outline.paths[homes]
    counts = np.bincount(path)
    grouped = np.stack([np.bincount(path, values, len(counts)) for values in (widths, linked, prose, word_scores)])
    mean = (grouped / np.maximum(counts, 1))[:, path]
    np.log1p(mean[:3], out=mean[:3])
    add(["path width", "path linked", "path prose", "path word score"], mean)
    add(["path count", "path share"], np.stack([np.log1p(counts[path]), grouped[0][path] / whole[0]]))
    # The page.
    every = letters.sum()
    overall = [
        np.log1p(whole[0]), whole[1] / whole[0], whole[2] / whole[0], np.log1p(number), unspaced.sum() / every,
        kinds[CASELESS].sum() / every, np.log1p(seen.images.sum()), lengths[seen.tags == _TAG["p"]].sum() / total,
        *((frames & _FRAME[tag] > 0).mean() for tag in ("article", "main", "td")), title is not None, np.log1p(prose.max()),
        *seen.page, *scores.kinds,
    ]
    overall_names = "width,density,prose,blocks,unspaced,caseless,images,p,article,main,td,has title,most prose".split(",")
    add([f"page {name}" for name in [*overall_names, *_HEAD, *(f"kind {place}" for place in range(len(scores.kinds)))]], np.array(overall, np.float32)[:, None])
    return Signs(np.concatenate(rows).astype(np.float32), labels)


def ranges(seen: Sight) -> Ints:
    """For each level and block, a container: its home, and then each next one outwards that holds more."""
    levels = [seen.homes]
    for _ in range(LEVELS - 1):
        levels.append(seen.outline.outer[levels[-1]])
    return np.stack(levels)


def _shifted(rows: NDArray[np.floating], step: int) -> NDArray[np.floating]:
    """The values of the blocks so many places before, or after."""
    found = np.zeros_like(rows)
    if step > 0:
        found[:, step:] = rows[:, :-step]
    else:
        found[:, :step] = rows[:, -step:]
    return found


def _echoes(texts: Characters, number: int, words: Floats) -> tuple[Floats, Floats]:
    """For title and description, the share of a block's words that they have, and of theirs that the block has."""
    shares, covers = np.zeros((2, number), np.float32), np.zeros((2, number), np.float32)
    inside = texts.owner < number
    mine, owner = texts.words[inside], texts.owner[inside]
    for row in range(2):
        theirs = np.zeros(characters.BUCKETS, bool)
        theirs[texts.words[texts.owner == number + row]] = True
        hits = np.bincount(owner[theirs[mine]], minlength=number)
        shares[row] = hits / np.maximum(words, 1)
        covers[row] = np.minimum(hits / max(1, int(theirs.sum())), 1)
    return shares, covers
