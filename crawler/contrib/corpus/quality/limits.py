"""A limit of a published rule: a number of a text, and the least or the most that it may be."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """What a number must be.

    >>> str(Limit("words", ">=", 50)), Limit("words", ">=", 50).admits(50), Limit("words", ">=", 50).admits(49)
    ('words >= 50', True, False)
    """

    name: str
    sign: str
    """>= for the least, <= for the most."""
    bound: float

    def admits(self, value: float) -> bool:
        if self.sign == ">=":
            return value >= self.bound
        return value <= self.bound

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.bound:g}"


def least(**bounds: float) -> tuple[Limit, ...]:
    return tuple(Limit(name=name, sign=">=", bound=bound) for name, bound in bounds.items())


def most(**bounds: float) -> tuple[Limit, ...]:
    return tuple(Limit(name=name, sign="<=", bound=bound) for name, bound in bounds.items())


def broken(limits: tuple[Limit, ...], numbers: Mapping[str, float | None]) -> Limit | None:
    """The first limit that the numbers of a text break, if any; a number that is unknown counts as 0."""
    return next((limit for limit in limits if not limit.admits(numbers.get(limit.name) or 0)), None)
