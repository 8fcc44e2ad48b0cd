"""The README's pictures of the dashboard: `python tests/dashboard/portraits.py [FOLDER]`, which is docs if not given.

A crawl of the demo site is looked at with the browser of the tests, after a few jobs were added and pages marked, and
each view is put down as one PNG, as long as its view is but no longer than HEIGHT.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

import browser  # noqa: E402
import nursery  # noqa: E402
import served  # noqa: E402
from sites import OPEN, crawl  # noqa: E402

WIDTH, HEIGHT = 1000, 640
SLOWED = OPEN | {"KEEP_RAW": "yes", "DOWNLOAD_DELAY": "0.2", "RANDOMIZE_DOWNLOAD_DELAY": "False"}
"""So that the charts have a course to show."""
JOBS = (("bees-daily", "0 3 * * *", "honey bees"), ("rail-weekly", "30 4 * * 1", "steam railways"))
SETTLED = 1_500.0  # milliseconds that charts may take to be drawn
MOST_BYTES = 60_000


def first(pattern: str) -> Callable[[Any], None]:
    """Goes to the first link of a view that leads on."""
    return lambda page: page.locator(f'main a[href*="{pattern}"]').first.click()


VIEWS: dict[str, tuple[str, Callable[[Any], None] | None]] = {
    "overview": ("/", None),
    "crawl": ("/crawls/1", None),
    "pages": ("/pages?q=honey", None),
    "page": ("/pages?q=honey", first("/pages/")),
    "images": ("/images", None),
    "labels": ("/labels", None),
    "label": ("/labels", first("/labels/pages/")),
    "schedule": ("/schedule", None),
    "evaluate": ("/evaluate", None),
}
"""Where each picture is taken, and what is done there before."""


def prepare(folder: Path) -> None:
    """A crawl with jobs."""
    ended = crawl(folder, {"seeds": "demo", "topic": "honey bees"}, SLOWED, timeout=300)
    assert ended.status == 0, ended.err
    for name, cron, topic in JOBS:
        words = ["add", name, cron, "topic", "-a", "seeds=demo", "-a", f"topic={topic}"]
        line = [sys.executable, "-m", "scrapy", "schedule", *words]
        added = nursery.run(line, folder, nursery.environment(), 60)
        assert added.returncode == 0, added.stderr


def mark(page: Any, most: int = 4) -> None:
    """Mark a few pictures, as a visitor does by a key."""
    page.goto("/images")
    for number in range(most):
        page.keyboard.press("j")
        page.keyboard.press("cn"[number % 2])
        page.wait_for_timeout(SETTLED / 3)


def take(page: Any, name: str, folder: Path) -> int:
    """One picture; its bytes."""
    address, step = VIEWS[name]
    page.goto(address)
    if step is not None:
        step(page)
    page.wait_for_load_state("load")
    page.wait_for_timeout(SETTLED)
    height = min(HEIGHT, page.evaluate("Math.ceil(document.body.getBoundingClientRect().bottom) + 8"))
    path = folder / f"dashboard-{name}.png"
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": WIDTH, "height": height}, animations="disabled")
    return path.stat().st_size


def main() -> None:
    """Take all pictures; the exit status is not 0 where the browser complained, or one is too large."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "docs"
    folder.mkdir(exist_ok=True)
    problems: list[str] = []
    with TemporaryDirectory(prefix="portraits-") as place:
        prepare(Path(place))
        how = {"viewport": {"width": WIDTH, "height": HEIGHT}, "color_scheme": "light", "timezone_id": "UTC"}
        with (
            served.dashboard(Path(place) / "output") as address,
            browser.browsing() as started,
            browser.watched(started, address, problems, **how) as page,
        ):
            mark(page)
            for name in VIEWS:
                size = take(page, name, folder)
                print(f"{folder}/dashboard-{name}.png: {size:,} bytes")
                if size > MOST_BYTES:
                    problems.append(f"dashboard-{name}.png has more than {MOST_BYTES:,} bytes")
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
