"""Pages that serve something else than to be read."""

import pytest

from crawler.metadata import page_purpose
from crawler.metadata.page_purpose import (
    FEWEST_ROWS,
    LEAST_TEASER_TEXT,
    MOST_BEFORE,
    MOST_OTHER_TEXT,
    MOST_ROW_TEXT,
    MOST_TEASER_LINES,
    NARROWEST_ROW,
    SEVERAL,
    SHORT,
    has_only_names,
    is_listing,
    is_login,
    page_type,
)
from crawler.page.page import Extraction, Page

FIELD = "<form><input name=user><input type='Password' name=p></form>"
ALONE = "<form><input type=hidden name=page><input type=password name=p><input type=submit></form>"


def test_a_form_to_log_in() -> None:
    rows = [
        ("Log in", "", FIELD, 0, True),
        ("Log in", "", FIELD, SHORT - 1, True),
        ("Log in", "", FIELD, SHORT, False),
        ("Nature", "index.php?title=Special:UserLogin&returnto=Bee", FIELD, 0, True),
        ("Nature", "wp-login.php?action=lostpassword", FIELD, 0, True),
        ("Anmelden", "", FIELD, 0, True),
        ("用户登录", "", FIELD, 0, True),
        ("Nature", "sign-in", FIELD, 0, True),
        ("Bees", "news/1", FIELD, 0, False),
        ("Bees", "news/1", ALONE, SHORT - 1, True),
        ("Bees", "news/1", ALONE, SHORT, False),
        ("Bees", "news/1", ALONE.replace("hidden", "email"), 0, False),
        ("Bees", "news/1", "<input type=password>", 0, False),
        ("Signing bees", "blogs/inn", FIELD, 0, False),
        ("Log in", "", "<p>Choose a password of eight letters.</p>", 7, False),
        ("Log in", "", "<form><input name=password></form>", 0, False),
        ("Log in", "", "<form><input type=text></form>", 0, False),
    ]
    for title, path, html, length, expected in rows:
        page = Page.from_html(f"<title>{title}</title>{html}", f"http://a.example/{path}")
        assert is_login(page, Extraction("w" * length, "")) is expected


def data(*types: str) -> str:
    graph = ",".join(f'{{"@type": {one}}}' for one in types)
    return f'<script type="application/ld+json">{{"@graph": [{graph}]}}</script>'


def test_a_list_of_other_pages() -> None:
    rows = [
        ("<body class='archive category category-birds'>", True),
        ("<body class='home blog'>", True),
        ("<body class='mediawiki ltr ns-14 ns-subject'>", True),
        ("<body class='mediawiki ltr ns-0 ns-subject'>", False),
        ("<body class='single single-post'>", False),
        ("<body class='home blog single'>", False),
        ("<body class='home blog paged'>", True),
        ("<body class='blog'>", False),
        ("<body class='archive'>", False),
        ("<body class='archive date'>", True),
        ("<body class='search search-results'>", True),
        ("<body class='ns-14'>", False),
        ("<body class='blogging'>", False),
        ("<body>", False),
        ("", False),
        (data('"CollectionPage"', '"BreadcrumbList"'), True),
        (data('["CollectionPage"]'), True),
        (data('"CollectionPage"', '"Article"'), False),
        (data('"WebPage"', '"NewsArticle"'), False),
        (data('"CollectionPage"', '"HowTo"'), False),
        (data('"WebPage", "isPartOf": {"@type": "CollectionPage"}'), False),
    ]
    for html, expected in rows:
        assert is_listing(Page.from_html(html), Extraction("", "")) is expected


def post(number: int, text: str = "") -> str:
    return f"<article><h2><a href='/post/{number}'>Notes on bees, part {number}</a></h2><p>{text}</p></article>"


TEXT = "Honey bees keep their brood warm through the winter, and a cluster of workers turns by and by. " * 3


@pytest.mark.parametrize(
    ("html", "page_type", "expected"),
    [
        ("".join(post(number, TEXT) for number in range(3)), "", True),
        ("".join(post(number, TEXT) for number in range(3)), "article", False),
        ("".join(map(post, range(3))), "article", True),
        ("".join(post(number, TEXT) for number in range(2)), "", False),
        ("<h1>Tag: bees</h1>" + post(1), "", True),
        ("<h1>A note</h1><h2>Why</h2><p>For winter.</p><h2>How</h2>" + post(1), "", False),
        ("<h1>A note</h1><h2>Why</h2><h2>How</h2>" + post(1), "", True),
        (
            "".join(f"<h2 id=part-{number}><a href='?at=part-{number}'>Part {number}</a></h2>" for number in range(9)),
            "",
            False,
        ),
        (f"<h1>Winter</h1><p>{TEXT}</p><p>{TEXT}</p>" + "".join(map(post, range(5))), "", False),
        ("".join(post(1, TEXT) for _ in range(4)), "", False),
        ("".join(post(number, TEXT) for number in range(3)).replace("/post", "http://other.example"), "", False),
        ("".join(post(number, TEXT) for number in range(3)).replace("/post/", "#"), "", False),
        ("".join(post(number, TEXT) for number in range(4)) + "<h2>One</h2>" * 5, "", False),
    ],
)
def test_a_text_of_entries_is_a_list(html: str, page_type: str, expected: bool) -> None:
    page = Page.from_html(f"<body>{html}", "http://a.example/page/2")
    assert is_listing(page, Extraction("", "", blocks=page.blocks, page_type=page_type)) is expected


def dated(number: int, text: str = "") -> str:
    title = f"<p><a href='/post/{number}'>Notes on the bees, part {number}</a></p>"
    return f"<div><time>2024-05-0{number}</time>{title}{text}</div>"


HEADED = (
    "<div><h2><a href='/post/{0}'>Notes on the bees, part {0}</a></h2><p>By Ann</p><p>5 May 2024</p><p>{1}</p></div>"
)
CLOUD = " ".join(f"<a href='/tag/{number}'>bees {number}</a>" for number in range(10))
MENU = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("home", "archive", "tags"))
SIGNED = (
    "<div><a href=/post/{0}>Notes on the bees, part {0}</a><br>"
    "<span>Posted <span>Mon Aug {0} 08:53:20 2015</span> by <span>Bert Moss of the bees</span></span></div>"
)
"""An entry above the line of its date and author."""
TEASERS = "".join(dated(number, f"<p>{TEXT}</p>") for number in range(1, 4))
CONTINUED = dated(1, f"<p>{TEXT}</p><p><a href='/post/1'>Read more</a></p>")
WHOLE = HEADED.format(1, f"{TEXT}</p><h3>Why</h3><p>{TEXT}")


@pytest.mark.parametrize(
    ("html", "page_type", "expected"),
    [
        # Lines of links with dates, before, in or beside them.
        ("<h1>Archives</h1>" + "".join(map(dated, range(1, 4))), "article", True),
        (
            "<ul><li>05-09 <a href=/a>Winter</a><li>05-12 <a href=/b>Spring</a><li>06-01 <a href=/c>Summer</a></ul>",
            "",
            True,
        ),
        ("".join(map(SIGNED.format, range(3, 6))), "listing", True),
        (SIGNED.format(3), "", True),
        (f"{SIGNED.format(3)}<p>{TEXT}</p>", "", False),
        (f"<p>Notes on the bees</p>{SIGNED.format(3).partition('<br>')[2]}", "", False),
        ("<ul><li><a href=/a>2025</a> (4)<li><a href=/b>2024</a> (6)<li><a href=/c>2023</a> (6)</ul>", "", True),
        ("<ul><li><a href=/a>Varroa</a><li><a href=/b>Nosema</a><li><a href=/c>Foulbrood</a></ul>", "", True),
        (
            f"<p>{TEXT}</p><ul><li><a href=/a>Varroa</a><li><a href=/b>Nosema</a><li><a href=/c>Foulbrood</a></ul>",
            "",
            False,
        ),
        ("<ul><li><a href='#a'>Varroa</a><li><a href='#b'>Nosema</a><li><a href='#c'>Foulbrood</a></ul>", "", False),
        # Beginnings of posts; of one post only if its title is a heading, or its rest is elsewhere.
        (TEASERS, "article", True),
        (TEASERS, "forum", False),
        (TEASERS.replace("/post/", "http://other.example/"), "article", False),
        (CONTINUED, "article", True),
        (dated(1, f"<p>{TEXT}</p>"), "article", False),
        (CONTINUED.replace("/post/1", "/blog/page/2/print"), "article", False),
        (f"<title>Notes on the bees, part 1</title>{CONTINUED}", "article", False),
        (f"<meta property='og:type' content='article'>{CONTINUED}", "article", False),
        # A whole post under a title that leads to its own page.
        (WHOLE, "article", True),
        (f"<title>Notes on the bees, part 1 - Ann</title>{WHOLE}", "article", False),
        (WHOLE.replace("/post/1", "/blog/"), "article", False),
        (WHOLE.replace("Notes on the bees, part 1", "Ann Smith"), "article", False),
        (f"<h1>Winter</h1><p>{TEXT}</p><p>{TEXT}</p>{TEASERS}", "article", False),
        (f"{TEASERS}<h1>Winter</h1>" + f"<p>{TEXT}</p>" * 9, "article", False),
        # The name of an author beside the date is no title.
        (f"<h1>Winter</h1><p>By <a href='/ann'>Ann Smith</a> on 5 May 2024</p><p>{TEXT}</p>", "article", False),
    ],
)
def test_a_text_of_entries_with_dates_is_a_list(html: str, page_type: str, expected: bool) -> None:
    page = Page.from_html(f"<body>{html}", "http://a.example/blog/page/2")
    assert is_listing(page, Extraction("", "", blocks=page.blocks, page_type=page_type)) is expected


def teaser(number: int, text: str = TEXT, rest: str = "阅读全文", title: str = "div") -> str:
    more = f"<p><a href='/post/{number}'>{rest}</a></p>" if rest else ""
    return f"<div><{title}><a href='/post/{number}'>蜜蜂第 {number} 章</a></{title}><p>{text}</p>{more}</div>"


INLINE = f"<div><div><a href='/post/4'>The bees of May</a></div><p>{TEXT} <a href='/post/4'>Read more</a></p></div>"
SEVERAL_TEASERS = "".join(map(teaser, range(SEVERAL)))
OWN = f"<p>{TEXT}</p>"


@pytest.mark.parametrize(
    ("html", "page_type", "expected"),
    [
        (SEVERAL_TEASERS, "article", True),
        (SEVERAL_TEASERS, "product", False),
        (f"<meta property='og:type' content='article'>{SEVERAL_TEASERS}", "article", False),
        ("".join(teaser(number, title="h2") for number in range(SEVERAL)), "article", True),
        ("".join(teaser(number, rest="") for number in range(SEVERAL)), "article", False),
        ("".join(teaser(number, "x" * LEAST_TEASER_TEXT) for number in range(SEVERAL)), "article", True),
        ("".join(teaser(number, "x" * (LEAST_TEASER_TEXT - 1)) + OWN for number in range(SEVERAL)), "article", False),
        (SEVERAL_TEASERS + OWN, "article", True),
        (SEVERAL_TEASERS + 3 * OWN, "article", False),
        (OWN + SEVERAL_TEASERS, "article", False),
        (teaser(1), "article", True),
        (INLINE, "article", True),
        (teaser(1, f"<a href='/post/1'>5 May 2024</a></p><p>{TEXT}"), "article", True),
        (teaser(1) + OWN, "article", False),
        (f"<p>标签：蜜蜂</p>{teaser(1)}", "article", True),
        (f"<title>蜜蜂第 1 章</title>{teaser(1)}", "article", False),
        (teaser(1, title="p").replace("阅读全文", "蜜蜂第 1 章"), "article", False),
        (
            teaser(1)
            .replace("<div><a href='/post/1'>", "<div>· <a href='/post/1'>")
            .replace("阅读全文", "蜜蜂第 1 章"),
            "article",
            False,
        ),
        (teaser(1, f"<a href='/post/2'>蜜蜂第 2 章</a></p><p>{TEXT}"), "article", False),
        (teaser(1, f"<a href='/tag/2'>蜜蜂</a></p><p>{TEXT}"), "article", True),
        (f"<nav>{teaser(1)}</nav>", "article", True),
        # A menu above the text of a chapter, and a link to the chapter before below it.
        (teaser(1, f"</p><h1>蜂巢</h1><p>{TEXT}"), "article", False),
        (f"<title>蜂巢 - 蜜蜂</title>{teaser(1, f'</p><h2>蜂巢</h2><p>{TEXT}')}", "article", False),
        (f"<title>蜂巢 - 蜜蜂</title>{teaser(1, f'蜂巢</p><p>{TEXT}')}", "article", False),
        (f"<title>蜂箱 - 蜜蜂</title>{teaser(1, f'</p><h2>蜂巢</h2><p>{TEXT}')}", "article", True),
        (teaser(1, title="p").replace("蜜蜂第 1 章", "蜜蜂"), "article", False),
        (teaser(1, title="h2").replace("蜜蜂第 1 章", "蜜蜂"), "article", True),
        (teaser(1).replace("/post/", "http://other.example/"), "article", False),
        (teaser(1).replace("/post/1", "#text"), "article", False),
        (teaser(1, "</p><p>".join(MOST_TEASER_LINES * ["of the bees"])), "article", False),
        (teaser(1, "</p><p>".join((MOST_TEASER_LINES - 1) * ["of the bees"])), "article", True),
    ],
)
def test_beginnings_of_other_pages_are_a_list(html: str, page_type: str, expected: bool) -> None:
    page = Page.from_html(f"<body>{html}", "http://a.example/blog/page/2")
    assert is_listing(page, Extraction("", "", blocks=page.blocks, page_type=page_type)) is expected


def test_a_title_in_a_menu_begins_no_text() -> None:
    menu, text, after = "<a href='/post/1'>蜜蜂第 1 章</a>", f"<p>{TEXT}</p>", "<a href='/post/1'>上一页</a>"
    page = Page.from_html(f"<body><nav>{menu}</nav>{text}<footer>{after}</footer>", "http://a.example/post/2")
    kept = tuple(block for block in page.blocks if block.tag == "p")
    assert not is_listing(page, Extraction("", "", blocks=kept, page_type="article"))


def test_a_page_of_which_nothing_is_kept_may_be_a_list() -> None:
    rows = [
        (dated(1), True),
        (f"<p>{CLOUD}</p>", True),
        (f"<p>{CLOUD.rpartition(' <a')[0]}</p>", False),
        (f"<nav>{dated(1)}</nav>", False),
        (f"<aside>{dated(1)}</aside>", False),
        (f"<ul>{MENU}</ul>", False),
        ("", False),
    ]
    for html, expected in rows:
        page = Page.from_html(f"<body>{html}", "http://a.example/blog/page/2")
        assert is_listing(page, Extraction("", "")) is expected
        assert not is_listing(page, Extraction("", "", page_type="product"))


@pytest.mark.parametrize(("beside", "expected"), [(MENU, True), ("", False), (f"<nav><ul>{MENU}</ul></nav>", False)])
def test_a_name_beside_links_is_the_name_of_a_list(beside: str, expected: bool) -> None:
    page = Page.from_html(f"<body><h1>Years</h1>{beside}", "http://a.example/years")
    assert is_listing(page, Extraction("Years", "Years", blocks=page.blocks[:1])) is expected


@pytest.mark.parametrize(
    ("html", "page_type", "expected"),
    [
        ("<h1><a href='/'>The Bench</a></h1><h1>galleries</h1>", "listing", True),
        ("<h1><a href='/'>The Bench</a></h1><ul><li><a href='.'>listings</a></ul>", "listing", True),
        (f"<h1>{'a' * MOST_OTHER_TEXT}</h1>", "", True),
        (f"<h1>{'a' * MOST_OTHER_TEXT}a</h1>", "", False),
        (f"<h1>{'蜂' * 20}</h1>", "", True),
        (f"<h1>{'蜂' * 21}</h1>", "", False),
        ("<h1>Hives</h1><p>None.</p>", "", False),
        ("<h1>A hive</h1>", "product", False),
        ("<meta property='og:type' content='article'><h1>A hive</h1>", "", False),
        ("", "", False),
    ],
)
def test_which_pages_have_only_names(html: str, page_type: str, expected: bool) -> None:
    page = Page.from_html(html, "http://a.example/galleries/")
    assert has_only_names(page, Extraction("", "", blocks=page.blocks, page_type=page_type)) is expected


def test_the_text_of_a_page_may_stand_in_an_aside() -> None:
    page = Page.from_html(f"<aside>{CONTINUED}</aside>", "http://a.example/tag/bees")
    kept = tuple(block for block in page.blocks if block.text.startswith("Honey bees"))
    assert is_listing(page, Extraction("", "", blocks=kept, page_type="article"))


def threads(count: int, title: str = "A queen leaves her hive", beside: int = 90, before: str = "") -> str:
    """An index of threads: titles, and beside each so many characters and a name that is a link."""
    about = "w" * beside
    rows = (f"<tr><td><a href=/t{number}>{title}</a><td>{about}<td><a href=/u>Ada</a></tr>" for number in range(count))
    return f"<p>{before}</p><table>{''.join(rows)}</table>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (threads(FEWEST_ROWS), True),
        (threads(FEWEST_ROWS - 1), False),
        (threads(FEWEST_ROWS, "w" * NARROWEST_ROW), True),
        (threads(FEWEST_ROWS, "w" * (NARROWEST_ROW - 1)), False),
        (threads(FEWEST_ROWS, "蜂王飞走"), True),
        (threads(FEWEST_ROWS, beside=MOST_ROW_TEXT), True),
        (threads(FEWEST_ROWS, beside=MOST_ROW_TEXT + 1), False),
        (threads(FEWEST_ROWS, before="w" * MOST_BEFORE), True),
        (threads(FEWEST_ROWS, before="w" * (MOST_BEFORE + 1)), False),
        (threads(FEWEST_ROWS).replace("/t1", "/t2"), False),
        (threads(FEWEST_ROWS) + f"<p>{'w' * 2_000}", False),
        (threads(3) + f"<p>{'w' * 600}" + threads(3), False),
    ],
)
@pytest.mark.parametrize("page_type", ["forum", "listing", ""])
def test_an_index_of_threads(html: str, expected: bool, page_type: str) -> None:
    page = Page.from_html(html, "http://a.example/forum/2")
    assert is_listing(page, Extraction("", "", blocks=page.blocks, page_type=page_type)) is expected


@pytest.mark.parametrize("posts", [3, 30])
def test_a_thread_is_none(posts: int) -> None:
    post = "<div><a href=/user{0}>beekeeper{0}</a> <p>{1}<p><a href=/t?quote={0}>Quote</a></div>"
    long = "The queen left in May, and the hive was quiet for a week before a new one hatched in it. " * 4
    page = Page.from_html("".join(post.format(number, long) for number in range(posts)), "http://a.example/t")
    assert not is_listing(page, Extraction("", "", blocks=page.blocks, page_type="forum"))


def test_the_type_of_a_list() -> None:
    rows = [
        (threads(FEWEST_ROWS), "forum", "listing"),
        (threads(FEWEST_ROWS), "", "listing"),
        (threads(FEWEST_ROWS), "collection", "collection"),
        (threads(FEWEST_ROWS - 1), "forum", "forum"),
        ("".join(map(post, range(3))), "article", "listing"),
        (f"<p>{TEXT}", "article", "article"),
        ("<body class='archive tag'>" + TEXT, "article", "listing"),
    ]
    for html, by_its_text, expected in rows:
        page = Page.from_html(html, "http://a.example/forum/2")
        assert page_type(page, Extraction("", "", blocks=page.blocks, page_type=by_its_text)) == expected


def test_a_page_is_tested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts: list[str] = []

    def read(script: str) -> list[object]:
        scripts.append(script)
        return [{"@type": "CollectionPage"}]

    monkeypatch.setattr(page_purpose, "json_documents", read)
    page = Page.from_html(data("CollectionPage"), "http://a.example/")
    extraction = Extraction("", "")
    assert is_listing(page, extraction)
    assert page_type(page, extraction) == "listing"
    assert len(scripts) == 1


@pytest.mark.parametrize("url", ["", "saved/page.html"])
def test_the_type_of_a_page_without_an_address(url: str) -> None:
    page = Page.from_html(threads(FEWEST_ROWS).replace("href=", "href=http://a.example"), url)
    assert page_type(page, Extraction("", "", blocks=page.blocks, page_type="forum")) == "forum"
