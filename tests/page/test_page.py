import pytest

from crawler.page.page import Page, is_html

URL = "http://example.com/a/b.html"
CHINESE = "春天来了，公园里的花都开了，孩子们在草地上跑来跑去，老人坐在树下说话。"
TRADITIONAL = "春天來了，公園裡的花都開了，孩子們在草地上跑來跑去，老人坐在樹下說話。"
JAPANESE = "春になりました。公園の花が咲いて、子どもたちは芝生の上を走り回っています。"
KOREAN = "봄이 왔습니다. 공원에는 꽃이 피었고 아이들은 잔디밭에서 뛰어놀고 있습니다."


def page(html: str, robots_header: str = "") -> Page:
    return Page(URL, html.encode(), "", robots_header)


def test_pages_without_a_declaration() -> None:
    rows = [
        (CHINESE, "gb2312", "gb18030"),
        (CHINESE, "gbk", "gb18030"),
        (CHINESE + "𠀀", "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5hkscs"),
        (JAPANESE, "shift_jis", "cp932"),
        (KOREAN, "euc-kr", "cp949"),
        (CHINESE, "utf-8", "utf-8"),
        (CHINESE, "utf-16", "utf-16-le"),
    ]
    for text, encoding, read_as in rows:
        found = Page(URL, f"<title>{text}</title><p>{text}</p>".encode(encoding))
        assert found.encoding == read_as
        assert [found.title, found.blocks[0].text] == [text, text]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a&#27;[1mb&#x1B;&#X07;&#0008;&#127;&#x7f;&#xFFFE;", "a[1mb"),
        ("&#7b&#271;&#x1bc;&#31 c", "bďƼ c"),
        ("a&#9;&#10;b&#13;&#32;&#160;c &#38;#27;", "a b c &#27;"),
    ],
)
def test_no_control_characters(written: str, read: str) -> None:
    assert [block.text for block in page(f"<p>{written}").blocks] == [read]
    assert page(f"<title>{written}</title>").title == read


def test_from_html() -> None:
    for text in ["", "x", CHINESE, "\ud800"]:
        found = Page.from_html(f"<meta charset=gbk><p>{text}.", URL)
        assert found.blocks[0].text == f"{text}.".replace("\ud800", "?")
        assert found.encoding == "utf-8"


def test_title() -> None:
    rows = [
        ("<title> a\n b </title>", "a b"),
        ("<title>a &amp; <b>b</b></title>", "a & <b>b</b>"),
        ("<title>a</title><title>b</title>", "a"),
        ("<svg><title>a</title></svg><title>b</title>", "b"),
        ("<svg><title>a</title></svg>", ""),
        ("<p>a", ""),
        ("<body><title>a</title>", "a"),
        ("<title></title>", ""),
    ]
    for html, title in rows:
        assert page(html).title == title


def test_meta() -> None:
    rows = [
        ("", {}),
        ("<meta name=Description content=a><meta name=description content=b>", {"description": "a"}),
        ("<meta property='og:Title' content=a><meta http-equiv=X content=b>", {"og:title": "a", "x": "b"}),
        ("<meta name=a property=b content=c>", {"a": "c"}),
        ("<meta name=a><meta content=b><meta name='' content=c>", {}),
        ("<meta name=a content=''>", {"a": ""}),
        ("<meta name=robots content=a><meta name=ROBOTS content=b>", {"robots": "a,b"}),
        ("<meta name=winnow content=a><meta name=winnow content=b>", {"winnow": "a,b"}),
    ]
    for html, meta in rows:
        assert page(html).meta == meta


def test_base() -> None:
    rows = [
        ("/c/", "http://example.com/c/"),
        ("c/", "http://example.com/a/c/"),
        ("//other.example/d", "http://other.example/d"),
        ("javascript:alert(1)", URL),
        ("data:text/html,x", URL),
        ("http://[", URL),
        ("", URL),
    ]
    for href, base in rows:
        found = page(
            f"<base><base href='{href}'><base href=/late/><a href=x>t</a><img src=x><link rel=canonical href=x>"
        )
        assert found.base == (base if href else "http://example.com/late/")
        assert {found.links[0].url, found.images[0].url, found.canonical} == {found.base.rpartition("/")[0] + "/x"}


def test_without_a_base_the_page_s_address_is() -> None:
    assert page("<a href=x>t</a>").base == URL


def test_canonical() -> None:
    rows = [
        ("", None),
        ("<link rel=canonical>", None),
        ("<link rel=stylesheet href=x>", None),
        ("<link rel=canonical href=/x#y>", "http://example.com/x"),
        ("<link rel='alternate Canonical' href=x>", "http://example.com/a/x"),
        ("<link rel=canonical href=x><link rel=canonical href=y>", "http://example.com/a/x"),
        ("<link rel=canonical href='javascript:x'>", None),
    ]
    for html, canonical in rows:
        assert page(html).canonical == canonical


def test_robots() -> None:
    rows = [
        ("", "", ""),
        ("<meta name=robots content='NoIndex, nofollow,,'>", "", "noindex nofollow"),
        ("<meta name=robots content=none>", "", "none noindex nofollow"),
        ("<meta name=robots content='noindex  nofollow'>", "", "noindex  nofollow|noindex|nofollow"),
        ("<meta name=robots content=noindex><meta name=winnow content=nofollow>", "", "noindex nofollow"),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", "", "noindex nofollow"),
        ("<meta name=googlebot content=noindex>", "", ""),
        ("", "noindex", "noindex"),
        ("", "noindex, nofollow", "noindex nofollow"),
        ("", "noindex\nnofollow", "noindex nofollow"),
        ("", "otherbot: noindex, nofollow", ""),
        ("", "otherbot: noindex\nnofollow", "nofollow"),
        ("", "Winnow : noindex, nofollow", "noindex nofollow"),
        ("", "winnow: none", "none noindex nofollow"),
        (
            "",
            "noindex, unavailable_after: 25 Jun 2010 15:00:00 PST",
            "noindex|unavailable_after: 25 jun 2010 15:00:00 pst",
        ),
        ("", "max-snippet:10, noindex", "max-snippet:10|noindex"),
        ("", "unavailable_after: 25 Jun 2010, noindex", "unavailable_after: 25 jun 2010|noindex"),
        ("<meta name=robots content=noindex>", "otherbot: nofollow", "noindex"),
    ]
    for html, header, robots in rows:
        assert page(html, header).robots == frozenset(robots.split("|") if "|" in robots else robots.split())


def test_refresh() -> None:
    rows = [
        ("0;url=/x", (0, "http://example.com/x")),
        ("5; URL = 'x'", (5, "http://example.com/a/x")),
        ("5,/x", (5, "http://example.com/x")),
        ("5 /x", (5, "http://example.com/x")),
        (" 5 ; /x ", (5, "http://example.com/x")),
        ("5.9;url=/x", (5, "http://example.com/x")),
        ("600;url=/x", (600, "http://example.com/x")),
        ("0;url=/x?a=1&b=2", (0, "http://example.com/x?a=1&b=2")),
        ("0;url=javascript:x", None),
        ("5", None),
        ("15", None),
        ("600", None),
        ("1.5", None),
        ("1234567", None),
        ("5;", None),
        ("5; ", None),
        ("5; url=", None),
        ("5x", None),
        ("x", None),
        ("", None),
    ]
    for content, expected in rows:
        assert page(f'<meta http-equiv=Refresh content="{content}">').refresh == expected
        assert page(f'<noscript><meta http-equiv=refresh content="{content}"></noscript>').refresh is None


def test_language() -> None:
    rows = [
        ("<p>x", ""),
        ("<html lang=en-GB>", "en-GB"),
        ("<html xml:lang=de>", "de"),
        ("<html lang=en xml:lang=de>", "en"),
        ("<meta http-equiv=Content-Language content=zh>", "zh"),
        ("<html lang=''><meta http-equiv=content-language content=zh>", "zh"),
        ("<body lang=fr>", ""),
    ]
    for html, language in rows:
        assert page(html + "<p>x").language == language


def test_near_text() -> None:
    rows = [
        ("<p>before <a href=x>t</a> after</p><p>next", "before t after"),
        ("<p>before</p><a href=x><img src=i></a><p>next", "next"),
        ("<p>before</p><a href=x></a>", ""),
        (f"<p>{'y' * 200}<a href=x>t</a>", "y" * 200),
        (f"<p>{'y' * 199}<a href=x>t</a>", "y" * 199 + "t"),
    ]
    for html, near in rows:
        found = page(html)
        assert [found.near_text(link) for link in found.links] == [near]
        assert [found.near_text(image) for image in found.images] in ([], [near])


def test_a_permalink_or_a_link_to_the_source_is_no_text() -> None:
    rows = [
        ("<h2>Bees<a href=#bees>¶</a></h2>", "Bees"),
        ("<h2>Bees<a href=#bees>\uf0c1</a></h2>", "Bees"),
        ("<h2>Bees<a href=/bees>\uf0c1</a></h2>", "Bees\uf0c1"),
        ("<h2>Bees <a href=#bees>\n&para; </a></h2>", "Bees"),
        ("<dt>dance<a href=#dance>¶</a> of bees", "dance of bees"),
        ("<h2><a href=#bees>§</a>Bees <a href='#bees'> # </a></h2>", "Bees"),
        ("<h2><a href=/bees>§</a>Bees <a href=/bees>¶</a></h2>", "§Bees"),
        ("<h2>Bees<span>[<a href=/edit>edit</a>]</span></h2>", "Bees"),
        ("<dt>dance()<a href=/source>[source]</a><a href=#dance>¶</a>", "dance()"),
        ("<h4>Dance <a href=/source>[src]</a> of bees</h4>", "Dance [src] of bees"),
        ("<h4><a href=/source>[src]</a></h4>", "[src]"),
        ("<h4>Dance [src]</h4>", "Dance [src]"),
        ("<p>Bees <a href=/source>[source]</a>", "Bees [source]"),
        ("<h3>dance()<a href=/docs>[docs]</a></h3>", "dance()"),
        ("<pre><a href=/docs>[docs]</a>def dance(): [docs]</pre>", "def dance(): [docs]"),
        ("<pre>def dance(): <span>[docs]</span> <a href=/x>[bees]</a></pre>", "def dance(): [docs] [bees]"),
        ("<p>Bees¶", "Bees¶"),
        ("<p><a href=#bees>¶ 4</a>", "¶ 4"),
        ("<p><a href=#bees>¶<b>4</b></a>", "¶4"),
    ]
    for html, text in rows:
        assert [block.text for block in page(html).blocks] == [text]


def test_lines_of_code_that_are_so_by_their_style() -> None:
    rows = [
        ("<span class=line>a</span><span class=line>  b</span>", "a\n  b"),
        ("<span class=x-code-line><i>a</i></span><span class='x-code-line b'>b</span>c", "a\nbc"),
        ("<span class=line>a\n</span><span class=line>b</span>", "a\nb"),
        ("<span class=line><i>a\n</i></span><span class=line>b</span>", "a\nb"),
        ("<span class=line><i>a</i>\n</span><span class=line>b</span>", "a\nb"),
        ("<span class=line>a<br></span><span class=line>b</span>", "a"),
        ("<span class=line>a</span>\n<span class=line>b</span>", "a\nb"),
        ("<span class=line>a</span> <span class=line>b</span>", "a b"),
        ("<span class=line>a</span><i class=line>b</i>", "ab"),
        ("<span class=line-number>1</span><span class=line>b</span>", "1b"),
        ("<span class=line>a</span><span class=inline>b</span>", "ab"),
    ]
    for lines, text in rows:
        assert page(f"<pre>{lines}</pre>").blocks[0].text == text


def test_the_body_begins_where_browsers_have_it_begin() -> None:
    rows = [
        ("<title>T</title><main><p>A <a href=x>x</a></main>", "T", ["x"], ["A x"]),
        ("<title>T</title><nav><a href=x>x</a></nav> and <p>A <a href=y>y</a>", "T", ["x", "y"], ["x", "and", "A y"]),
        ("<title>T</title><header>A</header><meta name=robots content=none>B", "T", [], ["A", "B"]),
        ("<head><title>T</title><my-app>A</my-app></head><body>B<p>C</body>", "T", [], ["A", "B", "C"]),
        ("<head><article><title>T</title>A</article></head>", "T", [], ["A"]),
        ("<html><head><title>T</title></head><body>A</body>", "T", [], ["A"]),
    ]
    for html, title, links, texts in rows:
        found = page(html)
        assert (found.title, [block.text for block in found.blocks]) == (title, texts)
        assert [link.url for link in found.links] == [f"http://example.com/a/{one}" for one in links]
        assert found.robots == ({"none", "nofollow", "noindex"} if "robots" in html else set())


def test_once_computes_once_a_page() -> None:
    computed: list[Page] = []
    first, second = page("<p>a"), page("<p>a")
    for each in (first, first, second):
        assert each.once(lambda one: len(one.blocks)) == 1
        assert each.once(computed.append) is None
    assert computed == [first, second]
    assert first.root is first.root
    assert first.links is first.links


def test_is_html() -> None:
    rows = [
        ("text/html", b"", True),
        ("Text/HTML ; charset=gbk", b"", True),
        ("application/xhtml+xml", b"", True),
        ("text/plain", b"<html>", False),
        ("application/xml", b"<html>", False),
        ("", b"<!DOCTYPE HTML>", True),
        ("", b"\n<HTML>", True),
        ("", b"<head>", True),
        ("", b"<body>", True),
        ("", b" " * 1018 + b"<html>", True),
        ("", b" " * 1020 + b"<html>", False),
        ("", b"<p>x</p>", False),
        ("", b"%PDF-1.4", False),
        ("", b"", False),
        (";", b"<html>", True),
    ]
    for content_type, body, expected in rows:
        assert is_html(content_type, body) is expected
