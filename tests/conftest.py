"""What the tests of several modules share."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator

# Read when numpy is imported: on small matrices threads take ten times as long, on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

# Who wants no compiled files among the sources has them here: else each of the many processes compiles all it imports.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    compiled = Path(__file__).resolve().parents[1] / ".pytest_cache" / "compiled"
    sys.pycache_prefix = os.environ.setdefault("PYTHONPYCACHEPREFIX", str(compiled))
    sys.dont_write_bytecode = False

import missing
import postgres
import pytest
import quick_collection
import slowest_modules
import statement_cache
from sqlalchemy import Engine, delete
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import OperationalError

from crawler.store import database
from crawler.store.crawl_tables import tables, version
from crawler.store.database import open_database

pytest.register_assert_rewrite("store_workers")

from store_workers import Crew  # noqa: E402 - its assertions are to say what is wrong

statement_cache.share()


def pytest_configure(config: pytest.Config) -> None:
    """Skip what is missing, in doctests too, and let processes of the tests get Ctrl-C where this one does not.

    What is ignored stays ignored in a new process, as in `nohup pytest &` and on many build servers; what is handled
    here does not.
    """
    config.pluginmanager.register(missing)
    config.pluginmanager.register(slowest_modules)
    config.pluginmanager.register(quick_collection)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda number, frame: None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A PostgreSQL server, started by the first test that wants one."""
    missing.skip(postgres.missing())
    with postgres.running() as server:
        yield server


@pytest.fixture
def sqlite_url(tmp_path: Path) -> URL:
    """A SQLite database that is not there yet."""
    return URL.create("sqlite", database=str(tmp_path / "crawl.db"))


@pytest.fixture
def postgresql_url(postgres_server: postgres.Server) -> URL:
    """A PostgreSQL database in which there is nothing."""
    return make_url(postgres_server.database())


@pytest.fixture(scope="session")
def reused_database(postgres_server: postgres.Server) -> str:
    """A PostgreSQL database for test after test: each new one costs its time."""
    return postgres_server.database()


@pytest.fixture
def emptied_database(reused_database: str) -> str:
    """That database with nothing in it."""
    with postgres.connect(reused_database) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return reused_database


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> URL:
    """A new database of each kind; a server is wanted by the tests of PostgreSQL alone."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture(scope="session")
def postgresql_tables(postgres_server: postgres.Server) -> Iterator[Engine]:
    """A PostgreSQL database with the tables of the state, for test after test: each new one costs a second at last."""
    url = postgres_server.database()
    with postgres.connect(url) as connection:  # what the tests ask looks costly to PostgreSQL
        connection.execute(f"ALTER DATABASE {make_url(url).database} SET jit = off")
    engine = open_database(make_url(url))
    yield engine
    engine.dispose()


@pytest.fixture
def postgresql_engine(postgresql_tables: Engine) -> Engine:
    """A PostgreSQL database whose tables are empty."""
    try:
        _empty(postgresql_tables)
    except OperationalError:  # a test of something else has ended the server, and with it what was open
        _empty(postgresql_tables)
    return postgresql_tables


def _empty(engine: Engine) -> None:
    with engine.begin() as connection:
        for table in reversed(tables.sorted_tables):
            if table is not version:
                connection.execute(delete(table))


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite database whose tables are empty, to copy: to make the tables takes eight times as long."""
    path = tmp_path_factory.mktemp("empty") / "crawl.db"
    open_database(URL.create("sqlite", database=str(path))).dispose()
    return path


@pytest.fixture
def sqlite_engine(sqlite_url: URL, empty_database: Path) -> Iterator[Engine]:
    """A SQLite database whose tables are empty."""
    shutil.copyfile(empty_database, str(sqlite_url.database))
    engine = open_database(sqlite_url)
    yield engine
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """An open database of each kind with empty tables, beside the workers' own connections."""
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.fixture
def crew(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """Workers in one database, who try again at once what failed."""
    monkeypatch.setattr(database, "WAIT_SECONDS", (0.0,))
    crew = Crew(engine, tmp_path)
    yield crew
    crew.close()
