"""Jobs in a real browser: added, run, looked at and removed, by hand and by keys."""

from typing import Any

import pytest

PHONE = {"viewport": {"width": 390, "height": 800}}


def fill(page: Any, **values: str) -> None:
    for name, value in values.items():
        page.locator(f"#f-{name}").fill(value)


@pytest.mark.long
def test_a_job_from_the_form_to_its_end(own_page: Any, problems: list[str]) -> None:
    own_page.goto("/schedule")
    fill(own_page, name="<b>bees</b>", cron="0 3 * * *", timezone="Asia/Shanghai", seeds="/etc/passwd")
    own_page.locator("#cron-words").get_by_text("every day at 03:00").wait_for()
    own_page.get_by_role("button", name="Add the job").click()
    own_page.locator("#e-seeds").wait_for()
    assert own_page.locator("#e-name").inner_text() != ""
    assert own_page.locator("#f-timezone").input_value() == "Asia/Shanghai"
    problems[:] = [one for one in problems if "422" not in one]
    fill(own_page, name="bees", seeds="demo", max_pages="3")
    own_page.get_by_role("button", name="Add the job").click()
    own_page.get_by_text("The job was added.").wait_for()
    own_page.get_by_role("button", name="Run now").click()
    own_page.locator(".note.done").get_by_text("A run has started.").wait_for()
    own_page.locator("#jobs .badge.good", has_text="done").wait_for(timeout=60_000)  # without a reload
    own_page.get_by_role("link", name="run 1").click()
    assert "3 pages crawled in" in own_page.locator("#log").inner_text()
    own_page.get_by_role("link", name="bees").click()
    own_page.get_by_role("link", name="Remove").click()
    own_page.get_by_role("button", name="Remove the job").click()
    own_page.get_by_text("The job was removed").wait_for()
    assert own_page.locator("#jobs table").count() == 0


def test_a_field_is_named_by_its_title_and_described_by_its_hint(page: Any) -> None:
    page.goto("/schedule")
    for role, title, hint in (
        ("textbox", "Name", "h-name"),
        ("combobox", "When", "h-cron"),
        ("textbox", "Seeds", "h-seeds"),
    ):
        assert page.get_by_role(role, name=title, exact=True).get_attribute("aria-describedby") == hint


@pytest.mark.parametrize("how", [PHONE])
def test_it_fits_a_telephone(page: Any) -> None:
    for path in ("/schedule", "/api"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
