"""The pictures that people marked, beside what was said of them without people.

A mark is of a picture as a page shows it, so it may be of two verdicts: that on the picture, and that on the page which
the picture leads to.
"""

import json
import time
from typing import NamedTuple

from sqlalchemy import Connection, select

from crawler.state.dashboard_tables import label
from crawler.state.entries import Keys
from crawler.state.marks import CONTENT, PICTURE
from crawler.state.schema import verdict
from crawler.state.walls import NEWEST, SECONDS, Stretch, Wanted, read

AT_ONCE = 200
MOST_COUNTED = 20_000


class Tally(NamedTuple):
    """How the newest marks of a crawl's pictures agree with the verdicts on them."""

    counted: int
    is_all: bool
    """Whether there are no older ones."""
    unknown: int
    """Those of pictures on which this crawl has no verdict now."""
    content_kept: int
    content_skipped: int
    noise_kept: int
    noise_skipped: int


class _Pair(NamedTuple):
    """A mark, and one of the verdicts that it is of."""

    mark: int
    value: str
    verdict: int
    kind: str
    noise: bool
    site_id: int
    decided_by: str

    @property
    def is_mistaken(self) -> bool:
        """Whether people see it otherwise."""
        return self.noise == (self.value == CONTENT)

    def is_wanted(self, wanted: Wanted) -> bool:
        """Whether its verdict is one of these."""
        return (
            self.noise == wanted.noise
            and self.kind in wanted.kinds
            and wanted.site_id in (None, self.site_id)
            and wanted.by in ("", self.decided_by)
        )


class Marks:
    """The marks of a crawl's pictures, the newest first."""

    def __init__(self, connection: Connection, name: str, keys: Keys) -> None:
        self.connection, self.name, self.keys = connection, name, keys

    def wall(self, wanted: Wanted, *, mistaken: bool, before: int, most: int) -> Stretch:
        """The verdicts that were marked, of those wanted; if asked for, those alone that people see otherwise."""
        until, at = time.monotonic() + SECONDS, before or NEWEST
        found: list[_Pair] = []
        while at and time.monotonic() < until:
            pairs, _, at = self._pairs(at)
            found += [one for one in pairs if one.is_wanted(wanted) and (one.is_mistaken or not mistaken)]
            if len(found) > most:
                # A mark may be of two verdicts, which stay together.
                last = found[most].mark
                first = [one for one in found if one.mark > last]
                return Stretch(read(self.connection, [one.verdict for one in first]), first[-1].mark)
        return Stretch(read(self.connection, [one.verdict for one in found]), at)

    def tally(self, seconds: float = SECONDS) -> Tally:
        """How the newest marks agree with the verdicts on pictures, or on links where there is none on the picture.

        Those are counted for which there is time.
        """
        until = time.monotonic() + seconds
        counts = dict.fromkeys(((noise, is_content) for noise in (True, False) for is_content in (True, False)), 0)
        at, counted, unknown = NEWEST, 0, 0
        while at and counted < MOST_COUNTED and (not counted or time.monotonic() < until):
            pairs, marks, at = self._pairs(at)
            first: dict[int, _Pair] = {}
            for one in pairs:
                first.setdefault(one.mark, one)
            for one in first.values():
                counts[one.noise, one.value == CONTENT] += 1
            counted, unknown = counted + marks, unknown + marks - len(first)
        return Tally(
            counted, not at, unknown, counts[False, True], counts[True, True], counts[False, False], counts[True, False]
        )

    def _pairs(self, before: int) -> tuple[list[_Pair], int, int]:
        """The next marks with their verdicts, that on the picture first; how many; where to go on, 0 at the end."""
        mine = select(label.c.id, label.c.url, label.c.page, label.c.value, label.c.detail).where(
            label.c.crawl == self.name, label.c.kind == PICTURE, label.c.id < before
        )
        rows = self.connection.execute(mine.order_by(label.c.id.desc()).limit(AT_ONCE)).all()
        keys = {row.id: self._keys(row.url, row.detail) for row in rows}
        wanted = {key for both in keys.values() for key in both}
        names = ("key", "id", "kind", "noise", "site_id", "decided_by", "page")
        found = select(*(verdict.c[name] for name in names)).where(verdict.c.key.in_(wanted))
        known = {row.key: row for row in self.connection.execute(found)} if wanted else {}
        pairs = [
            _Pair(row.id, row.value, one.id, one.kind, one.noise, one.site_id, one.decided_by)
            for row in rows
            for key in keys[row.id]
            if (one := known.get(key)) is not None and one.page == row.page
        ]
        return pairs, len(rows), rows[-1].id if len(rows) == AT_ONCE else 0

    def _keys(self, url: str, detail: str) -> tuple[int, ...]:
        target = target_of(detail)
        return (self.keys(url, "image"), *((self.keys(target),) if target else ()))


def target_of(sight: str) -> str:
    """Where a picture leads, by the record of how a page shows it; an empty string where it leads nowhere.

    >>> target_of('["http://a.example/1.png", "http://a.example/", "http://a.example/"]')
    'http://a.example/'
    """
    return str(json.loads(sight)[1])
