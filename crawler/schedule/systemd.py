"""A systemd unit and a timer for a job, where systemd rather than `scrapy schedule run` is to start it.

OnCalendar= says whatever a cron line can say but for a day of the month that is also to be the last such weekday: days
that count from both ends of a month do not go together. Such a job gets a unit of the scheduler itself.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from crawler.schedule.cron import LAST, LAST_WEEKDAY, Cron, Fields

WEEKDAYS = "Sun Mon Tue Wed Thu Fri Sat".split()
EVERY = "*"
WORKING = "Mon..Fri"
NEEDS_NO_QUOTES = re.compile(r"[\w@+=:,./-]+", re.ASCII)
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UnitError(ValueError):
    """What no unit can hold; the message is one sentence for the user."""


@dataclass(frozen=True)
class Unit:
    """What is to be started, and where."""

    name: str
    command: Sequence[str]
    folder: str
    stop_seconds: float
    """Time that it has to end."""
    environment: Mapping[str, str] = field(default_factory=dict)


def units(job: Unit, scheduler: Unit, cron: Cron) -> str:
    """A service and a timer for a job; where no timer can say when it is due, a service for the scheduler."""
    calendar = list(_calendar(cron.fields))
    if not calendar:
        return "\n".join(
            [
                f"# No OnCalendar= can say {cron.line!r}, so this is a unit for the scheduler, which runs all jobs.",
                f"# {scheduler.name}.service",
                *_service(scheduler, ["Restart=on-failure"]),
                "",
                "[Install]",
                "WantedBy=default.target",
            ]
        )
    when = [f"OnCalendar={one} {cron.zone}" for one in calendar]
    return "\n".join(
        [
            f"# {job.name}.service",
            *_service(job, ["Type=oneshot"]),
            "",
            f"# {job.name}.timer",
            "[Unit]",
            f"Description=When {_escaped(job.name)} is due",
            "",
            "[Timer]",
            *when,
            "AccuracySec=1s",
            "Persistent=true",
            "",
            "[Install]",
            "WantedBy=timers.target",
        ]
    )


def _service(unit: Unit, how: Iterable[str]) -> Iterator[str]:
    yield from ("[Unit]", f"Description={_escaped(unit.name)}", "", "[Service]", *how)
    yield f"WorkingDirectory={_escaped(unit.folder)}"
    for name, value in unit.environment.items():
        yield f"Environment={quoted(f'{name}={value}')}"
    yield f"ExecStart=:{' '.join(map(quoted, unit.command))}"  # the colon: dollars are dollars
    yield "KillMode=mixed"  # the scheduler ends its crawls itself
    yield f"TimeoutStopSec={unit.stop_seconds:.0f}"


def unit_name(name: str) -> str:
    r"""A name as units may have it.

    >>> unit_name("winnow-bees"), unit_name("Bäume")
    ('winnow-bees', 'B\\xc3\\xa4ume')
    """
    return "".join(
        letter if re.fullmatch(r"[\w.-]", letter, re.ASCII) else "".join(f"\\x{byte:02x}" for byte in letter.encode())
        for letter in name
    )


def quoted(word: str) -> str:
    r"""A word of a command as units have it.

    >>> quoted("a=b"), quoted("50% of \"them\""), quoted("")
    ('a=b', '"50%% of \\"them\\""', '""')
    """
    plain = _escaped(word)
    if NEEDS_NO_QUOTES.fullmatch(plain):
        return plain
    return '"' + plain.replace("\\", r"\\").replace('"', r"\"") + '"'


def _escaped(text: str) -> str:
    if CONTROL.search(text):
        raise UnitError(f"{text[:100]!r} has a control character in it, which no unit can hold")
    return text.replace("%", "%%")


def _calendar(said: Fields) -> Iterator[str]:
    """What OnCalendar= says of these times, each on its own; nothing if it cannot."""
    clock = f"{_numbers(said.hours, range(24))}:{_numbers(said.minutes, range(60))}:00"
    months = _numbers(said.months, range(1, 13))
    by_month, by_week = _of_month(said.days), _of_week(said)
    if not said.both:
        pairs = by_month + by_week if (EVERY, "-*") not in by_month + by_week else [(EVERY, "-*")]
    else:
        try:
            pairs = [_both(one, other) for one, other in product(by_month, by_week)]
        except UnitError:
            return
    for week, day in dict.fromkeys(pairs):
        if week:
            yield f"{'' if week == EVERY else f'{week} '}*-{months}{day} {clock}"


def _of_month(days: Iterable[int]) -> list[tuple[str, str]]:
    """Weekdays and days of the month, counted from its start or, with a ~, from its end."""
    numbered = {day for day in days if day > 0}
    pairs = [(EVERY, f"-{_numbers(numbered, range(1, 32))}")] if numbered else []
    if LAST in days:
        pairs.append((EVERY, "~01"))
    if LAST_WEEKDAY in days:  # or the Friday before
        pairs += [(WORKING, "~01"), ("Fri", "~02"), ("Fri", "~03")]
    return pairs


def _of_week(said: Fields) -> list[tuple[str, str]]:
    plain = {day for day in said.weekdays if isinstance(day, int)}
    if len(plain) == len(WEEKDAYS):
        return [(EVERY, "-*")]
    pairs = [(",".join(WEEKDAYS[day] for day in sorted(plain)), "-*")] if plain else []
    for day, number in sorted(day for day in said.weekdays if not isinstance(day, int)):
        if number == LAST:
            pairs.append((WEEKDAYS[day], "~07/1"))
        else:
            pairs.append((WEEKDAYS[day], f"-{_numbers(range(7 * number - 6, min(31, 7 * number) + 1), range(0))}"))
    return pairs


def _both(one: tuple[str, str], other: tuple[str, str]) -> tuple[str, str]:
    """The days that are of one kind and of the other; no weekday if there are none."""
    (week, day), (of_week, date) = one, other
    if date == "-*":
        if week == EVERY or of_week == EVERY:
            return (of_week if week == EVERY else week), day
        names = set(WEEKDAYS[1:6] if week == WORKING else [week]) & set(of_week.split(","))
        return ",".join(name for name in WEEKDAYS if name in names), day
    if day == "-*":
        return of_week, date
    if week != EVERY or "~" in day or "~" in date:
        raise UnitError("days from both ends of a month")
    dates = {int(number) for number in day[1:].split(",")} & {int(number) for number in date[1:].split(",")}
    return (of_week, f"-{_numbers(dates, range(0))}") if dates else ("", "")


def _numbers(numbers: Iterable[int], whole: range) -> str:
    """Numbers with commas between them; a star for all."""
    return EVERY if set(numbers) == set(whole) else ",".join(f"{number:02}" for number in sorted(numbers))
