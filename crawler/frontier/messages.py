"""What goes between the frontier, which is in memory, and the ledger, which is in the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from crawler.frontier.host_limits import HostLatency
from crawler.noise.evidence import Evidence as PictureCounts
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.recrawl.page_history import PRESENT, ChangeCheck, PageChange, PageHistory, Visit
from crawler.urls.canonical import Canonical


class Candidate(NamedTuple):
    """An address that may be asked for, and what is known of it."""

    url: str
    priority: int = 0
    depth: int = 0
    parent: str | None = None
    kind: str = "link"
    """seed, list (a sitemap named by another), link, image, example or counterexample (of the topic)."""
    requested: str | None = None
    """What was asked for at first, when a redirect led here."""
    sight: str | None = None
    """How a page shows it, of a picture, or of a page of which there is only a picture to go by: it is to be judged."""
    via: str = "link"
    """How it was found: seed, sitemap, feed, link, picture, refresh, redirect or example."""
    lastmod: float | None = None
    """When it was last changed, as the sitemap or feed says that lists it."""

    @property
    def sort(self) -> str:
        """What it is to be remembered as: an address may be a page here, a page behind a picture there."""
        return "picture" if self.sight is not None and self.kind != "image" else self.kind

    @property
    def has_learned_priority(self) -> bool:
        """Whether its priority is renewed as the crawl learns: seeds and pictures have their own."""
        return self.kind == "link" and self.sight is None


class Lease(NamedTuple):
    """A candidate that this worker holds, and whatever was given back with it."""

    id: int
    candidate: Candidate
    host_id: int
    site_id: int
    load: Any = None
    shown_on: int | None = None
    """The site whose pages show it, of what is to be judged."""
    has_new_priority: bool = False
    """Whether its priority is another than the database has."""
    known: PageHistory | None = None
    """What is known of the page, if it was there in an earlier round."""

    @property
    def counts(self) -> bool:
        """Whether it is a page to the budget of its site."""
        return self.candidate.kind != "image"


class Template(NamedTuple):
    """A label that the pages of a host have in common."""

    host: str
    tag: str
    text: str


class StoredResponse(NamedTuple):
    """What a page came in, to be kept as it came."""

    status_line: str
    headers: tuple[tuple[str, str], ...]
    """Names and values, a character for each of their bytes."""
    body: bytes
    """Unpacked, where it came compressed."""


@dataclass(frozen=True)
class PageResult:
    """All that one request brought: built while its answer is read, and handed to the frontier once."""

    outcome: Outcome | None = None
    """Why nothing is stored; None for a page or a picture that is stored, and for a page that is as it was."""
    record: Mapping[str, Any] | None = None
    """The fields of the item."""
    check: ChangeCheck | None = None
    """How the page compares with what was known of it; None where the outcome tells that."""
    links: tuple[Candidate, ...] = ()
    """What the page leads to, with priorities, its pictures among it."""
    priorities: Mapping[str, int] = field(default_factory=dict)
    """New priorities of addresses that wait already, by what this page taught."""
    shared_examples: tuple[tuple[str, str], ...] = ()
    """What a seed or an example teaches: kind and text."""
    templates: tuple[Template, ...] = ()
    """What the pages of the host have in common, as far as this page completed it."""
    pictures: PictureCounts | None = None
    """The counts of the pictures that the page shows, where pictures are judged."""
    verdict: Mapping[str, Any] | None = None
    """What was said of a picture before it was asked for."""
    validators: Mapping[str, str] = field(default_factory=dict)
    """ETag and Last-Modified, by which the server tells whether the page is still the same."""
    response: StoredResponse | None = None
    """What the page came in, if that is to be kept."""

    @property
    def is_new_item(self) -> bool:
        """Whether it has a line of its own among the items: a page that only the extraction changed has one already."""
        return self.record is not None and (self.check is None or self.check.found is not PageChange.RENEWED)

    @property
    def is_noise(self) -> bool:
        """Whether it was refused as noise before the request."""
        return self.outcome is not None and self.outcome.code is Code.NOISE


class Completion(NamedTuple):
    """A lease that ended, and its result."""

    lease: Lease
    result: PageResult

    @property
    def is_page(self) -> bool:
        """Whether it is a page of this round: one that was stored, or is as it was."""
        check, outcome = self.result.check, self.result.outcome
        return self.lease.counts and (outcome is None if check is None else check.found in PRESENT)

    def visit(self, new_links: int) -> Visit:
        """What the history of the page takes of it."""
        result, candidate = self.result, self.lease.candidate
        check = result.check or ChangeCheck(PageChange.NEW if self.is_page else PageChange.NOTHING)
        code = result.outcome.code if result.outcome is not None else None
        fetched_at = str((result.record or {}).get("fetched_at") or "")
        is_seed = candidate.kind == "seed"
        return Visit(
            self.lease.known, check, code, fetched_at, is_seed, candidate.lastmod, result.validators, new_links
        )

    @property
    def is_item(self) -> bool:
        """Whether it is a page with a new line among the items."""
        return self.lease.counts and self.result.is_new_item


class SiteEvidence(NamedTuple):
    """What was counted of the pictures of a site, since this worker last asked or from the beginning."""

    site_id: int
    whole: bool
    counts: list[str]


class Redirect(NamedTuple):
    """A candidate that a redirect leads elsewhere."""

    lease: Lease
    to: Candidate


class ClaimRequest(NamedTuple):
    """How much a worker can take."""

    hosts: int
    """New hosts, at most."""
    pages: int
    """Addresses in all, at most."""
    each: int
    """Addresses of one host, at most."""
    low: tuple[int, ...] = ()
    """Hosts at hand that want more."""
    at_hand: tuple[int, ...] = ()
    alone: bool = True
    """Whether a host is this worker's alone while it has addresses of it."""


class WorkerSample(NamedTuple):
    """What a worker did in some seconds."""

    seconds: float
    pages: int = 0
    """Stored, or as they were."""
    read: int = 0
    """Pages judged by the topic, kept or not."""
    on_topic: int = 0
    requests: int = 0
    failed: int = 0
    bytes: int = 0
    pictures: int = 0
    picture_bytes: int = 0
    skipped: int = 0
    """Pictures that were refused before the download."""
    statuses: Mapping[str, int] = {}
    """Answers by their status code, `none` for those that never came."""

    def since(self, before: "WorkerSample") -> "WorkerSample":
        """What was done after another sample of the same beginning."""
        names = (name for name in self._fields if name != "statuses")
        grown = {name: n - before.statuses.get(name, 0) for name, n in self.statuses.items()}
        return WorkerSample(
            **{name: getattr(self, name) - getattr(before, name) for name in names},
            statuses={name: n for name, n in grown.items() if n},
        )


@dataclass
class Batch:
    """What happened since the last one, to be committed together."""

    ended: list[Completion] = field(default_factory=list)
    moves: list[Redirect] = field(default_factory=list)
    returned: list[Lease] = field(default_factory=list)
    resting: dict[int, float] = field(default_factory=dict)
    """Hosts no longer at hand, and in how many seconds they may be asked again."""
    rests: dict[int, float] = field(default_factory=dict)
    """Hosts at hand, and in how many seconds they may be asked again: a worker that ends must not have them asked."""
    crawl_delays: dict[int, float] = field(default_factory=dict)
    latencies: dict[int, HostLatency] = field(default_factory=dict)
    """Of hosts that answered lately, now and then."""
    closed: dict[str, Code] = field(default_factory=dict)
    """Hosts that are asked for nothing more, by their names, and why."""
    pictures: dict[int, str] = field(default_factory=dict)
    """The record of what was counted of the pictures of sites, by their numbers."""
    demand: ClaimRequest | None = None
    priorities: dict[str, int] = field(default_factory=dict)
    """Waiting addresses, and their new priority."""
    learned: tuple[str, str] | None = None
    """What this worker has learned of where the topic's pages are: for people, and for others and later runs."""
    asked_after: tuple[str, ...] = ()
    """Addresses that this worker believes to wait."""
    samples: list[WorkerSample] = field(default_factory=list)
    """What this worker did lately, up to now."""
    idle: bool = False
    """Whether this worker has nothing at hand and nothing on its way."""


@dataclass
class BatchReply:
    """What the ledger says to a batch."""

    leases: list[Lease] = field(default_factory=list)
    more: set[int] = field(default_factory=set)
    """Hosts of which more waits."""
    rests: dict[int, float] = field(default_factory=dict)
    """Hosts that addresses are lent of and that rest, as this worker or another says, and for how many seconds."""
    moved: dict[int, Lease | None] = field(default_factory=dict)
    refused: Outcomes = field(default_factory=Outcomes)
    """Addresses that were given up unasked."""
    shared_examples: list[tuple[str, str]] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)
    """All of hosts that were not at hand before, and the new ones of those that were."""
    evidence: list[SiteEvidence] = field(default_factory=list)
    """Of the sites whose pages show the pictures that are lent."""
    forgotten: list[int] = field(default_factory=list)
    """Sites whose evidence was not asked for lately; it comes whole when it is."""
    shared_models: list[str] = field(default_factory=list)
    """What others have learned, and earlier runs."""
    done: list[str] = field(default_factory=list)
    """Of the addresses asked after, those that wait no more."""
    waiting: int = 0
    pages: int = 0
    held: int = 0
    """By other workers; known when this one is idle."""
    workers: int = 1
    over: bool = False
    lost: bool = False
    """Whether this worker was taken for dead: what it holds is no longer its own."""


class AddressKeys:
    """What an address is known by: a number of 64 bits, the same for all spellings of one address."""

    def __init__(self, crawl_id: int, canonical: Canonical) -> None:
        self.canonical = canonical
        self._page, self._image, self._example = (f"{crawl_id} {kind} " for kind in ("page", "image", "example"))

    def __call__(self, url: str, kind: str = "link") -> int:
        """The number; an address may be a picture here and a page there, and an example of the topic besides."""
        before = {"image": self._image, "example": self._example, "counterexample": self._example}
        text = before.get(kind, self._page) + self.canonical(url)
        return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


class RecentNumbers:
    """The numbers seen last: so many at least, twice as many at most."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._new: set[int] = set()
        self._old: set[int] = set()

    def __contains__(self, number: int) -> bool:
        return number in self._new or number in self._old

    def add(self, number: int) -> bool:
        """Remember a number; whether it was not remembered."""
        if number in self:
            return False
        self._new.add(number)
        if len(self._new) >= self.limit:
            self._new, self._old = set(), self._new
        return True

    def clear(self) -> None:
        """Remember nothing."""
        self._new, self._old = set(), set()
