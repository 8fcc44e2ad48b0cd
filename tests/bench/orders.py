"""Orders in which a crawl may request the pages of a web: iterators of addresses that start with the seeds."""

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import log, sqrt

from webs import Web

from crawler.page.text import words

SEED_PRIORITY = 10_000.0


class Waiting:
    """A queue of addresses: the one with the highest priority first, among equals the first that was queued."""

    def __init__(self, seeds: Sequence[str]) -> None:
        self.priority: dict[str, float] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._came: dict[str, int] = {}
        for seed in seeds:
            self.put(seed, SEED_PRIORITY)

    def __contains__(self, url: str) -> bool:
        """Whether an address is queued or was."""
        return url in self._came

    def put(self, url: str, priority: float) -> None:
        """Queue an address, or change its priority."""
        if self.priority.get(url) != priority:
            self.priority[url] = priority
            heappush(self._heap, (-priority, self._came.setdefault(url, len(self._came)), url))

    def __iter__(self) -> Iterator[str]:
        """The addresses, each when it is the first of the queue."""
        while self._heap:
            priority, _, url = heappop(self._heap)
            if self.priority.get(url) == -priority:
                del self.priority[url]
                yield url


def breadth_first(web: Web, seeds: Sequence[str]) -> Iterator[str]:
    """First come, first fetched."""
    pending, met = deque(seeds), set(seeds)
    while pending:
        yield (url := pending.popleft())
        for target in web.next_to(url):
            if target not in met:
                met.add(target)
                pending.append(target)


Vector = Mapping[str, float]


class Vectors:
    """The words of pages as tf-idf vectors of length 1, by the word statistics of the whole web."""

    def __init__(self, web: Web) -> None:
        self._counts = {url: Counter(words(f"{page.title} {page.text}")) for url, page in web.pages.items()}
        pages_with: Counter[str] = Counter()
        for counts in self._counts.values():
            pages_with.update(counts.keys())
        self._rarity = {word: log(len(web.pages) / count) for word, count in pages_with.items()}

    def page(self, url: str) -> Vector:
        """A page's vector."""
        return self._vector(self._counts[url])

    def text(self, text: str) -> Vector:
        """The vector of a few words."""
        return self._vector(Counter(words(text)))

    def _vector(self, counts: Mapping[str, int]) -> Vector:
        weights = {word: (1 + log(count)) * self._rarity.get(word, 0.0) for word, count in counts.items()}
        length = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        return {word: weight / length for word, weight in weights.items()}


def mean(vectors: Sequence[Vector]) -> Vector:
    """The vector of length 1 between these."""
    total: Counter[str] = Counter()
    for vector in vectors:
        for word, weight in vector.items():
            total[word] += weight
    length = sqrt(sum(weight * weight for weight in total.values())) or 1.0
    return {word: weight / length for word, weight in total.items()}


def cosine(first: Vector, other: Vector) -> float:
    """How alike two vectors of length 1 are."""
    return sum(weight * other[word] for word, weight in first.items() if word in other)


def best_first(web: Web, seeds: Sequence[str], vectors: Vectors) -> Iterator[str]:
    """The links first whose page and anchor are similar to the seeds' texts; the best sighting of a link counts."""
    topic = mean([vectors.page(seed) for seed in seeds])
    waiting, fetched = Waiting(seeds), set[str]()
    for url in waiting:
        yield url
        fetched.add(url)
        like = cosine(vectors.page(url), topic)
        for link in web.pages[url].links:
            if link.url not in fetched:
                score = like + cosine(vectors.text(link.anchor), topic)
                waiting.put(link.url, max(score, waiting.priority.get(link.url, 0.0)))


def oracle(web: Web, seeds: Sequence[str], on_topic: Collection[str]) -> Iterator[str]:
    """The best order, which needs to know the whole web: always the shortest way to the next page of the topic."""
    fetched = dict.fromkeys(seeds)
    yield from fetched
    left = set(on_topic) - fetched.keys()
    while way := _shortest_way(web, list(fetched), left):
        yield from way
        fetched |= dict.fromkeys(way)
        left.difference_update(way)
    yield from (url for url in breadth_first(web, seeds) if url not in fetched)


def _shortest_way(web: Web, starts: Sequence[str], ends: Collection[str]) -> list[str]:
    """The pages on the way from any start to the nearest end, without the start; empty if there is no way."""
    came_from: dict[str, str | None] = dict.fromkeys(starts)
    pending = deque(starts)
    while pending:
        url = pending.popleft()
        for target in web.next_to(url):
            if target in came_from:
                continue
            came_from[target] = url
            if target in ends:
                return _back(came_from, target)
            pending.append(target)
    return []


def _back(came_from: Mapping[str, str | None], end: str) -> list[str]:
    way, at = [], end
    while (before := came_from[at]) is not None:
        way.append(at)
        at = before
    return way[::-1]
