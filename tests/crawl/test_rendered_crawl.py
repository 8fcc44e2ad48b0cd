"""Crawls of applications: pages whose text only their scripts make."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import browser
import pytest
from applications import APPLICATIONS
from sites import OPEN, Crawl, Site, crawl, serving

# What stands in a page's own source is known in milliseconds, and these tests wait for nothing else.
QUICK: Mapping[str, Any] = OPEN | {"STATS_DUMP": "True"}


@pytest.fixture(autouse=True)
def _has_browser() -> None:
    if (why := browser.missing()) is not None:
        (pytest.fail if os.environ.get("WINNOW_REQUIRE_BROWSER") else pytest.skip)(why)


@contextmanager
def serving_all(sites: Mapping[str, Site]) -> Iterator[None]:
    with ExitStack() as served:
        for site in sites.values():
            served.enter_context(serving(site))
        yield


def texts(ended: Crawl, site: Site) -> dict[str, str]:
    assert ended.status == 0, ended.err
    return {item["url"].removeprefix(site.url[:-1]): item["text"] for item in ended.items()}


def test_the_text_of_applications_is_what_a_reader_sees(tmp_path: Path) -> None:
    sites = {name: Site(made.routes) for name, made in APPLICATIONS.items()}
    with serving_all(sites):
        seeds = ",".join(site.url for site in sites.values())
        ended = crawl(tmp_path, {"seeds": seeds, "images": "no", "listings": "yes"}, QUICK)
        assert ended.status == 0, ended.err
        found = {item["url"]: item for item in ended.items()}
        for name, made in APPLICATIONS.items():
            for path, gold in made.gold.items():
                assert found[sites[name].url[:-1] + path]["text"] == gold, name
