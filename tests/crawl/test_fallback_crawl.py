"""Whole crawls with a second extractor: pages in doubt have its text, and the crawl goes on while it works."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import refusal_of_crawl
from fallback_servers import TEXT, answering
from sites import OPEN, Crawl, Site, crawl, page, serving

from crawler.extraction.auto import DOUBT

WORDS = "Bees gather nectar from clover in the warm hours before noon, and guards wait at the hive"
EXTRACTOR = """
from crawler.page.page import Extraction


def first_block(page):
    if page.url.endswith("1"):
        raise ValueError("no model")
    return Extraction(page.blocks[0].text, "Mine", page.blocks[:1])
"""
DOUBTFUL = [f"/{number}" for number in range(4)]
SETTINGS = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "4", "STATS_DUMP": "True"}


def rows(path: str) -> str:
    inner = "".join(f"<div><a href=/>Hive {n}{path}</a> <span>{n} frames</span></div>" for n in range(12))
    return f"<!DOCTYPE html><html lang=en><title>Hives of yard {path[1:]}</title><body><div>{inner}</div>"


@pytest.fixture
def site() -> Iterator[Site]:
    front = page(f"{WORDS}.", links={path: f"Yard {path}" for path in DOUBTFUL})
    with serving(Site({"/": front} | {path: rows(path) for path in DOUBTFUL})) as served:
        yield served


def run(site: Site, folder: Path, fallback: str) -> Crawl:
    arguments = {"seeds": site.url, "listings": "yes", "images": "no"}
    return crawl(folder, arguments, SETTINGS | {"EXTRACTOR_FALLBACK": fallback})


def made_by(crawled: Crawl) -> dict[str, tuple[str, str]]:
    """The extractor and the first line of each page, by the end of its address."""
    return {item["url"][-2:]: (item["extractor"], item["text"].partition("\n")[0]) for item in crawled.items()}


def statistic(crawled: Crawl, name: str) -> int:
    found = re.search(rf"'extractor_fallback/{name}': (\d+)", crawled.err)
    return int(found[1]) if found else 0


def test_a_server_reads_several_pages_at_a_time(site: Site, tmp_path: Path) -> None:
    with answering(together=4) as server:
        address = f"{server.url}/text"
        crawled = run(site, tmp_path, address)
        items = made_by(crawled)
        assert {path: items.pop(path) for path in DOUBTFUL} == dict.fromkeys(DOUBTFUL, (address, TEXT))
        assert [extractor for extractor, _ in items.values()] == ["auto"]
        assert server.were_together
        assert len(server.asked) == len(DOUBTFUL)
    assert {item["extractor_version"].partition("+")[2] for item in crawled.items()} == {address}
    doubtful = [item["quality"]["certainty"] for item in crawled.items() if item["extractor"] == address]
    assert all(0 < certainty < DOUBT for certainty in doubtful)
    assert (statistic(crawled, "pages"), statistic(crawled, "failed")) == (4, 0)


def test_pages_keep_their_text_if_it_fails(site: Site, tmp_path: Path) -> None:
    with answering() as server:
        crawled = run(site, tmp_path, f"{server.url}/status")
    assert crawled.status == 0
    assert {extractor for extractor, _ in made_by(crawled).values()} == {"auto"}
    assert {text[:4] for path, (_, text) in made_by(crawled).items() if path in DOUBTFUL} == {"Hive"}
    assert (statistic(crawled, "pages"), statistic(crawled, "failed")) == (0, 4)


def test_a_function_is_called(site: Site, tmp_path: Path) -> None:
    (tmp_path / "my_extractors.py").write_text(EXTRACTOR, encoding="utf-8")
    crawled = run(site, tmp_path, "my_extractors.first_block")
    items = made_by(crawled)
    assert items["/0"] == ("my_extractors.first_block", "Hive 0/0 0 frames")
    assert items["/1"][0] == "auto"
    assert (statistic(crawled, "pages"), statistic(crawled, "failed")) == (3, 1)
    assert re.search(" 3 of 4 pages", crawled.closing())


def test_a_wrong_setting_ends_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for fallback in ("nothing.there", "crawler.settings.BOT_NAME", "http://10.0.0.1/", "x"):
        refusal_of_crawl(capsys, {"seeds": "http://127.0.0.1:1/"}, OPEN | {"EXTRACTOR_FALLBACK": fallback})
    assert list(tmp_path.iterdir()) == []
