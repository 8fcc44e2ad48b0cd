"""What is said of when a job runs, and of how a run went."""

import pytest

from crawler.contrib.schedule.cron import Cron, CronError, read_cron
from crawler.contrib.schedule.job_store import Run
from crawler.contrib.schedule.schedule_words import ended_words, next_run_words, schedule_words
from crawler.translation.message import catalogue_of


def test_when_it_runs() -> None:
    rows = [
        ("0 3 * * *", "every day at 03:00"),
        ("0 3,15 * * *", "every day at 03:00 and 15:00"),
        ("0,30 1-3 * * *", "every day at 01:00, 01:30, 02:00, 02:30, 03:00 and 03:30"),
        ("0,30 1-4 * * *", "every 30 minutes between 01:00 and 04:59"),
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("*/7 1 * * *", "every hour at minute 0, 7, 14, 21, 28, 35, 42, 49 and 56 between 01:00 and 01:59"),
        ("0 * * * *", "every hour at minute 0"),
        ("5,35 * * * *", "every hour at minute 5 and 35"),
        ("10 */2 * * *", "every 2 hours from 00:10 on"),
        ("10 */6 * * *", "every day at 00:10, 06:10, 12:10 and 18:10"),
        ("0 */5 * * *", "every day at 00:00, 05:00, 10:00, 15:00 and 20:00"),
        ("*/10 8-18 * * 1-5", "every 10 minutes between 08:00 and 18:59, Monday to Friday"),
        ("0 1,5,8,13-16 * * *", "every day at minute 0 of the hours 1, 5, 8 and 13 to 16"),
        ("0 9 * * mon,thu", "on Monday and Thursday at 09:00"),
        ("0 9 * * 6,7", "on Saturday and Sunday at 09:00"),
        ("0 9 * * 1#2", "on the 2nd Monday of the month at 09:00"),
        ("0 9 * * 5L", "on the last Friday of the month at 09:00"),
        ("0 0 1,15 * *", "on the 1st and 15th of the month at 00:00"),
        ("0 0 L * *", "on the last day of the month at 00:00"),
        ("0 0 LW * *", "on the last working day of the month at 00:00"),
        ("0 0 1,L * *", "on the 1st and the last day of the month at 00:00"),
        ("0 0 13 * 5", "on the 13th of the month and on Friday at 00:00"),
        ("0 0 */30 * 5", "on the 1st and 31st of the month if it is Friday at 00:00"),
        ("0 0 1-31 * 5", "every day at 00:00"),
        ("0 0 * 6-8 *", "every day at 00:00, in June to August"),
        ("0 0 29 2 *", "on the 29th of the month at 00:00, in February"),
        ("@yearly", "on the 1st of the month at 00:00, in January"),
    ]
    for line, expected in rows:
        assert str(schedule_words(read_cron(line, "UTC"))) == expected


def test_when_it_runs_next() -> None:
    rows = [
        (None, "never again"),
        (18_001.0, "next in 5 h, Thursday 1 January 1970 06:00 Europe/Berlin"),
        (61.0, "next in 60 s, Thursday 1 January 1970 01:01 Europe/Berlin"),
        (1.0, "due since Thursday 1 January 1970 01:00 Europe/Berlin"),
    ]
    for moment, expected in rows:
        assert str(next_run_words(moment, 1.0, Cron("0 * * * *", "Europe/Berlin"))) == expected


def test_how_a_run_went() -> None:
    rows = [
        ({}, "done, 4 min, 1 page stored"),
        ({"pages": None}, "done, 4 min"),
        ({"passed": 2}, "done, 4 min, 1 page stored; 2 times skipped meanwhile"),
        ({"status": "failed", "exit": 1}, "failed (exit status 1), 4 min, 1 page stored"),
        ({"status": "failed", "exit": -9}, "failed (killed by signal 9), 4 min, 1 page stored"),
        ({"status": "failed", "exit": None}, "failed (killed, or its machine failed), 4 min, 1 page stored"),
        ({"status": "stopped"}, "stopped, 4 min, 1 page stored"),
        ({"status": "stopped", "exit": -9}, "stopped (killed by signal 9), 4 min, 1 page stored"),
    ]
    for changes, expected in rows:
        values = {
            "id": 1,
            "job_id": 1,
            "number": 1,
            "how": "cron",
            "due": 0.0,
            "missed": 0,
            "passed": 0,
            "status": "done",
        }
        values |= {"exit": 0, "started_at": 0.0, "beat": 200.0, "ended_at": 240.0, "place": "", "host": "", "pid": 1}
        assert str(ended_words(Run(**values | {"pages": 1} | changes))) == expected


def test_when_it_runs_in_chinese() -> None:
    rows = [
        ("0 3 * * *", "每天 03:00"),
        ("0 3,15,18 * * *", "每天 03:00、15:00、18:00"),
        ("*/15 8-18 * * 1-5", "周一至周五，08:00 至 18:59 之间每 15 分钟"),
        ("* * * * *", "每分钟"),
        ("5,35 * * * *", "每小时第 5、35 分"),
        ("10 */2 * * *", "从 00:10 起每 2 小时"),
        ("*/20 1,5,8,13-16 * * *", "1、5、8、13至16时之内每 20 分钟"),
        ("0 1,5,8,13-16 * * *", "每天 1、5、8、13至16时之内每小时第 0 分"),
        ("0 9 * * mon,thu", "周一、周四 09:00"),
        ("0 9 * * 1#2,5L", "每月第 2 个周一、每月最后一个周五 09:00"),
        ("0 0 1,15,L * *", "每月1、15日、最后一天 00:00"),
        ("0 0 LW * *", "每月最后一个工作日 00:00"),
        ("0 0 13 * 5", "每月13日或周五 00:00"),
        ("0 0 */30 * 5", "每月1、31日且为周五 00:00"),
        ("0 0 29 2,6-8 *", "2月、6月至8月，每月29日 00:00"),
    ]
    for line, expected in rows:
        assert catalogue_of("zh").gettext(schedule_words(read_cron(line, "UTC"))) == expected


def test_what_is_wrong_in_chinese() -> None:
    rows = [
        ("* * *", "字段数不是五个"),
        ("61 * * * *", "“分”字段无效"),
        ("* * 32 * *", "“日”字段无效"),
        ("* * * * bees", "“星期”字段无效"),
        ("0 0 31 2 *", "“日”字段无效"),
    ]
    for line, expected in rows:
        with pytest.raises(CronError) as raised:
            read_cron(line, "UTC")
        said = catalogue_of("zh").gettext(raised.value.message)
        assert said.startswith(f"cron 表达式 {line!r} 无效：{expected}；格式为“分 时 日 月 星期”，例如")
        assert "、@daily、" in said


def test_the_next_time_in_chinese() -> None:
    cron = Cron("0 * * * *", "Europe/Berlin")
    assert (
        catalogue_of("zh").gettext(next_run_words(18_001.0, 1.0, cron))
        == "5 小时后运行：1970年1月1日周四 06:00 Europe/Berlin"
    )
