"""What all views share, in a real browser: keys, languages, sizes, colours."""

from typing import Any

import pytest

PLACES = {"1": "/", "2": "/pages", "3": "/images", "4": "/labels", "5": "/schedule", "6": "/evaluate"}


def test_the_overview_is_there(page: Any) -> None:
    assert page.goto("/").status == 200
    assert page.get_by_role("heading", level=1).inner_text() == "Overview"
    assert page.title() == "Overview · Winnow"


@pytest.mark.parametrize("how", [{"locale": "zh-CN"}])
def test_the_browsers_language(page: Any) -> None:
    page.goto("/")
    assert page.locator("html").get_attribute("lang") == "zh"


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
    page.wait_for_timeout(500)
    found, problems[:] = list(problems), []
    assert [problem for problem in found if problem.startswith(said)]
