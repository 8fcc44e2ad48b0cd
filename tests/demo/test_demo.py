"""The pages of the demo site: what they show, where they link, and every oddity they promise."""

from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import pytest

from crawler.demo import articles, resources
from crawler.demo import site as special

BASE = "http://demo.test/"
SITE = resources(BASE)
ENCODINGS = {article.path: article.encoding for article in articles()} | {
    "/old/": "gb18030",
    "/old/en/": "windows-1252",
}
HTML_PATHS = sorted(path for path, r in SITE.items() if r.content_type.startswith("text/html") and r.body)
LINKS = {("a", "href"), ("link", "href"), ("img", "src"), ("img", "data-src"), ("form", "action")}


class Seen(NamedTuple):
    """What a reader gets from a page: its text, its links with the tag they stand in, and its nofollow links."""

    text: str
    links: list[tuple[str, str]]
    nofollow: list[str]


class Reader(HTMLParser):
    """Collects text and addresses."""

    def __init__(self):
        super().__init__()
        self.text, self.links, self.nofollow = [], [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.links += [(tag, value) for name, value in attrs if (tag, name) in LINKS and values.get("rel") != "license"]
        self.links += [(tag, part.split()[0]) for part in values.get("srcset", "").split(",") if part]
        if "nofollow" in values.get("rel", ""):
            self.nofollow.append(values["href"])

    def handle_data(self, data):
        self.text.append(data)


def seen(path):
    reader = Reader()
    reader.feed(SITE[path].body.decode(ENCODINGS.get(path, "utf-8")))
    reader.close()
    return Seen("".join(reader.text), reader.links, reader.nofollow)


PAGES = {path: seen(path) for path in HTML_PATHS}


def targets(path, tags=("a",)):
    """The paths a page links to from these tags."""
    return {urlsplit(urljoin(BASE + path[1:], link)).path for tag, link in PAGES[path].links if tag in tags}


def reached(start, without=()):
    """Every path that following links from `start` comes to, not going through the pages in `without`."""
    done, waiting = set(), [start]
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        if path in PAGES and path not in without:
            waiting += targets(path)
        elif SITE[path].location:
            waiting.append(SITE[path].location)
    return done


def test_the_redirect_leads_to_an_article_and_is_linked():
    assert SITE[special.REDIRECT].location == special.REDIRECT_TARGET
    assert special.REDIRECT_TARGET in ENCODINGS
    assert any(special.REDIRECT in targets(path) for path in PAGES)


def test_every_link_stays_on_the_site_and_leads_somewhere() -> None:
    for path in HTML_PATHS:
        tags = {tag for tag, _ in LINKS} | {"source"}
        for _, link in PAGES[path].links:
            assert not urlsplit(link).scheme, link
            assert not urlsplit(link).netloc, link
        assert {t for t in targets(path, tags) if SITE[t].status == 404} <= {special.DEAD}


def test_articles_come_newest_first():
    assert articles()[0].path == "/zh/bees/hornets"
    assert articles()[-1].path == "/old/fengxiang.htm"


def test_about_forty_pages_in_two_languages_on_two_topics():
    assert 40 <= sum(SITE[path].status == 200 for path in PAGES) <= 50
    assert Counter((a.frame, a.language, a.topic) for a in articles()) == {
        ("modern", "en", "bees"): 9,
        ("modern", "zh", "bees"): 7,
        ("modern", "en", "rail"): 5,
        ("modern", "zh", "rail"): 4,
        ("old", "zh", "bees"): 3,
        ("old", "zh", "rail"): 2,
        ("old", "en", "bees"): 2,
        ("old", "en", "rail"): 2,
    }


def test_a_page_shows_its_article() -> None:
    for article in articles():
        text = PAGES[article.path].text
        said = [part for remark in article.remarks for part in remark]
        for part in (article.title, article.author, str(article.date), article.caption, *article.paragraphs, *said):
            assert part in text
        assert len(article.remarks) in (0, 3)
        assert 4 <= len(article.blocks) <= 8
        assert not any(mark in text for mark in ("](", "$", "\ufffd"))


def test_a_page_declares_the_encoding_it_should() -> None:
    for article in articles():
        head = SITE[article.path].body.lower().partition(b"</head>")[0]
        declared = {
            "/old/fengxiang.htm": b"charset=gb2312",
            "/old/yuedong.htm": b"charset=gb2312",
            "/old/dianyue.htm": b"charset=gb2312",
            "/old/fengla.htm": b"",
            "/old/shangyou.htm": b"",
        }.get(article.path, b'charset="utf-8"' if article.frame == "modern" else b"charset=windows-1252")
        assert declared in head
        assert (b"charset" in head) == bool(declared)


@pytest.mark.parametrize(
    ("path", "encoding"),
    [("/old/fengxiang.htm", "gb2312"), ("/old/en/seguin.htm", "ascii"), ("/old/en/smoke.htm", "latin-1")],
)
def test_the_declared_or_likely_encoding_is_not_enough(path, encoding):
    body = SITE[path].body
    if encoding == "latin-1":
        assert b"\x92" in body  # a curly quote, which latin-1 reads as a control character
    else:
        with pytest.raises(UnicodeDecodeError):
            body.decode(encoding)


def test_following_links_reaches_every_article_and_every_page():
    pages = reached("/")
    assert {path for article in articles() for path in article.paths} <= pages
    assert set(PAGES) <= pages


def test_one_article_hangs_on_the_noindex_page():
    assert b'<meta name="robots" content="noindex' in SITE[special.ARCHIVE].body
    assert sum(b"noindex" in resource.body for resource in SITE.values()) == 1
    everything = {path for article in articles() for path in article.paths}
    assert everything - reached("/", without={special.ARCHIVE}) == {special.UNLISTED}


def test_the_members_page_is_only_linked_nofollow():
    linking = [path for path in PAGES if special.MEMBERS in targets(path)]
    assert linking
    for path in linking:
        assert PAGES[path].nofollow == [special.MEMBERS]
        assert [link for _, link in PAGES[path].links].count(special.MEMBERS) == 1


def test_the_duplicate_is_the_same_page_and_both_addresses_are_linked():
    (paths,) = [article.paths for article in articles() if len(article.paths) > 1]
    assert paths == ("/rail/rainhill", special.DUPLICATE)
    assert SITE[paths[0]] == SITE[paths[1]]
    assert all(any(path in targets(page) for page in PAGES if page not in paths) for path in paths)


def test_a_page_links_what_its_article_recommends() -> None:
    for article in articles():
        assert article.related
        assert set(article.related) <= targets(article.path)
        if article.frame == "old":  # where the left column links every article as well
            titles = {other.path: other.title for other in articles()}
            assert all(PAGES[article.path].text.count(titles[path]) == 2 for path in article.related)


def test_what_content_files_say_is_escaped():
    evil = replace(articles()[0], title="<b>&</b>", author='"<i>', caption='"><s>', blocks=("<u>$x</u>",))
    evil = replace(evil, head_data=("json-ld", "og"), remarks=(("<i>", "<s>$x</s>"),))
    for body in (special.article_page(evil), special.article_page(replace(evil, frame="old", related=()))):
        assert not any(mark in body for mark in ("<b>&</b>", '"<i>', "<s>", "<u>"))
        assert "&lt;u&gt;$x&lt;/u&gt;" in body


def test_adverts_are_image_links_with_a_click_through():
    modern = SITE["/bees/swarm"].body
    assert modern.count(b'<a href="/ads/click?id=') == 2
    assert b'&amp;from=/bees/swarm"><img src="/ads/banner' in modern
    assert b'<a href="/ads/click?id=7&amp;from=/old/fengla.htm"' in SITE["/old/fengla.htm"].body


def test_pages_use_each_way_of_writing_an_image_and_a_date():
    modern = [SITE[article.path].body for article in articles() if article.frame == "modern"]
    for mark in (
        b"data-src=",
        b"<picture>",
        b'"datePublished"',
        b'"article:published_time"',
        b"pull-quote",
        b"<ul>\n<li>",
    ):
        assert sum(mark in body for body in modern) >= 5, mark
    assert not all(b'"datePublished"' in body for body in modern)
    assert all(b"<time datetime=" in body for body in modern)


@pytest.mark.parametrize(
    ("path", "mark"),
    [
        ("/bees/waggle-dance", b'"license": "https://creativecommons.org/licenses/by/4.0/"'),
        ("/zh/bees/hornets", b'<link rel="license" href="https://creativecommons.org/licenses/by-sa/4.0/">'),
        ("/zh/bees/queen-rearing", b'<meta name="robots" content="noai">'),
    ],
)
def test_some_articles_say_what_they_may_be_used_for(path, mark):
    assert mark in SITE[path].body
    assert mark not in SITE["/bees/swarm"].body
