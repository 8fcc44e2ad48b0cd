"""When a job runs, in plain words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from crawler.schedule.cron import LAST, LAST_WEEKDAY, Cron, Fields
from crawler.state.job_rows import Run
from crawler.state.jobs import FAILED
from crawler.wording import counted, span

MOST_TIMES = 6  # of a day, that are named one by one
LONG = 3  # numbers in a row that are said by the first and the last
DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()
MONTHS = "January February March April May June July August September October November December".split()
EVERY_DAY = frozenset(range(1, 32))
WHOLE_WEEK = frozenset(range(7))
WHOLE_YEAR = frozenset(range(1, 13))


def words(cron: Cron) -> str:
    """When a job runs.

    >>> words(Cron("0 3 * * *", "UTC")), words(Cron("*/15 8-18 * * 1-5", "UTC"))
    ('every day at 03:00', 'every 15 minutes between 08:00 and 18:59, Monday to Friday')
    """
    said = cron.fields
    days, times = _days(said), _times(sorted(said.minutes), sorted(said.hours))
    text = f"{days or 'every day'} {times}"
    if times.startswith("every"):
        text = f"{times}, {days}" if days else times
    return text if said.months == WHOLE_YEAR else f"{text}, in {_runs(said.months, lambda one: MONTHS[one - 1])}"


def coming(moment: float | None, now: float, cron: Cron) -> str:
    """When a job runs next, of which the moment is known.

    >>> coming(18_000.0, 0.0, Cron("0 5 * * *", "UTC"))
    'next in 5 h, Thursday 1 January 1970 05:00 UTC'
    """
    if moment is None:
        return "never again"
    return f"next in {span(moment - now)}, {date(moment, cron)}" if moment > now else f"due since {date(moment, cron)}"


def date(moment: float, cron: Cron) -> str:
    """A moment as the clocks of the job's time zone show it."""
    local = datetime.fromtimestamp(moment, cron.place)
    day = f"{DAYS[(local.weekday() + 1) % 7]} {local.day} {MONTHS[local.month - 1]} {local.year}"
    return f"{day} {local:%H:%M} {cron.zone}"


def ended_words(run: Run) -> str:
    """How a run went that has ended, and what it brought."""
    text = f"{result(run)}, {span((run.ended_at or run.beat) - run.started_at)}"
    if run.pages is not None:
        text += f", {pages_words(vars(run))}"
    if run.passed:
        text += f"; {counted(run.passed, 'time')} that came meanwhile left out"
    return text


def pages_words(count: Mapping[str, int | None]) -> str:
    """How many pages were stored, and where the crawl came back how many of them are what.

    >>> pages_words({"pages": 2, "new": 2, "changed": 0, "gone": 0})
    '2 pages stored'
    >>> pages_words({"pages": 7, "new": 5, "changed": 2, "gone": 1})
    '7 pages stored (5 new, 2 changed), 1 gone'
    """
    said = f"{counted(count['pages'] or 0, 'page')} stored"
    new, changed, gone = (count[name] or 0 for name in ("new", "changed", "gone"))
    return f"{said} ({new:,} new, {changed:,} changed), {gone:,} gone" if changed or gone else said


def result(run: Run) -> str:
    """How a run stands, or ended."""
    return run.status if not run.exit and run.status != FAILED else f"{run.status} ({failure(run.exit)})"


def failure(status: int | None) -> str:
    """What an exit status other than 0 says; none is of one that nobody saw.

    >>> [failure(status) for status in (1, -9, None)]
    ['exit status 1', 'killed by signal 9', 'killed, or its machine went down']
    """
    if status is None:
        return "killed, or its machine went down"
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"


def _times(minutes: Sequence[int], hours: Sequence[int]) -> str:
    """At what times of a day it runs; what is every so often begins with that word."""
    if len(minutes) * len(hours) <= MOST_TIMES:
        return f"at {_listed(f'{hour:02}:{minute:02}' for hour in hours for minute in minutes)}"
    step = evenly(minutes, 60)
    often = {0: f"every hour at minute {_runs(minutes)}", 1: "every minute"}.get(step, f"every {step} minutes")
    if len(hours) == 24:
        return often
    if len(minutes) == 1 and (apart := evenly(hours, 24)):
        return f"every {apart} hours from 00:{minutes[0]:02} on"
    if hours[-1] - hours[0] == len(hours) - 1:
        return f"{often} between {hours[0]:02}:00 and {hours[-1]:02}:59"
    return f"{often.replace('every hour ', '')} of the hours {_runs(hours)}"


def evenly(numbers: Sequence[int], whole: int) -> int:
    """How far apart numbers are that are evenly spread from 0 on; 0 if they are not, or there is one alone."""
    step = whole // len(numbers)
    return step if list(numbers) == list(range(0, whole, step)) and len(numbers) > 1 else 0


def _days(said: Fields) -> str:
    """On which days it runs; nothing if on every day."""
    month = "" if said.days >= EVERY_DAY else _of_month(said.days)
    week = "" if said.weekdays >= WHOLE_WEEK else _of_week(said)
    if not said.both:  # cron then takes either, so that all of one is all
        return f"{month} and {week}" if month and week else ""
    return f"{month} if it is {week.removeprefix('on ')}" if month and week else month or week


def _of_month(days: Iterable[int]) -> str:
    numbered = [day for day in days if day > 0]
    said = [f"the {_runs(numbered, _nth)}"] if numbered else []
    said += ["the last day"] * (LAST in days) + ["the last working day"] * (LAST_WEEKDAY in days)
    return f"on {_listed(said)} of the month"


def _of_week(said: Fields) -> str:
    plain = frozenset((day - 1) % 7 for day in said.weekdays if isinstance(day, int))  # from Monday on
    named = [_runs(plain, lambda day: DAYS[(day + 1) % 7])] if plain else []
    for day, number in sorted(day for day in said.weekdays if not isinstance(day, int)):
        named.append(f"the {'last' if number == LAST else _nth(number)} {DAYS[day]} of the month")
    text = _listed(named)
    return text if " to " in text else f"on {text}"


def _runs(numbers: Iterable[int], name: Callable[[int], str] = str) -> str:
    """Numbers by their names, many in a row by the first and the last.

    >>> _runs([1, 2, 3, 4, 8, 9]), _runs([1])
    ('1 to 4, 8 and 9', '1')
    """
    return _listed(" to ".join(one) for one in runs(numbers, name))


def runs(numbers: Iterable[int], name: Callable[[int], str] = str) -> list[tuple[str, ...]]:
    """The names of numbers one by one, or of the first and the last where many are in a row.

    >>> runs([1, 2, 3, 4, 8, 9])
    [('1', '4'), ('8',), ('9',)]
    """
    rows: list[list[int]] = []
    for number in sorted(numbers):
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    found: list[tuple[str, ...]] = []
    for row in rows:
        found += [(name(row[0]), name(row[-1]))] if len(row) >= LONG else [(name(number),) for number in row]
    return found


def _listed(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


def _nth(number: int) -> str:
    """A number that says which one.

    >>> " ".join(map(_nth, (1, 2, 3, 4, 11, 12, 13, 21, 22, 31)))
    '1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 31st'
    """
    ending = "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
