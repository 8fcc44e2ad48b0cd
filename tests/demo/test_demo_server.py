"""The demo site over loopback: what each address answers, and what is left when the server has gone."""

import socket
import threading
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, build_opener
from xml.etree import ElementTree

import pytest

from crawler.demo import articles, resources, serving
from crawler.demo import site as special

SITE = resources("http://demo.test/")
UNREACHABLE = "refused|timed out|unreachable|assign"


class Unfollowed(HTTPRedirectHandler):
    """Leaves redirects to the test."""

    def redirect_request(self, *args):
        return None


def ask(address):
    """Status, headers and body of one GET."""
    try:
        response = build_opener(Unfollowed).open(address, timeout=10)
    except HTTPError as error:
        response = error
    with response:
        return response.status, response.headers, response.read()


@pytest.fixture(scope="module")
def address():
    with serving(0) as address:
        yield address


@pytest.mark.parametrize(
    ("path", "status", "content_type", "starts"),
    [
        ("/", 200, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        ("/zh/", 200, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        ("/bees/waggle-dance", 200, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        ("/old/", 200, "text/html", b"<!DOCTYPE HTML PUBLIC"),
        ("/old/fengla.htm", 200, "text/html", b"<!DOCTYPE HTML PUBLIC"),
        ("/old/en/seguin.htm", 200, "text/html", b"<!DOCTYPE HTML PUBLIC"),
        (special.ARCHIVE, 200, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        (special.DRAFTS, 200, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        (special.MEMBERS, 200, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        (special.ADVERT + "?id=3&from=/", 200, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        (special.REDIRECT, 301, "text/html; charset=utf-8", b""),
        (special.DEAD, 404, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        ("/no/such/page", 404, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        ("/../server.py", 404, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        ("/%2e%2e/server.py", 404, "text/html; charset=utf-8", b"<!DOCTYPE html>"),
        (special.PDF, 200, "application/pdf", b"%PDF-1.4"),
        ("/robots.txt", 200, "text/plain; charset=utf-8", b"User-agent: *\nDisallow: /private/\nDisallow: /ads/\n"),
        ("/sitemap.xml", 200, "application/xml; charset=utf-8", b"<?xml"),
        ("/feed.xml", 200, "application/rss+xml; charset=utf-8", b"<?xml"),
        ("/images/logo.png", 200, "image/png", b"\x89PNG"),
        ("/old/images/spacer.gif", 200, "image/gif", b"GIF89a"),
    ],
)
def test_the_server_answers(address, path, status, content_type, starts):
    got_status, headers, body = ask(address.rstrip("/") + path)
    assert (got_status, headers["Content-Type"], headers["Content-Length"]) == (status, content_type, str(len(body)))
    assert body.startswith(starts)
    assert bool(body) == bool(starts)


def test_every_resource_is_served_as_built(address):
    for path, resource in resources(address).items():
        status, headers, body = ask(address.rstrip("/") + path)
        assert (path, status, body) == (path, resource.status, resource.body)
        assert headers.get("Location", "") == resource.location
        assert {name: headers[name] for name, _ in resource.headers} == dict(resource.headers)


def test_the_sitemap_lists_every_open_page_with_a_day(address):
    _, _, body = ask(address + "sitemap.xml")
    name = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    rows = {row.findtext(name + "loc"): row.findtext(name + "lastmod") for row in ElementTree.fromstring(body)}
    pages = [path for path, r in SITE.items() if r.content_type.startswith("text/html") and r.body]
    hidden = {special.ARCHIVE, special.DRAFTS, special.MEMBERS, special.ADVERT, special.DEAD}
    assert set(rows) == {address.rstrip("/") + path for path in set(pages) - hidden}
    assert rows[address + "bees/swarm"] == "2025-05-28"


def test_robots_and_feed_name_the_bound_host(address):
    _, _, rules = ask(address + "robots.txt")
    assert rules.decode().endswith(f"\nSitemap: {address}sitemap.xml\n")
    _, _, body = ask(address + "feed.xml")
    links = [item.findtext("link") for item in ElementTree.fromstring(body).iter("item")]
    assert links == [address.rstrip("/") + article.path for article in articles()[:10]]


def test_head_has_no_body(address):
    where = urlsplit(address)
    with socket.create_connection((where.hostname, where.port), timeout=10) as connection:
        connection.sendall(b"HEAD / HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"\r\nContent-Length: %d\r\n\r\n" % len(SITE["/"].body))


def test_the_connection_stays_open(address):
    connection = HTTPConnection(urlsplit(address).netloc, timeout=10)
    try:
        connection.request("GET", "/")
        assert connection.getresponse().read() == SITE["/"].body
        kept = connection.sock
        connection.request("GET", "/zh/")
        assert connection.getresponse().read() == SITE["/zh/"].body
        assert kept is not None
        assert connection.sock is kept
    finally:
        connection.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods_are_refused(address, method):
    connection = HTTPConnection(urlsplit(address).netloc, timeout=10)
    try:
        connection.request(method, "/")
        response = connection.getresponse()
        assert response.status == 501
        response.read()
    finally:
        connection.close()


def test_the_server_listens_on_loopback_only(address):
    assert urlsplit(address).hostname == "127.0.0.1"
    with pytest.raises(OSError, match=UNREACHABLE), socket.create_connection(("127.0.0.2", urlsplit(address).port), 2):
        pass


def test_the_end_of_the_context_ends_server_threads_and_open_connections():
    before = set(threading.enumerate())
    with serving(0) as address:
        where = urlsplit(address)
        idle = socket.create_connection((where.hostname, where.port), timeout=10)
        ask(address)
        assert set(threading.enumerate()) - before
    with idle:
        assert {thread for thread in threading.enumerate() if thread.is_alive()} <= before
        assert idle.recv(1) == b""
    with pytest.raises(OSError, match=UNREACHABLE):
        socket.create_connection((where.hostname, where.port), timeout=2)


def test_a_taken_port_makes_it_take_another():
    with serving(0) as first:
        port = urlsplit(first).port
        with serving(port) as second:
            assert urlsplit(second).port not in (0, port)
            assert ask(second)[0] == 200
            assert second.encode() in ask(second + "robots.txt")[2]
    with serving(port) as again:
        assert urlsplit(again).port == port
