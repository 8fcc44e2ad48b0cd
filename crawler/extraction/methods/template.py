"""Template: the text of a page, less what it has in common with other pages of its site.

J. Yan, Y. Wang, "Web Page Denoising Based on Template and SVM", Computer Science and Application 10(1), 2020, sections
4 and 7. The noise of a page is common (menus, copyright lines, whatever a site's pages share) or its own (advertising).
The common part is learned, for each site X by itself:
1. The pages Xi are taken in batches of N1 = 10. Each leaf label XiTj, a tag name and its text, is looked for in the
   cache S; where a label Sn of the same tag and nearly the same text is found, its frequency Fn goes up by one, else it
   enters S.
2. After N1 pages the labels whose F reaches N2 = 3 become templates, for good, and S is emptied for the next batch.
3. Of a page to be cleaned, the labels that match a template are deleted.
Texts are near when their edit distance D <= min(len) / 8, and up to 8 characters only when they are equal.

Where the paper is silent or contradicts itself:
- F counts pages. By the letter of step 1 a label counts each time it stands on a page; but a word that one page repeats
  is not common to the site, and the numbers of the paper's Table 2 and Figure 3 are those of pages.
- At exactly 8 characters the formula allows an edit and the sentence before it none: none. A text that is near to
  several labels counts for the first that is equal, else for the one most alike. A label that matches a template
  already is not counted again. The last batch, if it is not full, makes no templates.
- A page that brings no long label which its batch has not seen is a copy (a print version, an address with a session)
  and is passed over: three copies would make a template of the article itself.
- A site is a host. For time's sake labels of more than 100 characters have to be equal, those of more than 500, and
  those after the first 1,000 of a page, are neither learned nor removed. A site has 1,000 templates at most; the
  library counts what it refuses.
- Deleting labels alone would leave holes in sentences, where a link's words are a template. So whole lines go, when
  more than half of their characters are common, or stay whole.
Without a library nothing is common: what comes back is all text that readers see. The first ten pages of a site have
none, nor has a page by itself.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import compress
from typing import NamedTuple

from crawler.extraction.leaf_labels import EXACT_LENGTH, MAX_NEAR_LENGTH, LabelIndex, leaves
from crawler.metadata.title import headline
from crawler.page.page import Extraction, Page

N1 = 10
N2 = 3
COMMON_SHARE = 0.5
"""A line of which more than this is common is noise."""
MAX_LENGTH = 500
MAX_LABELS = 1_000
MAX_TEMPLATES = 1_000


class LeafLabel(NamedTuple):
    """A leaf label, as pages have it in common."""

    tag: str
    text: str


class Library:
    """The templates of a site; to be added to, never to be taken from.

    A subclass may have other labels.
    """

    longest_near = MAX_NEAR_LENGTH

    def __init__(self, templates: Iterable[LeafLabel] = ()) -> None:
        self._templates: list[LeafLabel] = []
        self._labels = LabelIndex(self.longest_near)
        self.refused = 0
        """How many templates were not taken because there are enough."""
        for label in templates:
            self.add(label)

    def __len__(self) -> int:
        return len(self._templates)

    def __iter__(self) -> Iterator[LeafLabel]:
        return iter(self._templates)

    def add(self, label: LeafLabel) -> bool:
        """Take in a template; whether it was new and there was room."""
        if label in self._labels:
            return False
        if len(self) >= MAX_TEMPLATES:
            self.refused += 1
            return False
        self._templates.append(label)
        self._labels.add(*label)
        return True

    def matches(self, tag: str, text: str) -> bool:
        """Whether a label is common noise."""
        return len(text) <= MAX_LENGTH and self._labels.find(tag, text) is not None

    def labels(self, page: Page) -> frozenset[LeafLabel]:
        """The labels of a page that may be common, each once."""
        return labels(page)

    def common(self, page: Page) -> frozenset[LeafLabel]:
        """The labels of a page that are common noise."""
        if self:
            return frozenset(label for label in self.labels(page) if self.matches(*label))
        return frozenset()


NOTHING_COMMON = Library()


class Learner:
    """Adds to the library of a site what its pages have in common, batch after batch."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.copies = 0
        """How many pages were passed over because the batch had seen all they say."""
        self._batch: list[frozenset[LeafLabel]] = []

    def __len__(self) -> int:
        """How many labels wait for their batch to be full."""
        return sum(map(len, self._batch))

    def add(self, page: Page) -> tuple[LeafLabel, ...]:
        """Take in a page; the templates that it completed, which are in the library then."""
        new = self.library.labels(page) - page.once(self.library.common)
        if not any(len(label.text) > EXACT_LENGTH for label in new.difference(*self._batch)):
            self.copies += 1
            return ()
        self._batch.append(new)
        if len(self._batch) < N1:
            return ()
        counts = frequencies(self._batch, self.library.longest_near)
        self._batch = []
        return tuple(label for label, count in counts.items() if count >= N2 and self.library.add(label))


def labels(page: Page) -> frozenset[LeafLabel]:
    """The leaf labels of a page that may be common, each once."""
    return page.once(_labels)


def _labels(page: Page) -> frozenset[LeafLabel]:
    labels: dict[LeafLabel, None] = {}
    for leaf in leaves(page).leaves:
        if len(leaf.text) <= MAX_LENGTH:
            labels[LeafLabel(leaf.tag, leaf.text)] = None
            if len(labels) >= MAX_LABELS:
                break
    return frozenset(labels)


def frequencies(pages: Iterable[Collection[LeafLabel]], longest_near: int = MAX_NEAR_LENGTH) -> dict[LeafLabel, int]:
    """The cache S of the paper's Table 2: each label, near ones as the first of them, and how many pages have it."""
    seen = LabelIndex(longest_near)
    cache = []
    counts = []
    for page in pages:
        on_page = set()
        for label in sorted(page):  # the same labels whatever the order in memory
            number = seen.find(*label)
            if number is None:
                number = seen.add(*label)
                cache.append(label)
                counts.append(0)
            on_page.add(number)
        for number in on_page:
            counts[number] += 1
    return dict(zip(cache, counts, strict=True))


def learn(pages: Iterable[Page], library: Library | None = None) -> Library:
    """The library of the site whose pages these are."""
    learner = Learner(Library() if library is None else library)
    for page in pages:
        learner.add(page)
    return learner.library


def common_lines(page: Page, common: frozenset[LeafLabel]) -> frozenset[int]:
    """Which lines of a page are common noise, by their index in its blocks."""
    if not common:
        return frozenset()
    sizes = [0] * len(page.blocks)
    shared = [0] * len(page.blocks)
    for leaf in leaves(page).leaves:
        sizes[leaf.line] += len(leaf.text)
        if (leaf.tag, leaf.text) in common:
            shared[leaf.line] += len(leaf.text)
    return frozenset(line for line, size in enumerate(sizes) if shared[line] > COMMON_SHARE * size)


def template(page: Page, library: Library | None = None) -> Extraction:
    """The text of a page without what its site's library knows to be common."""
    common = common_lines(page, page.once((library or NOTHING_COMMON).common))
    kept = tuple(compress(page.blocks, (line not in common for line in range(len(page.blocks)))))
    return Extraction(text="\n".join(block.text for block in kept).strip(), title=headline(page), blocks=kept)
