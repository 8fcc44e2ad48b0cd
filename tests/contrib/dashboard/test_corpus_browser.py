"""The corpus of a crawl in a real browser, in both languages and on a phone."""

from typing import Any

import pytest
from browser import until

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
TABS = {
    "en-GB": ("Corpus", ["Rights", "Quality", "Copies", "Export"]),
    "zh-CN": ("语料", ["使用许可", "质量", "重复", "导出"]),
}


@pytest.mark.parametrize(
    "how",
    [PHONE | {"locale": "en-GB"}, pytest.param(PHONE | {"locale": "zh-CN"}, marks=pytest.mark.long)],
    ids=["en-GB", "zh-CN"],
)
def test_the_corpus_on_a_phone(page: Any, how: dict[str, Any]) -> None:
    name, tabs = TABS[how["locale"]]
    page.goto("/crawls/1")
    page.get_by_role("link", name=name, exact=True).click()
    page.wait_for_url("**/crawls/1/corpus")
    assert page.locator("nav.tabs a").all_inner_texts() == tabs
    for at in range(len(tabs)):
        page.locator("nav.tabs a").nth(at).click()
        page.locator("nav.tabs a[aria-current]", has_text=tabs[at]).wait_for()
        page.wait_for_load_state("load")
        until(page, "!document.querySelector('main [data-live]')")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for details in page.locator("main details summary").all()[:2]:
            details.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_command_follows_the_form(page: Any) -> None:
    page.goto("/crawls/1/corpus/export")
    page.evaluate("self.stayed = true")
    page.get_by_label("gopher").check()
    page.locator("#result", has_text="--keep=gopher").wait_for()
    page.get_by_label("Conditions").fill("quality.wrds > 3")
    page.get_by_label("Conditions").press("Tab")
    page.locator("#result", has_text="there is no field").wait_for()
    page.get_by_label("Conditions").fill("title != 'a'; touch b'")
    page.get_by_role("button", name="Show the command").click()
    page.locator("#result .note").wait_for()
    page.get_by_label("Conditions").fill("quality.words > 100")
    page.get_by_role("button", name="Show the command").click()
    page.locator("#result", has_text="'--where=quality.words > 100'").wait_for()
    with page.expect_download() as told:
        page.get_by_role("link", name="Download").click()
    assert told.value.suggested_filename == "pages.jsonl"
    assert page.evaluate("self.stayed")


def test_a_cell_leads_to_its_pages(page: Any) -> None:
    page.goto("/crawls/1/corpus")
    page.locator(".use a.badge").first.click()
    page.wait_for_url("**/pages?*rights=*")
    assert page.locator("#pages li").count() > 0
    assert page.get_by_label("Rights").input_value().startswith("search:")
