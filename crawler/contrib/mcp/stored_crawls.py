"""Reads stored crawls: their list and state, and the pages of a crawl, by search, by address and by changes."""

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
from crawler.contrib.dashboard.views.page_query import BEST, PRESENT, Hit, PageQuery, Place, find_pages
from crawler.reports.crawls import AFTER_RUNNING, CrawlSummary, latest_summaries, summary_of
from crawler.reports.seeds import FailedSeeds, failed_seeds
from crawler.reports.stored_pages import crawls_to_export
from crawler.store.batch.addresses import AddressKeys
from crawler.store.crawl_tables import crawl
from crawler.store.database import database_time, state_url
from crawler.store.page_changes import ChangeOffset
from crawler.store.page_tables import page
from crawler.store.read_only import limited_reading

NO_CRAWL = "There is no crawl of this name; list_crawls has the names."
MOST_LISTED = 100
MOST_FAILED = 5
"""Failed seeds that are listed."""
MOST_HITS = 20
READ_SECONDS = 5.0
"""Time limit of the queries of one call."""
SEARCH_SECONDS = 1.0
"""The time after which a search is interrupted and can be continued; only a search without the index takes so long."""
HIT_COLUMNS = page.c.id, page.c.url, page.c.title, page.c.published, page.c.relevance
READ_COLUMNS = tuple(
    page.c[name] for name in "url title language published fetched_at gone_at noindex markdown text".split()
)
CHANGE_COLUMNS = ("url", "title", "fetched_at")


class StoredCrawls:
    """The crawls in the database of the settings, which is opened only briefly for each call."""

    def __init__(self, settings: BaseSettings) -> None:
        self._url = state_url(settings)
        self._canonical = canonical_of(settings)
        self._index = search_index(self._url, Path(settings["OUTPUT_DIR"]))

    @contextmanager
    def _crawl(self, name: str) -> Iterator[tuple[Connection, RowMapping]]:
        """A connection, and the row of a crawl; raises a ToolError if the crawl does not exist."""
        with limited_reading(self._url, READ_SECONDS) as connection:
            columns = crawl.c.id, crawl.c.started_at
            row = connection.execute(select(*columns).where(crawl.c.name == name)).mappings().one_or_none()
            if row is None:
                raise ToolError(NO_CRAWL)
            yield connection, row

    def summaries(self, before: int) -> tuple[Sequence[CrawlSummary], int | None]:
        """The latest crawls with ids below `before`, or the latest of all if it is 0, and the value of
        `before` for the next call; None if there are no more.
        """
        with limited_reading(self._url) as connection:
            # With 0, `latest_summaries` would list the running crawls first, and later a second time.
            return latest_summaries(connection, database_time(connection), before or AFTER_RUNNING, MOST_LISTED)

    def summary(self, name: str) -> tuple[CrawlSummary, FailedSeeds]:
        """The state of a crawl, and its first failed seeds with the number of all."""
        with self._crawl(name) as (connection, row):
            summary = summary_of(connection, row["id"], database_time(connection))
            assert summary is not None  # noqa: S101 - the row was read in the same transaction
            return summary, failed_seeds(connection, row["id"], MOST_FAILED)

    def search(
        self, name: str, words: Sequence[str], after: Place | None
    ) -> tuple[list[tuple[RowMapping, str]], Place | None]:
        """The pages of a crawl that have all these words, the most relevant first, each with its text around the words;
        and where to continue.
        """
        folded_words = tuple(dict.fromkeys(word.casefold() for word in words))
        hits: list[Hit] = []
        with self._crawl(name) as (connection, row):
            # Until the index is complete, the pages themselves are searched.
            index = self._index if self._index.update(row["id"], row["started_at"]) else None
            query = PageQuery(crawl=row["id"], words=folded_words, state=PRESENT, order=BEST)
            deadline = monotonic() + SEARCH_SECONDS
            while True:
                part = find_pages(connection, query, after, MOST_HITS - len(hits), index)
                hits += part.hits
                after = part.place
                if after is None or len(hits) >= MOST_HITS or monotonic() > deadline:
                    break
            pages = connection.execute(select(*HIT_COLUMNS).where(page.c.id.in_([hit.id for hit in hits]))).mappings()
            page_by_id = {values["id"]: values for values in pages}
        snippets = {hit.id: "".join(piece.text for piece in excerpt(hit.text or "", folded_words)) for hit in hits}
        # A page may have been deleted since it was found.
        return [(page_by_id[hit.id], snippets[hit.id]) for hit in hits if hit.id in page_by_id], after

    def page(self, name: str, url: str) -> RowMapping:
        """The stored page of an address; raises a ToolError if there is none."""
        with self._crawl(name) as (connection, row):
            key = AddressKeys(row["id"], self._canonical)(url)
            stored = connection.execute(select(*READ_COLUMNS).where(page.c.key == key)).mappings().one_or_none()
        if stored is None:
            raise ToolError("The crawl has no page of this address; search_pages has the addresses.")
        return stored

    def changes(self, name: str, after: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The pages that became new, changed, gone, noindex or erased after an offset, each with its own offset."""
        with crawls_to_export(self._url) as crawls:
            changed_crawl = next((stored for stored in crawls if stored.name == name), None)
            if changed_crawl is None:
                raise ToolError(NO_CRAWL)
            for changed in changed_crawl.changes(CHANGE_COLUMNS, ChangeOffset.of(after)):
                yield str(changed.values["offset"]), changed.values
