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
Fits = Callable[[Any], bool]
FITS: dict[type[Any], tuple[str, type[Any] | None, Fits]] = {
    Boolean: ("yes or no", None, lambda value: value in (0, 1)),
    Integer: ("a whole number", int, lambda value: isinstance(value, WHOLE)),
    Float: ("a number", None, lambda value: isinstance(value, NUMBER) and isfinite(value)),
    Text: ("a text", str, lambda value: isinstance(value, str)),
    LargeBinary: ("bytes", bytes, lambda value: isinstance(value, bytes)),
}
"""What belongs in a column of each kind, in words; the class of which everything fits, and whether others do."""


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
    where: str, wanted: str, all_fit: type[Any] | None, fits: Fits, usual: Callable[[Any], Any] | None
) -> Callable[[Any], Any]:
    """What makes of a value in the database the one that is read."""

    def looked_at(value: Any) -> Any:
        # Millions of values come by here: of most of them one comparison tells.
        if value is not None and value.__class__ is not all_fit and not fits(value):
            what = "a text" if isinstance(value, str) else "bytes" if isinstance(value, bytes) else str(value)[:40]
            raise OddError(f"there is something in {where} is {what}, not {wanted}")
        return value if usual is None else usual(value)

    return looked_at
