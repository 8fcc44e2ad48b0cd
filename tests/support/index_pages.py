"""A crawl whose pages a test stores and removes, for readers of its changes."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, update
from store_workers import Crew

from crawler.items import PageItem
from crawler.store.batch.responses import zstd
from crawler.store.database import database_url, open_database, replacing_insert
from crawler.store.page_changes import save_changes
from crawler.store.page_tables import page, stored_response
from crawler.urls.page_id import page_id

SITE = "https://example.org"
AT = "2026-11-22T12:30:00+00:00"
HTML_HEADERS = '[["Content-Type", "text/html"]]'


class ChangingCrawl:
    """The database of a crawl."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.folder = folder
        self._engine = engine

    def store(self, path: str, markdown: str, title: str = "Bees", language: str | None = "en", html: str = "") -> str:
        """Store a page, or another version of it, and its response if it has HTML; returns its page_id."""
        url = SITE + path
        item = PageItem(url, url, AT, 200, 0, None, language, title, markdown.replace("#", ""), markdown=markdown)
        row = asdict(item) | {"images": "[]", "key": self._key(path), "crawl_id": 1}
        with self._engine.begin() as connection:
            connection.execute(replacing_insert(connection.dialect.name, page, tuple(row)), [row])
            save_changes(connection, [self._key(path)])
            if html:
                response = {
                    "status_line": "HTTP/1.1 200 OK",
                    "headers": HTML_HEADERS,
                    "body": zstd.compress(html.encode()),
                }
                of_page = {"key": self._key(path), "crawl_id": 1, "fetched_at": AT}
                connection.execute(insert(stored_response).values(response | of_page))
        return page_id(url)

    def remove(self, path: str) -> None:
        """Let a page be gone."""
        with self._engine.begin() as connection:
            connection.execute(update(page).where(page.c.key == self._key(path)).values(gone_at=AT))
            save_changes(connection, [self._key(path)])

    def _key(self, path: str) -> int:
        return int(page_id(path)[:8], 16)


@pytest.fixture
def changing_crawl(tmp_path: Path) -> Iterator[ChangingCrawl]:
    engine = open_database(database_url("", tmp_path))
    crew = Crew(engine, tmp_path)
    crew.join(name="bees")
    yield ChangingCrawl(tmp_path, engine)
    crew.close()
    engine.dispose()
