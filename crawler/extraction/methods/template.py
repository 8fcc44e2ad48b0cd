"""Template: the text of a page without the parts that it has in common with other pages of its site.

J. Yan, Y. Wang, "Web Page Denoising Based on Template and SVM", Computer Science and Application 10(1), 2020, sections
4 and 7. A page has noise in common with its site (menus, copyright lines) and noise of its own (advertising). The
common noise is learned separately for each site X:
1. The pages Xi are taken in batches of N1 = 10. Each leaf label XiTj, a tag name and its text, is looked up in the
   cache S; if a label Sn of the same tag and nearly the same text is found, its frequency Fn goes up by one, otherwise
   the label is added to S.
2. After N1 pages the labels whose F reaches N2 = 3 become templates, permanently, and S is emptied for the next batch.
3. The labels of a page that match a template are deleted from the page.
Texts are near if their edit distance D <= min(len) / 8; up to 8 characters only equal texts are near.

Choices where the paper gives no details or contradicts itself:
- F counts pages. By the wording of step 1, a label counts each time it occurs on a page; but a word that one page
  repeats is not common to the site, and the numbers in the paper's Table 2 and Figure 3 are numbers of pages.
- At exactly 8 characters the formula allows one edit, but the sentence before it none. Here it is none.
- A text that is near to several labels counts for the equal one, or else for the most similar one.
- A label that matches a template already is not counted again. An incomplete last batch makes no templates.
- A page is a copy (a print version, an address with a session) if none of its labels of more than 8 characters is new
  to its batch. It is skipped: three copies would make a template of the article itself.
- A site is a host. To save time, labels of more than 100 characters match only if they are equal. Labels of more than
  500 characters, and those after the first 1,000 of a page, are neither learned nor removed. A site has at most 1,000
  templates; the library counts the refused ones.
- A link whose words are a template would leave a hole in its sentence if only this label were deleted. So a line is
  removed as a whole if more than half of its characters are in common labels; otherwise it is kept as a whole.

Without a library nothing is common, and the result is all text that readers see. This is so for the first ten pages of
a site, and for a single page.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import compress
from typing import NamedTuple

from crawler.extraction.leaf_labels import EXACT_LENGTH, MAX_NEAR_LENGTH, LabelIndex, leaves
from crawler.metadata.title import headline
from crawler.page.page import Extraction, Page

N1 = 10  # pages of a batch
N2 = 3  # pages of a batch that must have a label
COMMON_SHARE = 0.5
"""The share of common characters above which a line is noise."""
MAX_LENGTH = 500  # characters of a label; a longer one is not read
MAX_LABELS = 1_000  # labels of a page that are read
MAX_TEMPLATES = 1_000  # templates of a site


class LeafLabel(NamedTuple):
    """A leaf label as it is compared between pages."""

    tag: str
    text: str


class Library:
    """The templates of a site. Templates can be added, but not removed. A subclass may read other labels from pages."""

    longest_near = MAX_NEAR_LENGTH
    """Labels of more characters match only if they are equal."""

    def __init__(self, templates: Iterable[LeafLabel] = ()) -> None:
        self._templates: list[LeafLabel] = []
        self._labels = LabelIndex(self.longest_near)
        self.refused = 0
        """How many templates were refused because the library was full."""
        for label in templates:
            self.add(label)

    def __len__(self) -> int:
        return len(self._templates)

    def __iter__(self) -> Iterator[LeafLabel]:
        return iter(self._templates)

    def add(self, label: LeafLabel) -> bool:
        """Add a template, if it is new and the library is not full; returns whether it was added."""
        if label in self._labels:
            return False
        if len(self) >= MAX_TEMPLATES:
            self.refused += 1
            return False
        self._templates.append(label)
        self._labels.add(*label)
        return True

    def matches(self, tag: str, text: str) -> bool:
        """Whether a label is equal to a template, or near one."""
        return len(text) <= MAX_LENGTH and self._labels.find(tag, text) is not None

    def labels(self, page: Page) -> frozenset[LeafLabel]:
        """The labels of a page that may be common, each once."""
        return labels(page)

    def common(self, page: Page) -> frozenset[LeafLabel]:
        """The labels of a page that match a template."""
        if self:
            return frozenset(label for label in self.labels(page) if self.matches(*label))
        return frozenset()


NOTHING_COMMON = Library()


class Learner:
    """Adds the common labels of a site's pages to its library, batch after batch."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.copies = 0
        """How many pages were skipped as copies of pages in their batch."""
        self._batch: list[frozenset[LeafLabel]] = []
        """The labels of each page of the incomplete batch that match no template."""

    def __len__(self) -> int:
        """The number of labels in the incomplete batch."""
        return sum(map(len, self._batch))

    def add(self, page: Page) -> tuple[LeafLabel, ...]:
        """Learn from a page. If it completes a batch, returns the new templates, which are then in the library."""
        unmatched = self.library.labels(page) - page.once(self.library.common)
        new_to_batch = unmatched.difference(*self._batch)
        if not any(len(label.text) > EXACT_LENGTH for label in new_to_batch):
            self.copies += 1
            return ()
        self._batch.append(unmatched)
        if len(self._batch) < N1:
            return ()
        counts = frequencies(self._batch, self.library.longest_near)
        self._batch = []
        return tuple(label for label, count in counts.items() if count >= N2 and self.library.add(label))


def labels(page: Page) -> frozenset[LeafLabel]:
    """The leaf labels of a page that may be common, each once."""
    return page.once(_labels)


def _labels(page: Page) -> frozenset[LeafLabel]:
    in_page_order: dict[LeafLabel, None] = {}
    for leaf in leaves(page).leaves:
        if len(leaf.text) <= MAX_LENGTH:
            in_page_order[LeafLabel(leaf.tag, leaf.text)] = None
            if len(in_page_order) >= MAX_LABELS:
                break
    return frozenset(in_page_order)


def frequencies(pages: Iterable[Collection[LeafLabel]], longest_near: int = MAX_NEAR_LENGTH) -> dict[LeafLabel, int]:
    """The cache S of the paper's Table 2: how many pages have each label. A label near an earlier one counts for it."""
    index = LabelIndex(longest_near)
    cache = []
    counts = []
    for page in pages:
        on_page = set()
        for label in sorted(page):  # so that the result does not depend on the order of a set
            number = index.find(*label)
            if number is None:
                number = index.add(*label)
                cache.append(label)
                counts.append(0)
            on_page.add(number)
        for number in on_page:
            counts[number] += 1
    return dict(zip(cache, counts, strict=True))


def learn(pages: Iterable[Page], library: Library | None = None) -> Library:
    """The library that is learned from the pages of a site; a given library is extended."""
    if library is None:
        library = Library()
    learner = Learner(library)
    for page in pages:
        learner.add(page)
    return learner.library


def common_lines(page: Page, common: frozenset[LeafLabel]) -> frozenset[int]:
    """The indexes of the lines of a page that are common noise."""
    if not common:
        return frozenset()
    # The characters of each line, and those in common labels.
    lengths = [0] * len(page.blocks)
    common_lengths = [0] * len(page.blocks)
    for leaf in leaves(page).leaves:
        lengths[leaf.line] += len(leaf.text)
        if (leaf.tag, leaf.text) in common:
            common_lengths[leaf.line] += len(leaf.text)
    return frozenset(line for line, length in enumerate(lengths) if common_lengths[line] > COMMON_SHARE * length)


def template(page: Page, library: Library | None = None) -> Extraction:
    """The text of a page without the lines that are common noise by the library of its site."""
    common = common_lines(page, page.once((library or NOTHING_COMMON).common))
    kept = tuple(compress(page.blocks, (line not in common for line in range(len(page.blocks)))))
    return Extraction(text="\n".join(block.text for block in kept).strip(), title=headline(page), blocks=kept)
