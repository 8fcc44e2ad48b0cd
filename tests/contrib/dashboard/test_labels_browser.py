"""Marking a page's blocks in a real browser: by the mouse, by the keyboard alone, and many at once."""

import json
import re
from pathlib import Path
from typing import Any

import browser
import pytest

BOXES = ".labels-blocks input"


def kept(page: Any) -> list[int]:
    """The places of the blocks that are chosen."""
    boxes = page.eval_on_selector_all(BOXES, "boxes => boxes.map(box => box.checked)")
    return [place for place, chosen in enumerate(boxes) if chosen]


def at(page: Any) -> int:
    """The place of the block that has the focus."""
    return int(page.evaluate(f"[...document.querySelectorAll('{BOXES}')].indexOf(document.activeElement)"))


def opened(page: Any) -> str:
    """The address of the first page of the queue, which is opened by the keyboard; no block of it is chosen."""
    page.goto("/labels")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/labels/pages/*")
    for place in kept(page):
        page.locator(BOXES).nth(place).uncheck()
    return str(page.url)


def saved(page: Any, address: str) -> list[int]:
    """The blocks that were kept of the page at this address, now that another is there."""
    page.wait_for_url(lambda url: url != address)
    assert re.search(r"/labels/pages/\d+$", page.url)
    page.goto(address)
    assert page.locator(".badge.good", has_text="labelled").count() == 1
    return kept(page)


def previewed(page: Any, text: str) -> None:
    browser.until(page, "text => document.getElementById('preview').textContent.includes(text)", text)


def test_blocks_are_marked_by_the_mouse(own_page: Any) -> None:
    address = opened(own_page)
    blocks = own_page.locator(".labels-blocks label")
    blocks.nth(1).locator(".labels-text").click()
    assert kept(own_page) == [1]
    blocks.nth(4).click(modifiers=["Shift"])
    assert kept(own_page) == [1, 2, 3, 4]
    blocks.nth(2).click()
    assert kept(own_page) == [1, 3, 4]
    assert own_page.evaluate("getSelection().toString()") == ""
    previewed(own_page, blocks.nth(4).locator("bdi").inner_text())
    own_page.get_by_role("button", name="Save and next").click()
    assert saved(own_page, address) == [1, 3, 4]


@pytest.mark.long
def test_blocks_are_marked_by_the_keyboard_alone(own_page: Any) -> None:
    address = opened(own_page)
    own_page.evaluate("document.activeElement.blur()")
    press = own_page.keyboard.press
    press("j")
    assert at(own_page) == 0
    press("x")
    press("j")
    press("Space")
    assert kept(own_page) == [0, 1]
    press("Space")
    press("x")
    press("J")
    press("J")
    assert (at(own_page), kept(own_page)) == (3, [0, 1, 2, 3])
    press("k")
    press("x")
    press("K")
    assert (at(own_page), kept(own_page)) == (1, [0, 3])
    for _ in range(4):
        press("j")
    press("a")
    assert (at(own_page), kept(own_page)) == (5, [0, 1, 2, 3, 4, 5])
    press("s")
    assert saved(own_page, address) == [0, 1, 2, 3, 4, 5]


@pytest.mark.long
def test_skipping_and_the_extractors_own_keep_nothing(own_page: Any) -> None:
    own_page.goto("/labels")
    own_page.locator(".labels-pages a").first.click()
    own_page.wait_for_url("**/labels/pages/*")  # with its scripts, which know the keys
    address, before = own_page.url, kept(own_page)
    own_page.locator(BOXES).first.check()
    own_page.keyboard.press("e")
    own_page.wait_for_url("**anew=yes")
    assert kept(own_page) == before
    own_page.keyboard.press("n")
    own_page.wait_for_url(lambda url: not url.startswith(address))
    own_page.goto("/labels/list")
    assert "Nothing is labelled yet" in own_page.inner_text("main")


@pytest.mark.long
def test_no_main_text_the_gold_file_and_taking_back(own_page: Any) -> None:
    address = opened(own_page)
    own_page.get_by_role("button", name="No main text here").click()
    assert saved(own_page, address) == []
    own_page.goto("/labels")
    with own_page.expect_download() as download:
        own_page.get_by_role("link", name="Gold file for winnow evaluate").click()
    (line,) = Path(download.value.path()).read_text("utf-8").splitlines()
    assert json.loads(line)["gold"] == ""
    own_page.get_by_role("button", name="Undo").click()
    own_page.wait_for_url("**/labels/list?**")
    assert "Nothing is labelled yet" in own_page.inner_text("main")


@pytest.mark.long
@pytest.mark.parametrize("how", [{"java_script_enabled": False}])
def test_it_goes_without_scripts(own_page: Any) -> None:
    own_page.goto("/labels")
    own_page.locator(".labels-pages a").first.click()
    address = own_page.url
    boxes = own_page.locator(BOXES)
    for place in range(boxes.count()):
        boxes.nth(place).set_checked(place == 2)
    own_page.get_by_role("button", name="Save and next").click()
    own_page.wait_for_url(lambda url: url != address)
    own_page.goto(address)
    assert [place for place in range(boxes.count()) if boxes.nth(place).is_checked()] == [2]


@pytest.mark.long
@pytest.mark.parametrize("how", [{"viewport": {"width": 390, "height": 800}}])
def test_a_phone_shows_it_without_scrolling_aside(page: Any) -> None:
    for address in ("/labels", "/labels/list"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto("/labels")
    page.locator(".labels-pages a").first.click()
    page.wait_for_url("**/labels/pages/*")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
