"""The history of a page, which each visit updates, and the headers of conditional requests.

`conditional_headers` is called before a request, and `history_after` with its result.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from crawler.metadata.text_owner import TextOwner
from crawler.outcomes import Code, Group, codes
from crawler.page.sitemaps import moment
from crawler.recrawl.revisit_interval import EARLIEST, Bounds, CheckHistory, next_interval


class PageChange(StrEnum):
    """The result of comparing a page with its history."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "unchanged"
    NOT_MODIFIED = "not modified"
    """The server answered 304."""
    RENEWED = "renewed"
    """Another version of the extractor made its earlier text, so the two cannot be compared."""
    MISSING = "missing"
    """The server answered 404 or 410, or the page says that it does not exist."""
    NOINDEX = "noindex"
    """The page exists, but its owner no longer allows storing it, usually by the directive noindex."""
    NOTHING = "nothing"
    """Nothing was compared: the server failed, or the page is not to be kept."""


PRESENT = frozenset((PageChange.NEW, PageChange.CHANGED, PageChange.SAME, PageChange.NOT_MODIFIED, PageChange.RENEWED))
"""Results of visits that found the page and its text."""


@dataclass(frozen=True)
class ChangeCheck:
    """The result of checking a page for changes."""

    change: PageChange
    source_fingerprint: str | None = None
    """The fingerprints of the compared texts, see change_check.py."""
    extractor_version: str | None = None
    signature: bytes | None = None
    """The MinHash signature of a new or changed text, see near_duplicates.py."""
    distance: float | None = None
    """How much of the text changed, from 0 to 1."""
    certainty: float | None = None
    """The F1 that the method expects of its text, from 0 to 1."""
    text_owner: int = TextOwner.UNKNOWN
    """The owner of the page's text, according to the page itself."""
    has_same_bytes: bool = False
    """Whether the body is the one that the page was last stored with."""


@dataclass(frozen=True)
class PageHistory:
    """Everything known about a page from earlier visits.

    The fields are columns of the table `page`, and explained there. `history_after` sets them, except the first four,
    which are fields of items and stored with the item.
    """

    text_fingerprint: str | None = None
    link_score: float | None = None
    raw_digest: str | None = None
    title: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    last_round: int = 0
    first_round: int = 1
    first_seen: str = ""
    changed_round: int | None = None
    changed_at: str | None = None
    gone_round: int | None = None
    gone_at: str | None = None
    gone_count: int = 0
    noindex: bool = False
    not_modified_round: int | None = None
    revisited_at: str | None = None
    revisit_status: int | None = None
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
    lastmod: float | None = None


@dataclass(frozen=True)
class Visit:
    """What one request for a page adds to its history."""

    history: PageHistory | None
    """The history before the request; None if the page is new."""
    check: ChangeCheck
    code: Code | None
    """The code of the outcome, if nothing is stored."""
    fetched_at: str
    is_seed: bool
    lastmod: float | None
    """When a sitemap or feed says that the page changed."""
    validators: Mapping[str, str]
    """ETag and Last-Modified of the response, by the names of their columns."""
    new_links: int
    """How many new addresses the page linked to."""


NEVER = 1e12
"""The `due_at` of pages that are never requested again."""
DUE = 0.9
"""The share of its interval after which a page is due. If it were 1, a daily run would find a page with an interval of
one day not yet due: each run requests the page some time after its start, at times that differ.
"""
MOST_DOUBLINGS = 10
"""How often the pause of a page that is gone is doubled at most."""
GONE_AFTER = 2
"""From this many consecutive visits that find it missing on, a page counts as gone."""
INCONCLUSIVE = (
    *(Code.ROBOTS_UNREADABLE, Code.CRAWL_DELAY_TOO_LONG, Code.HOST_CLOSED, Code.HOST_WALLED, Code.SITE_BUDGET_SPENT),
    *(Code.NOT_PUBLIC, Code.NOT_WHOLE, Code.UNREAD_DOCUMENT, Code.NOT_RENDERED, Code.OTHER_REASONS),
)
"""Codes of skipped requests that do not tell whether the page is still there."""
ABSENT = frozenset((Code.REDIRECTED, *(code for code in codes(Group.SKIPPED) if code not in INCONCLUSIVE)))
"""Codes of pages that a crawl would not store any more: moved, outside the scope, forbidden, or without a text."""
FAILED = frozenset((*codes(Group.FAILED), Code.ROBOTS_UNREADABLE))
"""Codes of failures that may be temporary; for an unreachable host, robots.txt fails first."""


@dataclass(frozen=True)
class RoundContext:
    """The current round and time, and the bounds of the intervals."""

    round: int
    now: float
    """By the database's clock."""
    bounds: Bounds

    @property
    def moment(self) -> str:
        """The time in ISO 8601, as in the columns of pages."""
        return datetime.fromtimestamp(self.now, UTC).isoformat(timespec="seconds")


def history_after(visit: Visit, context: RoundContext) -> PageHistory:
    """The history of a page after a visit."""
    fetched_at = visit.fetched_at or context.moment
    check = visit.check
    history = visit.history or PageHistory(first_round=context.round, first_seen=fetched_at)
    lastmod = _lastmod(history, visit, context.now)
    history = replace(history, checked_at=context.now, lastmod=lastmod, **_validators(history, visit))

    # The page is missing: another visit soon finds out whether it stays so; later visits are rare.
    if check.change is PageChange.MISSING:
        later_visit = context.now + _pause_of_gone(history.gone_count, context.bounds)
        return _missing(history, context, second_visit=context.now + context.bounds.least, later_visit=later_visit)

    # The page would not be stored any more, or the visit had no result.
    if check.change is PageChange.NOINDEX:
        return _withdrawn(history, context)
    if is_absent(check, visit.code):
        next_visit = context.now + _pause(history, context.bounds)
        return _missing(history, context, second_visit=next_visit, later_visit=next_visit)
    if check.change is PageChange.NOTHING:
        return _in_doubt(history, context, visit.code in FAILED)

    # The page and its text were found.
    if check.change is PageChange.NEW:
        history = replace(history, first_round=context.round)
    return replace(history, **_presence(history, visit, context), **_text_fields(check, fetched_at, context))


def is_absent(check: ChangeCheck, code: Code | None) -> bool:
    """Whether a visit shows that a page is not there, or would not be stored any more."""
    return check.change is PageChange.MISSING or (check.change is PageChange.NOTHING and code in ABSENT)


def _text_fields(check: ChangeCheck, fetched_at: str, context: RoundContext) -> dict[str, Any]:
    """The fields about the text that the visit found, and when the stored version was last confirmed."""
    if check.change is PageChange.NOT_MODIFIED:
        confirmation = {"revisited_at": context.moment, "revisit_status": NOT_MODIFIED}
        return {**confirmation, "not_modified_round": context.round}
    source = {"source_fingerprint": check.source_fingerprint, "extractor_version": check.extractor_version}
    if check.change is PageChange.SAME and check.has_same_bytes:
        return {**source, "revisited_at": context.moment, "revisit_status": OK}
    if check.change is PageChange.SAME:  # the same text in other bytes, which do not confirm the stored ones
        return source
    stored = {**source, "signature": check.signature, "revisited_at": None, "revisit_status": None}
    if check.change is not PageChange.CHANGED:  # new, or only the extractor's version has changed
        return stored
    change = {"changed_round": context.round, "changed_at": fetched_at, "change_distance": check.distance}
    return {**stored, **change}


def _presence(history: PageHistory, visit: Visit, context: RoundContext) -> dict[str, Any]:
    """The fields about the visits of a page that exists, with its next interval."""
    is_new = visit.check.change is PageChange.NEW
    is_changed = visit.check.change is PageChange.CHANGED
    checks = history.checks + (not is_new)
    changes = history.changes + is_changed
    lastmod = history.lastmod
    if lastmod is None:
        lastmod = moment(history.last_modified)
    check_history = CheckHistory(
        checked_at=context.now,
        interval=history.interval or 0.0,
        changed=None if is_new else is_changed,
        lastmod=lastmod,
        new_links=visit.new_links,
        is_seed=visit.is_seed,
    )
    interval = next_interval(check_history, context.bounds)
    present = {"last_round": context.round, "gone_round": None, "gone_at": None, "gone_count": 0, "noindex": False}
    due_at = context.now + DUE * interval
    return {**present, "checks": checks, "changes": changes, "interval": interval, "due_at": due_at}


def _missing(history: PageHistory, context: RoundContext, second_visit: float, later_visit: float) -> PageHistory:
    """The history of a page after a visit that found it missing.

    After the first such visit, the page is due at `second_visit`. From the second one on it is gone, and due at
    `later_visit`.
    """
    count = history.gone_count + 1
    if count < GONE_AFTER:
        return replace(history, gone_count=count, due_at=second_visit)
    gone = replace(history, gone_count=count, due_at=later_visit)
    if history.gone_at is not None and not history.noindex:  # it was gone before, not only withdrawn by noindex
        return gone
    return replace(gone, gone_round=context.round, gone_at=context.moment, noindex=False)


def _withdrawn(history: PageHistory, context: RoundContext) -> PageHistory:
    """The history of a page after a visit that found noindex: the page counts as gone at once, and its interval stays
    the same.
    """
    withdrawn = replace(history, gone_count=0, due_at=context.now + _pause(history, context.bounds))
    if history.noindex:
        return withdrawn
    return replace(withdrawn, gone_round=context.round, gone_at=context.moment, noindex=True)


def _in_doubt(history: PageHistory, context: RoundContext, has_failed: bool) -> PageHistory:
    """The history of a page after a visit without a result: the page is due soon after a failure, otherwise after its
    interval. A page that is gone is due after the same pause as before.
    """
    if history.gone_at is not None and not history.noindex:
        pause = _pause_of_gone(history.gone_count - 1, context.bounds)
    elif has_failed:
        pause = context.bounds.least
    else:
        pause = _pause(history, context.bounds)
    return replace(history, due_at=context.now + pause)


def _pause(history: PageHistory, bounds: Bounds) -> float:
    """Seconds until a page whose interval does not change is due again."""
    return DUE * min(max(history.interval or bounds.least, bounds.least), bounds.most)


def _pause_of_gone(earlier_misses: int, bounds: Bounds) -> float:
    """Seconds until a page that is gone is due again: the longest interval, doubled with each further visit.

    `earlier_misses` is how many consecutive visits before this one found it missing.

    >>> [_pause_of_gone(misses, Bounds(least=1, most=30)) for misses in (1, 2, 3)]
    [30.0, 60.0, 120.0]
    """
    doublings = min(max(0, earlier_misses + 1 - GONE_AFTER), MOST_DOUBLINGS)
    return float(bounds.most * 2**doublings)


def _validators(history: PageHistory, visit: Visit) -> dict[str, Any]:
    """The ETag and Last-Modified of the response, if the page was found.

    A 304 may omit them, though it should not: https://www.rfc-editor.org/rfc/rfc9110#section-15.4.5
    """
    if visit.check.change not in PRESENT:
        return {}
    etag, last_modified = (visit.validators.get(name) for name in ("etag", "last_modified"))
    if visit.check.change is PageChange.NOT_MODIFIED:
        etag = etag or history.etag
        last_modified = last_modified or history.last_modified
    return {"etag": etag, "last_modified": last_modified}


def _lastmod(history: PageHistory, visit: Visit, now: float) -> float | None:
    """When sitemaps or feeds say that a page last changed; impossible times are ignored."""
    times = (history.lastmod, visit.lastmod)
    return max((when for when in times if when is not None and EARLIEST <= when <= now), default=None)


SAFE_VALUE = re.compile(r"[\x20-\x7e]{1,1000}")
"""Header values of a server that may be sent back to it."""
OK = 200
NOT_MODIFIED = 304
UNCONDITIONAL_EVERY = 10
"""One in this many visits is unconditional, because some servers answer 304 for every page."""


def conditional_headers(history: PageHistory | None, version: str | None) -> Mapping[str, str]:
    """The headers that request a page only if it changed.

    There are none, so that the page is read whether it changed or not, if the page is new, was missing or had noindex,
    if another version of the extractor read it, and for one in `UNCONDITIONAL_EVERY` visits.

    >>> history = PageHistory(etag='"1"', extractor_version="1:auto")
    >>> conditional_headers(history, "1:auto"), conditional_headers(history, "2:auto")
    ({'If-None-Match': '"1"'}, {})
    """
    if (
        history is None
        or history.gone_count
        or history.noindex
        or history.checks % UNCONDITIONAL_EVERY == UNCONDITIONAL_EVERY - 1
        or history.extractor_version != version
    ):
        return {}
    validators = {"If-None-Match": history.etag, "If-Modified-Since": history.last_modified}
    return {name: value for name, value in validators.items() if value and SAFE_VALUE.fullmatch(value)}
