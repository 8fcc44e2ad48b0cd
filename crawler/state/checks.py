"""What is known of a page after it was looked at: in which round, what changed, when it is due again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from crawler.moments import moment
from crawler.outcomes import Code, Group, codes
from crawler.recrawl import EARLIEST, Bounds, History, next_interval
from crawler.state.entries import PRESENT, Check, Ended, Found, Known

NEVER = 1e12
"""When a page is due that is gone for good."""
GONE_AFTER = 2
"""Times in a row that a page is not there, until it is gone."""
FAILED = frozenset((*codes(Group.FAILED), Code.ROBOTS_UNREADABLE))
"""Where a host is away, that shows at its robots.txt first: nothing else of it is asked for."""


@dataclass(frozen=True)
class Occasion:
    """When pages are looked at."""

    round: int
    now: float
    """By the database's clock."""
    bounds: Bounds
    new_links: Mapping[int, int] = field(default_factory=dict)
    """How many addresses not known before the pages led to, by lease."""

    @property
    def moment(self) -> str:
        """The time as pages have it."""
        return datetime.fromtimestamp(self.now, UTC).isoformat(timespec="seconds")


def known_after(ended: Ended, occasion: Occasion) -> Known:
    """What is known of a page after its result."""
    fetched_at = str((ended.result.record or {}).get("fetched_at") or occasion.moment)
    known = ended.lent.known or Known(first_round=occasion.round, first_at=fetched_at)
    check, outcome = ended.result.check or Check(Found.NEW if ended.is_page else Found.NOTHING), ended.result.outcome
    known = replace(known, checked_at=occasion.now, lastmod=_lastmod(known, ended, occasion.now))
    if check.found is Found.MISSING:
        return _missing(known, occasion)
    if check.found is Found.NOTHING:
        return _in_doubt(known, occasion, outcome is not None and outcome.code in FAILED)
    known = _present(_validated(known, ended, check), ended, occasion, check)
    if check.found is Found.NOT_MODIFIED:
        return replace(known, not_modified_round=occasion.round)
    known = replace(known, source_fingerprint=check.source_fingerprint, extractor_version=check.extractor_version)
    if check.found is Found.SAME:
        return known
    known = replace(known, signature=check.signature)
    if check.found is not Found.CHANGED:
        return known
    return replace(known, changed_round=occasion.round, changed_at=fetched_at, change_distance=check.distance)


def _present(known: Known, ended: Ended, occasion: Occasion, check: Check) -> Known:
    """A page that is there, with the time at which it is due."""
    is_new, is_changed = check.found is Found.NEW, check.found is Found.CHANGED
    checks, changes = known.checks + (not is_new), known.changes + is_changed
    links = occasion.new_links.get(ended.lent.lease, 0)
    changed = None if is_new else is_changed
    lastmod = known.lastmod if known.lastmod is not None else moment(known.last_modified)
    is_seed = ended.lent.candidate.kind == "seed"
    history = History(occasion.now, known.interval or 0.0, checks, changes, changed, lastmod, links, is_seed)
    interval = next_interval(history, occasion.bounds)
    there = replace(known, round=occasion.round, gone_round=None, gone_at=None, gone_count=0, new_links=links)
    return replace(there, checks=checks, changes=changes, interval=interval, due_at=occasion.now + interval)


def _missing(known: Known, occasion: Occasion) -> Known:
    """A page that is not there: it is looked for once more soon, and then it is gone."""
    count = known.gone_count + 1
    if count < GONE_AFTER:
        return replace(known, gone_count=count, due_at=occasion.now + occasion.bounds.least)
    since = known.gone_round or occasion.round, known.gone_at or occasion.moment
    return replace(known, gone_count=count, gone_round=since[0], gone_at=since[1], due_at=NEVER)


def _in_doubt(known: Known, occasion: Occasion, failed: bool) -> Known:
    """A page of which nothing was learned: due soon where that may pass, else at its interval; one gone stays so."""
    if known.gone_at is not None:
        return known
    bounds = occasion.bounds
    pause = bounds.least if failed else min(max(known.interval or bounds.least, bounds.least), bounds.most)
    return replace(known, due_at=occasion.now + pause)


def _validated(known: Known, ended: Ended, check: Check) -> Known:
    """A page with what its server tells it by from now on; who says that it is the same may leave that out."""
    if check.found not in PRESENT:
        return known
    etag, last_modified = (ended.result.validators.get(name) for name in ("etag", "last_modified"))
    if check.found is Found.NOT_MODIFIED:
        etag, last_modified = etag or known.etag, last_modified or known.last_modified
    return replace(known, etag=etag, last_modified=last_modified)


def _lastmod(known: Known, ended: Ended, now: float) -> float | None:
    """When lists say that a page was last changed; a time that cannot be tells nothing, and hides no header."""
    said = (known.lastmod, ended.lent.candidate.lastmod)
    return max((when for when in said if when is not None and EARLIEST <= when <= now), default=None)
