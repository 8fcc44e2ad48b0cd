"""A crawl of a site behind a log-in form says so, fails, and goes on once there is a log-in."""

from http import HTTPStatus
from pathlib import Path

from sites import Answer, Asked, Crawl, Site, crawl, page, serving

from crawler.urls.address import address_of

FORM = "<title>Log in</title><form>Name <input name=user> Password <input type=password></form>"
TEXT = "The keeper of this hive wrote down each morning what the bees brought home, and how heavy the combs had become."


def closing_hosts(ended: Crawl) -> list[str]:
    """The hosts that the closing lines name as behind log-in forms."""
    line = next((line for line in ended.closing().splitlines() if line.startswith("Behind log-in forms: ")), "")
    return line.partition(": ")[2].rstrip(".").split(", ") if line else []


def test_a_site_behind_a_form_fails_and_is_named_with_the_how_to(tmp_path: Path) -> None:
    site = Site({"/": FORM})
    with serving(site):
        ended = crawl(tmp_path, {"seeds": site.url})
    assert ended.status == 1
    assert closing_hosts(ended) == [address_of(site.url).host]
    assert "docs/how-to/login.md" in ended.closing()


def test_so_is_a_site_that_redirects_to_its_form_and_one_that_answers_401(tmp_path: Path) -> None:
    moved = Site({"/": Answer(status=302, headers={"Location": "/login?next=%2F"}), "/login?next=%2F": FORM})
    for site in (moved, Site({"/": Answer(FORM, HTTPStatus.UNAUTHORIZED)})):
        with serving(site):
            ended = crawl(tmp_path, {"seeds": site.url, "name": f"site{site.url.rpartition(':')[2].strip('/')}"})
        assert ended.status == 1
        assert closing_hosts(ended) == [address_of(site.url).host]


def test_a_log_in_form_beside_pages_is_no_reason_to_name_the_site(tmp_path: Path) -> None:
    site = Site({"/": page(TEXT, links={"/login": "Log in"}), "/login": FORM})
    with serving(site):
        ended = crawl(tmp_path, {"seeds": site.url})
    assert ended.status == 0
    assert closing_hosts(ended) == []


def test_the_same_command_continues_after_a_log_in(tmp_path: Path) -> None:
    def for_members(asked: Asked) -> Answer:
        return Answer(page(TEXT) if asked.times else FORM)

    site = Site({"/": for_members})
    with serving(site):
        statuses = [crawl(tmp_path, {"seeds": site.url}).status for _ in range(2)]
    assert statuses == [1, 0]
