"""The tables of a crawl and its frontier, the same in SQLite and PostgreSQL.

    crawl     one row for each crawl, by name
    worker    a process that works on a crawl now; while its row exists it may hold addresses
    output    how much of each file of JSON lines belongs to committed pages
    site      a registrable domain and how much of its budget is spent
    host      a host: the best priority that waits there, and when it may be asked again
    address   every address that the crawl has seen, waiting, held or done: the frontier and the set of seen addresses

The tables of pages are in page_tables.py, those of samples, labels and jobs in dashboard_tables.py.

Each worker counts in its own row, so that no two workers wait for each other to count. Hosts and addresses have no
foreign keys to their parents: to delete one site or host, a database would search all of them.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    literal,
)

from crawler.store.sql import Serial, tables

VERSION = 1
WAITING, HELD, DONE, RECORDED = range(4)
"""States of an address. Recorded: an image that is not asked for before its site has shown enough pages to judge it."""

version = Table("winnow_state", tables, Column("version", Integer, nullable=False))

crawl = Table(
    "crawl",
    tables,
    Column("id", Serial, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("seeds", Text, nullable=False),  # JSON, as they were given
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),  # when nothing was left to do
    Column("waiting", BigInteger, nullable=False, default=0),  # counted by workers that have left
    Column("pages", BigInteger, nullable=False, default=0),  # of this round
    Column("round", Integer, nullable=False, default=1),
    Column("round_started", Float),
    Column("first_round", Integer, nullable=False, default=1),  # in which it was begun, or begun anew
)

worker = Table(
    "worker",
    tables,
    Column("id", Serial, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("folder_id", Text, nullable=False),  # of the folder of its files, wherever that is mounted
    Column("heartbeat", Float, nullable=False),
    Column("batch", BigInteger, nullable=False, default=0),  # the number of the last one committed
    Column("waiting", BigInteger, nullable=False, default=0),  # addresses it added, less those it took
    Column("pages", BigInteger, nullable=False, default=0),
    UniqueConstraint("crawl_id", "number"),
    sqlite_autoincrement=True,  # ids are not reused
)

output = Table(
    "output",
    tables,
    Column("crawl_id", ForeignKey("crawl.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("folder_id", Text, nullable=False),
    Column("pages_size", BigInteger, nullable=False, default=0),
    Column("pages_end", BigInteger, nullable=False, default=0),  # a hash of the last bytes
    Column("images_size", BigInteger, nullable=False, default=0),
    Column("images_end", BigInteger, nullable=False, default=0),
)

site = Table(
    "site",
    tables,
    Column("id", Serial, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("pages", Integer, nullable=False, default=0),
    Column("held", Integer, nullable=False, default=0),
    Column("requests", Integer, nullable=False, default=0),
    UniqueConstraint("crawl_id", "name"),
)
Index("site_pages", site.c.crawl_id, site.c.pages, site.c.id)

host = Table(
    "host",
    tables,
    Column("id", Serial, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("site_id", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("best", Integer),  # at least the priority of its best waiting address; null if none waits
    Column("next_at", Float, nullable=False, default=0.0),
    Column("crawl_delay", Float, nullable=False, default=0.0),  # seconds, as the host asks for in robots.txt
    Column("worker", BigInteger),  # the only one that may ask it now
    Column("closed", Text),  # the code of why it is never asked again
    Column("latency", Float),  # seconds until it answers, a moving average
    Column("delay", Float),  # seconds between its last requests
    UniqueConstraint("crawl_id", "name"),
)
Index(
    "host_ready",
    host.c.crawl_id,
    host.c.best.desc(),
    host.c.next_at,
    sqlite_where=host.c.best.is_not(None) & host.c.worker.is_(None),
    postgresql_where=host.c.best.is_not(None) & host.c.worker.is_(None),
)
Index("host_site", host.c.site_id)
Index(
    "host_worker", host.c.worker, sqlite_where=host.c.worker.is_not(None), postgresql_where=host.c.worker.is_not(None)
)

address = Table(
    "address",
    tables,
    Column("id", Serial, primary_key=True),
    Column("key", BigInteger, nullable=False, unique=True),  # a hash of the crawl and the canonical address
    Column("host_id", BigInteger, nullable=False),
    Column("url", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("parent", BigInteger),  # the address on whose page it was found
    Column("requested", Text),  # the address requested first, where a redirect led here
    Column("state", SmallInteger, nullable=False, default=WAITING),
    Column("worker", BigInteger),
    Column("crashes", SmallInteger, nullable=False, default=0),  # workers that crashed while they held it
    Column("outcome", Text),  # the code of how it ended; null while it waits and where something is stored
    Column("outcome_detail", Text),  # the value of the code's parameter
    Column("shown_on", BigInteger),  # the site whose pages show it, if it is to be judged
    Column("sight", Text),  # how a page shows it, if it is to be judged
    Column("via", Text),  # how it was found
    Column("lastmod", Float),  # when it changed, according to a sitemap or feed
)
NO_OUTCOME = {"outcome": None, "outcome_detail": None}
"""Columns of an address that waits again."""
ADDRESSES_WITH_HOSTS = address.join(host, address.c.host_id == host.c.id)
# Literals: with a parameter, a database cannot tell that a partial index has all such rows.
IS_WAITING, IS_HELD, IS_DONE, IS_RECORDED = (
    address.c.state == literal(state, literal_execute=True) for state in (WAITING, HELD, DONE, RECORDED)
)
Index(
    "address_waiting",
    address.c.host_id,
    address.c.priority.desc(),
    address.c.id,
    sqlite_where=IS_WAITING,
    postgresql_where=IS_WAITING,
)
Index("address_held", address.c.worker, sqlite_where=IS_HELD, postgresql_where=IS_HELD)
IS_IMAGE = literal("image", literal_execute=True)
_image_waits = IS_WAITING & (address.c.kind == "image")
Index("address_image", address.c.host_id, sqlite_where=_image_waits, postgresql_where=_image_waits)
Index("address_recorded", address.c.shown_on, sqlite_where=IS_RECORDED, postgresql_where=IS_RECORDED)
_has_parent = address.c.parent.is_not(None)
Index("address_parent", address.c.parent, sqlite_where=_has_parent, postgresql_where=_has_parent)
