"""Own fields: selectors by host, and files that give none."""

from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import pytest
from lxml import etree
from parsel import css2xpath

from crawler.errors import OwnFieldsError
from crawler.metadata.own_fields import (
    MAX_CHARACTERS,
    MAX_CHARACTERS_OF_PAGE,
    MAX_VALUES,
    FoundFields,
    OwnFields,
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
    assert given(file, tmp_path).read(url, Page(url, HTML.encode()).root) == FoundFields(expected, 0, [])


def test_an_xpath_may_give_a_number(tmp_path: Path) -> None:
    fields = given('["*"]\nhas = "(count(//li) > 1)"\n', tmp_path)
    assert fields.read("http://a.example/", Page("", HTML.encode()).root) == FoundFields({"has": "True"}, 0, [])


def test_long_and_many_values_are_cut_and_counted(tmp_path: Path) -> None:
    html = f"<p>{'x' * (MAX_CHARACTERS + 1)}" + "<li>a" * (MAX_VALUES + 9)
    fields = given('["*"]\nlong = "p"\nmany = ["li"]\n', tmp_path)
    found = fields.read("http://a.example/", Page("", html.encode()).root)
    assert (len(found.values["long"]), len(found.values["many"]), found.cut) == (MAX_CHARACTERS, MAX_VALUES, 10)


def test_elements_in_each_other_are_read_soon(tmp_path: Path) -> None:
    root = Page("", ("<div>" * 200 + "<p>ab<script>1</script> " * 8_000).encode()).root
    fields = given('["*"]\none = "div"\nall = ["div"]\n', tmp_path)
    start = process_time()
    found = fields.read("http://a.example/", root)
    assert process_time() - start < 2
    assert found.values["one"].startswith("ab ab ab")
    assert sum(map(len, found.values["all"])) < MAX_CHARACTERS_OF_PAGE + MAX_CHARACTERS
    assert found.cut > 0


@pytest.mark.parametrize("selector", ["b:nth-child(2)", ":last-child", "a + b", "div a", ".x > a", "b ~ a"])
def test_long_lists_are_read_soon(selector: str, tmp_path: Path) -> None:
    root = Page("", ("<div class=x>" * 20 + "<a>1</a><b>2</b>" * 10_000).encode()).root
    fields = given(f'["*"]\none = "{selector}"\n', tmp_path)
    start = process_time()
    assert fields.read("http://a.example/", root).values["one"].startswith(("1", "2"))
    assert process_time() - start < 2


@pytest.mark.parametrize(
    "selector",
    (
        "a:nth-child(1)|a:nth-child(2)|a:first-child|b:last-child|b:only-child|a:nth-of-type(2)|i:last-of-type|a + b"
        "|a + b + i:first-of-type|a:nth-last-child(2)|a:not(:first-child)|b:nth-child(2n+1)|p a + b:not(:last-child) i"
        "|p b|p > b|p > b a|p ~ b > i|a ~ .x|.x .y|.x > .y + .z|p .x.y, b i|a::text|p > a::attr(class)|.x *::text"
        "|b:has(> i)|p:has(a) b|p > :nth-child(2) > i|:is(a, b) i"
    ).split("|"),
)
def test_selectors_find_what_they_find_in_scrapy(selector: str, tmp_path: Path) -> None:
    draw = Random(1)

    def tree(levels: int) -> str:
        elements = [(draw.choice("abip"), draw.choice("xyz")) for _ in range(draw.randint(0, levels))]
        return "".join(f"<{tag} class='{name}'>{tree(levels - 1) or name}</{tag}>" for tag, name in elements)

    root = etree.fromstring(f"<div>{''.join(tree(5) for _ in range(80))}</div>")
    fields = given(f"['*']\nall = ['{selector}']\n", tmp_path)
    found = [one if isinstance(one, str) else one.xpath("string()") for one in root.xpath(css2xpath(selector))]
    found = [text for text in found if text][:MAX_VALUES]
    assert found
    assert fields.read("http://a.example/", root).values["all"] == found


@pytest.mark.parametrize(
    ("selector", "why"), [("//li[count(1)]", "Invalid type"), ("//li[has-class(1)]", "has-class arguments must be")]
)
def test_a_selector_that_fails_costs_no_other_field(selector: str, why: str, tmp_path: Path) -> None:
    fields = given(f'["*"]\none = "{selector}"\nall = ["{selector}"]\nprice = ".price"\n', tmp_path)
    found = fields.read("http://a.example/", Page("", HTML.encode()).root)
    assert found.values == {"one": None, "all": [], "price": "12 EUR"}
    assert [failure.partition(": ")[0] for failure in found.failures] == ["one", "all"]
    assert why in found.failures[0]
    assert fields.read("http://a.example/", Page("", b"<p>1").root) == FoundFields(
        {"one": None, "all": [], "price": None}, 0, []
    )


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
        ('["*"]\nprice = "//p[. = \'\\u0000\']"', "is no selector of CSS or XPath"),
        (f"['*']\nprice = '{'a ' * 10_000}'", "is no selector of CSS or XPath"),
    ],
)
def test_files_that_give_no_fields(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(OwnFieldsError, match=why):
        given(text, tmp_path)
