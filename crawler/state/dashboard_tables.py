"""The tables of the dashboard: what crawls did in each few seconds, and what people said of pages and pictures.

Samples are written by the crawls' workers and thinned as they age. Labels are people's work: they stand by the names of
crawls, hold all that is needed to learn from them, and outlive pages that are dropped and crawls that are forgotten.
"""

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, LargeBinary, Table, Text

from crawler.state.schema import Serial, tables

sample = Table(
    "sample",
    tables,
    Column("crawl_id", ForeignKey("crawl.id"), primary_key=True),
    Column("at", Float, primary_key=True),  # when it begins, by the database's clock
    Column("number", Integer, primary_key=True),  # the worker's seat
    Column("seconds", Float, nullable=False),
    Column("pages", Integer, nullable=False),  # stored, or as they were
    Column("read", Integer, nullable=False),  # judged by the topic, kept or not
    Column("on_topic", Integer, nullable=False),  # of those
    Column("requests", Integer, nullable=False),
    Column("failed", Integer, nullable=False),  # addresses that were given up
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
