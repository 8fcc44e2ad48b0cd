"""What readers say under a page, apart from its text."""

from crawler.extraction.auto import auto
from crawler.extraction.auto.readers_comments import comments, without_comments_beside_main
from crawler.page.page import Page

SAID = "I saw them dance, too."
LONG = "the bees in our garden go to the old apple tree"


def test_comments() -> None:
    rows = [
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
        (
            f"<div class=comments><p>{SAID}<noscript>Please enable JavaScript to view the comments.</noscript></div>",
            [SAID],
        ),
        ("<div id=disqus_thread></div><div class=comments><noscript><p>Please enable it.</noscript></div>", []),
        (f"<noscript>Please enable it.</noscript><div class=comments><p>{SAID}</div>", [SAID]),
        (f"<body class=with-comments><p>{SAID}", []),
        (f"<html class=comments><p>{SAID}", []),
        (f"<div class={'x' * 193}comments>{SAID}</div>", [SAID]),
        (f"<div class={'x' * 194}comments>{SAID}</div>", []),
        (f"<div class=comments><a href=/a>{'a' * 100}</a>{'b' * 100}</div>", ["a" * 100 + "b" * 100]),
        (f"<div class=comments><a href=/a>{'a' * 101}</a>{'b' * 100}</div>", []),
        (f"<ul class=comments><li class=a>{SAID}<li class=a>{'b' * len(SAID)}</ul>", [SAID, "b" * len(SAID)]),
        (f"<ul class=comments><li class=a>{SAID}<li class=a>{'b' * len(SAID)}c</ul>", []),
        (f"<ul class=comments><li class=a>{SAID}<li class=b>So it is</ul>", [SAID]),
        (f"<ul class=comments><li class=posted>By {LONG}<li>{SAID}</ul>", [SAID]),
        (f"<div class=comments><p>{SAID}<p class=comment-byline>By Dr. Lee, on Monday.</div>", [SAID]),
        (f"<div class=comments><p>{SAID}<p class=comments-open-subtext>(URLs are made links.)</div>", [SAID]),
        (f"<div class=comments><p>{SAID}<p id=captcha>Read these letters, please.</div>", [SAID]),
        ("", []),
    ]
    for html, expected in rows:
        assert comments(Page.from_html(html), frozenset()).splitlines() == expected


def test_comments_under_a_heading() -> None:
    rows = [
        (f"<p>Bees dance.<h2>Comments</h2><p>{SAID}<div><p>{SAID}</div>", [SAID, SAID]),
        (f"<p>Bees dance.<h3>12 comments:</h3>{SAID}<p>{SAID}", [SAID]),
        (f"<p>Bees dance.<h2>评论</h2><p>{SAID}", [SAID]),
        (f"<p>Bees dance.<h2 id=responses>Ann and Lee</h2><p>{SAID}", [SAID]),
        (f"<h2>Comments</h2><p>{SAID}<h3>Older</h3><p>{SAID}", [SAID, SAID]),
        (f"<h2>Comments</h2><p>{SAID}<h2>More</h2><p>Bees dance.", [SAID]),
        (f"<h2>Comments</h2><p>{SAID}<h1>More</h1><p>Bees dance.", [SAID]),
        (f"<div><h2>Comments</h2></div><p>{SAID}", []),
        (f"<h2>Comments on bees</h2><p>{SAID}", []),
        (f"<p>Comments</p><p>{SAID}", []),
    ]
    for html, expected in rows:
        assert comments(Page.from_html(html), frozenset()).splitlines() == expected


def test_what_is_main_text_is_no_comment() -> None:
    page = Page.from_html(f"<p>{LONG}.<div class=comments><p>{SAID}<p>And we heard them.</div>")
    assert comments(page, frozenset((0, 1))) == "And we heard them."
    assert comments(page, frozenset((0, 1, 2))) == ""


def test_deep_nesting_and_many_elements_cost_nothing() -> None:
    headings = "<h2>Comments</h2>" * 10_000
    page = Page.from_html("<div class=comments>" * 1_500 + headings + f"<p>{SAID}</p>" * 10_000)
    assert comments(page, frozenset()) == "\n".join([SAID] * 10_000)


def test_the_posts_of_a_thread_are_no_comments() -> None:
    rows = [
        ({0}, True, "I saw bees, too."),
        ({1}, True, ""),
        ({1}, False, ""),
        ({0, 1}, False, ""),
        ({0}, False, "I saw bees, too."),
    ]
    for kept, is_thread, expected in rows:
        page = Page.from_html("<p>Bees dance.</p><div class=comments><p>I saw bees, too.</p></div>")
        assert comments(page, kept, is_thread) == expected


def test_what_is_left_of_a_thread_is_no_comment() -> None:
    page = Page.from_html("<div class=comments><p>I saw bees, too.</p><p>So did I, in May.</p></div>")
    assert (comments(page, {0}, True), comments(page, {0}, False)) == ("", "So did I, in May.")


def test_comments_beside_the_main_landmark_are_no_text() -> None:
    rows = [
        (f"<main><p>Bees</main><div id=comments><p>{SAID}</div><p>Ants", ["Bees", "Ants"]),
        (f"<div role=main><p>Bees</div><div id=comments role=complementary><p>{SAID}</div>", ["Bees"]),
        # Within the main landmark, or without one that has text.
        (f"<main><p>Bees<div id=comments><p>{SAID}</div></main>", ["Bees", SAID]),
        (f"<div><p>Bees</div><div id=comments><p>{SAID}</div>", ["Bees", SAID]),
        (f"<main></main><div><p>Bees</div><div id=comments><p>{SAID}</div>", ["Bees", SAID]),
        (f"<main><p>Bees</main><div id=remarks><p>{SAID}</div>", ["Bees", SAID]),
    ]
    for html, expected in rows:
        page = Page.from_html(html)
        places = without_comments_beside_main(page, list(range(len(page.blocks))))
        assert [page.blocks[place].text for place in places] == expected


def test_short_texts_of_an_unknown_type_lose_their_comments_too() -> None:
    text = "Bees dance in the dark of the hive to tell the others the way to the flowers, the longer the better. " * 3
    remark = "I liked this piece about bees, and have counted my own since. They are many more than one thinks."
    page = Page.from_html(
        f"<title>dance</title><div id=pagebody><div id=content role=main><p>{text}</div><div id=comments>"
        f"<div class=comment><div class=inlinecontent><p>{remark}</div><div class=comment-header>Comment by Bo</div>"
        "</div></div></div>",
        "https://example.org/posts/dance/",
    )
    extraction = auto(page)
    assert extraction.text == text.strip()
    assert extraction.comments == remark
