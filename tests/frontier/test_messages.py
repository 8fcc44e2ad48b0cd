"""What addresses are known by, and which were seen last."""

import pytest

from crawler.frontier.page_result import AddressKind, Candidate, Lease
from crawler.frontier.seen_addresses import RecentNumbers
from crawler.store.batch.addresses import AddressKeys
from crawler.urls.canonical import Canonical

A = "http://a.example/"
KEYS = AddressKeys(1, Canonical(["utm_.*"]))


def test_spellings_of_one_address_have_one_key() -> None:
    rows = [
        ((A,), (A,), True),
        ((A + "?utm_source=1",), (A,), True),
        ((A + "?b=1&utm_source=1",), (A + "?utm_id=2&b=1",), True),
        ((A + "?b=1",), (A,), False),
        ((A,), (A + "x",), False),
        ((A, AddressKind.LINK), (A, AddressKind.SEED), True),
        ((A, AddressKind.LINK), (A, AddressKind.LIST), True),
        ((A, AddressKind.LINK), (A, AddressKind.IMAGE), False),
        ((A, AddressKind.IMAGE), (A + "?utm_source=1", AddressKind.IMAGE), True),
    ]
    for one, other, same in rows:
        assert (KEYS(*one) == KEYS(*other)) == same


def test_two_crawls_have_different_keys() -> None:
    assert AddressKeys(2, KEYS.canonical)(A) != KEYS(A)
    assert AddressKeys(1, KEYS.canonical)(A) == KEYS(A)
    assert AddressKeys(11, KEYS.canonical)("1") != AddressKeys(1, KEYS.canonical)("11")


def test_a_key_fits_a_column() -> None:
    keys = [KEYS(f"{A}{n}") for n in range(200)]
    assert len(set(keys)) == 200
    assert min(keys) < 0 < max(keys)
    assert all(-(2**63) <= key < 2**63 for key in keys)


def test_a_key_is_the_same_on_every_machine() -> None:
    assert KEYS(A) == AddressKeys(1, Canonical(()))(A) == -7453189927768433700
    assert isinstance(KEYS("http://\ud800.example/"), int)


def test_all_but_images_count() -> None:
    rows = [(AddressKind.LINK, True), (AddressKind.SEED, True), (AddressKind.LIST, True), (AddressKind.IMAGE, False)]
    for kind, counts in rows:
        assert Lease(1, Candidate(A, kind=kind), 1, 1).is_page == counts


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_so_many_are_remembered_at_least_and_twice_as_many_at_most(limit: int) -> None:
    recent = RecentNumbers(limit)
    for number in range(20):
        assert number not in recent
        assert [recent.add(number), recent.add(number)] == [True, False]
        remembered = [old for old in range(20) if old in recent]
        assert remembered == list(range(number + 1))[-len(remembered) :]
        assert min(limit, number + 1) <= len(remembered) <= 2 * limit


def test_nothing_is_remembered_of_what_is_cleared() -> None:
    recent = RecentNumbers(2)
    for number in range(3):
        recent.add(number)
    recent.clear()
    assert [recent.add(number) for number in range(3)] == [True] * 3
