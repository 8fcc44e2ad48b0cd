"""From where the dashboard may be asked, and whose change counts."""

import re
from urllib.parse import urlencode

import pytest
from fastapi import Request

from crawler.contrib.dashboard.access import (
    AccessControl,
    RefusedError,
    check_origin,
    check_page,
    check_token,
    host_name,
)
from crawler.contrib.dashboard.context import language_of, see_other

HOST = {"host": "localhost:6080"}


def request(method: str, headers: dict[str, str], client: str) -> Request:
    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": method, "headers": named, "client": (client, 6_000)})


def status(access: AccessControl, method: str = "GET", token: str = "", **headers: str) -> int:
    """200, or why not."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        asked = request(method, {**HOST, **named}, "192.0.2.7")
        access.check_host(asked)
        if method == "GET":
            check_page(asked)
        else:
            check_origin(asked)
            check_token(asked, token, access.token)
    except RefusedError as error:
        return error.status
    return 200


def test_the_name_in_a_host_header() -> None:
    rows = [
        ("LOCALHOST", "localhost"),
        ("localhost.:6080", "localhost"),
        ("[::1]:6080", "::1"),
        ("[::1]", "::1"),
        ("[::1]evil.example", ""),
        ("localhost, evil.example", ""),
        ("localhost:6080, localhost:6080", ""),
        ("localhost:x", ""),
        ("localhost@evil.example", ""),
        ("localhost/", ""),
        ("localhost evil", ""),
        ("http://localhost", ""),
        ("::1", ""),
        ("", ""),
        ("\0localhost", ""),
    ]
    for said, name in rows:
        assert host_name(said) == name


def test_the_dashboard_is_asked_by_its_names_alone() -> None:
    rows = [
        ("localhost:1", False, 200),
        ("127.0.0.1:6080", False, 200),
        ("bees.example", False, 200),
        ("evil.example:6080", False, 421),
        ("localhost.evil.example", False, 421),
        ("192.0.2.1:6080", False, 421),
        ("192.0.2.1:6080", True, 200),
        ("[2001:db8::1]:6080", True, 200),
        ("evil.example", True, 421),
        ("", True, 421),
    ]
    for host, any_address, right in rows:
        access = AccessControl(frozenset(("localhost", "127.0.0.1", "bees.example")), any_address)
        assert status(access, host=host) == right


def test_a_change_comes_from_a_page_of_the_dashboard() -> None:
    rows = [
        ({}, 200),  # no browser
        ({"origin": "http://localhost:6080"}, 200),
        ({"origin": "http://localhost:6080", "sec_fetch_site": "same-origin"}, 200),
        ({"origin": "http://LOCALHOST:6080"}, 200),
        ({"origin": "http://localhost:3000"}, 403),  # another program of this machine
        ({"origin": "http://localhost:3000", "sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"origin": "http://localhost"}, 403),
        ({"origin": "http://localhost:6080.evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"host": "localhost", "origin": "https://localhost:443"}, 200),
        ({"host": "localhost:8443", "origin": "https://localhost:8443"}, 200),
    ]
    for headers, right in rows:
        access = AccessControl()
        assert status(access, "POST", access.token, **headers) == right
        assert status(access, "POST", x_token=access.token, **headers) == right


def test_a_change_needs_the_token() -> None:
    for token in ["", "x", "é" * 32, "\ud800"]:
        assert status(AccessControl(), "POST", token) == 403
        assert status(AccessControl(), "POST") == 403


def test_other_sites_may_link_here_and_no_more() -> None:
    rows = [
        ("cross-site", "navigate", 200),
        ("cross-site", "no-cors", 403),
        ("same-site", "cors", 403),
        ("none", "navigate", 200),
        ("same-origin", "cors", 200),
    ]
    for site, mode, right in rows:
        assert status(AccessControl(), sec_fetch_site=site, sec_fetch_mode=mode) == right


def test_a_change_leads_nowhere_else() -> None:
    for where in ["//evil.example", "https://evil.example", "/\\evil.example", "", "pages"]:
        with pytest.raises(ValueError, match=re.escape(repr(where))):
            see_other(where)


def test_the_language() -> None:
    rows = [
        ("", "", "", "en"),
        ("zh", "lang=en", "en", "zh"),
        ("zh\r\nX: y", "", "", "zh"),
        ("", "xlang=zh; lang=en", "zh", "en"),
        ("", "a=b; lang=zh", "en", "zh"),
        ("", "lang", "zh-CN,zh;q=0.9", "zh"),
        ("", "", "fr, zh;q=0.5", "zh"),
        ("", "", "en;q=0.1, zh;q=0.9", "zh"),
        ("", "", "en;q=0.9, zh;q=0.1", "en"),
        ("", "", "zh;q=0, en", "en"),
        ("", "", "zh;q=0", "en"),
        ("", "", "zh ; q=0.8 , EN-us;Q=0.9", "en"),
        ("", "", "zh;q=x, en;q=0.1", "en"),
        ("", "", "fr", "en"),
        ("", "", ",;=", "en"),
    ]
    for query, cookie, accept, language in rows:
        headers = [(b"cookie", cookie.encode()), (b"accept-language", accept.encode())]
        given = urlencode({"lang": query}).encode() if query else b""
        scope = {"type": "http", "method": "GET", "query_string": given, "headers": headers}
        assert language_of(Request(scope)) == language
