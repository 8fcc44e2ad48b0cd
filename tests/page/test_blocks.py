import time

from lxml import etree

from crawler.page.links import LAZY
from crawler.page.page import Page

E = "http://e.com/"


def walked(html: str) -> Page:
    return Page.from_html(html, E + "d/p.html")


def test_blocks() -> None:
    rows = [
        ("", []),
        ("bare", [("bare", "body")]),
        ("<p> a\n\t b&nbsp;c </p>", [("a b c", "p")]),
        ("<p>a<b>b</b><i>c</i> d</p>", [("abc d", "p")]),
        ("<p>a<br>b<br/><br>c</p>", [("a", "p"), ("b", "p"), ("c", "p")]),
        ("<div>a<p>b</p>c</div>", [("a", "div"), ("b", "p"), ("c", "div")]),
        ("<p>a<p>b", [("a", "p"), ("b", "p")]),
        ("<div>a<hr>b</div>", [("a", "div"), ("b", "div")]),
        ("<ul><li>a<li>b</ul>", [("a", "li"), ("b", "li")]),
        ("<table><tr><td>a<td>b<tr><th>c</table>", [("a", "td"), ("b", "td"), ("c", "th")]),
        ("<dl><dt>a<dd>b</dl>", [("a", "dt"), ("b", "dd")]),
        ("<h1>a</h1>b", [("a", "h1"), ("b", "body")]),
        ("<b>a<div>b</div>c</b>", [("a", "body"), ("b", "div"), ("c", "body")]),
        ("<p>a<wbr>b&shy;c&#8203;d</p>", [("abcd", "p")]),
        ("<x-tag>a</x-tag>", [("a", "x-tag")]),
        ("<p>a<o:p>b</o:p></p>", [("ab", "p")]),
        ("<p>  </p><p>&nbsp;</p>", []),
        ("<pre>\na\n  b  \n\n\tc\n</pre>", [("a\n  b\n\n\tc", "pre")]),
        ("<pre>\n \n</pre>", []),
        ("<pre>a<b>\nb</b></pre>", [("a\nb", "pre")]),
        (
            "<pre>By: Ann <ann@a.example>\nto\nBen</pre>c\nd",
            [("By: Ann", "pre"), ("to\nBen", "ann@a.example"), ("c d", "body")],
        ),
        ("<noscript><p>a</p></noscript>", [("a", "p")]),
        ("<xmp><b></xmp>", [("<b>", "xmp")]),
        ("<p>a<!-- b -->c<?d?></p>", [("ac", "p")]),
        ("<p>1 &lt; 2 &amp; 3</p>", [("1 < 2 & 3", "p")]),
        # Elements that stand side by side.
        ("<p><a href=x>a</a><a href=y>b</a></p>", [("a b", "p")]),
        ("<p><span><a href=x>a</a></span><span><a href=y>b</a></span></p>", [("a b", "p")]),
        ("<p><a href=x>a</a>b<a href=y>c</a></p>", [("abc", "p")]),
        ("<p><a href=x>a</a><br>b<a href=y>c</a></p>", [("a", "p"), ("bc", "p")]),
        ("<p><a href=x>蜂</a><a href=y>蜜</a></p>", [("蜂 蜜", "p")]),
        ("<p><span>Reviews</span><span>12</span><span>New</span></p>", [("Reviews 12 New", "p")]),
        ("<p><span>it</span><b>em</b></p>", [("item", "p")]),
        ("<p><b>D</b>ie <b>T</b>HE</p>", [("Die THE", "p")]),
        ("<p><b>2</b><b>3</b> <b>2</b>Go</p>", [("23 2 Go", "p")]),
        ("<p>H<sub>2</sub>O Mc<em>Donald</em> get<wbr>Name x<sup>10</sup></p>", [("H2O McDonald getName x10", "p")]),
        ("<p><span>One.</span><span>Two</span> <b>U.</b><b>S.</b></p>", [("One. Two U.S.", "p")]),
        ("<p>(<b>One</b>) 中<b>A</b>文</p>", [("(One) 中A文", "p")]),
        ("<pre><b>One</b><b>Two</b></pre>", [("OneTwo", "pre")]),
        # Lines of the source.
        ("<p>春天\n  来了，\r\n花开。</p>", [("春天来了，花开。", "p")]),
        ("<p>春天 来了\nABC\n花</p>", [("春天 来了 ABC 花", "p")]),
        ("<p><b>春天</b>\n<b>花</b></p>", [("春天 花", "p")]),
        ("<p>봄이\n왔다</p>", [("봄이 왔다", "p")]),
    ]
    for html, expected in rows:
        assert [(block.text, block.tag) for block in walked(html).blocks] == expected


def test_what_is_silent_keeps_the_text_after_it() -> None:
    for (
        tag
    ) in "applet audio canvas iframe noembed noframes object script select style svg template textarea video".split():
        found = walked(f"<p>a<{tag}>x<b>y</b></{tag}>b</p>")
        assert "".join(block.text for block in found.blocks) == "ab"


def test_the_head_is_silent() -> None:
    assert [block.text for block in walked("<head><title>t</title><style>s</style></head><p>a").blocks] == ["a"]


def test_linked_characters() -> None:
    rows = [
        ("<p>abc</p>", [0]),
        ("<p><a href=x>abc</a></p>", [3]),
        ("<p>ab <a href=x> cd </a> ef</p>", [2]),
        ("<p><a href=x>a<b>b</b>c</a></p>", [3]),
        ("<a href=x><p>ab</p><p>c</p></a>", [2, 1]),
        ("<p>a<a href=x>bc</a></p><p>d</p>", [2, 0]),
        ("<p><a name=x>abc</a></p>", [3]),
        ("<p><a href=x>a&shy;b</a></p>", [2]),
    ]
    for html, linked in rows:
        assert [block.linked for block in walked(html).blocks] == linked


def test_a_block_names_the_element_around_it() -> None:
    block = walked("<div id=a><p id=b><i id=c>x</i></p></div>").blocks[0]
    assert block.element.get("id") == "b"


def test_links() -> None:
    rows = [
        ("<a href=x>t</a>", [("d/x", "t")]),
        ("<a href='/x'> t <b>u</b>\n</a>", [("x", "t u")]),
        ("<a href=x></a>", [("d/x", "")]),
        ("<a href='#top'>t</a><a href=' #top'>t</a><a href=''>t</a><a href=' '>t</a><a>t</a><a name=n>t</a>", []),
        ("<a href='mailto:a@b.c'>t</a><a href='javascript:x()'>t</a><a href='http://[x'>t</a>", []),
        ("<a href='p.html#part'>t</a>", [("d/p.html", "t")]),
        ("<a href=x>t<script>s</script>u</a>", [("d/x", "tu")]),
        ("<a href=x><div>t</div><div>u</div></a>", [("d/x", "tu")]),
        ("<a href=x>t", [("d/x", "t")]),
        ("<a href=x>t<a href=y>u</a></a>", [("d/x", "t"), ("d/y", "u")]),
        ("<a href=x>t<div><a href=y>u</a></div>v</a>", [("d/x", "t"), ("d/y", "u")]),
        ("<a href=x><table><tr><td><a href=y>u</a></table></a>", [("d/x", ""), ("d/y", "u")]),
        ("<map><area href=x alt=' t  u '><area href='#y'><area></map>", [("d/x", "t u")]),
        ("<frameset><frame src=x><frame src=y></frameset>", [("d/x", ""), ("d/y", "")]),
        ("<iframe src=x>t</iframe><iframe></iframe><iframe src='about:blank'></iframe>", [("d/x", "")]),
        ("<noscript><a href=x>t</a></noscript>", [("d/x", "t")]),
        ("<svg><a href=x>t</a></svg><template><a href=y>t</a></template>", []),
        ("<link href=x><form action=y>", []),
    ]
    for html, expected in rows:
        assert [(link.url, link.text) for link in walked(html).links] == [(E + url, text) for url, text in expected]


def test_what_a_link_says_of_itself() -> None:
    rows = [
        ("<a href=x>t</a>", False, ""),
        ("<a href=x rel='noopener NoFollow' title=' a  b '>t</a>", True, "a b"),
        ("<a href=x rel=nofollows>t</a>", False, ""),
        ("<area href=x rel=nofollow title=a>", True, "a"),
    ]
    for html, nofollow, title in rows:
        (link,) = walked(html).links
        assert (link.nofollow, link.title) == (nofollow, title)


def test_has_image() -> None:
    rows = [
        ("<a href=x>t</a>", False),
        ("<a href=x><img src=i></a>", True),
        ("<a href=x><img></a>", True),
        ("<a href=x>t <img src=i></a>", True),
        ("<a href=x><picture><source srcset=i><img></picture></a>", True),
        ("<a href=x><div><img src=i></div></a>", True),
        ("<a href=x>t</a><img src=i>", False),
        ("<img src=i><a href=x>t</a>", False),
        ("<a href=x><svg></svg></a>", False),
    ]
    for html, has_image in rows:
        assert [link.has_image for link in walked(html).links] == [has_image]


def test_where_a_link_stands() -> None:
    rows = [
        ("<a href=x>t</a>", 0),
        ("<p>a</p><p>b <a href=x>t</a></p>", 1),
        ("<p>a</p><a href=x><img src=i></a><p>b</p>", 1),
        ("<p>a</p><a href=x></a>", 1),
        ("<p>a</p><map><area href=x></map><p>b", 1),
    ]
    for html, at in rows:
        found = walked(html)
        assert [link.at for link in found.links] == [at]
        assert [image.at for image in found.images] in ([], [at])


SPACES = " " * 500_000
HOSTILE = {
    "nested links": "<a href=x><b>" * 50_000,
    "links": "<a href=x>t" * 20_000,
    "images": "<img src=x>" * 10_000,
    "sources": "<picture><source srcset='a 1x, b 2x'>" * 20_000,
    "br": "<br>" * 100_000,
    "inline": "<i>x</i>" * 100_000,
    "blocks": "<b>x<p>y</p></b>" * 20_000,
    "pre": "<pre>" + " \n" * 500_000,
    "srcset": f"<img srcset='{'x 1w, ' * 100_000}'>",
    "spaces": f"<img src=x style='{SPACES}' width='{SPACES}' srcset='{SPACES}' alt='{SPACES}'>",
    "drawn formulas": "<span class=MathJax>" * 1_900
    + " " * 4_000_000
    + "</span><script type=math/tex>x</script><img class=tex alt=x>" * 1_900,
    "lazy": "<img " + " ".join(f"{name}=." for name in LAZY) + ">",
}


def test_hostile_trees_are_walked_in_a_moment_and_left_as_they_are() -> None:
    for html in HOSTILE.values():
        page = Page.from_html(html, E)
        before = etree.tostring(page.root)
        start = time.process_time()
        assert page.blocks is page.blocks
        assert time.process_time() - start < 2
        assert etree.tostring(page.root) == before
