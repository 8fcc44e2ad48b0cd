"""Footnotes in Markdown, as programs write them."""

import time

import pytest

from crawler.extraction.output.markdown import markdown
from crawler.page.page import Extraction, Page


def written(html: str) -> str:
    page = Page.from_html(html, "http://e.com/")
    return markdown(page, Extraction("", "", blocks=page.blocks))


def test_footnotes() -> None:
    rows = [
        (  # Pandoc
            (
                '<p>a<a href="#fn1" id="fnref1" role="doc-noteref"><sup>1</sup></a> b</p><section><ol>'
                '<li id="fn1"><p>c</p><p>d<a href="#fnref1">↩︎</a></p></li></ol></section>'
            ),
            "a[^1] b\n\n[^1]: c\n\n    d",
        ),
        (  # markdown-it
            (
                '<p>a<sup><a href="#fn1" id="r1">[1]</a></sup> b<sup><a href="#fn2" id="r2">[2]</a></sup> c<sup>'
                '<a href="#fn1" id="r1:1">[1:1]</a></sup><ol><li id="fn1"><p>d '
                '<a href="#r1">↩︎</a> <a href="#r1:1">↩︎</a><li id="fn2"><p>e <a href="#r2">↩︎</a></ol>'
            ),
            "a[^1] b[^2] c[^1]\n\n[^1]: d\n\n[^2]: e",
        ),
        (  # MediaWiki
            (
                '<p>a<sup id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup><sup id="ref-2">'
                '<a href="#note-2">[2]</a></sup><ol><li id="cite_note-1"><b><a href="#cite_ref-1">^</a></b> <i>b</i>'
                '<li id="note-2">^ <a href="#ref-2"><sup><i><b>a</b></i></sup></a> c</ol>'
            ),
            "a[^1][^2]\n\n[^1]: *b*\n\n[^2]: c",
        ),
        (  # Sphinx
            (
                '<p>a <a href="#id4" id="id1"><span>[</span>1<span>]</span></a><aside id="id4"><span><span>[</span>'
                '<a href="#id1">1</a><span>]</span></span><p>b</p></aside>'
            ),
            "a [^1]\n\n[^1]: b",
        ),
        ('<p>a <a href="#n" id="r">1</a><dl><dt id="n"><a href="#r">1</a><dd><p>b</dl>', "a [^1]\n\n[^1]: b"),
        (
            '<p>a <a href="#n" id="r">[1]</a><table id="n"><tr><td><a href="#r">[1]</a><td>b</table>',
            "a [^1]\n\n[^1]: b",
        ),
        # WordPress, Word, and a note without a link back.
        ('<p>a<sup><a href="#u" id="u-l">1</a></sup><ol><li id="u">b <a href="#u-l">↩︎</a></ol>', "a[^1]\n\n[^1]: b"),
        ('<p>a<a href="#n" name="r">[1]</a><div><p><a href="#r" name="n">[1]</a> b</div>', "a[^1]\n\n[^1]: b"),
        ('<p>a<sup><a href="#fn9">9</a></sup><ol start=9><li id="fn9">b</ol>', "a[^9]\n\n[^9]: b"),
        # Labels: signs get a number, and no two notes the same.
        (
            '<p>a<sup><a href="#fn1">*</a></sup> b<sup><a href="#fn2">1</a></sup><p id="fn1">c<p id="fn2">d',
            "a[^1] b[^2]\n\n[^1]: c\n\n[^2]: d",
        ),
        # The note is left out of what is around it; a colon after a reference does not make it a note.
        (
            (
                '<blockquote>a</blockquote><p><sup><a href="#fn1" id="r">1</a></sup>: b<ul><li>c<ol>'
                '<li id="fn1">d</ol></ul>'
            ),
            "> a\n\n[^1]\\: b\n\n- c\n\n[^1]: d",
        ),
        # No footnotes.
        ('<ul><li><a href="#s">1</a></ul><div id="s"><p>a</div>', "- 1\n\na"),
        ('<p>a <sup><a href="#comments">3</a></sup><div id="comments"><p>b</div>', "a 3\n\nb"),
        ('<p>a<sup><a href="#fn9">9</a></sup>', "a9"),
        ('<p id="fn1">a<sup><a href="#fn1">1</a></sup> b', "a1 b"),
        ('<p>a<sup><a href="#fn1">see below</a></sup><p id="fn1">b', "asee below\n\nb"),
        ('<p>a<sup><a href="#fn1">1</a></sup><h2 id="fn1">b</h2>', "a1\n\n## b"),
        (
            '<p>a<sup><a href="#fn1">1</a><a href="#fn2">2</a></sup><p><a id="fn1"></a>b<a id="fn2"></a>c',
            "a1 2\n\nbc",
        ),
        ("<p>[^1] [^1]: a", "\\[^1] \\[^1\\]: a"),
    ]
    for html, expected in rows:
        assert written(html) == expected


@pytest.mark.parametrize("kept", [(0,), (1,)])
def test_a_note_needs_its_reference_in_the_text(kept: tuple[int, ...]) -> None:
    page = Page.from_html('<p>a<sup><a href="#fn1" id="r">1</a></sup><ol><li id="fn1">b <a href="#r">back</a></ol>')
    text = markdown(page, Extraction("", "", blocks=tuple(page.blocks[at] for at in kept)))
    assert text == ("a1", "1. b back")[kept[0]]


@pytest.mark.long
@pytest.mark.parametrize(
    "html",
    [
        "<p>" + "<sup><a href=#fn id=r>1</a></sup>" * 9_000 + "<p id=fn>b<a href=#r>a</a>",
        "".join(f"<sup><a href=#fn{at} id=r{at}>1</a></sup>" for at in range(5_000))
        + "".join(f"<li id=fn{at}>a<a href=#r{at}>1</a>" for at in range(5_000)),
        "".join(f"<sup><a href=#fn{at} id=r{at}>1</a></sup>" for at in range(5_000))
        + "".join(f"<div id=fn{at}>" for at in range(5_000))
        + "".join(f"<a href=#r{at}>1</a>" for at in range(5_000)),
        "<sup><a href=#fn1 id=r>1</a></sup><p id=fn1>" + "[ ] ( ^" * 50_000 + "<a href=#r>x</a>",
        "<sup><a href=#fn1 id=r>1</a></sup><p id=fn1>a" + "<b><a href=#r>x</a></b>" * 9_000,
    ],
    ids=range(5),
)
def test_hostile_notes_cost_little(html: str) -> None:
    page = Page.from_html(html)
    assert page.blocks
    started = time.process_time()
    markdown(page, Extraction("", "", blocks=page.blocks))
    assert time.process_time() - started < 4
