"""The lists of images in a real browser: what is loaded, and labelling them by keys and by the mouse."""

import re
from typing import Any

import browser
import pytest

CARD = ".image[data-item]"


def marked(page: Any) -> dict[str, str]:
    """The marks that the page shows, by the cards."""
    found = page.eval_on_selector_all(CARD, "cards => cards.map(card => [card.id, card.dataset.label])")
    return {name: mark for name, mark in found if mark != "none"}


def ids(page: Any) -> list[str]:
    return list(page.eval_on_selector_all(CARD, "cards => cards.map(card => card.id)"))


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id"))


def press(page: Any, key: str) -> None:
    """Press a key that marks, and wait for the mark."""
    with page.expect_response(lambda answer: re.search(r"/images/\d+$", answer.url) is not None):
        page.keyboard.press(key)
    page.wait_for_selector("form.label:not([aria-busy])")
    browser.until(page, "!document.querySelector('[aria-busy]')")


def test_kept_images_are_shown_and_skipped_ones_are_not_asked_for(page: Any, problems: list[str]) -> None:
    page.goto("/images")
    first = page.locator("#kept img").first
    first.scroll_into_view_if_needed()
    browser.until(page, "document.querySelector('#kept img').naturalWidth > 0")
    assert page.locator("#skipped img").count() == 0
    assert page.locator("#skipped svg").count() > 0


@pytest.mark.long
def test_marking_goes_on_by_itself_and_can_be_undone(own_page: Any) -> None:
    own_page.goto("/images")
    first, second, third = ids(own_page)[:3]
    own_page.keyboard.press("j")
    assert focused(own_page) == first
    press(own_page, "n")
    assert (focused(own_page), marked(own_page)) == (second, {first: "noise"})
    press(own_page, "c")
    assert (focused(own_page), marked(own_page)) == (third, {first: "noise", second: "content"})
    press(own_page, "z")
    assert (focused(own_page), marked(own_page)) == (second, {first: "noise"})
    own_page.keyboard.press("k")
    press(own_page, "c")
    own_page.wait_for_timeout(100)
    press(own_page, "z")
    assert marked(own_page) == {first: "noise"}  # as it was before, and not without a mark
    own_page.goto("/images?only=disputed")
    assert marked(own_page) == {first: "noise"}
    assert re.search("labelled: 1; .*noise: 1", own_page.locator("#rate").inner_text())
    own_page.keyboard.press("j")
    press(own_page, "u")
    assert marked(own_page) == {}


def test_marking_by_the_mouse_stays_where_it_is(own_page: Any) -> None:
    own_page.goto("/images?wall=skipped")
    first = ids(own_page)[0]
    own_page.locator(f"#{first} button[value=content]").click()
    own_page.wait_for_selector(f"#{first}[data-label=content].disputed")
    assert own_page.url.endswith("/images?wall=skipped")
    assert focused(own_page).endswith(first.removeprefix("card"))


@pytest.mark.long
@pytest.mark.parametrize("how", [{"java_script_enabled": False}])
def test_without_scripts_a_mark_leads_to_the_image(own_page: Any) -> None:
    own_page.goto("/images?wall=doubtful")
    own_page.get_by_role("button", name="Noise", exact=True).first.click()
    assert "/images/" in own_page.url
    assert own_page.locator(".badge", has_text="labelled as noise").count() == 1


def test_arrows_go_through_the_grid(page: Any) -> None:
    page.goto("/images")
    page.keyboard.press("j")
    first, second = ids(page)[:2]
    went = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
        went.append(focused(page))
    assert went[:2] == [second, first]
    assert went[2] not in (first, second)
    assert went[3:] == [first, first]


@pytest.mark.parametrize("how", [{"viewport": {"width": 390, "height": 800}, "locale": "zh-CN"}])
def test_images_in_doubt_are_no_wider_than_a_phone(page: Any) -> None:
    page.goto("/images?wall=doubtful")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
