"""Computes when a page is due again: sooner after a change, later without one.

The method is the adaptive interval of Nutch's AdaptiveFetchSchedule, with factors of its own. With

    I   the interval in seconds that ended with this check,
    d   0.5 where the page's text had changed, 1.5 where it had not, 1 where it was seen for the first time,
    h   0.5 where the page gave new links, 1 where it gave none,

the next interval is I * d * h, not below `least` and not above `most`. An interval rests where d halves it as often as
the opposite makes up for it: where a share of log 1.5 / (log 1.5 + log 2) = 0.37 of the checks finds a change. For
changes that come at random, at a rate of L a second, that is where L * I = -log(1 - 0.37) = 0.46.

Where there is no I yet, it starts from what is known:

- The age a of the page at its first check, from the server's Last-Modified: a page last changed long ago changes
  seldom. I = `AGE_SHARE` * a, but not below `FIRST_LEAST`, because pages made anew for each visitor say that they were
  changed now.
- Otherwise one day, `FIRST`.

What a server says is not trusted: a time in the future, before the web or not a number counts as none. A page that is
seen for the first time gives new links as a matter of course, so that h counts from the second check on, for seeds from
the first.

What the rule is not: it fetches each page in proportion to how often it changes, while the freshest copies for a number
of fetches come from giving up what changes faster than one can follow (Cho and Garcia-Molina 2003). Where nothing
limits the fetches, a fixed interval keeps somewhat more copies current with as many; where they are few, or `least` is
a day, the rule does. tests/bench/recrawl.py measures it, and what other numbers than these would do.

`interval` is the one that was asked for, not the time that passed: a late check would teach patience that no page
showed.
"""

from dataclasses import dataclass
from math import isfinite

CHANGED = 0.5
UNCHANGED = 1.5
NEW_LINKS = 0.5
HOUR = 3600.0
DAY = 86400.0
FIRST = DAY
FIRST_LEAST = 6 * HOUR
AGE_SHARE = 0.1  # as caches do if nothing else is given (https://www.rfc-editor.org/rfc/rfc9111#section-4.2.2)
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
    """When the visit was, in seconds since 1970."""
    interval: float
    """The interval after which it was due, as computed by `next_interval` at the visit before; 0 if unknown."""
    changed: bool | None
    """Whether it found a change; None at the first visit."""
    lastmod: float | None = None
    """When the page last changed, according to its server, in seconds since 1970."""
    new_links: int = 0
    """How many new addresses it led to at this visit."""
    is_seed: bool = False


def _start(history: CheckHistory) -> float:
    """The interval of a page without an earlier one."""
    if history.lastmod is None or not EARLIEST <= history.lastmod <= history.checked_at:
        return FIRST
    return max(FIRST_LEAST, AGE_SHARE * (history.checked_at - history.lastmod))


def _step(history: CheckHistory) -> float:
    """The factor for the next interval: by a change, and by new links."""
    step = 1.0 if history.changed is None else CHANGED if history.changed else UNCHANGED
    is_hub = history.new_links > 0 and (history.is_seed or history.changed is not None)
    return step * NEW_LINKS if is_hub else step


def next_interval(history: CheckHistory, bounds: Bounds) -> float:
    """Seconds from one visit of a page to the next.

    >>> next_interval(CheckHistory(2e9, interval=DAY, changed=False), Bounds()) / DAY
    1.5
    >>> next_interval(CheckHistory(2e9, interval=0, changed=None, lastmod=2e9 - 50 * DAY), Bounds()) / DAY
    5.0
    """
    interval = history.interval if history.interval and history.changed is not None else _start(history)
    return min(max(interval * _step(history), bounds.least), bounds.most)
