from collections import Counter
from itertools import permutations
from math import log
from random import Random

import pytest

from crawler.noise import image_evidence
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.li2006 import description, entropy


def image(path: str, alt: str = "") -> Sighting:
    return Sighting(f"http://a/{path}", "", "http://a/", alt=alt)


def counted(*pages: list[Sighting]) -> Evidence:
    found = Evidence()
    for page in pages:
        found.see(page)
    return found


LOGO, STORY, ADVERT = image("logo.gif"), image("1.jpg", "flood flood"), image("ad.gif", "ad ad ad")
PAGES = [[LOGO, STORY], [LOGO, LOGO, ADVERT], [], [LOGO, ADVERT, image("2.jpg", "fire ad ad flood flood")]]


def test_counts() -> None:
    found = counted(*PAGES)
    assert (found.pages, found.links, found.dropped) == (4, 8, 0)
    assert found.pages_by_address == {"a/logo.gif": 3, "a/1.jpg": 1, "a/ad.gif": 2, "a/2.jpg": 1}
    assert (found.word_counts["a"], found.word_counts["gif"], found.word_counts["ad"], found.word_counts["flood"]) == (
        8,
        6,
        10,
        4,
    )
    assert found.repetitions == {
        "ad": pytest.approx(2 * 4 * log(4) + 2 * log(2)),
        "flood": pytest.approx(2 * 2 * log(2)),
    }


def test_a_page_counts_an_image_at_two_sizes_once() -> None:
    assert counted([image("x-300x200.jpg"), image("x-600x400.jpg"), image("x.jpg?w=9")]).pages_by_address == {
        "a/x.jpg": 1
    }


def test_a_page_without_images_is_a_page() -> None:
    assert counted([]) == Evidence(pages=1)


def test_entropy_from_counts_is_that_of_a_rescan() -> None:
    links = [description(one) for page in PAGES for one in page]
    found = counted(*PAGES)
    for words in links:
        printed = []
        for word in set(words):
            shares = [link.count(word) / sum(one.count(word) for one in links) for link in links]
            printed.append(-sum(share * log(share, len(links)) for share in shares if share))
        expected = sum(printed) / len(printed)
        assert entropy(words, found.word_counts, found.repetitions, found.links) == pytest.approx(expected, abs=1e-12)


def test_the_order_of_pages_does_not_matter() -> None:
    for order in list(permutations(range(4))):
        whole, one = counted(*PAGES), counted(*(PAGES[at] for at in order))
        assert (one.pages, one.links, one.pages_by_address, one.word_counts) == (
            whole.pages,
            whole.links,
            whole.pages_by_address,
            whole.word_counts,
        )
        assert one.repetitions == pytest.approx(whole.repetitions)


def test_counts_add_up() -> None:
    for cut in range(5):
        whole, first, second = counted(*PAGES), counted(*PAGES[:cut]), counted(*PAGES[cut:])
        first.add(second)
        assert (first.pages, first.links, first.pages_by_address, first.word_counts) == (
            4,
            8,
            whole.pages_by_address,
            whole.word_counts,
        )
        assert first.repetitions == pytest.approx(whole.repetitions)


def test_adding_leaves_the_other_as_it_is() -> None:
    first, second = counted(*PAGES), counted(*PAGES)
    first.add(second)
    assert second == counted(*PAGES)
    first.see([LOGO])
    assert second == counted(*PAGES)


def test_addition_is_associative() -> None:
    def three() -> list[Evidence]:
        return [counted(page) for page in (PAGES[0], PAGES[1], PAGES[3])]

    a, b, c = three()
    a.add(b)
    a.add(c)
    d, e, f = three()
    e.add(f)
    d.add(e)
    assert (a.pages, a.links, a.pages_by_address, a.word_counts) == (
        d.pages,
        d.links,
        d.pages_by_address,
        d.word_counts,
    )
    assert a.repetitions == pytest.approx(d.repetitions)


@pytest.mark.parametrize("pages", [[], PAGES, [[image("1", '" 广告 \\ \u2028')]]])
def test_a_record_tells_all(pages: list[list[Sighting]]) -> None:
    found = counted(*pages)
    assert Evidence.of(found.record()) == found
    again = Evidence.of(found.record())
    again.see([LOGO])
    found.see([LOGO])
    assert again == found


def test_a_record_is_short() -> None:
    found = counted([LOGO])
    assert found.record() == '[1,1,{"a/logo.gif":1},{"a":1,"logo":1,"gif":1},{},0]'


@pytest.fixture
def most(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(image_evidence, "MOST_COUNTED", 10)
    return 10


def test_as_many_as_fit_are_kept(most: int) -> None:
    # Two pages show the word "a" and nine others, then one more.
    page = [image(f"n{at}") for at in range(9)]
    found = counted(page, page)
    assert (len(found.word_counts), found.dropped) == (10, 0)
    found.see([image("once once")])
    assert (len(found.word_counts), found.dropped) == (5, 2 * 5 + 2)
    assert (found.pages, found.links) == (3, 19)
    assert found.word_counts["a"] == 19
    assert "once" not in found.word_counts
    assert "once" not in found.repetitions


def test_the_most_frequent_are_kept(most: int) -> None:
    found = Evidence()
    for at in range(100):
        found.see([LOGO, image(f"{at}.jpg")])
    assert found.pages_by_address["a/logo.gif"] == 100
    assert (found.word_counts["a"], found.word_counts["logo"], found.word_counts["jpg"]) == (200, 100, 100)
    assert len(found.pages_by_address) <= most
    assert len(found.word_counts) <= most
    assert found.dropped + found.pages_by_address.total() + found.word_counts.total() == 200 + 200 + 200 + 200


def test_what_adds_up_is_bounded_too(most: int) -> None:
    first, second = counted([image(f"x{at}") for at in range(9)]), counted([image(f"y{at}") for at in range(9)])
    first.add(second)
    assert first.word_counts["a"] == 18
    assert len(first.word_counts) == len(first.pages_by_address) == 5
    assert first.dropped == 18 - 5 + 36 - (18 + 4)


def test_what_was_left_adds_up() -> None:
    first, second = Evidence(dropped=3), Evidence(dropped=4)
    first.add(second)
    assert first.dropped == 7


@pytest.mark.parametrize("seed", range(3))
def test_bounding_does_not_depend_on_the_order_within_a_page(most: int, seed: int) -> None:
    page = [image(f"n{at}") for at in range(30)]
    shuffled = Random(seed).sample(page, len(page))
    assert counted(page) == counted(shuffled)
    assert isinstance(counted(page).word_counts, Counter)
