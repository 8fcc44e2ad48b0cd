"""What is said in Chinese of when a job runs: the same message, translated."""

import pytest

from crawler.dashboard.translation import words_of
from crawler.schedule.cron import read
from crawler.schedule.cron_words import words


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0 3 * * *", "每天 03:00"),
        ("0 3,15,18 * * *", "每天 03:00、15:00、18:00"),
        ("*/15 8-18 * * 1-5", "周一至周五，08:00 至 18:59 之间每 15 分钟"),
        ("* * * * *", "每分钟"),
        ("5,35 * * * *", "每小时的第5、35分"),
        ("10 */2 * * *", "从 00:10 起每 2 小时"),
        ("*/20 1,5,8,13-16 * * *", "1、5、8、13至16时之内每 20 分钟"),
        ("0 1,5,8,13-16 * * *", "每天 1、5、8、13至16时之内每小时的第0分"),
        ("0 9 * * mon,thu", "周一、周四 09:00"),
        ("0 9 * * 1#2,5L", "每月第 2 个周一、每月最后一个周五 09:00"),
        ("0 0 1,15,L * *", "每月1、15日、最后一天 00:00"),
        ("0 0 LW * *", "每月最后一个工作日 00:00"),
        ("0 0 13 * 5", "每月13日或周五 00:00"),
        ("0 0 */30 * 5", "每月1、31日且为周五 00:00"),
        ("0 0 29 2,6-8 *", "2月、6月至8月，每月29日 00:00"),
    ],
)
def test_when_it_runs(line: str, expected: str) -> None:
    assert words_of("zh").message(words(read(line, "UTC"))) == expected
