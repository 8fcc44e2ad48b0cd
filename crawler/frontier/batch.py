"""Batches: what the frontier, which is in memory, has the committer write to the database, and the reply."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crawler.outcomes import Outcomes

if TYPE_CHECKING:
    from crawler.frontier.host_limits import HostLatency
    from crawler.frontier.page_result import Candidate, Completion, Lease, Template
    from crawler.noise.image_evidence import Evidence
    from crawler.outcomes import Code


class LinkUpdates(NamedTuple):
    """What a reply tells the topic about links: those leased with their priorities, and those that no longer wait."""

    leased: tuple[tuple[str, int], ...]
    no_longer: tuple[str, ...]


class SiteEvidence(NamedTuple):
    """Counts of the images of a site: all of them, or those added since this worker last read."""

    site_id: int
    whole: bool
    counts: list[str]


class Redirect(NamedTuple):
    """A lease whose request was redirected, and where to."""

    lease: "Lease"
    to: "Candidate"


class ClaimRequest(NamedTuple):
    """How many addresses a worker asks for."""

    hosts: int
    """The most new hosts."""
    pages: int
    """The most addresses in all."""
    each: int
    """The most addresses of one host."""
    low: tuple[int, ...] = ()
    """Hosts at hand that run out of addresses."""
    at_hand: tuple[int, ...] = ()
    alone: bool = True
    """Whether no other worker may ask a host while this one holds addresses of it."""


class WorkerSample(NamedTuple):
    """What a worker did in a few seconds, for charts."""

    seconds: float
    pages: int = 0
    """Stored, or unchanged."""
    read: int = 0
    """Pages whose relevance was computed, kept or not."""
    on_topic: int = 0
    requests: int = 0
    failed: int = 0
    bytes: int = 0
    images: int = 0
    image_bytes: int = 0
    skipped: int = 0
    """Images refused as noise before the download."""
    statuses: Mapping[str, int] = {}
    """Answers by status code, `none` for requests without an answer."""

    def since(self, before: "WorkerSample") -> "WorkerSample":
        """The difference to an earlier sample that began at the same time."""
        names = (name for name in self._fields if name != "statuses")
        grown = {name: n - before.statuses.get(name, 0) for name, n in self.statuses.items()}
        return WorkerSample(
            **{name: getattr(self, name) - getattr(before, name) for name in names},
            statuses={name: n for name, n in grown.items() if n},
        )


@dataclass
class Batch:
    """What happened since the last batch, to be committed in one transaction."""

    ended: "list[Completion]" = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    returned: "list[Lease]" = field(default_factory=list)
    resting: dict[int, float] = field(default_factory=dict)
    """Hosts no longer at hand, and in how many seconds they may be asked again."""
    rests: dict[int, float] = field(default_factory=dict)
    """Hosts at hand that rest, and in how many seconds they may be asked again."""
    crawl_delays: dict[int, float] = field(default_factory=dict)
    latencies: "dict[int, HostLatency]" = field(default_factory=dict)
    """Latencies of hosts that answered, reported now and then."""
    closed: "dict[str, Code]" = field(default_factory=dict)
    """Hosts that are asked for nothing more, by their names, and why."""
    evidence: "dict[int, Evidence]" = field(default_factory=dict)
    """Counts of the images on its pages, by the id of the site."""
    demand: ClaimRequest | None = None
    priorities: dict[str, int] = field(default_factory=dict)
    """New priorities of waiting addresses."""
    learned: tuple[str, str] | None = None
    """The topic model of this worker: a summary for people, and all of it for other workers and later runs."""
    asked_after: tuple[str, ...] = ()
    """Addresses of which the worker asks whether they still wait."""
    samples: list[WorkerSample] = field(default_factory=list)
    """Samples of what this worker did, up to now."""
    idle: bool = False
    """Whether this worker holds nothing."""

    def add_evidence(self, site_id: int, counts: "Evidence") -> None:
        """Add counts of the images of a page."""
        if site_id in self.evidence:
            self.evidence[site_id].add(counts)
        else:
            self.evidence[site_id] = counts


@dataclass
class BatchReply:
    """The answer to a batch, once it is committed."""

    leases: "list[Lease]" = field(default_factory=list)
    more: set[int] = field(default_factory=set)
    """Hosts of which more addresses wait in the database."""
    rests: dict[int, float] = field(default_factory=dict)
    """Hosts of the leases that rest, and for how many seconds."""
    redirected: "dict[int, Lease | None]" = field(default_factory=dict)
    refused: Outcomes = field(default_factory=Outcomes)
    """How many addresses were given up without a request, by outcome."""
    shared_examples: list[tuple[str, str]] = field(default_factory=list)
    templates: "list[Template]" = field(default_factory=list)
    """All templates of new hosts, and the new templates of hosts at hand."""
    evidence: list[SiteEvidence] = field(default_factory=list)
    """Of the sites that show the leased images."""
    forgotten: list[int] = field(default_factory=list)
    """Sites whose evidence was not used lately; it comes whole when it is used again."""
    shared_models: list[str] = field(default_factory=list)
    """Topic models of other workers and earlier runs."""
    done: list[str] = field(default_factory=list)
    """Of the addresses asked after, those that no longer wait."""
    waiting: int = 0
    pages: int = 0
    held: int = 0
    """Addresses that other workers hold; counted when this worker is idle."""
    workers: int = 1
    over: bool = False
    lost: bool = False
    """Whether this worker expired, or does not know the reply: it goes on without leases."""
    committed: bool = False
    """Whether the batch of a lost reply was committed."""
