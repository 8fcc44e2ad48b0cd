"""The rates in sample outputs are those of their pages and seconds, as the closing lines compute them."""

import re

from fork_server import ROOT

PAGES = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SAMPLES = (
    re.compile(r"(?P<pages>[\d,]+) pages? crawled in (?P<seconds>[\d.]+) s \((?P<rate>[\d.]+) a second\)"),
    re.compile(r"(?P<pages>[\d,]+) 个页面，用时 (?P<seconds>[\d.]+) 秒（每秒 (?P<rate>[\d.]+)"),
)
ROUNDED = 0.05
"""Seconds and rates have one digit after the point."""
LEAST_SAMPLES = 5


def is_possible(pages: int, seconds: float, rate: float) -> bool:
    """Whether a run can print this rate, given that the seconds are rounded.

    >>> is_possible(38, 2.7, 14.1), is_possible(38, 2.7, 15.8)
    (True, False)
    """
    return pages / (seconds + ROUNDED) - ROUNDED <= rate <= pages / (seconds - ROUNDED) + ROUNDED


def samples(text: str) -> list[re.Match[str]]:
    return [match for sample in SAMPLES for match in sample.finditer(text)]


def test_a_run_can_print_the_rates() -> None:
    for path in PAGES:
        for match in samples(path.read_text(encoding="utf-8")):
            pages = int(match["pages"].replace(",", ""))
            assert is_possible(pages, float(match["seconds"]), float(match["rate"])), match[0]


def test_the_samples_are_recognised() -> None:
    numbers = {path.suffixes[0] == ".zh-CN" or "zh" in path.parts: 0 for path in PAGES}
    for path in PAGES:
        numbers[path.suffixes[0] == ".zh-CN" or "zh" in path.parts] += len(samples(path.read_text(encoding="utf-8")))
    assert min(numbers.values()) >= LEAST_SAMPLES
