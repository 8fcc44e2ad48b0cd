"""Which links of a page are new, which known, and in what words."""

from collections.abc import Callable

import pytest

from crawler.extraction import EXTRACTORS
from crawler.frontier.batch import BatchReply
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.frontier.page_result import Candidate, FoundBy, Lease, PageResult
from crawler.frontier.scope import Scope
from crawler.page.page import MAX_NEAR_TEXT, Page
from crawler.spiders.crawl_status import OutcomeCounts
from crawler.spiders.links_and_images import LinkSelector, PageImages, SelectedLinks
from crawler.store.batch.addresses import AddressKeys
from crawler.topic.link_table import MOST_LINK_TEXT, LinkContext
from crawler.topic.priorities import BEHIND_IMAGE
from crawler.urls.canonical import Canonical

URL = "http://a.example/"
Find = Callable[[str], SelectedLinks]


@pytest.fixture
def find() -> Find:
    """What finds the leads of a page's source; /known is known to the crawl."""
    frontier = Frontier(AddressKeys(1, Canonical(())), LimitSettings())
    frontier.apply_reply(BatchReply([Lease(1, Candidate(URL), 1, 1)]), 0.0)
    frontier.take(0.0)
    frontier.finish(1, PageResult(links=(Candidate(f"{URL}known"),)))
    scope = Scope(avoid=("b.a.example",))
    scope.add_home(URL)
    images = PageImages(EXTRACTORS["leaf-tags"], True, False, 1_000)
    links = LinkSelector(scope, images, OutcomeCounts(lambda name, by: None), frontier, ("en", "zh"))
    return lambda html: links.of(Page.from_html(html, URL), 3)


def link(path: str, words: str = "Words", more: str = "") -> str:
    return f'<p><a href="{path}" {more}>{words}</a></p>'


@pytest.mark.parametrize(
    ("html", "new", "again", "image_links"),
    [
        ("", "", "", ""),
        (link("/a") + link("/b"), "/a /b", "", ""),
        (link("/a") + link("/b") + link("/a"), "/a /b", "", ""),
        (link("/known") + link("/a") + link("/known"), "/a", "/known", ""),
        (link("/a", more="rel=nofollow"), "", "", ""),
        (link("/known", more="rel=nofollow"), "", "/known", ""),
        (link("http://b.example/") + link("http://b.a.example/") + link("/x.pdf"), "", "", ""),
        (link("/a", "<img src=i.gif>"), "", "", "/a"),
        (link("/known", "<img src=i.gif>"), "", "", ""),
        (link("/large.jpg", "<img src=i.gif>"), "", "", ""),
        (link("/a", "<img src=i.gif>") + link("/a"), "/a", "", "/a"),
        (link("/a", "<img src=i.gif>Words"), "/a", "", ""),
    ],
)
def test_which_are_new(find: Find, html: str, new: str, again: str, image_links: str) -> None:
    found = find(html)
    assert found.new == tuple(Candidate(URL + path[1:], 0, 3, URL, labels='"words"') for path in new.split())
    assert [lead.url for lead in found.new_contexts] == [candidate.url for candidate in found.new]
    assert [lead.url for lead in found.known_contexts] == [URL + path[1:] for path in again.split()]
    assert found.image_links == tuple(
        Candidate(URL + path[1:], BEHIND_IMAGE, 3, URL, via=FoundBy.IMAGE) for path in image_links.split()
    )


@pytest.mark.parametrize(
    ("html", "anchor", "near"),
    [
        (link("/a", "Bees"), "Bees", "Bees"),
        (link("/a", "Bees", "title='All of them'"), "Bees All of them", "Bees"),
        (link("/a", "Bees", "title=Bees"), "Bees", "Bees"),
        (link("/a", "<img src=i.gif alt=Hive>Bees"), "Bees Hive", "Bees"),
        ('<p>Read <a href="/a">more</a> of hives.</p>', "more", "Read more of hives."),
        (link("/a", "Bees") + link("/b") + '<p>Then <a href="/a">more</a>.</p>', "Bees more", "Bees"),
        (link("/a", "x" * 1_000), "x" * MOST_LINK_TEXT, "x" * MAX_NEAR_TEXT),
    ],
)
def test_the_words_of_a_link(find: Find, html: str, anchor: str, near: str) -> None:
    assert find(html).new_contexts[0] == LinkContext(f"{URL}a", anchor, near=near)
    again = find(html.replace('"/a"', '"/known"')).known_contexts
    assert again[0] == LinkContext(f"{URL}known", anchor)


def test_a_page_of_ten_thousand_links(find: Find) -> None:
    found = find("".join(link(f"/{n % 7_000}") for n in range(10_000)))
    assert len(found.new) == len(found.new_contexts) == 7_000


def other(tag: str, path: str, more: str = "") -> str:
    return f"<link rel=alternate hreflang={tag} href={path} {more}>"


@pytest.mark.parametrize(
    ("head", "new"),
    [
        (other("zh-CN", "/zh"), "/zh"),
        (other("zh-CN", "/zh") + other("zh-TW", "/tw") + other("de", "/de") + other("x-default", "/"), "/zh"),
        (other("en-GB", "/gb") + other("zh", "/zh"), "/zh"),
        (other("zh", "/zh", "media=print"), ""),
        (other("zh", "/known"), ""),
        (other("zh", "http://b.example/"), ""),
        ("<link rel='next' href='/page/2'>", "/page/2"),
        ("<link rel='prev next' href='/page/2'>" + other("zh", "/zh"), "/zh /page/2"),
        ("<link rel=amphtml href=/amp><link rel=alternate type=application/rss+xml href=/feed>", ""),
    ],
)
def test_the_head_names_other_languages_and_the_next_part(find: Find, head: str, new: str) -> None:
    found = find(f"<html lang=en-US><head><title>Bees in May</title>{head}</head><body><p>Bees.</p></body></html>")
    assert [candidate.url for candidate in found.new] == [URL + path[1:] for path in new.split()]
    assert {lead.anchor for lead in found.new_contexts} <= {"Bees in May"}


@pytest.mark.parametrize(
    ("page_limit", "site_limit", "expected", "beyond"),
    [(4, 7, [3, 3, 1, 0], 0), (3, None, [3, 3, 3, 3], 0), (2, 3, [2, 1, 0, 0], 1), (0, 0, [0, 0, 0, 0], 3)],
)
def test_images_of_a_page_and_of_a_site_are_limited(
    page_limit: int, site_limit: int | None, expected: list[int], beyond: int
) -> None:
    images = PageImages(EXTRACTORS["leaf-tags"], True, False, 1_000, page_limit, site_limit)

    def requested(url: str) -> int:
        page = Page.from_html("".join(f"<img src='{name}.png'>" for name in "xyz"), url)
        assert images.cut_count(page) == beyond
        return len(images.within_site_limit(images.candidates(page, 0, lambda urls, kind: ()), page))

    assert [requested(f"{URL}{number}/") for number in range(4)] == expected
    assert requested("http://another.example/") == expected[0]
