"""Describes schedules and the results of runs: turns a cron line into a message that can be translated."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from cronsim import CronSim

from crawler.contrib.schedule.cron import Cron
from crawler.contrib.schedule.job_store import Run, RunStatus
from crawler.translation.message import N_, Message, plural, span

MOST_TIMES = 6
"""The most times of a day that are listed one by one."""
LEAST_OF_RANGE = 3
"""The fewest consecutive numbers that are written as a range."""
DAYS = (N_("Sunday"), N_("Monday"), N_("Tuesday"), N_("Wednesday"), N_("Thursday"), N_("Friday"), N_("Saturday"))
MONTHS = (  # nested, so that the formatter does not give each month a line
    *(N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"), N_("July"), N_("August")),
    *(N_("September"), N_("October"), N_("November"), N_("December")),
)
EVERY_DAY = frozenset(range(1, 32))
WHOLE_WEEK = frozenset(range(7))
WHOLE_YEAR = frozenset(range(1, 13))
Text = Message | str


def schedule_words(cron: Cron) -> Message:
    """The schedule of a job in words.

    >>> str(schedule_words(Cron("0 3 * * *", "UTC")))
    'every day at 03:00'
    >>> str(schedule_words(Cron("*/15 8-18 * * 1-5", "UTC")))
    'every 15 minutes between 08:00 and 18:59, Monday to Friday'
    """
    fields = cron.fields
    days = _days(fields)
    times, is_regular = _times(sorted(fields.minutes), sorted(fields.hours))
    if not is_regular:
        times = Message("{days} {times}", {"days": days or Message("every day"), "times": times})
    elif days:
        times = Message("{times}, {days}", {"times": times, "days": days})
    if fields.months == WHOLE_YEAR:
        return times
    return Message("{times}, in {months}", {"times": times, "months": _with_ranges(fields.months, _month)})


def next_run_words(moment: float | None, now: float, cron: Cron) -> Message:
    """When a job runs next, by the moment when it is due.

    >>> str(next_run_words(18_000.0, 0.0, Cron("0 5 * * *", "UTC")))
    'next in 5 h, Thursday 1 January 1970 05:00 UTC'
    """
    if moment is None:
        return Message("never again")
    if moment > now:
        return Message("next in {span}, {date}", {"span": span(moment - now), "date": date(moment, cron)})
    return Message("due since {date}", {"date": date(moment, cron)})


def date(moment: float, cron: Cron) -> Message:
    """A moment in the time zone of a cron line."""
    local = datetime.fromtimestamp(moment, cron.zone_info)
    values = {"weekday": Message(DAYS[(local.weekday() + 1) % 7]), "day": local.day, "month": _month(local.month)}
    values |= {"year": local.year, "time": f"{local:%H:%M}", "zone": cron.zone}
    return Message("{weekday} {day} {month} {year} {time} {zone}", values)


def ended_words(run: Run) -> Message:
    """The result of a run, its duration, and its pages."""
    values = {"result": result(run), "span": span((run.ended_at or run.beat) - run.started_at)}
    words = Message("{result}, {span}", values)
    if run.pages is not None:
        words = Message("{result}, {span}, {pages}", {**values, "pages": pages_words(vars(run))})
    if not run.passed:
        return words
    left_out = plural("{n} time skipped meanwhile", "{n} times skipped meanwhile", run.passed)
    return Message("{run}; {left_out}", {"run": words, "left_out": left_out})


def pages_words(count: Mapping[str, int | None]) -> Message:
    """The number of stored pages; in later rounds also of new, changed and gone pages.

    >>> str(pages_words({"pages": 2, "new": 2, "changed": 0, "gone": 0}))
    '2 pages stored'
    >>> str(pages_words({"pages": 7, "new": 5, "changed": 2, "gone": 1}))
    '7 pages stored (5 new, 2 changed), 1 gone'
    """
    pages = count["pages"] or 0
    new = count["new"] or 0
    changed = count["changed"] or 0
    gone = count["gone"] or 0
    if not changed and not gone:
        return plural("{n} page stored", "{n} pages stored", pages)
    return plural(
        "{n} page stored ({new} new, {changed} changed), {gone} gone",
        "{n} pages stored ({new} new, {changed} changed), {gone} gone",
        pages,
        new=f"{new:,}",
        changed=f"{changed:,}",
        gone=f"{gone:,}",
    )


def result(run: Run) -> Message:
    """The status of a run that has ended, with the reason if it failed."""
    status = Message(run.status)
    if not run.exit and run.status != RunStatus.FAILED:
        return status
    return Message("{status} ({why})", {"status": status, "why": failure(run.exit)})


def failure(status: int | None) -> Message:
    """The meaning of an exit status other than 0; None is the status of a run that died while no process watched it.

    >>> [str(failure(status)) for status in (1, -9, None)]
    ['exit status 1', 'killed by signal 9', 'killed, or its machine failed']
    """
    if status is None:
        return Message("killed, or its machine failed")
    if status < 0:
        return Message("killed by signal {n}", {"n": -status})
    return Message("exit status {n}", {"n": status})


def _times(minutes: Sequence[int], hours: Sequence[int]) -> tuple[Message, bool]:
    """The times of a day at which a job runs, and whether they are regular, such as "every 15 minutes". The description
    of a schedule begins with the times if they are regular, otherwise with the days.
    """
    # A few times are listed.
    if len(minutes) * len(hours) <= MOST_TIMES:
        times = _listed([f"{hour:02}:{minute:02}" for hour in hours for minute in minutes])
        return Message("at {times}", {"times": times}), False

    # The minutes of each hour.
    step = _step(minutes, 60)
    at_minutes = {"minutes": _with_ranges(minutes)}
    if step > 1:
        often = Message("every {n} minutes", {"n": step})
    elif step == 1:
        often = Message("every minute")
    else:
        often = Message("every hour at minute {minutes}", at_minutes)

    # The hours: all, evenly spaced, from one hour to another, or a list.
    if len(hours) == 24:
        return often, True
    hour_step = _step(hours, 24)
    if len(minutes) == 1 and hour_step:
        return Message("every {n} hours from {start} on", {"n": hour_step, "start": f"00:{minutes[0]:02}"}), True
    if hours[-1] - hours[0] == len(hours) - 1:
        ends = {"start": f"{hours[0]:02}:00", "end": f"{hours[-1]:02}:59"}
        return Message("{often} between {start} and {end}", {"often": often, **ends}), True
    if not step:
        often = Message("at minute {minutes}", at_minutes)
    return Message("{often} of the hours {hours}", {"often": often, "hours": _with_ranges(hours)}), bool(step)


def _step(numbers: Sequence[int], whole: int) -> int:
    """The step between numbers from 0 to `whole` that are evenly spaced; 0 if they are not, or if there is only one."""
    step = whole // len(numbers)
    if list(numbers) == list(range(0, whole, step)) and len(numbers) > 1:
        return step
    return 0


def _days(fields: CronSim) -> Message | None:
    """The days on which a job runs; None for every day."""
    days_of_month: Message | None = None
    if not EVERY_DAY.issubset(fields.days):
        days_of_month = _days_of_month(fields.days)
    weekdays: Message | None = None
    on_weekdays: Message | None = None
    if not WHOLE_WEEK.issubset(fields.weekdays):
        weekdays = _weekdays(fields)
        on_weekdays = weekdays
        if not _has_a_range(fields):  # "Monday to Friday" has no "on" before it
            on_weekdays = Message("on {days}", {"days": weekdays})

    # `day_and` is true if the field of days or of weekdays begins with a star: then cron runs on days that match both
    # fields. Otherwise it runs on days that match one of them, which is every day if one field has all.
    if days_of_month is not None and weekdays is not None and on_weekdays is not None:
        if fields.day_and:
            return Message("{month} if it is {week}", {"month": days_of_month, "week": weekdays})
        return Message("{month} and {week}", {"month": days_of_month, "week": on_weekdays})
    if not fields.day_and:
        return None
    return days_of_month or on_weekdays


def _days_of_month(days: Iterable[int]) -> Message:
    """Days of the month."""
    names: list[Text] = []
    numbers = [day for day in days if day > 0]
    if numbers:
        names.append(Message("the {days}", {"days": _with_ranges(numbers, _nth)}))
    if CronSim.LAST in days:
        names.append(Message("the last day"))
    if CronSim.LAST_WEEKDAY in days:
        names.append(Message("the last working day"))
    return Message("on {days} of the month", {"days": _listed(names)})


def _from_monday(fields: CronSim) -> list[int]:
    """The numbers of the weekdays, where Monday is 0."""
    return sorted((day - 1) % 7 for day in fields.weekdays if isinstance(day, int))


def _has_a_range(fields: CronSim) -> bool:
    """Whether the weekdays are written with a range, such as Monday to Friday."""
    return any(len(series) >= LEAST_OF_RANGE for series in _series(_from_monday(fields)))


def _weekdays(fields: CronSim) -> Message:
    """Days of the week: those of each week, then those of each month."""
    names: list[Text] = []
    days_of_each_week = _from_monday(fields)
    if days_of_each_week:
        names.append(_with_ranges(days_of_each_week, lambda day: Message(DAYS[(day + 1) % 7])))
    for day, number in sorted(day for day in fields.weekdays if not isinstance(day, int)):
        if number == CronSim.LAST:
            names.append(Message("the last {day} of the month", {"day": Message(DAYS[day])}))
        else:
            values = {"nth": _nth(number), "day": Message(DAYS[day])}
            names.append(Message("the {nth} {day} of the month", values))
    return _listed(names)


def _with_ranges(numbers: Iterable[int], name_of: Callable[[int], Text] = str) -> Message:
    """The names of numbers as a list, where LEAST_OF_RANGE or more consecutive numbers are a range.

    >>> str(_with_ranges([1, 2, 3, 4, 8, 9])), str(_with_ranges([1]))
    ('1 to 4, 8 and 9', '1')
    """
    names: list[Text] = []
    for series in _series(numbers):
        if len(series) >= LEAST_OF_RANGE:
            names.append(Message("{first} to {last}", {"first": name_of(series[0]), "last": name_of(series[-1])}))
        else:
            names += map(name_of, series)
    return _listed(names)


def _series(numbers: Iterable[int]) -> list[list[int]]:
    """The numbers in order, divided into series of consecutive numbers."""
    all_series: list[list[int]] = []
    for number in sorted(numbers):
        if all_series and all_series[-1][-1] == number - 1:
            all_series[-1].append(number)
        else:
            all_series.append([number])
    return all_series


def _listed(names: Sequence[Text]) -> Message:
    """The names as a list in a sentence."""
    if len(names) == 1:
        if isinstance(names[0], Message):
            return names[0]
        return Message(names[0])
    return Message("{first} and {last}", {"first": list(names[:-1]), "last": names[-1]})


def _month(number: int) -> Message:
    return Message(MONTHS[number - 1])


def _nth(number: int) -> Message:
    """An ordinal number.

    >>> " ".join(str(_nth(number)) for number in (1, 2, 3, 4, 11, 12, 13, 21, 22, 31))
    '1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 31st'
    """
    sentence = N_("{n}th")
    if not 10 < number < 20:
        sentence = {1: N_("{n}st"), 2: N_("{n}nd"), 3: N_("{n}rd")}.get(number % 10, sentence)
    return Message(sentence, {"n": number})
