"""A folder with a database in which `scrapy export` is given as it is typed."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from sqlalchemy import create_engine, insert, update
from sqlalchemy.engine import URL, make_url

from crawler.items import PageItem
from crawler.store import crawl_tables, page_tables

AT = "2026-11-22T12:30:00+00:00"

PAGES: list[dict[str, Any]] = [
    {"relevance": 0.9, "title": "Alpha", "quality": {"words": 50, "kept_frac": 0.5}},
    {"relevance": 0.5, "title": "beta", "quality": {"words": 49, "kept_frac": 0.4}},
    {"relevance": 0.1, "title": "蜜蜂", "quality": None, "language": "zh"},
    {
        "relevance": 0.9,
        "title": "",
        "published": "2026-01-02",
        "quality": {"words": 500, "mean_word_length": 20, "kept_frac": 0.9},
    },
    {"relevance": 0.9, "title": "Émile", "author": "O'Neil", "own_fields": {"uses": {"ai-train": "disallowed"}}},
]
"""What differs between the pages of `filled` and `either_filled`."""


@dataclass
class Said:
    """What the command said, and its exit status."""

    status: int
    out: str
    err: str


class Place:
    """A folder with a database, and the command given there, in this process."""

    def __init__(self, folder: Path, url: URL, capture: Any, empty: Path) -> None:
        self.folder, self.url, self.capture = folder, url, capture
        self.empty = empty
        """A SQLite database whose tables are empty, to copy."""

    def export(self, *words: str, **settings: Any) -> Said:
        given = {"OUTPUT_DIR": "output", "STATE_URL": self.url.render_as_string(hide_password=False)} | settings
        line = ["export", *words]
        line += [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
        status, out, err = run_command(self.capture, *line)
        return Said(status, out.decode(), err.decode())

    def check_refusal(self, words: list[str], why: str) -> None:
        """Assert that a wrong command is refused in one sentence, and that nothing is written."""
        self.fill(1)
        said = self.export(*words)
        assert (said.status, said.out) == (2, "")
        assert why in said.err
        assert said.err.count("\n") == 1
        assert self.names() == []

    def fill(self, count: int, name: str = "bees", **more: Any) -> None:
        """Have a crawl of this name store pages, which are like each other but for what is given."""
        if self.url.drivername == "sqlite" and not Path(str(self.url.database)).exists():
            shutil.copyfile(self.empty, str(self.url.database))
        engine = create_engine(self.url)
        with engine.begin() as connection:
            new = insert(crawl_tables.crawl).values(name=name, seeds="[]", started_at=0.0)
            made = new.returning(crawl_tables.crawl.c.id)
            number = connection.execute(made).scalar_one()
            for n in range(count):
                url = f"http://{name}.example/{n}"
                item = asdict(PageItem(url, url, AT, 200, n, None, "en", f"Page {n}", f"Bees {n}.")) | more
                row = item | {"images": json.dumps(item["images"]), "key": 1_000 * number + n, "crawl_id": number}
                connection.execute(insert(page_tables.page), row)
        engine.dispose()

    def change(self, statement: Any) -> None:
        engine = create_engine(self.url)
        with engine.begin() as connection:
            connection.execute(statement)
        engine.dispose()

    def names(self) -> list[str]:
        """What is in the folder but the database."""
        return sorted(path.name for path in self.folder.iterdir() if not path.name.startswith("crawl.db"))


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode().splitlines()]


@pytest.fixture
def place(tmp_path: Path, empty_database: Path, capfdbinary: Any, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place where no crawl was ever run."""
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, make_url(f"sqlite:///{tmp_path / 'crawl.db'}"), capfdbinary, empty_database)


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, place: Place) -> Place:
    """A place with a database of each kind."""
    if request.param == "postgresql":
        place.url = request.getfixturevalue("postgresql_engine").url
    return place


def fill_differently(place: Place) -> Place:
    """Have a crawl store the pages of `PAGES`."""
    place.fill(len(PAGES))
    table = page_tables.page
    engine = create_engine(place.url)
    with engine.begin() as connection:
        for n, values in enumerate(PAGES):
            columns = {name: json.dumps(one) if isinstance(one, dict) else one for name, one in values.items()}
            connection.execute(update(table).where(table.c.depth == n).values(**columns))
    engine.dispose()
    return place


@pytest.fixture
def filled(place: Place) -> Place:
    """A crawl with these pages."""
    return fill_differently(place)


@pytest.fixture
def either_filled(either: Place) -> Place:
    """A crawl with these pages, in a database of each kind."""
    return fill_differently(either)
