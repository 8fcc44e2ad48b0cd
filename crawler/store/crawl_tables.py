"""The tables of crawls, their frontiers and jobs, the same in SQLite and PostgreSQL.

    crawl     one row for each crawl, by name
    worker    a process that works on a crawl; until its row is deleted, no other worker requests what it has leased
    output    how much of each file of JSON lines belongs to committed pages
    site      a registrable domain and how much of its budget is spent
    host      a host: the best priority in its queue, and when it may be requested again
    address   every address seen: waiting, held, done or recorded; the frontier and the set of seen addresses
    address_pattern  how many requests to the addresses of a pattern were useful, by site
    sample    what each worker did in intervals of a few seconds; older rows are merged
    job       a scheduled crawl, and when it is due
    run       each start of a job's crawl
    edit      each change made in the dashboard

The tables of pages and images are in page_tables.py.

Each worker counts in its own row, so that no two workers wait for each other to count. Hosts have no foreign key to
their site, nor addresses to their host: to delete one site or host, a database would search all hosts or addresses.
"""

from enum import IntEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    literal,
)

from crawler.frontier.page_result import AddressKind
from crawler.outcomes import Code
from crawler.topic.priorities import LEAST_LIKELY

tables = MetaData()
Serial = BigInteger().with_variant(Integer, "sqlite")  # SQLite generates ids only for INTEGER columns


def index(
    name: str, *columns: ColumnElement[Any], where: ColumnElement[bool] | None = None, unique: bool = False
) -> None:
    """Define an index on columns; with a condition, only the rows that meet it are indexed."""
    Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


class AddressState(IntEnum):
    """The state of an address in the frontier."""

    WAITING = 0
    HELD = 1
    """Leased by a worker."""
    DONE = 2
    RECORDED = 3
    """An image, or a page that only an image links to, that waits until its site has shown enough pages to judge it."""


version = Table("winnow_state", tables, Column("version", Integer, nullable=False))

crawl = Table(
    "crawl",
    tables,
    Column("id", Serial, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("seeds", Text, nullable=False),  # JSON, as given by the user
    Column("topic", Text, nullable=False, default=""),  # as given by the user; empty if it is learned from the seeds
    Column("topic_digest", Text),  # of its words and examples; null before a worker has set it
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),  # when nothing was left to do
    Column(
        "waiting", BigInteger, nullable=False, default=0
    ),  # queued by rounds, and `waiting` of the workers that have left
    Column(
        "unlikely", BigInteger, nullable=False, default=0
    ),  # queued links unlikely to lead to the topic, when last counted
    Column("behind_images", BigInteger, nullable=False, default=0),  # likewise, queued links that are only an image
    Column("pages", BigInteger, nullable=False, default=0),  # in this round, of the workers that have left
    Column("round", Integer, nullable=False, default=1),  # the number of the current round
    Column("round_started", Float),
    Column(
        "first_round", Integer, nullable=False, default=1
    ),  # the round in which the crawl was begun, or last begun fresh
    Column("control", Text, nullable=False, default=""),  # what a user told its workers to do, see crawl_control.py
    Column(
        "offset_before", BigInteger, nullable=False, default=0
    ),  # the last change offset (page_changes.py) before it began
)

worker = Table(
    "worker",
    tables,
    Column("id", Serial, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("number", Integer, nullable=False),  # names its files, and is taken over by the worker that replaces it
    Column("folder_id", Text, nullable=False),  # identifies the folder of its files, wherever that is mounted
    Column("heartbeat", Float, nullable=False),
    Column("batch", BigInteger, nullable=False, default=0),  # the number of the last committed batch
    Column("waiting", BigInteger, nullable=False, default=0),  # addresses it added, minus those it leased
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
    Column("pages_size", BigInteger, nullable=False, default=0),  # how many bytes of the file are committed
    Column("pages_end", BigInteger, nullable=False, default=0),  # a hash of the last committed bytes
    Column("images_size", BigInteger, nullable=False, default=0),
    Column("images_end", BigInteger, nullable=False, default=0),
)

site = Table(
    "site",
    tables,
    Column("id", Serial, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("pages", Integer, nullable=False, default=0),  # stored or unchanged in this round
    Column("held", Integer, nullable=False, default=0),  # pages that workers have leased
    Column("requests", Integer, nullable=False, default=0),  # for pages, in this round
    UniqueConstraint("crawl_id", "name"),
)
index("site_pages", site.c.crawl_id, site.c.pages, site.c.id)

host = Table(
    "host",
    tables,
    Column("id", Serial, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("site_id", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("best", Integer),  # the priority of its best queued address, or more; null if none is queued
    Column("next_at", Float, nullable=False, default=0.0),  # when it may be requested again
    Column("crawl_delay", Float, nullable=False, default=0.0),  # seconds between requests, from robots.txt
    Column("worker", BigInteger),  # the only worker that may request it now
    Column("closed", Text),  # the outcome of its addresses, if it is not requested any more
    Column("latency", Float),  # moving average of seconds until a response
    Column("delay", Float),  # current seconds between two requests
    # Links leased although they are unlikely to lead to the topic; fewer after each page on the topic.
    Column("tries", Integer, nullable=False, default=0),
    UniqueConstraint("crawl_id", "name"),
)
HAS_QUEUE_AND_NO_WORKER = host.c.best.is_not(None) & host.c.worker.is_(None)
index("host_ready", host.c.crawl_id, host.c.best.desc(), host.c.next_at, where=HAS_QUEUE_AND_NO_WORKER)
index("host_site", host.c.site_id)
index("host_worker", host.c.worker, where=host.c.worker.is_not(None))

address = Table(
    "address",
    tables,
    Column("id", Serial, primary_key=True),
    Column("key", BigInteger, nullable=False, unique=True),  # a hash of the crawl and the canonical address
    # For an erased address, minus the id of its crawl: so it stays when the addresses of a crawl's hosts are deleted.
    Column("host_id", BigInteger, nullable=False),
    Column("url", Text, nullable=False),  # empty if it was erased
    Column("kind", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("parent", BigInteger),  # the id of the page on which it was found
    Column("requested", Text),  # the address requested first, if a redirect led from it to this one
    Column("state", SmallInteger, nullable=False, default=AddressState.WAITING),
    Column("worker", BigInteger),
    Column("crashes", SmallInteger, nullable=False, default=0),  # workers that crashed while they had leased it
    Column("outcome", Text),  # the code of its outcome; null while it is queued, and if its page or image is stored
    Column("outcome_detail", Text),  # the parameter of the outcome
    Column("shown_on", BigInteger),  # the site whose pages show it, for images to be judged
    Column("sight", Text),  # how a page shows it, for images to be judged
    Column("via", Text),  # how it was found
    Column("lastmod", Float),  # when it changed, according to a sitemap or feed
    Column("labels", Text, nullable=False, default=""),  # the text and the class of the link to it, one per line
)
NO_OUTCOME = {"outcome": None, "outcome_detail": None}
"""The values that clear the outcome of an address when it is queued again."""
ADDRESSES_WITH_HOSTS = address.join(host, address.c.host_id == host.c.id)
# In the order of the states. Literals: with a parameter, a database cannot tell that a partial index covers the rows.
IS_WAITING, IS_HELD, IS_DONE, IS_RECORDED = (
    address.c.state == literal(state, literal_execute=True) for state in AddressState
)
IS_LIKELY = address.c.priority >= LEAST_LIKELY
IMAGE_KIND, SEED_KIND = (literal(kind, literal_execute=True) for kind in (AddressKind.IMAGE, AddressKind.SEED))
index("address_waiting", address.c.host_id, address.c.priority.desc(), address.c.id, where=IS_WAITING)
index("address_held", address.c.worker, where=IS_HELD)
index("address_image", address.c.host_id, where=IS_WAITING & (address.c.kind == AddressKind.IMAGE))
index("address_recorded", address.c.shown_on, where=IS_RECORDED)
IS_PUT_OFF = address.c.outcome == literal(str(Code.UNPRODUCTIVE), literal_execute=True)
index("address_put_off", address.c.host_id, where=IS_PUT_OFF)
SEED_WITHOUT_PAGE = (address.c.kind == SEED_KIND) & address.c.outcome.is_not(None)
index("address_seed", address.c.host_id, where=SEED_WITHOUT_PAGE)
index("address_parent", address.c.parent, where=address.c.parent.is_not(None))

address_pattern = Table(
    "address_pattern",
    tables,
    Column("site_id", BigInteger, primary_key=True, autoincrement=False),
    Column("pattern", Text, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("useful", Integer, nullable=False),  # requests that brought a page, or links to patterns that do
    Column("useless", Integer, nullable=False),
    Column("in_a_row", Integer, nullable=False),  # useless requests since the last useful one
    Column("open", Integer, nullable=False),  # requests that brought only links to patterns of unknown use
    Column("put_off", Integer, nullable=False),  # addresses that were not requested
    Column("rendered", Integer, nullable=False, default=0),  # pages that were rendered in a browser
    Column("gained", Integer, nullable=False, default=0),  # rendered pages that gained text or links
    Column("lists", Integer, nullable=False, default=0),  # requests that brought a list of other pages
    Column("copies", Integer, nullable=False, default=0),  # pages that were copies of others
    sqlite_with_rowid=False,
)
index("pattern_crawl", address_pattern.c.crawl_id, address_pattern.c.put_off)

sample = Table(
    "sample",
    tables,
    Column("crawl_id", ForeignKey("crawl.id"), primary_key=True),
    Column("at", Float, primary_key=True),  # when it began, by the database's clock
    Column("number", Integer, primary_key=True),  # of the worker
    Column("seconds", Float, nullable=False),
    Column("pages", Integer, nullable=False),  # stored, or unchanged
    Column("read", Integer, nullable=False),  # pages whose relevance was computed
    Column("on_topic", Integer, nullable=False),  # of the pages read
    Column("requests", Integer, nullable=False),
    Column("failed", Integer, nullable=False),  # addresses that failed
    Column("bytes", BigInteger, nullable=False),  # of responses, as received
    Column("statuses", Text, nullable=False),  # JSON: responses by status code, "none" where there was no response
    Column("images", Integer, nullable=False),  # downloaded
    Column("image_bytes", BigInteger, nullable=False),
    Column("skipped", Integer, nullable=False),  # images skipped before the download
    Column("waiting", BigInteger, nullable=False),  # queued addresses of the whole crawl, at the end
)

job = Table(
    "job",
    tables,
    Column("id", Serial, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("cron", Text, nullable=False),
    Column("timezone", Text, nullable=False),
    Column("spider", Text, nullable=False),
    Column("arguments", Text, nullable=False),  # JSON
    Column("settings", Text, nullable=False),  # JSON
    Column("crawl", Text, nullable=False, unique=True),  # the name of its crawl
    Column("paused", Boolean, nullable=False, default=False),
    Column("next_at", Float),  # null if it never runs again
    Column("runs", Integer, nullable=False, default=0),  # the number of the last run
    Column("notify", Text),  # the webhook that is notified when a run ends
)

run = Table(
    "run",
    tables,
    Column("id", Serial, primary_key=True),
    Column("job_id", ForeignKey("job.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("how", Text, nullable=False),  # why it began: cron, late or now
    Column("due", Float),
    Column("missed", Integer, nullable=False, default=0),  # earlier times that were missed, for which it makes up
    Column("passed", Integer, nullable=False, default=0),  # times that were skipped while it ran
    Column("status", Text, nullable=False),  # as defined in job_store.py
    Column("exit", Integer),
    Column("started_at", Float, nullable=False),
    Column("beat", Float, nullable=False),
    Column("ended_at", Float),
    Column("place", Text, nullable=False),  # identifies the folder of its log, wherever that is mounted
    Column("host", Text, nullable=False),
    Column("pid", BigInteger),  # null until its process has got the job's lock
    Column("pages", BigInteger),
    Column("new", BigInteger),  # of those pages
    Column("changed", BigInteger),
    Column("gone", BigInteger),
    Column("read", BigInteger),  # pages whose relevance was computed
    Column("on_topic", BigInteger),  # of the pages read
    Column("notice", Text),  # as defined in run_notice.py; empty while it is sent
    UniqueConstraint("job_id", "number"),
)
# At most one run of a job at a time, whoever starts it.
index("run_under_way", run.c.job_id, where=run.c.ended_at.is_(None), unique=True)

edit = Table(
    "edit",
    tables,
    Column("id", Serial, primary_key=True),
    Column("at", Float, nullable=False),
    Column("user_name", Text, nullable=False),  # empty if the dashboard has no users
    Column("action", Text, nullable=False),  # as defined in contrib/dashboard/edit_record.py
    Column("subject", Text, nullable=False),  # what was changed
)
