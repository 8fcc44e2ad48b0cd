"""Conditions as SQL, so that the database leaves out pages whose texts are then not read.

The database decides about fields that are columns of their own. Numbers of `quality` and other parts of fields are
compared afterwards, page by page.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, false, func, not_, or_

from crawler.items import TYPES
from crawler.reports.condition import Comparison, Condition, Junction, Negation
from crawler.store.page_tables import page

LARGEST_INTEGER = 2**31 - 1
"""The largest value of PostgreSQL's INTEGER, the type of columns of whole numbers."""


def sql_of(condition: Condition, dialect: str) -> ColumnElement[bool] | None:
    """The condition in SQL, true or false for every page; None if the database cannot decide it."""
    if isinstance(condition, Comparison):
        return _comparison(condition, dialect)
    if isinstance(condition, Negation):
        part = sql_of(condition.part, dialect)
        return None if part is None else not_(part)
    assert isinstance(condition, Junction)  # noqa: S101 - there is no other
    parts = [sql_of(part, dialect) for part in condition.parts]
    sql_parts = [part for part in parts if part is not None]
    if len(sql_parts) < len(parts):
        return None
    if condition.is_all:
        return and_(*sql_parts)
    return or_(*sql_parts)


def divided(conditions: Sequence[Condition], dialect: str) -> tuple[ColumnElement[bool] | None, list[Condition]]:
    """What the database decides of conditions that must all hold, and the others."""
    sql_of_conditions = [(condition, sql_of(condition, dialect)) for condition in conditions]
    sql_parts = [sql for _, sql in sql_of_conditions if sql is not None]
    return and_(*sql_parts) if sql_parts else None, [condition for condition, sql in sql_of_conditions if sql is None]


def _comparison(comparison: Comparison, dialect: str) -> ColumnElement[bool] | None:
    name = comparison.path[0]
    if len(comparison.path) > 1:
        return None
    column = page.c[name]
    value = comparison.value
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        value = float(value)  # exact, as whole numbers of conditions are at most 2**53
    if value is None:
        if comparison.sign == "==":
            return column.is_(None)
        return column.is_not(None)
    if comparison.sign == "==":
        return column.is_not_distinct_from(value)
    if comparison.sign == "!=":
        return column.is_distinct_from(value)
    # Texts are ordered by their characters' numbers, as in Python and SQLite, not by the rules of a country.
    ordered = column.collate("C") if dialect == "postgresql" and TYPES[name] is str else column
    return func.coalesce(ordered.op(comparison.sign, is_comparison=True)(value), false())
