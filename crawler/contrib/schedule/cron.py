"""Cron lines, which say when a job is due. They are parsed and evaluated by cronsim, which behaves like Debian's cron.

When the clock is set forward, a run in the skipped hour starts at the first moment after it. When the clock is set
back, a run in the repeated hour starts once, the first time. This holds for fixed hours and minutes. If the minute or
the hour begins with a star, elapsed time counts: `0 * * * *` runs after every hour, so 23 or 25 times on such a day.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from crawler.errors import WrongUseError
from crawler.translation.message import N_, Message

FIELDS = N_("minute hour day-of-month month day-of-week")
FIELD_NAMES = (N_("minute"), N_("hour"), N_("day-of-month"), N_("month"), N_("day-of-week"))
NAMED_LINES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
"""Names for whole lines."""
LONGEST = 200
"""The most characters of a cron line."""
MOST_MISSED = 1_000
"""The most missed times that are counted."""


class CronError(WrongUseError):
    """A cron line or a time zone is wrong."""


@dataclass(frozen=True)
class Cron:
    """A cron line with a time zone."""

    line: str
    zone: str

    @cached_property
    def fields(self) -> CronSim:
        """Its parsed fields. In `weekdays`, 0 is Sunday, (1, 2) is the second Monday of the month, and
        (1, CronSim.LAST) is the last Monday.
        """
        parsed = CronSim(self.line, datetime.now(self.zone_info))
        # CronSim has 7 for a Sunday that is written as 7.
        parsed.weekdays = {day % 7 if isinstance(day, int) else (day[0] % 7, day[1]) for day in parsed.weekdays}
        return parsed

    @cached_property
    def zone_info(self) -> ZoneInfo:
        """Its time zone."""
        return ZoneInfo(self.zone)

    def after(self, moment: float) -> float | None:
        """The first time of the cron line after a moment; None if there is none in the next fifty years."""
        return next(self.times(moment), None)

    def times(self, moment: float) -> Iterator[float]:
        """The times after a moment."""
        for time in CronSim(self.line, datetime.fromtimestamp(moment, self.zone_info)):
            # In a repeated hour, the first match may be an hour in the past.
            if time.timestamp() > moment:
                yield time.timestamp()

    def count(self, since: float, until: float) -> int:
        """The number of times after one moment and up to another, counted up to MOST_MISSED."""
        # A job's row may be damaged: NaN and very low numbers are no dates, and max() replaces them by 0.
        times = islice(self.times(max(0.0, since)), MOST_MISSED)
        return sum(1 for _ in takewhile(lambda time: time <= until, times))


@lru_cache(1_000)
def read_cron(line: str, zone: str) -> Cron:
    """The cron line in this time zone; raises a CronError if one of them is wrong or the time never comes."""
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CronError(
            "time zone {zone} is not known; names are such as UTC, Europe/Berlin, Asia/Shanghai", zone=_shown(zone)
        ) from None
    plain_line = " ".join(line.split())
    plain_line = NAMED_LINES.get(plain_line.lower(), plain_line)
    if len(plain_line) > LONGEST or len(plain_line.split()) != len(FIELD_NAMES):
        raise _wrong(line, Message("it does not have five fields"))
    try:
        cron = Cron(plain_line, zone)
        first = cron.after(datetime.now().timestamp())
    except (CronSimError, ValueError) as error:
        # CronSim names the field, such as "Bad day-of-month".
        field = Message(next((name for name in FIELD_NAMES if str(error) == f"Bad {name}"), str(error)))
        raise _wrong(line, Message("its {field} is invalid", {"field": field})) from None
    if first is None:
        raise _wrong(line, Message("it never matches a date"))
    return cron


def _wrong(line: str, why: Message) -> CronError:
    """The error about a cron line, with the reason."""
    return CronError(
        "cron line {line} is wrong: {why}; it is '{fields}', such as '30 3 * * mon', or one of {names}",
        line=_shown(line),
        why=why,
        fields=Message(FIELDS),
        names=list(NAMED_LINES),
    )


def _shown(line: str) -> str:
    """A text in quotes, shortened if long."""
    if len(line) > LONGEST:
        line = line[:LONGEST] + "…"
    return repr(line)
