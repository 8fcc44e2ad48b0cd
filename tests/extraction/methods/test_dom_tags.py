import pytest

from crawler.extraction.methods.dom_tags import CONTENT_SHARE, CONTENT_TAGS, EDGES, NOISE_SHARE, TEXT_TAGS, dom_tags
from crawler.page.page import Page


def text(html: str) -> str:
    return dom_tags(Page.from_html(html)).text


def test_tags_that_carry_text() -> None:
    for tag in sorted(TEXT_TAGS):
        assert text(f"<{tag}>One.</{tag}><div>Two.</div>") == "One."


def test_tags_that_carry_none() -> None:
    for tag in ["div", "td", "dd", "button", "label", "caption"]:
        assert text(f"<table><tr><{tag}>One.</{tag}></table>") == ""


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<div>One.<br>Two.</div><div>Three.</div>", "One.\nTwo."),
        ("<div><font>One.<br></font>Two.</div>", "One.\nTwo."),
        ("<div>One.<div>Two.<br></div></div>", "Two."),
    ],
)
def test_a_break_makes_a_node_of_what_it_stands_in(html: str, kept: str) -> None:
    assert text(html) == kept


@pytest.mark.parametrize(
    ("html", "is_kept"), [("<p>abcd<a href=x>efgh</a></p>", True), ("<p>abcd<a href=x>efghi</a></p>", False)]
)
def test_lines_of_links(html: str, is_kept: bool) -> None:
    assert bool(text(html)) == is_kept


def test_noise_by_name() -> None:
    rows = [
        ("class=sidebar", True),
        ("class=side-bar", True),
        ("id=left_sidebar", True),
        ("class='col related-posts'", True),
        ("class=RELATED", True),
        ("role=navigation", True),
        ("class=ad", True),
        ("class=ads", True),
        ("class=top-ad-2", True),
        ("class=head", False),
        ("class=shadow", False),
        ("class=canvas", False),
        ("class=bootnav", False),
        ("title=sidebar", False),
        ("", False),
    ]
    for attributes, is_noise in rows:
        html = f"<p>{'a' * 90}</p><div><div {attributes}><section><p>b</p></section></div></div>"
        assert ("b" not in text(html)) == is_noise


def test_noise_by_tag() -> None:
    for tag in sorted(EDGES):
        assert text(f"<p>{'a' * 90}</p><{tag}><div><p>b</p></div></{tag}>") == "a" * 90


@pytest.mark.parametrize(("size", "is_noise"), [(NOISE_SHARE * 100 - 1, True), (NOISE_SHARE * 100, False)])
def test_what_holds_much_of_the_text_is_no_noise(size: float, is_noise: bool) -> None:
    noise = "b" * int(size)
    assert (noise not in text(f"<p>{'a' * (100 - len(noise))}</p><div class=menu><p>{noise}</p></div>")) == is_noise


def test_narrowed_by_name() -> None:
    rows = [
        ("class=content", True),
        ("class=contents", True),
        ("id=article-body", True),
        ("class=entry_text", True),
        ("class=PostBody", True),
        ("itemprop=articleBody", True),
        ("role=main", True),
        ("class=domain", False),
        ("class=context", False),
        ("title=content", False),
        ("", False),
    ]
    for attributes, is_content in rows:
        html = f"<div><div {attributes}><section><p>{'a' * 90}</p></section></div></div><p>b</p>"
        assert ("b" not in text(html)) == is_content


@pytest.mark.parametrize("tag", sorted(CONTENT_TAGS))
def test_narrowed_by_tag(tag: str) -> None:
    assert text(f"<{tag}><div><p>{'a' * 90}</p></div></{tag}><p>b</p>") == "a" * 90


@pytest.mark.parametrize(("size", "is_content"), [(CONTENT_SHARE * 100 - 1, False), (CONTENT_SHARE * 100, True)])
def test_main_text_holds_most_of_the_text(size: float, is_content: bool) -> None:
    main = "a" * round(size)
    assert ("b" not in text(f"<article><p>{main}</p></article><p>{'b' * (100 - len(main))}</p>")) == is_content


def test_the_smallest_that_holds_enough() -> None:
    rows = [
        ("<main><p>b</p><article><p>aaaaaaaaa</p></article></main>", "aaaaaaaaa"),
        ("<main><p>bbbbb</p><article><p>aaaaa</p></article></main>", "bbbbb\naaaaa"),
        ("<main><article><p>aaaaa</p></article></main><p>b</p>", "aaaaa"),
        ("<body class=post><p>aaaaa</p></body>", "aaaaa"),
    ]
    for html, kept in rows:
        assert text(html) == kept


def test_a_body_is_not_named_by_what_stands_in_it() -> None:
    assert text("<body class='has-sidebar content'><p>a</p></body>") == "a"
