import time
from importlib import import_module

import pytest
from yan_wang_pages import FIRST, LICENCE, NOTICE, SECOND

from crawler.extraction.methods.template import (
    MAX_LABELS,
    MAX_LENGTH,
    N1,
    N2,
    LeafLabel,
    Learner,
    Library,
    frequencies,
    labels,
    learn,
    template,
)
from crawler.page.page import Page

module = import_module("crawler.extraction.methods.template")  # the function of this name stands before it

TABLE_2 = [
    *(("a", word, 2) for word in "中国 国际 军事 观点 专题".split()),
    ("div", NOTICE, 1),
    ("span", "来源：新华社", 2),
    ("p", "责任编辑：张越", 1),
    *(("p", f"正文部分{letter}", 1) for letter in "ABC"),
    ("p", LICENCE, 2),
    ("a", "广告A", 1),
    ("a", "广告B", 1),
    ("div", "有消息称…", 1),
    ("span", "责任编辑：王兵", 1),
]


def pages(count: int, *shared: str, sharing: int = 10**9) -> list[Page]:
    """Pages of a site, each with a paragraph of its own; the first `sharing` hold what is shared."""
    return [
        Page.from_html(
            "".join(f"<p>{text}</p>" for text in shared if number < sharing)
            + f"<div>{chr(0x4E00 + number) * 20}</div>",
            f"http://example.com/{number}",
        )
        for number in range(count)
    ]


def texts(library: Library) -> list[str]:
    return [label.text for label in library]


def test_table_2() -> None:
    found = frequencies([labels(FIRST), labels(SECOND)])
    assert sorted((*label, count) for label, count in found.items()) == sorted(TABLE_2)


@pytest.mark.parametrize(("count", "learned"), [(N1 - 1, []), (N1, ["Menu"]), (2 * N1, ["Menu"])])
def test_a_batch_has_ten_pages(count: int, learned: list[str]) -> None:
    assert texts(learn(pages(count, "Menu"))) == learned


@pytest.mark.parametrize(("sharing", "learned"), [(N2 - 1, []), (N2, ["Menu"])])
def test_a_template_is_on_three_pages_of_a_batch(sharing: int, learned: list[str]) -> None:
    assert texts(learn(pages(N1, "Menu", sharing=sharing))) == learned


def test_the_cache_is_emptied_after_a_batch() -> None:
    some = pages(2 * N1)
    for number in (0, 1, N1, N1 + 1):
        some[number] = Page.from_html(f"<p>Menu<div>{chr(0x4F00 + number) * 20}</div>")
    assert texts(learn(some)) == []


def test_a_label_counts_once_a_page() -> None:
    some = [Page.from_html("<p>Menu</p>" * 5 + "<div>first of all"), *pages(N1 - 1)]
    assert texts(learn(some)) == []


def test_near_labels_count_together() -> None:
    dated = [
        Page.from_html(f"<p>Now it is {n}{n} o'clock, all is well</p><div>{chr(0x4E00 + n) * 20}") for n in range(N1)
    ]
    library = learn(dated)
    assert texts(library) == ["Now it is 00 o'clock, all is well"]
    assert library.matches("p", "Now it is 7x o'clock, all is well")
    assert not library.matches("div", "Now it is 00 o'clock, all is well")
    assert not library.matches("p", "Now it is 7x o'clock: we all are well")


def test_copies_teach_nothing() -> None:
    article = [Page.from_html(f"<p>{'One story.' * 20}</p><p>{n}") for n in range(N1)]
    learner = Learner(Library())
    for page in [*article, *pages(N1 - 1)]:
        learner.add(page)
    assert learner.copies == N1 - 1
    assert texts(learner.library) == []


def test_what_a_page_completes_is_said() -> None:
    learner = Learner(Library())
    said = [learner.add(page) for page in pages(2 * N1, "Menu", "Foot")]
    assert [sorted(new) for new in said if new] == [[LeafLabel("p", "Foot"), LeafLabel("p", "Menu")]]
    assert [bool(new) for new in said].index(True) == N1 - 1
    assert len(learner) == 0


@pytest.mark.parametrize(("length", "learned"), [(MAX_LENGTH, 1), (MAX_LENGTH + 1, 0)])
def test_long_labels_are_left(length: int, learned: int) -> None:
    text = "x" * length
    library = learn(pages(N1, text))
    assert len(library) == learned
    assert Library([LeafLabel("p", text)]).matches("p", text) == learned


def test_a_page_has_so_many_labels() -> None:
    page = Page.from_html("".join(f"<p>{number}" for number in range(MAX_LABELS + 1)))
    assert len(labels(page)) == MAX_LABELS


def test_a_library_is_full_some_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TEMPLATES", 2)
    library = Library()
    assert [library.add(LeafLabel("p", text)) for text in ("one", "one", "two", "three", "two")] == [1, 0, 1, 0, 0]
    assert (len(library), library.refused) == (2, 1)


LIBRARY = Library([LeafLabel("p", "Menu"), LeafLabel("a", "Home"), LeafLabel("a", "Bees"), LeafLabel("li", "4 Bees")])


def test_a_line_goes_when_most_of_it_is_common() -> None:
    rows = [
        ("<p>Menu</p><p>It rains.</p>", "It rains."),
        ("<div>Menu</div>", "Menu"),
        ("<a>Home</a> <a>Bees</a><p>x", "x"),
        ("<p>About <a>Bees</a> and wasps", "About Bees and wasps"),
        ("<p><a>Bees</a> abcd", "Bees abcd"),
        ("<p><a>Bees</a> abc", ""),
        ("<ul><li>4 <b>Bees</b></li></ul>", "4 Bees"),
        ("<script>x</script><title>y</title>", ""),
    ]
    for html, text in rows:
        assert template(Page.from_html(html), LIBRARY).text == text


def test_without_a_library_all_text_is_there() -> None:
    page = Page.from_html("<title>T</title><p>Menu<p>It rains.<script>x</script>")
    found = template(page)
    assert (found.text, found.title, found.blocks) == ("Menu\nIt rains.", "T", page.blocks)
    assert template(page, Library()) == found


def test_a_library_that_grows_changes_nothing_of_a_page_that_is_read() -> None:
    library = Library([LeafLabel("p", "Menu")])
    page, other = (Page.from_html("<p>Menu<p>Foot<p>It rains.") for _ in range(2))
    assert template(page, library).text == "Foot\nIt rains."
    library.add(LeafLabel("p", "Foot"))
    assert template(page, library).text == "Foot\nIt rains."
    assert template(other, library).text == "It rains."


@pytest.mark.long
def test_ten_pages_of_many_long_labels_take_a_moment() -> None:
    learner = Learner(Library())
    hostile = [
        Page.from_html(
            "".join(f"<p>{'abcdefghij' * 4} {number * batch:b} {number:b}" for number in range(2 * MAX_LABELS))
        )
        for batch in range(1, N1 + 1)
    ]
    start = time.thread_time()
    for page in hostile:
        template(page, learner.library)
        learner.add(page)
    assert time.thread_time() - start < 10
