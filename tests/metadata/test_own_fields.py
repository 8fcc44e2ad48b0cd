"""Own fields: selectors by host, and files that give none."""

from pathlib import Path
from time import process_time
from typing import Any

import pytest

from crawler.metadata.own_fields import (
    MAX_LETTERS,
    MAX_LETTERS_OF_PAGE,
    MAX_VALUES,
    OwnFields,
    OwnFieldsError,
    read_own_fields,
)
from crawler.page.page import Page

FILE = """
["*"]
section = ".trail a:nth-child(2)"
dated = "//time/@datetime"
count = "count(//li)"
price = "//nothing"
["Example.org"]
price = "  .price  "
sizes = [".size::text"]
links = ["(//a)/@href"]
["shop.example.org"]
price = ".new"
"""
HTML = """<nav class=trail><a href=/>Home</a> <a href=/b>Bees &amp;\n honey</a></nav>
<time datetime=2025-01-02>today</time>
<p class=price>12 <b>EUR</b><p class=new>9 EUR<ul><li class=size>S<li class=size>M</ul>"""
OF_ALL = {"section": "Bees & honey", "dated": "2025-01-02", "price": None}
OF_EXAMPLE = {"price": "12 EUR", "sizes": ["S", "M"], "links": ["/", "/b"]}


def given(text: str, folder: Path) -> OwnFields:
    path = folder / "fields.toml"
    path.write_text(text, encoding="utf-8")
    return read_own_fields(path)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://other.example/", OF_ALL),
        ("http://notexample.org/", OF_ALL),
        ("https://EXAMPLE.org:8000/a", OF_ALL | OF_EXAMPLE),
        ("https://www.example.org/", OF_ALL | OF_EXAMPLE),
        ("https://shop.example.org/", OF_ALL | OF_EXAMPLE | {"price": "9 EUR"}),
    ],
)
def test_fields_of_a_page(url: str, expected: dict[str, Any], tmp_path: Path) -> None:
    file = FILE.replace('count = "count(//li)"\n', "")
    assert given(file, tmp_path).read(url, Page(url, HTML.encode()).root) == (expected, 0)


def test_an_xpath_may_give_a_number(tmp_path: Path) -> None:
    fields = given('["*"]\nhas = "(count(//li) > 1)"\n', tmp_path)
    assert fields.read("http://a.example/", Page("", HTML.encode()).root) == ({"has": "True"}, 0)


def test_long_and_many_values_are_cut_and_counted(tmp_path: Path) -> None:
    html = f"<p>{'x' * (MAX_LETTERS + 1)}" + "<li>a" * (MAX_VALUES + 9)
    fields = given('["*"]\nlong = "p"\nmany = ["li"]\n', tmp_path)
    values, cut = fields.read("http://a.example/", Page("", html.encode()).root)
    assert (len(values["long"]), len(values["many"]), cut) == (MAX_LETTERS, MAX_VALUES, 10)


def test_elements_in_each_other_are_read_soon(tmp_path: Path) -> None:
    root = Page("", ("<div>" * 200 + "<p>ab<script>1</script> " * 8_000).encode()).root
    fields = given('["*"]\none = "div"\nall = ["div"]\n', tmp_path)
    start = process_time()
    values, cut = fields.read("http://a.example/", root)
    assert process_time() - start < 2
    assert values["one"].startswith("ab ab ab")
    assert (sum(map(len, values["all"])) < MAX_LETTERS_OF_PAGE + MAX_LETTERS, cut > 0) == (True, True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "gives no fields"),
        ("[", "cannot be read as TOML"),
        ("price = '.price'", "price: fields stand below the name of a host"),
        ("[example.org]\nprice = '.price'", "example: org: a host with dots stands in quotes"),
        ("['https://example.org/']\nprice = '.price'", "a host has a name or a number"),
        ("['*']\nprice = 3", r"\*: price: a field has one selector in quotes"),
        ("['*']\nprice = ['a', 'b']", r"\*: price: a field has one selector in quotes"),
        ("['*']\nprice = ' '", r"\*: price: a field has one selector in quotes"),
        ("['*']\nprice = 'p['", r"\*: price: 'p\[' is no selector of CSS or XPath"),
        ("['*']\nprice = '//p['", r"\*: price: '//p\[' is no selector of CSS or XPath"),
        ("['*']\nprice = '(no-such(//p))'", "is no selector of CSS or XPath"),
    ],
)
def test_files_that_give_no_fields(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(OwnFieldsError, match=why):
        given(text, tmp_path)
