"""The list of pages in a real browser: filters, a search that goes on by itself, keys, a phone."""

from itertools import product
from pathlib import Path
from typing import Any

import browser
import pytest
from sqlalchemy import func, insert, select, text, update
from sqlalchemy.engine import URL

from crawler.store.database import open_database
from crawler.store.page_tables import page as pages

MANY = 30_000
"""Pages that are looked through in more than one look for a word that no database sifts them for: one in Russian."""


def store_more(output: Path, count: int) -> None:
    """Store so many pages more, the oldest of which alone has a rare word."""
    engine = open_database(URL.create("sqlite", database=str(output / "crawl.db")))
    with engine.begin() as connection:
        first = connection.execute(select(pages).limit(1)).mappings().one()
        last = connection.execute(select(func.max(pages.c.id))).scalar_one()
        more = {"text": "Ничего особого. " * 40, "title": "Another", "images": "[]"}
        numbers = range(1, count + 1)
        rows = (dict(first) | more | {"id": last + n, "key": n, "url": f"http://m.example/{n}"} for n in numbers)
        connection.execute(insert(pages), list(rows))
        connection.execute(update(pages).where(pages.c.id == last + 1).values(title="Пчёлы <b>одни</b>"))
        connection.execute(text("ANALYZE"))
    engine.dispose()


@pytest.fixture
def many(copied: Path) -> Path:
    """The crawl with very many pages more."""
    store_more(copied, MANY)
    return copied


@pytest.mark.long
def test_words_find_pages(page: Any) -> None:
    page.goto("/pages")
    every = page.locator("#pages li").count()
    page.keyboard.press("/")
    page.keyboard.type("honey")
    page.keyboard.press("Enter")
    page.locator("#pages mark").first.wait_for()
    assert 0 < page.locator("#pages li").count() < every
    assert {one.lower() for one in page.locator("#pages mark").all_inner_texts()} == {"honey"}
    page.wait_for_url(lambda url: "q=honey" in url and "after" not in url)
    assert "site=" not in page.url  # what was not filled in stays out
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.querySelector('#pages li')")  # and nothing was typed
    page.reload()
    assert page.get_by_role("searchbox").input_value() == "honey"
    assert page.locator("#pages mark").count() > 0


def test_a_choice_is_applied_at_once(page: Any) -> None:
    page.goto("/pages")
    page.locator("select[name=language]").select_option("zh")
    page.wait_for_url(lambda url: "language=zh" in url)
    browser.until(page, "[...document.querySelectorAll('#pages li')].every((e) => e.innerText.includes('zh'))")
    assert page.locator("#pages li").count() > 0
    page.locator("select[name=sort]").select_option("best")
    page.wait_for_url(lambda url: "sort=best" in url and "language=zh" in url)


def test_what_was_asked_for_last_counts(page: Any) -> None:
    held: list[Any] = []
    page.route("**/pages?*language=zh*", lambda route: held.append(route))
    page.goto("/pages")
    page.locator("select[name=language]").select_option("zh")
    browser.until(page, "document.querySelector('form[aria-busy]') !== null")
    page.locator("select[name=language]").select_option("en")
    page.wait_for_url(lambda url: "language=en" in url)
    shown = page.locator("#pages").inner_text()
    with page.expect_response(lambda answer: "language=zh" in answer.url):
        held[0].continue_()
    page.wait_for_timeout(300)
    assert "language=en" in page.url
    assert page.locator("#pages").inner_text() == shown


def test_a_browser_that_keeps_nothing_shows_all(page: Any) -> None:
    page.add_init_script("Object.defineProperty(self, 'sessionStorage', {get() { throw new Error('no'); }})")
    page.goto("/pages?q=honey")
    page.locator("#pages h2 a").first.click()
    page.wait_for_url("**/pages/*")  # with all that its scripts do
    page.locator("a[data-back]").first.click()
    page.locator("#pages li").first.wait_for()


def test_keys_lead_through_the_list(page: Any) -> None:
    page.goto("/pages")
    second = page.locator("#pages li").nth(1).locator("h2").inner_text()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.querySelector('h2').innerText") == second
    page.keyboard.press("o")
    page.wait_for_url("**/pages/*")
    assert page.get_by_role("heading", level=1).inner_text() == second


def test_enter_opens_the_item_at_hand(page: Any) -> None:
    links = {"/": "", "/pages": "h2 a", "/images": "h3 a", "/crawls/1": ".named a", "/labels": ""}
    for view, link in links.items():
        page.goto(view)
        page.keyboard.press("j")
        at_hand = page.locator(":focus")
        goal = (at_hand.locator(link) if link else at_hand).first.get_attribute("href")
        goal = "/crawls/1" if view == "/" else goal
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{goal}")


def test_a_page_leads_back_to_the_search(page: Any) -> None:
    page.goto("/pages?q=honey&language=en")
    page.locator("#pages h2 a").first.click()
    page.get_by_role("link", name="Versions").click()
    page.locator("a[data-back][href*='q=honey']").click()
    page.wait_for_url(lambda url: "q=honey" in url and "language=en" in url)
    assert page.get_by_role("searchbox").input_value() == "honey"


def test_the_other_language_keeps_the_search(page: Any) -> None:
    page.goto("/pages?q=honey")
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(lambda url: url.endswith("/pages?q=honey"))
    page.wait_for_function("document.documentElement.lang === 'zh'")
    assert page.get_by_role("searchbox").input_value() == "honey"


def test_filters_are_folded_on_a_phone(page: Any) -> None:
    for width, address in product((390, 1200), ("/pages", "/images")):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(address)
        is_phone = width == 390
        site = page.locator("input[name=site]")
        assert site.is_visible() == (not is_phone)
        assert page.locator(".more-filters summary").is_visible() == is_phone
        if is_phone:
            page.locator(".more-filters summary").click()
            assert site.is_visible()
        tops = page.locator(".more-filters select:visible").evaluate_all("(all) => all.map((e) => e.offsetHeight)")
        assert {*tops, site.evaluate("(e) => e.offsetHeight")} == {tops[0]}


def test_more_comes_behind_what_is_there(copied: Path, own_page: Any) -> None:
    store_more(copied, 100)
    own_page.goto("/pages")
    assert own_page.locator("#pages li").count() == 50
    own_page.keyboard.press("m")
    own_page.locator("#pages li").nth(99).wait_for()
    hrefs = own_page.locator("#pages h2 a").evaluate_all("(all) => all.map((one) => one.href)")
    assert len(hrefs) == len(set(hrefs)) == 100


@pytest.mark.long
def test_a_search_goes_on_by_itself(many: Path, own_page: Any) -> None:
    asked = []
    own_page.on("request", lambda request: asked.append(request.url))
    own_page.goto("/pages?q=пчёлы")
    own_page.locator("#pages li").wait_for(timeout=60_000)  # it reads all pages
    own_page.get_by_text("1 page found, all pages searched").wait_for()
    assert own_page.locator("#pages li").count() == 1
    assert own_page.locator("#pages h2").inner_text() == "Пчёлы <b>одни</b>"
    assert sum("after=" in one for one in asked) >= 1
    assert "after" not in own_page.url


@pytest.mark.long
@pytest.mark.parametrize("how", [{"java_script_enabled": False}])
def test_without_scripts_a_button_looks_on(many: Path, own_page: Any, how: dict[str, Any]) -> None:
    own_page.goto("/pages?q=пчёлы")
    button = own_page.get_by_role("button", name="Search further")
    assert own_page.locator("#pages li").count() == 0
    before = own_page.locator("#progress").inner_text()
    button.click()
    own_page.wait_for_url("**after=**")
    assert own_page.locator("#progress").inner_text() != before


def test_nothing_stands_out_of_the_window(page: Any) -> None:
    page.goto("/pages?q=honey")
    for width, is_phone in ((390, True), (1200, False)):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        boxes = [page.locator(f"#pages li >> nth=0 >> {one}").bounding_box() for one in ("div >> nth=0", ".facts")]
        assert (boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]) == is_phone


def test_a_key_says_what_is_on_topic(own_page: Any) -> None:
    own_page.goto("/pages")
    for key, value in (("y", "on_topic"), ("n", "off_topic")):
        own_page.keyboard.press("j")
        own_page.keyboard.press(key)
        at_hand = "document.activeElement.closest('[data-item]')"
        browser.until(own_page, f"{at_hand}.querySelector('button[value={value}]').ariaPressed === 'true'")
        assert own_page.url.endswith("/pages")
    assert own_page.locator("button[aria-pressed=true]").count() == 2
    own_page.keyboard.press("u")
    browser.until(own_page, "document.querySelectorAll('button[aria-pressed=true]').length === 1")
