"""The limits of published rules: each is the least or the greatest allowed value of a number."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """The least or the greatest allowed value of a number.

    >>> str(Limit("words", ">=", 50)), Limit("words", ">=", 50).admits(50), Limit("words", ">=", 50).admits(49)
    ('words >= 50', True, False)
    """

    name: str
    sign: str
    """>= for the least, <= for the greatest value."""
    bound: float

    def admits(self, value: float) -> bool:
        if self.sign == ">=":
            return value >= self.bound
        return value <= self.bound

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.bound:g}"


def at_least(**bounds: float) -> tuple[Limit, ...]:
    """The limits with these least values, by the names of the numbers."""
    return tuple(Limit(name=name, sign=">=", bound=bound) for name, bound in bounds.items())


def at_most(**bounds: float) -> tuple[Limit, ...]:
    """The limits with these greatest values, by the names of the numbers."""
    return tuple(Limit(name=name, sign="<=", bound=bound) for name, bound in bounds.items())


def first_broken(limits: tuple[Limit, ...], numbers: Mapping[str, float | None]) -> Limit | None:
    """The first limit that the numbers of a text break, if any; an unknown number counts as 0."""
    return next((limit for limit in limits if not limit.admits(numbers.get(limit.name) or 0)), None)
