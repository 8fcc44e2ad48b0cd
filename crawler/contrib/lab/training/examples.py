"""Pages for training: read from JSON lines, as examples with labelled blocks, and as copies with less text.

A page has a gold text, or snippets that its main text has and others that it has not: the lists `with` and `without`,
or the lines of a gold text with `gold_partial`. A gold text with `weak` was made by rules instead of people. Copies
with less text teach a model what short articles with much noise look like.
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
    _: KW_ONLY
    is_weak: bool = False

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
        known_texts = (*row.present, "", *row.absent) if row.gold is None else (row.gold,)
        for part in (row.id, row.html, *known_texts):
            self.digest.update(part.encode("utf-8", "surrogatepass") + b"\xff")


def read_pages(path: Path, snippets: bool = False) -> Iterator[TrainingPage]:
    """The pages of a file, with `snippets` also pages that have only snippets; raises a GoldError at a broken line."""
    for number, row in objects(path):
        if isinstance(row, str):
            raise GoldError(f"line {number} of {path}: {row}")
        if not (_has_gold(row) or (snippets and _has_snippets(row))):
            raise GoldError(f"line {number} of {path}: no html and gold{', nor html, with and without' * snippets}")
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
"""A page of a set that has n times fewer pages than the largest set weighs n to this power more."""
MOST_WEIGHT = 3.0
"""The most weight that a page gets because its set is small."""
SNIPPETS_WEIGHT = 0.7
LISTS = frozenset((PageType.LISTING, PageType.COLLECTION))
LIST_WEIGHT = 3.0
"""The factor of pages whose main text is a list: they are few, and their main text is like noise on other pages."""
WEAK = 0.5
"""The factor of pages with a weak gold text."""
MOST_PLACES = 3
"""A snippet of main text that more blocks have is ignored, because it may be main text in only one of them."""


@dataclass(frozen=True, slots=True)
class PageExample:
    """A page with labelled blocks."""

    group: str
    """The set of the page."""
    site: str
    seen: PageArrays
    labels: Floats
    """The share of each block that is main text, NaN if unknown."""
    page_type: str
    _: KW_ONLY
    is_weak: bool = False

    @property
    def is_golden(self) -> bool:
        """Whether the whole main text of the page is known."""
        return not np.isnan(self.labels).any()


def example(group: str, site: str, page: Page, gold: str, page_type: str, *, is_weak: bool = False) -> PageExample:
    """A page with its gold text; it must have a block."""
    block_labels = labels([tokens(block.text) for block in page.blocks[:MAX_BLOCKS]], tokens(gold))
    return PageExample(
        group=group,
        site=site,
        seen=page_arrays.page_arrays(page),
        labels=np.array(block_labels, np.float32),
        page_type=page_type,
        is_weak=is_weak,
    )


def snippets(group: str, site: str, page: Page, present: Iterable[str], absent: Iterable[str]) -> PageExample:
    """A page with only the labels that snippets give, of main text and of noise."""
    texts = [" ".join(tokens(block.text)) for block in page.blocks[:MAX_BLOCKS]]
    block_labels = np.full(len(texts), np.nan, np.float32)
    for value, snippet_texts in ((0.0, absent), (1.0, present)):
        for snippet in snippet_texts:
            words = " ".join(tokens(snippet))
            places = [place for place, text in enumerate(texts) if words and words in text]
            if len(places) <= MOST_PLACES or not value:
                block_labels[places] = value
    return PageExample(group=group, site=site, seen=page_arrays.page_arrays(page), labels=block_labels, page_type="")


def parts_of(sites: Iterable[str], parts: int, seed: int) -> dict[str, int]:
    """The part of the cross-validation of each site, chosen at random."""
    shuffled_sites = sorted(set(sites))
    np.random.default_rng(seed).shuffle(shuffled_sites)
    return {site: place % parts for place, site in enumerate(shuffled_sites)}


def weights_of(examples: Sequence[PageExample]) -> list[float]:
    """The weight of each example. Pages of small sets weigh more, so that the largest set does not decide alone what
    main text is.
    """
    sizes = Counter(example.group for example in examples)
    most = max(sizes.values())
    weight_of_set = {group: min(MOST_WEIGHT, (most / size) ** SET_EXPONENT) for group, size in sizes.items()}
    weights = []
    for example in examples:
        weight = weight_of_set[example.group]
        if example.is_weak:
            weight *= WEAK
        if example.page_type in LISTS:
            weight *= LIST_WEIGHT
        if not example.is_golden:
            weight = SNIPPETS_WEIGHT
        weights.append(weight)
    return weights


SHARE = (0.08, 0.4)
"""The least and the greatest share of the main text that a copy keeps."""
FEWEST = 4
"""Blocks of main text from which a copy is shortened."""
TAG_WORDS = 2
"""The first words of an element, which stand for its tag: the tag, and its letters."""
DROPPED = 0.02
"""The share of the containers without main text that a copy loses."""


def shorter(labels: Floats, seen: PageArrays, chance: np.random.Generator) -> NDArray[np.bool_]:
    """The blocks of a shorter copy: one part of the main text, often its beginning, and most of the noise."""
    number = len(labels)
    kept = np.ones(number, bool)
    main = np.flatnonzero(labels >= 0.5)

    # Keep one part of the main text.
    if len(main) >= FEWEST:
        count = max(1, round(len(main) * chance.uniform(*SHARE)))
        first = 0 if chance.random() < 0.5 else int(chance.integers(0, len(main) - count + 1))
        kept[main] = False
        kept[main[first : first + count]] = True

    # Drop a few small containers of noise.
    for start, end in zip(seen.outline.starts, seen.outline.ends, strict=True):
        is_small = 0 < end - start < 0.4 * number
        if is_small and not (labels[start:end] >= 0.5).any() and chance.random() < DROPPED:
            kept[start:end] = False
    return kept if kept.sum() > 1 else np.ones(number, bool)


def subset(seen: PageArrays, kept: NDArray[np.bool_]) -> PageArrays:
    """The arrays of a page with only these blocks."""
    number = len(kept)
    outline = seen.outline
    texts = seen.texts

    # The new index of each block, and the blocks of each element.
    places = np.concatenate([[0], np.cumsum(kept)])
    blocks = np.flatnonzero(kept)
    starts = places[outline.starts]
    ends = places[outline.ends]
    outer = outward(outline.parents.tolist(), starts.tolist(), ends.tolist())

    # The new index of each text.
    rows = np.concatenate([blocks, np.arange(number, len(texts.kinds))])  # title and description stay
    row_of = np.full(len(texts.kinds), -1)
    row_of[rows] = np.arange(len(rows))
    owner = row_of[texts.owner]

    return replace(
        seen,
        texts=replace(
            texts,
            kinds=texts.kinds[rows],
            first=texts.first[rows],
            last=texts.last[rows],
            words=texts.words[owner >= 0],
            owner=owner[owner >= 0],
        ),
        outline=replace(outline, starts=starts, ends=ends, outer=np.array(outer, np.int64)),
        homes=seen.homes[blocks],
        wraps=seen.wraps[blocks],
        wrap_tags=seen.wrap_tags[blocks],
        tags=seen.tags[blocks],
        lengths=seen.lengths[blocks],
        linked=seen.linked[blocks],
        copies=np.unique(seen.copies[blocks], return_inverse=True)[1],
        links=seen.links[blocks],
        images=np.concatenate([seen.images[blocks], seen.images[-1:]]),
    )


def plainer(seen: PageArrays) -> PageArrays:
    """The arrays of a page like those of twenty years ago: elements have no names except their tags, and the head has
    only a title.
    """
    number = len(seen.homes)
    words = seen.words
    texts = seen.texts
    firsts = np.searchsorted(words.owner, words.owner)
    is_tag = np.arange(len(words.owner)) - firsts < TAG_WORDS
    is_kept = texts.owner <= number  # the blocks and the title
    return replace(
        seen,
        words=replace(words, buckets=words.buckets[is_tag], owner=words.owner[is_tag]),
        texts=replace(texts, words=texts.words[is_kept], owner=texts.owner[is_kept]),
        page=np.zeros_like(seen.page),
        names=(),
    )
