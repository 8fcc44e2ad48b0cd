import time

import pytest

from crawler.extraction.auto import auto
from crawler.metadata.title import MAX_HEADINGS, MAX_TITLE, headline
from crawler.page.page import Page

OG = "<meta property=og:title content='Bees dance'>"
LD = '<script type="application/ld+json">{"@type": "Article", "headline": "Bees dance"}</script>'
BOOK = "The Book of All Insects"
SITE = "<meta property=og:site_name content='The Valley Post'>"


def test_headline() -> None:
    rows = [
        ("", ""),
        ("<title>Bees dance</title>", "Bees dance"),
        ("<title>Bees dance - The Valley Post</title><h1>Bees dance</h1>", "Bees dance"),
        ("<title>The Valley Post | Bees dance</title><h1>The Valley Post</h1><h2>Bees dance</h2>", "The Valley Post"),
        (
            "<title>The Valley Post | Bees dance again</title><h1>The Valley Post</h1><h2>Bees dance again</h2>",
            "Bees dance again",
        ),
        ("<title>Of bees - The Book of All Insects</title><h1>The Book of All Insects</h1><h2>Of Bees</h2>", "Of Bees"),
        ("<title>Of bees - The Book of All Insects</title><h2>Of Bees</h2><h1>The Book of All Insects</h1>", BOOK),
        ("<title>Of bees - The Book of All Insects - A</title><h1>The Book of All Insects</h1><h2>Of Bees</h2>", BOOK),
        ("<title>Bees dance_新闻_河边网</title>", "Bees dance"),
        ("<title>本市公园今起开放_河边网</title>", "本市公园今起开放"),
        ("<title>News - Bees dance - Post</title>", "Bees dance"),
        ("<title>Post - Bees dance</title><p>Bees dance</p>", "Bees dance"),
        ("<title>Bees-and-wasps</title>", "Bees-and-wasps"),
        ("<title> - </title>", "-"),
        ("<h1>Bees dance</h1><h1>Wasps too</h1>", "Bees dance"),
        ("<title>B</title><h1>B</h1>", "B"),
        ("<title>Why bees dance so much - Post</title><h3>Bees</h3><h1>Post</h1>", "Why bees dance so much"),
        ("<title>Bees dance | Post</title><h1>How bees dance</h1>", "How bees dance"),
        ("<title>Bees dance | Post</title><h1>Read more</h1>", "Bees dance"),
        ("<title>Bees dance | Post</title><h1>Welcome, guest</h1><h1>Of bees</h1>", "Of bees"),
        ("<h1>Hello, guest</h1><h2>Bees dance</h2>", "Hello, guest"),
        (OG + "<h1>Hello, guest</h1><h2>Bees dance</h2>", "Bees dance"),
        (OG + "<title>News of the day</title><h1>Menu</h1><h1>Bees dance</h1>", "Bees dance"),
        (OG + "<title></title>", "Bees dance"),
        ("<meta property=og:title content='<b>Bees</b> &amp;amp; wasps'>", "Bees & wasps"),
        (f"<title>{'a ' * MAX_TITLE}</title>", ("a " * MAX_TITLE)[:MAX_TITLE].strip()),
        (LD + "<title>The Valley Post</title><p>text", "Bees dance"),
        (LD + "<title>Thread: Bees dance</title><h1>Bees dance</h1>", "Bees dance"),
        (LD + "<title>Question - Bees dance - Post</title><h1>Question Bees dance</h1>", "Bees dance"),
        (LD + "<title>Bees dance</title><h1><a href=/>Bees dance</a></h1><h1>Subscribe to bees</h1>", "Bees dance"),
        ("<title>Bees dance • The Hive of the Valley</title><h3>Bees dance</h3>", "Bees dance"),
        (SITE + "<title>The Valley Post</title><h1>The Valley Post</h1><h2>Bees</h2>", "The Valley Post"),
        (SITE + "<title>The Valley Post - Bees dance</title><h1>The Valley Post</h1>", "Bees dance"),
        (SITE + "<meta property=og:title content='Bees dance | the valley post'><p>text", "Bees dance"),
        (SITE + "<meta property=og:title content='The Valley Post - Bees dance'><p>text", "Bees dance"),
        ("<meta property=og:title content='How bees dance all day | Nature'>", "How bees dance all day"),
        ("<meta property=og:title content='Bees at noon | Nature'>", "Bees at noon"),
        ("<meta property=og:title content='Bees at six | Nature'>", "Bees at six | Nature"),
        (f"<meta property=og:title content='Bees of June | {'a' * 24}'>", f"Bees of June | {'a' * 24}"),
        (f"<meta property=og:title content='Bees of June | {'a' * 23}'>", "Bees of June"),
        (
            "<title>Bees of 6 kinds dance | Post</title><h1>How all bees dance</h1><h2>Bees of 6 kinds</h2>",
            "How all bees dance",
        ),
        (
            "<title>Bees of 6 kinds dance | Post</title><h1>How all bees dance</h1><h2>Bees of 6 kinds dance</h2>",
            "Bees of 6 kinds dance",
        ),
    ]
    for html, expected in rows:
        assert headline(Page.from_html(html)) == expected


def test_an_underscore_separates_nothing_but_names() -> None:
    rows = [
        ("The my_module module", "The my_module module"),
        ("my_module", "my_module"),
        ("Bees dance _ Post", "Bees dance"),
        ("Bees dance_ Post", "Bees dance"),
        ("Bees dance_Post", "Bees dance_Post"),
        ("Bees dance_Valley_Post", "Bees dance_Valley_Post"),
        ("Bees dance_Valley Hive", "Bees dance"),  # the site's name
        ("蜜蜂在黑暗中跳舞_Post", "蜜蜂在黑暗中跳舞"),
        ("Bees dance_河边网", "Bees dance"),
    ]
    for title, expected in rows:
        site = "<meta property=og:site_name content='Valley Hive'>"
        assert headline(Page.from_html(f"{site}<title>{title}</title><p>text")) == expected


LOGO = "<header><h1 class=logo><a href=/start><img src=logo.png> <span>The Hive</span></a></h1></header>"
MANUAL = "<div id=projectname>%s</div><p>Search</p><div class=title>Dance<p>In the hive</div>"
PROJECT = "<div class=header><div class=title><h1>The Hive of the Valley</h1>How bees dance</div></div>"


def test_the_name_of_the_site_above_the_heading() -> None:
    rows = [
        # The name is a link to another page.
        (f"<title>bees [The Hive]</title>{LOGO}<h1 id=bees>Bees</h1>", "Bees"),
        (f"<title>how_bees_dance [The Hive]</title>{LOGO}<h1>How bees dance</h1><h1>Wasps</h1>", "How bees dance"),
        (f"<title>The Hive: Bees</title>{LOGO}<h1>Bees</h1>", "Bees"),
        (f"<title>The Hive</title>{LOGO}<h1>Bees</h1>", "The Hive"),
        # A headline that is a link to its own page.
        ("<title>Bees dance | Hive</title><h1><a href=/bees>Bees dance</a></h1><h1>Hive</h1>", "Bees dance"),
        # The name stands above the title.
        (f"<title>The Hive of the Valley: How bees dance</title>{PROJECT}<h1>A sum</h1>", "How bees dance"),
        (
            f"<title>The Hive of the Valley: How bees dance</title>{PROJECT.replace('header', 'box')}",
            "The Hive of the Valley",
        ),
        ("<title>Bees dance - Hive</title><header><h1>Bees dance</h1><p>By Ann</p></header><p>Hive", "Bees dance"),
        # The rest of <title> is a smaller heading below the name, and a link to its own page.
        (f"<title>The Hive - 蜜蜂</title>{LOGO}<p>Menu<h2><a href=/bees>蜜蜂</a></h2><h2>Of us</h2>", "蜜蜂"),
        (f"<title>The Hive - 蜜蜂</title>{LOGO}<h2>Of the hive</h2>", "The Hive"),
        # The name of a manual, perhaps with its version, stands before the colon in <title>.
        (f"<title>Hive: Dance</title>{MANUAL % 'Hive'}<h2>Hive Dan</h2><p>Of bees", "Dance"),
        (f"<title>Hive: Dance</title>{MANUAL % 'Hive 1.2'}<h2>Hive Dan</h2><p>Of bees", "Dance"),
        (f"<title>Hive: Dance</title>{MANUAL % 'Wasps'}<h2>Hive Dan</h2><p>Of bees", "Hive Dan"),
        (f"<title>Hive - Dances</title>{MANUAL % 'Hive'}<h2>Dan</h2><p>Of bees", "Hive"),
        # A menu names the page, too.
        ("<title>Bees: The Hive</title><header><a href=/a>Bees</a></header><h1>Bees</h1><p>The Hive", "Bees"),
    ]
    for html, expected in rows:
        assert headline(Page.from_html(html, "http://example.com/bees")) == expected


TEXT = "<p>Bees dance in the dark of the hive to tell the others the way to the flowers, and the longer the better.</p>"
BAR = "<div class=bar><button>Menu</button><h1>The Guide of Bees</h1></div>"


def test_the_heading_at_which_the_main_text_begins() -> None:
    rows = [
        # The name of the manual ends <title>, whose other part is not the heading.
        (f"<title>Dances - The Guide of Bees</title>{BAR}<main><h1>All dances</h1>", "All dances"),
        (f"<title>Dances - The Guide of Bees</title>{BAR}<main><h2>How all bees dance</h2>", "The Guide of Bees"),
        (f"<title>The Guide of Bees - Dances</title>{BAR}<main><h1>How all bees dance</h1>", "The Guide of Bees"),
        # Two headings, of which one has words of <title>; or both have.
        ("<title>Dance guide - Post</title><main><h1>Hive</h1><h1>The guide to dances</h1>", "The guide to dances"),
        ("<title>Dance guide - Post</title><main><h1>Guide</h1><h1>The guide to dances</h1>", "Dance guide"),
        # A label and a part of <title> in the heading.
        ("<title>Bees dance | Post | Blog</title><main><h1>Hive</h1><h1>Bees dance Members</h1>", "Bees dance"),
    ]
    for html, expected in rows:
        page = Page.from_html(f"{html}{TEXT * 6}</main>", "http://example.com/a")
        assert headline(page, auto(page).blocks) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [("https://www.valleypost.example/bees", "Bees dance"), ("https://example.org/", "Valley Post")],
)
def test_the_host_tells_the_name_of_the_site(url: str, expected: str) -> None:
    assert headline(Page.from_html("<title>Valley Post | Bees dance</title><h1>Valley Post</h1>", url)) == expected


def test_the_address_tells_the_headline() -> None:
    rows = [
        ("", "The heart of towns"),
        ("?how_wild_bees_dance", "The heart of towns"),
        ("r/bees/comments/1/", "The heart of towns"),
        ("r/bees/1/wild_bees_dance_all/", "Wild bees dance all day long, people say to us"),
        ("r/bees/1/wild_bees_dance/", "The heart of towns"),
        ("r/bees/1/wild_bees_dance_too/", "The heart of towns"),
        ("wild-bees/dance/all-day", "Wild bees dance all day long, people say to us"),
    ]
    for path, expected in rows:
        html = "<title>Talk - The heart of towns</title><h1>Wild bees dance all day long, people say to us</h1>"
        assert headline(Page.from_html(html, f"http://example.com/{path}")) == expected


def test_odd_addresses() -> None:
    rows = ["", "http://[", "//", "http://example.com/%ff%zz", "\ud800", "http://example.com/" + "%2f" * 100_000]
    for url in rows:
        assert headline(Page.from_html("<title>Talk</title><h1>Wild bees</h1>", url)) == "Talk"


@pytest.mark.parametrize(("count", "expected"), [(MAX_HEADINGS - 1, "How bees dance"), (MAX_HEADINGS, "Bees dance")])
def test_limit_of_headings(count: int, expected: str) -> None:
    html = "<title>Bees dance - a</title>" + "<h2>Wasps</h2>" * count + "<h1>How bees dance</h1>"
    assert headline(Page.from_html(html)) == expected


def test_a_long_title_and_many_headings_take_a_moment() -> None:
    page = Page.from_html("<title>" + "ab " * 500_000 + "</title>" + "<h1>abx</h1>" * 20_000)
    assert page.blocks
    start = time.process_time()
    assert len(headline(page)) <= 1000
    assert time.process_time() - start < 1


@pytest.mark.parametrize("word", ["bees ", "b", "蜂"])
def test_a_long_heading_is_cut(word: str) -> None:
    found = headline(Page.from_html("<h1>" + word * 3_000))
    assert (word * 3_000).startswith(found)
    assert found == found.strip()
    assert MAX_TITLE - len(word) <= len(found) <= MAX_TITLE


def test_below_the_name_of_the_site_is_the_headline() -> None:
    rows = [
        ("<article><h1>Combs</h1><p>Text</p></article>", "a", "Combs"),
        ("<article><h1>Bees</h1><h2>Of Combs</h2><p>Text</p></article>", "guide/combs", "Of Combs"),
        ("<article><h1>Bees</h1><h2>Of Combs</h2><p>Text</p></article>", "#/guide/combs", "Of Combs"),
        ("<article><h1>Bees</h1><h2>Of Combs</h2><p>Text</p></article>", "guide/b", "Bees"),
        ("<article><h1>Bee</h1><h2>Of Combs</h2><p>Text</p></article>", "guide/b", "Of Combs"),
        ("<article><h1><a href=/a>Combs</a></h1><p>Text</p></article>", "", "Bee manual"),
        ("<article><h1><a href=/a>Combs</a></h1><p>Text</p></article>", "a", "Combs"),
        ("<article><h1><a href=#a>Combs</a></h1><p>Text</p></article>", "", "Combs"),
        ("<article><h1>Combs of <a href=/a>bees</a></h1><p>Text</p></article>", "", "Combs of bees"),
        ("<article><p>Text</p><h1>Combs</h1></article>", "combs", "Bee manual"),
        ("<article><h2>Combs</h2><p>Text</p></article>", "combs", "Bee manual"),
    ]
    for html, path, expected in rows:
        name = "<title>Bee manual</title><aside><h1><a href='/'>Bee manual</a></h1></aside>"
        page = Page.from_html(name + html, f"http://example.com/{path}")
        assert headline(page, page.blocks[1:]) == expected


def test_a_headline_before_the_main_text_is_below_the_name() -> None:
    name = "<title>Bee manual</title><h1><a href='/'>Bee manual</a></h1><p>Menu</p>"
    page = Page.from_html(f"{name}<h1>Combs</h1><h2>Wax</h2><p>Text</p>", "http://example.com/")
    assert [headline(page, page.blocks[at:]) for at in (2, 3, 4)] == ["Combs"] * 3


def test_a_heading_that_is_no_link_is_the_headline() -> None:
    page = Page.from_html("<title>Bee manual</title><h1>Bee manual</h1><article><h2>Combs</h2><p>Text</p></article>")
    assert headline(page, page.blocks[1:]) == "Bee manual"
