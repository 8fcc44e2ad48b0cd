"""Which of many texts are near-duplicates of others, by their signatures: what a crawl decides page by page, at once.

The texts come in an order of preference. Each is compared with the earlier ones that share a key with it, and is a copy
of the most similar one if that is `NEAR`. Only texts that are not copies are entered under their keys, at most
`MOST_OF_A_BAND` under each: so every copy is near to a text that stays, and long chains of likeness join nothing.

Signatures may lie in a file: they are read in parts. In memory, a text has 4 bytes for each band, and about 40 more
while a band is sorted; those that share keys with others have up to 100 more.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.recrawl.near_duplicates import BANDS, MOST_OF_A_BAND, NEAR, keys_of_band

AT_ONCE = 4_096
"""Signatures that are read at once."""

Signatures = NDArray[np.uint16]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class SharedKeys:
    """The keys that at least two texts have."""

    numbers: NDArray[np.int32]
    """For each text and band the number of its key, or -1 if no other text has the key."""
    sizes: NDArray[np.int64]
    """How many texts have the key, by its number."""


def originals(signatures: Signatures, order: Rows) -> tuple[Rows, NDArray[np.float32]]:
    """For each row the row of its original, or itself if it is no copy; and how similar they are.

    `order` names the rows that are compared, the preferred ones first; the others are originals.
    """
    found, alike = np.arange(len(signatures), dtype=np.int64), np.ones(len(signatures), np.float32)
    shared = _shared_keys(signatures, order)
    slots = np.minimum(shared.sizes, MOST_OF_A_BAND)
    first = np.cumsum(slots) - slots
    entered = np.empty(int(slots.sum()), np.int32)
    filled = np.zeros(len(slots), np.int8)
    for place in np.flatnonzero((shared.numbers >= 0).any(axis=1)).tolist():
        row, keys = order[place], shared.numbers[place]
        keys = keys[keys >= 0]
        others = np.unique(np.concatenate([entered[first[key] : first[key] + filled[key]] for key in keys]))
        if len(others):
            similar = (signatures[order[others]] == signatures[row]).mean(axis=1)
            best = similar.argmax()
            if similar[best] >= NEAR:
                found[row], alike[row] = order[others[best]], similar[best]
                continue
        free = keys[filled[keys] < slots[keys]]
        entered[first[free] + filled[free]] = place
        filled[free] += 1
    return found, alike


def _shared_keys(signatures: Signatures, order: Rows) -> SharedKeys:
    numbers = np.full((len(order), BANDS), -1, np.int32)
    sizes: list[NDArray[np.int64]] = []
    known = 0
    for band in range(BANDS):
        keys = _keys_in_order(signatures, order, band)
        places = np.argsort(keys)
        keys = keys[places]
        is_like_next = np.zeros(len(keys), np.bool_)
        is_like_next[:-1] = keys[1:] == keys[:-1]
        is_like_last = np.roll(is_like_next, 1)
        number = np.cumsum(is_like_next & ~is_like_last, dtype=np.int32)[is_like_next | is_like_last] - 1
        numbers[places[is_like_next | is_like_last], band] = number + known
        sizes.append(np.bincount(number))
        known += len(sizes[-1])
    return SharedKeys(numbers, np.concatenate(sizes))


def _keys_in_order(signatures: Signatures, order: Rows, band: int) -> NDArray[np.int64]:
    keys = np.empty(len(signatures), np.int64)
    for at in range(0, len(signatures), AT_ONCE):
        keys[at : at + AT_ONCE] = keys_of_band(signatures[at : at + AT_ONCE], band)
    return keys[order]
