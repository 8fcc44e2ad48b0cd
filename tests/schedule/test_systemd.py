"""What is printed for systemd, and that systemd's own reading of a timer is due when cron is."""

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from itertools import islice

import pytest

from crawler.schedule.cron import read
from crawler.schedule.systemd import Unit, UnitError, quoted, units

NOW = datetime(2027, 12, 30, 7, 1, tzinfo=UTC)
JOB = Unit("winnow-bees", ["/opt/v 1/python", "-m", "scrapy", "schedule", "run-now", "bees"], "/home/100%", 180.0)
SCHEDULER = Unit("winnow-scheduler", ["/opt/python", "run"], "/home", 180.0, {"A": "b c"})


def calendar(line: str, zone: str = "UTC") -> list[str]:
    return re.findall(r"^OnCalendar=(.*)$", units(JOB, SCHEDULER, read(line, zone)), re.MULTILINE)


LINES = {
    "0 3 * * *": ["*-*-* 03:00:00 UTC"],
    "*/15 8-9 * * 1-5": ["Mon,Tue,Wed,Thu,Fri *-*-* 08,09:00,15,30,45:00 UTC"],
    "* * * * *": ["*-*-* *:*:00 UTC"],
    "0 0 * * 7": ["Sun *-*-* 00:00:00 UTC"],
    "0 0 1,15 1,7 *": ["*-01,07-01,15 00:00:00 UTC"],
    "0 0 29 2 *": ["*-02-29 00:00:00 UTC"],
    "0 0 L * *": ["*-*~01 00:00:00 UTC"],
    "0 0 LW * *": ["Mon..Fri *-*~01 00:00:00 UTC", "Fri *-*~02 00:00:00 UTC", "Fri *-*~03 00:00:00 UTC"],
    "0 0 13 * 5": ["*-*-13 00:00:00 UTC", "Fri *-*-* 00:00:00 UTC"],
    "0 0 */12 * 5": ["Fri *-*-01,13,25 00:00:00 UTC"],
    "0 0 1-31 * 5": ["*-*-* 00:00:00 UTC"],
    "0 0 * * 1#2": ["Mon *-*-08,09,10,11,12,13,14 00:00:00 UTC"],
    "0 0 * * 1#5": ["Mon *-*-29,30,31 00:00:00 UTC"],
    "0 0 * * 5L": ["Fri *-*~07/1 00:00:00 UTC"],
    "0 0 */10 * 1#2": ["Mon *-*-11 00:00:00 UTC"],
    "0 0 LW * */2": ["Tue,Thu *-*~01 00:00:00 UTC"],
    "0 0 LW * */5": ["Fri *-*~01 00:00:00 UTC", "Fri *-*~02 00:00:00 UTC", "Fri *-*~03 00:00:00 UTC"],
    "0 0 L * */2": ["Sun,Tue,Thu,Sat *-*~01 00:00:00 UTC"],
}


@pytest.mark.parametrize(("line", "expected"), LINES.items())
def test_what_a_timer_says(line: str, expected: list[str]) -> None:
    assert calendar(line) == expected


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
@pytest.mark.parametrize("line", LINES)
def test_systemd_is_due_when_cron_is(line: str) -> None:
    base = f"{NOW:%Y-%m-%d %H:%M:%S} UTC"
    command = ["systemd-analyze", "calendar", "--iterations=12", f"--base-time={base}", *calendar(line)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"TZ": "UTC"}).stdout
    found = re.findall(r"(?:elapse|Iter\. #\d+|\(in UTC\)): \w{3} (\d{4}-\d\d-\d\d \d\d:\d\d):00 UTC", said)
    times = [datetime.strptime(f"{time} +0000", "%Y-%m-%d %H:%M %z").timestamp() for time in found]
    expected = list(islice(read(line, "UTC").times(NOW.timestamp()), 12))
    assert sorted(set(times))[:12] == expected


def test_units() -> None:
    assert units(JOB, SCHEDULER, read("0 3 * * *", "Europe/Berlin")) == "\n".join(
        [
            "# winnow-bees.service",
            "[Unit]",
            "Description=winnow-bees",
            "",
            "[Service]",
            "Type=oneshot",
            "WorkingDirectory=/home/100%%",
            'ExecStart=:"/opt/v 1/python" -m scrapy schedule run-now bees',
            "KillMode=mixed",
            "TimeoutStopSec=180",
            "",
            "# winnow-bees.timer",
            "[Unit]",
            "Description=When winnow-bees is due",
            "",
            "[Timer]",
            "OnCalendar=*-*-* 03:00:00 Europe/Berlin",
            "AccuracySec=1s",
            "Persistent=true",
            "",
            "[Install]",
            "WantedBy=timers.target",
        ]
    )


def test_what_no_timer_can_say_is_left_to_the_scheduler() -> None:
    said = units(JOB, SCHEDULER, read("0 0 */5 * 1L", "UTC"))
    assert said.startswith("# No OnCalendar= can say '0 0 */5 * 1L', so this is a unit for the scheduler")
    assert "ExecStart=:/opt/python run\n" in said
    assert 'Environment="A=b c"\n' in said
    assert "OnCalendar=\n" not in said


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("a=b", "a=b"),
        ("", '""'),
        ("a b", '"a b"'),
        ("50%", '"50%%"'),
        ("$HOME", '"$HOME"'),
        ('"; rm -rf /', r'"\"; rm -rf /"'),
        ("a\\", r'"a\\"'),
        ("'", '"\'"'),
        ("Bäume", '"Bäume"'),
    ],
)
def test_words_are_quoted(word: str, expected: str) -> None:
    assert quoted(word) == expected


@pytest.mark.parametrize("word", ["a\nExecStart=/bin/sh", "a\0", "\x1b[2J"])
def test_what_no_unit_can_hold(word: str) -> None:
    with pytest.raises(UnitError, match=r"has a control character in it, which no unit can hold$"):
        quoted(word)
