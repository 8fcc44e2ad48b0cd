import time
from dataclasses import replace

import pytest

from crawler.extraction.auto import auto
from crawler.metadata.address_date import MAX_URL
from crawler.metadata.publication_date import (
    MAX_ATTRIBUTES,
    MAX_BLOCKS,
    MAX_MENTIONS,
    MAX_TEXT,
    PublicationDate,
    date_candidates,
    publication_date,
)
from crawler.page.head import MAX_ELEMENTS, MAX_JSON, MAX_SCRIPTS, MAX_TIMES
from crawler.page.page import Page

URL = "https://example.org/bees"
TEXT = (
    "<p>Bees dance in the dark of the hive to tell the others the way to the flowers, and the longer the better.</p>"
    * 6
)


def found_in(html: str, url: str = URL) -> dict[str, set[str]]:
    """The days of a page, each with its signs."""
    page = Page.from_html(html, url)
    return {day: set(signs) for day, signs in date_candidates(page, auto(page)).signs.items()}


def of_article(head: str = "", byline: str = "", footer: str = "", url: str = URL) -> str | None:
    """The date of an article with something in its head, under its headline and in its footer."""
    page = Page.from_html(
        f"<html lang=en><head><title>How bees dance - The Hive</title>{head}</head><body><nav><a href=/>Home</a></nav>"
        f"<article><h1>How bees dance</h1>{byline}{TEXT}</article><footer>The Hive{footer}</footer></body></html>",
        url,
    )
    return publication_date(page, auto(page)).moment


def json_ld(data: str) -> str:
    return f'<script type="application/ld+json">{data}</script>'


SUMMARY = "<p>How bees tell the others in the dark of the hive where the flowers are, and what we learned of it.</p>"
SCRIPT = "<script>var x = {'published_at': '2024-05-06T10:15:00', 'text': ''}</script>"
ARTICLE = '{"@type": "NewsArticle", "datePublished": "2024-05-06T10:15:00+02:00"}'


def test_signs() -> None:
    rows = [
        (json_ld(ARTICLE), {"JSON-LD of an article"}),
        (json_ld('{"@type": "WebPage", "datePublished": "2024-05-06"}'), {"JSON-LD"}),
        (json_ld('{"@type": "WebPage", "pubDate": "2024-05-06T10:15:00"}'), {"JSON-LD"}),
        (json_ld('[{"datePublished": "2001-02-03"}, {"datePublished": "2024-05-06"}]'), {"later in JSON-LD"}),
        ('<meta property="article:published_time" content="2024-05-06T10:15:00Z">', {"meta, published"}),
        ('<meta name="DC.Date.Issued" content="2024-05-06">', {"meta, published"}),
        ('<meta name="w-published-at" content="2024-05-06">', {"meta, published"}),
        ('<meta name="apub:time" content="2024-5-6 21:30:50">', {"meta, published"}),
        ('<meta name="citation_publication_date" content="2024/05/06">', {"meta, date"}),
        ('<meta http-equiv="Date" content="Mon, 06 May 2024 10:15:00 GMT">', {"meta, date"}),
        ('<meta property="article:modified_time" content="2024-05-06">', {"meta, changed"}),
        ('<time datetime="2024-05-06">6 May</time>', {"time", "first time", "only time"}),
        (
            '<main><time itemprop="datePublished" datetime="2024-05-06"></time>',
            {"time in an article", "time, published"},
        ),
        ('<aside><time class="updated" datetime="2024-05-06"></time>', {"time elsewhere", "time, changed"}),
        ("<aside>Updated <b>on</b> <time datetime=2024-05-06>6 May</time></aside>", {"time, changed"}),
        ("<p>出版日期：2024年5月6日</p>", {"label, published"}),
        ("<dl><dt>出版日期</dt><dd>2024-05-06</dd></dl>", {"label, published"}),
        ("<p>Published:</p><p>6 May 2024</p>", {"label, published"}),
        ('<abbr class="published" title="2024-05-06T10:15:00Z">today</abbr>', {"attribute"}),
        ('<span class="updated" title="2024-05-06">today</span>', {"attribute, changed"}),
        ("<p>2024-05-06</p>", {"line", "short line", "first line", "the line begins with it"}),
        ("<p>Posted on 6 May 2024 by Ann</p>", {"label, published"}),
        ("<p>发布时间：2024/5/6 来源：本站</p>", {"label, published"}),
        ("<p>06.05.24 10:15", {"line", "short line"}),
        ("<p>6. 5. 24", {"line", "short line"}),
        ("<p>6 May 2024", {"only line"}),
        (json_ld('{"datePublished": "2024-05-06"}') + "<p>7 May 2024", {"only day in JSON-LD"}),
        ('<meta name=pubdate content="2024-05-06"><p>7 May 2024', {"only published meta"}),
        ('<meta name=date content="2024-05-06"><p>6 May 2024', {"in head and body"}),
        ("<p class=pubtime><b>May 6, 2024</b></p>", {"named as a date"}),
        ("<footer><p>6 May 2024</p></footer>", {"elsewhere"}),
        ("<p><a href=/x>6 May 2024</a></p>", {"linked"}),
        ("<title>Bees dance</title><h1>Bees dance</h1><p>6 May 2024</p>", {"up to 1 lines after"}),
        ("<title>Bees dance</title><p>6 May 2024</p><h1>Bees dance</h1>", {"up to 5 lines before"}),
    ]
    for html, signs in rows:
        assert signs <= found_in(html)["2024-05-06"]


def test_no_date() -> None:
    rows = [
        json_ld('{"datePublished": "soon, we hope"}'),
        json_ld('{"dateModified": "2024-05-06"}'),
        json_ld("[" * 50_000 + '{"datePublished":"2024-13-06","x":{"datePublished":"2024-13-07"}}' + "]" * 50_000),
        '<meta name="expires" content="2024-05-06">',
        '<meta name="date" content="yesterday"><meta name="date">',
        "<time>now</time>",
        '<span class="price" title="2024-05-06">5</span>',
        "<script>var date = '2024-05-06'</script>",
        "<p>© 2004-2012</p>",
        "<p>1.6.05.24 and 6.05.24.1 and 6.13.24 and 06.05.2</p>",
        f"<p>06.05.24{' bees' * 23}</p>",
        '<meta property="article:publisher" content="https://hive.example/2024-05-06">',
        "<p>Last updated: 6 May 2024</p>",
        "<aside><h3>Last update:</h3><p>May 06, 2024</p></aside>",
        "<table><tr><th>Updated</th><td>6 May 2024</td></tr></table>",
        "<p>Release: 1.4.46 | Release Date: May 6, 2024</p>",
        "<p>Built 2024-05-06</p>",
        "<div class=footer>Made in .003 s by Version Nought 2.21 [3c53b6364e], built from its trunk 2024-05-06</div>",
        '<footer><time class="updated" datetime="2024-05-06"></time></footer>',
        '<footer><p>Last updated on <b><time datetime="2024-05-06">6 May</time></b></p></footer>',
        "<p>Django 3.2.25 documentation</p>",
    ]
    for html in rows:
        assert found_in(html) == {}


def test_address() -> None:
    rows = [
        *(
            "/2024/05/06/title",
            "/2024/5/6/title",
            "/2024/05/06.html",
            "/20240506/1.html",
            "/2024-05-06-title",
            "/a/t20240506_123.html",
        ),
        *(
            "/2024/05/06.html",
            "/2024/0506/c1.html",
            "/gn/2024/05-06/1.shtml",
            "/9/20241306/20240506",
            "/news/06-05-2024-title",
        ),
    ]
    for path in rows:
        assert "address" in found_in("<p>text", f"https://example.org{path}")["2024-05-06"]


def test_no_date_in_the_address() -> None:
    rows = [
        *(
            "https://e.org/2024/05/",
            "https://e.org/2024/13/06/",
            "https://e.org/120240506/",
            "https://e.org/?d=2024-05-06",
        ),
        *("https://e.org/2019/08/4-wasps/", "https://e.org/2019/08/10-tips-for-better-sleep/"),
        *("https://e.org/2019-08/10-tips/", "https://e.org/2019/08/10_tips.html"),
        *("https://e.org/#2024/05/06", "https://2024-05-06.example.org/", ""),
    ]
    for url in rows:
        assert found_in("<p>text", url) == {}


def test_month_of_the_address() -> None:
    found = found_in("<p>6 May 2024</p><p>7 June 2024</p>", "https://example.org/2024/05/bees")
    assert [day for day, signs in found.items() if "month of the address" in signs] == ["2024-05-06"]


def test_date_of_an_article() -> None:
    rows = [
        ({"head": json_ld(ARTICLE)}, "2024-05-06T10:15:00+02:00"),
        ({"head": "<meta property='article:published_time' content='2024-05-06'>"}, "2024-05-06"),
        ({"byline": "<p class=date>6 May 2024</p>"}, "2024-05-06"),
        ({"byline": "<p>By Ann Lee</p><time datetime='2024-05-06'>6 May</time>"}, "2024-05-06"),
        ({"url": "https://example.org/2024/05/06/bees"}, "2024-05-06"),
        # What the address and the line say is the day of the readers, JSON-LD has that of London.
        (
            {
                "head": json_ld('{"@type": "Article", "datePublished": "2024-05-07T02:15:00Z"}'),
                "byline": "<p class=date>May 6, 2024</p>",
                "url": "https://example.org/2024/05/06/bees",
            },
            "2024-05-06",
        ),
        ({"head": SCRIPT}, "2024-05-06"),
        ({"head": SCRIPT.replace("'", "&quot;")}, "2024-05-06"),
        ({"head": SCRIPT.replace("published_at", "publisher")}, None),
        ({"byline": "<p>Updated: 6 May 2024</p>"}, "2024-05-06"),
        ({"byline": f"{SUMMARY}<p>By Ann Lee</p><p>Bees</p><p>Updated: 6 May 2024</p>"}, "2024-05-06"),
        ({"byline": f"{SUMMARY}<p>By Ann Lee</p><p>Bees</p><p>Hives</p><p>Updated: 6 May 2024</p>"}, None),
        ({"byline": "<aside>Updated: 6 May 2024</aside>"}, None),
        ({"byline": f"{TEXT}<p>Updated: 6 May 2024</p>"}, None),
        ({"footer": "<p>Last updated: 6 May 2024</p>"}, None),
        ({"footer": "<p>© 2019-2024</p>"}, None),
        ({"byline": "<div class=comments><p>6 May 2024</p><time datetime=2024-05-06></time></div>"}, None),
        ({"footer": "<p>Last update: <time datetime=2024-05-06>6 May</time></p>"}, None),
        (
            {
                "byline": "<p>Since 7 June 2019 the bees of the valley have danced, as a note of those days says.</p>"
                f"{TEXT}<footer class=entry-footer>Published <time class='entry-date published updated'"
                " datetime=2024-05-06T10:15:00Z>6 May 2024</time> by <a href=/author/ann>Ann Lee</a></footer>",
                "url": "https://example.org/2024/05/10-bees-of-the-valley/",
            },
            "2024-05-06T10:15:00+00:00",
        ),
        ({}, None),
    ]
    for article, expected in rows:
        assert of_article(**article) == expected


MARKED = "<time class=published datetime=2024-05-06T10:15:00Z>6 May 2024</time>"


def test_marked_dates_precede_those_of_text_and_address() -> None:
    article_rows = [
        {"byline": f"<p>{MARKED}</p>"},
        {"byline": f"{TEXT}<footer>{MARKED} by Ann Lee</footer>"},
        {"byline": f"<p>Counted on 4 March 2012</p>{TEXT}<footer><p>{MARKED}</p></footer>"},
    ]
    for path in ["2019/08/4-vesta/", "2019/08/10-tips-for-better-sleep/", "8-bees-of-2019-08-10"]:
        for article in article_rows:
            assert of_article(**article, url=f"https://example.org/{path}") == "2024-05-06T10:15:00+00:00"


@pytest.mark.parametrize("other", [SCRIPT, "<p>Updated: 6 May 2024</p>"])
def test_a_weak_source_counts_only_without_others(other: str) -> None:
    article = f"<title>How bees dance</title><article><h1>How bees dance</h1>{other}{TEXT}</article>"
    assert list(found_in(article)) == ["2024-05-06"]
    assert list(found_in(f"<meta name=pubdate content=2024-05-02>{article}")) == ["2024-05-02"]


def test_source() -> None:
    rows = [
        (json_ld(ARTICLE), "", "structured_data"),
        ("<meta property='article:published_time' content='2024-05-06'>", "", "meta"),
        (SCRIPT, "", "script"),
        ("<p>By Ann Lee</p><time datetime='2024-05-06'>today</time>", "", "time_element"),
        ("<p class=entry-date><abbr class=published title=2024-05-06>today</abbr></p>", "", "attribute"),
        ("<p class=date>6 May 2024</p>", "", "text"),
        ("", "/2024/05/06/bees", "address"),
        ("<p class=date>6 May 2024</p>" + json_ld(ARTICLE), "/2024/05/06/bees", "structured_data"),
        ("<p class=date>6 May 2024</p>" + json_ld(ARTICLE.replace("05", "04")), "/2024/05/06/bees", "text"),
        ("", "", ""),
    ]
    for html, path, source in rows:
        page = Page.from_html(
            f"<html lang=en><title>How bees dance</title><article><h1>How bees dance</h1>{html}{TEXT}</article>",
            URL + path,
        )
        assert publication_date(page, auto(page)).source == source


def test_the_body_of_a_home_page_has_the_dates_of_others() -> None:
    rows = [
        *[(path, "listing", True) for path in ("", "/", "/zh/", "/en-GB", "/index.html", "/de/default.aspx", "/#top")],
        *[(path, "listing", False) for path in ("/?p=7", "/bees", "/news/", "/en/bees/", "/index.html?id=7")],
        ("/", "", True),
        ("/", "article", False),
        ("/", "forum", False),
    ]
    for path, page_type, is_home in rows:
        head = "<meta property='article:published_time' content='2024-05-06'>"
        page = Page.from_html(f"{head}<p>7 May 2024</p><time datetime=2024-05-08>today</time>", f"https://e.org{path}")
        found = replace(auto(page), page_type=page_type)
        read = {"2024-05-06"} if is_home else {"2024-05-06", "2024-05-07", "2024-05-08"}
        assert set(date_candidates(page, found).signs) == read


def test_a_shop_has_no_date() -> None:
    goods = "".join(
        f"<li><h3>Honey {at}</h3><p>Sweet and clear. $ {at}.99 <button>Add to cart</button>" for at in range(20)
    )
    head = json_ld('{"@type": "WebPage", "datePublished": "2024-05-06"}')
    page = Page.from_html(f"<title>Shop</title>{head}<h1>Honey</h1><ul>{goods}</ul>", "https://shop.example/honey")
    assert list(date_candidates(page, auto(page)).signs) == ["2024-05-06"]
    assert publication_date(page, auto(page)) == PublicationDate()


def test_limits_of_elements() -> None:
    rows = [
        ("<meta name=a content=b>", MAX_ELEMENTS, "<meta name=date content=2024-05-06>"),
        (json_ld("{}"), MAX_SCRIPTS, json_ld('{"datePublished": "2024-05-06"}')),
        ("<time datetime=x></time>", MAX_TIMES, "<time datetime=2024-05-06></time>"),
        ("<span></span>", MAX_ATTRIBUTES, "<span class=date content=2024-05-06></span>"),
        ("<p>x</p>", MAX_BLOCKS, "<p>2024-05-06</p>"),
        ("<p>2023-05-06</p>", MAX_MENTIONS, "<p>2024-05-06</p>"),
    ]
    for filler, limit, date in rows:
        assert "2024-05-06" in found_in(filler * (limit - 1) + date)
        assert "2024-05-06" not in found_in(filler * limit + date)


def test_limits_of_lengths() -> None:
    for length, expected in ((0, True), (1, False)):
        script = json_ld('"datePublished": "2024-05-06"'.rjust(MAX_JSON + length))
        line = "<p>" + "2024-05-06 ".ljust(MAX_TEXT + length, "x")
        url = "https://a/" + "/2024-05-06".rjust(MAX_URL + length - len("https://a/"), "b")
        assert [bool(found_in(html, at)) for html, at in ((script, URL), (line, URL), ("<p>x", url))] == [expected] * 3


def test_hostile_pages_cost_little() -> None:
    rows = [
        "<html><head>" + "<meta name=date content=2012-13-45>" * 100_000,
        '<script type="application/ld+json">{"a": "' + "x" * 9_000_000 + '"}</script>',
        '<script type="application/ld+json">[' + '{"datePublished": "2012-13-45"},' * 250_000 + "]</script>",
        "<p class=date>20 of 19 on 12-1-20</p>" * 100_000,
        "<p class=date>2012-03-04</p>" * 100_000,
        "<div>" * 200 + "<time datetime=2012-13-45>x</time>" * 10_000,
        "<p>" + "2012-13-45 " * 800_000,
        "<span class=date title=2012-13-45></span>" * 100_000,
    ]
    for html in rows:
        page = Page.from_html(html, "https://example.org/" + "20121345/" * 100_000)
        found = auto(page)
        start = time.process_time()
        date_candidates(page, found)
        assert time.process_time() - start < 0.2  # measured 1 to 30 ms
