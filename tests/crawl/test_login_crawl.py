"""A crawl of a site behind a login form says so, fails, and goes on once there is a login."""

from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path

from sites import OPEN, Answer, Asked, Crawl, Site, crawl, page, serving

from crawler.urls.address import address_of

FORM = "<title>Log in</title><form>Name <input name=user> Password <input type=password></form>"
TEXT = "The keeper of this hive wrote down each morning what the bees brought home, and how heavy the combs had become."


def closing_hosts(ended: Crawl) -> list[str]:
    """The hosts that the closing lines name as behind login forms."""
    line = next((line for line in ended.closing().splitlines() if line.startswith("Behind login forms: ")), "")
    return line.partition(": ")[2].rstrip(".").split(", ") if line else []


def test_sites_behind_a_form_fail_and_are_named_with_the_how_to(tmp_path: Path) -> None:
    moved = {"/": Answer(status=302, headers={"Location": "/login?next=%2F"}), "/login?next=%2F": FORM}
    sites = [Site({"/": FORM}), Site(moved), Site({"/": Answer(FORM, HTTPStatus.UNAUTHORIZED)})]
    with ExitStack() as served:
        for number, site in enumerate(sites, start=1):
            served.enter_context(serving(site, f"127.0.0.{number}"))
        settings = OPEN | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}
        ended = crawl(tmp_path, {"seeds": " ".join(site.url for site in sites)}, settings)
    assert ended.status == 1
    assert sorted(closing_hosts(ended)) == [address_of(site.url).host for site in sites]
    assert "docs/how-to/login.md" in ended.closing()


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
