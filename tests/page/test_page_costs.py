"""Pages made to cost time or text: products of two long things, and ordinary pages that look like them."""

import time
from collections.abc import Callable

import pytest

from crawler.extraction import EXTRACTORS, extract
from crawler.extraction.auto.readers_comments import without_comments_beside_main
from crawler.metadata.page_purpose import is_listing
from crawler.metadata.photo_page import is_photo_page
from crawler.metadata.publication_date import publication_date
from crawler.metadata.title import headline
from crawler.page.links import MAX_CHARACTERS
from crawler.page.page import Extraction, Page
from crawler.page.text import fingerprint

ARTICLE = "".join(f"<p>This is paragraph {number} of a long article about bees.</p>" for number in range(120))
DATED = "<p>12 May 2012 and some words</p>" * 100
LONG_LINE = f"<p>{'é b' * 300}</p>"
COSTLY: dict[str, Callable[[], object]] = {
    "long base": lambda: links("<base href='http://h/" + "A" * 400_000 + "/'>" + "<a href=x>t</a>" * 4_000),
    "images in a link": lambda: links("<a href=x>" + "<img src=a>some words" * 50_000),
    "relative links": lambda: links("".join(f"<a href=é{number}>t</a>" for number in range(200_000))),
    "attributes": lambda: links("<p " + " ".join(f"a{number}='>'" for number in range(500_000)) + ">"),
    "attributes and <": lambda: links("<p " + " ".join(f"a{number} <" for number in range(200_000)) + ">"),
    "open scripts": lambda: links("<script" * 500_000),
    "open comments": lambda: links("<!--" * 1_000_000),
    "open quotes": lambda: links("<a =' =\"" * 500_000),
    "marks": lambda: fingerprint("a" + "\u0301" * 80_000 + "\u0316" * 80_000),
    "blanks in a width": lambda: links("<img src=a.png width='1" + " " * 1_000_000 + "x'>"),
    "blanks in a table's width": lambda: framed("<table width='1" + " " * 1_000_000 + "x'><tr><td><p>Text."),
    "image names": lambda: is_photo_page(*read(f"<title>{'a' * 1_000_000}</title><img src=a.jpg>")),
    "headings above images": lambda: is_photo_page(
        *read("<h1>a</h1>" * 40_000 + "<a href=b.jpg><img src=c.jpg alt=d></a>" * 2_000)
    ),
    "parameters of headings": lambda: links(
        "".join(f"<h2 id=x><a href='/hives?{'x=x&' * 2_000}y={number}'>h</a></h2>" for number in range(200))
    ),
    "links deep in a heading": lambda: links(f"<h2 id=x>{'<span>' * 500}{'<a href=?id=x>h</a>' * 20_000}"),
    "landmarks in landmarks": lambda: without_comments_beside_main(
        Page.from_html(f"{'<main>' * 1_500}{'<p>Bees dance.' * 40_000}"), [0]
    ),
    "names of a site": lambda: read(f"<title>A: b</title><header>{'<p>A' * 1_000}{LONG_LINE * 1_000}</header>"),
    "class of a head": lambda: read(f"<title>A: b</title><div class='{'x-' * 500_000}'>{'<p>A' * 1_000}"),
    "space in an owner's mark": lambda: links(f"<!--googleoff{' ' * 100_000}x-->"),
    "owner's marks": lambda: links("<p>" + "<!--googleoff: all-->" * 200_000),
    "parts in parts with an owner's mark": lambda: links(
        f"<p data-pagefind-ignore>Bees.</p>{'<article>' * 1_500}{'<br>' * 20_000}"
    ),
    "long class": lambda: dated(f"<div class='{'x ' * 1_000_000}'>{DATED}</div>"),
}


def links(html: str) -> int:
    return len(Page.from_html(html, "http://example.com/hives").links)


def read(html: str) -> tuple[Page, Extraction]:
    page = Page.from_html(html, "http://example.com/hives")
    return page, Extraction("Bees dance.", headline(page), blocks=page.blocks)


def framed(html: str) -> str:
    return extract(html, method="framework").text


def dated(html: str) -> str | None:
    page = Page.from_html(html, "http://example.com/")
    return publication_date(page, EXTRACTORS["auto"](page)).moment


def test_time_is_bounded() -> None:
    for name in COSTLY:
        started = time.process_time()
        COSTLY[name]()
        assert time.process_time() - started < 4


def test_entries_with_one_target_are_not_compared_with_all_its_links() -> None:
    entries = read("<h2><a href=/b>How the bees dance</a></h2>" * 10_000)
    started = time.process_time()
    is_listing(*entries)
    assert time.process_time() - started < 2


def test_an_ordinary_page_loses_nothing() -> None:
    rows = [
        "<script>for(i=0;i<n;i++){run()} // don't count</script>",
        "<p>If x <y it doesn't hold.</p>",
        '<a href="x.html"">t</a>',
        "<p title='it's here'>Well.</p>",
        "<!-- don't <b -->",
        f"<div data-x='{'a b=c ' * 2_000}'></div>",
    ]
    for before in rows:
        text = extract(before + ARTICLE + "<p>It's over.</p>").text
        assert all(f"paragraph {number} of" in text for number in range(1, 120))


@pytest.mark.parametrize(("count", "read", "cut"), [(10_000, 10_000, 0), (10_002, 10_000, 2)])
def test_links_beyond_the_limit_are_counted(count: int, read: int, cut: int) -> None:
    page = Page.from_html("<a href=x>t</a>" * count, "http://example.com/")
    assert (len(page.links), page.cut) == (read, cut)


def test_addresses_are_read_up_to_a_number_of_letters() -> None:
    for count, cut in [(1_000, 0), (1_002, 2)]:
        for tag in ["<a href={:04}>x</a>", "<img src={:04}>"]:
            base = "http://example.com/" + "x" * 1_976 + "/"
            page = Page.from_html(
                f"<base href='{base}'>" + "".join(map(tag.format, range(count))), "http://example.com/"
            )
            assert (len(page.links) + len(page.images), page.cut) == (MAX_CHARACTERS // 2_000, cut)
