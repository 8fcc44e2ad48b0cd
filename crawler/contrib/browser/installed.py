"""Finds the browser: the one that Playwright has installed, or a Chromium of the system."""

import os
import shutil
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# The first is the same browser without the parts that make windows.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOLDERS = {"linux": ".cache/ms-playwright", "darwin": "Library/Caches/ms-playwright"}
"""Where Playwright installs browsers, below the home folder. On Windows, the loop that a crawl runs in starts none."""


@cache
def has_playwright() -> bool:
    """Whether Playwright for Python is installed."""
    return find_spec("playwright") is not None


def system_browser() -> str | None:
    """The path of the system's Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def has_own_browser() -> bool:
    """Whether Playwright has installed a Chromium."""
    browsers_path = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folder = Path(browsers_path) if browsers_path else Path.home() / FOLDERS.get(sys.platform, "")
    return any(folder.glob("chromium*-*"))


def is_usable() -> bool:
    """Whether pages can be rendered: Playwright and a browser are there, and the system is one that it runs on."""
    return sys.platform in FOLDERS and has_playwright() and (has_own_browser() or system_browser() is not None)
