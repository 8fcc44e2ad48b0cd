"""Finds the browser: the one that Playwright installed, or a Chromium of the system."""

import os
import shutil
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The names of Chromium's program; the first is a variant without the parts that draw windows."""
FOLDERS = {"linux": ".cache/ms-playwright", "darwin": "Library/Caches/ms-playwright"}
"""Where Playwright installs browsers, in the home folder. On Windows there is no rendering, because the event loop of a
crawl cannot start a browser there.
"""


@cache
def has_playwright() -> bool:
    """Whether Playwright for Python is installed."""
    return find_spec("playwright") is not None


def system_browser() -> str | None:
    """The path of the system's Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def has_own_browser() -> bool:
    """Whether Playwright has installed a Chromium."""
    browsers_path = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folder = Path.home() / FOLDERS.get(sys.platform, "")
    if browsers_path:
        folder = Path(browsers_path)
    return any(folder.glob("chromium*-*"))


def is_usable() -> bool:
    """Whether pages can be rendered: Playwright and a browser are installed, and the system is supported."""
    return sys.platform in FOLDERS and has_playwright() and (has_own_browser() or system_browser() is not None)
