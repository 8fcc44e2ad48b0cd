"""What its owner marks as not to be used is in no method's text, whatever the mark; links and the rest stay."""

import pytest

from crawler.api.document import clean
from crawler.extraction import EXTRACTORS
from crawler.page.owner_marks import MarkedParts, OwnerMark
from crawler.page.page import Page

KEPT = "Bees dance in the dark of the hive, and the others follow them to the flowers. " * 3
GONE = "Moths eat the combs of weak hives in the last warm days of the late autumn. " * 3
START, END = f"<html><head><title>Of bees</title></head><body><main><h1>Bees</h1><p>{KEPT}</p>", f"<p>{KEPT}</p></main>"


def between(*inner: str) -> str:
    return "".join((START, *inner, END))


def off(kind: str) -> str:
    return f"<!--googleoff: {kind}-->"


def on(kind: str) -> str:
    return f"<!--googleon: {kind}-->"


MARKED = {
    "an attribute": between(f"<div data-nosnippet><p>{GONE}</p></div>"),
    "with a value": between(f'<section data-nosnippet="false">{GONE}</section>'),
    "in capitals": between(f"<SPAN data-nosnippet>{GONE}</SPAN>"),
    "in each other": between(f"<div data-nosnippet><p>x</p><span data-nosnippet>{GONE}</span><p>{GONE}</p></div>"),
    "for models": between(f"<p data-ai-crawl-exclude>{GONE}</p>"),
    "for a search": between(f'<ul data-pagefind-ignore="all"><li>{GONE}</li></ul>'),
    "an image": between(f'<div data-nosnippet><img src="/a.png" alt="{GONE}"></div>'),
    "comments": between(off("all"), f"<p>{GONE}</p>", on("all")),
    "index": between(off("index"), f"<p>{GONE}</p>", on("index")),
    "snippet": between(f"<p><!-- GOOGLEOFF: SNIPPET -->{GONE}<b>{GONE}</b>{GONE}<!-- Googleon: snippet --></p>"),
    "across elements": between(f"<div><p>{off('all')}{GONE}</p></div><div><p>{GONE}</p>{on('all')}</div>"),
    "never on": f"{START}{off('index')}<p>{GONE}</p></main><footer>{GONE}</footer>",
    "no nesting": between(off("index"), off("index"), GONE, on("index")),
    "another kind on": between(off("index"), GONE, on("anchor"), f"<p>{GONE}</p>", on("all")),
    "scripts": between(f"<div data-nosnippet>x</div><script>var a = ['{GONE}']</script>"),
}  # fmt: skip
UNMARKED = {
    "another element": between(f"<p data-nosnippet>{GONE}</p>"),
    "not marked": between(f'<p data-ai-crawl-exclude="false">{GONE}</p>'),
    "anchor": between(off("anchor"), f"<p>{GONE}</p>", on("anchor")),
    "on again": between(off("all"), on("index"), on("snippet"), f"<p>{GONE}</p>"),
    "a comment about it": between("<!-- see googleoff: index -->", f"<p>{GONE}</p>"),
}
METHODS = [name for name in EXTRACTORS if name not in ("template", "template-svm")]
"""Those that need no library of a site."""


def test_an_image_in_a_marked_part_stays_without_its_words() -> None:
    marked = MARKED["an image"].replace("/a.png", "/hive.png").replace("alt=", 'width="640" height="480" alt=')
    document = clean(marked.encode(), "http://a.example/", content_type="text/html")
    assert [(image["url"], image["alt"]) for image in document.images] == [("http://a.example/hive.png", "")]


def test_no_method_has_marked_text() -> None:
    for name in MARKED:
        for method in METHODS:
            document = clean(MARKED[name].encode(), "http://a.example/", content_type="text/html", method=method)
            assert "Moths" not in document.text + document.markdown, method
            assert "Bees dance" in document.text, method


def test_what_is_not_marked_stays() -> None:
    for name in UNMARKED:
        page = Page.from_html(UNMARKED[name])
        assert any("Moths" in block.text for block in page.blocks)
        assert not page.withheld.is_whole


def test_marks_are_evidence_that_says_nothing_about_uses() -> None:
    html = between(f"<div data-nosnippet>{GONE}</div>" * 2, off("all"), GONE, on("all"))
    rights = clean(html).rights
    assert [(one["signal"], one["where"], one["says"]) for one in rights["evidence"]] == [
        ("owner_mark", "comment googleoff, parts: 1", "<!--googleoff: all-->"),
        ("owner_mark", "attribute data-nosnippet, parts: 2", "<div data-nosnippet>"),
    ]
    assert set(rights["uses"].values()) == {"unknown"}


def test_links_stay_with_their_words() -> None:
    page = Page.from_html(
        between('<nav data-pagefind-ignore><a href="/wax">All about <b>wax</b></a></nav>'), "http://a.example/"
    )
    assert [(link.url, link.text, link.title) for link in page.links] == [("http://a.example/wax", "", "All about wax")]


def test_a_page_without_its_main_part_has_no_text() -> None:
    rows = [
        f"<body data-ai-crawl-exclude><p>{GONE}</p>",
        f"<!--googleoff: all--><html><body><p>{GONE}</p>",
        f"<header>{KEPT}</header><main data-pagefind-ignore>{GONE}</main>",
        f"<header>{KEPT}</header><article><div data-nosnippet>{GONE}</div></article>",
    ]
    for html in rows:
        page = Page.from_html(html)
        assert page.withheld.is_whole
        assert page.blocks == ()


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ("<span data-nosnippet>x" * 2_000 + KEPT, 2_000),
        ("<a href=/a data-ai-crawl-exclude>" * 2_000, 2_000),
        ((off("all") + on("all")) * 20_000 + KEPT, 20_000),
    ],
)
def test_very_many_marks_are_counted(html: str, count: int) -> None:
    page = Page.from_html(html)
    assert [parts.count for parts in page.withheld.parts] == [count]


def test_the_first_mark_is_shown_as_it_is_written() -> None:
    page = Page.from_html(between('<div data-pagefind-ignore="index">x</div>'))
    assert page.withheld.parts == (MarkedParts(OwnerMark.PAGEFIND_IGNORE, '<div data-pagefind-ignore="index">', 1),)
