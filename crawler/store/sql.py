"""What all SQL of the store shares: chunks of parameters, upserts, storable values, the database's clock."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Connection, Engine, Integer, MetaData, func, select
from sqlalchemy.dialects import postgresql, sqlite

tables = MetaData()
Serial = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows itself only in INTEGER columns

NAMED_AT_ONCE = 5_000  # parameters of a statement; databases have a limit
T = TypeVar("T")


def dialect_insert(engine: Engine) -> Callable[..., Any]:
    """The INSERT of the database's dialect, which has ON CONFLICT."""
    return sqlite.insert if engine.dialect.name == "sqlite" else postgresql.insert


def in_chunks(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """Slices of a sequence that are short enough for the parameters of one statement."""
    return (things[start : start + NAMED_AT_ONCE] for start in range(0, len(things), NAMED_AT_ONCE))


def database_time(connection: Connection) -> float:
    """The time by the database's clock, which is the same for all workers."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())


def storable(text: str) -> str:
    """A text without the characters that PostgreSQL refuses."""
    text = text.replace("\x00", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def column_value(value: Any) -> Any:
    """A value as its column stores it: a list as JSON, a text without characters that PostgreSQL refuses."""
    if value is None or isinstance(value, int | float | bytes):
        return value
    return storable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
