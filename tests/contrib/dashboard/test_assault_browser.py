"""Pages that attack whoever shows them, in a real browser: they are shown as they are, and nothing happens."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import browser
import dashboards
import hostile_site
import pytest
from dashboard_client import VIEWS
from sites import OPEN, Site, crawl, serving

SHOWN_PLAINLY = [
    name for name in hostile_site.TITLES if name not in ("bidi", "control", "spoof", "zalgo", "long", "unbroken")
]
NO_PAGES = (".jsonl", "/download", "/image", "/skip")  # but what is taken away, shown within a page, or leads on
WHOLE = "/pages/{page}"  # each page is looked at, with its original in it; of other views a few
FEW = 3
NUMBERS = {"crawl": "crawl", "page": "page", "verdict": "verdict"}
SETTLED = 200.0  # milliseconds in which what is not let through would happen


class Attacked(NamedTuple):
    """A dashboard over a crawl of the site, and who waits to be called by it."""

    address: str
    output: Path
    listener: hostile_site.Listener


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    folder = tmp_path_factory.mktemp("attacked")
    with hostile_site.listening() as listener:
        with serving(Site(hostile_site.routes(listener.home))) as site:
            ended = crawl(folder, {"seeds": site.url, "topic": "heron river"}, OPEN)
        assert ended.status == 0, ended.err
        assert len(ended.items()) == len(hostile_site.TITLES) + 2
        listener.calls = 0  # a crawl may look where pages lead
        with dashboards.dashboard(folder / "output") as address:
            yield Attacked(address, folder / "output", listener)


@pytest.fixture
def page(chromium: Any, attacked: Attacked, problems: list[str]) -> Iterator[Any]:
    """A visitor's page; at its end nothing was wrong, nobody was called, and no script of a page ran."""
    with browser.watched(chromium, attacked.address, problems) as found:
        yield found
        assert found.evaluate("self.pwned") is None
    assert problems == []
    assert attacked.listener.calls == 0


def numbers(output: Path, table: str, most: int) -> list[int]:
    with closing(sqlite3.connect(output / "crawl.db")) as database:
        return [number for (number,) in database.execute(f"SELECT id FROM {table} ORDER BY id DESC LIMIT {most}")]


def addresses(output: Path, pattern: str) -> list[str]:
    """The addresses of a view that are there: of each page, and so on."""
    names = [name for name in NUMBERS if f"{{{name}}}" in pattern]
    if not names:
        return [pattern] if "{" not in pattern else []
    found = numbers(output, NUMBERS[names[0]], 20 if pattern == WHOLE else FEW)
    return [pattern.replace(f"{{{names[0]}}}", str(number)) for number in found]


def look(page: Any, address: str) -> None:
    """Go there, and do what a visitor does by chance."""
    home = browser.origin(page.url) if page.url.startswith("http") else ""
    response = page.goto(address)
    if response is None or response.status != 200 or "html" not in response.headers.get("content-type", ""):
        return
    for key in ("j", "j", "k", "Tab", "Tab"):
        page.keyboard.press(key)
    page.mouse.move(600, 400)
    page.mouse.wheel(0, 2_000)
    page.wait_for_timeout(SETTLED)
    here = browser.origin(page.url)
    assert home in ("", here)
    assert page.evaluate("location.pathname") == address.partition("?")[0]
    actions = page.eval_on_selector_all("form, [formaction]", "all => all.map(one => one.formAction || one.action)")
    assert [action for action in actions if browser.origin(action) != here] == []
    links = page.eval_on_selector_all("a[href], area[href]", "all => all.map(one => one.href)")
    assert [link for link in links if not link.startswith(("http://", "https://"))] == []
    assert (
        page.eval_on_selector_all(
            "base, meta[http-equiv]:not([http-equiv='Content-Security-Policy']), object, embed", "all => all.length"
        )
        == 0
    )
    for frame in page.frames[1:]:
        if not frame.url:  # it is loaded when it is seen; until then questions to it have no end
            continue
        assert browser.origin(frame.url) == here
        assert frame.locator("form, button, input, script, iframe, object, embed, base").count() == 0
        assert frame.locator("meta[http-equiv]:not([http-equiv='Content-Security-Policy'])").count() == 0
        assert frame.locator("a[href], [src], [srcset], [background], [style*=url]").count() == 0


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(view, marks=() if view in ("/", "/pages", "/sites") else pytest.mark.long)
        for view in sorted(VIEWS)
        if not view.endswith(NO_PAGES)
    ],
)
def test_nothing_of_theirs_happens(page: Any, attacked: Attacked, problems: list[str], pattern: str) -> None:
    for address in addresses(attacked.output, pattern):
        look(page, address)
        # What is not there, such as an image that was not kept, is an error that the browser tells as well.
        problems[:] = [one for one in problems if "Failed to load resource" not in one]


@pytest.mark.skipif("/pages" not in VIEWS, reason="There is no list of pages yet.")
def test_titles_are_shown_as_they_are_and_none_is_wider_than_the_page(page: Any) -> None:
    page.goto("/pages")
    shown = " ".join(page.inner_text("main").split())
    for name in SHOWN_PLAINLY:
        assert " ".join(hostile_site.TITLES[name].split())[:60] in shown, name
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto("/pages")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
