"""The signs of each block of a page, as a matrix of numbers: a row a sign, a column a block.

The signs of a block are of its text, of its element and those around it, of its place, of its neighbours, of what the
containers around it hold, of the blocks in the same kind of element (those with the same path), and of the whole page.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.extraction.auto import text_arrays
from crawler.extraction.auto.page_outline import EXTRA, FRAME, FRAMES, HEAD, TAG, TAGS, WRAPS, Floats, Sight
from crawler.extraction.auto.text_arrays import (
    CASELESS,
    COMMA,
    KINDS,
    LOWER,
    QUOTE,
    STOP,
    UNSPACED,
    UPPER,
    Characters,
    Ints,
)

LEVELS = 5
"""Containers around a block that are looked at."""
REACHES = (4, 16)
"""Blocks before and after that are looked at together."""
PAIRS = 1 << 18
"""How many kinds of two words in a row are told apart."""
PROSE = 60
"""The width from which on sentences are prose."""
FAR = 99
"""Blocks beyond which it does not matter how many they are."""
NO_HEADING = 8.0
TITLED = 0.4
"""How much of the title a block must be to count as the headline."""
_FRAME_BITS = np.arange(len(FRAMES))[:, None]
_HEADINGS = range(TAG["h1"], TAG["h6"] + 1)

Rows = tuple[tuple[str, ...], NDArray[np.number] | Sequence[NDArray[np.number | np.bool_]]]
"""Signs with their names; one value for all blocks where there is but one column."""


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


class Signs(NamedTuple):
    """The matrix, with the name of each row."""

    matrix: Floats
    names: list[str]


class _Basis(NamedTuple):
    """What several signs are made from."""

    seen: Sight
    scores: Scores
    levels: Ints
    """For each level and block, a container."""
    number: int
    at: Ints
    kinds: Floats
    looked_at: Floats
    words: Floats
    letters: Floats
    stops: Floats
    unspaced: Floats
    widths: Floats
    """The lengths, a Chinese character saying as much as three letters."""
    log_widths: Floats
    density: Floats
    """The share of a block's text that is in links."""
    prose: Floats
    """The width of what is not in links, of blocks with a full stop."""
    ends_stop: NDArray[np.bool_]
    in_body: Floats
    around: Floats
    total: float


def signs(seen: Sight, scores: Scores, levels: Ints) -> Signs:
    """The signs of all blocks; there must be one."""
    basis = _basis(seen, scores, levels)
    titles, title = _of_titles(basis)
    parts = [
        *_of_text(basis),
        *_of_elements(basis),
        *_of_place(basis),
        *titles,
        *_of_neighbours(basis),
        *_of_headings(basis),
        *_of_containers(basis),
        *_of_paths(basis),
        _of_page(basis, title is not None),
    ]
    matrix = np.empty((sum(len(names) for names, _ in parts), basis.number), np.float32)
    row = 0
    for names, values in parts:
        matrix[row : row + len(names)] = values
        row += len(names)
    return Signs(matrix, [name for names, _ in parts for name in names])


def ranges(seen: Sight) -> Ints:
    """For each level and block, a container: its home, and then each next one outwards that holds more."""
    levels = [seen.homes]
    for _ in range(LEVELS - 1):
        levels.append(seen.outline.outer[levels[-1]])
    return np.stack(levels)


def _basis(seen: Sight, scores: Scores, levels: Ints) -> _Basis:
    number = len(seen.homes)
    lengths = seen.lengths
    kinds = seen.texts.kinds[:number].T
    looked_at = np.maximum(kinds.sum(0), 1)
    stops, unspaced = kinds[[STOP, UNSPACED]] * (lengths / looked_at)
    widths = lengths + 2 * unspaced
    density = seen.linked / np.maximum(lengths, 1)
    last = seen.texts.last[:number]
    return _Basis(
        seen=seen,
        scores=scores,
        levels=levels,
        number=number,
        at=np.arange(number),
        kinds=kinds,
        looked_at=looked_at,
        words=np.bincount(seen.texts.owner, minlength=number + EXTRA)[:number].astype(np.float32),
        letters=np.maximum(kinds[[LOWER, UPPER, CASELESS, UNSPACED]].sum(0), 1),
        stops=stops,
        unspaced=unspaced,
        widths=widths,
        log_widths=np.log1p(widths),
        density=density,
        prose=widths * (1 - density) * (stops > 0),
        ends_stop=(last == STOP) | ((last == QUOTE) & (stops > 0)),
        in_body=_in_body(seen.texts, number),
        around=scores.around[seen.homes],
        total=max(1.0, float(lengths.sum())),
    )


def _each(name: str, kinds: int) -> tuple[str, ...]:
    return tuple(f"{name} {kind}" for kind in range(kinds))


def _one_of(values: Ints, kinds: int) -> Floats:
    """A row for each kind, 1 where a block is of it."""
    found = np.zeros((kinds, len(values)), np.float32)
    found[values, np.arange(len(values))] = 1
    return found


_TEXT = ("length", "width", "words", "density", "word length", "stops", "commas", "ends with stop", "word score")
_SHARES = tuple(f"share {kind}" for kind in KINDS[UPPER:])
_BEGINS, _ENDS = _each("begins", len(KINDS)), _each("ends", len(KINDS))


def _of_text(basis: _Basis) -> list[Rows]:
    seen, kinds, number = basis.seen, basis.kinds, basis.number
    text = [
        np.log1p(seen.lengths),
        basis.log_widths,
        np.log1p(basis.words),
        basis.density,
        basis.letters / np.maximum(basis.words, 1),
        np.log1p(basis.stops),
        np.log1p(kinds[COMMA]),
        basis.ends_stop,
        basis.scores.words,
    ]
    return [
        (_TEXT, text),
        (_SHARES, kinds[UPPER:] / basis.looked_at),
        (_BEGINS, _one_of(seen.texts.first[:number], len(KINDS))),
        (_ENDS, _one_of(seen.texts.last[:number], len(KINDS))),
    ]


_TAG_IS, _WRAP_IS = _each("tag", len(TAGS) + 1), _each("wrap", len(WRAPS) + 1)
_IN = tuple(f"in {tag}" for tag in FRAMES)
_ELEMENTS = ("depth", "own names", "names around", "links", "images", "images after")


def _of_elements(basis: _Basis) -> list[Rows]:
    seen, number = basis.seen, basis.number
    homes, outline = seen.homes, seen.outline
    log_links, log_images = np.log1p(seen.links), np.log1p(seen.images)
    own, depths = basis.scores.own, outline.depths[homes]
    return [
        (_TAG_IS, _one_of(seen.tags, len(TAGS) + 1)),
        (_WRAP_IS, _one_of(seen.wrap_tags, len(WRAPS) + 1)),
        (_IN, (outline.frames[homes] >> _FRAME_BITS) & 1),
        (_ELEMENTS, [depths, own, basis.around, log_links, log_images[:number], log_images[1:]]),
    ]


_PLACE = ("text before", "text after", "at", "log at", "log from end", "copies")


def _of_place(basis: _Basis) -> list[Rows]:
    at, number, total, lengths = basis.at, basis.number, basis.total, basis.seen.lengths
    done = np.cumsum(lengths)
    copies = np.log(np.bincount(basis.seen.copies)[basis.seen.copies])
    place = [(done - lengths) / total, 1 - done / total, at / number, np.log1p(at), np.log1p(number - at), copies]
    return [(_PLACE, place)]


_ECHOES = ("in title", "in description", "of title", "of description", "in body")
_TITLE = ("after title", "before title", "is title")


def _of_titles(basis: _Basis) -> tuple[list[Rows], int | None]:
    """What a block has of the title, and how far it is from the headline; and where that is, if it is there."""
    at, number = basis.at, basis.number
    shares, covers = _echoes(basis.seen.texts, number, basis.words)
    titled = shares[0] * covers[0] + 0.3 * (basis.seen.tags == TAG["h1"])
    title = int(titled.argmax()) if titled.max() > TITLED else None
    away = np.zeros((3, number))
    if title is not None:
        far = np.log1p(np.abs(at - title))
        away = np.stack([far * (at > title), far * (at < title), at == title])
    return [(_ECHOES, [*shares, *covers, basis.in_body]), (_TITLE, away)], title


_NEAR = ("width", "density", "own names", "words", "ends with stop", "in body")
_BEFORE, _AFTER = (tuple(f"{name} {step}" for name in _NEAR) for step in ("+1", "-1"))
_SAME = ("same home before", "sibling before", "same home after", "sibling after", "step", "step after")
_WINDOW = ("width", "linked", "prose", "own names", "names around", "words", "links")
_WINDOWS = [tuple(f"{name} ±{reach}" for name in _WINDOW) for reach in REACHES]


def _of_neighbours(basis: _Basis) -> list[Rows]:
    seen, scores, number, at = basis.seen, basis.scores, basis.number, basis.at
    near = np.stack([basis.log_widths, basis.density, scores.own, scores.words, basis.ends_stop, basis.in_body])
    same = np.zeros((2, number + 1), np.float32)
    for row, home in enumerate((seen.homes, seen.outline.parents[seen.homes])):
        same[row, 1:number] = home[1:] == home[:-1]
    depths = seen.outline.depths[seen.homes]
    steps = np.diff(depths, prepend=depths[0], append=depths[-1])
    window = [basis.widths, seen.linked, basis.prose, scores.own, basis.around, scores.words, seen.links]
    sums = _sums(window)
    windows: list[Rows] = []
    for names, reach in zip(_WINDOWS, REACHES, strict=True):
        first, last = np.maximum(at - reach, 0), np.minimum(at + reach + 1, number)
        means = (sums[:, last] - sums[:, first]) / (last - first)
        np.log1p(means[:3], out=means[:3])
        windows.append((names, means))
    return [
        (_BEFORE, _shifted(near, 1)),
        (_AFTER, _shifted(near, -1)),
        (_SAME, [*same[:, :number], *same[:, 1:], steps[:-1], steps[1:]]),
        *windows,
    ]


_PROSE_AT = ("prose ago", "prose ahead")
_HEADING = _each("heading", 7)
_UNDER = ("heading words", "heading ago")


def _of_headings(basis: _Basis) -> list[Rows]:
    """How far away the next prose is, and what the last heading was."""
    at, tags = basis.at, basis.seen.tags
    is_prose = basis.prose > PROSE
    ago = at - np.maximum.accumulate(np.where(is_prose, at, -FAR))
    ahead = np.minimum.accumulate(np.where(is_prose, at, basis.number + FAR)[::-1])[::-1] - at
    is_heading = (tags >= _HEADINGS[0]) & (tags <= _HEADINGS[-1])
    heading = np.maximum.accumulate(np.where(is_heading, at, -1))
    there = heading >= 0
    level = np.where(there, tags[heading] - _HEADINGS[0] + 1, 0)
    under = [basis.scores.words[heading] * there, np.where(there, np.log1p(at - heading), NO_HEADING)]
    return [
        (_PROSE_AT, np.log1p(np.minimum([ago, ahead], FAR))),
        (_HEADING, _one_of(level, 7)),
        (_UNDER, under),
    ]


_HOLDS = (
    "width,share,prose share,density,prose density,stops,names,words,blocks,images,around".split(",")  # in this order
)
_HELD = [tuple(f"{name} ^{level}" for level in range(LEVELS)) for name in _HOLDS]


def _of_containers(basis: _Basis) -> list[Rows]:
    """What the home of a block and the containers around it hold."""
    seen, scores, levels = basis.seen, basis.scores, basis.levels
    outline, ones = seen.outline, np.ones(basis.number)
    images = seen.images[: basis.number]
    sums = _sums([basis.widths, seen.linked, basis.prose, basis.stops, scores.own, scores.words, ones, images])
    whole = np.maximum(sums[:, -1], 1)
    inside = (sums[:, outline.ends] - sums[:, outline.starts])[:, levels]
    width, linked, prose, stops, own, words, blocks, pictures = inside
    wide, many = np.maximum(width, 1), np.maximum(blocks, 1)
    held = (
        np.log1p(width),
        width / whole[0],
        prose / whole[2],
        linked / wide,
        prose / wide,
        stops / wide * 100,
        own / many,
        words / many,
        np.log1p(blocks),
        np.log1p(pictures / many),
        scores.around[levels],
    )
    return list(zip(_HELD, held, strict=True))


_PATH = ("path width", "path linked", "path prose", "path word score", "path count", "path share")


def _of_paths(basis: _Basis) -> list[Rows]:
    """What the blocks of the same path are like."""
    path = basis.seen.outline.paths[basis.seen.homes]
    counts = np.bincount(path)
    values = (basis.widths, basis.seen.linked, basis.prose, basis.scores.words)
    sums = np.stack([np.bincount(path, one, len(counts)) for one in values])
    means = (sums / np.maximum(counts, 1))[:, path]
    np.log1p(means[:3], out=means[:3])
    share = sums[0][path] / max(1, float(basis.widths.sum()))
    return [(_PATH, [*means, np.log1p(counts[path]), share])]


_OVERALL = "width,density,prose,blocks,unspaced,caseless,images,p,article,main,td,has title,most prose,body,in body"
_PAGE = tuple(f"page {name}" for name in (*_OVERALL.split(","), *HEAD))


def _of_page(basis: _Basis, has_title: bool) -> Rows:
    seen = basis.seen
    wide, every = max(1.0, float(basis.widths.sum())), basis.letters.sum()
    frames = seen.outline.frames[seen.homes]
    values = [
        np.log1p(wide),
        seen.linked.sum() / wide,
        basis.prose.sum() / wide,
        np.log1p(basis.number),
        basis.unspaced.sum() / every,
        basis.kinds[CASELESS].sum() / every,
        np.log1p(seen.images.sum()),
        seen.lengths[seen.tags == TAG["p"]].sum() / basis.total,
        *((frames & FRAME[tag] > 0).mean() for tag in ("article", "main", "td")),
        has_title,
        np.log1p(basis.prose.max()),
        np.log1p((seen.texts.owner == basis.number + EXTRA - 1).sum()),
        (basis.in_body * basis.widths).sum() / wide,
        *seen.page,
        *basis.scores.kinds,
    ]
    return (*_PAGE, *_each("page kind", len(basis.scores.kinds))), np.array(values, np.float32)[:, None]


def _sums(rows: list[NDArray[np.floating]]) -> NDArray[np.float64]:
    """For each row, the sums of what comes before each place."""
    found = np.zeros((len(rows), len(rows[0]) + 1))
    np.cumsum(np.stack(rows), 1, out=found[:, 1:])
    return found


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
    shares, covers = np.empty((2, number), np.float32), np.empty((2, number), np.float32)
    bounds = np.searchsorted(texts.owner, [number, number + 1, number + 2])
    mine, owner = texts.words[: bounds[0]], texts.owner[: bounds[0]]
    for row in range(2):
        theirs = np.zeros(text_arrays.BUCKETS, bool)
        said = texts.words[bounds[row] : bounds[row + 1]]
        theirs[said] = True
        hits = np.bincount(owner[theirs[mine]], minlength=number)
        shares[row] = hits / np.maximum(words, 1)
        covers[row] = np.minimum(hits / max(1, len(set(said.tolist()))), 1)
    return shares, covers


def _in_body(texts: Characters, number: int) -> Floats:
    """The share of each block's pairs of words that the article given to machines has, of a lone word whether it is."""
    first = int(np.searchsorted(texts.owner, number + 2))
    if first == len(texts.words):
        return np.zeros(number, np.float32)
    pairs = (texts.words[:-1] * 31 + texts.words[1:] * 7919) % PAIRS
    theirs = np.zeros(PAIRS, bool)
    theirs[pairs[first:]] = True
    together = texts.owner[:-1] == texts.owner[1:]
    owner = texts.owner[:-1][together]
    counts = np.bincount(owner, minlength=number)[:number]
    hits = np.bincount(owner[theirs[pairs[together]]], minlength=number)[:number]
    return (hits / np.maximum(counts, 1)).astype(np.float32)
