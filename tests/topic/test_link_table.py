import numpy as np
import pytest

from crawler.topic import link_table
from crawler.topic.link_table import FACTOR, MOST_SHOWN, REPORTED, SITE, LinkNumbers, WaitingLinks


def seen(page: int | None = 0, site: int = 7, factor: float = 1.0) -> LinkNumbers:
    return LinkNumbers(page, [1, 2], [3], np.array([1, 2, 3, 9], np.int32), site, factor)


def filled(links: int, site: int = 7) -> WaitingLinks:
    links_that_wait = WaitingLinks()
    for n in range(links):
        links_that_wait.add(f"http://a.example/{n}", seen(n, site))
    return links_that_wait


def held(links: WaitingLinks) -> list[list[tuple[int, int]]]:
    every = links.all()
    parts = every.shown, every.anchors, every.nears, every.features
    return [list(zip(part.rows.tolist(), part.numbers.tolist(), strict=True)) for part in parts]


def test_a_link_waits() -> None:
    links = WaitingLinks()
    links.add("http://a.example/", seen(4, 7, 1.25))
    links.add("http://b.example/", seen(None))
    assert (links.rows, links.shown) == ({"http://a.example/": 0, "http://b.example/": 1}, [[4], []])
    shown, anchors, nears, features = held(links)
    assert shown == [(0, 4)]
    assert anchors == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert nears == [(0, 3), (1, 3)]
    assert [number for row, number in features if row == 1] == links.features[1].tolist() == [1, 2, 3, 9]
    table = links.all().table
    assert [table[part].tolist() for part in (REPORTED, SITE, FACTOR)] == [[0, 0], [7, 7], [1.25, 1]]


def test_shown_again() -> None:
    links = filled(2)
    links.show_again(0, 5, [8])
    links.show_again(0, 5, [9])
    assert links.shown == [[0, 5], [1]]
    shown, anchors, *_ = held(links)
    assert shown == [(0, 0), (1, 1), (0, 5)]
    assert [number for row, number in anchors if row == 0] == [1, 2, 8]


@pytest.mark.parametrize(("pages", "known"), [(MOST_SHOWN - 1, MOST_SHOWN - 1), (MOST_SHOWN, 30), (99, 30)])
def test_most_shown(pages: int, known: int) -> None:
    links = filled(1)
    for page in range(1, pages):
        links.show_again(0, page, [8])
    assert links.shown == [list(range(known))]
    shown, anchors, *_ = held(links)
    assert [len(shown), len(anchors)] == [known, known + 1]


def test_a_link_that_goes_leaves_its_row() -> None:
    links = filled(2)
    assert links.remove("http://a.example/0") == 0
    assert links.remove("http://a.example/0") is None
    assert links.remove("http://b.example/") is None
    assert (links.urls, links.shown[0]) == (["", "http://a.example/1"], [0])


def test_sites_that_wait() -> None:
    links = filled(2)
    links.add("http://b.example/", seen(site=2**32 - 1))
    assert links.sites == {7: 2, 2**32 - 1: 1}
    links.remove("http://b.example/")
    links.remove("http://a.example/1")
    assert dict(links.sites) == {7: 1}


def test_what_came_since() -> None:
    links = filled(3)
    mark = links.mark()
    links.add("http://b.example/", seen(5, 8))
    later = links.since(mark)
    assert later.count == 1
    assert [later.shown.rows.tolist(), later.shown.numbers.tolist()] == [[0], [5]]
    assert [later.features.rows.tolist(), later.features.numbers.tolist()] == [[0] * 4, [1, 2, 3, 9]]
    later.table[REPORTED] = 500
    assert links.all().table[:2, 3].tolist() == [500, 8]
    assert links.since(links.mark()).count == 0


def test_they_grow() -> None:
    for many in [1023, 1024, 1025, 3_000]:
        links = filled(many)
        assert links.all().table[SITE].tolist() == [7] * many
        assert len(links.all().shown) == many


def test_the_rows_of_links_that_are_gone() -> None:
    rows_ = [(1024, 1024, 1024), (1025, 512, 1025), (1025, 513, 512), (2_000, 2_000, 0)]
    for rows, gone, left in rows_:
        links = filled(rows)
        links.show_again(rows - 1, 5_000, [8])
        for n in range(gone):
            links.remove(f"http://a.example/{n}")
        links.make_room()
        assert len(links.urls) == left
        assert links.dropped == 0
        for url, row in links.rows.items():
            page = int(url.rpartition("/")[2])
            assert (links.urls[row], links.shown[row][0]) == (url, page)
        if left == 512:
            shown, anchors, _, features = held(links)
            assert shown == [*((n, n + gone) for n in range(left)), (left - 1, 5_000)]
            assert [len(anchors), len(features), len(links.features)] == [2 * left + 1, 4 * left, left]
            assert links.sites == {7: 512}
            assert links.all().table[SITE].tolist() == [7] * left
            links.add("http://b.example/", seen(9, 8))
            assert links.all().table[SITE].tolist() == [7] * left + [8]


@pytest.mark.parametrize(("rows", "left"), [(99, 99), (100, 100), (101, 75), (400, 75)])
def test_most_waiting(rows: int, left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_table, "MOST_WAITING", 100)
    links = filled(rows)
    links.make_room()
    assert [len(links.rows), links.dropped, links.sites[7]] == [left, rows - left, left]
    assert list(links.rows) == [f"http://a.example/{n}" for n in range(rows - left, rows)]
