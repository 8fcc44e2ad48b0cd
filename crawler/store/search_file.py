"""The file of the dashboard's search index, and how others tell it that texts were made anew."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy.engine import URL

NEVER = -1.0
"""When a crawl began whose entries are out of date: no crawl did, so the next pass over its pages begins anew."""


def search_file(url: URL, output: Path) -> Path:
    """The path of the index: beside the database if that is a file, or else in the folder of output."""
    folder = Path(str(url.database)).parent if url.drivername == "sqlite" else output
    return folder / "crawl-search.db"


def forget_entries(path: Path, crawl_id: int) -> None:
    """Have the texts of a crawl be indexed anew at the next search, if there is an index."""
    if path.exists():
        with closing(sqlite3.connect(path)) as file, file, suppress(sqlite3.OperationalError):  # it has no tables yet
            file.execute("UPDATE crawl SET started_at = ? WHERE id = ?", (NEVER, crawl_id))
