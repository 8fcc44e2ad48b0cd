"""Fields of a user's own, by selectors and by a pipeline: in the items, the database, exports and the dashboard."""

import csv
import json
from pathlib import Path

import fork_server
import pytest
from dashboard_client import Request, answer
from fork_server import environment
from pyarrow import parquet
from scrapy.settings import Settings
from sites import OPEN, Crawl, Site, command, page, serving
from sqlalchemy.engine import URL

from crawler import settings as settings_module
from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.outcomes import Code, Outcome

PIPELINE = '''
"""Pipelines of a user."""

from datetime import date

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from crawler.items import PageItem


class Mine:
    def process_item(self, item):
        if not isinstance(item, PageItem):
            return item
        if "secret" in item["text"]:
            raise DropItem("a secret")
        if "broken" in item["text"]:
            raise ValueError("no such value")
        item["words"] = len(item["text"].split())
        ItemAdapter(item)["read_on"] = date(2026, 1, 2)
        item["title"] = item["title"].upper()
        return item
'''
SETTINGS = """
from crawler.settings import *

ITEM_PIPELINES = {**ITEM_PIPELINES, "my_pipelines.Mine": 500}
"""
FIELDS = """
["*"]
price = ".price"
sizes = [".size"]
wrong = "//*[@class='price'][count(1)]"
"""
WORDS = "Bees gather nectar from clover in the warm hours before noon, and guards wait at the hive"


@pytest.fixture
def site() -> Site:
    texts = {"kept": WORDS, "dropped": f"{WORDS} with a secret", "failed": f"{WORDS} with a broken comb"}
    routes = {f"/{name}": page(f"{text}.", head='<meta name="author" content="Ada">') for name, text in texts.items()}
    routes["/kept"] += "<p class=price>9 <b>EUR</b><script>1</script><p class=size>&lt;S&gt;<p class=size>M"
    return Site({"/": page(f"{WORDS}, here.", links={path: path for path in routes})} | routes)


def run(folder: Path, *words: str) -> Crawl:
    """A command in a process that knows the modules of the folder."""
    given = environment() | {"SCRAPY_SETTINGS_MODULE": "my_settings"}
    ended = fork_server.run(["scrapy", *words], folder, given, 90)
    return Crawl(ended.returncode, ended.stdout, ended.stderr, folder)


def test_own_fields_are_wherever_items_are(site: Site, tmp_path: Path, sqlite_url: URL) -> None:
    for name, text in {"my_pipelines.py": PIPELINE, "my_settings.py": SETTINGS, "fields.toml": FIELDS}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    settings = OPEN | {
        "OUTPUT_DIR": str(tmp_path / "output"),
        "STATE_URL": sqlite_url.render_as_string(hide_password=False),
    }
    with serving(site):
        arguments = {"seeds": site.url, "fields": "fields.toml", "images": "no"}
        ended = run(tmp_path, *command(arguments, settings)[3:])
        asked = sorted(site.paths())
        again = run(tmp_path, *command(arguments, settings)[3:])
        assert (again.status, sorted(site.paths())) == (0, asked)
    assert ended.status == 0, ended.err
    own = {"price": "9 EUR", "sizes": ["<S>", "M"], "wrong": None, "words": 20, "read_on": "2026-01-02"}
    items = {item["url"]: item for item in ended.items()}
    assert items.keys() == {site.url, f"{site.url}kept"}
    kept = items[f"{site.url}kept"]
    assert (kept["own_fields"] | {"words": 20}, kept["title"]) == (own, kept["title"].upper())
    assert items[site.url]["own_fields"]["sizes"] == []
    assert f"Failed: {Outcome(Code.CRAWLER_ERROR).message} (1)." in ended.closing()
    assert "ValueError: no such value" in ended.err
    assert asked == ["/", "/dropped", "/failed", "/kept", "/robots.txt"]
    left_out = "dropped by a pipeline: a secret (1), own field that cannot be read, wrong: Invalid type (1)"
    assert f"Left out: {left_out}." in ended.closing()
    assert "is finished" in again.err
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    exported = run(tmp_path, "export", "-o", "all.csv", "--fields", "url,own_fields", *given)
    assert exported.status == 0, exported.err
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["url"]: row["own_fields"] for row in csv.DictReader(file)}
    assert rows[f"{site.url}kept"].startswith('{"price": "9 EUR", "sizes": ["<S>", "M"], "wrong": null, "words": ')
    assert run(tmp_path, "export", "-o", "all.parquet", *given).status == 0
    table = parquet.read_table(tmp_path / "all.parquet", columns=["url", "own_fields"]).to_pylist()
    assert {row["url"]: json.loads(row["own_fields"]) for row in table} == {
        address: item["own_fields"] for address, item in items.items()
    }
    values = Settings()
    values.setmodule(settings_module)
    desk = DashboardContext(sqlite_url, tmp_path / "output", values, AccessControl())
    views = [answer(desk, Request("GET", f"/pages/{n}", headers={"host": "localhost"})).body.decode() for n in (1, 2)]
    detail = " ".join(" ".join(views).split())
    assert "<dt><bdi>price</bdi></dt><dd><bdi>9 EUR</bdi></dd>" in detail
    assert "<dt><bdi>sizes</bdi></dt><dd><bdi>&lt;S&gt; · M</bdi></dd>" in detail
