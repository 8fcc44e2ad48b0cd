"""Computes when a page is due again: sooner after a change, later without one.

The method is the adaptive interval of Nutch's AdaptiveFetchSchedule, with factors of its own. With

    I   the interval in seconds that ended with this check,
    d   0.5 if the page's text had changed, 1.5 if it had not, 1 if the page was seen for the first time,
    h   0.5 if the page had new links, 1 if it had none,

the next interval is I * d * h, not below `least` and not above `most`. An interval is in balance when the factors 0.5
and 1.5 cancel out: when a share of log 1.5 / (log 1.5 + log 2) = 0.37 of the checks finds a change. If changes come at
random, at a rate of L a second, that is the case at L * I = -log(1 - 0.37) = 0.46.

The first I of a page depends on its age:

- If the time of its last change is known, from the server's Last-Modified or a sitemap, I = `AGE_SHARE` * A, where A
  is the seconds since then: a page last changed long ago changes seldom. It is not below `FIRST_LEAST`, because pages
  that are generated for each visitor say that they were changed now.
- Otherwise it is one day, `FIRST`.

A time in the future, before the web or not a number is ignored. Most links of a page that is seen for the first time
are new, so that h counts from the second check on; for seeds from the first.

The rule fetches each page in proportion to how often it changes. This does not keep the most copies current with a
given number of fetches: the best rule gives up pages that change faster than a crawl can follow (Cho and Garcia-Molina
2003). If fetches are not limited, a fixed interval keeps somewhat more copies current with the same number of fetches.
The rule keeps more of them current than a fixed interval if fetches are few, or `least` is a day.
tests/bench/recrawl.py measures this rule and other values of its constants.

I is the interval that was computed at the last check, not the time that passed since then: a late check would lengthen
the intervals of pages for no reason of their own.
"""

from dataclasses import dataclass
from math import isfinite

CHANGED = 0.5
"""The factor d after a change."""
UNCHANGED = 1.5
"""The factor d after a check that found no change."""
NEW_LINKS = 0.5
"""The factor h of a page with new links."""
HOUR = 3600.0
DAY = 86400.0
FIRST = DAY
FIRST_LEAST = 6 * HOUR
AGE_SHARE = 0.1
"""Caches guess in the same way how long a response stays fresh: https://www.rfc-editor.org/rfc/rfc9111#section-4.2.2"""
EARLIEST = 631_152_000.0  # the year 1990, before which no page can have been on the web


@dataclass(frozen=True)
class Bounds:
    """The bounds of intervals in seconds."""

    least: float = HOUR
    most: float = 30 * DAY

    def __post_init__(self) -> None:
        if not (isfinite(self.most) and 0 < self.least <= self.most):
            bounds = f"{self.least} and {self.most}"
            raise ValueError(
                f"Intervals lie between two numbers of seconds above 0, the smaller one first: not {bounds}."
            )


@dataclass(frozen=True)
class CheckHistory:
    """What is known about a page after a visit."""

    checked_at: float
    """The time of the visit, in seconds since 1970."""
    interval: float
    """The interval that ended with the visit, as computed by `next_interval` at the visit before; 0 if unknown."""
    changed: bool | None
    """Whether the visit found a change; None at the first visit."""
    lastmod: float | None = None
    """When the page last changed, according to its server or a sitemap, in seconds since 1970."""
    new_links: int = 0
    """How many new addresses the page linked to at this visit."""
    is_seed: bool = False


def _first_interval(history: CheckHistory) -> float:
    """The first interval of a page, by its age."""
    if history.lastmod is None or not EARLIEST <= history.lastmod <= history.checked_at:
        return FIRST
    return max(FIRST_LEAST, AGE_SHARE * (history.checked_at - history.lastmod))


def _factor(history: CheckHistory) -> float:
    """The product d * h."""
    if history.changed is None:
        factor = 1.0
    elif history.changed:
        factor = CHANGED
    else:
        factor = UNCHANGED
    # At the first visit of a page most links are new, so they count only for seeds.
    brings_links = history.new_links > 0 and (history.is_seed or history.changed is not None)
    if brings_links:
        factor *= NEW_LINKS
    return factor


def next_interval(history: CheckHistory, bounds: Bounds) -> float:
    """Seconds from one visit of a page to the next.

    >>> next_interval(CheckHistory(2e9, interval=DAY, changed=False), Bounds()) / DAY
    1.5
    >>> next_interval(CheckHistory(2e9, interval=0, changed=None, lastmod=2e9 - 50 * DAY), Bounds()) / DAY
    5.0
    """
    interval = history.interval
    if history.changed is None or not interval:
        interval = _first_interval(history)
    return min(max(interval * _factor(history), bounds.least), bounds.most)
