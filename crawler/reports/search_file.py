"""The file of the dashboard's search index, and how to mark its entries as outdated."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy.engine import URL

NEVER = -1.0
"""A start time that no crawl has. It marks a crawl's entries as outdated: the next update indexes all its pages."""


def search_file(url: URL, output: Path) -> Path:
    """The path of the index: beside the database if this is a file, otherwise in the output folder."""
    folder = Path(str(url.database)).parent if url.drivername == "sqlite" else output
    return folder / "crawl-search.db"


def forget_entries(path: Path, crawl_id: int) -> None:
    """Have the texts of a crawl indexed again at the next search, if there is an index."""
    if path.exists():
        # As a context manager of its own, `index` commits the change. The error means that it has no tables yet.
        with closing(sqlite3.connect(path)) as index, index, suppress(sqlite3.OperationalError):
            index.execute("UPDATE crawl SET started_at = ? WHERE id = ?", (NEVER, crawl_id))
