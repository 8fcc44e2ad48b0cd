"""The documentation's images of the dashboard: `python tests/support/screenshots.py [FOLDER]`, else into docs/images.

A crawl of the demo site is looked at with the browser of the tests, after a few jobs were added and images marked,
and each view is put down as one PNG of few colours, as long as its view is but no longer than its window.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

import browser  # noqa: E402
import dashboards  # noqa: E402
import fork_server  # noqa: E402
import palette_png  # noqa: E402
from sites import OPEN, crawl  # noqa: E402
from sqlalchemy import select  # noqa: E402
from sqlalchemy.engine import URL  # noqa: E402

from crawler.store.page_tables import page as pages  # noqa: E402
from crawler.store.read_only import reading  # noqa: E402

WIDTH, HEIGHT, SCALE = 1200, 800, 0.8
SLOWED = OPEN | {"DOWNLOAD_DELAY": "0.3", "RANDOMIZE_DOWNLOAD_DELAY": "False"}
"""So that the charts have a course to show."""
JOBS = (("bees-daily", "0 3 * * *", "honey bees"), ("rail-weekly", "30 4 * * 1", "steam railways"))
SETTLED = 2_000.0  # milliseconds that charts may take to be drawn
COUNTED = "!document.body.innerText.includes('Counting;')"
MOST_BYTES = 60_000
VIEWS = {
    "crawl": "/crawls/1",
    "corpus": "/crawls/1/corpus/quality",
    "pages": "/pages?q=honey",
    "page": "/pages/{page}#rights",
    "blocks": "/pages/{page}/blocks",
    "images": "/images",
    "label": "/labels/pages/{page}",
    "schedule": "/schedule",
    "evaluate": "/evaluate",
}
"""Where each image is taken; {page} is the number of a page that is long and on the topic."""
CHINESE_VIEWS = {"crawl.zh": "/crawls/1"}


def prepare(folder: Path) -> int:
    """A crawl with jobs; the number of a page that shows well."""
    ended = crawl(folder, {"seeds": "demo", "topic": "honey bees"}, SLOWED, timeout=300)
    assert ended.status == 0, ended.err
    for name, cron, topic in JOBS:
        words = ["add", name, cron, "topic", "-a", "seeds=demo", "-a", f"topic={topic}"]
        line = [sys.executable, "-m", "scrapy", "schedule", *words]
        added = fork_server.run(line, folder, fork_server.environment(), 60)
        assert added.returncode == 0, added.stderr
    with reading(URL.create("sqlite", database=str(folder / "output" / "crawl.db"))) as connection:
        best = (
            select(pages.c.id)
            .where(pages.c.page_type == "article")
            .order_by(pages.c.relevance.desc(), pages.c.id)
            .limit(1)
        )
        return int(connection.execute(best).scalar_one())


def mark(page: Any, most: int = 4) -> None:
    """Mark a few images, as a visitor does by a key."""
    page.goto("/images")
    for number in range(most):
        page.keyboard.press("j")
        page.keyboard.press("cn"[number % 2])
        page.wait_for_timeout(SETTLED / 4)


def take(page: Any, blank: Any, address: str, path: Path) -> int:
    """One image; its bytes."""
    answer = page.goto(address)
    assert answer.ok, f"{address}: {answer.status}"
    page.wait_for_load_state("load")
    browser.until(page, COUNTED)
    page.wait_for_timeout(SETTLED)
    height = min(HEIGHT, page.evaluate("Math.ceil(document.body.getBoundingClientRect().bottom) + 8"))
    taken = page.screenshot(clip={"x": 0, "y": 0, "width": WIDTH, "height": height}, animations="disabled")
    path.write_bytes(palette_png.smaller(blank, taken))
    return path.stat().st_size


def main() -> None:
    """Take all images; the exit status is not 0 where the browser complained, or one is not there or too large."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "docs" / "images"
    folder.mkdir(exist_ok=True)
    problems: list[str] = []
    with TemporaryDirectory(prefix="portraits-") as place:
        number = prepare(Path(place))
        how = {
            "viewport": {"width": WIDTH, "height": HEIGHT},
            "device_scale_factor": SCALE,
            "color_scheme": "light",
            "timezone_id": "UTC",
        }
        with dashboards.dashboard(Path(place) / "output") as address, browser.browsing() as started:
            blank = started.new_page()
            for language, views in (("en-GB", VIEWS), ("zh-CN", CHINESE_VIEWS)):
                with browser.watched(started, address, problems, locale=language, **how) as page:
                    if views is VIEWS:
                        mark(page)
                    for name, there in views.items():
                        path = folder / f"dashboard-{name}.png"
                        try:
                            size = take(page, blank, there.format(page=number), path)
                        except AssertionError as error:  # the others are taken nonetheless
                            problems.append(str(error))
                            continue
                        print(f"{path}: {size:,} bytes")
                        if size > MOST_BYTES:
                            problems.append(f"{path.name} has more than {MOST_BYTES:,} bytes")
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
