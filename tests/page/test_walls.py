"""Walls against robots are told from pages, by their services' marks and not by their words."""

from wall_pages import FAILED, KEPT, WALLS, Response

from crawler.page.page import Page
from crawler.page.walls import LITTLE_TEXT, LITTLE_WIDGET_TEXT, MOST_BYTES, MOST_LINKS, wall_service


def service_of(response: Response) -> str:
    headers = {name.lower(): value for name, value in response.headers.items()}
    page = Page("http://a.example/", response.body.encode(), response.content_type)
    return wall_service(response.status, headers, page)


def test_a_wall_has_the_name_of_its_service() -> None:
    for name in WALLS:
        service, response = WALLS[name]
        assert service_of(response) == service


def test_other_responses_are_no_walls() -> None:
    for name in KEPT | FAILED:
        assert service_of((KEPT | FAILED)[name]) == ""


def test_a_redirect_that_corrects_an_odd_address_is_no_wall() -> None:
    headers = {"location": "http://a.example/.well-known/sgcaptcha/x/"}
    assert wall_service(301, headers, Page("http://a.example/bees", b"")) == "SiteGround"
    assert wall_service(301, headers, Page("http://a.example/.well-known/sgcaptcha/x", b"")) == ""


MARK = "<script>window._cf_chl_opt={}</script>"
WIDGET = "<div class='h-captcha'></div>"
LINKS = "<a href=/></a>"


def test_how_little_a_wall_has_beside_its_marks() -> None:
    rows = [
        (MARK + "a" * (LITTLE_TEXT - 1), 200, True),
        (MARK + "a" * LITTLE_TEXT, 200, False),
        (MARK + "蜂" * (LITTLE_TEXT // 2), 200, False),
        (MARK + "a" * LITTLE_TEXT, 403, True),
        (MARK + "a" * LITTLE_TEXT, 404, False),
        (MARK + LINKS * (MOST_LINKS - 1), 200, True),
        (MARK + LINKS * MOST_LINKS, 200, False),
        (MARK + LINKS.upper() * MOST_LINKS, 200, False),
        (f"{MARK}<script>{'a' * (MOST_BYTES - len(MARK) - 32)}</script>", 200, True),
        (f"{MARK}<script>{'a' * MOST_BYTES}</script>", 200, False),
        (f"{MARK}<p>_cf_chl_opt</p>", 200, False),
        ('<script type="application/json">{"text": "_cf_chl_opt"}</script>', 200, False),
        ('<script type="application/json">{"text": "_cf_chl_opt"}</script>' + MARK, 200, True),
        ("<a href='/cdn-cgi/l/chk_captcha'>Next</a>", 200, False),
        (MARK, 404, False),
        (MARK, 402, False),
        (WIDGET + "a" * (LITTLE_WIDGET_TEXT - 1), 200, True),
        (WIDGET + "a" * LITTLE_WIDGET_TEXT, 200, False),
        (WIDGET + "<textarea name=h-captcha-response></textarea>", 200, True),
        (WIDGET + "<textarea name=text></textarea>", 200, False),
        (WIDGET + "<input>", 200, False),
        (WIDGET + "<input type=submit>", 200, True),
    ]
    for body, status, is_wall in rows:
        assert bool(service_of(Response(f"<html>{body}", status))) is is_wall
