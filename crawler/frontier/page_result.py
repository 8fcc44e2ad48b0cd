"""The lease on an address, and the result of its request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from crawler.frontier.put_off_rule import PatternUse, Trial
from crawler.noise.image_evidence import Evidence
from crawler.outcomes import Code, Group, Outcome
from crawler.recrawl.page_history import PRESENT, ChangeCheck, PageChange, PageHistory, Visit
from crawler.rights.robots_file import RobotsFile


class AddressKind(StrEnum):
    """The kind of an address: what its response is used for."""

    SEED = "seed"
    LIST = "list"
    """A sitemap or feed that a page or another sitemap names."""
    LINK = "link"
    IMAGE = "image"
    EXAMPLE = "example"
    """An example of the topic."""
    COUNTEREXAMPLE = "counterexample"
    """An example of what is not on the topic."""
    IMAGE_LINK = "image link"
    """A page that only an image links to. It is stored as a link, but remembered apart from links as seen."""


EXAMPLE_KINDS = frozenset((AddressKind.EXAMPLE, AddressKind.COUNTEREXAMPLE))


class FoundBy(StrEnum):
    """How an address was found."""

    SEED = "seed"
    SITEMAP = "sitemap"
    FEED = "feed"
    LINK = "link"
    IMAGE = "image"
    EXAMPLE = "example"
    EXPLORATION = "exploration"
    """By a link that was chosen to explore. Only items have this value."""


class LessonKind(StrEnum):
    """What a seed or an example teaches all workers, or a note that it is to be requested again."""

    HOME = "home"
    """An address whose host or site belongs to the crawl."""
    SEED = "example"
    """The text of a seed. A seed is no example of a topic that is given later."""
    EXAMPLE = "topic example"
    """The address and the text of an example."""
    COUNTEREXAMPLE = "topic counterexample"
    """The address and the text of a counterexample."""
    SEED_AGAIN = "again"
    """A seed to request again at the next start."""
    EXAMPLE_AGAIN = "again example"
    """An example or counterexample to request again at the next start."""


@dataclass(slots=True)
class Candidate:
    """An address that may be requested, with its properties. Not frozen for speed, as one is created for each link."""

    url: str
    priority: int = 0
    depth: int = 0
    parent: str | None = None
    """The address of the page on which it was found."""
    kind: AddressKind = AddressKind.LINK
    requested: str | None = None
    """The address that was requested first, if a redirect led from it to this one."""
    sight: str | None = None
    """For an image to be judged, or a page that only an image links to: how the page shows the image, as JSON."""
    via: FoundBy = FoundBy.LINK
    lastmod: float | None = None
    """When it last changed, according to a sitemap or feed."""
    labels: str = ""
    """The text and the class of the link to it, one per line: they tell apart links with addresses of one pattern."""

    @property
    def kind_as_seen(self) -> AddressKind:
        """The kind under which the worker remembers that it saw the address."""
        is_image_link = self.sight is not None and self.kind is not AddressKind.IMAGE
        if is_image_link:
            return AddressKind.IMAGE_LINK
        return self.kind

    @property
    def has_learned_priority(self) -> bool:
        """Whether its priority changes as the crawl learns; the priorities of seeds and images do not."""
        return self.kind is AddressKind.LINK and self.sight is None


@dataclass(slots=True)
class Lease:
    """An address that this worker has leased, until it is finished or returned. Not frozen for speed, as one is created
    for each address that is claimed.
    """

    id: int
    """The id of the address."""
    candidate: Candidate
    host_id: int
    site_id: int
    request: Any = None
    """The request to send again, if the address was queued again by this worker."""
    shown_on: int | None = None
    """The site whose pages show it, if it is an image to be judged or a page behind one."""
    has_new_priority: bool = False
    """Whether its priority differs from that in the database."""
    history: "PageHistory | None" = None
    """The history of the page, if an earlier round stored it."""
    predates_fresh_start: bool = False
    """Whether the page was last visited before the crawl was begun fresh."""
    is_try: bool = False
    """Whether it is unlikely to lead to the topic: each host has a limited number of tries, requests for such links."""

    @property
    def is_page(self) -> bool:
        """Whether it is a page, which counts towards the page budget of its site; otherwise it is an image."""
        return self.candidate.kind is not AddressKind.IMAGE

    @property
    def compared_history(self) -> "PageHistory | None":
        """The history with which the page is compared: none after a fresh start, when each page is read as new."""
        if self.predates_fresh_start:
            return None
        return self.history


@dataclass(frozen=True, slots=True)
class Template:
    """An element that the pages of a host have in common: its tag and the fingerprint of its text."""

    host: str
    tag: str
    text: str


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The response that a page came in, to be stored."""

    status_line: str
    headers: tuple[tuple[str, str], ...]
    """Names and values, decoded as Latin-1."""
    body: bytes
    """Without content encoding."""
    request_line: str = ""
    """Method, path and protocol of the request; empty if it is not known."""
    request_headers: tuple[tuple[str, str], ...] = ()
    """Without the headers that hold secrets."""


def raw_digest(data: bytes) -> str:
    """The digest of the bytes of a response, as WARC writes it.

    >>> raw_digest(b"")[:20]
    'sha256:e3b0c44298fc1'
    """
    return f"sha256:{sha256(data).hexdigest()}"


@dataclass(frozen=True)
class PageResult:
    """The result of one request, passed to the frontier once."""

    outcome: "Outcome | None" = None
    """Why nothing is stored; None if a page or image is stored, and for an unchanged page."""
    record: Mapping[str, Any] | None = None
    """The fields of the item."""
    check: ChangeCheck | None = None
    """The comparison of the page with its history; None if the outcome says enough."""
    links: tuple[Candidate, ...] = ()
    """Links of the page with priorities, and its images."""
    priorities: Mapping[str, int] = field(default_factory=dict)
    """New priorities of queued addresses."""
    lessons: tuple[tuple[LessonKind, str], ...] = ()
    """What a seed or an example teaches all workers: kind and text."""
    templates: tuple[Template, ...] = ()
    """Templates of the host that this page completed."""
    image_counts: "Evidence | None" = None
    """Counts of the images that the page shows, where images are judged."""
    verdict: Mapping[str, Any] | None = None
    """The row of the verdict on an image."""
    validators: Mapping[str, str] = field(default_factory=dict)
    """ETag and Last-Modified of the response."""
    response: StoredResponse | None = None
    """The response, where responses are kept."""
    rights: Mapping[str, Any] | None = None
    """The item field `rights`, also for a stored page that is not stored again."""
    robots: "RobotsFile | None" = None
    """The robots.txt that let the page be requested, to which its rights refer."""
    pattern_use: "PatternUse | None" = None
    """The use of the request, for the counts of the pattern of its address."""
    trial: "Trial | None" = None
    """Whether the page gained text or links by rendering; None if it was not rendered."""
    awaits_browser: bool = False
    """Whether the page has no text before its scripts run, and the crawl has no browser."""

    @property
    def is_new_item(self) -> bool:
        """Whether it is written to the item file: not if only a new version of the extractor has changed the page."""
        return self.record is not None and (self.check is None or self.check.change is not PageChange.RENEWED)

    @property
    def is_noise(self) -> bool:
        """Whether it was refused as noise before the request."""
        return self.outcome is not None and self.outcome.code is Code.NOISE

    @property
    def was_requested(self) -> bool:
        """Whether a request was sent: none is sent for noise, and for addresses that are put off."""
        return self.outcome is None or self.outcome.code.group not in (Group.NOISE, Group.PUT_OFF)


@dataclass(frozen=True, slots=True)
class Completion:
    """An ended lease with its result."""

    lease: Lease
    result: PageResult

    @property
    def brought_page(self) -> bool:
        """Whether it brought a page of this round: one that is stored, or is stored already and unchanged."""
        check = self.result.check
        if not self.lease.is_page:
            return False
        if check is None:
            return self.result.outcome is None
        return check.change in PRESENT

    def visit(self, new_links: int) -> Visit:
        """The visit to the page, for its history; `new_links` is the number of its new links."""
        result = self.result
        candidate = self.lease.candidate
        # Without a comparison, a page that is stored is new.
        check = result.check or ChangeCheck(PageChange.NEW if self.brought_page else PageChange.NOTHING)
        code = result.outcome.code if result.outcome is not None else None
        fetched_at = str((result.record or {}).get("fetched_at") or "")
        return Visit(
            history=self.lease.history,
            check=check,
            code=code,
            fetched_at=fetched_at,
            is_seed=candidate.kind is AddressKind.SEED,
            lastmod=candidate.lastmod,
            validators=result.validators,
            new_links=new_links,
        )

    @property
    def brought_item(self) -> bool:
        """Whether it brought a page that becomes a line of the items."""
        return self.lease.is_page and self.result.is_new_item
