"""SQL expressions that databases write differently: values in stored JSON, and the size of texts."""

from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, cast, func
from sqlalchemy.dialects.postgresql import JSON

from crawler.rights.statement import State


def json_value(column: ColumnElement[Any], dialect: str, *path: str) -> ColumnElement[Any]:
    """The value at a path: a text on PostgreSQL, a text or a number on SQLite; null if there is none."""
    if dialect == "sqlite":
        return func.json_extract(column, "$" + "".join(f'."{name}"' for name in path))
    # PostgreSQL refuses to read JSON with null characters, which sites may write in their statements of rights.
    text = func.replace(column, r"\u0000", r"\u0020")
    value: ColumnElement[Any] = cast(text, JSON)[path].astext
    return value


def right(column: ColumnElement[Any], dialect: str, use: str) -> ColumnElement[str]:
    """What a page's column `rights` says about a use, e.g. `allowed`; `unknown` if it says nothing."""
    return func.coalesce(json_value(column, dialect, "uses", use), State.UNKNOWN.value)


def text_bytes(column: ColumnElement[Any], dialect: str) -> ColumnElement[int]:
    """The size of a text in UTF-8."""
    if dialect == "sqlite":  # octet_length exists since SQLite 3.43
        return func.length(cast(column, LargeBinary))
    return func.octet_length(column)
