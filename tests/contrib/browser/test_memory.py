"""Pages that fill memory outside their own process: they end the browser, and cost themselves alone."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flood_pages import FLOODS, STORES, peak_of_memory
from process_tree import left_after
from rendered_pages import HTML, URL, Rendering, first_browser_process, rendering_in_browser

from crawler.contrib.browser.page_load import PageSource, RenderError
from crawler.contrib.browser.processes import own_child_above, process_tree
from crawler.spiders.document_and_browser_interfaces import RenderFault

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="memory is read in Linux's /proc")

LIMIT = 400 * 1024 * 1024
MOST_PEAK = 4 * LIMIT
"""What is reached before the next look, on a slow machine, too."""
ORDINARY = "<script>let at = 0; setInterval(() => at++ < 20 && document.body.append(at == 20 ? 'whole' : '.'), 100)"
QUICK = "bodies of requests"


def page(script: str) -> PageSource:
    return PageSource(URL, f"<body><p>x</p><script>{script}</script>".encode(), HTML)


@pytest.fixture(scope="module")
def opened() -> Iterator[Rendering]:
    with rendering_in_browser() as rendering, pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.contrib.browser.chromium.MOST_BYTES_OF_ALL", LIMIT)
        yield rendering


async def fault_and_peak(rendering: Rendering, script: str) -> tuple[RenderFault | None, int]:
    async with peak_of_memory() as peak:
        try:
            await rendering.renderer(seconds=15.0).render(page(script))
        except RenderError as error:
            return error.fault, peak.size
    return None, peak.size


@pytest.mark.parametrize(
    "name", [name if name == QUICK else pytest.param(name, marks=pytest.mark.long) for name in FLOODS]
)
def test_a_flood_ends_the_browser_and_the_next_page_is_rendered(opened: Rendering, name: str) -> None:
    opened.render("<body>before")
    before = process_tree(own_child_above(first_browser_process()))
    fault, peak = opened.do(fault_and_peak(opened, FLOODS[name]))
    assert fault is RenderFault.CRASHED
    assert peak < MOST_PEAK
    assert "after" in opened.render("<body><script>document.body.append('after')</script>")
    opened.do(opened.chromium.close())
    assert left_after(before) == set()


@pytest.mark.parametrize("name", STORES)
def test_what_a_page_stores_is_limited(opened: Rendering, name: str) -> None:
    source = replace(page(STORES[name]), url="https://a.example/")  # which alone may store files
    assert "QuotaExceededError" in opened.do(opened.renderer().render(source))


def test_the_pages_beside_a_flood_are_rendered_once_more(opened: Rendering) -> None:
    async def beside() -> list[str | BaseException]:
        renderer = opened.renderer(seconds=15.0)
        sources = [page(FLOODS["blobs"]), *[PageSource(URL, f"<body>{ORDINARY}</script>".encode(), HTML)] * 3]
        return await asyncio.gather(*map(renderer.render, sources), return_exceptions=True)

    flood, *ordinary = opened.do(beside())
    assert isinstance(flood, RenderError)
    assert flood.fault is RenderFault.CRASHED
    assert ["whole" in str(html) for html in ordinary] == [True] * 3
