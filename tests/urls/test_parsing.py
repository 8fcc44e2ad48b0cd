import time

import pytest

from crawler.urls.parsing import absolute, ending, host, origin, repeats_itself, site

BASE = "http://example.com/a/b.html"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("c.html", "http://example.com/a/c.html"),
        ("/c", "http://example.com/c"),
        ("/", "http://example.com/"),
        ("?q=1", "http://example.com/a/b.html?q=1"),
        ("", "http://example.com/a/b.html"),
        ("//other.example/x", "http://other.example/x"),
        ("https://other.example", "https://other.example/"),
        ("HTTP://Other.Example/Path", "http://other.example/Path"),
        ("http://other.example?x", "http://other.example/?x"),
        ("http://other.example./x", "http://other.example/x"),
        ("http://other.example:80/x", "http://other.example/x"),
        ("http://other.example:080/x", "http://other.example/x"),
        ("http://other.example:443/x", "http://other.example:443/x"),
        ("https://other.example:443/x", "https://other.example/x"),
        ("https://other.example:80/x", "https://other.example:80/x"),
        ("http://other.example:65535/x", "http://other.example:65535/x"),
        ("http://other.example:65536/x", None),
        ("http://other.example:port/x", None),
        ("http://[::1]:8000/x", "http://[::1]:8000/x"),
        ("http://[::1/x", None),
        ("http://user:secret@other.example/", None),
        ("https://", None),
        ("http://./", None),
        ("http://a..b/x.png", None),
        ("http://.a/x.png", None),
        ("http://a../x.png", "http://a/x.png"),
        ("http://bücher..example/", None),
        (f"http://{'a' * 63}.example/x", f"http://{'a' * 63}.example/x"),
        (f"http://{'a' * 64}.example/x", None),
        (f"http://www.{'a' * 63}/x", f"http://www.{'a' * 63}/x"),
        (f"http://www.{'a' * 64}/x", None),
        (f"http://www.{'A' * 64}/x", None),
        ("http://a_b.example/x", "http://a_b.example/x"),
        ("http://[::ffff:127.0.0.1]/x", "http://[::ffff:127.0.0.1]/x"),
        ("mailto:someone@example.com", None),
        ("javascript:void(0)", None),
        ("data:text/html,<p>x", None),
        ("ftp://example.com/x", None),
        ("file:///etc/passwd", None),
        ("../../../c", "http://example.com/c"),
        ("/a/./b/../c", "http://example.com/a/c"),
        ("/a/..", "http://example.com/"),
        ("/a/..?x", "http://example.com/?x"),
        ("http://example.com/a/.?x", "http://example.com/a/?x"),
        ("/a/...", "http://example.com/a/..."),
        ("/a//b", "http://example.com/a//b"),
        ("/x#y", "http://example.com/x"),
        ("/x?y#z", "http://example.com/x?y"),
        (" \t/x\n ", "http://example.com/x"),
        ("/a\nb\tc\rd", "http://example.com/abcd"),
        ("/a b", "http://example.com/a%20b"),
        ("\\\\other.example\\x", "http://other.example/x"),
        ("/\\other.example/x", "http://other.example/x"),
        ("/%e4%BD%a0", "http://example.com/%E4%BD%A0"),
        ("/你?q=好", "http://example.com/%E4%BD%A0?q=%E5%A5%BD"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("/100%", "http://example.com/100%"),
        ("/\ud800", None),
    ],
)
def test_absolute(href: str, expected: str | None) -> None:
    assert absolute(BASE, href) == expected
    if expected:
        assert absolute("", expected) == expected


@pytest.mark.parametrize("href", ["x", "/x", "//", "?x", "", "\\", "javascript:x"])
def test_nothing_is_absolute_without_a_base(href: str) -> None:
    assert absolute("", href) is None


@pytest.mark.parametrize(
    "href",
    ["/a" * 1_000_000, "../" * 500_000, "a." * 500_000, "http://" + "a." * 500_000, "/%e4" * 300_000, " " * 10**6],
)
def test_a_megabyte_of_address_takes_a_moment(href: str) -> None:
    start = time.process_time()
    absolute(BASE, href)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("url", "its_origin", "its_host", "its_site"),
    [
        ("http://example.com/", "http://example.com", "example.com", "example.com"),
        (
            "https://www.example.co.uk:8443/a?b",
            "https://www.example.co.uk:8443",
            "www.example.co.uk:8443",
            "example.co.uk",
        ),
        ("http://a.b.example.com.cn/x", "http://a.b.example.com.cn", "a.b.example.com.cn", "example.com.cn"),
        ("http://me.github.io/x", "http://me.github.io", "me.github.io", "me.github.io"),
        ("http://github.io/", "http://github.io", "github.io", "github.io"),
        ("http://localhost/", "http://localhost", "localhost", "localhost"),
        ("http://localhost:8000/", "http://localhost:8000", "localhost:8000", "localhost:8000"),
        ("http://10.0.0.1/", "http://10.0.0.1", "10.0.0.1", "10.0.0.1"),
        ("http://10.0.0.1:81/", "http://10.0.0.1:81", "10.0.0.1:81", "10.0.0.1:81"),
        ("http://[::1]/", "http://[::1]", "[::1]", "[::1]"),
        ("http://[::1]:81/", "http://[::1]:81", "[::1]:81", "[::1]:81"),
        ("http://web1/", "http://web1", "web1", "web1"),
    ],
)
def test_origin_host_site(url: str, its_origin: str, its_host: str, its_site: str) -> None:
    assert (origin(url), host(url), site(url)) == (its_origin, its_host, its_site)


@pytest.mark.parametrize(
    ("path", "limit", "expected"),
    [
        ("", 1, False),
        ("a/b/a", 2, False),
        ("a/b/a/b/a", 2, True),
        ("a/a/a", 3, False),
        ("a/a/a/a", 3, True),
        ("a/b/c/d/e", 1, False),
        ("////////", 1, False),
        ("x?a/a/a/a", 1, False),
        ("a/A/a/A", 2, False),
    ],
)
def test_repeats_itself(path: str, limit: int, expected: bool) -> None:
    assert repeats_itself(f"http://example.com/{path}", limit) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", None),
        ("a", None),
        ("pdf", None),
        ("a.html", None),
        ("a.php?file=b.pdf", None),
        ("a.pdf", "pdf"),
        ("a.PDF?b.html", "pdf"),
        ("a.tar.gz", "gz"),
        ("a.pdf/b", None),
        ("a.pdf/", None),
        ("File:A.jpg", None),
        (".css", "css"),
        ("a.xml", None),
        ("a.rss", None),
    ],
)
def test_ending(path: str, expected: str | None) -> None:
    assert ending(f"http://example.zip/{path}") == expected
