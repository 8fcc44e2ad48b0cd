"""Which pages have a sign that they need a browser, and when rendering has brought more."""

from dataclasses import replace

from crawler.extraction import EXTRACTORS
from crawler.page.page import MadeFrom, Page
from crawler.page.script_signs import (
    LONGEST_PLACEHOLDER,
    RenderedContent,
    Sign,
    content_of,
    has_gained,
    has_programs,
    lacks_text,
    sign_of,
)

SCRIPT = "<script src='/app.js'></script>"
LINKS = "".join(f"<a href='/page{number}'>Hive number {number} in the old garden</a> " for number in range(9))
PARAGRAPHS = [
    f"<p>In {year} the bees of this hive gathered nectar from clover and thyme before noon, and {end}.</p>"
    for year, end in (
        (1901, "the keeper took nine combs of dark honey in August"),
        (1907, "two swarms left it within a week, one of them for good"),
        (1912, "frost killed the lime blossom on which they had lived"),
        (1919, "a boy from the mill learned to handle the frames alone"),
        (1924, "wax moths spoiled what the mice had left in the shed"),
    )
]
TEXT, LONG = "".join(PARAGRAPHS[:3]), "".join(PARAGRAPHS)
NOTICE = "<noscript>You need to enable JavaScript to run this app.</noscript>"


def sign(body: str, head: str = SCRIPT) -> Sign | None:
    page = Page.from_html(f"<html><head>{head}</head><body>{body}</body></html>", "http://a.example/")
    return sign_of(page, page.once(EXTRACTORS["auto"]))


def test_signs() -> None:
    rows = [
        ("<div id='root'></div>", Sign.EMPTY_ROOT),
        ("<div id='__next'><div class='spinner'>Loading</div></div>" + LINKS, Sign.EMPTY_ROOT),
        ("<app-root></app-root>" + LINKS, Sign.EMPTY_ROOT),
        (f"<div id='app'><script>{'x = 1;' * 99}</script></div>{LINKS}", Sign.EMPTY_ROOT),
        (f"<div id='root'>{LONG}{LINKS}</div>", None),
        (f"{LONG}{LINKS}<div id='root'></div>", None),
        (TEXT + LINKS + NOTICE, Sign.NOTICE),
        (f"{TEXT}{LINKS}<p>请启用 JavaScript 后再访问本站。</p>", Sign.NOTICE),
        (f"{TEXT}{LINKS}<p>Bitte JavaScript im Browser aktivieren.</p>", Sign.NOTICE),
        (LONG + LINKS + NOTICE, None),
        (f"{TEXT}{LINKS}<p>Our course teaches JavaScript and Python.</p>", None),
        ("<p>Loading the list of hives</p>", Sign.LITTLE_TEXT),
        (LONG, Sign.FEW_LINKS),
        (LONG + LINKS, None),
        (TEXT + LINKS, None),
    ]
    for body, expected in rows:
        assert sign(body) is expected
        assert sign(body, head="") is None or "<script>" in body  # without scripts nothing would change


def test_programs() -> None:
    rows = [
        ("<script src='a.js'></script>", True),
        ("<script type='module'>run()</script>", True),
        ("<script type='TEXT/JavaScript'>run()</script>", True),
        ("<script type='application/ld+json'>{}</script>", False),
        ("<script> </script>", False),
        ("<p>No script</p>", False),
    ]
    for script, expected in rows:
        assert has_programs(Page.from_html(script)) is expected


def content(columns: int, *links: str) -> RenderedContent:
    return RenderedContent(columns, frozenset(links))


def test_gain() -> None:
    rows = [
        (content(0), content(59), False),
        (content(0), content(60), True),
        (content(400), content(559), False),
        (content(400), content(560), True),
        (content(0), content(0, "a"), True),
        (content(0, "a"), content(0, "a", "b", "c"), False),
        (content(0, "a"), content(0, "a", "b", "c", "d"), True),
        (content(5_000, "a"), content(0, "b", "c", "d"), False),
        (content(150), content(0, "b"), True),
    ]
    for before, after, expected in rows:
        assert has_gained(before, after) is expected


def test_only_links_within_the_site_count() -> None:
    page = Page.from_html("<a href='/a'>A</a><a href='http://b.example/'>B</a>", "http://a.example/")
    assert content_of(page, page.once(EXTRACTORS["auto"])).links == {"http://a.example/a"}


def app(text: str, more: str = "") -> str:
    return f"<div id='app'>{text}</div>{more}"


WIDEST = "a" * LONGEST_PLACEHOLDER


def test_which_pages_lack_text_until_they_are_rendered() -> None:
    rows = [
        ("", True),
        (app(""), True),
        (app("Please wait..."), True),
        (app("正在加载，请稍候"), True),
        (app("Please wait...") + LINKS, True),
        (f"<p>Hives</p>{NOTICE}", True),
        (f"<p>请启用 JavaScript 后再访问本站。</p>{LINKS}", True),
        (app(f"<p>{WIDEST}</p>"), True),
        (app(f"<p>{WIDEST}a</p>"), False),
        (app("", TEXT), False),
        (TEXT + NOTICE, False),
        ("<p>The hive is closed on Mondays.</p>", False),
    ]
    for body, expected in rows:
        html = f"<html><head>{SCRIPT}</head><body>{body}</body></html>"
        page = Page.from_html(html, "http://a.example/")
        assert lacks_text(page, page.once(EXTRACTORS["auto"])) is expected
        for other in (replace(page, made_from=MadeFrom.RENDERED), Page.from_html(html.replace(SCRIPT, ""), page.url)):
            assert not lacks_text(other, other.once(EXTRACTORS["auto"]))
