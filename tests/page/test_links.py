"""Which page a link leads to, where applications keep the position in a parameter, or the page in a fragment."""

from crawler.page.links import LEAST_SELF_LINKS
from crawler.page.page import MadeFrom, Page

MANUAL = "http://a.example/manual"


def heading(name: str, href: str) -> str:
    return f'<h2 id="{name}"><a class="anchor" href="{href}"><span>{name}</span></a></h2><p>Of {name}.</p>'


HOOKS = heading("hooks", "/manual?id=hooks")
GONE = '<a href="/manual?id=gone">gone</a>'


def headings(count: int, prefix: str = "") -> str:
    """Headings with an id each, which link to it unless it has a prefix."""
    return "".join(heading(f"{prefix}{number}", f"/manual?id={number}") for number in range(count))


def test_a_parameter_by_which_headings_link_to_themselves_is_a_position() -> None:
    rows = [
        (MANUAL, HOOKS, []),
        (f"{MANUAL}?id=hooks", HOOKS, []),
        (f"{MANUAL}?v=2", heading("hooks", "/manual?v=2&id=hooks"), []),
        (MANUAL, heading("蜜蜂", "/manual?id=%E8%9C%9C%E8%9C%82"), []),
        (MANUAL, '<h2><a id="hooks" href="/manual?id=hooks">hooks</a></h2>', []),
        (MANUAL, f'<h3 id="a">a</h3><a href="/manual?id=a">a</a>{HOOKS}', []),
        (MANUAL, f'<a href="/guide?id=start&v=2">start</a>{HOOKS}', ["http://a.example/guide?v=2"]),
        (MANUAL, f'<a href="/guide?page=2">start</a>{HOOKS}', ["http://a.example/guide?page=2"]),
        (MANUAL, f'<a href="http://b.example/?id=start">start</a>{HOOKS}', ["http://b.example/?id=start"]),
        (MANUAL, f'<a href="/manual?id=other">other</a>{HOOKS}', [f"{MANUAL}?id=other"]),
        (MANUAL, f'<a href="/manual?id=other">other</a><i id="Other"></i>{HOOKS}', []),
        (MANUAL, headings(LEAST_SELF_LINKS) + GONE, []),
        (MANUAL, headings(LEAST_SELF_LINKS - 1) + GONE, [f"{MANUAL}?id=gone"]),
        (MANUAL, headings(LEAST_SELF_LINKS) + headings(LEAST_SELF_LINKS, "other-") + GONE, []),
        (MANUAL, headings(5) + headings(6, "other-"), [f"{MANUAL}?id=5"]),
        (MANUAL, headings(4) + f'<h2 id="5"><a href="/manual?id=5">5</a>{4 * GONE}</h2>', []),
        # Headings of a list, and of a page among whose parts is a menu.
        (MANUAL, heading("post-2", "/manual?id=2"), [f"{MANUAL}?id=2"]),
        (MANUAL, heading("hooks", "/hooks?id=hooks"), ["http://a.example/hooks?id=hooks"]),
        (MANUAL, heading("hooks", "/manual?id=hooks&v=2"), [f"{MANUAL}?id=hooks&v=2"]),
        (MANUAL, '<li id="about"><a href="/manual?id=about">about</a></li>', [f"{MANUAL}?id=about"]),
    ]
    for url, html, targets in rows:
        assert [link.url for link in Page.from_html(html, url).links] == targets


APPLICATION = "http://a.example/app/"
GUIDE = f"{APPLICATION}#/guide"


def test_a_route_is_part_of_an_address_on_a_rendered_page() -> None:
    rows = [
        (APPLICATION, "#/guide", GUIDE),
        (APPLICATION, "/app/#/guide", GUIDE),
        (APPLICATION, "#!/guide?v=2", f"{APPLICATION}#!/guide?v=2"),
        (APPLICATION, "#/蜜蜂", f"{APPLICATION}#/%E8%9C%9C%E8%9C%82"),
        (GUIDE, "#/other", f"{APPLICATION}#/other"),
        (GUIDE, "#/", APPLICATION),
        (GUIDE, "#/?v=2", APPLICATION),
        (GUIDE, "a.html", f"{APPLICATION}a.html"),
    ]
    for url, href, target in rows:
        html = f"<a href='{href}'>guide</a>".encode()
        page = Page(url, html, "text/html; charset=utf-8", made_from=MadeFrom.RENDERED)
        assert [link.url for link in page.links] == [target]
        assert not page.routes


def test_elsewhere_routes_are_apart() -> None:
    rows = [
        ("#/guide", [], {GUIDE}),
        ("/app/#/guide", [APPLICATION], {GUIDE}),
        ("/#/guide", ["http://a.example/"], set()),
        ("#/", [], set()),
        ("#guide", [], set()),
    ]
    for href, targets, routes in rows:
        page = Page.from_html(f"<a href='{href}'>guide</a>", APPLICATION)
        assert [link.url for link in page.links] == targets
        assert page.routes == routes


def test_other_fragments_are_positions() -> None:
    for href in ["#top", "", "#", "#!top"]:
        page = Page(GUIDE, f"<a href='{href}'>up</a>".encode(), made_from=MadeFrom.RENDERED)
        assert not page.links


def test_a_position_in_a_route_is_left_out() -> None:
    html = heading("hooks", "#/guide?id=hooks") + "<a href='#/other?id=start'>other</a>"
    page = Page(GUIDE, html.encode(), made_from=MadeFrom.RENDERED)
    assert [link.url for link in page.links] == [f"{APPLICATION}#/other"]
