"""What readers say under a page, apart from its text."""

import pytest

from crawler.extraction.auto import comments
from crawler.page.page import Page

SAID = "I saw them dance, too."
LONG = "the bees in our garden go to the old apple tree"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<div class=comments><p>{SAID}</div>", [SAID]),
        (f"<div id=comment-12><p>{SAID}</div>", [SAID]),
        (f"<div class='a postComments b'><p>{SAID}</div>", [SAID]),
        (f"<section id=disqus_thread><div><div><p>{SAID}</div></div></section>", [SAID]),
        (f"<div class=replies><ul><li>{SAID}<li>{SAID}</ul></div>", [SAID, SAID]),
        (f"<div class=pinglun>{SAID}</div><div class=评论列表>蜂群真有意思。</div>", [SAID, "蜂群真有意思。"]),
        (f"<div class=comments>{LONG}</div>", [LONG]),
        ("<div class=comments>too short to be a remark</div>", []),
        ("<div class=comments><b>Ann Lee</b><p>Reply<h3>What do you think of it?</h3></div>", []),
        ("<div class=comments><button>Do you really want to reply?</button></div>", []),
        ("<div class=comments><a href=/a>All the comments on this page are here.</a></div>", []),
        (f"<div class=comments><a href=/a>Ann</a> {SAID}</div>", [f"Ann {SAID}"]),
        (f"<div><p>{SAID}</div><div class=news>{SAID}</div>", []),
        (f"<div class=comments>{SAID}</div><p>{LONG}.", [SAID]),
        (f"<div class=comments><form><p><i>{SAID}</i></form>{SAID}</div>", [SAID]),
        (f"<div class=comments><div class=comment-respond>{SAID}</div><p class=comment-notes>{SAID}</div>", []),
        (f"<form><div><div><div class=comments><p>{SAID}</div></div></div></form>", [SAID]),
        (f"<form><div><div class=comments><p>{SAID}</div></div></form>", []),
        (f"<body class=with-comments><p>{SAID}", []),
        (f"<html class=comments><p>{SAID}", []),
        (f"<div class={'x' * 193}comments>{SAID}</div>", [SAID]),
        (f"<div class={'x' * 194}comments>{SAID}</div>", []),
        (f"<div class=comments><a href=/a>{'a' * 100}</a>{'b' * 100}</div>", ["a" * 100 + "b" * 100]),
        (f"<div class=comments><a href=/a>{'a' * 101}</a>{'b' * 100}</div>", []),
        ("", []),
    ],
)
def test_comments(html: str, expected: list[str]) -> None:
    assert comments(Page.from_html(html), frozenset()).splitlines() == expected


def test_what_is_main_text_is_no_comment() -> None:
    page = Page.from_html(f"<p>{LONG}.<div class=comments><p>{SAID}<p>And we heard them.</div>")
    assert comments(page, frozenset((0, 1))) == "And we heard them."
    assert comments(page, frozenset((0, 1, 2))) == ""


def test_deep_nesting_and_many_elements_cost_nothing() -> None:
    page = Page.from_html("<div class=comments>" * 1_500 + f"<p>{SAID}</p>" * 10_000)
    assert comments(page, frozenset()) == "\n".join([SAID] * 10_000)


@pytest.mark.parametrize(
    ("kept", "is_thread", "expected"),
    [
        ({0}, True, "I saw bees, too."),
        ({1}, True, ""),
        ({1}, False, ""),
        ({0, 1}, False, ""),
        ({0}, False, "I saw bees, too."),
    ],
)
def test_the_posts_of_a_thread_are_no_comments(kept: set[int], is_thread: bool, expected: str) -> None:
    page = Page.from_html("<p>Bees dance.</p><div class=comments><p>I saw bees, too.</p></div>")
    assert comments(page, kept, is_thread) == expected


def test_what_is_left_of_a_thread_is_no_comment() -> None:
    page = Page.from_html("<div class=comments><p>I saw bees, too.</p><p>So did I, in May.</p></div>")
    assert (comments(page, {0}, True), comments(page, {0}, False)) == ("", "So did I, in May.")
