"""Links to the pages before and after a page, around its text."""

import pytest

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


@pytest.mark.parametrize(
    ("body", "expected"),
    [
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
    ],
)
def test_links_to_neighbours_around_the_text(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


@pytest.mark.parametrize("relation", ["prev", "PREVIOUS", "next", "up", "home", "start", "contents"])
def test_relations_of_neighbours(relation: str) -> None:
    assert texts("<p>Bees<p>Wasps", f"<link rel={relation} href=a.html title=Wasps>") == ["Bees"]


@pytest.mark.parametrize(
    "head", ["", "<link rel=next>", "<link rel=next href=http://[ title='']", "<link title=Wasps>"]
)
def test_odd_heads(head: str) -> None:
    assert texts("<p>Bees<p>Wasps", head) == ["Bees", "Wasps"]


def test_arrows_are_images_that_lead_to_neighbours() -> None:
    body = "<a href=ants.html><img src=right.png alt=Next></a><a href=flies.html><img src=fly.png></a><img src=bee.png>"
    page = Page.from_html(f"<head>{HEAD}</head><body>{body}</body>", "https://example.org/bees.html")
    assert neighbour_images(page) == {"https://example.org/right.png"}
