from collections import Counter

import pytest

from crawler.state.frontier import REQUESTS_A_PAGE, Candidate, Frontier, Lent

A, B = "http://a.example/", "http://b.example/"


def filled(*urls: str, frontier: Frontier | None = None, **candidate: object) -> Frontier:
    frontier = Frontier() if frontier is None else frontier
    for url in urls:
        assert frontier.add(Candidate(url, **candidate))  # type: ignore[arg-type]
    return frontier


def taken(frontier: Frontier, now: float = 0.0) -> str | None:
    lent = frontier.take(now)
    return lent.candidate.url if lent else None


def lent(frontier: Frontier, now: float = 0.0) -> Lent:
    found = frontier.take(now)
    assert found is not None
    return found


def test_the_best_comes_first_then_the_oldest() -> None:
    frontier = Frontier(at_once=lambda host: 9)
    for url, priority in [(A + "1", 5), (B + "2", 9), (A + "3", -1), (B + "4", 5), (A + "5", 9)]:
        frontier.add(Candidate(url, priority))
    assert [taken(frontier) for _ in range(6)] == [B + "2", A + "5", A + "1", B + "4", A + "3", None]


def test_a_better_one_that_comes_later_comes_first() -> None:
    frontier = filled(A + "1")
    frontier.add(Candidate(A + "2", 1))
    first = lent(frontier)
    frontier.add(Candidate(A + "3", 2))
    frontier.finish(first.lease)
    assert (first.candidate.url, taken(frontier)) == (A + "2", A + "3")


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_a_host_has_only_so_many_out(at_once: int) -> None:
    frontier = filled(*(f"{A}{n}" for n in range(5)), B, frontier=Frontier(lambda host: at_once))
    out = [frontier.take(0) for _ in range(5)]
    assert [one.candidate.url for one in out if one] == [f"{A}{n}" for n in range(at_once)] + [B]
    frontier.finish(out[0].lease if out[0] else 0)
    assert [taken(frontier), taken(frontier)] == [f"{A}{at_once}", None]


def test_each_host_is_asked_about_by_its_own_name_and_port() -> None:
    frontier = filled(A + "1", A + "2", frontier=Frontier(lambda host: 2 if host == "a.example:81" else 1))
    filled("http://a.example:81/1", "http://a.example:81/2", "http://a.example:81/3", frontier=frontier)
    assert sum(taken(frontier) is not None for _ in range(9)) == 3


def test_a_host_rests_until_its_time() -> None:
    frontier = filled(A, B)
    frontier.rest("a.example", 10)
    frontier.rest("a.example", 5)
    assert [taken(frontier, 0), taken(frontier, 0)] == [B, None]
    assert frontier.ready_in(4) == 6
    assert frontier.ready_in(11) == 0
    assert taken(frontier, 9.99) is None
    assert taken(frontier, 10) == A
    assert frontier.ready_in(10) is None


def test_a_rest_that_begins_while_another_is_waited_for_counts() -> None:
    frontier = filled(A)
    frontier.rest("a.example", 5)
    assert taken(frontier) is None
    frontier.rest("a.example", 8)
    assert [taken(frontier, 5), taken(frontier, 7.9), taken(frontier, 8)] == [None, None, A]


def test_a_slow_host_is_asked_once_in_an_interval() -> None:
    frontier = filled(A + "1", A + "2", A + "3", B + "1", B + "2", frontier=Frontier(lambda host: 9))
    frontier.slow("a.example", 2)
    assert [taken(frontier, 0) for _ in range(4)] == [A + "1", B + "1", B + "2", None]
    assert [taken(frontier, now) for now in (1.9, 2, 2, 3.9, 4)] == [None, A + "2", None, None, A + "3"]


@pytest.mark.parametrize("wanted", [1, 2, 5])
@pytest.mark.parametrize("bring", [1, 2, 3])
def test_max_pages_is_exact(wanted: int, bring: int) -> None:
    """Every `bring`th request brings a page."""
    urls = [f"http://{n}.example/" for n in range(30)]
    frontier = filled(*urls, frontier=Frontier(max_pages=wanted))
    asked, out = 0, []
    while found := list(iter(lambda: frontier.take(0), None)):
        out += found
        assert frontier.pages + len(out) <= wanted
        asked += 1
        assert frontier.finish(out.pop(0).lease, page=asked % bring == 0)
    for one in out:
        frontier.finish(one.lease, page=True)
    assert frontier.pages == wanted
    assert frontier.full
    assert not frontier.pending
    assert len(frontier) > 0
    assert frontier.take(0) is None


def test_a_lease_given_back_makes_room() -> None:
    frontier = filled(A, B, frontier=Frontier(max_pages=1))
    one = lent(frontier)
    assert frontier.take(0) is None
    assert frontier.give_back(one.lease, one.candidate._replace(priority=-1))
    assert [taken(frontier), taken(frontier)] == [B, None]


def test_pictures_are_no_pages() -> None:
    frontier = Frontier(lambda host: 9, max_pages=1, site_limit=1)
    filled(A + "1.png", A + "2.png", A + "3.png", frontier=frontier, kind="image", priority=1)
    filled(A, frontier=frontier)
    out = [lent(frontier) for _ in range(4)]
    assert out[-1].candidate.url == A
    assert [frontier.finish(one.lease) for one in out[:3]] == [True] * 3
    assert (frontier.pages, frontier.full) == (0, False)
    frontier.finish(out[-1].lease, page=True)
    assert (frontier.pages, frontier.refused) == (1, Counter())


@pytest.mark.parametrize("limit", [1, 2])
def test_a_site_has_a_budget_of_pages_over_all_its_hosts(limit: int) -> None:
    frontier = Frontier(site_limit=limit)
    filled("http://example.com/", "http://1.example.com/", "http://2.example.com/", B, frontier=frontier)
    asked = []
    while one := frontier.take(0):
        asked.append(one.candidate.url)
        frontier.finish(one.lease, page=True)
    assert len(asked) == limit + 1
    assert frontier.refused == {"page budget of the site is spent": 3 - limit}
    assert len(frontier) == 0


@pytest.mark.parametrize("limit", [1, 2])
def test_a_site_has_a_budget_of_requests(limit: int) -> None:
    frontier = filled(*(f"{A}{n}" for n in range(100)), frontier=Frontier(site_limit=limit))
    asked = 0
    while one := frontier.take(0):
        asked += 1
        frontier.finish(one.lease)
    assert asked == limit * REQUESTS_A_PAGE
    assert frontier.refused.total() == 100 - asked


@pytest.mark.parametrize("moved", [A, A + "new", B])
def test_a_redirected_request_costs_one_page_of_the_budget(moved: str) -> None:
    frontier = filled(A, frontier=Frontier(site_limit=1))
    one = lent(frontier)
    frontier.give_back(one.lease, one.candidate._replace(url=moved), "load")
    again = lent(frontier)
    assert (again.candidate.url, again.load) == (moved, "load")
    frontier.finish(again.lease, page=True)
    filled(moved + "late", frontier=frontier)
    assert frontier.take(0) is None
    assert frontier.refused == {"page budget of the site is spent": 1}


def test_a_closed_host_is_asked_no_more() -> None:
    frontier = filled(A + "1", A + "2", A + "3", B)
    one = lent(frontier)
    assert frontier.close("a.example") == 2
    assert frontier.close("a.example") == 0
    assert len(frontier) == 1
    assert not frontier.add(Candidate(A + "4"))
    assert not frontier.give_back(one.lease, one.candidate)
    assert frontier.refused == {"site asked to be left alone": 4}
    assert [taken(frontier), taken(frontier)] == [B, None]
    assert not frontier.pending


def test_a_host_may_be_closed_before_it_is_known() -> None:
    frontier = Frontier()
    assert frontier.close("a.example") == 0
    assert not frontier.add(Candidate(A))


def test_a_lease_ends_once() -> None:
    frontier = filled(A + "1", A + "2", A + "3", frontier=Frontier(max_pages=9))
    one = lent(frontier)
    assert frontier.finish(one.lease, page=True)
    assert not frontier.finish(one.lease, page=True)
    assert not frontier.finish(12345)
    assert frontier.pages == 1
    assert [taken(frontier), taken(frontier)] == [A + "2", None]


def test_what_is_known_is_not_new() -> None:
    frontier = Frontier()
    assert A not in frontier
    assert [frontier.know(A), frontier.know(A), frontier.know(B)] == [True, False, True]
    assert A in frontier
    assert len(frontier) == 0


def test_pending() -> None:
    frontier = Frontier(max_pages=1)
    assert not frontier.pending
    filled(A, B, frontier=frontier)
    assert frontier.pending
    one = lent(frontier)
    assert frontier.pending
    frontier.finish(one.lease, page=True)
    assert not frontier.pending
