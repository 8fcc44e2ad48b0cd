import pytest

from crawler.page.html_tree import enclosing, spans
from crawler.page.page import Page

HTML = "<div id=a><p id=b><i id=c>One<b id=d>two</b></i></p><p id=e>Three</p></div><div id=f>Four</div>"


@pytest.mark.parametrize(
    ("tag", "found"),
    [
        ("div", {"a": "a", "b": "a", "c": "a", "d": "a", "e": "a", "f": "f"}),
        ("p", {"a": None, "b": "b", "c": "b", "d": "b", "e": "e", "f": None}),
        ("i", {"a": None, "b": None, "c": "c", "d": "c", "e": None, "f": None}),
        ("table", dict.fromkeys("abcdef")),
    ],
)
@pytest.mark.parametrize("order", ["abcdef", "fedcba", "dcbadd"])
def test_homes(tag: str, found: dict[str, str | None], order: str) -> None:
    named = {element.get("id"): element for element in Page.from_html(HTML).root.iter() if element.get("id")}
    around = enclosing([named[name] for name in order], lambda element: element.tag == tag)
    assert [home if home is None else home.get("id") for home in around] == [found[name] for name in order]


def test_homes_of_nothing() -> None:
    assert list(enclosing([None], lambda element: True)) == [None]


def test_homes_ask_each_element_once() -> None:
    page = Page.from_html("<b><i>x</i>" * 300)
    asked = []
    found = list(enclosing(page.root.iter("i"), lambda element: asked.append(element) or element.tag == "body"))
    assert found == [page.root.find("body")] * 300
    assert len(asked) == len(set(asked)) == 601


def test_spans() -> None:
    page = Page.from_html(HTML)
    found = {element.get("id", element.tag): span for element, span in spans(page.blocks).items()}
    assert found == {"b": (0, 1), "e": (1, 2), "a": (0, 2), "f": (2, 3), "body": (0, 3), "html": (0, 3)}


def test_spans_of_an_inline_element_with_blocks_in_it() -> None:
    page = Page.from_html("<div><font>One<p>Two</p>Three<p>Four</p></font></div>")
    found = {element.tag: span for element, span in spans(page.blocks).items()}
    assert found["font"] == (1, 4)
    assert found["div"] == found["body"] == (0, 4)


def test_spans_of_nothing() -> None:
    assert spans(()) == {}
