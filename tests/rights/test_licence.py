"""The licence that a page names."""

import time

import pytest

from crawler.page.page import Page
from crawler.rights.licence import MAX_KEPT, licence
from crawler.rights.licence_names import licence_name

CC = "https://creativecommons.org/licenses"
BY, BY_SA = f"{CC}/by/4.0/", f"{CC}/by-sa/4.0/"


def test_names() -> None:
    rows = [
        (BY, "CC-BY-4.0"),
        ("http://www.creativecommons.org/licenses/by-nc-nd/3.0/us/deed.en", "CC-BY-NC-ND-3.0-US"),
        (f"{CC}/by/3.0/igo/", "CC-BY-3.0-IGO"),
        (f"{CC}/by-nd-nc/1.0", "CC-BY-NC-ND-1.0"),
        (f"{CC}/by/4.0/legalcode.zh", "CC-BY-4.0"),
        (f"{CC}/by-sa", "CC-BY-SA"),
        ("//creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/deed.zh", "CC-PDM-1.0"),
        ("https://creativecommons.org/licenses/publicdomain/", "CC-PDDC"),
        ("https://i.creativecommons.org/l/by-sa/4.0/88x31.png", "CC-BY-SA-4.0"),
        ("https://licensebuttons.net/p/zero/1.0/88x31.png", "CC0-1.0"),
        ("https://creativecommons.org/about/", None),
        ("https://creativecommons.org/licenses/", None),
        ("https://example.org/?of=creativecommons.org/licenses/by/4.0/", None),
        ("https://opensource.org/licenses/MIT", "MIT"),
        ("https://opensource.org/license/bsd-3-clause/", "BSD-3-Clause"),
        ("https://spdx.org/licenses/Apache-2.0.html", "Apache-2.0"),
        ("https://www.apache.org/licenses/LICENSE-2.0.txt", "Apache-2.0"),
        ("https://www.gnu.org/licenses/fdl-1.3.html", "GFDL-1.3"),
        ("https://www.gnu.org/copyleft/fdl.html", "GFDL"),
        ("https://opendatacommons.org/licenses/odbl/1-0/", "ODbL-1.0"),
        ("https://opendatacommons.org/licenses/odbl/", "ODbL"),
        ("https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/", "OGL-UK-3.0"),
        ("CC BY-SA 4.0", "CC-BY-SA-4.0"),
        ("本文采用 CC BY-NC 4.0 许可协议", "CC-BY-NC-4.0"),
        ("CC-BY", "CC-BY"),
        ("CC0", "CC0-1.0"),
        ("© 2026 A. Bee", None),
        ("https://a.example/terms", None),
        ("", None),
    ]
    for text, name in rows:
        assert licence_name(text) == name


def head(*parts: str) -> str:
    return f"<html><head>{''.join(parts)}</head><body><p>Bees dance.</p></body></html>"


def body(*parts: str) -> str:
    return f"<html><head></head><body><p>Bees dance.</p>{''.join(parts)}</body></html>"


def json_ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


LINK = f'<link rel="license" href="{BY}">'


def test_pages() -> None:
    rows = [
        (head(LINK), "CC-BY-4.0", ["link rel=license, head"]),
        (head(f'<meta name="dcterms.license" content="{BY}">'), "CC-BY-4.0", ["meta dcterms.license, head"]),
        (head('<meta name="DC.rights" content="CC BY 4.0">'), "CC-BY-4.0", ["meta dc.rights, head"]),
        (head('<meta name="dc.rights" content="All rights reserved. No license.">'), None, []),
        (head(json_ld(f'{{"@type": "Article", "license": "{BY}"}}')), "CC-BY-4.0", ["json-ld license"]),
        (
            head(json_ld(f'{{"@graph": [{{"@type": "WebPage", "license": {{"@id": "{BY}"}}}}]}}')),
            "CC-BY-4.0",
            ["json-ld license"],
        ),
        # Of an image, not of the text.
        (head(json_ld(f'{{"@graph": [{{"@type": "ImageObject", "license": "{BY}"}}]}}')), None, []),
        (head(json_ld('{"license": [1, null, {}], "x": "license')), None, []),
        (body(f'<a rel="license" href="{BY}">CC</a>'), "CC-BY-4.0", ["a rel=license, body"]),
        (body(f'<a rel="nofollow LICENSE" href="{BY}">CC</a>'), "CC-BY-4.0", ["a rel=license, body"]),
        (body(f'<a itemprop="license" href="{BY}">CC</a>'), "CC-BY-4.0", ["a rel=license, body"]),
        (body(f'<footer><a rel="license" href="{BY}">CC</a></footer>'), "CC-BY-4.0", ["a rel=license, footer"]),
        (body(f'<div class="site-footer"><p><a href="{BY}">CC</a></div>'), "CC-BY-4.0", ["a, footer"]),
        (body(f'<a href="{BY}"><img src="/cc.png"></a>'), "CC-BY-4.0", ["a, body"]),
        (body('<img src="https://licensebuttons.net/l/by-sa/4.0/88x31.png">'), "CC-BY-SA-4.0", ["badge, body"]),
        # A link in the text may be about an image.
        (body(f'<p>Photo: A. Bee, <a href="{BY}">CC</a></p>'), None, ["a, body"]),
        (head(LINK) + f'<a href="{BY_SA}">CC</a>', "CC-BY-4.0", ["link rel=license, head", "a, body"]),
        # What declares a licence counts more than a badge.
        (
            head(LINK) + f'<footer><a href="{BY_SA}">CC</a></footer>',
            "CC-BY-4.0",
            ["link rel=license, head", "a, footer"],
        ),
        (
            head(LINK) + f'<a rel="license" href="{BY_SA}">CC</a>',
            None,
            ["link rel=license, head, contradiction", "a rel=license, body, contradiction"],
        ),
        (head(LINK, f'<link rel="license" href="{CC}/by/4.0/deed.de">'), "CC-BY-4.0", ["link rel=license, head"] * 2),
        (
            head(LINK, '<meta name="license" content="CC BY">'),
            "CC-BY-4.0",
            ["meta license, head", "link rel=license, head"],
        ),
        (body('<a rel="license" href="/terms">Terms</a>'), None, ["a rel=license, body"]),
        # A licence file of RSL is not a licence in words.
        (head('<link rel="license" type="application/rsl+xml" href="/l.xml">'), None, []),
        (body(), None, []),
    ]
    for html, name, where in rows:
        found, evidence = licence(Page.from_html(html, "http://a.example/"))
        assert found == name
        assert [one.where for one in evidence] == where


def test_a_page_in_utf_16_is_read() -> None:
    page = Page("http://a.example/", head(LINK).encode("utf-16"), "text/html")
    assert licence(page)[0] == "CC-BY-4.0"


@pytest.mark.parametrize(
    "part",
    [
        f'<a rel="license" href="{BY}?{{}}">x</a>',
        f'<div><a href="{BY}?{{}}">x</a>',
        f'<link rel="license" href="{BY}{{}}">',
    ],
)
def test_thousands_of_candidates_are_bounded(part: str) -> None:
    page = Page.from_html(body(*(part.format(n) for n in range(5_000))), "http://a.example/")
    assert page.links is not None
    begin = time.perf_counter()
    _, evidence = licence(page)
    assert time.perf_counter() - begin < 1
    assert len(evidence) == MAX_KEPT
