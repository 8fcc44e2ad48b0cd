"""Tables that the dashboard shows and writes: samples of crawls, labels of people, scheduled jobs and their runs.

sample  what each worker did in every few seconds, merged as it ages
label   what people said of pages and images; it stands by the name of its crawl, and outlives crawls and pages
job     a crawl, and when it is due
run     each start of a job's crawl
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from crawler.store.sql import Serial, tables

sample = Table(
    "sample",
    tables,
    Column("crawl_id", ForeignKey("crawl.id"), primary_key=True),
    Column("at", Float, primary_key=True),  # when it begins, by the database's clock
    Column("number", Integer, primary_key=True),  # of the worker
    Column("seconds", Float, nullable=False),
    Column("pages", Integer, nullable=False),  # stored, or unchanged
    Column("read", Integer, nullable=False),  # whose relevance was computed
    Column("on_topic", Integer, nullable=False),  # of those
    Column("requests", Integer, nullable=False),
    Column("failed", Integer, nullable=False),  # addresses that failed
    Column("bytes", BigInteger, nullable=False),  # of answers, as they came
    Column("statuses", Text, nullable=False),  # JSON: answers by status code, "none" for those that never came
    Column("pictures", Integer, nullable=False),  # downloaded
    Column("picture_bytes", BigInteger, nullable=False),
    Column("skipped", Integer, nullable=False),  # pictures refused before the download
    Column("waiting", BigInteger, nullable=False),  # addresses of the whole crawl, at the end
)

label = Table(
    "label",
    tables,
    Column("id", Serial, primary_key=True),
    Column("key", BigInteger, nullable=False, unique=True),  # a hash of crawl, kind, url and page
    Column("crawl", Text, nullable=False),  # its name
    Column("kind", Text, nullable=False),  # picture, or text
    Column("url", Text, nullable=False),  # of the picture or the page
    Column("page", Text, nullable=False),  # that shows it
    Column("value", Text, nullable=False),  # of a picture content or noise; of a page its main text
    Column("detail", Text, nullable=False),  # JSON: how a page shows the picture; the blocks of a page that are kept
    Column("source", LargeBinary),  # of a page what it is made of, compressed by zstd
    Column("said_at", Float, nullable=False),
)
Index("label_crawl", label.c.crawl, label.c.kind, label.c.id)


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
    Column("created_at", Float, nullable=False),
    Column("next_at", Float),  # none if it never comes again
    Column("runs", Integer, nullable=False, default=0),  # the number of the last one
)

run = Table(
    "run",
    tables,
    Column("id", Serial, primary_key=True),
    Column("job_id", ForeignKey("job.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("how", Text, nullable=False),  # cron, late or now
    Column("due", Float),
    Column("missed", Integer, nullable=False, default=0),  # times before it that it makes up for as well
    Column("passed", Integer, nullable=False, default=0),  # times that came while it was under way
    Column("status", Text, nullable=False),  # as jobs.py has it
    Column("exit", Integer),
    Column("started_at", Float, nullable=False),
    Column("beat", Float, nullable=False),
    Column("ended_at", Float),
    Column("place", Text, nullable=False),  # the folder of its log, wherever that is
    Column("host", Text, nullable=False),
    Column("pid", BigInteger),  # when its process holds the job's lock
    Column("pages", BigInteger),
    Column("new", BigInteger),  # of those pages
    Column("changed", BigInteger),
    Column("gone", BigInteger),
    UniqueConstraint("job_id", "number"),
)
# No two of a job at once, whoever starts them.
_under_way = run.c.ended_at.is_(None)
Index("run_under_way", run.c.job_id, unique=True, sqlite_where=_under_way, postgresql_where=_under_way)
