"""The database of the state: SQLite in a file, or PostgreSQL; made, brought up to date, and asked with patience."""

import re
import time
from errno import EAGAIN, EDQUOT, EINTR, EIO, ENOSPC
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, func, insert, inspect, select, text, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError, SQLAlchemyError

from crawler.state import dashboard_tables, job_tables  # noqa: F401 - their tables are made with the others
from crawler.state.schema import VERSION, tables, version
from crawler.wording import MessageError

DRIVERS = ("sqlite", "postgresql+psycopg")
LOCK_SECONDS = 5.0  # that a statement waits for another program's lock, before it is tried again
ENCODING = {"client_encoding": "utf8"}
STATEMENT_SECONDS = 60  # that PostgreSQL may take for a statement, or wait for the next one of a transaction
CACHE_KILOBYTES = 64_000  # of SQLite: the seen set's index is looked into at random

# Steps from one version of the tables to the next, as statements: MIGRATIONS[0] makes version 2 of version 1. {serial}
# stands for what numbers rows by itself, {number} for the number of such a row, {bytes} for bytes, {keyed} for a table
# that is nothing but its key.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE template (
            id {serial} NOT NULL, key BIGINT NOT NULL, crawl_id {number} NOT NULL, host TEXT NOT NULL,
            tag TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (id), UNIQUE (key), FOREIGN KEY (crawl_id) REFERENCES crawl (id)
        )""",
        "CREATE INDEX template_host ON template (crawl_id, host, id)",
        "ALTER TABLE output ADD COLUMN pages_end BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE output ADD COLUMN images_end BIGINT NOT NULL DEFAULT 0",
        # Pages that were set aside when a crawl had all it might have wait on, as they do now.
        "UPDATE address SET state = 0 WHERE state = 3",
        """
        UPDATE host SET best = (SELECT max(priority) FROM address WHERE host_id = host.id AND state = 0)
        WHERE best IS NULL""",
        "DROP INDEX address_left",
    ),
    (
        "ALTER TABLE page ADD COLUMN comments TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE page ADD COLUMN author TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE page ADD COLUMN page_type TEXT NOT NULL DEFAULT ''",
    ),
    (
        "ALTER TABLE address ADD COLUMN shown_on BIGINT",
        "ALTER TABLE address ADD COLUMN sight TEXT",
        "CREATE INDEX address_recorded ON address (shown_on) WHERE state = 3",
        "CREATE INDEX host_site ON host (site_id)",
        """
        CREATE TABLE evidence (
            id {serial} NOT NULL, crawl_id {number} NOT NULL, site_id BIGINT NOT NULL, counts TEXT NOT NULL,
            PRIMARY KEY (id), FOREIGN KEY (crawl_id) REFERENCES crawl (id)
        )""",
        "CREATE INDEX evidence_site ON evidence (site_id, id)",
        """
        CREATE TABLE verdict (
            id {serial} NOT NULL, key BIGINT NOT NULL, crawl_id {number} NOT NULL, site_id BIGINT NOT NULL,
            kind TEXT NOT NULL, url TEXT NOT NULL, target TEXT NOT NULL, page TEXT NOT NULL, noise BOOLEAN NOT NULL,
            probability FLOAT NOT NULL, keyword FLOAT, redundancy FLOAT, entropy FLOAT, reasons TEXT NOT NULL,
            decided_by TEXT NOT NULL, audited BOOLEAN NOT NULL, mistaken BOOLEAN, bytes BIGINT,
            bytes_are_measured BOOLEAN NOT NULL, decided_at TEXT NOT NULL,
            PRIMARY KEY (id), UNIQUE (key), FOREIGN KEY (crawl_id) REFERENCES crawl (id)
        )""",
        "CREATE INDEX verdict_site ON verdict (crawl_id, site_id)",
    ),
    (
        "ALTER TABLE address ADD COLUMN via TEXT",
        "ALTER TABLE page ADD COLUMN link_score FLOAT",
        "ALTER TABLE page ADD COLUMN via TEXT",
        """
        CREATE TABLE focus (
            crawl_id {number} NOT NULL, number INTEGER NOT NULL, saved FLOAT NOT NULL, summary TEXT NOT NULL,
            learned TEXT NOT NULL,
            PRIMARY KEY (crawl_id, number), FOREIGN KEY (crawl_id) REFERENCES crawl (id)
        )""",
    ),
    (
        """
        CREATE TABLE job (
            id {serial} NOT NULL, name TEXT NOT NULL, cron TEXT NOT NULL, timezone TEXT NOT NULL, spider TEXT NOT NULL,
            arguments TEXT NOT NULL, settings TEXT NOT NULL, crawl TEXT NOT NULL, paused BOOLEAN NOT NULL,
            created_at FLOAT NOT NULL, next_at FLOAT, runs INTEGER NOT NULL,
            PRIMARY KEY (id), UNIQUE (name), UNIQUE (crawl)
        )""",
        """
        CREATE TABLE run (
            id {serial} NOT NULL, job_id {number} NOT NULL, number INTEGER NOT NULL, how TEXT NOT NULL, due FLOAT,
            missed INTEGER NOT NULL, passed INTEGER NOT NULL, status TEXT NOT NULL, exit INTEGER,
            started_at FLOAT NOT NULL, beat FLOAT NOT NULL, ended_at FLOAT, place TEXT NOT NULL, host TEXT NOT NULL,
            pid BIGINT, pages BIGINT,
            PRIMARY KEY (id), UNIQUE (job_id, number), FOREIGN KEY (job_id) REFERENCES job (id)
        )""",
        "CREATE UNIQUE INDEX run_under_way ON run (job_id) WHERE ended_at IS NULL",
    ),
    (
        "ALTER TABLE crawl ADD COLUMN round INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE crawl ADD COLUMN round_started FLOAT",
        "UPDATE crawl SET round_started = started_at",
        "ALTER TABLE crawl ADD COLUMN first_round INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE address ADD COLUMN lastmod FLOAT",
        "ALTER TABLE page ADD COLUMN round INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE page ADD COLUMN first_round INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE page ADD COLUMN first_at TEXT NOT NULL DEFAULT ''",
        "UPDATE page SET first_at = fetched_at",
        "ALTER TABLE page ADD COLUMN changed_round INTEGER",
        "ALTER TABLE page ADD COLUMN changed_at TEXT",
        "ALTER TABLE page ADD COLUMN gone_round INTEGER",
        "ALTER TABLE page ADD COLUMN gone_at TEXT",
        "ALTER TABLE page ADD COLUMN gone_count SMALLINT NOT NULL DEFAULT 0",
        "ALTER TABLE page ADD COLUMN not_modified_round INTEGER",
        "ALTER TABLE page ADD COLUMN checked_at FLOAT",
        "ALTER TABLE page ADD COLUMN due_at FLOAT NOT NULL DEFAULT 0",
        "ALTER TABLE page ADD COLUMN interval FLOAT",
        "ALTER TABLE page ADD COLUMN checks INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE page ADD COLUMN changes INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE page ADD COLUMN source_fingerprint TEXT",
        "ALTER TABLE page ADD COLUMN extractor_version TEXT",
        "ALTER TABLE page ADD COLUMN signature {bytes}",
        "ALTER TABLE page ADD COLUMN change_distance FLOAT",
        "ALTER TABLE page ADD COLUMN duplicate_of TEXT",
        "ALTER TABLE page ADD COLUMN new_links INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE page ADD COLUMN lastmod FLOAT",
        "CREATE INDEX page_due ON page (crawl_id, due_at)",
        "CREATE INDEX page_round ON page (crawl_id, round, first_round, changed_round, not_modified_round)",
        "CREATE INDEX page_first ON page (crawl_id, first_at)",
        "CREATE INDEX page_changed ON page (crawl_id, changed_at) WHERE changed_at IS NOT NULL",
        "CREATE INDEX page_gone ON page (crawl_id, gone_at, gone_round) WHERE gone_at IS NOT NULL",
        """
        CREATE TABLE version (
            id {serial} NOT NULL, key BIGINT NOT NULL, crawl_id {number} NOT NULL, fetched_at TEXT NOT NULL,
            title TEXT NOT NULL, text TEXT NOT NULL, text_fingerprint TEXT,
            PRIMARY KEY (id), FOREIGN KEY (crawl_id) REFERENCES crawl (id)
        )""",
        "CREATE INDEX version_page ON version (key, id)",
        "CREATE INDEX version_age ON version (crawl_id, fetched_at)",
        """
        CREATE TABLE likeness (
            crawl_id {number} NOT NULL, band BIGINT NOT NULL, key BIGINT NOT NULL,
            PRIMARY KEY (crawl_id, band, key), FOREIGN KEY (crawl_id) REFERENCES crawl (id)
        ){keyed}""",
        "ALTER TABLE run ADD COLUMN new BIGINT",
        "ALTER TABLE run ADD COLUMN changed BIGINT",
        "ALTER TABLE run ADD COLUMN gone BIGINT",
    ),
    (
        "ALTER TABLE page ADD COLUMN markdown TEXT",
        """
        CREATE TABLE raw (
            key BIGINT NOT NULL, crawl_id {number} NOT NULL, fetched_at TEXT NOT NULL, status_line TEXT NOT NULL,
            headers TEXT NOT NULL, body {bytes} NOT NULL,
            PRIMARY KEY (key), FOREIGN KEY (crawl_id) REFERENCES crawl (id)
        )""",
        "CREATE INDEX raw_age ON raw (crawl_id, fetched_at)",
    ),
    (
        "ALTER TABLE host ADD COLUMN latency FLOAT",
        "ALTER TABLE host ADD COLUMN delay FLOAT",
        "CREATE INDEX address_parent ON address (parent) WHERE parent IS NOT NULL",
        "ALTER TABLE page ADD COLUMN site_id BIGINT",
        "ALTER TABLE page ADD COLUMN certainty FLOAT",
        """
        UPDATE page SET site_id = (
            SELECT host.site_id FROM address JOIN host ON host.id = address.host_id WHERE address.key = page.key
        )""",
        "CREATE INDEX site_pages ON site (crawl_id, pages, id)",
        """
        CREATE INDEX page_list ON page (
            crawl_id, id, relevance, language, page_type, round, first_round, changed_round, gone_round
        )""",
        "CREATE INDEX page_relevance ON page (crawl_id, relevance, id)",
        "CREATE INDEX page_certainty ON page (crawl_id, certainty, id)",
        "CREATE INDEX page_site ON page (crawl_id, site_id, id)",
        "ALTER TABLE verdict ADD COLUMN sight TEXT",
        "ALTER TABLE verdict ADD COLUMN file TEXT",
        "CREATE INDEX verdict_wall ON verdict (crawl_id, noise, kind, id)",
        "CREATE INDEX verdict_doubt ON verdict (crawl_id, kind, noise, probability, id)",
        "DROP INDEX verdict_site",
        "CREATE INDEX verdict_site ON verdict (crawl_id, site_id, noise, kind, id)",
        "CREATE INDEX verdict_audit ON verdict (crawl_id, kind, id, mistaken) WHERE audited",
        """
        CREATE TABLE sample (
            crawl_id {number} NOT NULL, at FLOAT NOT NULL, number INTEGER NOT NULL, seconds FLOAT NOT NULL,
            pages INTEGER NOT NULL, read INTEGER NOT NULL, on_topic INTEGER NOT NULL, requests INTEGER NOT NULL,
            failed INTEGER NOT NULL, bytes BIGINT NOT NULL, statuses TEXT NOT NULL, pictures INTEGER NOT NULL,
            picture_bytes BIGINT NOT NULL, skipped INTEGER NOT NULL, waiting BIGINT NOT NULL,
            PRIMARY KEY (crawl_id, at, number), FOREIGN KEY (crawl_id) REFERENCES crawl (id)
        )""",
        """
        CREATE TABLE label (
            id {serial} NOT NULL, key BIGINT NOT NULL, crawl TEXT NOT NULL, kind TEXT NOT NULL, url TEXT NOT NULL,
            page TEXT NOT NULL, value TEXT NOT NULL, detail TEXT NOT NULL, source {bytes}, said_at FLOAT NOT NULL,
            PRIMARY KEY (id), UNIQUE (key)
        )""",
        "CREATE INDEX label_crawl ON label (crawl, kind, id)",
    ),
)
TYPES = {
    "sqlite": {"serial": "INTEGER", "number": "INTEGER", "bytes": "BLOB", "keyed": " WITHOUT ROWID"},
    "postgresql": {"serial": "BIGSERIAL", "number": "BIGINT", "bytes": "BYTEA", "keyed": ""},
}


# What may go right later: in SQLite a lock, a full disk, a disk that fails; in PostgreSQL a lost connection, a conflict
# with other transactions, a lack of room, a lock, an operator who steps in, a disk that fails.
SQLITE_PASSES = frozenset((5, 6, 7, 8, 10, 13, 14, 15))
POSTGRESQL_PASSES = ("08", "25P03", "40", "53", "55", "57", "58")
# Why a server that is there lets nobody in, which it tells in words alone.
LOCKED_OUT = re.compile(r"password|authentication|does not exist|pg_hba|resolve|translate host|permission|certificate")


class StateError(MessageError):
    """A state that cannot be used."""


class AwayError(StateError):
    """A state that cannot be used now, and may be later."""


def database_url(setting: str, folder: Path) -> URL:
    """The address of the database: as the setting says, or that of a file in the folder for output."""
    if not setting:
        return URL.create("sqlite", database=str(folder / "crawl.db"))
    try:
        url = make_url(setting)
        in_file = not url.query and url.database not in (None, "", ":memory:")
        known = url.drivername in DRIVERS and (url.drivername != "sqlite" or in_file)
        known = known and "@" not in f"{url.host}{url.database}"
    except (ArgumentError, ValueError):
        known = False
    if not known:
        raise StateError(
            "setting STATE_URL is wrong; allowed are sqlite:///FILE and postgresql+psycopg://USER:PASSWORD@HOST/DATABASE"
            " (in a password, @ : / ? # % are written as %40 %3A %2F %3F %23 %25)"
        )
    return url


def shown(url: URL) -> str:
    """The address of a database for people to read, without its password."""
    if url.drivername == "sqlite":
        return str(url.database)
    return url.difference_update_query(["password", "sslpassword"]).render_as_string(hide_password=True)


def open_database(url: URL) -> Engine:
    """The database, with tables as this release knows them; a StateError when that cannot be."""
    try:
        if url.drivername == "sqlite":
            Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
        engine = _engine(url)
        try:
            with engine.begin() as connection:
                _upgrade(connection, shown(url))
        except BaseException:
            engine.dispose()
            raise
    except (NoSuchModuleError, ModuleNotFoundError):
        raise StateError("PostgreSQL must be installed for: python -m pip install '.[postgres]'") from None
    except (SQLAlchemyError, OSError) as error:
        kind = AwayError if passes(error) and not LOCKED_OUT.search(why(error)) else StateError
        raise kind(
            f"the database {shown(url)} cannot be opened: {getattr(error, 'strerror', None) or why(error)}"
        ) from None
    return engine


def why(error: Exception) -> str:
    """What the database says is wrong, in one line without the statement.

    >>> why(ValueError("gone\\n  away"))
    'gone away'
    """
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename} cannot be written to: {error.strerror}"
    return " ".join(str(getattr(error, "orig", None) or error).split())[:300]


def passes(error: Exception) -> bool:
    """Whether what went wrong may go right later: a lock, a full disk, a server that is away."""
    if isinstance(error, OSError):
        return error.errno in (ENOSPC, EDQUOT, EIO, EAGAIN, EINTR)
    if not isinstance(error, DBAPIError):
        return False
    number, state = (getattr(error.orig, name, None) for name in ("sqlite_errorcode", "sqlstate"))
    if number is not None:
        return number & 0xFF in SQLITE_PASSES
    if state is not None:
        return error.connection_invalidated or state.startswith(POSTGRESQL_PASSES)
    return error.connection_invalidated or isinstance(error, OperationalError)


def time_of(connection: Connection) -> float:
    """The time by the database's clock, which is the same for all workers."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())


def _engine(url: URL) -> Engine:
    if url.drivername == "sqlite":
        engine = create_engine(url, connect_args={"timeout": LOCK_SECONDS, "check_same_thread": False})
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    limit = 1000 * STATEMENT_SECONDS
    options = f"-c jit=off -c statement_timeout={limit} -c idle_in_transaction_session_timeout={limit}"
    given = url.query.get("options", "")
    options = f"{options} {given if isinstance(given, str) else ' '.join(given)}".strip()
    keepalive = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}
    arguments = {"connect_timeout": 10, "application_name": "winnow", "options": options, **keepalive, **ENCODING}
    return create_engine(url, pool_size=1, max_overflow=2, connect_args=arguments)


def _set_up_sqlite(connection, record) -> None:  # type: ignore[no-untyped-def]
    connection.isolation_level = None  # transactions begin as _begin_sqlite says
    for pragma in ("journal_mode = WAL", "synchronous = FULL", f"cache_size = -{CACHE_KILOBYTES}", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later could find that another wrote in between.
    reading = connection.get_execution_options().get("reading")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _upgrade(connection: Connection, name: str) -> None:
    """Make the tables, or bring those of an older release up to date."""
    if connection.dialect.name == "postgresql":
        encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
        if encoding != "UTF8":
            raise StateError(f"the database {name} is in {encoding}; it wants createdb -E UTF8 -T template0")
        connection.execute(text("SELECT pg_advisory_xact_lock(8460)"))  # two workers may start at once
    if not inspect(connection).has_table(version.name):
        tables.create_all(connection)
        connection.execute(insert(version).values(version=VERSION))
        return
    found = connection.execute(select(version.c.version)).scalar() or 0
    if not found:
        raise StateError("the database {path} does not say which release made it", path=name)
    if found > VERSION:
        raise StateError(f"the database {name} was made by a newer release (its tables are version {found})")
    if found < VERSION and connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))  # millions of rows take their time
    for statements in MIGRATIONS[found - 1 :]:
        for statement in statements:
            connection.execute(text(statement.format(**TYPES[connection.dialect.name])))
    if found < VERSION:
        connection.execute(update(version).values(version=VERSION))
