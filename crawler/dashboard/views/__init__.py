"""The views, a module each: its pages in `router`, its data for programs in `api`.

The functions of `api` read the database and know no HTML; the pages show what they return.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Path
from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetPydanticSchema, StringConstraints
from pydantic_core import core_schema

from crawler.outcomes import Outcome
from crawler.translation.message import Message
from crawler.translation.reasons import Reason

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE_SLOW = 2
"""Answers by functions that are `slow`, besides the others."""
MOST_LETTERS = 500
MOST_WHOLE = 2**63 - 1


def storable(text: str) -> str:
    """The text; a ValueError where no database stores it."""
    if "\0" in text:
        raise ValueError("PostgreSQL stores no null character")
    return text


Number = Annotated[int, Path(ge=0, lt=10**18)]
"""The number of a row in a path."""
Whole = Annotated[int, Field(ge=-MOST_WHOLE, le=MOST_WHOLE)]
Text = Annotated[str, StringConstraints(max_length=MOST_LETTERS), AfterValidator(storable)]


@dataclass(frozen=True, slots=True)
class OutcomeData:
    """An outcome as an object."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ReasonData:
    """A reason as an object."""

    code: str
    values: Mapping[str, Any]


def _written_as(kind: type[Any], convert: Callable[[Any], Any]) -> GetPydanticSchema:
    """How Pydantic writes what it would write as an array, as it does named tuples."""

    def schema(_: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        written = handler.generate_schema(kind)
        return core_schema.any_schema(
            serialization=core_schema.plain_serializer_function_ser_schema(convert, return_schema=written)
        )

    return GetPydanticSchema(schema)


Sentence = Annotated[Message, _written_as(str, str)]
OutcomeObject = Annotated[Outcome, _written_as(OutcomeData, lambda one: OutcomeData(*one))]
ReasonObject = Annotated[Reason, _written_as(ReasonData, lambda one: ReasonData(*one))]

_slow = CapacityLimiter(AT_ONCE_SLOW)


def slow(register: Callable[[Callable[..., Any]], object]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Register a view that may take long or wait for a crawl's lock: it gets one of a few threads of its own."""

    def decorate(view: Callable[P, T]) -> Callable[P, T]:
        @wraps(view)
        async def answer(*args: P.args, **kwargs: P.kwargs) -> T:
            return await to_thread.run_sync(partial(view, *args, **kwargs), limiter=_slow)

        register(answer)
        return view

    return decorate
