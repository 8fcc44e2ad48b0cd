import time
from datetime import UTC, datetime, timedelta

import pytest

from crawler.metadata.publication_date import (
    MAX_DATES,
    MAX_LINE,
    MAX_NODES,
    MAX_URL,
    MIN_TITLE,
    NEAR,
    SHORT,
    parse,
    published,
)
from crawler.page.head import MAX_ELEMENTS, MAX_JSON, MAX_SCRIPTS, MAX_TIMES
from crawler.page.page import Page

TODAY = datetime.now(UTC).date()


def on_page(html: str, url: str = "https://example.org/") -> str | None:
    return published(Page.from_html(html, url))


def json_ld(data: str) -> str:
    return f'<html><head><script type="application/ld+json">{data}</script></head><body><p>text'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-06", "2024-05-06"),
        ("2024-05-06T10:15:00+08:00", "2024-05-06T10:15:00+08:00"),
        ("2024-05-06T10:15:00.123Z", "2024-05-06T10:15:00+00:00"),
        ("2024-05-06T10:15-0430", "2024-05-06T10:15:00-04:30"),
        ("2024-05-06 10:15:00 +0800", "2024-05-06T10:15:00+08:00"),
        ("2024-05-06T10:15:00", "2024-05-06"),
        ("2024-05-06T25:15:00Z", "2024-05-06"),
        ("2024-05-06T10:60:00Z", "2024-05-06"),
        ("2012年03月04日 10:20", "2012-03-04"),
        ("2012年3月4日", "2012-03-04"),
        ("２０１２年３月４日", "2012-03-04"),
        ("2012년 3월 4일", "2012-03-04"),
        ("2012.03.04", "2012-03-04"),
        ("发布时间：2012/3/4", "2012-03-04"),
        ("20120304", "2012-03-04"),
        ("March 4, 2012", "2012-03-04"),
        ("Mar. 4 2012", "2012-03-04"),
        ("4 March 2012", "2012-03-04"),
        ("4th March, 2012", "2012-03-04"),
        ("Sun, 04 Mar 2012 10:20:00 GMT", "2012-03-04"),
        ("4. März 2012", "2012-03-04"),
        ("4 mars 2012", "2012-03-04"),
        ("4 de marzo de 2012", "2012-03-04"),
        ("4 января 2012 г.", "2012-01-04"),
        ("4 stycznia 2012", "2012-01-04"),
        ("4 Ιουλίου 2012", "2012-07-04"),
        ("04.03.2012", "2012-03-04"),
        ("13:15 04.03.2012", "2012-03-04"),
        ("11-29-2012", "2012-11-29"),
        ("Top 10 2012, March 4, 2012", "2012-03-04"),
        ("2012-13-45, then 2012-03-04", "2012-03-04"),
        ("2012-13-45", None),
        ("2011-02-29", None),
        ("2012-02-29", "2012-02-29"),
        ("1970-01-01", None),
        ("1989-12-31", None),
        ("1990-01-01", "1990-01-01"),
        (f"{TODAY + timedelta(days=1)}", f"{TODAY + timedelta(days=1)}"),
        (f"{TODAY + timedelta(days=4)}", None),
        ("2555-03-04", None),
        ("99999999", None),
        ("120120304", None),
        ("201203045", None),
        ("2012-03-041", None),
        ("March 2012", None),
        ("Chapter 4, 2012", None),
        ("", None),
    ],
)
def test_parse(text: str, expected: str | None) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "day_first", "expected"),
    [
        ("3/4/2012", True, "2012-04-03"),
        ("3/4/2012", False, None),
        ("3-4-2012", False, None),
        ("3.4.2012", False, "2012-04-03"),
        ("3/3/2012", False, "2012-03-03"),
        ("13/4/2012", False, "2012-04-13"),
        ("4/13/2012", True, "2012-04-13"),
        ("3/4/2012 5:06:07 PM", True, None),
    ],
)
def test_parse_of_ambiguous_dates(text: str, day_first: bool, expected: str | None) -> None:
    assert parse(text, day_first) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('{"@type": "NewsArticle", "datePublished": "2024-05-06T10:15:00+02:00"}', "2024-05-06T10:15:00+02:00"),
        ('[{"@type": "WebSite"}, {"datePublished":"2024-05-06"}]', "2024-05-06"),
        ('{"@graph": [{"@type": "WebPage"}, {"@type": "Article", "datePublished": "2024-05-06"}]}', "2024-05-06"),
        (r'{"datePublished": "2024-05-06T10:15:00\u002B02:00"}', "2024-05-06T10:15:00+02:00"),
        (r'{"datePublished": "2024\/05\/06"}', "2024-05-06"),
        ('{"datePublished": "2024-05-06", "headline": "a "broken" one"', "2024-05-06"),
        ('{"datePublished": "2024-05-06", broken, "datePublished": "2023-05-06"', "2024-05-06"),
        ('[{"datePublished": "2001-02-03"}, {"@type": ["BlogPosting"], "datePublished": "2024-05-06"}]', "2024-05-06"),
        ('{"comment": [{"datePublished": "2024-05-07"}], "x": 1, "datePublished": "2024-05-06"}', "2024-05-06"),
        ('{"datePublished": "soon, we hope"}', None),
        ('{"dateModified": "2024-05-06"}', None),
        ('{"datePublished": 1714990500}', None),
        ("", None),
        ('["datePublished": "2024-05-0X", "datePublished": "2024-05-0Y"' + "[" * 50_000, None),
        ("[" * 50_000 + '{"datePublished":"2024-13-06","x":{"datePublished":"2024-13-07"}}' + "]" * 50_000, None),
    ],
)
def test_json_ld(data: str, expected: str | None) -> None:
    assert on_page(json_ld(data)) == expected


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ('property="article:published_time" content="2024-05-06T10:15:00Z"', "2024-05-06T10:15:00+00:00"),
        ('name="OG:article:published_time" content="2024-05-06"', "2024-05-06"),
        ('itemprop="datePublished" content="2024-05-06"', "2024-05-06"),
        ('name="PubDate" content="20240506"', "2024-05-06"),
        ('name="DC.Date.Issued" content="2024-05-06"', "2024-05-06"),
        ('http-equiv="Date" content="Mon, 06 May 2024 10:15:00 GMT"', "2024-05-06"),
        ('name="weibo:article:create_at" content="2024-05-06 10:15:00"', "2024-05-06"),
        ('property="bytedance:published_time" content="2024-05-06T10:15:00+08:00"', "2024-05-06T10:15:00+08:00"),
        ('name="parsely-pub-date" content="2024-05-06"', "2024-05-06"),
        ('name="date" content="yesterday"', None),
        ('name="date"', None),
        ('name="article:modified_time" content="2024-05-06"', None),
        ('name="expires" content="2024-05-06"', None),
    ],
)
def test_meta(meta: str, expected: str | None) -> None:
    assert on_page(f"<html><head><meta {meta}></head><body><p>text") == expected


def test_meta_by_reliability_not_by_place() -> None:
    page = '<meta name="date" content="2024-05-07"><meta property="article:published_time" content="2024-05-06">'
    assert on_page(page) == "2024-05-06"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<time datetime="2024-05-06">6 May</time>', "2024-05-06"),
        ('<time datetime="2024-05-06T08:00">a</time><time datetime="2024-05-06">b</time>', "2024-05-06"),
        ('<time datetime="2024-05-06">a</time><time datetime="2024-05-07">b</time>', None),
        ('<time datetime="2024-05-07">a</time><article><time datetime="2024-05-06">b</time></article>', "2024-05-06"),
        ('<time datetime="2024-05-07">a</time><main><time datetime="2024-05-06">b</time></main>', "2024-05-06"),
        ('<main><time datetime="2024-05-07">a</time><time pubdate datetime="2024-05-06"></time></main>', "2024-05-06"),
        ('<time datetime="2024-05-07">a</time><time itemprop="datePublished" datetime="2024-05-06">', "2024-05-06"),
        ('<time datetime="2024-05-07">a</time><time class="published" datetime="2024-05-06"></time>', "2024-05-06"),
        ("<time>now</time>", None),
    ],
)
def test_time(body: str, expected: str | None) -> None:
    assert on_page(f"<html><body>{body}") == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/2024/05/06/title", "2024-05-06"),
        ("/2024/5/6/title", "2024-05-06"),
        ("/20240506/1.html", "2024-05-06"),
        ("/2024-05-06-title", "2024-05-06"),
        ("/a/t20240506_123.html", "2024-05-06"),
        ("/2024/0506/c1.html", "2024-05-06"),
        ("/2024-05/06/1.html", "2024-05-06"),
        ("/gn/2024/05-06/1.shtml", "2024-05-06"),
        ("/9/20241306/20240506", "2024-05-06"),
        ("/2024/05/", None),
        ("/2024/13/06/", None),
        ("/120240506/", None),
        ("/202405061/", None),
        ("/view?date=2024-05-06", None),
        ("/#2024/05/06", None),
    ],
)
def test_address(path: str, expected: str | None) -> None:
    assert on_page("<p>text", f"https://example.org{path}") == expected


def test_address_without_its_host() -> None:
    assert on_page("<p>text", "https://2024-05-06.example.org/") is None
    assert on_page("<p>text", "https://[::1/2024/05/06/") == "2024-05-06"
    assert on_page("<p>text", "") is None


TITLE = "<html><head><title>A long headline - Site</title></head><body>"
H1 = "<h1>A long headline</h1>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{H1}<p>发布时间：2012/3/4 来源：本站</p>", "2012-03-04"),
        (f"{H1}<p class=byline>2012年03月04日 10:20</p>", "2012-03-04"),
        (f"{H1}<div id=pubtime><p><b>March 4, 2012</b></p></div>", "2012-03-04"),
        (f"{H1}<p><span itemprop=datePublished>4 March 2012</span></p>", "2012-03-04"),
        (f"{H1}<p>Posted on 4 March 2012 by Ann</p>", "2012-03-04"),
        (f"{H1}<p>2012-03-04</p>", "2012-03-04"),
        (f"{H1}<p>On 4 March 2012 the council of the town met to decide.</p>", None),
        ("<p class=date>2013-04-10</p>" + H1 + "<p class=date>2012-03-04</p>", "2012-03-04"),
        ("<h1>Site</h1><p class=date>2013-04-10</p><h2>A long headline</h2><p class=date>2012-03-04</p>", "2012-03-04"),
        ("<p class=date>2012-03-03</p><p class=date>2012-03-04</p>" + H1 + "<p>text</p>", "2012-03-04"),
        ("<p class=date>2013-04-10</p><h1>Other words</h1><p class=date>2012-03-04</p>", "2012-03-04"),
        ("<p>2012-03-04</p><p>text</p>", None),
        (f"{H1}<script>var date = '2012-03-04'</script>", None),
        (f"{H1}<p class=date>2012-13-04</p>", None),
        (f"{H1}<p>© 2004-2012</p>", None),
    ],
)
def test_date_in_sight(body: str, expected: str | None) -> None:
    assert on_page(TITLE + body) == expected


@pytest.mark.parametrize(("lines", "expected"), [(NEAR - 1, "2012-03-04"), (NEAR, None)])
def test_unlabelled_date_only_near_the_headline(lines: int, expected: str | None) -> None:
    assert on_page(TITLE + H1 + "<p>x</p>" * lines + "<p>2012-03-04</p>") == expected


@pytest.mark.parametrize(("length", "expected"), [(SHORT, "2012-03-04"), (SHORT + 1, None)])
def test_unlabelled_date_only_in_a_short_line(length: int, expected: str | None) -> None:
    assert on_page(TITLE + H1 + f"<p>{'2012-03-04 '.ljust(length, 'x')}</p>") == expected


@pytest.mark.parametrize(("length", "expected"), [(MAX_LINE, "2012-03-04"), (MAX_LINE + 1, None)])
def test_labelled_date_only_in_a_line(length: int, expected: str | None) -> None:
    assert on_page(TITLE + H1 + f"<p class=date>{'2012-03-04 '.ljust(length, 'x')}</p>") == expected


@pytest.mark.parametrize(("lines", "expected"), [(MAX_DATES - 1, "2012-03-04"), (MAX_DATES, None)])
def test_limit_of_lines(lines: int, expected: str | None) -> None:
    assert on_page(TITLE + H1 + "<p>20 of 20</p>" * lines + "<p class=date>2012-03-04</p>") == expected


@pytest.mark.parametrize(
    ("filler", "limit", "date"),
    [
        ("<meta name=a content=b>", MAX_ELEMENTS, "<meta name=date content=2024-05-06>"),
        (json_ld("{}"), MAX_SCRIPTS, json_ld('{"datePublished": "2024-05-06"}')),
        ("<time datetime=x></time>", MAX_TIMES, "<time datetime=2024-05-06></time>"),
        ("<b></b>", MAX_NODES - 2, "<p class=date>2024-05-06"),  # less html and body
    ],
)
def test_limits_of_elements(filler: str, limit: int, date: str) -> None:
    assert on_page(filler * (limit - 1) + date) == "2024-05-06"
    assert on_page(filler * limit + date) is None


@pytest.mark.parametrize(("length", "expected"), [(MAX_JSON, "2024-05-06"), (MAX_JSON + 1, None)])
def test_limit_of_json(length: int, expected: str | None) -> None:
    assert on_page(json_ld('"datePublished": "2024-05-06"'.rjust(length))) == expected


@pytest.mark.parametrize(("length", "expected"), [(MAX_URL, "2024-05-06"), (MAX_URL + 1, None)])
def test_limit_of_address(length: int, expected: str | None) -> None:
    assert on_page("<p>text", "https://a/" + "/2024-05-06".rjust(length - len("https://a/"), "b")) == expected


@pytest.mark.parametrize(("length", "expected"), [(MIN_TITLE, "2012-03-04"), (MIN_TITLE - 1, "2013-04-10")])
def test_headline_of_a_few_letters(length: int, expected: str) -> None:
    name = "Winter"[:length]
    body = f"<h1>Site</h1><p class=date>2013-04-10</p><p>{name}</p><p class=date>2012-03-04</p>"
    assert on_page(f"<html><head><title>{name} - S</title></head><body>{body}") == expected


def test_order_of_evidence() -> None:
    sources = [
        '<script type="application/ld+json">{"datePublished": "2001-01-01"}</script>',
        '<meta name="date" content="2002-02-02">',
        '<time datetime="2003-03-03">x</time>',
    ]
    line = "<h1>A headline</h1><p class=date>2005-05-05</p>"
    url = "https://example.org/2004/04/04/"
    assert on_page("".join(sources) + line, url) == "2001-01-01"
    assert on_page("".join(sources[1:]) + line, url) == "2002-02-02"
    assert on_page("".join(sources[2:]) + line, url) == "2003-03-03"
    assert on_page(line, url) == "2004-04-04"
    assert on_page(line) == "2005-05-05"


@pytest.mark.parametrize(
    "html",
    [
        "<html><head>" + "<meta name=date content=2012-13-45>" * 100_000,
        '<script type="application/ld+json">{"a": "' + "x" * 9_000_000 + '"}</script>',
        '<script type="application/ld+json">[' + '{"datePublished": "2012-13-45"},' * 250_000 + "]</script>",
        "<p class=date>20 of 19 on 12-1-20</p>" * 100_000,
        "<div>" * 200 + "<time datetime=2012-13-45>x</time>" * 10_000,
        "<p>" + "2012-13-45 " * 800_000,
    ],
    ids=["metas", "json", "json dates", "lines", "times", "text"],
)
def test_hostile_pages_cost_little(html: str) -> None:
    page = Page.from_html(html, "https://example.org/" + "20121345/" * 100_000)
    assert page.root is not None
    start = time.process_time()
    assert published(page) is None
    assert time.process_time() - start < 0.1  # measured 1 to 20 ms
