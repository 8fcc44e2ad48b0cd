"""Statements that are put together once for all tests: each opens databases of its own, and would do so again."""

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, Engine, event

MOST = 5_000


class Compiled(dict[tuple[Any, ...], Any]):
    """How the statements of one kind of database are written, whichever of its databases they are for."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Any, ...], statement: Any) -> None:
        if len(self) >= MOST:
            self.clear()
        super().__setitem__(key[1:], statement)


_of = defaultdict[str, Compiled](Compiled)


def share() -> None:
    """Whatever connects from now on shares them."""
    event.listen(Engine, "engine_connect", _connect)


def _connect(connection: Connection) -> None:
    # How values are read is kept with a statement, and an engine that checks them reads them in its own way.
    if "execution_ctx_cls" not in vars(connection.dialect):
        connection.execution_options(compiled_cache=_of[connection.dialect.name])
