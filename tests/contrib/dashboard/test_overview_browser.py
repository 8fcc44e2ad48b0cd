"""The overview and a crawl's page in a real browser: what is drawn, told to those who do not see it, and sorted."""

from typing import Any

import pytest
from browser import until

DRAWN = "figure.chart canvas"
CHARTS = 6


def drawn(page: Any) -> list[str]:
    """The images of all charts, once they are there."""
    page.goto("/crawls/1")
    page.locator(DRAWN).nth(CHARTS - 1).wait_for()
    return list(page.eval_on_selector_all(DRAWN, "all => all.map(one => one.toDataURL())"))


def test_enter_leads_to_the_crawl(page: Any) -> None:
    page.goto("/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/crawls/1")
    assert page.get_by_role("heading", level=1).inner_text().startswith("topic")
    assert page.locator("header nav [aria-current=page]").inner_text() == "Overview"


def test_charts_are_drawn_told_and_listed(page: Any) -> None:
    assert len(set(drawn(page))) == CHARTS
    assert "pages: " in page.locator("#rate-says").text_content()
    figure = page.locator("#rate")
    figure.locator("summary").click()
    figure.locator("details table").wait_for()
    points = int(figure.get_attribute("data-points"))
    assert figure.locator("details tbody tr").count() == points > 0
    assert figure.locator("details thead th").all_inner_texts() == ["Time", "pages", "requests", "errors"]


@pytest.mark.parametrize("moments", [3, 30])
def test_a_value_that_stands_alone_is_seen(page: Any, moments: int) -> None:
    looks = []
    for last in (0.5, None):
        values = [1.0] * (moments - 2) + [None, last]
        told = {"at": [60 * n for n in range(moments)], "series": [{"name": "harvest", "unit": "%", "values": values}]}
        page.route("**/api/crawls/1/course*", lambda route, _, told=told: route.fulfill(json=told))
        page.goto("/crawls/1")
        page.locator("#harvest canvas").wait_for()
        looks.append(page.locator("#harvest canvas").evaluate("one => one.toDataURL()"))
        page.unroute("**/api/crawls/1/course*")
    assert looks[0] != looks[1]


EVEN = [4.0, 5.0, 6.0] * 4


def test_one_odd_value_does_not_flatten_a_chart(page: Any) -> None:
    rows = {
        "one odd value": ([300.0, *EVEN], "300"),
        "not far": ([17.0, *EVEN], ""),
        "few values": ([300.0, *EVEN[:6]], ""),
        "two of them": ([300.0, 300.0, *EVEN], ""),
        "even": (EVEN, ""),
    }
    for name, (values, highest) in rows.items():
        series = [{"name": line, "unit": "/s", "values": values} for line in ("pages", "requests", "failed")]
        course = {"at": [60 * n for n in range(len(values))], "series": series}
        page.route("**/api/crawls/1/course*", lambda route, _, course=course: route.fulfill(json=course))
        page.goto("/crawls/1")
        page.locator("#rate canvas").wait_for()
        cut = page.locator("#rate .cut")
        assert (name, cut.is_visible()) == (name, bool(highest))
        assert highest in cut.text_content()
        page.unroute("**/api/crawls/1/course*")


def test_charts_take_the_colours_of_the_night(page: Any) -> None:
    by_day = drawn(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(300)
    by_night = page.eval_on_selector_all(DRAWN, "all => all.map(one => one.toDataURL())")
    assert not set(by_day) & set(by_night)


def test_charts_are_as_wide_as_there_is_room(page: Any) -> None:
    drawn(page)
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    widest = page.eval_on_selector_all(DRAWN, "all => Math.max(...all.map(one => one.getBoundingClientRect().right))")
    assert widest <= 390


def test_sites_are_filtered_and_sorted_without_leaving(page: Any) -> None:
    page.goto("/crawls/1")
    page.evaluate("self.stayed = true")
    page.keyboard.press("/")
    page.keyboard.type("nowhere")
    page.keyboard.press("Enter")
    page.locator("#site-list", has_text="No site's name contains this").wait_for()
    assert "site=nowhere" in page.url
    assert page.evaluate("self.stayed")
    page.get_by_label("Name contains").fill("")
    page.get_by_label("Sorted by").select_option("name")
    page.locator("#site-list th[aria-sort=ascending]").wait_for()
    assert page.locator("#site-list tbody tr").count() == 1


@pytest.mark.long
def test_what_is_renewed_does_not_take_the_focus_away(page: Any) -> None:
    page.goto("/crawls/1")
    page.evaluate("for (const part of document.querySelectorAll('[data-live]')) part.dataset.before = 'yes'")
    page.locator("#site-list tbody a").first.focus()
    until(page, "!('before' in document.getElementById('workers').dataset)")
    until(page, "!('before' in document.getElementById('slow').dataset)")
    assert page.evaluate("document.activeElement.closest('#site-list').dataset.before") == "yes"
    page.evaluate("document.activeElement.blur()")
    until(page, "!('before' in document.getElementById('site-list').dataset)")


def test_what_the_background_found_comes_by_itself(page: Any) -> None:
    page.goto("/crawls/1")
    page.locator("#ends", has_text="Counted:").wait_for()
    page.locator("#slow", has_text="Nothing is queued.").wait_for()
    assert page.locator("#ends").get_by_role("row", name="errors").count() == 1


@pytest.mark.parametrize("how", [{"java_script_enabled": False}], ids=["no scripts"])
def test_without_scripts_there_are_figures_and_data(page: Any) -> None:
    page.goto("/crawls/1?sort=name")
    assert page.locator(".figures dd").first.inner_text() == "38"
    page.get_by_role("link", name="The values as JSON").click()
    assert '"series"' in page.locator("body").inner_text()


@pytest.mark.parametrize("how", [{"viewport": {"width": 390, "height": 800}}])
def test_sites_of_address_patterns_stand_in_one_line_on_a_phone(page: Any) -> None:
    page.goto("/crawls/1")
    sites = page.locator("#patterns tbody td:first-child bdi")
    assert sites.count() > 0
    assert set(sites.evaluate_all("all => all.map(one => one.getClientRects().length)")) == {1}
