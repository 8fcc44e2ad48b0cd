"""A small internet: hosts with articles, each with a habit that real hosts have, good, odd or bad.

It knows what must be true of a crawl: which pages can be had, which addresses must not be requested, and which edition
of a page there is at any time.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from random import Random
from typing import NamedTuple
from urllib.parse import unquote

from internet_server import Asked, Reply, lost

HOUR, DAY = 3600.0, 86400.0
RATES = (0.0, 1 / DAY, 1 / HOUR)
"""How often the pages of a host change, by turns: never, daily, hourly."""
NOT_FOUND = Reply(b"<title>Not found</title><p>Nothing is here.", 404)


@dataclass(frozen=True)
class Article:
    """A text of its own, and the names of others that it leads to."""

    name: str
    title: str
    paragraphs: tuple[str, ...]
    links: tuple[str, ...] = ()


@dataclass
class Host:
    """A host, and what a crawl may do there."""

    name: str
    address: str
    part: int
    """Of the internet: no page of another part leads to it."""
    habit: str
    rate: float
    """Changes of a page a second."""
    articles: dict[str, Article] = field(default_factory=dict)
    """By path."""
    forbidden: re.Pattern[str] | None = None
    """Paths that its robots.txt forbids."""
    delay: float = 0.0
    """Its Crawl-delay."""
    certificate: str = ""
    """It is served over TLS with this: trusted, unknown, expired, or misnamed."""
    is_expected: bool = True
    """Whether its articles can be had."""
    lists_articles: bool = True
    """Whether its front page does."""
    links: list[str] = field(default_factory=list)
    """Further paths on its front page."""
    head: str = ""
    """What is in the head of its front page."""
    routes: dict[str, Callable[[Asked], Reply]] = field(default_factory=dict)
    """Other answers, by path; a path may end in a star."""
    around: list[Callable[[Asked, Reply], Reply]] = field(default_factory=list)
    """What is done to each answer but robots.txt."""
    is_up: Callable[[float], bool] = lambda wall: True

    @property
    def is_tls(self) -> bool:
        return bool(self.certificate)


class Span(NamedTuple):
    """When pages change."""

    since: float
    until: float


class Internet:
    """Hosts by name, in parts that do not know of each other, each with a directory of its hosts."""

    def __init__(
        self,
        articles: Sequence[Sequence[Article]],
        hosts: int,
        habits: Mapping[str, "Habit"],
        span: Span,
        saved: Iterable[bytes] = (),
    ) -> None:
        self.port = self.tls_port = 0
        self.saved = iter(saved)
        """Pages of real hosts, as they were saved."""
        self.span, self.parts = span, len(articles)
        self.hosts: dict[str, Host] = {}
        self.place: dict[str, tuple[Host, str]] = {}
        """Where each article is, by its name."""
        self.changes: dict[tuple[str, str], list[float]] = {}
        names = list(habits)
        for number in range(hosts):
            part, turn = number % self.parts, number // self.parts
            habit = names[number % len(names)]
            name = f"{habit}{turn}.part{part}-{turn}.example"
            address = f"127.0.{1 + number // 200}.{1 + number % 200}"
            self.hosts[name] = Host(name, address, part, habit, RATES[turn % len(RATES)])
        for part, texts in enumerate(articles):
            self._spread(part, texts)
        for host in list(self.hosts.values()):
            habits[host.habit](self, host)

    def _spread(self, part: int, articles: Sequence[Article]) -> None:
        mine = [host for host in self.hosts.values() if host.part == part]
        for number, article in enumerate(articles):
            host = mine[number % len(mine)]
            path = f"/a/{article.name}"
            host.articles[path] = article
            self.place[article.name] = host, path
            random = Random(f"{host.name}{path}")
            self.changes[host.name, path] = list(_changes(host.rate, self.span, random))

    def of_part(self, part: int) -> list[Host]:
        return [host for host in self.hosts.values() if host.part == part]

    def names(self) -> dict[str, list[str]]:
        """What the resolver knows."""
        found = {host.name: [host.address] for host in self.hosts.values()}
        found |= {f"directory{part}.example": [f"127.0.0.{10 + part}"] for part in range(self.parts)}
        return found | {"inside.example": ["10.1.2.3"]}

    def url(self, host: Host, path: str = "/") -> str:
        port = self.tls_port if host.is_tls else self.port
        return f"{'https' if host.is_tls else 'http'}://{host.name}:{port}{path}"

    def seed(self, part: int) -> str:
        return f"http://directory{part}.example:{self.port}/"

    def edition(self, host: str, path: str, wall: float) -> int:
        """How often a page had changed by then."""
        return bisect_right(self.changes[host, path], wall)

    def answer(self, asked: Asked) -> Reply:
        if asked.host.startswith("directory"):
            return self._directory(asked)
        host = self.hosts.get(asked.host)
        if host is None:
            return NOT_FOUND
        if not host.is_up(asked.wall):
            return Reply(way=lost)
        if host.is_tls and not asked.is_tls:
            return Reply(status=301, headers={"Location": self.url(host, asked.path)})
        reply = self._reply(host, asked)
        for change in host.around if asked.path != "/robots.txt" else ():
            reply = change(asked, reply)
        return reply

    def _reply(self, host: Host, asked: Asked) -> Reply:
        path = unquote(asked.path)
        bare = path.partition("?")[0]
        starred = (name for name in host.routes if name.endswith("*") and path.startswith(name[:-1]))
        name = next((one for one in (path, bare) if one in host.routes), None) or next(starred, None)
        if name is not None:
            return host.routes[name](asked)
        if bare in host.articles:
            return self.page(host, bare, asked.wall)
        return self._front(host) if path == "/" else NOT_FOUND

    def _directory(self, asked: Asked) -> Reply:
        if asked.path != "/":
            return NOT_FOUND
        hosts = self.of_part(int(asked.host.removeprefix("directory").partition(".")[0]))
        links = {self.url(host): host.name for host in hosts} | {f"http://inside.example:{self.port}/": "inside"}
        return Reply(html("A directory of hosts", ["All hosts of this part."], links))

    def _front(self, host: Host) -> Reply:
        shown = {self.url(host, path): one.title for path, one in host.articles.items() if host.lists_articles}
        links = shown | {path: f"more of {number}" for number, path in enumerate(host.links)}
        return Reply(html(f"The front page of {host.name}", ["What there is to read."], links, host.head))

    def page(self, host: Host, path: str, wall: float, head: str = "") -> Reply:
        """An article in its edition of that time."""
        article, edition = host.articles[path], self.edition(host.name, path, wall)
        said = f"This is edition {edition} of {host.name}{path}, and these are its words of the day: {_words(edition)}."
        known = (self.place[name] for name in article.links if name in self.place)
        links = {self.url(*where): where[0].articles[where[1]].title for where in known if where[0].part == host.part}
        body = html(article.title, [said, *article.paragraphs], links, head)
        return Reply(body, edition=edition)

    def expected(self) -> Iterator[tuple[Host, str]]:
        """The pages that every crawl of their part must have."""
        for host in self.hosts.values():
            for path in host.articles if host.is_expected else ():
                if not (host.forbidden and host.forbidden.search(path)):
                    yield host, path


EDITION = re.compile(r"This is edition (\d+) of ([\w.-]+)(/\S+), and")


def html(title: str, paragraphs: Sequence[str], links: Mapping[str, str], head: str = "") -> bytes:
    """A web page."""
    body = "".join(f"<p>{escape(one)}</p>\n" for one in paragraphs)
    items = "".join(f'<li><a href="{escape(url)}">{escape(words)}</a></li>' for url, words in links.items())
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head><body>'
        f"<article><h1>{escape(title)}</h1>\n{body}</article><nav><ul>{items}</ul></nav></body></html>"
    ).encode()


def _words(edition: int) -> str:
    """Words that no other edition has."""
    digest = hashlib.sha256(str(edition).encode()).digest()
    return " ".join(f"{byte:08b}".replace("0", "la").replace("1", "ri") for byte in digest[:6])


def _changes(rate: float, span: Span, random: Random) -> Iterator[float]:
    """Moments of changes that come by chance at this rate."""
    at = span.since
    while rate and (at := at + random.expovariate(rate)) < span.until:
        yield at


Habit = Callable[[Internet, Host], None]
"""Changes a host that has its articles."""
