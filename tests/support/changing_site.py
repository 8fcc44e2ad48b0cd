"""A site whose pages change by rounds, and the texts that an index of it has to hold by what the site answered."""

import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from zlib import crc32

from sites import Answer, Asked, Site, page

SENTENCES = (
    "Bees of hive {0} dance in the dark, and {1} others follow the dancer to learn the way.",
    "The keeper of hive {0} wrote down each morning what {1} bees brought home.",
    "Honey of hive {0} is made of nectar, which {1} house bees fan until it keeps.",
    "Wax of hive {0} comes out of eight small glands, and {1} bees draw it into cells.",
    "The queen of hive {0} lays eggs all day in May, and {1} young bees feed her.",
)
PAGES_OF_LIST = 50
MISSES_UNTIL_GONE = 2
"""Rounds in a row in which a page is missing, until it has to leave the index."""


class PageState(Enum):
    """How a page answers."""

    SHOWN = auto()
    NOINDEX = auto()
    NOT_FOUND = auto()
    DELETED = auto()
    MOVED = auto()
    UNAVAILABLE = auto()


STATUS = {PageState.NOT_FOUND: 404, PageState.DELETED: 410, PageState.MOVED: 301, PageState.UNAVAILABLE: 503}

LETTER = dict(zip(PageState, "snfdmu", strict=True))
"""Each state in a note of answers: shown, noindex, not found, deleted, moved, unavailable."""


@dataclass
class SitePage:
    """A page as it is now, and the text that an index has to hold of it."""

    path: str
    lines: list[str]
    state: PageState = PageState.SHOWN
    moved_to: str = ""
    is_failing: bool = False
    """Whether all its answers of this round are 503."""
    last_answer: PageState | None = None
    """The last answer of this round that was not 503."""
    answers: str = ""
    """The answers of this round: a letter each, with `|` for each time that the crawl was killed."""
    indexed_text: str | None = None
    misses: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class ChangingSite(Site):
    """Articles that change, and lists of them. The home page lists the newest, as a crawl requests it in each round."""

    def __init__(self, count: int, failing_share: float = 0.05, seed: int = 1) -> None:
        super().__init__({})
        self.pages: dict[str, SitePage] = {}
        self.failing_share = failing_share
        """Of the answers of articles, and of the articles in each round, this share is 503."""
        self.answer_count = 0
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        for _ in range(count):
            self._add()

    def change(self, share: float) -> None:
        """Begin another round. This share of the pages is edited. For each five of these one moves, is deleted with
        404 and with 410, gets noindex, loses it, is missing no more, and is new.
        """
        few = max(1, round(share * len(self.pages) / 5))
        shown = self._in_state(PageState.SHOWN)
        hidden = self._in_state(PageState.NOINDEX)
        missing = [one for one in self._in_state(PageState.NOT_FOUND) if one.misses < MISSES_UNTIL_GONE]
        chosen = self._random.sample(shown, 9 * few)
        for one in chosen[: 5 * few]:
            one.lines = self._changed_lines(one.lines)
        for one in chosen[5 * few : 6 * few]:
            one.state = PageState.MOVED
            one.moved_to = self._add(one.lines).path
        for number, state in enumerate((PageState.NOT_FOUND, PageState.DELETED, PageState.NOINDEX), start=6):
            for one in chosen[number * few : (number + 1) * few]:
                one.state = state
        for one in [*hidden[: few // 2 + 1], *missing[: few // 2]]:
            one.state = PageState.SHOWN
        for _ in range(few):
            self._add()
        for one in self.pages.values():
            one.is_failing = self._random.random() < self.failing_share

    def recover(self) -> None:
        """Answer without 503 from now on."""
        self.failing_share = 0.0
        for one in self.pages.values():
            one.is_failing = False

    def note_kill(self) -> None:
        """Note that the crawl was killed, as the last answers before may be lost."""
        with self._lock:
            for one in self.pages.values():
                one.answers += "|"

    def begin_answers(self) -> None:
        """Forget the answers of the round before."""
        for one in self.pages.values():
            one.answers = ""

    def end_round(self) -> set[str]:
        """Compute what the index has to hold from the answers of this round; returns the paths that have to change."""
        changed = set()
        for one in self.pages.values():
            text = one.indexed_text
            if one.last_answer is PageState.SHOWN:
                text = one.text
                one.misses = 0
            elif one.last_answer is PageState.NOINDEX:
                text = None
                one.misses = 0
            elif one.last_answer is not None:
                one.misses += 1
                text = None if one.misses >= MISSES_UNTIL_GONE else text
            if text != one.indexed_text:
                changed.add(one.path)
            one.indexed_text = text
            one.last_answer = None
        return changed

    def indexed_texts(self) -> dict[str, str]:
        """The texts that the index has to hold, by path."""
        return {path: one.indexed_text for path, one in self.pages.items() if one.indexed_text is not None}

    def live_texts(self) -> dict[str, str]:
        """The texts of the pages that answer 200 without noindex, by path."""
        return {one.path: one.text for one in self._in_state(PageState.SHOWN)}

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        with self._lock:
            self.asked.append(Asked(path, 0.0, headers, 0))
            if path == "/":
                lists = [f"/list/{number}" for number in range(-(-len(self.pages) // PAGES_OF_LIST))]
                return self._list([*lists, *self._linked(len(self.pages) - PAGES_OF_LIST)])
            if path.startswith("/list/"):
                first = int(path.removeprefix("/list/")) * PAGES_OF_LIST
                return self._list(self._linked(first))
            if path not in self.pages:
                return Answer("<p>Nothing is here.</p>", 404)
            return self._article(self.pages[path], headers)

    def _article(self, one: SitePage, headers: Mapping[str, str]) -> Answer:
        self.answer_count += 1
        is_unavailable = one.is_failing or self._random.random() < self.failing_share
        one.answers += LETTER[PageState.UNAVAILABLE if is_unavailable else one.state]
        if is_unavailable:
            return Answer("<p>Too busy.</p>", STATUS[PageState.UNAVAILABLE])
        one.last_answer = one.state
        if one.state in STATUS:
            return Answer("", STATUS[one.state], headers={"Location": one.moved_to})
        tag = f'"{crc32(one.text.encode())}-{one.state.name}"'
        if headers.get("If-None-Match") == tag:
            return Answer(status=304)
        head = "<meta name=robots content=noindex>" if one.state is PageState.NOINDEX else ""
        advert = f"<aside>Offer number {self.answer_count}: buy now!</aside>"
        html = page(*one.lines, links={"/": "home"}, head=head).replace("<body>", f"<body>{advert}")
        return Answer(html, headers={"ETag": tag} if len(one.lines) % 2 else {})

    def _list(self, paths: list[str]) -> Answer:
        links = {path: f"Page {path}" for path in paths}
        return Answer(page("All pages of the garden.", links=links, head="<meta name=robots content=noindex>"))

    def _linked(self, first: int) -> list[str]:
        """The paths of a list's articles, but for those that are missing."""
        articles = [*self.pages.values()][max(first, 0) : max(first, 0) + PAGES_OF_LIST]
        return [one.path for one in articles if one.state in (PageState.SHOWN, PageState.NOINDEX)]

    def _in_state(self, state: PageState) -> list[SitePage]:
        return [one for one in self.pages.values() if one.state is state]

    def _add(self, lines: list[str] | None = None) -> SitePage:
        path = f"/article/{len(self.pages)}"
        count = self._random.randint(3, 9)
        self.pages[path] = SitePage(path=path, lines=lines or [self._sentence() for _ in range(count)])
        return self.pages[path]

    def _sentence(self) -> str:
        return self._random.choice(SENTENCES).format(self._random.randint(1, 9999), self._random.randint(100, 9999))

    def _changed_lines(self, lines: list[str]) -> list[str]:
        """The lines with one in another wording, one more, or one less."""
        place = self._random.randrange(len(lines))
        replacement = self._random.choice(([self._sentence()], [lines[place], self._sentence()], []))
        changed = [*lines[:place], *replacement, *lines[place + 1 :]]
        return changed if len(changed) > 1 else [*changed, self._sentence()]
