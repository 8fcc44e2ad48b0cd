import gzip
import time
from dataclasses import replace

import pytest
from hostile_pages import PAGES

from crawler.page.sitemaps import (
    MAX_ADDRESSES,
    MAX_ATTRIBUTES,
    MAX_CHARACTERS,
    MAX_ENTITIES,
    MAX_MEMBERS,
    MAX_TAGS,
    MAX_TITLE,
    Listing,
    listing,
)

URL = "http://example.com/deep/sitemap.xml"
E = "http://example.com/"
LIMIT = 1_000_000
SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
NOTHING = Listing((), ())


def listed(pages: str = "", sitemaps: str = "") -> Listing:
    return Listing(tuple(E + path for path in pages.split()), tuple(E + path for path in sitemaps.split()))


def test_sitemap() -> None:
    rows = [
        (f"<urlset {SITEMAP}><url><loc>{E}a</loc><lastmod>x</lastmod></url><url><loc>{E}b</loc></url></urlset>", "a b"),
        (f"<urlset><url><loc> {E}a\n</loc></url></urlset>", "a"),
        (f"<urlset><url><loc>{E}a</loc></url><url><loc>{E}a</loc></url></urlset>", "a"),
        (
            "<urlset><url><loc>/a</loc></url><url><loc>b</loc></url><url><loc>//example.com/c</loc></url></urlset>",
            "a deep/b c",
        ),
        (f"<urlset><url><loc><![CDATA[{E}a?b&c]]></loc></url></urlset>", "a?b&c"),
        (f"<urlset><url><loc>{E}a?b&amp;c</loc></url></urlset>", "a?b&c"),
        (f"<URLSET><URL><LOC>{E}a</LOC></URL></URLSET>", "a"),
        ("<urlset><url><loc><!-- x -->/a<?y?>b</loc></url></urlset>", "ab"),
        ("<urlset><url><loc/></url><url><loc>mailto:a@b.c</loc></url><url><loc>http://[</loc></url></urlset>", ""),
        ("<urlset><loc>/a</loc><other><loc>/b</loc></other></urlset>", ""),
        (f"<urlset {SITEMAP} xmlns:i='i'><url><loc>/a</loc><i:image><i:loc>/i</i:loc></i:image></url></urlset>", "a"),
        ("<urlset><url><loc>/a</loc><image:image><image:loc>/i</image:loc></image:image></url></urlset>", "a"),
        ("<x:urlset><x:url><x:loc>/a</x:loc></x:url></x:urlset>", "a"),
        ("<urlset xmlns='wrong'><url><loc>/a</loc></url></urlset>", "a"),
        ("<urlset xmlns='&bogus;'><url><loc>/a</loc></url></urlset>", "a"),
        ("<a:b:urlset><url><loc>/a</loc></url></a:b:urlset>", "a"),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b", "a b"),
        ("<urlset><url><loc>/a</loc></url><url><lo", "a"),
        ("<urlset><url><loc>/a</loc></wrong><url><loc>/b</loc></url></urlset>", "a b"),
        ("<urlset><url><loc>/a</loc></url></urlset><html/>", "a"),
        ("<urlset/>", ""),
    ]
    for xml, expected in rows:
        assert listing(xml.encode(), URL, LIMIT) == listed(expected)
        assert listing(gzip.compress(xml.encode()), URL, LIMIT) == listed(expected)


def test_indexes_and_feeds() -> None:
    rows = [
        (f"<sitemapindex {SITEMAP}><sitemap><loc>/1.xml</loc></sitemap></sitemapindex>", "", "1.xml"),
        (
            "<sitemapindex><sitemap><loc>2.xml.gz</loc></sitemap><url><loc>/a</loc></url></sitemapindex>",
            "a",
            "deep/2.xml.gz",
        ),
        (
            (
                "<rss version='2.0'><channel><link>/home</link><image><link>/logo</link></image>"
                "<item><link>/a</link><guid>/x</guid><enclosure url='/b.mp3'/></item></channel></rss>"
            ),
            "a",
            "",
        ),
        (
            (
                "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>"
                "<channel rdf:about='/'><link>/h</link></channel><item rdf:about='/a'><link>/a</link></item></rdf:RDF>"
            ),
            "a",
            "",
        ),
        (
            "<rss><channel><item xmlns:a='http://www.w3.org/2005/Atom'><a:link href='/a'/></item></channel></rss>",
            "a",
            "",
        ),
        (
            (
                "<feed xmlns='http://www.w3.org/2005/Atom'><link href='/home'/><entry><link href='/a'/></entry>"
                "<entry><link rel='alternate' href='b'/><link rel='self' href='/c'/>"
                "<link rel='enclosure' href='/c.mp3'/><link rel='replies' href='/b/comments'/></entry></feed>"
            ),
            "a deep/b",
            "",
        ),
        ("<feed><entry><link>/a</link></entry></feed>", "", ""),
    ]
    for xml, pages, sitemaps in rows:
        is_feed = not xml.startswith("<sitemapindex")
        assert listing(xml.encode(), URL, LIMIT) == replace(listed(pages, sitemaps), is_feed=is_feed)


def test_what_may_come_first() -> None:
    rows = [
        b"",
        b"\xef\xbb\xbf",
        b" \r\n\t",
        b"<?xml version='1.0' encoding='UTF-8'?>\n",
        b"<?xml version='1.0' encoding='GBK'?>",
        b"<!-- made by a plugin -->",
        b"<?xml-stylesheet href='x.xsl'?>",
        b"<!DOCTYPE urlset>",
    ]
    for start in rows:
        assert listing(start + b"<urlset><url><loc>/a</loc></url></urlset>", URL, LIMIT) == listed("a")


def test_what_is_no_list() -> None:
    rows = [
        b"<html><body><a href=/a>a</a></body></html>",
        b"<!DOCTYPE html><html><head><link rel=alternate href=/feed></head></html>",
        b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>x</p></body></html>',
        b"<svg xmlns='http://www.w3.org/2000/svg'><a><loc>/a</loc></a></svg>",
        b"<url><loc>/a</loc></url>",
        b"User-agent: *",
        b"http://example.com/a",
        b"{}",
        b"<",
        b"<!-- only -->",
        gzip.compress(b"<html></html>", mtime=0),
        gzip.compress(b"", mtime=0),
        b"\x1f\x8b",
        b"\x1f\x8bnot gzipped at all",
        gzip.compress(b"<urlset/>", mtime=0)[:12],
    ]
    for body in rows:
        assert listing(body, URL, LIMIT) is None


def test_hostile_pages_are_no_lists() -> None:
    for name in PAGES:
        start = time.process_time()
        assert listing(PAGES[name], URL, LIMIT) is None
        assert listing(b"<urlset>" + PAGES[name], URL, LIMIT) is not None
        assert time.process_time() - start < 2


def test_a_gzip_bomb_is_cut_at_the_limit() -> None:
    entry = b"<url><loc>/a</loc></url>"
    body = b"<urlset>" + entry + b" " * 50_000_000 + b"<url><loc>/b</loc></url></urlset>"
    cut = replace(listed("a"), is_cut=True)
    assert listing(gzip.compress(body), URL, 8 + len(entry)) == cut
    assert listing(gzip.compress(body), URL, 8 + len(entry) - 7) == cut
    assert listing(gzip.compress(body), URL, 4) is None
    assert listing(gzip.compress(body), URL, LIMIT) == cut
    start = b"<urlset>" + entry
    assert listing(gzip.compress(start) + gzip.compress(b"</urlset>"), URL, len(start)) == cut
    small = b"<urlset>" + entry + b"</urlset>"
    assert listing(gzip.compress(small), URL, len(small)) == listed("a")


def entities(first: str, levels: int) -> str:
    declared = "".join(f'<!ENTITY x{n} "{f"&x{n - 1};" * 10}">' for n in range(1, levels))
    return f"<!DOCTYPE urlset [<!ENTITY x0 {first}>{declared}]>"


def test_entities_are_not_followed() -> None:
    rows = [
        (entities('"ha"', 1), "/b&x0;"),
        (entities('"ha"', 10), "/&x9;"),
        (entities('"ha"', 10), "&x9;"),
        (entities('SYSTEM "file:///etc/passwd"', 1), "/&x0;"),
        (entities('SYSTEM "file:///etc/passwd"', 1), "&x0;"),
        (entities('SYSTEM "http://127.0.0.1:9/"', 1), "&x0;"),
        ("", "/&undeclared;"),
        ('<!DOCTYPE urlset SYSTEM "file:///etc/passwd">', "&x0;"),
        ('<!DOCTYPE urlset [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>', "&x;"),
    ]
    for doctype, loc in rows:
        start = time.process_time()
        xml = f"{doctype}<urlset><url><loc>/a</loc></url><url><loc>{loc}</loc></url></urlset>"
        found = listing(xml.encode(), URL, LIMIT)
        assert time.process_time() - start < 1
        assert found is not None
        assert set(found.pages) <= {E + "a", E}
        assert "root:" not in str(found)


DATED = "<url><loc>/a</loc><lastmod>{}</lastmod></url>"
PUBLISHED = "<pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate>"
HREF = '<link href="/a"/>'


def test_when_pages_were_changed() -> None:
    rows = [
        ("<urlset><url><loc>/a</loc><lastmod>1970-01-02</lastmod></url></urlset>", 86_400.0),
        ("<urlset><url><lastmod>1970-01-01T01:01:00+01:00</lastmod><loc>/a</loc></url></urlset>", 60.0),
        ("<urlset><url><loc>/a</loc><lastmod> 1970-01-02\n</lastmod></url></urlset>", 86_400.0),
        ("<urlset><url><loc>/a</loc><lastmod>yesterday</lastmod></url></urlset>", None),
        ("<urlset><url><loc>/a</loc><lastmod>2999-01-01</lastmod></url></urlset>", None),
        ("<urlset><url><loc>/a</loc><lastmod/></url></urlset>", None),
        ("<urlset><lastmod>1970-01-02</lastmod><url><loc>/a</loc></url></urlset>", None),
        (f"<urlset>{DATED.format('1970-01-02')}{DATED.format('1970-01-01')}</urlset>", 86_400.0),
        (f"<rss><channel>{PUBLISHED}<item><link>/a</link></item></channel></rss>", None),
        (f"<rss><channel><item><link>/a</link>{PUBLISHED}</item></channel></rss>", 86_400.0),
        (f"<feed><entry>{HREF}<updated>1970-01-02T00:00:00Z</updated></entry></feed>", 86_400.0),
        (f"<feed><entry>{HREF}<published>1970-01-02T00:00:00Z</published></entry></feed>", 86_400.0),
        (
            f"<feed><entry>{HREF}<published>1970-01-02</published><updated>1970-01-03</updated></entry></feed>",
            172_800.0,
        ),
    ]
    for xml, expected in rows:
        found = listing(xml.encode(), URL, LIMIT)
        assert found is not None
        assert found.pages == (E + "a",)
        assert found.lastmods == ({} if expected is None else {E + "a": expected})


ENTRY = b"<url><loc>/%d</loc></url>"


@pytest.mark.parametrize(("more", "cut"), [pytest.param(0, False, marks=pytest.mark.long), (1, True)])
def test_a_list_is_cut_at_the_limits(more: int, cut: bool) -> None:
    addresses = b"".join(ENTRY % number for number in range(MAX_ADDRESSES + more))
    found = listing(b"<urlset>" + addresses, URL, LIMIT)
    assert found is not None
    assert (len(found.pages), found.pages[-1], found.is_cut) == (MAX_ADDRESSES, f"{E}{MAX_ADDRESSES - 1}", cut)
    found = listing(b"<urlset>" + b"<a/>" * (MAX_TAGS - 3 + more) + b"<url><loc>/a", URL, LIMIT)
    assert found == replace(listed("" if cut else "a"), is_cut=cut)
    few = MAX_CHARACTERS // 2_000 + 2 * more  # the first one beyond the limit is read
    relative = b"".join(b"<url><loc>%04d</loc></url>" % number for number in range(few))
    found = listing(b"<urlset>" + relative, E + "x" * (1_995 - len(E)) + "/", LIMIT)
    assert found is not None
    assert (len(found.pages), found.is_cut) == (few - more, cut)
    last = b"<url><loc>/a</loc></url>"
    found = listing(
        b"<urlset>" + b"<a a='' b=\n\"\"/>" * (MAX_ATTRIBUTES // 2) + b"<a c=''/>" * more + last, URL, LIMIT
    )
    assert found == replace(listed("" if cut else "a"), is_cut=cut)
    found = listing(b"<urlset>" + b"&x;&amp;&#97;" * MAX_ENTITIES + b"&y;" * more + last, URL, LIMIT)
    assert found == replace(listed("" if cut else "a"), is_cut=cut)
    start, members = gzip.compress(b"<urlset><url><loc>/a</loc></url>"), gzip.compress(b" ")
    assert listing(start + members * (MAX_MEMBERS - 1 + more), URL, LIMIT) == replace(listed("a"), is_cut=cut)


SIZE = 10_000_000
HOSTILE = {
    "one entry": b"<urlset><url>" + b"<loc>/a</loc>" * (SIZE // 13),
    "one item with dates": b"<rss><item>" + b"<pubDate/><link>a</link>" * (SIZE // 24),
    "dates": b"<urlset>" + b"<url><loc>a</loc><lastmod>Fri, 02 Jan 1970 0:0 x</lastmod></url>" * (SIZE // 64),
    "no addresses": b"<urlset>" + b"<url><loc>http://[</loc></url>" * (SIZE // 30),
    "empty elements": b"<urlset>" + b"<a/>" * (SIZE // 4),
    "attributes": b"<urlset " + b" ".join(b"a%x=''" % number for number in range(SIZE // 10)) + b"/>",
    "entities": b"<urlset><url><loc>" + b"&x;" * (SIZE // 3),
    "gzipped often": gzip.compress(b"<urlset>") + gzip.compress(b"") * (SIZE // 20),
}


def test_a_hostile_list_takes_no_time() -> None:
    for body in HOSTILE.values():
        start = time.process_time()
        assert listing(body, URL, SIZE) is not None
        assert time.process_time() - start < 8


NEWS = (
    "<urlset xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'><url><loc>/a</loc><n:news>"
    "<n:publication><n:name>The Bee</n:name></n:publication><n:publication_date>2024-05-06</n:publication_date>"
    "<n:title> Bees in\n May </n:title></n:news></url></urlset>"
)
JSON = '{{"version": "https://jsonfeed.org/version/1.1", "title": "All", "items": {}}}'


def test_titles_and_dates() -> None:
    rows = [
        (NEWS, "a", ["Bees in May"], ["2024-05-06"]),
        ("<rss><item><title>Bees</title><link>/a</link></item></rss>", "a", ["Bees"], []),
        ("<feed><title>All</title><entry><title>Bees</title><link href='/a'/></entry></feed>", "a", ["Bees"], []),
        (
            JSON.format('[{"url": "/a", "title": "Bees", "date_published": "2024-05-06"}]'),
            "a",
            ["Bees"],
            ["2024-05-06"],
        ),
        (JSON.format('[{"external_url": "/a"}, {"id": "b"}, 7, {"url": 7, "title": []}]'), "a", [], []),
        (JSON.format('{"url": "/a"}'), "", [], []),
        ("\ufeff" + JSON.format("[]"), "", [], []),
        (JSON.format('[{"url": "/a", "id": ' + "9" * 10_000 + "}]"), "a", [], []),
        (JSON.format('[{"url": "/a", "title": "' + "b" * 400 + '"}]'), "a", ["b" * MAX_TITLE], []),
    ]
    for body, pages, titles, dates in rows:
        found = listing(body.encode(), URL, LIMIT)
        assert found is not None
        assert (found.pages, [*found.titles.values()]) == (listed(pages).pages, titles)
        assert [time.strftime("%Y-%m-%d", time.gmtime(when)) for when in found.lastmods.values()] == dates


def test_other_json_is_no_feed() -> None:
    rows = [
        JSON.format("[" + ",".join(["{}"] * MAX_ADDRESSES) + "]"),
        JSON.format("[" + ",".join(["[]"] * MAX_ADDRESSES) + "]"),
        "{}",
        '{"version": 7}',
        '{"version": "https://other.example/"}',
        "{" * 100_000,
        '{"a":' * 100_000,
        "{\xff",
    ]
    for body in rows:
        assert listing(body.encode("latin-1"), URL, LIMIT) is None


XHTML = "xmlns:xhtml='http://www.w3.org/1999/xhtml'"


def test_a_sitemap_names_translations() -> None:
    rows = [
        ("", {}),
        ("<xhtml:link rel='alternate' hreflang='zh' href='/zh/a'/>", {"a": ["zh/a"]}),
        (
            "<xhtml:link rel='alternate' hreflang='en' href='/a'/><xhtml:link hreflang='zh' href='/zh/a'/>",
            {"a": ["zh/a"]},
        ),
        ("<xhtml:link rel='alternate' media='print' href='/print'/>", {}),
        ("<xhtml:link rel='alternate' hreflang='zh' href='mailto:a@b.c'/>", {"a": []}),
    ]
    for links, translations in rows:
        found = listing(f"<urlset {XHTML}><url><loc>/a</loc>{links}</url></urlset>".encode(), URL, LIMIT)
        assert found is not None
        assert found.pages == (f"{E}a",)
        assert found.translations == {
            f"{E}{page}": tuple(f"{E}{to}" for to in to_it) for page, to_it in translations.items()
        }


def test_a_sitemap_names_no_translations_of_another_site() -> None:
    links = f"<xhtml:link rel='alternate' hreflang='zh' href='{E}zh/a'/>"
    entries = "".join(f"<url><loc>{url}</loc>{links}</url>" for url in ("http://b.example/a", f"{E}a"))
    found = listing(f"<urlset {XHTML}>{entries}</urlset>".encode(), URL, LIMIT)
    assert found is not None
    assert found.translations == {f"{E}a": (f"{E}zh/a",)}
