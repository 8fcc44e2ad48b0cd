"""Computes the features of the blocks of a page, as a matrix with a row for each feature and a column for each block.

The features of a block describe its text, its element and the elements around it, its position, its neighbours, the
contents of the containers around it, the blocks with the same path, and the whole page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.extraction.auto import text_arrays
from crawler.extraction.auto.page_arrays import (
    EXTRA,
    FRAME_BITS,
    FRAMES,
    HEAD,
    LEVELS,
    TAG_NUMBERS,
    TAGS,
    WRAPS,
    BlockColumns,
    Floats,
    PageArrays,
    Scores,
    block_columns,
)
from crawler.extraction.auto.text_arrays import (
    CASELESS,
    COMMA,
    KINDS,
    UPPER,
    Characters,
    Ints,
)

REACHES = (4, 16)
"""How many blocks before and after a block are averaged; each number gives a group of features."""
PROSE = 60
"""A block with a full stop counts as prose if it has more columns of text than this outside links."""
FAR = 99
"""The largest distance in blocks: a larger one counts as this."""
NO_HEADING = 8.0
"""Stands for the distance of a heading, as a logarithm, if there is none."""
TITLED = 0.4
"""The score above which a block counts as the headline: how well it matches the title, plus HEADING_BONUS for <h1>."""
HEADING_BONUS = 0.3
_FRAME_POSITIONS = np.arange(len(FRAMES))[:, None]
_HEADINGS = range(TAG_NUMBERS["h1"], TAG_NUMBERS["h6"] + 1)

Rows = tuple[tuple[str, ...], NDArray[np.number] | Sequence[NDArray[np.number | np.bool_]]]
"""The names of some features, and their rows: a value for each block, or a single value for all blocks."""


@dataclass(frozen=True, slots=True)
class Features:
    """The matrix of all features."""

    matrix: Floats
    groups: list[tuple[str, ...]]
    """The names of its rows, part by part."""

    @property
    def names(self) -> list[str]:
        """The name of each row."""
        return [name for group in self.groups for name in group]


def features(arrays: PageArrays, scores: Scores, levels: Ints) -> Features:
    """The features of all blocks; there must be at least one block."""
    columns = block_columns(arrays, scores, levels)
    titles, headline = _of_titles(columns)
    parts = [
        *_of_text(columns),
        *_of_elements(columns),
        *_of_place(columns),
        *titles,
        *_of_neighbours(columns),
        *_of_headings(columns),
        *_of_containers(columns),
        *_of_paths(columns),
        _of_page(columns, headline is not None),
    ]
    matrix = np.empty((sum(len(names) for names, _ in parts), columns.block_count), np.float32)
    row = 0
    for names, values in parts:
        matrix[row : row + len(names)] = values
        row += len(names)
    return Features(matrix=matrix, groups=[names for names, _ in parts])


def _numbered_names(name: str, kinds: int) -> tuple[str, ...]:
    return tuple(f"{name} {kind}" for kind in range(kinds))


def _one_of(values: Ints, kinds: int) -> Floats:
    """A row for each kind: 1 for the blocks of this kind, 0 for others."""
    rows = np.zeros((kinds, len(values)), np.float32)
    rows[values, np.arange(len(values))] = 1
    return rows


_TEXT = ("length", "width", "words", "density", "word length", "stops", "commas", "ends with stop", "word score")
# The shares of all kinds of characters except `other` and `lower`.
_SHARES = tuple(f"share {kind}" for kind in KINDS[UPPER:])
_BEGINS = _numbered_names("begins", len(KINDS))
_ENDS = _numbered_names("ends", len(KINDS))


def _of_text(columns: BlockColumns) -> list[Rows]:
    """The text of a block."""
    arrays = columns.arrays
    kinds = columns.kinds
    block_count = columns.block_count
    text = [
        np.log1p(arrays.lengths),
        columns.log_widths,
        np.log1p(columns.words),
        columns.density,
        columns.letters / np.maximum(columns.words, 1),
        np.log1p(columns.stops),
        np.log1p(kinds[COMMA]),
        columns.ends_stop,
        columns.scores.words,
    ]
    return [
        (_TEXT, text),
        (_SHARES, kinds[UPPER:] / columns.characters_read),
        (_BEGINS, _one_of(arrays.texts.first[:block_count], len(KINDS))),
        (_ENDS, _one_of(arrays.texts.last[:block_count], len(KINDS))),
    ]


_TAG_IS = _numbered_names("tag", len(TAGS) + 1)
_WRAP_IS = _numbered_names("wrap", len(WRAPS) + 1)
_IN = tuple(f"in {tag}" for tag in FRAMES)
_ELEMENTS = ("depth", "own names", "names around", "links", "images", "images after")


def _of_elements(columns: BlockColumns) -> list[Rows]:
    """The element of a block and the elements around it."""
    arrays = columns.arrays
    block_count = columns.block_count
    homes = arrays.homes
    outline = arrays.outline
    log_links = np.log1p(arrays.links)
    log_images = np.log1p(arrays.images)
    own = columns.scores.own
    depths = outline.depths[homes]
    return [
        (_TAG_IS, _one_of(arrays.tags, len(TAGS) + 1)),
        (_WRAP_IS, _one_of(arrays.wrap_tags, len(WRAPS) + 1)),
        (_IN, (outline.frames[homes] >> _FRAME_POSITIONS) & 1),
        (_ELEMENTS, [depths, own, columns.around, log_links, log_images[:block_count], log_images[1:]]),
    ]


_PLACE = ("text before", "text after", "at", "log at", "log from end", "copies")


def _of_place(columns: BlockColumns) -> list[Rows]:
    """The position of a block in the page, and the number of blocks with the same text."""
    at = columns.at
    block_count = columns.block_count
    total = columns.total
    lengths = columns.arrays.lengths
    length_to_end = np.cumsum(lengths)  # from the start of the page to the end of each block
    copies = np.log(np.bincount(columns.arrays.copies)[columns.arrays.copies])
    place = [
        (length_to_end - lengths) / total,
        1 - length_to_end / total,
        at / block_count,
        np.log1p(at),
        np.log1p(block_count - at),
        copies,
    ]
    return [(_PLACE, place)]


# "in title": how much of a block is in the title; "of title": how much of the title is in a block.
_ECHOES = ("in title", "in description", "of title", "of description", "in body")
_TITLE = ("after title", "before title", "is title")


def _of_titles(columns: BlockColumns) -> tuple[list[Rows], int | None]:
    """The similarity of a block to the title and its distance from the headline; and the index of the headline, if
    there is one.
    """
    at = columns.at
    block_count = columns.block_count
    shares, covers = _echoes(columns.arrays.texts, block_count, columns.words)
    matches = shares[0] * covers[0] + HEADING_BONUS * (columns.arrays.tags == TAG_NUMBERS["h1"])
    headline = int(matches.argmax()) if matches.max() > TITLED else None
    distances = np.zeros((3, block_count))
    if headline is not None:
        away = np.log1p(np.abs(at - headline))
        distances = np.array([away * (at > headline), away * (at < headline), at == headline])
    return [(_ECHOES, [*shares, *covers, columns.in_body]), (_TITLE, distances)], headline


_NEAREST = ("width", "density", "own names", "words", "ends with stop", "in body")
# +1 marks the values of the block before, which are shifted to the next column, and -1 those of the block after.
_BEFORE, _AFTER = (tuple(f"{name} {step}" for name in _NEAREST) for step in ("+1", "-1"))
_SAME = ("same home before", "sibling before", "same home after", "sibling after", "step", "step after")
_WINDOW = ("width", "linked", "prose", "own names", "names around", "words", "links")
_WINDOWS = [tuple(f"{name} ±{reach}" for name in _WINDOW) for reach in REACHES]


def _of_neighbours(columns: BlockColumns) -> list[Rows]:
    """The blocks before and after a block: the nearest ones, and the means of several."""
    arrays = columns.arrays
    scores = columns.scores
    block_count = columns.block_count
    at = columns.at

    near = np.array([columns.log_widths, columns.density, scores.own, scores.words, columns.ends_stop, columns.in_body])
    # For each position between two blocks: whether their containers are the same, and those around these containers;
    # and by how many levels the second block is deeper.
    same = np.zeros((2, block_count + 1), np.float32)
    for row, home in enumerate((arrays.homes, arrays.outline.parents[arrays.homes])):
        same[row, 1:block_count] = home[1:] == home[:-1]
    depths = arrays.outline.depths[arrays.homes]
    steps = np.zeros(block_count + 1, np.int64)
    steps[1:block_count] = depths[1:] - depths[:-1]

    # The means.
    window = [columns.widths, arrays.linked, columns.prose, scores.own, columns.around, scores.words, arrays.links]
    sums = _sums(window)
    windows: list[Rows] = []
    for names, reach in zip(_WINDOWS, REACHES, strict=True):
        first = np.maximum(at - reach, 0)
        last = np.minimum(at + reach + 1, block_count)
        means = (sums[:, last] - sums[:, first]) / (last - first)
        np.log1p(means[:3], out=means[:3])  # widths, linked and prose are lengths
        windows.append((names, means))

    return [
        (_BEFORE, _shifted(near, 1)),
        (_AFTER, _shifted(near, -1)),
        (_SAME, [*same[:, :block_count], *same[:, 1:], steps[:-1], steps[1:]]),
        *windows,
    ]


_PROSE_AT = ("prose ago", "prose ahead")
_HEADING = _numbered_names("heading", 7)  # of the levels 1 to 6; 0 without a heading
_UNDER = ("heading words", "heading ago")


def _of_headings(columns: BlockColumns) -> list[Rows]:
    """The distances of the next prose before and after a block, and the last heading before it."""
    at = columns.at
    tags = columns.arrays.tags
    is_prose = columns.prose > PROSE
    ago = at - np.maximum.accumulate(np.where(is_prose, at, -FAR))
    ahead = np.minimum.accumulate(np.where(is_prose, at, columns.block_count + FAR)[::-1])[::-1] - at
    is_heading = (tags >= _HEADINGS[0]) & (tags <= _HEADINGS[-1])
    heading = np.maximum.accumulate(np.where(is_heading, at, -1))
    has_heading = heading >= 0
    level = np.where(has_heading, tags[heading] - _HEADINGS[0] + 1, 0)
    under = [columns.scores.words[heading] * has_heading, np.where(has_heading, np.log1p(at - heading), NO_HEADING)]
    return [
        (_PROSE_AT, np.log1p(np.minimum([ago, ahead], FAR))),
        (_HEADING, _one_of(level, 7)),
        (_UNDER, under),
    ]


# In the order of `rows_of_contents`.
_CONTENTS = "width,share,prose share,density,prose density,stops,names,words,blocks,images,around".split(",")
_NAMES_OF_CONTENTS = [tuple(f"{name} ^{level}" for level in range(LEVELS)) for name in _CONTENTS]


def _of_containers(columns: BlockColumns) -> list[Rows]:
    """The contents of the containers around a block."""
    arrays = columns.arrays
    scores = columns.scores
    levels = columns.levels
    outline = arrays.outline

    # The sums in each container, as differences of sums up to its bounds.
    ones = np.ones(columns.block_count)
    images = arrays.images[: columns.block_count]
    sums = _sums([columns.widths, arrays.linked, columns.prose, columns.stops, scores.own, scores.words, ones, images])
    page_width, _, page_prose, *_ = np.maximum(sums[:, -1], 1)
    inside = (sums[:, outline.ends] - sums[:, outline.starts])[:, levels]
    width, linked, prose, stops, own, words, blocks, images = inside

    # The divisors are at least 1.
    wide = np.maximum(width, 1)
    many = np.maximum(blocks, 1)
    rows_of_contents = (
        np.log1p(width),
        width / page_width,
        prose / page_prose,
        linked / wide,
        prose / wide,
        stops / wide * 100,
        own / many,
        words / many,
        np.log1p(blocks),
        np.log1p(images / many),
        scores.around[levels],
    )
    return list(zip(_NAMES_OF_CONTENTS, rows_of_contents, strict=True))


_PATH = ("path width", "path linked", "path prose", "path word score", "path count", "path share")


def _of_paths(columns: BlockColumns) -> list[Rows]:
    """The properties of the blocks with the same path."""
    path = columns.arrays.outline.paths[columns.arrays.homes]
    counts = np.bincount(path)
    values = (columns.widths, columns.arrays.linked, columns.prose, columns.scores.words)
    sums = np.array([np.bincount(path, column, len(counts)) for column in values])
    means = (sums / np.maximum(counts, 1))[:, path]
    np.log1p(means[:3], out=means[:3])  # widths, linked and prose are lengths
    share = sums[0][path] / max(1, float(columns.widths.sum()))
    return [(_PATH, [*means, np.log1p(counts[path]), share])]


_OVERALL = "width,density,prose,blocks,unspaced,caseless,images,p,article,main,td,has title,most prose,body,in body"
_PAGE = tuple(f"page {name}" for name in (*_OVERALL.split(","), *HEAD))


def _of_page(columns: BlockColumns, has_headline: bool) -> Rows:
    """The page, with the same values for all blocks."""
    arrays = columns.arrays
    wide = max(1.0, float(columns.widths.sum()))
    letters = columns.letters.sum()
    frames = arrays.outline.frames[arrays.homes]

    values = [
        np.log1p(wide),
        arrays.linked.sum() / wide,
        columns.prose.sum() / wide,
        np.log1p(columns.block_count),
        columns.unspaced.sum() / letters,
        columns.kinds[CASELESS].sum() / letters,
        np.log1p(arrays.images.sum()),
        arrays.lengths[arrays.tags == TAG_NUMBERS["p"]].sum() / columns.total,
        *(np.count_nonzero(frames & FRAME_BITS[tag]) / columns.block_count for tag in ("article", "main", "td")),
        has_headline,
        np.log1p(columns.prose.max()),
        np.log1p(np.count_nonzero(arrays.texts.owner == columns.block_count + EXTRA - 1)),  # the words of the article
        (columns.in_body * columns.widths).sum() / wide,
        *arrays.page,
        *columns.scores.page_types,
    ]
    names = (*_PAGE, *_numbered_names("page kind", len(columns.scores.page_types)))
    return names, np.array(values, np.float32)[:, None]


def _sums(rows: list[NDArray[np.floating]]) -> NDArray[np.float64]:
    """For each row and position, the sum of the values before the position."""
    sums = np.zeros((len(rows), len(rows[0]) + 1))
    np.cumsum(np.array(rows), 1, out=sums[:, 1:])
    return sums


def _shifted(rows: NDArray[np.floating], step: int) -> NDArray[np.floating]:
    """For each block the values of the block `step` positions before it, or after it if `step` is negative."""
    shifted = np.zeros_like(rows)
    if step > 0:
        shifted[:, step:] = rows[:, :-step]
    else:
        shifted[:, :step] = rows[:, -step:]
    return shifted


def _echoes(texts: Characters, block_count: int, words: Floats) -> tuple[Floats, Floats]:
    """For the title and the description, the share of a block's words that they contain, and the share of their words
    that the block contains.
    """
    shares = np.empty((2, block_count), np.float32)
    covers = np.empty((2, block_count), np.float32)
    # The texts after those of the blocks are the title and the description.
    bounds = np.searchsorted(texts.owner, [block_count, block_count + 1, block_count + 2])
    words_of_blocks = texts.words[: bounds[0]]
    owner = texts.owner[: bounds[0]]
    for row in range(2):
        is_in_text = np.zeros(text_arrays.BUCKETS, bool)  # for each bucket of words
        words_of_text = texts.words[bounds[row] : bounds[row + 1]]
        is_in_text[words_of_text] = True
        hits = np.bincount(owner[is_in_text[words_of_blocks]], minlength=block_count)
        shares[row] = hits / np.maximum(words, 1)
        covers[row] = np.minimum(hits / max(1, len(set(words_of_text.tolist()))), 1)
    return shares, covers
