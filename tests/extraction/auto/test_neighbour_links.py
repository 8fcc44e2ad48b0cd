"""Links to the pages before and after a page, around its text."""

from crawler.extraction.auto.neighbour_links import neighbour_images, without_neighbours
from crawler.page.page import Page

HEAD = (
    "<link rel=up>"
    "<link rel=prev href=wasps.html title='Chapter 1. Wasps'><link rel='next nofollow' href=ants.html"
    " title='Chapter&nbsp;3. Ants'><link rel=stylesheet href=style.css title='Chapter 4. Style'>"
)


def texts(body: str, head: str = HEAD) -> list[str]:
    """What is left of the blocks of a page."""
    page = Page.from_html(f"<head>{head}</head><body>{body}</body>", "https://example.org/bees.html")
    return [page.blocks[place].text for place in without_neighbours(page, list(range(len(page.blocks))))]


def test_links_to_neighbours_around_the_text() -> None:
    rows = [
        # Titles of the head, and links to the pages themselves.
        ("<p>Chapter 1. Wasps<p>Bees<p>Chapter 3. Ants", ["Bees"]),
        ("<p>Bees<table><tr><td>Chapter 1. Wasps<td>Chapter 3. Ants</table>", ["Bees"]),
        ("<p>Bees<p><a href=wasps.html>Prev</a><p><a href=ants.html>Next</a>", ["Bees"]),
        # Not within the text, no headings, no contents, and nothing that the head does not name.
        ("<p>Bees<p>Chapter 1. Wasps<p>Flies", ["Bees", "Chapter 1. Wasps", "Flies"]),
        ("<h2>Chapter 3. Ants</h2><p>Bees", ["Chapter 3. Ants", "Bees"]),
        ("<p>Bees<ul><li><a href=ants.html>Ants</a></ul>", ["Bees", "Ants"]),
        ("<p>Bees<p>See <a href=ants.html>Ants</a>", ["Bees", "See Ants"]),
        ("<p>Bees<p><a href=flies.html>Flies</a>", ["Bees", "Flies"]),
        ("<p>Bees<p>Chapter 4. Style", ["Bees", "Chapter 4. Style"]),
        # Nothing else.
        ("<p>Chapter 1. Wasps", []),
        ("<p><a href=bees.html>Bees</a>", ["Bees"]),
    ]
    for body, expected in rows:
        assert texts(body) == expected


def test_relations_of_neighbours() -> None:
    for relation in ["prev", "PREVIOUS", "next", "up", "home", "start", "contents"]:
        assert texts("<p>Bees<p>Wasps", f"<link rel={relation} href=a.html title=Wasps>") == ["Bees"]


def test_odd_heads() -> None:
    rows = ["", "<link rel=next>", "<link rel=next href=http://[ title='']", "<link title=Wasps>"]
    for head in rows:
        assert texts("<p>Bees<p>Wasps", head) == ["Bees", "Wasps"]


def test_arrows_are_images_that_lead_to_neighbours() -> None:
    body = "<a href=ants.html><img src=right.png alt=Next></a><a href=flies.html><img src=fly.png></a><img src=bee.png>"
    page = Page.from_html(f"<head>{HEAD}</head><body>{body}</body>", "https://example.org/bees.html")
    assert neighbour_images(page) == {"https://example.org/right.png"}


NEXT = "<a href=ants.html>All about ants</a>"
PREVIOUS = "<a href=wasps.html>All about wasps</a>"


def test_words_for_neighbours_around_the_text() -> None:
    rows = [
        # The word is beside the link.
        f"<li>Next: {NEXT}<li>Previous: {PREVIOUS}",
        f"<p>NEXT POST: {NEXT}",
        f"<p>Next page {NEXT} →",
        f"<p>« Previous article: {PREVIOUS} | Next article: {NEXT} »",
        f"<p>prev {PREVIOUS}",
        f"<p>Newer: {NEXT}<br>Older: {PREVIOUS}",
        f"<p>上一篇：{PREVIOUS}<p>下一篇：{NEXT}",
        f"<p>上一篇文章: {PREVIOUS} 下一篇文章: {NEXT}",
        f"<p>上一章 {PREVIOUS}",
        f"<p>下一頁：{NEXT}",
        f"<h3>Next chapter: {NEXT}</h3>",
        # The word is in the link.
        "<p><a href=ants.html>Next</a>",
        "<p><a href=ants.html>Next post: Ants</a>",
        "<p><a href=ants.html>Next → Ants</a>",
        "<p><a href=wasps.html>← Older posts</a> | <a href=ants.html>Newer posts →</a>",
        "<p><a href=wasps.html>« Previous Wasps</a>",
        "<p><a href=wasps.html>上一页</a> <a href=ants.html>下一页</a>",
        "<p><a href=ants.html>下一篇 蚂蚁</a>",
    ]
    for line in rows:
        assert texts(f"<p>Bees{line}", head="") == ["Bees"]
        assert texts(f"{line}<p>Bees", head="") == ["Bees"]


def test_other_lines_around_the_text() -> None:
    rows = [
        "Next: Ants",
        "Next: ants, bees and others",
        f"Next we look at {NEXT}",
        f"Next: {NEXT} and wasps",
        f"Nextcloud: {NEXT}",
        f"Older {NEXT} sting",
        f"上一篇写了{PREVIOUS}",
        NEXT,
        f"{NEXT} →",
        "<a href=ants.html>Next generations of ants</a>",
        "<a href=ants.html>Next-door ants</a>",
        "<a href=ants.html>Nextcloud: ants</a>",
        "<a href=wasps.html>Older</a> <a href=ants.html>Ants</a>",
        "<a href=ants.html>下一篇蚂蚁</a>",
        f"Next: <a href=ants.html>{'a' * 595}</a>",
    ]
    for line in rows:
        assert len(texts(f"<p>Bees<p>{line}", head="")) == 2


def test_words_for_neighbours_within_the_text() -> None:
    assert texts(f"<p>Bees<p>Next: {NEXT}<p>Flies", head="") == ["Bees", "Next: All about ants", "Flies"]


def test_words_for_neighbours_on_a_page_without_an_address() -> None:
    page = Page.from_html(f"<p>Bees<p>Next: {NEXT}")
    assert without_neighbours(page, [0, 1]) == [0]
