"""What is left to do of a crawl's round when it is to go on."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from crawler.state.addresses import in_parts
from crawler.state.claims import Claimant
from crawler.state.pictures import recorded_sites
from crawler.state.schema import IS_HELD, address, crawl, lesson, worker
from crawler.state.survey import is_full, nothing_waits, picture_waits, totals


@dataclass(frozen=True)
class Left:
    """What is left to do, as a transaction sees it."""

    connection: Connection
    who: Claimant

    @property
    def is_full(self) -> bool:
        """Whether the round has all the pages it may have."""
        return is_full(self.who, totals(self.connection, self.who.crawl_id).pages)

    def is_unfinished(self, seeds: Collection[int]) -> bool:
        """Whether something waits or is held, or one of the seeds, by their keys, was never asked for."""
        mine, wants_pictures = self.who.crawl_id, self.who.pictures
        if self.is_full:
            ended = self.connection.execute(select(crawl.c.ended_at).where(crawl.c.id == mine)).scalar_one()
            return ended is None or self._has_pictures
        workers = select(worker.c.id).where(worker.c.crawl_id == mine)
        held = select(address.c.id).where(IS_HELD, address.c.worker.in_(workers)).limit(1)
        if self.connection.execute(held).first() is not None:
            return True
        if not nothing_waits(self.connection, mine, wants_pictures):
            return True
        if recorded_sites(self.connection, mine, wants_pictures):
            return True
        known = (select(func.count()).where(address.c.key.in_(part)) for part in in_parts(sorted(seeds)))
        return sum(self.connection.execute(query).scalar_one() for query in known) < len(seeds)

    @property
    def has_failed_seeds(self) -> bool:
        """Whether a seed failed for a reason that may have passed, and may be asked for again."""
        again = select(lesson.c.id).where(lesson.c.crawl_id == self.who.crawl_id, lesson.c.kind == "again").limit(1)
        return not self.is_full and self.connection.execute(again).first() is not None

    @property
    def _has_pictures(self) -> bool:
        """Whether an earlier run, or another worker, left pictures that this one asks for."""
        if not self.who.pictures:
            return False
        return picture_waits(self.connection, self.who.crawl_id) or bool(
            recorded_sites(self.connection, self.who.crawl_id)
        )
