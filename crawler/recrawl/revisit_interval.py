"""When a page is due again: sooner after a change, later where there was none.

The method is the adaptive interval of Nutch's AdaptiveFetchSchedule, with factors of its own. With

    I   the interval in seconds that ended with this check,
    d   0.5 where the page's text had changed, 1.5 where it had not, 1 where it was seen for the first time,
    h   0.5 where the page gave new links, 1 where it gave none,

the next interval is I * d * h, not below `least` and not above `most`. An interval rests where d halves it as often as
the opposite makes up for it: where a share `SETTLED` of the checks finds a change, log 1.5 / (log 1.5 + log 2) = 0.37
of them. For changes that come at random, at a rate of L a second, that is where L * I = -log(1 - 0.37) = 0.46.

Where there is no I yet, it starts from what is known:

- The age a of the page at its first check, from the server's Last-Modified: a page last changed long ago changes
  seldom. I = `AGE_SHARE` * a, but not below `FIRST_LEAST`, because pages made anew for each visitor say that they were
  changed now.
- Otherwise one day, `FIRST`.
- Both are scaled by the page's own history, k changes in n checks, where there is one though its interval is lost. The
  share of checks that found a change, p = (k + `PRIOR` * SETTLED) / (n + `PRIOR`), says how far the page is from rest:
  I is multiplied by log(1 - SETTLED) / log(1 - p). `PRIOR` is the number of checks that the assumption counts for.

While I is kept, k and n say nothing more: I is its start times 0.5 for each change and 1.5 for each check without.

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
from math import isfinite, log, log1p

CHANGED, UNCHANGED = 0.5, 1.5
NEW_LINKS = 0.5
SETTLED = log(UNCHANGED) / log(UNCHANGED / CHANGED)
HOUR, DAY = 3600.0, 86400.0
FIRST = DAY
FIRST_LEAST = 6 * HOUR
AGE_SHARE = 0.1  # as caches reckon where nothing else is said (RFC 9111, 4.2.2)
PRIOR = 4.0
MOST_SHARE = 0.999  # beyond, arithmetic cannot tell it from 1
EARLIEST = 631_152_000.0  # the year 1990, before which no page can have been put on the web


@dataclass(frozen=True)
class Bounds:
    """Between how many seconds an interval lies."""

    least: float = HOUR
    most: float = 30 * DAY

    def __post_init__(self) -> None:
        if not (isfinite(self.most) and 0 < self.least <= self.most):
            asked = f"{self.least} and {self.most}"
            raise ValueError(
                f"Intervals lie between two numbers of seconds above 0, the smaller one first: not {asked}."
            )


@dataclass(frozen=True)
class CheckHistory:
    """What is known of a page after a check."""

    checked_at: float
    """When the check was, in seconds since 1970."""
    interval: float
    """Seconds after which it was due, as `next_interval` said at the check before; 0 where nothing is known."""
    checks: int
    """How many checks there were after the first sight, this one included."""
    changes: int
    """How many of these found a change, this one included."""
    changed: bool | None
    """Whether this one did; None where the page was seen for the first time."""
    lastmod: float | None = None
    """When the page was last changed, as its server says, in seconds since 1970."""
    new_links: int = 0
    """How many addresses not known before it led to at this check."""
    is_seed: bool = False


def _age(history: CheckHistory) -> float | None:
    """Seconds since the page was last changed, or None where that is not known or cannot be."""
    if history.lastmod is None or not isfinite(history.lastmod) or history.lastmod < EARLIEST:
        return None
    age = history.checked_at - history.lastmod
    return age if isfinite(age) and age >= 0 else None


def _unrest(history: CheckHistory) -> float:
    """How many times the interval at which a page would be at rest is the one at which it was checked; 1 if unknown."""
    checks = max(0, history.checks)
    changes = min(max(0, history.changes), checks)
    share = min((changes + PRIOR * SETTLED) / (checks + PRIOR), MOST_SHARE)
    return log1p(-SETTLED) / log1p(-share)


def _start(history: CheckHistory) -> float:
    """The interval of a page of which none is known."""
    age = _age(history)
    start = FIRST if age is None else max(FIRST_LEAST, AGE_SHARE * age)
    return start * _unrest(history)


def _step(history: CheckHistory) -> float:
    """How many times as long the next interval is: by a change, and by new links."""
    step = 1.0 if history.changed is None else CHANGED if history.changed else UNCHANGED
    is_hub = history.new_links > 0 and (history.is_seed or history.changed is not None)
    return step * NEW_LINKS if is_hub else step


def next_interval(history: CheckHistory, bounds: Bounds) -> float:
    """Seconds from a check of a page to its next.

    >>> next_interval(CheckHistory(2e9, interval=DAY, checks=3, changes=1, changed=False), Bounds()) / DAY
    1.5
    >>> first = CheckHistory(2e9, interval=0, checks=0, changes=0, changed=None, lastmod=2e9 - 50 * DAY)
    >>> next_interval(first, Bounds()) / DAY
    5.0
    """
    is_known = isfinite(history.interval) and history.interval > 0
    interval = history.interval if is_known and history.changed is not None else _start(history)
    return min(max(interval * _step(history), bounds.least), bounds.most)
