"""What the pages of a site have in common is learned while it is crawled, and known to the runs after."""

from pathlib import Path

import pytest
from sites import OPEN, Site, crawl, page, serving

from crawler.extraction.methods.template import N1

ONE_BY_ONE = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
MENU = "All the news of this valley and the next."
PAGES = 3 * N1


def routes() -> dict[str, str]:
    # Stories that are not near each other: a few different letters would make a template of the rest.
    letters = [chr(97 + n // 6) + chr(107 + n % 6) for n in range(PAGES)]
    words = [" ".join(two * times for times in range(2, 18)) for two in letters]
    own = {f"/{n}": f"Story {letters[n] * 20}. {words[n]} is how it ends." for n in range(PAGES)}
    links = {path: f"story {path}" for path in own}
    # Longer than the menu: `auto` keeps common text that is most of a page's text.
    welcome = "Welcome to the front page, reader, which tells at some length what the stories behind it are about."
    return {"/": page(welcome, MENU, links=links)} | {path: page(text, MENU) for path, text in own.items()}


@pytest.mark.parametrize("extractor", ["template", "auto"])
@pytest.mark.parametrize("again", [{}, pytest.param({"fresh": "yes"}, marks=pytest.mark.long)])
def test_a_site_s_menu_is_learned_and_remembered(tmp_path: Path, again: dict[str, str], extractor: str) -> None:
    with serving(Site(routes())) as site:
        given = {"seeds": site.url, "extractor": extractor, "max_pages": N1 + 5}
        first = crawl(tmp_path, given, ONE_BY_ONE | {"STATS_DUMP": "True"})
        assert [MENU in item["text"] for item in first.items()] == [True] * N1 + [False] * 5
        assert "'template/learned': 1" in first.err
        assert extractor == "auto" or all("reader" in one["text"] or "Story" in one["text"] for one in first.items())
        second = crawl(tmp_path, given | {"max_pages": PAGES} | again, ONE_BY_ONE)
    menus = [MENU in item["text"] for item in second.items()]
    assert menus == ([False] * PAGES if again else [True] * N1 + [False] * (PAGES - N1))
    assert (first.status, second.status) == (0, 0)


def test_a_page_is_cleaned_before_it_teaches(tmp_path: Path) -> None:
    """Also where nothing but the item wants its text: of these pages no links are followed."""
    with serving(Site(routes())) as site:
        seeds = ",".join(f"{site.url}{n}" for n in range(N1 + 2))
        given = {"seeds": seeds, "extractor": "template", "max_depth": 0, "topic": "a story"}
        ended = crawl(tmp_path, given, ONE_BY_ONE)
    assert [MENU in item["text"] for item in ended.items()] == [True] * N1 + [False] * 2


def test_nothing_is_learned_without_a_method_that_does(tmp_path: Path) -> None:
    with serving(Site(routes())) as site:
        settings = ONE_BY_ONE | {"STATS_DUMP": "True"}
        ended = crawl(tmp_path, {"seeds": site.url, "extractor": "leaf-tags", "max_pages": N1 + 5}, settings)
    assert all(MENU in item["text"] for item in ended.items())
    assert "template/" not in ended.err
