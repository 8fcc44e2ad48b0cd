"""What programs may ask for: the data that the views show, as JSON."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from crawler.dashboard.context import DashboardContext
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.views import evaluate, images, labels, overview, page, pages, schedule
from crawler.translation.message import Message


class Api(NamedTuple):
    """One kind of data."""

    data: Callable[[DashboardContext, Given], Any]
    """Its annotation says what comes back."""
    parameters: tuple[Parameter, ...]
    about: str


API: dict[str, Api] = {
    path: Api(*found)
    for part in (overview, pages, page, images, labels, schedule, evaluate)
    for path, found in part.API.items()
}


def as_json(value: Any) -> bytes:
    """Data as JSON."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def plain(value: Any) -> Any:
    """Data as lists, objects and plain values.

    >>> class Bee(NamedTuple):
    ...     name: str
    >>> plain([Bee("Maja")])
    [{'name': 'Maja'}]
    """
    if isinstance(value, Message):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(getattr(value, name)) for name in value._fields}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return value
