from crawler.urls.address import address_of


def test_origin_host_site() -> None:
    rows = [
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
    ]
    for url, its_origin, its_host, its_site in rows:
        address = address_of(url)
        assert (address.origin, address.host, address.site) == (its_origin, its_host, its_site)


def test_ending() -> None:
    rows = [
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
    ]
    for path, expected in rows:
        assert address_of(f"http://example.zip/{path}").ending == expected
