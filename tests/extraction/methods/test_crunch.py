import time

import pytest

from crawler.extraction.methods.crunch import AD_SERVERS, LINK_RATIO, LIST_TAGS, SUBSTANCE, crunch, crunched
from crawler.page.page import Page


def text(html: str) -> str:
    return crunch(Page.from_html(html)).text


def test_first_layer() -> None:
    rows = [
        ("<style>x</style><p>One.", "One."),
        ("<script>x</script><p>One.", "One."),
        ("<p>One.<img src=x alt=Two>", "One."),
        ("<p>One.</p><p><a href=x>Two.</a></p>", "One."),
        ("One.<br><a href=x>Two.</a>", "One."),
        ("<p>One <a href=x>two</a>.", "One two."),
    ]
    for html, kept in rows:
        assert text(html) == kept


def linked(tag: str, links: int, others: int) -> str:
    return f"<p>{'c' * 200}</p><{tag}><p>{'a' * others}<a href=x>{'b' * links}</a></p></{tag}>"


def test_lists_of_links() -> None:
    for tag in sorted(LIST_TAGS - {"td", "th", "tr", "tbody", "table", "p"}):
        limit = int(10 * LINK_RATIO)
        assert "a" in text(linked(tag, limit, 10))
        assert "a" not in text(linked(tag, limit + 1, 10))


@pytest.mark.parametrize("tag", ["td", "th"])
def test_cells_of_links(tag: str) -> None:
    html = f"<table><tr><{tag}><a href=x>{'b' * 50}</a> aa</{tag}><{tag}>{'c' * 50}</{tag}></table>"
    assert text(html) == "c" * 50


def test_other_elements_are_no_lists() -> None:
    assert text("<body>aa <a href=x>bbbbbbbbb</a></body>") == "aa bbbbbbbbb"


def test_a_list_goes_with_all_that_is_in_it() -> None:
    items = "<li>News</li>" + "<li><a href=x>bbbbbbbb</a></li>" * 9
    assert text(f"<p>One.</p><ul>{items}</ul>") == "One."
    assert text(f"<p>One.</p><ul>{items}<li>{'c' * 99}</li></ul>") == f"One.\nNews\n{'c' * 99}"


def test_advertisements() -> None:
    rows = [
        (f"<a href='http://{sorted(AD_SERVERS)[0]}/x'>b</a>", True),
        ("<a href='https://ads.g.doubleclick.net/x'>b</a>", True),
        ("<a href='//doubleclick.net'>b</a>", True),
        ("<a href=' HTTP://AD.DOUBLECLICK.NET:80/'>b</a>", True),
        ("<a href='https://x.example/?u=https://doubleclick.net/'>b</a>", False),
        ("<a href='https://notdoubleclick.net/'>b</a>", False),
        ("<a href='https://doubleclick.net.example/'>b</a>", False),
        ("<a href='/doubleclick.net/'>b</a>", False),
        ("<a>b</a>", False),
        ("<iframe src='//pos.baidu.com/x'></iframe>", False),  # it stands beside the text, on a line of its own
    ]
    for advert, is_removed in rows:
        assert text(f"<p>One.</p><p>Two. {advert}</p>") == "One." + (
            "" if is_removed else f"\nTwo.{' b' * ('>b<' in advert)}"
        )


@pytest.mark.parametrize(("subdomains", "is_removed"), [(10, True), (2_000_000, False)])
def test_a_server_has_a_name_of_some_length(subdomains: int, is_removed: bool) -> None:
    start = time.thread_time()
    assert ("b" not in text(f"<p>One.</p><p>b <a href='//{'a.' * subdomains}zedo.com/'>c</a>")) == is_removed
    assert time.thread_time() - start < 2


@pytest.mark.parametrize(("tag", "is_removed"), [("div", True), ("section", True), ("body", False)])
def test_an_advertisement_takes_what_it_stands_in(tag: str, is_removed: bool) -> None:
    html = f"<p>One.</p><{tag}>Paid.<br><b><a href='//zedo.com/'>x</a></b><br>Two.</{tag}>"
    assert text(html) == "One." + "\nPaid.\nTwo." * (not is_removed)


def test_empty_tables() -> None:
    rows = [
        ("a" * SUBSTANCE, True),
        ("a" * (SUBSTANCE - 1), False),
        # What the first layer took does not count.
        (f"aaa<br><a href=x>{'b' * SUBSTANCE}</a><p>{'c' * SUBSTANCE}</p>", True),
        (f"<p>{'a' * (SUBSTANCE - 1)}</p><p><a href=x>bbbb</a></p>", False),
        # Nor does what stands around a table in it.
        (f"<table><tr><td>{'a' * SUBSTANCE}</table>", True),
    ]
    for inside, is_kept in rows:
        assert ("a" in text(f"<p>One.</p><table><tr><td>{inside}</td></tr></table>")) == is_kept


def test_an_empty_table_in_a_full_one() -> None:
    html = f"<table><tr><td>{'a' * SUBSTANCE}<table><tr><td>b</td></tr></table></td></tr></table>"
    assert text(html) == "a" * SUBSTANCE


def test_the_register_keeps_the_links_that_are_gone() -> None:
    page = Page.from_html(
        "<p>One <a href=/in>two</a>, and more of it.</p><p><a href=/line>Three</a></p><a href=/image><img src=x></a>"
        "<ul><li>News <a href=/list>of all kinds from everywhere</a></ul><a href='//zedo.com/'>Buy</a>"
        "<div><a href=/late><img src=x></a></div><p>Four</p>",
        "http://example.com/",
    )
    paths = [link.url.removeprefix("http://example.com") for link in crunched(page).register]
    assert paths == ["/line", "/image", "/list", "http://zedo.com/", "/late"]
    assert [block.text for block in crunched(page).blocks] == ["One two, and more of it.", "Four"]
