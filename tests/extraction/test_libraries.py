from collections import Counter
from importlib import import_module

import pytest

from crawler.extraction.methods.template import N1, LeafLabel, Library, template
from crawler.extraction.site_libraries import MAX_KEPT, SiteLibraries
from crawler.page.page import Page

TEMPLATE = import_module("crawler.extraction.methods.template")  # the function of this name stands before it
MENU = LeafLabel("p", "Menu")


def page(number: int, name: str = "a.example", menu: str = "Menu") -> Page:
    return Page.from_html(f"<p>{menu}</p><div>{chr(0x4E00 + number) * 20}</div>", f"http://{name}/{number}")


class Counted(SiteLibraries):
    def __init__(self, max_kept: int = MAX_KEPT) -> None:
        super().__init__(template, Library, self.add, max_kept)
        self.counts: Counter[str] = Counter()

    def add(self, name: str, by: int) -> None:
        self.counts[name.partition("/")[2]] += by


def test_a_page_is_cleaned_by_what_was_learned_before_it() -> None:
    known = Counted()
    menus, completed = [], []
    for number in range(N1 + 2):
        one = page(number)
        menus.append("Menu" in one.once(known.extract).text)
        completed.append(known.learn(one))
        assert ("Menu" in one.once(known.extract).text) == menus[-1]
    assert menus == [True] * N1 + [False] * 2
    assert completed == [()] * (N1 - 1) + [(MENU,)] + [()] * 2
    assert +known.counts == {"learned": 1}


def test_a_page_may_be_learned_from_before_it_is_extracted() -> None:
    known = Counted()
    some = [page(number) for number in range(N1 + 1)]
    for one in some:
        known.learn(one)
    assert ["Menu" in one.once(known.extract).text for one in some] == [True] * N1 + [False]


def test_each_host_has_its_own() -> None:
    known = Counted()
    for number in range(N1 - 1):
        known.learn(page(number))
    assert known.learn(page(99, "b.example")) == ()
    assert known.learn(page(N1)) == (MENU,)
    assert "Menu" in known.extract(page(98, "b.example")).text
    assert "Menu" not in known.extract(page(98)).text


def test_what_others_learned_is_taken_in() -> None:
    known = Counted()
    for _ in range(2):
        known.take_in("a.example", MENU)
    assert "Menu" not in known.extract(page(1)).text
    assert "Menu" in known.extract(page(1, "b.example")).text
    assert [known.learn(page(number)) for number in range(N1)] == [()] * N1


def test_the_site_not_seen_for_longest_is_forgotten() -> None:
    """A site counts one, and so does each label of it: a template here, two labels of a page there."""
    for max_kept, kept, forgotten in [(8, 3, 0), (7, 2, 1), (1, 1, 3)]:
        known = Counted(max_kept)
        known.take_in("a.example", MENU)
        known.learn(page(1, "b.example"))
        known.take_in("a.example", MENU)
        known.learn(page(2, "c.example"))
        assert len(known) == kept
        assert known.counts["sites_forgotten"] == forgotten
        assert ("Menu" in known.extract(page(3)).text) == (max_kept == 1)


def test_a_site_that_fills_all_room_stays() -> None:
    known = Counted()
    assert [bool(known.learn(page(number))) for number in range(N1)][-1]


def test_what_is_refused_and_passed_over_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TEMPLATE, "MAX_TEMPLATES", 1)
    known = Counted()
    for _ in range(2):
        known.learn(page(0))
    for text in ("one", "two", "three"):
        known.take_in("a.example", LeafLabel("p", text))
    for number in range(1, N1):
        known.learn(page(number))
    assert +known.counts == {"copies": 1, "site_full": 3}
