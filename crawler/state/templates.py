"""What the pages of a host have in common, for all workers: templates as one of them has learned them.

A worker reads those of the hosts it has at hand and of no others: all of a host when it comes to hand, later on what is
new. So what it has in memory does not grow with the crawl, but with the hosts it asks at a time.
"""

from collections.abc import Collection, Iterable
from hashlib import blake2b

from sqlalchemy import Connection, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from crawler.state.entries import Template
from crawler.state.lines import storable
from crawler.state.schema import host, template


def keep(connection: Connection, crawl_id: int, templates: Iterable[Template]) -> None:
    """Store templates that are not stored yet."""
    rows = {}
    for one in templates:
        fields = {name: storable(value) for name, value in one._asdict().items()}
        key = _key(crawl_id, *fields.values())
        rows[key] = {"key": key, "crawl_id": crawl_id, **fields}
    if rows:
        new = (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(template)
        # In one order for all workers, so that no two wait for each other.
        connection.execute(new.on_conflict_do_nothing(index_elements=["key"]), [rows[key] for key in sorted(rows)])


def new_templates(
    connection: Connection, crawl_id: int, come: Collection[int], at_hand: Collection[int], last: int
) -> tuple[list[Template], int]:
    """Those of hosts that come to hand, with those stored after the last one of hosts at hand; and the last one now.

    One that another worker commits after a later one is not seen before its host comes to hand again: where a host is
    one worker's alone, there is none.
    """
    if not come and not at_hand:
        return [], last
    mine = template.c.crawl_id == crawl_id
    wanted = or_(template.c.host.in_(_names(come)), template.c.host.in_(_names(at_hand)) & (template.c.id > last))
    rows = connection.execute(select(template).where(mine, wanted).order_by(template.c.id)).all()
    return [Template(row.host, row.tag, row.text) for row in rows], max([last, *(row.id for row in rows)])


def _names(hosts: Collection[int]):  # type: ignore[no-untyped-def]
    return select(host.c.name).where(host.c.id.in_(sorted(hosts)))


def _key(*parts: object) -> int:
    text = "\0".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)
