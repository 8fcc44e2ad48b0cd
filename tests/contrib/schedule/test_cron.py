"""When a cron line is due: across daylight saving, at the ends of months, in leap years; and which lines are wrong."""

import re
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from crawler.contrib.schedule.cron import LONGEST, MOST_MISSED, NAMED_LINES, Cron, CronError, read_cron

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"


def moment(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def shown(time: float, zone: str) -> str:
    return datetime.fromtimestamp(time, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M %Z")


def test_when_it_is_due() -> None:
    rows = [
        ("0 3 * * *", "UTC", "2026-11-22 12:00", ["2026-11-23 03:00 UTC", "2026-11-24 03:00 UTC"]),
        ("0 3 * * *", "UTC", "2026-11-22 03:00", ["2026-11-23 03:00 UTC"]),
        ("0 3 * * *", "UTC", "2026-11-22 02:59:59", ["2026-11-22 03:00 UTC"]),
        # The clock is put on at 02:00: what was to be in the hour left out comes right after it, once.
        ("30 2 * * *", BERLIN, "2026-03-28 12:00", ["2026-03-29 03:00 CEST", "2026-03-30 02:30 CEST"]),
        ("0,30 2 * * *", BERLIN, "2026-03-28 12:00", ["2026-03-29 03:00 CEST", "2026-03-30 02:00 CEST"]),
        ("30 2 * * *", NEW_YORK, "2026-03-07 12:00", ["2026-03-08 03:00 EDT", "2026-03-09 02:30 EDT"]),
        ("0 3 * * *", BERLIN, "2026-03-28 12:00", ["2026-03-29 03:00 CEST", "2026-03-30 03:00 CEST"]),
        ("0 12 * * *", BERLIN, "2026-03-28 12:00", ["2026-03-29 12:00 CEST"]),
        # It is put back at 03:00, or 02:00: what comes twice counts once, the first time.
        ("30 2 * * *", BERLIN, "2026-10-24 12:00", ["2026-10-25 02:30 CEST", "2026-10-26 02:30 CET"]),
        ("30 1 * * *", NEW_YORK, "2026-10-31 12:00", ["2026-11-01 01:30 EDT", "2026-11-02 01:30 EST"]),
        ("0 3 * * *", BERLIN, "2026-10-24 12:00", ["2026-10-25 03:00 CET"]),
        # Every so often goes by the time that passes.
        ("0 * * * *", BERLIN, "2026-03-29 00:30", ["2026-03-29 01:00 CET", "2026-03-29 03:00 CEST"]),
        (
            "0 * * * *",
            BERLIN,
            "2026-10-25 01:30",
            ["2026-10-25 02:00 CEST", "2026-10-25 02:00 CET", "2026-10-25 03:00 CET"],
        ),
        ("*/30 * * * *", NEW_YORK, "2026-03-08 01:15", ["2026-03-08 01:30 EST", "2026-03-08 03:00 EDT"]),
        # Days that not all months have.
        ("0 0 29 2 *", "UTC", "2026-01-01", ["2028-02-29 00:00 UTC", "2032-02-29 00:00 UTC"]),
        ("0 0 31 * *", "UTC", "2026-01-01", ["2026-01-31 00:00 UTC", "2026-03-31 00:00 UTC"]),
        ("0 0 L * *", "UTC", "2028-01-01", ["2028-01-31 00:00 UTC", "2028-02-29 00:00 UTC"]),
        ("0 0 LW * *", "UTC", "2026-05-01", ["2026-05-29 00:00 UTC", "2026-06-30 00:00 UTC"]),
        # Names, steps, lists, ranges; Sunday is 0 and 7.
        ("0 9 * jan,JUL Mon", "UTC", "2026-01-25", ["2026-01-26 09:00 UTC", "2026-07-06 09:00 UTC"]),
        ("*/20 8-9 * * *", "UTC", "2026-01-01 08:30", [f"2026-01-01 0{at} UTC" for at in ("8:40", "9:00", "9:20")]),
        ("5/20 * * * *", "UTC", "2026-01-01 08:30", ["2026-01-01 08:45 UTC", "2026-01-01 09:05 UTC"]),
        ("0 0 * * 7", "UTC", "2026-11-21", ["2026-11-22 00:00 UTC", "2026-11-29 00:00 UTC"]),
        ("0 0 * * 0", "UTC", "2026-11-21", ["2026-11-22 00:00 UTC", "2026-11-29 00:00 UTC"]),
        ("0 0 * * fri#2", "UTC", "2026-11-01", ["2026-11-13 00:00 UTC", "2026-12-11 00:00 UTC"]),
        ("0 0 * * 5L", "UTC", "2026-11-01", ["2026-11-27 00:00 UTC", "2026-12-25 00:00 UTC"]),
        # By month or by week; by both where one begins with a star.
        ("0 0 13 * 5", "UTC", "2026-11-08", ["2026-11-13 00:00 UTC", "2026-11-20 00:00 UTC"]),
        ("0 0 */12 * 5", "UTC", "2026-11-08", ["2026-11-13 00:00 UTC", "2026-12-25 00:00 UTC"]),
        ("@weekly", "UTC", "2026-11-21", ["2026-11-22 00:00 UTC"]),
        ("@Hourly", "UTC", "2026-11-21", ["2026-11-21 01:00 UTC"]),
        ("  0   3 * * *\t", "UTC", "2026-11-22 12:00", ["2026-11-23 03:00 UTC"]),
    ]
    for line, zone, since, expected in rows:
        times = read_cron(line, zone).times(moment(since, zone))
        assert [shown(time, zone) for time in islice(times, len(expected))] == expected


def test_in_the_hour_that_comes_again_nothing_is_due_that_was() -> None:
    cron = read_cron("30 2 * * *", BERLIN)
    for minute in range(120):  # from 02:30 to 02:30, and an hour more
        now = moment("2026-10-25 00:30") + 60 * minute
        assert shown(cron.after(now) or 0, BERLIN) == "2026-10-26 02:30 CET"


def test_times_only_grow_and_each_is_the_next_of_the_one_before() -> None:
    changes = {  # around the night in which the clocks go forward
        "UTC": ("2026-03-28", "2026-03-30"),
        BERLIN: ("2026-03-28", "2026-03-30"),
        NEW_YORK: ("2026-03-07", "2026-03-09"),
        "Australia/Lord_Howe": ("2026-04-04", "2026-04-06"),  # where they go back
        "Africa/Cairo": ("2026-04-23", "2026-04-26"),
        "Asia/Kathmandu": ("2026-03-28", "2026-03-30"),
    }
    for zone, (start, end) in changes.items():
        for line in ["*/15 * * * *", "30 2 * * *", "0 0 * * *", "*/10 0-3 * * *", "0 */2 * * sun"]:
            cron, times = Cron(line, zone), [moment(start)]
            while times[-1] < moment(end):
                times.append(cron.after(times[-1]) or 0)
            assert times == sorted(set(times))
            assert times[1:] == list(islice(cron.times(times[0]), len(times) - 1))


def test_lines_that_are_wrong() -> None:
    rows = [
        ("", "it does not have five fields"),
        ("0 3 * *", "it does not have five fields"),
        ("0 0 3 * * *", "it does not have five fields"),
        ("@reboot", "it does not have five fields"),
        ("* " * 101, "it does not have five fields"),
        ("60 * * * *", "its minute is invalid"),
        ("-1 * * * *", "its minute is invalid"),
        ("*/0 * * * *", "its minute is invalid"),
        ("5-1 * * * *", "its minute is invalid"),
        ("1,,2 * * * *", "its minute is invalid"),
        ("١ * * * *", "its minute is invalid"),
        ("0 24 * * *", "its hour is invalid"),
        ("0 0 0 * *", "its day-of-month is invalid"),
        ("0 0 32 * *", "its day-of-month is invalid"),
        ("0 0 30 2 *", "its day-of-month is invalid"),
        ("0 0 31 2,4,jun *", "its day-of-month is invalid"),
        ("0 0 * 13 *", "its month is invalid"),
        ("0 0 * * 8", "its day-of-week is invalid"),
        ("0 0 * * someday", "its day-of-week is invalid"),
        ("0 0 * * 1#6", "its day-of-week is invalid"),
    ]
    for line, why in rows:
        with pytest.raises(CronError, match=rf"^[^']*{re.escape(repr(line[:LONGEST])[:-1])}.*{why}"):
            read_cron(line, "UTC")


def test_lines_at_the_edge_of_right() -> None:
    for line in ["59 23 31 12 7", "0 0 1 1 0", "0 0 29 2 *", *NAMED_LINES]:
        assert read_cron(line, "UTC").after(0.0)


def test_time_zones_that_are_not_known() -> None:
    for zone in ["Mars/Base", "", "../../etc/passwd", "/etc/passwd", "Europe", "a\0b", "\ud800"]:
        with pytest.raises(CronError, match=re.escape(repr(zone))):
            read_cron("0 3 * * *", zone)


def test_how_many_times_passed() -> None:
    rows = [
        ("2026-11-22 03:00", "2026-11-22 03:00", 0),
        ("2026-11-22 03:00", "2026-11-23 02:59:59", 0),
        ("2026-11-22 03:00", "2026-11-23 03:00", 1),
        ("2026-11-22 03:00", "2026-11-25 12:00", 3),
        ("1970-01-01", "2026-11-25", MOST_MISSED),
    ]
    for since, until, expected in rows:
        assert read_cron("0 3 * * *", "UTC").count(moment(since), moment(until)) == expected


def test_no_moment_is_too_early_to_count_from() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    assert [Cron("0 3 * * *", "UTC").count(since, now) for since in (-1e300, float("nan"))] == [MOST_MISSED] * 2
