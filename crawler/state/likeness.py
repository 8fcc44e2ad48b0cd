"""Near duplicates: of which earlier page of its crawl a page is a copy, more or less.

Pages are looked up by the bands of their signatures, those of texts too short for one by their fingerprint. Only pages
that are no copies are entered, and no more of them under one band than `MOST_OF_A_BAND`, so that a page costs the same
whatever a site sends: a million equal pages are one entry. Two pages that two workers store at one moment do not see
each other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, select

from crawler.state.addresses import in_parts, insert_of
from crawler.state.schema import likeness, page

MOST_OF_A_BAND = 20
MOST_LIKE = 40
"""Pages that are compared with one, those first that share the most bands with it."""

FORGET = delete(likeness).where(
    likeness.c.crawl_id == bindparam("crawl"), likeness.c.band == bindparam("of"), likeness.c.key == bindparam("page")
)


class Print(NamedTuple):
    """What a page is told by."""

    key: int
    url: str
    signature: bytes | None
    fingerprint: str | None

    @property
    def bands(self) -> list[int]:
        """What it is looked up by."""
        if self.signature is not None:
            from crawler.near_duplicates import bands  # imports numpy, which waits for the first page

            return bands(self.signature)
        return [int.from_bytes(bytes.fromhex(self.fingerprint), "big", signed=True)] if self.fingerprint else []

    def likeness(self, other: "Print") -> float:
        """How much of two pages is the same; 0 where it is too little to speak of."""
        from crawler.near_duplicates import NEAR, similarity

        if self.signature is None or other.signature is None:
            return float(self.fingerprint is not None and self.fingerprint == other.fingerprint)
        found = similarity(self.signature, other.signature)
        return found if found >= NEAR else 0.0


def originals(connection: Connection, crawl_id: int, pages: Sequence[Print]) -> dict[int, str]:
    """The addresses of the pages that some pages are copies of, by the keys of these; the others are entered."""
    bands = {one.key: one.bands for one in pages}
    entered: defaultdict[int, list[int]] = defaultdict(list)
    for part in in_parts(sorted({band for found in bands.values() for band in found})):
        rows = select(likeness.c.band, likeness.c.key).where(likeness.c.crawl_id == crawl_id, likeness.c.band.in_(part))
        for band, key in connection.execute(rows):
            entered[band].append(key)
    likely = {one.key: _likely(one.key, bands[one.key], entered) for one in pages}
    known = _prints(connection, {key for keys in likely.values() for key in keys})
    copies: dict[int, str] = {}
    new: list[dict[str, int]] = []
    for one in pages:
        known.pop(one.key, None)  # it is no copy of what it was
    for one in pages:
        original = _original(one, [known[key] for key in _likely(one.key, bands[one.key], entered) if key in known])
        if original is not None:
            copies[one.key] = original.url
            continue
        known[one.key] = one
        for band in bands[one.key]:
            if len(entered[band]) < MOST_OF_A_BAND:
                entered[band].append(one.key)
                new.append({"crawl_id": crawl_id, "band": band, "key": one.key})
    if new:
        enter = insert_of(connection.engine)(likeness).on_conflict_do_nothing()
        connection.execute(enter, sorted(new, key=lambda row: (row["band"], row["key"])))
    return copies


def forget_prints(connection: Connection, crawl_id: int, pages: Iterable[Print]) -> None:
    """Look some pages up no more by what they were told by."""
    rows = [{"crawl": crawl_id, "of": band, "page": one.key} for one in pages for band in one.bands]
    if rows:
        connection.execute(FORGET, sorted(rows, key=lambda row: (row["of"], row["page"])))


def _likely(key: int, bands: Iterable[int], entered: defaultdict[int, list[int]]) -> list[int]:
    """The pages that share bands with one, the most first, and of equals those entered first."""
    shared = Counter(other for band in bands for other in entered.get(band, ()) if other != key)
    return [other for other, _ in shared.most_common(MOST_LIKE)]


def _prints(connection: Connection, keys: Iterable[int]) -> dict[int, Print]:
    columns = page.c.key, page.c.url, page.c.signature, page.c.text_fingerprint
    there = page.c.gone_at.is_(None)  # what is gone is no longer where the text is to be had
    rows = (connection.execute(select(*columns).where(page.c.key.in_(part), there)) for part in in_parts(sorted(keys)))
    return {row.key: Print(*row) for found in rows for row in found}


def _original(one: Print, others: Iterable[Print]) -> Print | None:
    """The page that one is most like, if it is a copy."""
    best = max(((one.likeness(other), other) for other in others), key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] else None
