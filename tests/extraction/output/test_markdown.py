"""Blocks as Markdown."""

import re
import time
from pathlib import Path

import pytest
from hostile_pages import PAGES

from crawler.extraction.output.markdown import markdown
from crawler.extraction.output.markdown_inline import escaped
from crawler.page.page import Extraction, Page

CASES = Path(__file__).parent.parent.parent / "pages"
LONG = "Bees dance to tell the others the way to the flowers, and the longer they dance the farther it is. " * 2
MANY = "b" * 4_000
TOO_MANY = MANY + "b"
E = "http://e.com"
NAMELESS = ("default", "plain", "text", "none", "notranslate", "table")


def written(html: str, links: bool = False, refused: tuple[str, ...] = (), title: str = "") -> str:
    page = Page.from_html(html, E + "/d/")
    return markdown(page, Extraction("", title, blocks=page.blocks), links, frozenset(refused))


def test_markdown() -> None:
    rows = [
        ("", ""),
        ("<h1>a</h1><h3>b <b>c</b><br>d</h3><p>e</p>f", "# a\n\n### b c d\n\ne\n\nf"),
        ("<h2><div>a</div></h2>", "## a"),
        ("<p>a<br>b<br><br>c</p>", "a\\\nb\n\nc"),
        ("<p>a</p><p>b", "a\n\nb"),
        ("<pre><div><a href=/docs>[docs]</a></div><div>a:</div><div>  b</div></pre><p>c", "```\na:\n  b\n```\n\nc"),
        # Emphasis and code.
        ("<p>a<b> b </b>c <i>d</i><em> </em>e", "a **b** c *d* e"),
        ("<p><b>a<i>b</i></b> <strong><b>c</b></strong>", "**a*b*** **c**"),
        ("<p><b>a<br>b</b>", "**a**\\\n**b**"),
        ("<b>a<div>b</div>c</b>", "**a**\n\n**b**\n\n**c**"),
        ("<p><b>「蜂」</b>蜜 蜜<b>「蜂」</b>", "**「蜂**」蜜 蜜「**蜂」**"),
        ("<p><span>One</span><b>Two</b>", "One **Two**"),
        ("<p>x<code>a*`b`</code> <kbd><b>c</b></kbd><code></code>", "x``` a*`b` ```".replace("```", "``") + " `c`"),
        ("<p><b><i> a </i></b>b", "***a*** b"),
        # Lists.
        (
            "<ul><li>a<li>b<ul><li>c<ol start=3><li>d<li>e</ol></ul><li>f</ul>",
            "- a\n- b\n  - c\n    3. d\n    4. e\n- f",
        ),
        ("<ul><li>a<p>b</p><li>c</ul>d", "- a\n\n  b\n- c\n\nd"),
        ("<p>a</p><ol><li>b</ol><ul><li>c</ul>", "a\n\n1. b\n\n- c"),
        ("<ol start=x><li>a<li value=-1>b<li value=7>c</ol>", "1. a\n2. b\n7. c"),
        ("<ol><li>a<li>b</ol><ol><li>c<li>d</ol><ol><li>e</ol>", "1. a\n2. b\n\n1) c\n2) d\n\n1. e"),
        ("<ul><li>a<ul><li>b</ul><ul><li>c</ul></ul><ul><li>d<li>e</ul>", "- a\n  - b\n\n  * c\n\n* d\n* e"),
        ("<ul><li>a</ul><p>b</p><ul><li>c</ul>", "- a\n\nb\n\n- c"),
        ("<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>", "a\n:   b\n:   c\n\nd\n:   e"),
        # Quotes.
        ("<blockquote><p>a<p>b<br>c</blockquote>d", "> a\n>\n> b\\\n> c\n\nd"),
        ("<blockquote>a<ul><li>b<li>c</ul></blockquote>", "> a\n>\n> - b\n> - c"),
        ("<ul><li><blockquote>a</blockquote>b</ul>", "- > a\n\n  b"),
        ("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b"),
        # Tables.
        ("<table><tr><th>a<th>b|c<tr><td>|d<td>e<br>f</table>", "| a | b\\|c |\n| --- | --- |\n| \\|d | e f |"),
        (
            "<table><tr><td rowspan=2>a<td colspan=2>b<td>c<tr><td>d<td>e<td>f</table>",
            "| a | b |  | c |\n| --- | --- | --- | --- |\n|  | d | e | f |",
        ),
        ("<table><caption>x</caption><tr><td>a<td>b<tr><td>c<td>d</table>", "x\n\n| a | b |\n| --- | --- |\n| c | d |"),
        ("<ul><li><table><tr><td>a<td>b<tr><td>c<td>d</table></ul>", "- | a | b |\n  | --- | --- |\n  | c | d |"),
        ("<table><tr><td>a<td>b</table>", "a\n\nb"),
        ("<table><tr><td>a<tr><td>b</table>", "a\n\nb"),
        ("<table><tr><td><h2>a</h2><td>b<tr><td>c<td>d</table>", "## a\n\nb\n\nc\n\nd"),
        ("<table><tr><td>a<td>b<tr><td>c<td><table><tr><td>d</table></table>", "a\n\nb\n\nc\n\nd"),
        (f"<table><tr><td>a<td>{LONG * 3}<tr><td>b<td>c</table>", f"a\n\n{(LONG * 3).strip()}\n\nb\n\nc"),
        (f"<table><tr><th>a<th>b<tr><td>c<td>{MANY}</table>", f"| a | b |\n| --- | --- |\n| c | {MANY} |"),
        (f"<table><tr><th>a<th>b<tr><td>c<td>{TOO_MANY}</table>", f"a\n\nb\n\nc\n\n{TOO_MANY}"),
        (f"<table><tr><th colspan=2>a<tr><th>c<td>{MANY}</table>", f"a\n\nc\n\n{MANY}"),
        (
            "<table>" + ("<tr>" + "<td>a" * 60) * 2 + "</table>",
            "\n".join([f"|{' a |' * 60}", f"|{' --- |' * 60}", f"|{' a |' * 60}"]),
        ),
        ("<table>" + ("<tr>" + "<td>a" * 61) * 2 + "</table>", "\n\n".join("a" * 122)),
        # Code.
        ("<pre><code class=language-Py>a:\n  *b*\n</code></pre>", "```py\na:\n  *b*\n```"),
        ("<p>PY<pre class=language-py>a\n b</pre>", "```py\na\n b\n```"),
        ("<p>JS<pre class=language-py>a\n b</pre>", "JS\n\n```py\na\n b\n```"),
        ("<p>py<br>b<pre class=language-py>a\n b</pre>", "py\\\nb\n\n```py\na\n b\n```"),
        ("<pre class=lang-auto>a\n b</pre>", "```\na\n b\n```"),
        ("<pre>```\n````x</pre>", "`````\n```\n````x\n`````"),
        ("<pre><div>a</div><div>  b</div></pre>", "```\na\n  b\n```"),
        ("<ul><li>a<pre>b\n c</pre></ul>", "- a\n\n  ```\n  b\n   c\n  ```"),
        ("<table><tr><td><pre>1\n2</pre><td><pre>a\nb</pre></table>", "```\na\nb\n```"),
        (f"<p>{LONG}<p>{LONG}", LONG.strip()),
    ]
    for html, expected in rows:
        assert written(html) == expected


CODE = "<pre>a\n b</pre>"
NUMBERED = f"<table><tr><td class=gutter><pre>1\n2</pre><td class=code>{CODE}</table>"


def test_language_of_code() -> None:
    rows = [
        # The class of an element around the code.
        (f"<figure class='highlight python'>{NUMBERED}</figure>", "python"),
        (f"<figure class='highlight c++'><figcaption>x</figcaption>{NUMBERED}</figure>", "c++"),
        (f"<div class='language-python highlighter-rouge'><div class=highlight>{CODE}</div></div>", "python"),
        (f"<div class='highlight-python notranslate'><div class=highlight>{CODE}</div></div>", "python"),
        (f"<div class='highlight highlight-source-js'>{CODE}</div>", "js"),
        (f"<div class='brush: js; toolbar: false'>{CODE}</div>", "js"),
        (f"<div class=lang-js><button>Copy</button><div><div>{CODE}</div></div></div>", "js"),
        ("<pre class=highlight><code class='highlight python'>a\n b</code></pre>", "python"),
        # The inner name counts.
        (f"<div class=language-js><div class=language-ts>{CODE}</div></div>", "ts"),
        # Words that are no languages.
        *(
            (f"<div class='highlight-{name} notranslate'><div class=highlight>{CODE}</div></div>", "")
            for name in NAMELESS
        ),
        *((f"<figure class='highlight {name}'>{CODE}</figure>", "") for name in NAMELESS),
        (f"<div class='highlight-text language-js'>{CODE}</div>", "js"),
        (f"<div class='nohighlight-js highlight'>{CODE}</div>", ""),
        (f"<div class='highlight line-numbers'>{CODE}</div>", ""),
        # Elements around more than the code, or too far from it.
        (f"<article class=lang-en>{CODE}</article>", ""),
        (f"<div class=lang-en>{CODE}<ul></ul></div>", ""),
        (f"<div class=lang-en>{'<i></i>' * 4}{CODE}</div>", "en"),
        (f"<div class=lang-en>{'<i></i>' * 5}{CODE}</div>", ""),
        (f"<div class=language-js>{'<div>' * 5}{CODE}", "js"),
        (f"<div class=language-js>{'<div>' * 6}{CODE}", ""),
    ]
    for html, language in rows:
        assert f"```{language}\na\n b\n```" in written(html)


def test_links() -> None:
    rows = [
        ("<a href=/x>a</a>", f"[a]({E}/x)"),
        ("<b><a href=x>a b</a></b>c", f"**[a b]({E}/d/x)**c"),
        ("<a href=x>a</a><a href=y>b</a>", f"[a]({E}/d/x) [b]({E}/d/y)"),
        ("<a href=x>a<div>b</div></a>", f"[a]({E}/d/x)\n\n[b]({E}/d/x)"),
        ("<a href=x><code>a]</code></a>", f"[`a]`]({E}/d/x)"),
        ("<a href=#x>a</a> <a>b</a> <a href=''>c</a> <a href=#>d</a>", "[a](#x) b c d"),
        ("<a href=/x#y>a</a>", "[a](http://e.com/x#y)"),
        ("<a href='javascript:alert(1)'>a</a> <a href='data:text/html,x'>b</a> <a href=mailto:a@b.c>d</a>", "a b d"),
        ("<a href='x'>a](javascript:alert(1))</a>", f"[a\\](javascript:alert(1))]({E}/d/x)"),
        ("<a href='/x) [y](javascript:z'>a</a>", f"[a]({E}/x%29%20%5By%5D%28javascript:z)"),
        ("<a href='/x \"t\"><b>'>a</a>", f"[a]({E}/x%20%22t%22%3E%3Cb%3E)"),
        ("<p>!<a href=x>a</a> [<a href=y>b</a>](z)", f"\\![a]({E}/d/x) [[b]({E}/d/y)\\](z)"),
        ("<p>a<a href=x><img src=y width=9></a>", "a"),
    ]
    for html, expected in rows:
        assert written(html, links=True) == expected
        assert "](" not in written(html).replace("\\](", "")


def test_images() -> None:
    rows = [
        ("<p>a<img src=/i.jpg alt='the bee'>b<p>c", f"![the bee]({E}/i.jpg)\n\nab\n\nc"),
        ("<p>a</p><img src=/i.jpg><p>b", f"a\n\n![]({E}/i.jpg)\n\nb"),
        ("<ul><li><img src=/i.jpg>a<li>b", f"- ![]({E}/i.jpg)\n\n  a\n- b"),
        ("<p>a</p><img src=/i.jpg>", "a"),  # beside the whole page
        ("<div><p>a</p><figure><img src=/i.jpg></figure></div>", f"a\n\n![]({E}/i.jpg)"),
        ("<div><p>a</p><p><img src=/i.jpg></p><p><img src=/j.jpg></div>", f"a\n\n![]({E}/i.jpg)\n\n![]({E}/j.jpg)"),
        ("<div><p>a</p></div><div><img src=/i.jpg></div>", "a"),
        ("<blockquote><p>a</p><img src=/i.jpg></blockquote>", f"> a\n>\n> ![]({E}/i.jpg)"),
        ("<p>a</p><img src=/i.jpg><img src=/i.jpg><p>b", f"a\n\n![]({E}/i.jpg)\n\nb"),
        ("<p>a</p><img src=/i.jpg width=49><img src=/j.jpg width=50><p>b", f"a\n\n![]({E}/j.jpg)\n\nb"),
        ("<p>a</p><img src=/blank.gif><img src=/no.jpg><p>b", "a\n\nb"),
        ("<p>a</p><img src='javascript:x' alt=x><img src='data:x'><p>b", "a\n\nb"),
        (
            "<p>a</p><img src='/i(1).jpg' alt='](javascript:x) ![\n# y'><p>b",
            f"a\n\n![\\](javascript:x) !\\[ # y]({E}/i%281%29.jpg)\n\nb",
        ),
        (
            "<table><tr><td>a<td>b<tr><td><img src=/i.jpg>c<td>d</table>",
            f"![]({E}/i.jpg)\n\n| a | b |\n| --- | --- |\n| c | d |",
        ),
    ]
    for html, expected in rows:
        assert written(html, refused=(E + "/no.jpg",)) == expected


def test_what_means_something_is_escaped() -> None:
    rows = [
        ("2 * 3 snake_case a_b 1986 a.b #x a-b < 3 && [1] C# ~5", None),
        ("*a* _b_ `c`", "\\*a\\* \\_b\\_ \\`c\\`"),
        ("[a](b) [a][b] [a]: b", "[a\\](b) [a\\][b] [a\\]: b"),
        ("<b> </b> <!-- <?x", "\\<b> \\</b> \\<!-- \\<?x"),
        ("&amp; &#60; & co;", "\\&amp; \\&#60; & co;"),
        ("\\* a\\b ~~c~~", "\\\\\\* a\\b \\~~c\\~~"),
        ("# a", "\\# a"),
        ("#a", None),
        ("> a", "\\> a"),
        ("- a", "\\- a"),
        ("+ a", "\\+ a"),
        ("* a", "\\* a"),
        ("-a", None),
        ("---", "\\---"),
        ("===", "\\==="),
        ("| a", "\\| a"),
        ("1. a", "1\\. a"),
        ("12) a", "12\\) a"),
        ("1.5 a", None),
    ]
    for text, expected in rows:
        assert escaped(text) == (text if expected is None else expected)


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def words_of_markdown(text: str) -> list[str]:
    text = re.sub(
        r"(?m)^[> ]*`{3,}[a-z0-9+#-]*$|^((?:> |- |\* |    | {2,4}|\d+[.)] |:   )*)\d+[.)] |^!\[.*$", r"\1", text
    )
    text = re.sub(r"\\[lg]t ", " ", text)  # in formulas
    return words(re.sub(r"\\(?=[!-/:-@\[-`{-~])|\*+", "", text))


SMALL = {name: body for name, body in PAGES.items() if len(body) < 200_000}


def test_every_word_of_real_pages_is_there_once_and_in_order() -> None:
    for links in [True, False]:
        for case in sorted(CASES.iterdir()):
            page = Page(E, (case / "input.html").read_bytes())
            text = markdown(page, Extraction("", "", blocks=page.blocks), links)
            if links:
                text = re.sub(r"(?m)^!\[.*|(?<!\\)(?:\[|\]\(http[^)]*\))", "", text)
            assert words_of_markdown(text) == words(" ".join(block.text for block in page.blocks))


def test_every_word_of_hostile_pages_is_there() -> None:
    for name in SMALL:
        page = Page(E, SMALL[name])
        assert "".join(words_of_markdown(markdown(page, Extraction("", "", blocks=page.blocks)))) == "".join(
            words(" ".join(block.text for block in page.blocks))
        )


def test_some_blocks_of_a_page() -> None:
    page = Page.from_html("<p>a<ul><li>b<li><i>c</i><li>d</ul><p>e")
    assert markdown(page, Extraction("", "", blocks=(page.blocks[2], page.blocks[4]))) == "- *c*\n\ne"


@pytest.mark.long
@pytest.mark.parametrize(
    "html",
    [
        "<table><tr>" + "<td>x" * 100_000,
        "<table>" + "<tr><td rowspan=999 colspan=99>x<td>y" * 10_000,
        "<ul><li>x" * 10_000,
        "<blockquote><ol><li>x" * 10_000,
        "<ol>" + "<li>x" * 20_000,
        "<p>" + "<b> </b> " * 100_000 + "x",
        "<p><b>" + "x<br>" * 20_000,
        "<p>x<b>" + "!" * 500_000 + "</b>x",
        "<p>" + "*_[](!" * 100_000,
        "<p><code>" + "`a" * 200_000,
        "<p>" + r"\(a" * 60_000,
        "<p>" + "$a " * 60_000,
        "<pre>" + "`\n" * 200_000,
        "<p>x" + "".join(f"<img src=/{number}.jpg>" for number in range(20_000)) + "y",
        "<p>" + "<a href='éx'>t</a>" * 10_000,
    ],
    ids=lambda html: html[:24],
)
def test_time_and_size_are_bounded(html: str) -> None:
    page = Page.from_html(html, E)
    assert page.blocks is not None
    started = time.process_time()
    text = markdown(page, Extraction("", "", blocks=page.blocks), link_addresses=True)
    assert time.process_time() - started < 3
    assert len(text) < 4 * len(html)


def test_a_backslash_takes_no_meaning_from_what_follows() -> None:
    rows = [
        ("<p>a\\<code>&lt;b></code></p>", "a\\\\`<b>`"),
        ("<p>a\\\\<b>b</b></p>", "a\\\\\\\\**b**"),
        ("<p><a href=/x>see\\</a> it</p>", "[see\\\\](http://e.com/x) it"),
        ("<p>a\\</p>", "a\\"),
    ]
    for html, expected in rows:
        page = Page.from_html(html, "http://e.com/")
        assert markdown(page, Extraction("", "", blocks=page.blocks), link_addresses=True) == expected


def test_the_title_comes_first_and_once() -> None:
    rows = [
        ("<h2>Bees</h2><p>Dance.", "Bees", "# Bees\n\nDance."),
        ("<p>Dance.", "Bees *and* wasps", "# Bees \\*and\\* wasps\n\nDance."),
        ("<p>News<h1>Bees</h1><p>Dance.", "BEES", "# BEES\n\nNews\n\n# Bees\n\nDance."),
        ("<p>News<h1>Bees</h1><p>Dance.", "Bees", "# Bees\n\nNews\n\nDance."),
        ("<h1>Bees</h1>", "Bees", "# Bees"),
        ("<p>Bees<p>News<h1>Bees</h1><p>Dance.", "Bees", "# Bees\n\nNews\n\nDance."),
        ("<h1>Bees</h1><pre>Bees</pre>", "Bees", "# Bees\n\n```\nBees\n```"),
        ("<h1>Bees</h1>" + "<p>a" * 9 + "<h1>Bees</h1>", "Bees", "# Bees" + "\n\na" * 9 + "\n\n# Bees"),
    ]
    for html, title, expected in rows:
        assert written(html, title=title) == expected


def test_a_table_with_text_between_its_rows_is_there_once() -> None:
    row = "<tr><td>a</td><td>b</td></tr>"
    page = Page.from_html(f"<table>{row}Bees.{row}Wasps.{row}</table>")
    assert markdown(page, Extraction("", "", blocks=page.blocks)).count("---") == 2


def test_code_in_many_parts_costs_little() -> None:
    page = Page.from_html("<pre class=lang-py>" + "if a:<br>  b()<pre>Bees</pre>" * 5_000)
    started = time.process_time()
    lines = [line for line in markdown(page, Extraction("", "", blocks=page.blocks)).split("\n") if line]
    assert time.process_time() - started < 2  # measured 0.4
    assert lines[:4] == ["```py", "if a:", "  b()", "```"]
    assert lines.count("```py") == 5_000 + 5
    assert lines.count("  b()") == 5_000
