"""The database of each release opens in this one: its pages are exported, the dashboard shows it, its crawl goes on."""

import json
import lzma
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from dashboard_client import Request, answer
from export_place import Place
from kept_crawl import FOLDER, JOB, NAME, PAGES, crawl_kept
from scrapy.settings import Settings
from sqlalchemy import inspect
from sqlalchemy.engine import URL

from crawler import __version__
from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.store.database import open_database

KEPT = sorted(FOLDER.glob("*.db.xz"))


@pytest.fixture(params=KEPT, ids=lambda path: path.name.removesuffix(".db.xz"))
def kept(request: pytest.FixtureRequest, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Place:
    """The database of a release, where its crawl would have it."""
    path = tmp_path / "output" / "crawl.db"
    path.parent.mkdir()
    path.write_bytes(lzma.decompress(request.param.read_bytes()))
    return Place(tmp_path, URL.create("sqlite", database=str(path)), capfdbinary, path)


def exported(kept: Place) -> Counter[str]:
    """How often each path is exported with a text."""
    said = kept.export("--name", NAME)
    assert said.status == 0, said.err
    pages = [json.loads(line) for line in said.out.splitlines()]
    return Counter(urlsplit(page["url"]).path for page in pages if page["text"])


def shown(kept: Place, path: str) -> str:
    """A page of the dashboard."""
    settings = Settings()
    settings.setmodule("crawler.settings")
    desk = DashboardContext(kept.url, kept.folder / "output", settings, AccessControl())
    found = answer(desk, Request("GET", path, headers={"host": "localhost"}))
    assert found.status == 200, found.body
    return found.body.decode()


def test_a_database_is_kept_for_this_release() -> None:
    assert any(path.name == f"{__version__}.db.xz" for path in KEPT), "python tests/bench/kept_database.py writes it"


def test_a_crawl_of_an_earlier_release_goes_on(kept: Place) -> None:
    before = exported(kept)
    assert len(before) == PAGES
    (crawl,) = json.loads(shown(kept, "/api/crawls"))["crawls"]
    assert (crawl["name"], crawl["pages"], crawl["round"]) == (NAME, PAGES, 1)
    assert NAME in shown(kept, "/")
    assert [job["name"] for job in json.loads(shown(kept, "/api/jobs"))["jobs"]] == [JOB]
    ended = crawl_kept(kept.folder, max_pages=PAGES + 5)
    assert ended.status == 0, ended.err
    after = exported(kept)
    assert set(after.values()) == {1}
    assert before.keys() < after.keys()
    assert len(after) == PAGES + 5


def schema(url: URL) -> dict[str, object]:
    """The columns and indexes of each table, in whatever order."""
    engine = open_database(url)
    described = inspect(engine)
    found = {
        table: (
            {(column["name"], str(column["type"]), column["nullable"]) for column in described.get_columns(table)},
            {(one["name"], *one["column_names"], one["unique"]) for one in described.get_indexes(table)},
        )
        for table in described.get_table_names()
    }
    engine.dispose()
    return found


def test_its_tables_become_those_of_a_new_database(kept: Place, sqlite_url: URL) -> None:
    assert schema(kept.url) == schema(sqlite_url)
