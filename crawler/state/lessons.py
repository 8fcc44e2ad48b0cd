"""Lessons: what seeds taught one worker, for the others and for later runs."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, insert, select

from crawler.state.addresses import in_parts
from crawler.state.entries import Ended
from crawler.state.lines import storable
from crawler.state.schema import lesson

LATE_LESSONS = 1_000


def keep_lessons(connection: Connection, crawl_id: int, ended: Iterable[Ended]) -> None:
    """Keep what ended leases taught."""
    if taught := [
        {"crawl_id": crawl_id, "kind": kind, "text": storable(text)}
        for one in ended
        for kind, text in one.result.lessons
    ]:
        connection.execute(insert(lesson), taught)


def new_lessons(connection: Connection, crawl_id: int, known: Collection[int]) -> dict[int, tuple[str, str]]:
    """The lessons of a crawl whose numbers are not known: kind and text, by number."""
    # A lesson may be committed after one with a higher number.
    after = max(known, default=0) - LATE_LESSONS
    late = select(lesson.c.id).where(lesson.c.crawl_id == crawl_id, lesson.c.id > after)
    new = sorted(set(connection.execute(late).scalars()).difference(known))
    rows = [
        row
        for part in in_parts(new)
        for row in connection.execute(select(lesson).where(lesson.c.id.in_(part)).order_by(lesson.c.id))
    ]
    return {row.id: (row.kind, row.text) for row in rows}
