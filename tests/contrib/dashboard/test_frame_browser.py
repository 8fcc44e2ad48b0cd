"""What all views share, in a real browser: keys, languages, sizes, colours, errors."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from dashboard_client import VIEWS
from sqlalchemy.engine import URL

from crawler.store.crawl_tables import crawl
from crawler.store.deletion import delete_crawl
from crawler.store.page_tables import page, verdict
from crawler.store.read_only import reading

PLACES = {"1": "/", "2": "/pages", "3": "/images", "4": "/labels", "5": "/schedule", "6": "/evaluate"}
THERE = {key: place for key, place in PLACES.items() if place in VIEWS}
FIRST = {"crawl": crawl, "page": page, "verdict": verdict}
"""Of which a crawl of the demo site has the number 1."""
NO_PAGES = (".jsonl", "/download", "/image")  # but what is taken away, or shown within a page
LOOKED_AT = sorted(
    path for path in VIEWS if set(re.findall(r"\{(\w+)\}", path)) <= FIRST.keys() and not path.endswith(NO_PAGES)
)
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
READABLE = """() => {
    const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0) / 3;
    const body = getComputedStyle(document.body), all = (which) => [...document.querySelectorAll(which)];
    const [ground, letters] = [light(body.backgroundColor), light(body.color)];
    const named = (one) => one.labels?.length || one.ariaLabel || one.getAttribute("aria-labelledby");
    const fields = all("main :is(select, textarea, input:not([type=hidden], [type=submit], [type=button]))");
    const ids = all("[id]").map((one) => one.id);
    return {
        "scheme": ground > 200 && letters < 100 ? "light" : ground < 60 && letters > 160 ? "dark" : [ground, letters],
        "headings": all("h1").length,
        "fields without a name": fields.filter((one) => !named(one)).map((one) => one.outerHTML),
        "images without words": all("img:not([alt])").map((one) => one.outerHTML),
        "numbers that are there twice": ids.filter((one, place) => ids.indexOf(one) !== place),
    };
}"""


def come(page: Any, pattern: str, problems: list[str]) -> bool:
    """Go to a view, of the first of its kind; whether it is one, and not an image or figures for programs."""
    answer = page.goto(re.sub(r"\{\w+\}", "1", pattern))
    if answer.status == 404 and "{" in pattern:  # the first image need not be one that was kept
        problems[:] = [one for one in problems if "404" not in one]
        return False
    assert answer.status == 200
    page.wait_for_load_state("load")
    return "html" in answer.headers["content-type"] and page.locator("header nav").count() == 1


def test_the_numbers_are_there(crawled: Path) -> None:
    with reading(URL.create("sqlite", database=str(crawled / "crawl.db"))) as connection:
        for table in FIRST.values():
            assert connection.execute(table.select().where(table.c.id == 1)).first() is not None


def test_the_overview_is_there(page: Any) -> None:
    assert page.goto("/").status == 200
    assert page.get_by_role("heading", level=1).inner_text() == "Overview"
    assert page.title() == "Overview · Winnow"


@pytest.mark.parametrize("how", [PHONE], ids=["phone"])
@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.long), "zh"])
def test_every_view_can_be_read_on_a_phone(page: Any, problems: list[str], language: str) -> None:
    for view in LOOKED_AT:
        if not come(page, f"{view}?lang={language}", problems):
            continue
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"], view
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(READABLE) == {
                "scheme": scheme,
                "headings": 1,
                "fields without a name": [],
                "images without words": [],
                "numbers that are there twice": [],
            }, view


@pytest.mark.parametrize("how", [PHONE], ids=["phone"])
def test_what_a_block_is_left_out_for_is_seen_on_a_phone(page: Any) -> None:
    page.goto("/pages/1/blocks")
    boxes = [page.locator(".blocks tbody tr").first.locator("td").nth(n).bounding_box() for n in range(6)]
    assert all(0 <= box["x"] < box["x"] + box["width"] <= PHONE["viewport"]["width"] for box in boxes)


@pytest.mark.parametrize("how", [PHONE], ids=["phone"])
def test_the_view_that_is_open_is_seen_on_a_phone(page: Any) -> None:
    page.goto("/evaluate")
    box = page.locator("header nav [aria-current=page]").bounding_box()
    assert 0 <= box["x"] < box["x"] + box["width"] <= PHONE["viewport"]["width"]


def test_a_digit_leads_to_its_view(page: Any) -> None:
    page.goto("/pages")
    for key, view in THERE.items():
        page.keyboard.press(key)
        page.wait_for_url(f"**{view}")
        assert page.locator("header nav [aria-current=page]").get_attribute("data-key") == key


def test_the_first_key_skips_to_the_content(page: Any) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    assert skip.inner_text() == "To the content"
    assert skip.bounding_box()["y"] >= 0  # it is seen while it has the focus
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_focus_is_seen_wherever_it_is(page: Any) -> None:
    page.goto("/")
    seen = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        style = page.evaluate(
            """() => { const one = getComputedStyle(document.activeElement);
                return [document.activeElement.tagName, one.outlineStyle !== "none" && parseFloat(one.outlineWidth) > 0
                    || one.boxShadow !== "none"]; }"""
        )
        seen.add(tuple(style))
    assert {name for name, is_seen in seen if not is_seen} <= {"BODY", "HTML", "MAIN"}
    assert {"A", "BUTTON"} <= {name for name, _ in seen}


def test_the_keys_are_told_and_put_away(page: Any) -> None:
    page.goto("/")
    keys = page.get_by_role("dialog")
    assert keys.count() == 0
    page.keyboard.press("?")
    keys.wait_for()
    page.keyboard.press("2")  # while they are shown, no key leads away
    page.keyboard.press("Escape")
    keys.wait_for(state="hidden")
    assert page.evaluate("location.pathname") == "/"


@pytest.mark.parametrize(("how", "language"), [({"locale": "zh-CN"}, "zh"), ({"locale": "fr-FR"}, "en")])
def test_the_browsers_language(page: Any, language: str) -> None:
    page.goto("/")
    assert page.locator("html").get_attribute("lang") == language


def test_the_language_that_is_chosen_stays(page: Any) -> None:
    page.goto("/")
    page.get_by_role("link", name="中文").click()
    page.locator("html[lang=zh]").wait_for()
    page.goto("/")
    assert page.locator("html").get_attribute("lang") == "zh"
    page.get_by_role("link", name="English").click()
    page.locator("html[lang=en]").wait_for()


def test_the_way_back_does_not_choose_the_language_again(page: Any) -> None:
    page.goto("/?lang=zh")
    page.wait_for_url(lambda url: "lang" not in url)  # nor does the page, which asks for itself again and again
    page.goto("/images?lang=en&wall=kept")
    page.wait_for_url(lambda url: url.endswith("/images?wall=kept"))
    page.go_back()
    page.wait_for_load_state()
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.long
def test_a_crawl_that_is_cleared_away_while_it_is_looked_at(own_page: Any, copied: Path, problems: list[str]) -> None:
    own_page.goto("/crawls/1")
    name = own_page.locator("h1 bdi").inner_text()
    delete_crawl(URL.create("sqlite", database=str(copied / "crawl.db")), name)
    own_page.locator("#said", has_text="There is no such crawl.").wait_for()
    assert all("404" in one for one in problems)
    problems.clear()


@pytest.mark.long
@pytest.mark.parametrize("how", [{"java_script_enabled": False}], ids=["no scripts"])
def test_every_view_is_there_without_scripts(page: Any, problems: list[str]) -> None:
    for view in LOOKED_AT:
        if come(page, view, problems):
            assert page.get_by_role("heading", level=1).inner_text() != "", view


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("console.error('oh')", "console: oh"),
        ("setTimeout(() => { throw new Error('oh'); })", "script failed: "),
        ("setTimeout(() => alert('oh'))", "dialog: oh"),
        ("document.body.insertAdjacentHTML('beforeend', '<img src=\"http://127.0.0.1:9/x.png\">')", "console: "),
        ("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">x</p>')", "console: "),
        ("location = 'http://127.0.0.1:9/'", "request: http://127.0.0.1:9/"),
        ("open('/pages')", "window: "),
    ],
)
def test_what_goes_wrong_is_seen(page: Any, problems: list[str], script: str, said: str) -> None:
    page.goto("/")
    page.evaluate(f"() => {{ {script}; }}")
    until = time.monotonic() + 20
    while not (seen := any(problem.startswith(said) for problem in problems)) and time.monotonic() < until:
        page.wait_for_timeout(100)
    page.wait_for_timeout(300)  # for what follows from it
    problems.clear()
    assert seen
