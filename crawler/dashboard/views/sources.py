"""Sources of pages that were read: the frames of one page ask for the same, and reading a large page takes seconds."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock, RLock
from typing import Any, TypeVar

from crawler.extraction import EXTRACTORS
from crawler.page.page import Extraction, Page

T = TypeVar("T")

MOST_BYTES = 5_000_000
"""Of the sources that are kept together; what is read of them takes some ten times as much. Larger ones are not."""
MOST_PAGES = 50
"""Of them: pages of which nothing was kept have no bytes."""


@dataclass(frozen=True)
class Source:
    """A page as it was fetched, and what a method sees in it, read once however many ask at the same time."""

    unread: Page
    method: str
    turn: Any = field(default_factory=RLock, repr=False)
    _kept: list[frozenset[int]] = field(default_factory=list, repr=False, compare=False)
    # Not as cached properties: in Python 3.11 one lock is all pages', and whoever holds it may wait for a turn.

    @property
    def page(self) -> Page:
        """The page, its blocks read."""
        with self.turn:  # or two would read it, and the blocks of one would not be those of the other
            _ = self.unread.blocks
        return self.unread

    def once(self, compute: Callable[[Page], T]) -> T:
        """What is made of the page; who asks while it is being made waits for it."""
        with self.turn:
            return self.page.once(compute)

    @property
    def extraction(self) -> Extraction:
        """What the method sees in it."""
        return self.once(EXTRACTORS[self.method])

    @property
    def kept(self) -> frozenset[int]:
        """The places of the blocks of the main text among all blocks of the page."""
        with self.turn:
            if not self._kept:
                mine = {id(block) for block in self.extraction.blocks}
                self._kept.append(frozenset(place for place, block in enumerate(self.page.blocks) if id(block) in mine))
            return self._kept[0]


class Sources:
    """The last ones that were asked for, known by all that they are made of: so none is ever old."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], Source] = OrderedDict()
        self._turn = Lock()

    def get(self, page: Page, method: str) -> Source:
        """The source of a page that is like this one, read before or not yet."""
        if len(page.body) > MOST_BYTES:
            return Source(page, method)
        key = (page.url, method, page.content_type, page.robots_header, blake2b(page.body).digest())
        with self._turn:
            found = self._kept.setdefault(key, Source(page, method))
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_PAGES or self._bytes() > MOST_BYTES:
                self._kept.popitem(last=False)
        return found

    def _bytes(self) -> int:
        return sum(len(one.unread.body) for one in self._kept.values())
