"""A page's source made harmless: nothing of it acts, all its text is there, and each block has its tint."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from crawler.contrib.dashboard.views.page_original import MOST_LEVELS, Original, document, original, sheet
from crawler.page.page import Page
from crawler.page.text import fold_space

CASES = sorted((Path(__file__).parents[2] / "pages").glob("*/input.html"))
ALLOWED = {"class", "title", "lang", "dir", "colspan", "rowspan"}
CLASSES = {"kept", "left", "image", "link", "said"}
TAGS = set(
    "p div span a section article main header footer nav aside h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre "
    "address figure figcaption table caption thead tbody tfoot tr td th hr br b strong i em u s del ins small sub sup "
    "code kbd samp var cite q abbr mark ruby rb rt rp bdi bdo".split()
)


class Reader(HTMLParser):
    """What a browser would find in a document."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.said: dict[str, list[str]] = {"kept": [], "left": [], "image": []}
        self.inside: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in ("br", "hr"):
            self.inside.append(dict(attrs).get("class") or "")

    def handle_endtag(self, tag: str) -> None:
        self.inside.pop()

    def handle_data(self, data: str) -> None:
        if self.inside and (found := self.said.get(self.inside[-1])) is not None:
            found.append(data)


def made(html: str, kept: frozenset[int] = frozenset(), why: dict[int, str] | None = None) -> Original:
    return original(Page.from_html(html, "http://a.example/"), kept, why or {}, {})


def is_harmless(html: str) -> None:
    """All elements and attributes are of those that are allowed."""
    read = Reader(html)
    assert set(read.tags) <= TAGS
    assert {name for name, _ in read.attributes} <= ALLOWED
    assert {value for name, value in read.attributes if name == "class"} <= CLASSES
    assert not read.inside, "an element was not ended"


def test_nothing_acts() -> None:
    rows = [
        "<script>alert(1)</script>",
        "<scr<script>ipt>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<img src=http://evil.example/x.png srcset='http://evil.example/y 2x' alt='\"><script>alert(1)</script>'>",
        "<a href=javascript:alert(1) ping=http://evil.example/ target=_top>go</a>",
        "<a href=data:text/html,x>go</a>",
        "<form action=http://evil.example/><input name=a autofocus onfocus=alert(1)><button>Send</button></form>",
        "<iframe src=http://evil.example/ srcdoc='<script>alert(1)</script>'>inside</iframe>",
        "<object data=x.swf><param name=a><embed src=x.swf></object><applet code=x></applet>",
        "<meta http-equiv=refresh content='0;url=http://evil.example/'><base href=http://evil.example/>",
        "<link rel=stylesheet href=http://evil.example/x.css><style>@import 'http://evil.example/'</style>",
        "<p style='background:url(http://evil.example/)' onclick=alert(1) id=main name=x class='kept evil'>text",
        "<svg><script>alert(1)</script><a xlink:href='javascript:alert(1)'>x</a></svg><math><mtext>x</mtext></math>",
        "<video src=x poster=y></video><audio src=x></audio><canvas></canvas><template><p>x</template>",
        "<p title='</span><script>alert(1)</script>' dir='ltr onclick=x' lang='en\" onclick=\"x'>text",
        "<td colspan='9999' rowspan='1 onclick=x'>cell",
        "<noscript><img src=x><style>p{}</style><p>text</noscript>",
        "<x-evil onclick=alert(1)>text</x-evil><a:b>text</a:b><p/onclick=alert(1)>text",
        "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp;lt; \x00 \x1b[2J \u202e <b>bold",
        "<frameset><frame src=http://evil.example/></frameset>",
        "<plaintext><script>alert(1)</script>",
        "<textarea></textarea><script>alert(1)</script>",
        "<title></title><p>after</p><title>x</title>",
        "<table><span>x<tr><td><p>a<td>b</table></p></div></table>",
        "<!--[if IE]><script>x</script><![endif]--><?php x ?><![CDATA[<script>x</script>]]>",
    ]
    for source in rows:
        found = made(f"<body>{source}<p>End.</p>")
        is_harmless(found.html)
        for word in ("javascript:", "evil.example", "onerror=alert(1)>", "<script"):
            assert word not in found.html.lower().replace("&lt;script", "")


def test_each_block_has_its_tint() -> None:
    for path in CASES:
        page = Page("", path.read_bytes(), "text/html")
        kept = frozenset(range(0, len(page.blocks), 2))
        found = original(page, kept, {}, {})
        is_harmless(found.html)
        read = Reader(found.html)
        for kind, is_kept in (("kept", True), ("left", False)):
            mine = [block.text for place, block in enumerate(page.blocks) if (place in kept) is is_kept]
            letters = "".join("".join(mine).split())
            assert "".join("".join(read.said[kind]).split()).replace("\ufffd", "") == letters.replace("\ufffd", "")


def test_tints_of_blocks_that_share_an_element() -> None:
    found = made("<body><div>one<br>two<b> bold</b><p>three</p>four</div>", frozenset((1, 3)), {1: 'because "so" <b>'})
    assert [fold_space(text) for text in Reader(found.html).said["kept"]] == ["two", "bold", "four"]
    assert [fold_space(text) for text in Reader(found.html).said["left"]] == ["one", "three"]
    assert ("title", 'because "so" <b>') in Reader(found.html).attributes
    assert found.html.count("title=") == 2  # of each of its pieces


def test_space_between_blocks_has_no_tint() -> None:
    found = made("<body><p>one</p>\n \n<p>two</p>\n", frozenset((0,)))
    assert [*Reader(found.html).said["kept"], *Reader(found.html).said["left"]] == ["one", "two"]


def test_what_no_browser_shows_is_left_out() -> None:
    found = made("<title>Name</title><body><iframe>inside</iframe><p>Text</p><noframes>without</noframes>")
    assert "Text" in found.html
    for word in ("Name", "inside"):
        assert word not in found.html


def test_images_are_their_descriptions() -> None:
    found = made("<body><p>Text <img src=/a.png alt='A bee <i>'><img src=/b.png>")
    assert Reader(found.html).said["image"] == ["A bee <i>"]
    assert found.images == 2
    assert ".png" not in found.html


def test_what_is_passed_on() -> None:
    found = made("<body><p lang=zh-CN dir=RTL>蜜蜂<table><tr><td colspan=2 rowspan=3>x</table><button>Go</button>")
    assert {("lang", "zh-CN"), ("dir", "rtl"), ("colspan", "2"), ("rowspan", "3")} <= set(Reader(found.html).attributes)
    assert "Go" in found.html
    assert "button" not in found.html


@pytest.mark.parametrize(
    ("source", "is_cut"),
    [
        ("<b>x</b>" * 19_997, False),
        ("<b>x</b>" * 19_998, True),
        ("<p>" + "x" * 1_999_900, False),
        ("<p>" + "x" * 2_000_000, True),
        ("<p>" + "&lt;" * 600_000, True),
        ("<div>" * 90 + "deep", False),
    ],
    ids=["elements", "an element more", "letters", "letters more", "letters that are escaped", "levels"],
)
def test_bounds(source: str, is_cut: bool) -> None:
    found = made("<body>" + source)
    assert found.is_cut is is_cut
    assert len(found.html) < 2_001_000


def test_what_is_too_deep_stands_as_text() -> None:
    found = made("<body>" + "<div>" * 1_000 + "deep")
    is_harmless(found.html)
    assert "deep" in found.html
    assert found.html.count("<div") <= MOST_LEVELS


def test_the_document_lets_nothing_in_but_its_own_style() -> None:
    body = document(made("<body><p>x"), "en", "</title><script>alert(1)</script>", ["<b>note</b>"]).decode()
    style, policy = sheet()
    assert f"<style>{style}</style>" in body
    assert "<script" not in body
    assert "<b>note" not in body
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "; sandbox; frame-ancestors 'self'" in policy
    assert "url(" not in style
    assert "@import" not in style
