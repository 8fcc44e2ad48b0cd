"""What this machine may lack: packages of the extra `dev`, PostgreSQL, a browser, proxies.

A test that needs one is skipped where it is missing. If WINNOW_REQUIRE_ALL is set, as in .ci/run, it fails.
"""

import os
import re
from collections import Counter
from collections.abc import Generator
from importlib.util import find_spec

import pytest

REQUIRE_ALL = bool(os.environ.get("WINNOW_REQUIRE_ALL"))
PACKAGES = frozenset(
    "anyio cronsim dask datasets datatrove distributed duckdb fastapi langchain_core lightgbm llama_index mcp "
    "pandas playwright polars prometheus_client pyarrow pydantic pypdfium2 qdrant_client reportlab scipy scrapyd "
    "sklearn sphinx spidermon starlette uvicorn".split()
)
"""The modules of other packages that only some tests import."""
FAILED_IMPORT = re.compile(r"^E?\s*ModuleNotFoundError: No module named '(\w+)", re.MULTILINE)


def need(*modules: str) -> None:
    """Skip a test that runs programs which import these modules, or the module that calls this."""
    for module in modules:
        if find_spec(module) is None:
            skip(f"{module} is not installed")


def skip(reason: str | None) -> None:
    """Skip a test for what is missing; None if nothing is."""
    if reason is not None:
        if REQUIRE_ALL:
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module of tests or of doctests that imports one of these packages; conftest.py registers this."""
    report = yield
    failed_import = FAILED_IMPORT.search(str(report.longrepr)) if report.failed else None
    if failed_import is not None and failed_import[1] in PACKAGES and not REQUIRE_ALL:
        report.outcome = "skipped"
        report.longrepr = (__file__, 0, f"Skipped: {failed_import[1]} is not installed")
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what is missing here."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons:
        terminalreporter.section("skipped tests and modules")
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"{count:5} {reason}")
