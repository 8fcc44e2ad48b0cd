"""The reports in a real browser: they show themselves once they are computed, and nothing acts in their frames."""

import re
from pathlib import Path
from typing import Any

from crawler.contrib.lab.views.evaluate import FOCUS, report_files

HOSTILE = (
    '<!doctype html>\n<html lang="en">\n<head><title>Winnow: how well it kept to the topic</title>'
    "<style>@import 'http://evil.example/x.css';</style>"
    "<meta http-equiv=refresh content='0;url=http://evil.example/'><base href=http://evil.example/></head>"
    "<body onload=alert(1)><script>alert(1); top.location = 'http://evil.example/'</script>"
    "<img src=http://evil.example/x.png onerror=alert(1)><iframe src=http://evil.example/></iframe>"
    "<form action=http://evil.example/><button autofocus onfocus=alert(1)>Go</button></form>"
    "<p>Bees dance.</p></body></html>"
)
PATIENCE = 20_000  # milliseconds


def test_the_focus_report_shows_itself_once_it_is_computed(page: Any) -> None:
    page.goto("/")
    page.keyboard.press("6")
    frame = page.frame_locator("iframe.report")
    frame.get_by_role("heading", level=1).wait_for(timeout=PATIENCE)
    assert frame.get_by_role("heading", level=1).inner_text() == "How well it kept to the topic"
    shown = page.locator("#report .figures dd").first.inner_text()
    assert f"{shown} pages stored" in frame.locator(".lead").inner_text()
    assert frame.locator("body").evaluate("(e) => getComputedStyle(e).maxWidth") != "none"  # its own style counts
    page.locator("[data-live]").wait_for(state="detached", timeout=PATIENCE)


def test_the_frame_follows_the_language_of_its_page(page: Any) -> None:
    page.goto("/evaluate")
    page.get_by_role("link", name="中文").click()
    title = page.frame_locator("iframe.report").get_by_role("heading", level=1)
    title.get_by_text("切题程度").wait_for(timeout=PATIENCE)
    page.goto("/evaluate?lang=en")
    title.get_by_text("How well it kept to the topic").wait_for(timeout=PATIENCE)


def test_the_noise_report_leads_to_the_images(page: Any) -> None:
    page.goto("/evaluate")
    page.get_by_role("link", name="Skipped as noise").click()
    link = page.get_by_role("link", name="Error rate")
    link.wait_for(timeout=PATIENCE)
    judged = page.locator("#report .figures dd").first.inner_text()
    assert re.fullmatch("[1-9][0-9]*", judged)
    link.click()
    page.wait_for_url("**/images?crawl=*#rate")
    assert page.locator("#rate").count() == 1


def test_nothing_acts_in_a_file(own_page: Any, copied: Path, problems: list[str]) -> None:
    (copied / "hostile.html").write_text(HOSTILE)
    (known,) = report_files(copied).files
    assert known.kind == FOCUS
    failed: set[str] = set()
    own_page.context.on("requestfailed", lambda request: failed.add(f"{request.url} {request.failure}"))
    own_page.goto("/evaluate?report=files")
    own_page.get_by_role("link", name="hostile.html").click()
    own_page.frame_locator("iframe.report").get_by_text("Bees dance.").wait_for()
    own_page.goto(f"/evaluate/files/{known.id}")
    own_page.get_by_text("Bees dance.").wait_for()
    own_page.wait_for_timeout(300)
    assert own_page.evaluate("location.pathname") == f"/evaluate/files/{known.id}"
    # The policy has stopped what the browser was about to ask for, before it was sent.
    elsewhere = [one for one in failed if one.startswith("http://evil.example/")]
    assert elsewhere
    assert [one for one in elsewhere if not one.endswith(" csp")] == []
    found, problems[:] = list(problems), []
    assert [one for one in found if not one.startswith(("console: ", "request: "))] == []
    assert len({one for one in found if one.startswith("request: ")}) == len(elsewhere)
