"""Copies among texts by their signatures: the same pairs one by one and all at once, the preferred text stays."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crawler.recrawl.near_duplicates import (
    BANDS,
    MOST_UNDER_A_KEY,
    NEAR,
    PERMUTATIONS,
    ROWS,
    ComparedText,
    Placement,
    TextColumns,
    band_keys,
    copies_among,
    copies_of,
    keys_of_band,
    place_texts,
)

ENOUGH = -(-PERMUTATIONS * NEAR // 1)  # places that agree


def drawn(seed: int) -> list[int]:
    return [random.Random(f"{seed}-{place}").randrange(1 << 16) for place in range(PERMUTATIONS)]


def like(signature: list[int], agreeing: int, seed: int = 99) -> list[int]:
    """A signature that agrees with another in so many places, the first ones."""
    other = drawn(seed)
    return [one if place < agreeing else other[place] ^ (one == other[place]) for place, one in enumerate(signature)]


def columns(signatures: list[list[int]], ranks: list[int] | None = None, sites: list[int] | None = None) -> TextColumns:
    count = len(signatures)
    return TextColumns(
        signatures=np.array(signatures, np.uint16).reshape(-1, PERMUTATIONS),
        is_signed=np.ones(count, np.bool_),
        fingerprints=np.arange(count),
        has_letters=np.ones(count, np.bool_),
        sites=np.array(sites or [0] * count, np.int64),
        ranks=np.array(ranks or [0] * count, np.int64),
    )


def found(signatures: list[list[int]], order: list[int] | None = None, **more: list[int]) -> list[int]:
    rows = np.array(order if order is not None else range(len(signatures)), np.int64)
    originals: list[int] = copies_among(columns(signatures, **more), rows)[0].tolist()
    return originals


@pytest.mark.parametrize(("agreeing", "expected"), [(PERMUTATIONS, 0), (ENOUGH, 0), (ENOUGH - 1, 1)])
def test_near_is_from_the_limit_on(agreeing: float, expected: int) -> None:
    first = drawn(1)
    assert found([first, like(first, int(agreeing))])[1] == expected


@pytest.mark.parametrize(("agreeing", "expected"), [(ENOUGH, 0), (ENOUGH - 1, 2)])
def test_texts_are_compared_with_known_ones(agreeing: float, expected: int) -> None:
    first = drawn(1)
    rows = columns([first, drawn(2), like(first, int(agreeing))])
    originals, similarities = copies_of(rows, np.arange(2), np.array([2]))
    assert originals.tolist() == [0, 1, expected]
    assert similarities[2] == (agreeing / PERMUTATIONS if expected == 0 else 1)


def test_known_texts_are_all_compared_and_others_are_not() -> None:
    """A known text is no copy of another one, and a text is no copy of another new one."""
    first = drawn(1)
    second = like(first, 110)
    third = second[:]
    third[:20] = drawn(50)[:20]
    new = drawn(3)
    rows = columns([first, second, third, new, new], ranks=[1, 1, 0, 0, 0])
    assert copies_of(rows, np.array([0, 1]), np.array([2, 3, 4]))[0].tolist() == [0, 1, 1, 3, 4]
    assert copies_of(rows, np.array([], np.int64), np.arange(5))[0].tolist() == [0, 1, 2, 3, 4]
    assert copies_of(rows, np.arange(5), np.array([], np.int64))[0].tolist() == [0, 1, 2, 3, 4]


def test_how_similar_they_are() -> None:
    first = drawn(1)
    _, alike = copies_among(columns([first, like(first, 112), drawn(2)]), np.arange(3))
    assert alike.tolist() == [1, 112 / PERMUTATIONS, 1]


def test_the_preferred_one_is_the_original() -> None:
    rows = [([0, 1, 2, 3], [0, 0, 2, 0]), ([3, 2, 1, 0], [3, 3, 2, 3]), ([1, 2], [0, 1, 2, 3]), ([], [0, 1, 2, 3])]
    for order, expected in rows:
        assert found([drawn(1), like(drawn(1), 120), drawn(2), drawn(1)], order) == expected


def test_a_chain_is_not_one_group() -> None:
    """Each is near the next, the last is not near the first: it stays, as a copy must be near to what stays."""
    first = drawn(1)
    second = like(first, 110)
    third = second[:]
    third[:20] = drawn(50)[:20]
    assert np.mean(np.array(first) == np.array(third)) < NEAR < np.mean(np.array(second) == np.array(third))
    assert found([first, second, third]) == [0, 0, 2]
    assert found([first, second, third], [1, 0, 2]) == [1, 1, 1]


@pytest.mark.parametrize(("original", "is_found"), [(0, True), (MOST_UNDER_A_KEY - 1, True), (MOST_UNDER_A_KEY, False)])
def test_many_that_share_a_key_and_are_not_copies(original: int, is_found: bool) -> None:
    """Only the first texts are entered under a key; a text that shares no other key is compared with these alone."""
    box = drawn(1)[:ROWS]
    rows = [box + drawn(seed)[ROWS:] for seed in range(2, MOST_UNDER_A_KEY + 4)]
    copy = rows[original][:]
    for at in range(ROWS, ROWS * BANDS, ROWS):
        copy[at] ^= 1
    assert found([*rows, copy]) == [*range(len(rows)), original if is_found else len(rows)]


def test_nothing_is_compared_with_nothing() -> None:
    assert found([]) == []
    assert found([drawn(1)]) == [0]


def test_keys_are_those_of_a_crawl() -> None:
    rows = np.array([drawn(1), drawn(2)], "<u2")
    for row, signature in enumerate(rows):
        keys = band_keys(signature.tobytes())
        assert [keys_of_band(rows, band)[row] for band in range(BANDS)] == keys


def test_of_copies_on_a_site_the_one_with_the_lowest_rank_is_the_original() -> None:
    rows = [
        ([1, 1, 1], [7, 7, 7], [0, 0, 0]),
        ([1, 0, 1], [7, 7, 7], [1, 1, 1]),
        ([2, 1, 0], [7, 7, 7], [2, 2, 2]),
        ([1, 2, 0], [7, 8, 7], [2, 2, 2]),
        ([1, 0, 1], [7, 8, 7], [0, 0, 0]),
        ([0, 1, 1], [7, 7, 7], [0, 0, 0]),
    ]
    for ranks, sites, expected in rows:
        assert found([drawn(1), like(drawn(1), 120), drawn(1)], ranks=ranks, sites=sites) == expected


def test_copies_of_a_replaced_text_are_compared_again() -> None:
    """The last replaces the first, and is near to only one of its two copies: the other is an original then."""
    first = drawn(1)
    near_to_both, near_to_the_first = like(first, 127), like(first, 110)
    last = first[:]
    last[:20] = drawn(50)[:20]
    assert found([first, near_to_both, near_to_the_first]) == [0, 0, 0]
    assert found([first, near_to_both, near_to_the_first, last], ranks=[1, 1, 1, 0]) == [3, 3, 2, 3]


def test_texts_with_the_same_letters_are_copies() -> None:
    rows = [(True, True, True, 0), (True, False, True, 0), (True, False, False, 0), (False, False, True, 1)]
    for has_letters, is_signed, is_near, expected in rows:
        same = replace(
            columns([drawn(1), drawn(2)]),
            fingerprints=np.zeros(2, np.int64),
            has_letters=np.full(2, has_letters),
            is_signed=np.full(2, is_signed),
        )
        assert copies_among(same, np.arange(2), is_near=is_near)[0].tolist() == [0, expected]


def test_nearly_the_same_texts_are_no_copies_if_only_exact_ones_are() -> None:
    assert copies_among(columns([drawn(1), drawn(1)]), np.arange(2), is_near=False)[0].tolist() == [0, 1]


def text(key: str, signature: list[int], **more: Any) -> ComparedText[str]:
    return ComparedText(key, np.array(signature, "<u2").tobytes(), **more)


def test_texts_are_placed_one_by_one_as_all_at_once() -> None:
    chance = random.Random(5)
    sources = [drawn(seed) for seed in range(8)]
    signatures = [like(chance.choice(sources), chance.randrange(100, 129), seed) for seed in range(60)]
    sites, ranks = ([chance.randrange(3) for _ in signatures] for _ in range(2))
    texts = [
        text(str(at), signature, site=str(site), rank=rank)
        for at, (signature, site, rank) in enumerate(zip(signatures, sites, ranks, strict=True))
    ]
    at_once = found(signatures, sites=sites, ranks=ranks)
    assert len(set(at_once)) < 40
    copies = place_texts(texts, [], []).originals
    assert [int(copies.get(str(at), at)) for at in range(len(texts))] == at_once


def test_texts_are_entered_under_bands_that_have_room() -> None:
    new = text("new", drawn(1))
    full, *free = new.band_keys
    entries = [(full, f"gone {number}") for number in range(MOST_UNDER_A_KEY)]
    assert place_texts([new], [], entries) == Placement({}, sorted((band, "new") for band in free))
    assert place_texts([new], [], entries[1:]) == Placement({}, sorted((band, "new") for band in new.band_keys))


@pytest.mark.parametrize(
    ("rank", "expected"), [(1, {"new": "known"}), (0, {"known": "new"})], ids=["a copy", "a better original"]
)
def test_a_known_text_is_the_original_unless_it_is_replaced(rank: int, expected: dict[str, str]) -> None:
    known = text("known", drawn(1), rank=1)
    new = text("new", like(drawn(1), 120), rank=rank)
    entries = [(band, "known") for band in known.band_keys]
    placement = place_texts([new], [known], entries)
    assert placement.originals == expected
    assert {key for _, key in placement.entries} == ({"new"} if rank == 0 else set())


@pytest.mark.parametrize(("fingerprint", "expected"), [("0f" * 8, {"new": "known"}), ("ff" * 8, {}), (None, {})])
def test_a_text_without_a_signature_is_found_by_its_letters(fingerprint: str | None, expected: dict[str, str]) -> None:
    known = ComparedText("known", None, "0f" * 8)
    entries = [(band, "known") for band in known.band_keys]
    assert place_texts([ComparedText("new", None, fingerprint)], [known], entries).originals == expected
