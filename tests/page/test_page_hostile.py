import time
from functools import cached_property

import pytest
from hostile_pages import LONG, PAGES, WITHOUT_TEXT
from lxml import etree

from crawler.page.page import Page

PROPERTIES = sorted(
    name
    for name, value in vars(Page).items()
    if isinstance(value, property | cached_property) and not name.startswith("_")
)


def test_every_property_is_read() -> None:
    known = "base blocks canonical encoding html images language links meta refresh robots root title".split()
    assert set(known) <= set(PROPERTIES)


@pytest.mark.long
def test_which_have_no_text_and_which_are_long() -> None:
    blocks = {name: len(Page("", body).blocks) for name, body in PAGES.items()}
    assert {name for name, count in blocks.items() if not count} == WITHOUT_TEXT
    assert {name for name, count in blocks.items() if count >= 2_000} == LONG


def test_every_property_of_a_hostile_page_works_soon_and_mutates_nothing() -> None:
    for body in PAGES.values():
        start = time.process_time()
        page = Page("http://example.com/a/b", body, "text/html; charset=gbk", "noindex, :\nx:y:z\n:\n")
        before = etree.tostring(page.root)
        for name in PROPERTIES:
            getattr(page, name)
        near = {page.near_text(link) for link in (*page.links, *page.images)}
        assert time.process_time() - start < 2
        assert etree.tostring(page.root) == before
        assert all(len(text) <= 200 for text in near)
        assert all(
            block.text == block.text.strip() != "" and 0 <= block.linked <= len(block.text) for block in page.blocks
        )
        assert all(link.url.startswith(("http://", "https://")) for link in (*page.links, *page.images))
        for text in (page.title, page.language, *page.meta.values(), *(block.text for block in page.blocks)):
            text.encode()


def test_what_can_be_read_of_a_hostile_page_is() -> None:
    rows = """cut in a tag|cut in an attribute|cut in an entity|long attribute|many attributes|open script|open comment
    |duplicate attributes|two pages|odd names|surrogate bytes|nuls in a page|entity declaration|cdata""".split("|")
    for name in rows:
        assert any("One." in block.text for block in Page("http://example.com/", PAGES[name.strip()]).blocks)


def test_what_is_no_text_of_a_hostile_page_is_not_read() -> None:
    for name in ["open script", "open comment", "entity declaration", "frameset", "open textarea"]:
        text = " ".join(block.text for block in Page("http://example.com/", PAGES[name]).blocks)
        assert "Two." not in text
        assert "root:" not in text
        assert "<p>" not in text


def test_what_comes_after_the_end_is_read() -> None:
    assert [block.text for block in Page("http://example.com/", PAGES["two pages"]).blocks] == ["One.", "Two."]
