"""When a job runs, in Chinese: as crawler.schedule.words says it in English."""

from collections.abc import Callable, Iterable, Sequence

from crawler.schedule.cron import LAST, LAST_WEEKDAY, Cron, Fields
from crawler.schedule.words import EVERY_DAY, MOST_TIMES, WHOLE_WEEK, WHOLE_YEAR, evenly, runs
from crawler.schedule.words import words as english

WEEK = "周日 周一 周二 周三 周四 周五 周六".split()


def words(cron: Cron, language: str) -> str:
    """When a job runs, in the language of a visitor.

    >>> words(Cron("0 3 * * *", "UTC"), "zh"), words(Cron("*/15 8-18 * * 1-5", "UTC"), "zh")
    ('每天 03:00', '周一至周五，08:00 至 18:59 之间每 15 分钟')
    """
    if language != "zh":
        return english(cron)
    said = cron.fields
    days, times = _days(said), _times(sorted(said.minutes), sorted(said.hours))
    months = "" if said.months == WHOLE_YEAR else f"{_runs(said.months, lambda one: f'{one}月')}，"
    if "每" not in times:
        return f"{months}{days or '每天'} {times}"
    return f"{months}{days + '，' if days else ''}{times}"


def _times(minutes: Sequence[int], hours: Sequence[int]) -> str:
    if len(minutes) * len(hours) <= MOST_TIMES:
        return "、".join(f"{hour:02}:{minute:02}" for hour in hours for minute in minutes)
    step = evenly(minutes, 60)
    often = {0: f"每小时的第{_runs(minutes)}分", 1: "每分钟"}.get(step, f"每 {step} 分钟")
    if len(hours) == 24:
        return often
    if len(minutes) == 1 and (apart := evenly(hours, 24)):
        return f"从 00:{minutes[0]:02} 起每 {apart} 小时"
    if hours[-1] - hours[0] == len(hours) - 1:
        return f"{hours[0]:02}:00 至 {hours[-1]:02}:59 之间{often}"
    return f"{_runs(hours)}时之内{often}"


def _days(said: Fields) -> str:
    """On which days it runs; nothing if on every day."""
    month = "" if said.days >= EVERY_DAY else _of_month(said.days)
    week = "" if said.weekdays >= WHOLE_WEEK else _of_week(said)
    if said.both:
        return f"{month}且为{week}" if month and week else month or week
    return f"{month}或{week}" if month and week else ""


def _of_month(days: Iterable[int]) -> str:
    numbered = [day for day in days if day > 0]
    named = [f"{_runs(numbered)}日"] if numbered else []
    named += ["最后一天"] * (LAST in days) + ["最后一个工作日"] * (LAST_WEEKDAY in days)
    return f"每月{'、'.join(named)}"


def _of_week(said: Fields) -> str:
    plain = frozenset((day - 1) % 7 for day in said.weekdays if isinstance(day, int))  # from Monday on
    named = [_runs(plain, lambda day: WEEK[(day + 1) % 7])] if plain else []
    for day, number in sorted(day for day in said.weekdays if not isinstance(day, int)):
        named.append(f"每月{'最后一个' if number == LAST else f'第 {number} 个'}{WEEK[day]}")
    return "、".join(named)


def _runs(numbers: Iterable[int], name: Callable[[int], str] = str) -> str:
    return "、".join("至".join(one) for one in runs(numbers, name))
