"""Batches, which the in-memory frontier of a worker sends to its committer, and the replies.

The committer writes a batch to the database in one transaction, and reads the reply in the same transaction. The batch
ends leases and reports what the worker has learned and needs; the reply brings new leases, and what other workers have
learned.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import NamedTuple

from crawler.frontier.host_latencies import HostLatency
from crawler.frontier.page_result import Candidate, Completion, Lease, LessonKind, Template
from crawler.frontier.put_off_rule import PatternCounts
from crawler.noise.image_evidence import Evidence
from crawler.outcomes import Outcomes


@dataclass(frozen=True, slots=True)
class LinkUpdates:
    """The news about links in a reply, for the topic."""

    leased: tuple[tuple[str, int], ...]
    """The links that this worker has leased: addresses and priorities."""
    no_longer_queued: tuple[str, ...]


class TopicLabel(NamedTuple):
    """A page that a person has labelled as on the topic or off it."""

    title: str
    text: str
    is_on_topic: bool


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """Counts of the images of a site, as this worker reads them."""

    site_id: int
    whole: bool
    """Whether these are all counts of the site; otherwise only those added since this worker last read them."""
    counts: list[str]
    """Written by `Evidence.record`; their sum is the evidence."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """A lease whose request was redirected, and the target."""

    lease: "Lease"
    to: "Candidate"


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """How many addresses a worker claims at most, and of which hosts; hosts are given by id."""

    hosts: int
    """The most new hosts."""
    addresses: int
    """The most addresses in all."""
    each_host: int
    """The most addresses of one host."""
    low_hosts: tuple[int, ...] = ()
    """Hosts in memory that are about to run out of addresses."""
    hosts_in_memory: tuple[int, ...] = ()
    """All hosts in memory."""
    keeps_hosts: bool = True
    """Whether no other worker may request a host while this one has leases on it."""


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """What a worker did in a few seconds, for charts."""

    seconds: float
    pages: int = 0
    """Pages that were stored or are unchanged."""
    read: int = 0
    """Pages whose relevance was computed, kept or not."""
    on_topic: int = 0
    """Pages on the topic, of those read."""
    requests: int = 0
    failed: int = 0
    """Addresses that failed."""
    bytes: int = 0
    """Bytes of responses, as received."""
    images: int = 0
    image_bytes: int = 0
    skipped: int = 0
    """Images refused as noise before the download."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Responses by status code; `none` counts requests without a response."""

    def since(self, before: "WorkerSample") -> "WorkerSample":
        """The difference from an earlier sample that began at the same time."""
        grown = {name: n - before.statuses.get(name, 0) for name, n in self.statuses.items()}
        return WorkerSample(
            seconds=self.seconds - before.seconds,
            **{name: getattr(self, name) - getattr(before, name) for name in SAMPLE_COUNTS},
            statuses={name: n for name, n in grown.items() if n},
        )


SAMPLE_COUNTS = tuple(each.name for each in fields(WorkerSample) if each.name not in ("seconds", "statuses"))
"""The counts of a sample."""


class Control(StrEnum):
    """What a user has told the workers of a crawl to do."""

    RUNNING = ""
    PAUSED = "paused"
    """Send no request until the crawl is resumed."""
    STOPPING = "stopping"
    """End, as after Ctrl-C."""


@dataclass
class Batch:
    """What happened since the last batch, to be committed in one transaction."""

    ended: "list[Completion]" = field(default_factory=list)
    """The leases that ended, with their results."""
    redirects: list[Redirect] = field(default_factory=list)
    returned: "list[Lease]" = field(default_factory=list)
    """The leases that are given back without a result: their addresses are queued again."""
    rests_of_dropped_hosts: dict[int, float] = field(default_factory=dict)
    """For each host that this worker no longer has in memory, by id: in how many seconds any worker may request it."""
    rests: dict[int, float] = field(default_factory=dict)
    """For each host in memory that rests, by id: in how many seconds it may be requested again."""
    crawl_delays: dict[int, float] = field(default_factory=dict)
    """New crawl delays of hosts in seconds, from their robots.txt, by the ids of the hosts."""
    latencies: "dict[int, HostLatency]" = field(default_factory=dict)
    """Latencies of the hosts that responded since the last report, by host id; empty if no report is due."""
    closed: dict[str, str] = field(default_factory=dict)
    """The outcomes of the addresses of hosts that were closed, as text, by the name of the host."""
    evidence: "dict[int, Evidence]" = field(default_factory=dict)
    """Counts of the images on pages that were read since the last batch, by the id of the site."""
    demand: ClaimRequest | None = None
    """The addresses that this worker claims; None if it needs none now."""
    priorities: dict[str, int] = field(default_factory=dict)
    """New priorities of queued addresses, by address."""
    learned: tuple[str, str] | None = None
    """The topic model of this worker: a summary for people, and the whole model for other workers and later runs."""
    asked_after: tuple[str, ...] = ()
    """Addresses for which the reply says whether they are still queued."""
    samples: list[WorkerSample] = field(default_factory=list)
    """Samples of this worker's activity until now."""
    idle: bool = False
    """Whether this worker has no leases."""
    links_that_changed_patterns: set[str] = field(default_factory=set)
    """Links whose addresses changed the patterns of their sites: addresses put off on these sites are queued again."""

    def add_evidence(self, site_id: int, counts: "Evidence") -> None:
        """Add counts of the images of a page."""
        if site_id in self.evidence:
            self.evidence[site_id].add(counts)
        else:
            self.evidence[site_id] = counts


@dataclass
class BatchReply:
    """The reply to a committed batch."""

    leases: "list[Lease]" = field(default_factory=list)
    hosts_with_more: set[int] = field(default_factory=set)
    """The ids of the claimed hosts with more addresses queued in the database."""
    rests: dict[int, float] = field(default_factory=dict)
    """For each host of the leases that rests, by id: for how many seconds."""
    redirected: "dict[int, Lease | None]" = field(default_factory=dict)
    """The leases on the targets of redirects, by the id of the lease that was redirected; None if there is none."""
    refused: Outcomes = field(default_factory=Outcomes)
    """How many addresses were given up without a request, by outcome."""
    left_out: Outcomes = field(default_factory=Outcomes)
    """How many responses and links of pages were not stored, by outcome."""
    lessons: "list[tuple[LessonKind, str]]" = field(default_factory=list)
    """What seeds and examples taught this crawl since this worker last read: the kind of each lesson, and its text."""
    templates: "list[Template]" = field(default_factory=list)
    """All templates of hosts that are new in memory, and new templates of the other hosts in memory."""
    patterns: "Mapping[int, Mapping[str, PatternCounts]]" = field(default_factory=dict)
    """Counts of the address patterns of the sites of this batch and of the new leases."""
    evidence: list[SiteEvidence] = field(default_factory=list)
    """Counts of the images of the sites that show the leased images."""
    forgotten: list[int] = field(default_factory=list)
    """Sites whose evidence the worker drops from memory; it is sent in full when it is needed again."""
    shared_models: list[str] = field(default_factory=list)
    """Topic models of other workers and earlier runs."""
    topic_labels: list[TopicLabel] | None = None
    """All pages that people labelled; None if they are still the same."""
    no_longer_queued: list[str] = field(default_factory=list)
    """The addresses of the batch's `asked_after` that are no longer queued."""
    waiting: int = 0
    """How many addresses are queued in the database."""
    unlikely: int = 0
    """How many of the queued links are unlikely to lead to the topic, when they were last counted."""
    pages: int = 0
    """Pages of all workers in this round."""
    held_by_others: int = 0
    """Addresses leased by other workers; counted when this worker is idle."""
    workers: int = 1
    """How many workers the crawl has."""
    control: Control = Control.RUNNING
    over: bool = False
    """Whether the crawl has nothing left to do."""
    lost: bool = False
    """Whether this worker expired, or the reply was lost: the worker continues without leases."""
    committed: bool = False
    """Whether the batch was committed although its reply was lost."""
