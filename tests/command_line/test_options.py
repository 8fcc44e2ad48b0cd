"""The types of options: each has a value on each side of its limits."""

from argparse import ArgumentTypeError
from collections.abc import Callable

import pytest

from crawler.command_line.options import names, share, whole

Read = Callable[[str], object]


def test_values_that_are_read() -> None:
    rows: list[tuple[Read, str, object]] = [
        (whole(1, 64), "1", 1),
        (whole(1, 64), "64", 64),
        (share, "0", 0.0),
        (share, "1", 1.0),
        (share, ".25", 0.25),
        (names("crawler.frontier.scope:SCOPES"), " site,host ,site", ["site", "host"]),
        (names("crawler.frontier.scope:SCOPES", "all"), "all", ["all"]),
    ]
    for read, text, value in rows:
        assert read(text) == value


def test_values_that_are_refused() -> None:
    rows: list[tuple[Read, list[str]]] = [
        (whole(1, 64), ["0", "65", "-1", "1.0", "", "x", "\u0663", "9" * 30, f"1{'0' * 30}"]),
        (share, ["-0.01", "1.01", "nan", "inf", "", "x"]),
        (names("crawler.frontier.scope:SCOPES"), ["all", "", "site,", "Site"]),
    ]
    for read, texts in rows:
        for text in texts:
            with pytest.raises(ArgumentTypeError):
                read(text)
