"""Collects the tests in half the CPU time: each of the processes that run them collects all of them."""

import gc
from pathlib import Path

import pytest

# Scrapy's classes look at the source of each calling function where they are created, and pytest has many.
import scrapy.core.downloader.contextfactory  # noqa: F401

from crawler.processes.machine import GARBAGE_THRESHOLD

CRAWLER = Path(__file__).resolve().parents[2] / "crawler"
PROMPT = ">>> "


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out modules of the crawler without doctests, which are imported only to look for them."""
    if collection_path.suffix != ".py" or not collection_path.is_relative_to(CRAWLER):
        return None
    return True if PROMPT not in collection_path.read_text(encoding="utf-8") else None


def pytest_collection() -> None:
    """Do not look for garbage among the thousands of tests, which stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage as the commands do, except among the tests."""
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """What is never looked for would be told as lost, as the tests end."""
    gc.unfreeze()
