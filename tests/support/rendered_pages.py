"""Pages rendered in a real browser, with parts from a table."""

import asyncio
import os
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import browser
import missing
import pytest

from crawler.contrib.browser import page_load
from crawler.contrib.browser.chromium import HEAP_MB, Chromium
from crawler.contrib.browser.page_load import PageSource, Renderer, RenderOptions
from crawler.contrib.browser.parts import PagePart, PartAnswer, PartCache
from crawler.contrib.browser.processes import process_tree

T = TypeVar("T")
HTML = "text/html; charset=utf-8"
URL = "http://a.example/"
ARTICLE = {"content-type": "application/json", "set-cookie": "seen=1"}


class Rendering:
    """Renders pages in one browser, with parts that are given."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.chromium = Chromium("Winnow/0.1")
        self.asked: list[PagePart] = []
        self.answers = {
            f"{URL}a": PartAnswer(200, ARTICLE, b"x"),
            f"{URL}data.json": PartAnswer(200, ARTICLE, '{"text": "Bees & <b>蜜蜂</b>"}'.encode()),
        }

    async def fetch(self, part: PagePart) -> PartAnswer | None:
        self.asked.append(part)
        if "never" in part.url:
            await asyncio.sleep(60)
        return self.answers.get(f"OPTIONS {part.url}" if part.method == "OPTIONS" else part.url)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(work, 60))

    def close(self) -> None:
        """End the browser; nothing but parts that never come may be waited for."""
        self.do(self.chromium.close())
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.do(asyncio.wait(left))
        self.loop.close()
        assert [task for task in left if "PartCache" not in repr(task) and "FileCache" not in repr(task)] == []

    def renderer(self, **options: Any) -> Renderer:
        return Renderer(self.chromium, PartCache(self.fetch), RenderOptions(**{"seconds": 10.0} | options))

    def together(self, sources: Mapping[str, PageSource]) -> dict[str, str]:
        """Several pages, four at a time."""

        async def one(source: PageSource) -> str:
            async with tabs:
                return await self.renderer().render(source)

        async def every() -> list[str]:
            return await asyncio.gather(*map(one, sources.values()))

        tabs = asyncio.Semaphore(4)
        return dict(zip(sources, self.do(every()), strict=True))

    def render(self, html: str, **options: Any) -> str:
        return self.do(self.renderer(**options).render(PageSource(URL, html.encode(), HTML)))


def first_browser_process() -> int:
    """The first process of the browser that a test has started, in which all others of it began."""
    for process in process_tree(os.getpid()):
        if f"--max-old-space-size={HEAP_MB}" in Path(f"/proc/{process}/cmdline").read_text("utf-8", "replace"):
            return process
    raise RuntimeError("no browser runs")


@contextmanager
def rendering_in_browser() -> Iterator[Rendering]:
    """A browser for several tests, which are skipped if there is none."""
    missing.skip(browser.missing())
    rendering = Rendering()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_load, "GRACE_SECONDS", 1.0)
        patch.setattr(page_load, "STABLE_SECONDS", 0.3)
        yield rendering
    rendering.close()
