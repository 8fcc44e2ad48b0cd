"""Values in the columns that store JSON, read by the database."""

from typing import Any

from sqlalchemy import ColumnElement, cast, func
from sqlalchemy.dialects.postgresql import JSON

from crawler.rights.statement import State


def json_value(column: ColumnElement[Any], dialect: str, *path: str) -> ColumnElement[Any]:
    """The value at a path: a text on PostgreSQL, a text or a number on SQLite; null where there is none."""
    if dialect == "sqlite":
        return func.json_extract(column, "$" + "".join(f'."{name}"' for name in path))
    # PostgreSQL refuses to read JSON with null characters, which statements of sites may have.
    text = func.replace(column, r"\u0000", r"\u0020")
    value: ColumnElement[Any] = cast(text, JSON)[path].astext
    return value


def right(column: ColumnElement[Any], dialect: str, use: str) -> ColumnElement[str]:
    """What a page may be used for, by its column `rights`; unknown where nothing was read."""
    return func.coalesce(json_value(column, dialect, "uses", use), State.UNKNOWN.value)
