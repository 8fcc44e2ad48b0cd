"""Writes the database of this release that the tests keep: `python tests/bench/kept_database.py`.

It is that of a crawl of the demo which has not ended, and of a job. tests/store/test_kept_databases.py opens it with
each later release.
"""

import lzma
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import fork_server  # noqa: E402 - found by the path that is set first
import kept_crawl  # noqa: E402

import crawler  # noqa: E402


def main() -> None:
    path = kept_crawl.FOLDER / f"{crawler.__version__}.db.xz"
    with TemporaryDirectory() as name:
        folder = Path(name)
        job = ["scrapy", "schedule", "add", kept_crawl.JOB, "@daily", "topic", "-a", f"seeds={kept_crawl.SEED}"]
        added = fork_server.run(job, folder, fork_server.environment(), timeout=60)
        crawled = kept_crawl.crawl_kept(folder, max_pages=kept_crawl.PAGES)
        if added.returncode or crawled.status:
            sys.exit(added.stderr + crawled.err)
        database = folder / "output" / "crawl.db"
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("VACUUM")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lzma.compress(database.read_bytes(), preset=9))
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
