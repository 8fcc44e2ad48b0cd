"""The tables of what is to be crawled again and again.

job  a crawl and when it is due
run  each time that a job's crawl was started
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from crawler.state.schema import Serial, tables

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
