import time

from crawler.urls.parsing import absolute, repeats_itself

BASE = "http://example.com/a/b.html"


def test_absolute() -> None:
    rows = [
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
    ]
    for href, expected in rows:
        assert absolute(BASE, href) == expected
        if expected:
            assert absolute("", expected) == expected


def test_nothing_is_absolute_without_a_base() -> None:
    for href in ["x", "/x", "//", "?x", "", "\\", "javascript:x"]:
        assert absolute("", href) is None


def test_a_megabyte_of_address_takes_a_moment() -> None:
    rows = [
        "/a" * 1_000_000,
        "../" * 500_000,
        "a." * 500_000,
        "http://" + "a." * 500_000,
        "/%e4" * 300_000,
        " " * 10**6,
    ]
    for href in rows:
        start = time.process_time()
        absolute(BASE, href)
        assert time.process_time() - start < 2


def test_repeats_itself() -> None:
    rows = [
        ("", 1, False),
        ("a/b/a", 2, False),
        ("a/b/a/b/a", 2, True),
        ("a/a/a", 3, False),
        ("a/a/a/a", 3, True),
        ("a/b/c/d/e", 1, False),
        ("////////", 1, False),
        ("x?a/a/a/a", 1, False),
        ("a/A/a/A", 2, False),
    ]
    for path, limit, expected in rows:
        assert repeats_itself(f"http://example.com/{path}", limit) is expected
