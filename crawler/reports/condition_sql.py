"""Conditions as SQL: the database leaves out the pages that do not match, so that their texts are not read.

The database compares fields, which are columns of their own. Parts of fields, such as the numbers of `quality`, are
compared afterwards, page by page (crawler/export/where_conditions.py).
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, false, func, not_, or_

from crawler.items import TYPES
from crawler.reports.condition import Comparison, Condition, Junction, Negation
from crawler.store.page_tables import page

LARGEST_INTEGER = 2**31 - 1
"""The largest value of PostgreSQL's INTEGER, the type of columns of whole numbers; beyond it, values become floats."""


def sql_of(condition: Condition, dialect: str) -> ColumnElement[bool] | None:
    """The condition in SQL, true or false for every page; None if the database cannot decide it."""
    if isinstance(condition, Comparison):
        return _comparison(condition, dialect)
    if isinstance(condition, Negation):
        part = sql_of(condition.part, dialect)
        if part is None:
            return None
        return not_(part)
    assert isinstance(condition, Junction)  # noqa: S101 - the only other kind of Condition
    parts = [sql_of(part, dialect) for part in condition.parts]
    sql_parts = [part for part in parts if part is not None]
    if len(sql_parts) < len(parts):
        return None
    if condition.is_all:
        return and_(*sql_parts)
    return or_(*sql_parts)


def divided(conditions: Sequence[Condition], dialect: str) -> tuple[ColumnElement[bool] | None, list[Condition]]:
    """Divide conditions that must all hold: returns one SQL condition for those that the database can decide, None if
    it can decide none, and the other conditions.
    """
    sql_parts = []
    others = []
    for condition in conditions:
        sql = sql_of(condition, dialect)
        if sql is None:
            others.append(condition)
        else:
            sql_parts.append(sql)
    if not sql_parts:
        return None, others
    return and_(*sql_parts), others


def _comparison(comparison: Comparison, dialect: str) -> ColumnElement[bool] | None:
    name = comparison.path[0]
    if len(comparison.path) > 1:
        return None
    column: ColumnElement[Any] = page.c[name]
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
    if dialect == "postgresql" and TYPES[name] is str:
        column = column.collate("C")  # orders by code points, as Python and SQLite do, not by the rules of a language
    # A comparison with a null column is null in SQL, and false here.
    return func.coalesce(column.op(comparison.sign, is_comparison=True)(value), false())
