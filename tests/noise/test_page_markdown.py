"""The images in the Markdown of a page."""

import pytest

from crawler.extraction.auto import auto
from crawler.noise.page_markdown import page_markdown
from crawler.page.page import Page

TEXT = "<p>Bees dance in the dark of the hive to tell the others the way to the flowers, and the longer the better.</p>"


@pytest.mark.parametrize("judges_images", [True, False])
def test_arrows_to_the_next_page_are_left_out(judges_images: bool) -> None:
    arrows = "<p><a href=ants.html><img src=right.png alt=Next width=400 height=300></a></p>"
    photo = "<p><a href=flies.html><img src=bee.jpg alt=Bee width=400 height=300></a></p>"
    page = Page.from_html(
        "<head><title>Bees</title><link rel=next href=ants.html></head>"
        f"<article><h1>Bees</h1>{TEXT * 3}{arrows}{photo}{TEXT * 3}</article>",
        "https://example.org/bees.html",
    )
    markdown = page_markdown(page, auto(page), judges_images=judges_images)
    assert "bee.jpg" in markdown
    assert "right.png" not in markdown
