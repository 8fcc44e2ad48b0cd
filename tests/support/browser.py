"""A real browser for the tests of the dashboard: Chromium, as the system has it, and a page that is watched."""

import importlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

# The first is the same browser without the parts that make windows, which cost most of the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 120_000.0  # milliseconds that a page may take to come to a point, on a machine with much else to do
SIZE = {"width": 1200, "height": 800}
# Nothing is looked up: what a hostile page names must not even be asked for.
ARGUMENTS = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost", "--disable-gpu")
HARMLESS = ("about:", "blob:")


def program() -> str | None:
    """Where the browser is."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def missing() -> str | None:
    """Why there can be no browser here, if so."""
    if program() is None:
        return f"No browser is installed: one of {', '.join(NAMES)} is needed (Debian: {NAMES[0]})."
    try:
        importlib.import_module("playwright.sync_api")
    except ImportError as error:
        return f"playwright is not installed: {error}"
    return None


@contextmanager
def browsing(*more: str) -> Iterator[Any]:
    """A browser without a window, which ends with the block."""
    as_root = ["--no-sandbox"] if sys.platform == "linux" and os.geteuid() == 0 else []  # it refuses to run otherwise
    with importlib.import_module("playwright.sync_api").sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program(), args=[*as_root, *ARGUMENTS, *more])
        try:
            yield started
        finally:
            started.close()


@contextmanager
def watched(browser: Any, address: str, problems: list[str], **how: Any) -> Iterator[Any]:
    """A page of a visitor's own who comes to the site at this address; what is not as it should be is put down.

    That is: what the console has for an error, a broken policy among it; a script that failed; a question that pops
    up; and a request to anywhere else, which is not let through.
    """
    home = origin(address)
    context = browser.new_context(**{"viewport": SIZE, "locale": "en-GB", "base_url": home} | how)
    context.set_default_timeout(PATIENCE)
    try:
        context.on("request", lambda request: _look(request.url, home, problems))
        context.on("weberror", lambda error: problems.append(f"script failed: {error.error}"))
        context.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        context.on("console", lambda said: _hear(said, problems))
        context.route(lambda url: not _is_at_home(url, home), lambda route: route.abort())
        page = context.new_page()
        page.on("popup", lambda opened: problems.append(f"window: {opened.url}"))
        yield page
    finally:
        context.close()


def until(page: Any, expression: str, *given: Any) -> None:
    """Wait until it is so; the page's own policy lets nobody ask again and again from within it."""
    end = time.monotonic() + PATIENCE / 1_000
    while not page.evaluate(expression, *given):
        if time.monotonic() > end:
            raise TimeoutError(f"{page.url} has not come to {expression}")
        page.wait_for_timeout(50)


def origin(address: str) -> str:
    """Scheme, name and port of an address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _is_at_home(url: str, home: str) -> bool:
    return url.startswith(HARMLESS) or url == home or url.startswith(f"{home}/")


def _look(url: str, home: str, problems: list[str]) -> None:
    if not _is_at_home(url, home):
        problems.append(f"request: {url[:300]}")


def _hear(said: Any, problems: list[str]) -> None:
    if said.type in ("error", "warning"):
        problems.append(f"console: {said.text} ({said.location.get('url', '')})")
