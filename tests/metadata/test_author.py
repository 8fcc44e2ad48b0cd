import time

import pytest

from crawler.extraction.auto import auto
from crawler.metadata.author import MAX_BYLINE, MAX_LINES, MAX_NAME, author, author_candidates
from crawler.page.page import Page

URL = "https://www.valleypost.example/bees"
LD = '<script type="application/ld+json">{"@type": "Article", "headline": "Bees", "author": %s}</script>'
TEXT = (
    "<p>Bees dance in the dark of the hive to tell the others the way to the flowers, and the longer the better.</p>"
    * 6
)


def found_in(html: str) -> dict[str, set[str]]:
    """The names on a page, each with its signs."""
    page = Page.from_html(html, URL)
    return {name: set(signs) for name, signs in author_candidates(page, auto(page)).signs.items()}


def of_article(head: str = "", byline: str = "", end: str = "") -> str:
    """The author of an article with something in its head, under its headline and after its text."""
    page = Page.from_html(
        f"<html lang=en><head><title>How bees dance - Valley Post</title>{head}</head><body><a href=/>Home</a>"
        f"<article><h1>How bees dance</h1>{byline}{TEXT}</article>{end}<footer>Valley Post</footer></body></html>",
        URL,
    )
    return author(page, auto(page))


def test_names_in_json_ld() -> None:
    rows = [
        ('"Ann Lee"', "Ann Lee"),
        ('[{"name": "Ann Lee"}, {"name": "Bo"}, {"name": "Ann Lee"}]', "Ann Lee; Bo"),
        ('"By Ann Lee and Bo Ray, Reporter"', "Ann Lee; Bo Ray"),
        ('"Ann Lee, Ph.D."', "Ann Lee, Ph.D."),
        ('"Lee, Ann"', "Lee, Ann"),
        ('"李明、王芳"', "李明; 王芳"),
        (f'"{"a" * MAX_NAME}"', "a" * MAX_NAME),
    ]
    for value, expected in rows:
        assert "JSON-LD" in found_in(LD % value)[expected]


def test_no_name_in_json_ld() -> None:
    rows = ['"https://example.org/ann"', '"ann@example.org"', '"河边日报社"', '"7"', f'"{"a" * (MAX_NAME + 1)}"']
    for value in rows:
        assert found_in(LD % value) == {}


def test_signs() -> None:
    rows = [
        ("<meta name=author content='Ann Lee'>", "Ann Lee", {"meta, author", "names of people"}),
        ("<meta property=article:author content='Ann Lee'>", "Ann Lee", {"another meta"}),
        (
            "<meta name=twitter:label1 content='Written by'><meta name=twitter:data1 content='Ann Lee'>",
            *("Ann Lee", {"another meta"}),
        ),
        ("<meta name=author content='Valley Post'>", "Valley Post", {"the site's name"}),
        ("<meta name=author content=admin>", "admin", {"nobody", "one word", "small letters"}),
        ("<meta name=author content='Staff Writer'>", "Staff Writer", {"a role"}),
        ("<a href=/author/ann>Ann Lee</a>", "Ann Lee", {"marked as the author", "first marked as the author"}),
        ("<a href=https://post.example/authors/ann.html?a=1>Ann Lee</a>", "Ann Lee", {"marked as the author"}),
        ("<article><p>Bees</p><address>By Ann Lee</address></article>", "Ann Lee", {"marked as the author"}),
        ("<a rel=author href=/a>Ann Lee</a>", "Ann Lee", {"marked as the author", "first marked as the author"}),
        ("<span itemprop=author><span itemprop=name>Ann Lee</span></span>", "Ann Lee", {"marked as the author"}),
        ("<p class=byline>By <a>Ann Lee</a> and <a>Bo Ray</a>, Editor", "Ann Lee; Bo Ray", {"named as the author"}),
        ("<div class='article-byline'>Von Ann Lee | 4. März 2012</div>", "Ann Lee", {"named as the author"}),
        ("<span class=username>ann_7</span>", "ann_7", {"named as a user", "digits"}),
        ("<p class=author>przez <a>Ann Lee</a>", "Ann Lee", {"named as the author"}),
        ("<footer><p class=author>Ann Lee</footer>", "Ann Lee", {"named as the author elsewhere"}),
        ("<title>Bees dance</title><h1>Bees dance</h1><p>By Ann Lee", "Ann Lee", {"by, up to 1 lines after"}),
        ("<p>Posted in Bees by Ann Lee on Monday", "Ann Lee", {"by in a line"}),
        ("<p>Author: Ann Lee | 4 March", "Ann Lee", {"label"}),
        ("<p>By ann_7", "ann_7", {"line begins with by", "small letters"}),
        ("<p>Author: hiver", "hiver", {"label"}),
        ("<p>Posted by hiver on 6 May 2024", "hiver", {"label"}),
        ("<p>By Ludwig van Beethoven", "Ludwig van Beethoven", {"line begins with by"}),
        ("<p>Opened by Ann Lee. She counted its bees.", "Ann Lee", {"by in a line"}),
        ("<p>Written by Dr. Ann Lee. She keeps bees.", "Dr. Ann Lee", {"label"}),
        ("<p>来源：河边日报 作者：李明", "李明", {"label"}),
        ("<p>文/李明", "李明", {"label"}),
        ("<p>本报记者 李明 王芳", "李明; 王芳", {"label", "several names"}),
        ("<p>新华社北京3月4日电（记者李明、王芳）公园今起开放。", "李明; 王芳", {"label"}),
        (
            "<title>Bees dance</title><h1>Bees dance</h1><p>Ann Lee",
            "Ann Lee",
            {"a line by itself, up to 1 lines after"},
        ),
        (
            "<title>Bees dance</title><h1>Bees dance</h1><p>Ann Lee · 6 May 2024",
            "Ann Lee",
            {"by, up to 1 lines after"},
        ),
        (
            "<title>蜜蜂</title><h1>蜜蜂</h1><p>2024-05-06 | 李明",
            "李明",
            {"by, up to 1 lines after"},
        ),
    ]
    for html, name, signs in rows:
        assert signs <= found_in(html)[name]


def test_no_name() -> None:
    rows = [
        "<meta name=twitter:creator content=@ann>",
        "<p>记者从市政府获悉，公园今起开放。",
        "<p>来源：新华社",
        f"<p class=author><b>Ann Lee</b> {'a' * MAX_BYLINE}</p>",
        "<p>Ann Lee keeps bees.",
        "<a href=/author/>Ann Lee</a>",
        "<a href=/coauthor/ann>Ann Lee</a>",
        "<article><address>Ann Lee</address></article>",
        "<title>Bees dance</title><h1>Bees dance</h1><p>Ann Lee · 6 May 2024 · Hives",
        "<title>Bees dance</title><h1>Bees dance</h1><p>Ann Lee · Hives",
        "<div class=list-sort-by><b>Ann Lee</b></div>",
        "<p>It is cited by most modern authors from the finches to the bees of the valley.",
        "<p>They were driven by hunger.",
        "<p>Written by hand and sent by post",
        f"<p>The hive was opened by Ann Lee. She counted its bees, {'and counted them again ' * 5}",
    ]
    for html in rows:
        assert found_in(html) == {}


def test_author_of_an_article() -> None:
    rows = [
        ({"head": LD % '"Ann Lee"'}, "Ann Lee"),
        ({"head": "<meta name=author content='Ann Lee'>"}, "Ann Lee"),
        ({"byline": "<p class=byline>By <a href=/ann>Ann Lee</a> and <a href=/bo>Bo Ray</a></p>"}, "Ann Lee; Bo Ray"),
        ({"byline": "<p>By Ann Lee</p>"}, "Ann Lee"),
        ({"byline": "<p class=author>By admin</p>", "head": "<meta name=author content=admin>"}, "admin"),
        ({"byline": "<p>作者：李明</p>"}, "李明"),
        ({"byline": "<p><a href=/>Post</a> | <a href=/author/ann>Ann Lee</a> | 6 May 2024</p>"}, "Ann Lee"),
        ({"byline": "<p>Ann Lee · 2024-05-06</p>"}, "Ann Lee"),
        ({"byline": "<address>By <a href=/a>Ann Lee</a></address>"}, "Ann Lee"),
        (
            {
                "head": "<meta name=author content='Ann Lee'>",
                "end": "<p>This is cited by most modern authors from the finches to the bees.</p>",
            },
            "Ann Lee",
        ),
        ({"end": "<div class=comments><p class=author>Ann Lee</p><p>Well said!</p></div>"}, ""),
        ({"end": "<div class=related><h2>More</h2><p>By Ann Lee</p><p>By Bo Ray</p></div>"}, ""),
        ({}, ""),
    ]
    for article, expected in rows:
        assert of_article(**article) == expected


@pytest.mark.parametrize(("path", "expected"), [("bees", True), ("", False)])
def test_links_to_authors_on_a_front_page_are_of_what_it_lists(path: str, expected: bool) -> None:
    page = Page.from_html("<p>Bees by <a href=/author/ann>Ann Lee</a>", f"https://post.example/{path}")
    signs = author_candidates(page, auto(page)).signs["Ann Lee"]
    assert ("marked as the author" in signs) == expected


@pytest.mark.parametrize(
    ("filler", "limit", "name"),
    [("<p>a", MAX_LINES, "<p>作者：李明")],
)
def test_limits(filler: str, limit: int, name: str) -> None:
    assert found_in(filler * (limit - 1) + name)
    assert not found_in(filler * limit + name)


def test_hostile_pages_cost_little() -> None:
    rows = [
        "<p class=author>" * 1_000 + "Ann Lee " * 500_000,
        "<b class=author>" + "<i>a</i>" * 200_000,
        "<a rel=author>Ann Lee</a>" * 100_000,
        "<div>" * 2_000 + "<b class=author>x</b>" * 50_000,
        "<h1>a</h1>" + "<p>By Ann Lee and Bo Ray" * 50_000,
        "<p>" + "作者：" * 1_000_000,
        f"<b class='{'author-' * 500_000}'>x</b>",
        "<meta name=author content='" + "Ann Lee, " * 500_000 + "'>",
    ]
    for html in rows:
        page = Page.from_html(html)
        found = auto(page)
        started = time.process_time()
        assert isinstance(author(page, found), str)
        assert time.process_time() - started < 0.3  # measured at most 0.05


POSTED = """<footer class="entry-footer"><div class="posted-by"><span>Published <time datetime="2015-02-19">19 February
2015</time></span> <span class="byline">By <a href="/author/7/" rel="author">%s</a></span></div></footer>"""


@pytest.mark.parametrize("name", ["Ann Lee", "ann", "admin"])
def test_the_footer_of_an_article_names_its_author(name: str) -> None:
    """Whatever name an author has there, as blogs show it under each post."""
    page = Page.from_html(
        f"<title>How bees dance</title><main><article><h1>How bees dance</h1>{TEXT}{POSTED % name}</article></main>",
        URL,
    )
    assert author(page, auto(page)) == name
