"""The texts that entries of feeds have with them."""

import json
import re

from crawler.page.feed_entries import EntryText
from crawler.page.sitemaps import day, listing

URL = "http://example.com/feed"
ATOM = "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:media='http://search.yahoo.com/mrss/'><entry>{}</entry></feed>"
RSS = (
    "<rss xmlns:content='http://purl.org/rss/1.0/modules/content/' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
    "<channel><item>{}</item></channel></rss>"
)
LINK = "<link href='/a'/>"
XHTML = "<h:div xmlns:h='http://www.w3.org/1999/xhtml'><h:p>Bees &amp; <h:b>hives</h:b></h:p></h:div>"


def text_of(body: str) -> EntryText | None:
    found = listing(body.encode(), URL, 1_000_000)
    assert found is not None
    assert found.pages == ("http://example.com/a",)
    return found.texts.get("http://example.com/a")


def test_the_content_of_atom() -> None:
    rows = [
        ("<content type='html'>&lt;p&gt;Bees &amp;amp; hives&lt;/p&gt;</content>", "<p>Bees &amp; hives</p>"),
        ("<content type='xhtml'><a:1b>Bees</a:1b><a:>hive</a:></content>", "<div>Bees</div><div>hive</div>"),
        (f"<content type='xhtml'>{XHTML}</content>", "<div><p>Bees &amp; <b>hives</b></p></div>"),
        ("<content>Bees &lt; hives\n\nA queen</content>", "<p>Bees &lt; hives</p><p>A queen</p>"),
        ("<media:content type='text/html'>no</media:content><content type='html'>Bees</content>", "Bees"),
        ("<content type='image/png'>iVBORw0KGgo=</content>", None),
        ("<content type='html' src='/a'/>", None),
        ("<summary type='html'>Bees</summary>", None),
    ]
    for content, html in rows:
        found = text_of(ATOM.format(LINK + content))
        assert (re.sub(' xmlns[^ >]+"', "", found.html) if found else None) == html


def test_what_an_entry_says() -> None:
    rows = [
        (
            ATOM.format(
                f"{LINK}<title>T</title><author><name>Ann</name><email>a@b.c</email></author><updated>2024-05-03</updated>"
                "<published>2024-05-02</published><content>Bees</content>"
            ),
            EntryText("<p>Bees</p>", title="T", author="Ann", published="2024-05-02"),
        ),
        (
            RSS.format(
                "<link>/a</link><title>T</title><dc:creator>Ann</dc:creator><pubDate>Thu, 02 May 2024 01:00:00 +0300"
                "</pubDate><description>no</description><content:encoded><![CDATA[<p>Bees</p>]]></content:encoded>"
            ),
            EntryText("<p>Bees</p>", title="T", author="Ann", published="Thu, 02 May 2024 01:00:00 +0300"),
        ),
        (RSS.format("<link>/a</link><description>Bees</description>"), None),
        (RSS.format("<link>/a</link><content:encoded/>"), None),
    ]
    for body, expected in rows:
        assert text_of(body) == expected


def test_the_content_of_json_feeds() -> None:
    rows = [
        (
            {"content_html": "<p>Bees</p>", "title": "T", "authors": [{"name": "Ann"}, {"name": "Ben"}, {}, "x"]},
            EntryText("<p>Bees</p>", title="T", author="Ann; Ben"),
        ),
        (
            {"content_text": "Bees <3", "author": {"name": "Ann"}, "date_published": "2024-05-02T01:00:00Z"},
            EntryText("<p>Bees &lt;3</p>", title="", author="Ann", published="2024-05-02T01:00:00Z"),
        ),
        ({"summary": "Bees"}, None),
        ({"content_html": ["Bees"]}, None),
    ]
    for item, expected in rows:
        feed = {"version": "https://jsonfeed.org/version/1.1", "items": [item | {"url": "/a"}]}
        assert text_of(json.dumps(feed)) == expected


def test_an_entry_within_another_has_no_text_of_its_own() -> None:
    inner = "<entry><link href='/b'/><content type='xhtml'><p>Bees</p></content></entry>"
    found = listing(ATOM.format(f"{LINK}<content type='xhtml'>{inner}</content>").encode(), URL, 10_000)
    assert found is not None
    assert [url.rpartition("/")[2] for url in found.texts] == ["a"]


def test_a_sitemap_has_no_texts() -> None:
    found = listing(b"<urlset><url><loc>/a</loc><content>Bees</content></url></urlset>", URL, 1_000_000)
    assert found is not None
    assert not found.texts


def test_the_day_of_a_date_that_no_computer_can_hold() -> None:
    assert day("0001-01-01T00:00:00+14:00") == "0001-01-01"
