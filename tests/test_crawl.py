"""Whole crawls of small sites: what is fetched, what is kept, how it ends."""

from pathlib import Path

import pytest
from sites import OPEN, Site, crawl, page, serving


def test_each_page_is_fetched_once_and_makes_one_item(tmp_path: Path) -> None:
    links = {f"/{n}": f"page {n}" for n in range(60)}
    routes = {f"/{n}": page(f"This is page {n}.", links=links) for n in range(60)}
    with serving(Site({"/": page("Hello there.", links=links), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url})
    assert ended.status == 0
    assert sorted(site.paths(without="/robots.txt")) == sorted(["/", *routes])
    assert sorted(item["url"] for item in ended.items()) == sorted(site.url + path[1:] for path in ["/", *routes])


@pytest.mark.parametrize("wanted", [1, 7, 20])
def test_max_pages_is_exact(tmp_path: Path, wanted: int) -> None:
    links = {f"/{n}": f"page {n}" for n in range(30)} | {f"/gone/{n}": "gone" for n in range(10)}
    routes = {f"/{n}": page(f"This is page {n}.", links=links) for n in range(30)}
    with serving(Site({"/": page("Hello there.", links=links), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "max_pages": wanted}, OPEN)
    assert len(ended.items()) == wanted
    assert len([path for path in site.paths() if path in ["/", *routes]]) == wanted
