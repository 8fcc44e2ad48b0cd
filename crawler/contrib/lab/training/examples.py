"""Pages for training: read from JSON lines, as examples with labelled blocks, and as copies with less text.

A set is the pages of one file. Each line has a page with its `html` and `url`, and one of these:

- `gold`: the gold text, which is the whole main text. If `weak` is true, rules made the text instead of people.
- `gold` and `gold_partial`: each line of `gold` is a snippet of the main text, whose other parts are unknown.
- `with` and `without`: lists of snippets that are in the main text, and that are not.

Copies with less text teach a model what short articles with much noise look like.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.contrib.lab.evaluation.gold import objects, set_name
from crawler.contrib.lab.evaluation.text_metrics import tokens
from crawler.contrib.lab.training.block_labels import labels
from crawler.extraction.auto import page_arrays
from crawler.extraction.auto.page_arrays import Floats, PageArrays, outward
from crawler.page.html_tree import MAX_BLOCKS
from crawler.page.page import Page, PageType
from crawler.urls.address import address_of
from crawler.urls.parsing import absolute

Tell = Callable[[str], None]
"""Receives progress messages, one line each."""


class GoldError(Exception):
    """The gold text cannot be read; the message is one sentence for the user."""


class TooFewError(Exception):
    """There are too few examples to train on; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class TrainingPage:
    """A page of a file: with gold text, or with snippets."""

    id: str
    url: str
    html: str
    gold: str | None
    """None if only snippets are known."""
    present: tuple[str, ...]
    """Snippets of the main text."""
    absent: tuple[str, ...]
    """Snippets that are not in the main text."""
    page_type: str
    """The type that the line declares, such as `article`; empty if it declares none."""
    _: KW_ONLY
    is_weak: bool = False
    """Whether the gold text was made by rules."""

    @property
    def page(self) -> Page:
        return Page.from_html(self.html, self.url)

    @property
    def site(self) -> str:
        return address_of(self.url).site


@dataclass
class SetSummary:
    """Counts of the pages of a file, made while they are read."""

    path: Path
    pages: int = 0
    sites: set[str] = field(default_factory=set)
    is_golden: bool = False
    """Whether any page has a gold text."""
    digest: blake2b = field(default_factory=lambda: blake2b(digest_size=8))

    @property
    def name(self) -> str:
        return set_name(self.path)

    @property
    def fingerprint(self) -> str:
        """16 hex digits that identify the pages; the same as in `winnow evaluate` if they have gold texts."""
        return self.digest.hexdigest()

    def add(self, row: TrainingPage) -> None:
        self.pages += 1
        self.sites.add(row.site)
        self.is_golden |= row.gold is not None
        # The empty text separates snippets of the two lists.
        known_texts = (*row.present, "", *row.absent) if row.gold is None else (row.gold,)
        for part in (row.id, row.html, *known_texts):
            self.digest.update(part.encode("utf-8", "surrogatepass") + b"\xff")


def read_pages(path: Path, with_snippets: bool = False) -> Iterator[TrainingPage]:
    """The pages of a file; raises a GoldError at a broken line, and at snippets unless `with_snippets` allows them."""
    missing = "no html and gold"
    if with_snippets:
        missing += ", nor html, with and without"
    for number, row in objects(path):
        if isinstance(row, str):
            raise GoldError(f"line {number} of {path}: {row}")
        if not (_has_gold(row) or (with_snippets and _has_snippets(row))):
            raise GoldError(f"line {number} of {path}: {missing}")
        yield _page(row, path, number)


def _has_gold(row: dict[str, Any]) -> bool:
    return all(isinstance(row.get(name), str) for name in ("html", "gold")) and not row.get("gold_partial")


def _has_snippets(row: dict[str, Any]) -> bool:
    if not isinstance(row.get("html"), str):
        return False
    if "gold" in row:
        return bool(row.get("gold_partial")) and isinstance(row["gold"], str)
    return all(_is_list(row.get(name)) for name in ("with", "without"))


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _page(row: dict[str, Any], path: Path, number: int) -> TrainingPage:
    is_partial = bool(row.get("gold_partial"))
    return TrainingPage(
        id=str(row.get("id", number)),
        # A page without an address gets one of its own, as a separate site.
        url=absolute("", str(row.get("url"))) or f"http://{path.name}-{number}/",
        html=row["html"],
        gold=None if is_partial else row.get("gold"),
        present=tuple(row["gold"].splitlines() if is_partial else row.get("with", ())),
        absent=tuple(row.get("without", ())),
        page_type=str(row.get("page_type") or ""),
        is_weak=bool(row.get("weak")),
    )


SET_EXPONENT = 0.35
"""If the largest set has n times as many pages as another set, a page of the other set weighs n ** SET_EXPONENT."""
MOST_WEIGHT = 3.0
"""The largest weight that a page gets because its set is small."""
SNIPPETS_WEIGHT = 0.7
"""The weight of a page with snippets, in place of all other factors."""
LIST_TYPES = frozenset((PageType.LISTING, PageType.COLLECTION))
LIST_WEIGHT = 3.0
"""The factor of pages whose main text is a list: they are few, and their main text is like noise on other pages."""
WEAK_WEIGHT = 0.5
"""The factor of pages with a weak gold text."""
MOST_BLOCKS_OF_SNIPPET = 3
"""A snippet of main text is ignored if more than this many blocks contain it: it may be main text in only one of them.
"""


@dataclass(frozen=True, slots=True)
class PageExample:
    """A page with labelled blocks."""

    page_set: str
    """The name of the page's set."""
    site: str
    arrays: PageArrays
    labels: Floats
    """The share of each block that is main text, NaN if unknown."""
    page_type: str
    _: KW_ONLY
    is_weak: bool = False

    @property
    def is_golden(self) -> bool:
        """Whether the whole main text of the page is known."""
        return not np.isnan(self.labels).any()


def example(page_set: str, site: str, page: Page, gold: str, page_type: str, *, is_weak: bool = False) -> PageExample:
    """The example of a page with a gold text; the page must have a block."""
    block_labels = labels([tokens(block.text) for block in page.blocks[:MAX_BLOCKS]], tokens(gold))
    return PageExample(
        page_set=page_set,
        site=site,
        arrays=page_arrays.page_arrays(page),
        labels=np.array(block_labels, np.float32),
        page_type=page_type,
        is_weak=is_weak,
    )


def snippets(page_set: str, site: str, page: Page, present: Iterable[str], absent: Iterable[str]) -> PageExample:
    """The example of a page with snippets: `present` are those of main text, `absent` those of noise.

    Only blocks that contain a snippet get a label.
    """
    texts = [" ".join(tokens(block.text)) for block in page.blocks[:MAX_BLOCKS]]
    block_labels = np.full(len(texts), np.nan, np.float32)
    # A block with snippets of both kinds is main text, so the snippets of main text overwrite the labels of noise.
    for is_main, snippet_texts in ((False, absent), (True, present)):
        for snippet in snippet_texts:
            words = " ".join(tokens(snippet))
            indexes = [index for index, text in enumerate(texts) if words and words in text]
            if len(indexes) <= MOST_BLOCKS_OF_SNIPPET or not is_main:
                block_labels[indexes] = float(is_main)
    return PageExample(
        page_set=page_set, site=site, arrays=page_arrays.page_arrays(page), labels=block_labels, page_type=""
    )


def parts_of(sites: Iterable[str], parts: int, seed: int) -> dict[str, int]:
    """For each site the number of the part of the cross-validation to which it belongs, chosen at random.

    The parts have the same number of sites, or one more.
    """
    shuffled_sites = sorted(set(sites))
    np.random.default_rng(seed).shuffle(shuffled_sites)
    return {site: number % parts for number, site in enumerate(shuffled_sites)}


def weights_of(examples: Sequence[PageExample]) -> list[float]:
    """The weight of each example. Pages of small sets weigh more, so that the largest set does not decide alone what
    main text is.
    """
    sizes = Counter(example.page_set for example in examples)
    largest = max(sizes.values())
    weight_of_set = {page_set: min(MOST_WEIGHT, (largest / size) ** SET_EXPONENT) for page_set, size in sizes.items()}
    weights = []
    for example in examples:
        weight = weight_of_set[example.page_set]
        if example.is_weak:
            weight *= WEAK_WEIGHT
        if example.page_type in LIST_TYPES:
            weight *= LIST_WEIGHT
        if not example.is_golden:
            weight = SNIPPETS_WEIGHT
        weights.append(weight)
    return weights


COPY_SHARES = (0.08, 0.4)
"""The least and the greatest share of the main text that a copy keeps."""
LEAST_MAIN_BLOCKS = 4
"""The main text of a copy is shortened if it has at least this many blocks, counting those with a label of at least .5.
"""
BEGINNINGS = 0.5
"""The share of shortened copies that keep the beginning of the main text; the others keep any part."""
TAG_WORDS = 2
"""How many words at the beginning of an element's names stand for its tag: whole and as letters, e.g. `h2`, `h`."""
DROPPED_CONTAINERS = 0.02
"""The share of the small containers without main text that a copy loses."""
SMALL_CONTAINER = 0.4
"""A container is small if it has less than this share of the blocks."""


def shorter(labels: Floats, arrays: PageArrays, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Which blocks a shorter copy keeps: one part of the main text, often its beginning, and most of the noise."""
    number = len(labels)
    kept = np.ones(number, bool)
    main = np.flatnonzero(labels >= 0.5)

    # Keep one part of the main text.
    if len(main) >= LEAST_MAIN_BLOCKS:
        count = max(1, round(len(main) * generator.uniform(*COPY_SHARES)))
        first = 0 if generator.random() < BEGINNINGS else int(generator.integers(0, len(main) - count + 1))
        kept[main] = False
        kept[main[first : first + count]] = True

    # Drop a few small containers of noise.
    for start, end in zip(arrays.outline.starts, arrays.outline.ends, strict=True):
        is_small = 0 < end - start < SMALL_CONTAINER * number
        if is_small and not (labels[start:end] >= 0.5).any() and generator.random() < DROPPED_CONTAINERS:
            kept[start:end] = False
    if kept.sum() > 1:
        return kept
    return np.ones(number, bool)  # too little would be left


def subset(arrays: PageArrays, kept: NDArray[np.bool_]) -> PageArrays:
    """The arrays of a page with only the blocks that are `kept`."""
    number = len(kept)
    outline = arrays.outline
    texts = arrays.texts

    # The new index of each block, and the range of blocks of each container.
    new_indexes = np.concatenate([[0], np.cumsum(kept)])
    blocks = np.flatnonzero(kept)
    starts = new_indexes[outline.starts]
    ends = new_indexes[outline.ends]
    outer = outward(outline.parents.tolist(), starts.tolist(), ends.tolist())

    # The new index of each text, -1 if it is dropped. The texts of the whole page, which follow those of the blocks,
    # stay.
    rows = np.concatenate([blocks, np.arange(number, len(texts.kinds))])
    new_rows = np.full(len(texts.kinds), -1)
    new_rows[rows] = np.arange(len(rows))
    owner = new_rows[texts.owner]

    return replace(
        arrays,
        texts=replace(
            texts,
            kinds=texts.kinds[rows],
            first=texts.first[rows],
            last=texts.last[rows],
            words=texts.words[owner >= 0],
            owner=owner[owner >= 0],
        ),
        outline=replace(outline, starts=starts, ends=ends, outer=np.array(outer, np.int64)),
        homes=arrays.homes[blocks],
        wraps=arrays.wraps[blocks],
        wrap_tags=arrays.wrap_tags[blocks],
        tags=arrays.tags[blocks],
        lengths=arrays.lengths[blocks],
        linked=arrays.linked[blocks],
        copies=np.unique(arrays.copies[blocks], return_inverse=True)[1],  # the numbers of texts, without gaps again
        links=arrays.links[blocks],
        images=np.concatenate([arrays.images[blocks], arrays.images[-1:]]),  # the last entry is of no block
    )


def plainer(arrays: PageArrays) -> PageArrays:
    """The arrays of a page like those of twenty years ago: elements have no names except their tags, and the head has
    only a title.
    """
    number = len(arrays.homes)
    words = arrays.words
    texts = arrays.texts
    first_words = np.searchsorted(words.owner, words.owner)  # for each word the first one of its element
    is_tag = np.arange(len(words.owner)) - first_words < TAG_WORDS
    is_kept = texts.owner <= number  # the blocks and the title
    return replace(
        arrays,
        words=replace(words, buckets=words.buckets[is_tag], owner=words.owner[is_tag]),
        texts=replace(texts, words=texts.words[is_kept], owner=texts.owner[is_kept]),
        page=np.zeros_like(arrays.page),
        names=(),
    )
