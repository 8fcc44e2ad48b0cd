"""What crawls have stored: which there are, and the pages of one, searched, read and followed in their changes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from scrapy.settings import BaseSettings
from sqlalchemy import Connection, RowMapping, select

from crawler.checked_settings import canonical_of
from crawler.contrib.dashboard.rendering import excerpt
from crawler.contrib.dashboard.search_index import search_index
from crawler.contrib.dashboard.views.page_search import BEST, PRESENT, Hit, PageQuery, Place, look
from crawler.reports.crawls import LAST, CrawlSummary, latest_summaries, summary_of
from crawler.reports.seeds import FailedSeeds, failed_seeds
from crawler.reports.stored_pages import crawls_to_export
from crawler.store.batch.addresses import AddressKeys
from crawler.store.crawl_tables import crawl
from crawler.store.database import database_time, state_url
from crawler.store.page_changes import ChangeOffset
from crawler.store.page_tables import page
from crawler.store.read_only import glance

NO_CRAWL = "There is no crawl of this name; list_crawls has the names."
MOST_LISTED = 100
MOST_FAILED = 5
"""Failed seeds that are named."""
MOST_HITS = 20
READ_SECONDS = 5.0
"""After which the database aborts what is read of a crawl."""
SEARCH_SECONDS = 1.0
"""After which a search is to be continued; only one that the index does not help takes that long."""
HIT_COLUMNS = page.c.id, page.c.url, page.c.title, page.c.published, page.c.relevance
READ_COLUMNS = tuple(
    page.c[name] for name in "url title language published fetched_at gone_at noindex markdown text".split()
)
CHANGE_COLUMNS = ("url", "title", "fetched_at")


class StoredCrawls:
    """The crawls in the database of the settings, which is read for a short time each."""

    def __init__(self, settings: BaseSettings) -> None:
        self._url = state_url(settings)
        self._canonical = canonical_of(settings)
        self._index = search_index(self._url, Path(settings["OUTPUT_DIR"]))

    @contextmanager
    def _crawl(self, name: str) -> Iterator[tuple[Connection, RowMapping]]:
        """A connection, and the row of a crawl; raises a ToolError if there is none of this name."""
        with glance(self._url, READ_SECONDS) as connection:
            columns = crawl.c.id, crawl.c.started_at
            row = connection.execute(select(*columns).where(crawl.c.name == name)).mappings().one_or_none()
            if row is None:
                raise ToolError(NO_CRAWL)
            yield connection, row

    def summaries(self, before: int) -> tuple[Sequence[CrawlSummary], int | None]:
        """The latest crawls with smaller ids, and where to continue."""
        with glance(self._url) as connection:
            return latest_summaries(connection, database_time(connection), before or LAST, MOST_LISTED)

    def summary(self, name: str) -> tuple[CrawlSummary, FailedSeeds]:
        """How far a crawl is, and the seeds that failed, the first of them by name."""
        with self._crawl(name) as (connection, row):
            summary = summary_of(connection, row["id"], database_time(connection))
            assert summary is not None  # noqa: S101 - it is of the same moment
            return summary, failed_seeds(connection, row["id"], MOST_FAILED)

    def search(
        self, name: str, words: Sequence[str], after: Place | None
    ) -> tuple[list[tuple[RowMapping, str]], Place | None]:
        """The pages of a crawl that have all these words, those most on its topic first, each with its text around the
        words; and where to continue.
        """
        folded = tuple(dict.fromkeys(word.casefold() for word in words))
        hits: list[Hit] = []
        with self._crawl(name) as (connection, row):
            index = self._index if self._index.update(row["id"], row["started_at"]) else None
            query = PageQuery(crawl=row["id"], words=folded, state=PRESENT, order=BEST)
            until = monotonic() + SEARCH_SECONDS
            while True:
                seen = look(connection, query, after, MOST_HITS - len(hits), index)
                hits += seen.hits
                after = seen.place
                if after is None or len(hits) >= MOST_HITS or monotonic() > until:
                    break
            rows = connection.execute(select(*HIT_COLUMNS).where(page.c.id.in_([hit.id for hit in hits]))).mappings()
            row_of = {row["id"]: row for row in rows}
        snippets = {hit.id: "".join(piece.text for piece in excerpt(hit.text or "", folded)) for hit in hits}
        return [(row_of[hit.id], snippets[hit.id]) for hit in hits if hit.id in row_of], after

    def page(self, name: str, url: str) -> RowMapping:
        """A stored page; raises a ToolError if there is none of this address."""
        with self._crawl(name) as (connection, row):
            key = AddressKeys(row["id"], self._canonical)(url)
            stored = connection.execute(select(*READ_COLUMNS).where(page.c.key == key)).mappings().one_or_none()
        if stored is None:
            raise ToolError("The crawl has no page of this address; search_pages has the addresses.")
        return stored

    def changes(self, name: str, after: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The pages that became new, changed, gone, noindex or erased after an offset, each behind its own offset."""
        with crawls_to_export(self._url) as crawls:
            changed_crawl = next((one for one in crawls if one.name == name), None)
            if changed_crawl is None:
                raise ToolError(NO_CRAWL)
            for changed in changed_crawl.changes(CHANGE_COLUMNS, ChangeOffset.of(after)):
                yield str(changed.values["offset"]), changed.values
