import pytest

from crawler.extraction.methods.slope_and_max_text import BREAKS, TEXT_LEVEL, max_text
from crawler.page.page import Page


def text(html: str) -> str:
    return max_text(Page.from_html(html)).text


def test_the_longest_string_between_two_tags() -> None:
    rows = [
        ("<div>aaa</div><div>bbbb</div><div>cc</div>", "bbbb"),
        ("<div>aaa</div><div>bbb</div>", "aaa"),
        ("<div>aaa</div><div> bbb </div>", "aaa"),
        ("no tag at all", "no tag at all"),
        ("aaa<div>bb", "aaa"),
        ("aa<div>bbb", "bbb"),
        ("<img src=x alt='aaaaaaaaa'><hr/>b", "b"),
        ("", ""),
    ]
    for html, longest in rows:
        assert text(html) == longest


def test_text_level_tags_are_skipped() -> None:
    for tag in sorted(TEXT_LEVEL):
        assert text(f"<div>aa<{tag}>bb</{tag.upper()} >cc</div><div>dddd</div>") == "aabbcc"


@pytest.mark.parametrize("tag", sorted(BREAKS))
def test_breaks_are_skipped_and_end_a_line(tag: str) -> None:
    assert text(f"<div>aa<{tag}>bb<{tag} class=x>cc</div><div>dddd</div>") == "aa\nbb\ncc"


def test_other_tags_are_anchors() -> None:
    for tag in ["a", "A", "div", "td", "li", "h1", "img", "hr", "blockquote", "x-y"]:
        assert text(f"<div>aa<{tag}>bbb</{tag}>cc</div>") == "bbb"


def test_a_link_ends_the_string_always() -> None:
    assert text("<p>aaa <b><a href=x>bb</a></b> cccc</p><p>d</p>") == "cccc\nd"


def test_what_is_no_text() -> None:
    rows = [
        "<script>bbbbbbb</script>",
        "<SCRIPT type=x>if (a < b) '<p>bbbbbb'</Script >",
        "<style>bbbbbbbb</style>",
        "<!-- bbbbbbbb -->",
        "<!-- <p>bbbbbbb</p> -->",
        "<title>bbbbbbbb</title>",
        "<textarea>bbbbbbbb</textarea>",
        "<!doctype bbbbbbbbb>",
        "<?php bbbbbbbb ?>",
        "<script>bbbbbbb",
        "<!-- bbbbbbb",
    ]
    for silent in rows:
        assert text(f"<div>aa</div>{silent}") == "aa"


def test_characters_are_counted_as_they_are_shown() -> None:
    rows = [
        ("aa<!-- x -->bb<div>ccc", "aabb"),
        # Neither entities nor white space are as long as their source.
        ("<div>&eacute;&eacute;</div><div>aaa</div>", "aaa"),
        ("<div>Fish &amp; chips</div>", "Fish & chips"),
        ("<div>a &lt;b&gt; c</div>", "a <b> c"),
        (f"<div>a{' ' * 99}b</div><div>ccccc</div>", "ccccc"),
        ("<div>a\n\t b</div>", "a b"),
        ("<div>&nbsp;&nbsp;&nbsp;&nbsp;a</div><div>bb</div>", "bb"),
    ]
    for html, longest in rows:
        assert text(html) == longest


def test_blocks_are_those_that_are_whole_lines() -> None:
    page = Page.from_html("<p>aa<p>bb <a href=x>c</a>")
    assert max_text(page).text == "aa\nbb"
    assert max_text(page).blocks == page.blocks[:1]
