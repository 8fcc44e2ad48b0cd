"""Prints the modules of tests that took longest: the sum of setup, call and teardown of their tests."""

from collections import Counter

import pytest

MOST_MODULES = 10
seconds_by_module: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    seconds_by_module[report.nodeid.partition("::")[0]] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    slowest_modules = seconds_by_module.most_common(MOST_MODULES)
    if len(seconds_by_module) > 1:
        terminalreporter.section(f"slowest {len(slowest_modules)} modules")
        for module, seconds in slowest_modules:
            terminalreporter.write_line(f"{seconds:7.1f} s {module}")
