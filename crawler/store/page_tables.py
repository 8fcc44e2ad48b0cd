"""The tables of pages, and of what is learned from pages.

page                 the clean text of each page, how it was fetched, and when and how it changes
page_version         earlier texts of pages
page_change          the order of the last changes of pages
change_epoch         ranges of change offsets: each has a random token, see page_changes.py
erasure              digests of the pages and hosts that were erased and are not requested again
near_duplicate_band  keys by which near-duplicates of a page are found
stored_response      the HTTP response of a page, if responses are kept
robots_file          each distinct robots.txt that allowed the requests for stored pages
shared_example       lessons for all workers, not only examples: homes of the crawl, texts on the topic, seeds to retry
template             what the pages of a host have in common
focus                the topic model of each worker, for the others and for later runs
evidence             counts of the images that a site's pages show, one row for each site and batch
verdict              the verdict on each image that was judged, and its reasons
label                people's labels of pages and images, by the name of the crawl; they outlive crawls and pages
"""

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    literal_column,
)

from crawler.items import IS_OPTIONAL, TYPES, PageRecord
from crawler.metadata.text_owner import TextOwner
from crawler.recrawl.page_history import NEVER
from crawler.store.crawl_tables import Serial, index, tables

COLUMN_TYPES: dict[type, Any] = {str: Text, int: Integer, float: Float, bool: Boolean, list: Text, dict: Text}
"""The column type for each type of a page's fields; lists and mappings are JSON."""


def _field_column(name: str) -> Column[Any]:
    """The column of a field of a page's record."""
    default = PageRecord.__dataclass_fields__[name].default
    usual = default if isinstance(default, str | int | float) else None
    return Column(name, COLUMN_TYPES[TYPES[name]], nullable=IS_OPTIONAL[name], default=usual)


page = Table(
    "page",
    tables,
    Column("id", Serial, primary_key=True),
    Column("key", BigInteger, nullable=False, unique=True),  # the key of its address
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    *(_field_column(name) for name in TYPES),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("last_round", Integer, nullable=False, default=1),  # the round in which it was last stored or unchanged
    Column("first_round", Integer, nullable=False, default=1),
    Column("changed_round", Integer),  # the round in which its text was last found changed
    Column("changed_at", Text),
    Column("gone_round", Integer),  # the round in which it was found gone or with noindex; null while it is neither
    Column("gone_at", Text),
    Column("gone_count", SmallInteger, nullable=False, default=0),  # consecutive visits on which it was missing
    Column("noindex", Boolean, nullable=False, default=False),  # whether gone_round and gone_at are about noindex
    Column("not_modified_round", Integer),  # the round in which the server last answered 304
    Column("revisited_at", Text),  # when the stored version was last confirmed: by a 304, or byte for byte
    Column("revisit_status", SmallInteger),  # the status of that response
    Column("checked_at", Float),  # when it was last requested, with any result
    Column("due_at", Float, nullable=False, default=0),
    Column("interval", Float),  # seconds from one visit to the next
    Column("checks", Integer, nullable=False, default=0),  # visits since it was new
    Column("changes", Integer, nullable=False, default=0),
    Column("source_fingerprint", Text),  # of its text, to find changes; with `auto`, of its three texts
    Column("signature", LargeBinary),  # of its clean text, to find near-duplicates
    Column("change_distance", Float),  # how much of the text the last change changed, from 0 to 1
    Column("lastmod", Float),  # when it last changed, according to its sitemap or feed
    Column("site_id", BigInteger),  # null for pages that a fresh crawl has not requested yet, as sites get new ids
    Column("certainty", Float),  # the F1 that the method expects of its text, from 0 to 1; null for most methods
    # Whose text it is, according to the page itself: its own (0), unknown (1), or the text of another page (2).
    Column("text_owner", SmallInteger, nullable=False, default=int(TextOwner.UNKNOWN)),
)
IS_REVISITED: ColumnElement[bool] = page.c.due_at < NEVER
"""The condition for pages that are requested again some time: all except pages that crashed workers."""
RUN_COLUMNS = page.c.fetched_at, page.c.id, page.c.first_seen, page.c.changed_at
"""The columns by which the pages of a scheduled run are counted, and old pages are found and deleted."""
index("page_age", page.c.crawl_id, *RUN_COLUMNS)
index("page_due", page.c.crawl_id, page.c.due_at)
index("page_gone", page.c.crawl_id, page.c.gone_at, page.c.gone_round, where=page.c.gone_at.is_not(None))
ROUND_COLUMNS = (
    page.c.last_round,
    page.c.first_round,
    page.c.changed_round,
    page.c.gone_round,
    page.c.not_modified_round,
)
"""The numbers of rounds that are counted for the summary at the end of a crawl."""
PAGE_FILTERS = page.c.relevance, page.c.language, page.c.page_type, page.c.site_id, page.c.certainty
"""The columns by which the dashboard filters pages."""
# All of them are in one index: reading the rows of a million pages, with their texts, takes minutes.
index("page_list", page.c.crawl_id, page.c.id, *PAGE_FILTERS, *ROUND_COLUMNS)
index("page_relevance", page.c.crawl_id, page.c.relevance, page.c.id)

page_version = Table(
    "page_version",
    tables,
    Column("id", Serial, primary_key=True),
    Column("key", BigInteger, nullable=False),  # the key of its page
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("fetched_at", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("text_fingerprint", Text),
)
index("version_page", page_version.c.key, page_version.c.id)
index("version_age", page_version.c.crawl_id, page_version.c.fetched_at)

page_change = Table(
    "page_change",
    tables,
    Column("offset", Serial, primary_key=True),  # a page gets a new one when it becomes new, changed, renewed or gone
    Column("key", BigInteger, nullable=False, unique=True),  # the key of its page
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    sqlite_autoincrement=True,  # offsets are not reused
)
index("change_crawl", page_change.c.crawl_id, page_change.c.offset)

change_epoch = Table(
    "change_epoch",
    tables,
    Column("after", BigInteger, primary_key=True, autoincrement=False),  # the last offset before the epoch
    Column("token", Text, nullable=False),  # random: a restored database continues with other tokens
)

erasure = Table(
    "erasure",
    tables,
    Column("crawl_id", ForeignKey("crawl.id"), primary_key=True),
    Column("digest", Text, primary_key=True),  # of the address of a page, or of the name of a host
    Column("key", BigInteger),  # the key of the page's address, which finds it among the changes; null for a host
    Column("erased_at", Text, nullable=False),
)
index("erasure_key", erasure.c.key)

near_duplicate_band = Table(
    "near_duplicate_band",
    tables,
    Column("crawl_id", ForeignKey("crawl.id"), primary_key=True),
    Column("band", BigInteger, primary_key=True, autoincrement=False),  # a part of the signature
    Column("key", BigInteger, primary_key=True, autoincrement=False),  # the key of its page
    sqlite_with_rowid=False,
)

stored_response = Table(
    "stored_response",
    tables,
    Column("key", BigInteger, primary_key=True, autoincrement=False),  # the key of its page
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    # Equal to `page.fetched_at`, unless the page was fetched again later and that response was not stored.
    Column("fetched_at", Text, nullable=False),
    Column("status_line", Text, nullable=False),
    Column("headers", Text, nullable=False),  # JSON: pairs of name and value
    Column("request_line", Text),
    Column("request_headers", Text),  # JSON, without the headers that hold secrets
    Column("body", LargeBinary, nullable=False),  # compressed by zstd
)
index("stored_response_age", stored_response.c.crawl_id, stored_response.c.fetched_at)

robots_file = Table(
    "robots_file",
    tables,
    Column("crawl_id", ForeignKey("crawl.id"), primary_key=True),
    Column("digest", Text, primary_key=True),  # SHA-256 of its bytes, as the evidence of `rights` names it
    Column("first_url", Text, nullable=False),  # the address where it was read first
    Column("read_at", Text, nullable=False),  # when it was read first
    Column("body", LargeBinary, nullable=False),  # compressed by zstd
)

shared_example = Table(
    "shared_example",
    tables,
    Column("id", Serial, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("kind", Text, nullable=False),  # a value of LessonKind
    Column("text", Text, nullable=False),
)

template = Table(
    "template",
    tables,
    Column("id", Serial, primary_key=True),
    Column("key", BigInteger, nullable=False, unique=True),  # a hash of the following columns
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("host", Text, nullable=False),  # by name, as a fresh crawl has new ids
    Column("tag", Text, nullable=False),
    Column("text", Text, nullable=False),
)
index("template_host", template.c.crawl_id, template.c.host, template.c.id)

evidence = Table(
    "evidence",
    tables,
    Column("id", Serial, primary_key=True),
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("site_id", BigInteger, nullable=False),
    Column("counts", Text, nullable=False),  # to be summed with the site's other rows
)
index("evidence_site", evidence.c.site_id, evidence.c.id)

verdict = Table(
    "verdict",
    tables,
    Column("id", Serial, primary_key=True),
    Column("key", BigInteger, nullable=False, unique=True),  # the key of its address
    Column("crawl_id", ForeignKey("crawl.id"), nullable=False),
    Column("site_id", BigInteger, nullable=False),  # of the page that shows it
    Column("kind", Text, nullable=False),  # image, or link: a page known only through an image
    Column("url", Text, nullable=False),  # of the image
    Column("target", Text, nullable=False),  # of the link around the image; empty if there is none
    Column("page", Text, nullable=False),  # the page that shows it
    Column("noise", Boolean, nullable=False),
    Column("probability", Float, nullable=False),
    Column("keyword", Float),  # this score and the next two are those of noise/li2006.py
    Column("redundancy", Float),
    Column("entropy", Float),
    Column("reasons", Text, nullable=False),  # JSON
    Column("decided_by", Text, nullable=False),
    Column("audited", Boolean, nullable=False),  # whether it is downloaded although it is noise
    Column("mistaken", Boolean),  # of an audited image: whether it looks like content after all
    Column("bytes", BigInteger),  # of the downloaded file; null until it is downloaded
    Column("bytes_are_measured", Boolean, nullable=False),  # whether the image was downloaded, so that `bytes` is set
    Column("decided_at", Text, nullable=False),
    Column("sight", Text, nullable=False),  # how a page shows it, so that it can be judged again
    Column("file", Text),  # of the downloaded file, under the images folder
    Column("label_key", BigInteger),  # the key of its label, if there is one
)
# SQLAlchemy would write `audited` in SQLite's index, and `verdict.audited = 1` in queries, which then miss the index.
IS_AUDITED: ColumnElement[bool] = literal_column("audited")
index("verdict_label", verdict.c.label_key, verdict.c.noise, verdict.c.kind)
VERDICT_FILTERS = verdict.c.site_id, verdict.c.decided_by, verdict.c.probability
"""The columns by which the dashboard filters verdicts. They are in the index, as there are too many rows to read."""
index("verdict_list", verdict.c.crawl_id, verdict.c.noise, verdict.c.kind, verdict.c.id, *VERDICT_FILTERS)
AUDIT_COLUMNS = verdict.c.audited, verdict.c.mistaken, verdict.c.site_id, verdict.c.decided_by
"""The columns that are counted for audited verdicts. Without `audited` in the index SQLite would read the rows."""
index("verdict_audit", verdict.c.crawl_id, verdict.c.kind, verdict.c.id, *AUDIT_COLUMNS, where=IS_AUDITED)

focus = Table(
    "focus",
    tables,
    Column("crawl_id", ForeignKey("crawl.id"), primary_key=True),
    Column("number", Integer, primary_key=True),  # of the worker; the worker that replaces it continues the row
    Column("saved", Float, nullable=False),  # when, by the database's clock
    Column("summary", Text, nullable=False),  # JSON, for people
    Column("learned", Text, nullable=False),  # JSON, for other workers and later runs
)


class LabelKind(StrEnum):
    """What people label."""

    IMAGE = "image"
    """Whether an image is content or noise."""
    TEXT = "text"
    """The main text of a page."""
    TOPIC = "topic"
    """Whether a page is on the topic."""


label = Table(
    "label",
    tables,
    Column("id", Serial, primary_key=True),
    Column("key", BigInteger, nullable=False, unique=True),  # a hash of crawl, kind, url and page
    Column("crawl", Text, nullable=False),  # its name
    Column("kind", Text, nullable=False),  # image, text or topic
    Column("url", Text, nullable=False),  # of the image or the page
    Column("page", Text, nullable=False),  # the page that shows it
    # Of an image: content or noise; of a text: the main text; of a topic: on_topic or off_topic.
    Column("value", Text, nullable=False),
    # JSON: how a page shows the image, the chosen blocks of a text, or the digest of the topic that was judged.
    Column("detail", Text, nullable=False),
    Column("source", LargeBinary),  # compressed by zstd: the source of a text's page, or the title and text of a page
    Column("said_at", Float, nullable=False),
)
index("label_crawl", label.c.crawl, label.c.kind, label.c.id)
