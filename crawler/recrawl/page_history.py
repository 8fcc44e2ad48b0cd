"""What is known of a page from earlier visits, and the result of checking it for changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.outcomes import Code


class PageChange(StrEnum):
    """The result of comparing a page with what was known of it."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "unchanged"
    NOT_MODIFIED = "not modified"
    """The server answered 304."""
    RENEWED = "renewed"
    """Another version of the extraction made its earlier text, so the two cannot be compared."""
    MISSING = "missing"
    NOTHING = "nothing"
    """Unknown: the server failed, or the page is not to be kept."""


PRESENT = frozenset((PageChange.NEW, PageChange.CHANGED, PageChange.SAME, PageChange.NOT_MODIFIED, PageChange.RENEWED))


@dataclass(frozen=True)
class ChangeCheck:
    """The result of checking a page for changes."""

    found: PageChange
    source_fingerprint: str | None = None
    extractor_version: str | None = None
    signature: bytes | None = None
    distance: float | None = None
    """How much of the text changed, from 0 to 1."""
    certainty: float | None = None
    """The F1 that the method expects of its text, from 0 to 1."""


@dataclass(frozen=True)
class PageHistory:
    """What is known of a page from earlier visits; all but the first two fields are columns that only visits change."""

    text_fingerprint: str | None = None
    link_score: float | None = None
    etag: str | None = None
    last_modified: str | None = None
    round: int = 0
    first_round: int = 1
    first_at: str = ""
    changed_round: int | None = None
    changed_at: str | None = None
    gone_round: int | None = None
    gone_at: str | None = None
    gone_count: int = 0
    not_modified_round: int | None = None
    checked_at: float | None = None
    due_at: float = 0.0
    interval: float | None = None
    checks: int = 0
    changes: int = 0
    source_fingerprint: str | None = None
    extractor_version: str | None = None
    signature: bytes | None = None
    change_distance: float | None = None
    duplicate_of: str | None = None
    new_links: int = 0
    lastmod: float | None = None


"""When a page is due that is gone for good."""
"""Times in a row that a page is not there, until it is gone."""
"""Where a host is away, that shows at its robots.txt first: nothing else of it is asked for."""


@dataclass(frozen=True)
class Visit:
    """What one request for a page tells its history."""

    known: PageHistory | None
    check: ChangeCheck
    code: "Code | None"
    """The outcome, where nothing is stored."""
    fetched_at: str
    is_seed: bool
    lastmod: float | None
    """When a sitemap or feed says that the page changed."""
    validators: Mapping[str, str]
    """ETag and Last-Modified of the answer."""
    new_links: int
    """How many addresses not known before the page led to."""
