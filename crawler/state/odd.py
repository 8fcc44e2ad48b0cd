"""Values that no crawl writes: a text where a number belongs, as in a database that was damaged, or made to deceive.

SQLite keeps in any column what it is given, and both databases have numbers without end. What is read is looked at as
it comes, by the kind that its column has here; so whoever reads it may count on what the tables say.
"""

from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any

from sqlalchemy import Boolean, Engine, Float, Integer, LargeBinary, Text

from crawler.state.database import StateError

WHOLE = (int, Decimal)  # sums in PostgreSQL are decimals
NUMBER = (*WHOLE, float)
FITS: dict[type[Any], tuple[str, Callable[[Any], bool]]] = {
    Boolean: ("yes or no", lambda value: value in (0, 1)),
    Integer: ("a whole number", lambda value: isinstance(value, WHOLE)),
    Float: ("a number", lambda value: isinstance(value, NUMBER) and isfinite(value)),
    Text: ("a text", lambda value: isinstance(value, str)),
    LargeBinary: ("bytes", lambda value: isinstance(value, bytes)),
}
"""What belongs in a column of each kind, in words, and whether it is that."""


class OddError(StateError):
    """What stands in a database and no crawl writes; the message names its column."""


def checked(engine: Engine, name: str) -> Engine:
    """The same, but what is read of this database and does not fit its column is an OddError."""
    usual: Any = engine.dialect.execution_ctx_cls

    class Checked(usual):  # type: ignore[misc]
        def get_result_processor(self, type_: Any, colname: str, coltype: Any) -> Any:
            found = super().get_result_processor(type_, colname, coltype)
            fits = next((one for kind, one in FITS.items() if isinstance(type_, kind)), None)
            return found if fits is None else _looking(f"{name} that no crawl writes: {colname}", *fits, found)

    engine.dialect.execution_ctx_cls = Checked
    return engine


def _looking(
    where: str, wanted: str, fits: Callable[[Any], bool], usual: Callable[[Any], Any] | None
) -> Callable[[Any], Any]:
    """What makes of a value in the database the one that is read."""

    def looked_at(value: Any) -> Any:
        if value is not None and not fits(value):
            what = "a text" if isinstance(value, str) else "bytes" if isinstance(value, bytes) else str(value)[:40]
            raise OddError(f"there is something in {where} is {what}, not {wanted}")
        return value if usual is None else usual(value)

    return looked_at
