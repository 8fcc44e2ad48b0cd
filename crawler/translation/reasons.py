"""The reasons of a model for its verdict: codes with values for programs, sentences for people.

Features are explained in groups. A group is a reason for a verdict if the verdict would be less certain without the
group; the strongest groups come first. Each group has codes. The reason gets the group's first code whose condition is
true of the judged object; if there is none, the group is passed over.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import expm1
from string import Formatter
from typing import Any, Self

from crawler.translation.message import Message

LEAST_CHANGE = 0.25
"""A group of features is a reason if the logit would change by more than this without the group."""
MOST_REASONS = 3  # of one verdict


@dataclass(frozen=True)
class Judged:
    """An object that a model judged, with the verdict."""

    feature: Callable[[str], float]
    """Returns the value of a feature, by its name."""
    verdict: bool

    def number(self, feature: str) -> int:
        """The count n of a feature whose value is log(1 + n)."""
        return round(expm1(self.feature(feature)))


def has(feature: str, over: float = 0.0) -> Callable[[Judged], bool]:
    """The condition that a feature is above `over`."""
    return lambda judged: judged.feature(feature) > over


class ReasonCode(StrEnum):
    """The code of a reason, with its sentence and its condition."""

    sentence: str
    """The sentence, with placeholders for values."""
    placeholders: tuple[str, ...]
    """The names of the placeholders, which are attributes of the judged object."""
    is_true: Callable[[Any], object]
    """The condition that the judged object must meet; without one, every object meets it."""

    def __new__(cls, code: str, sentence: str = "", is_true: Callable[[Any], object] = lambda judged: True) -> Self:
        self = str.__new__(cls, code)
        self._value_ = code
        self.sentence = sentence
        self.is_true = is_true
        self.placeholders = tuple(name for _, name, _, _ in Formatter().parse(sentence) if name)
        return self

    def reason(self, judged: Judged) -> "Reason":
        """The reason, with values of the judged object."""
        return Reason(self, {name: getattr(judged, name) for name in self.placeholders})


Groups = Mapping[str, tuple[tuple[ReasonCode, ...], tuple[ReasonCode, ...]]]
"""For each group of features, the codes for a verdict of False, and those for True."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason of a verdict."""

    code: ReasonCode
    values: Mapping[str, Any]
    """JSON-compatible values."""

    @property
    def message(self) -> Message:
        """Its sentence for people."""
        return Message(self.code.sentence, self.values)


def records(reasons: Iterable[Reason]) -> list[dict[str, Any]]:
    """The reasons in the form stored as JSON."""
    return [{"code": reason.code.value, "values": reason.values} for reason in reasons]


def weightiest(groups: Groups, changes: Mapping[str, float], judged: Judged) -> tuple[Reason, ...]:
    """The reasons of a verdict, the strongest first. `changes` says for each group how much less the logit would be
    without the group.
    """
    sign = 1 if judged.verdict else -1  # a verdict of False is supported by groups that lower the logit
    supporting = [(sign * change, group) for group, change in changes.items() if sign * change > LEAST_CHANGE]
    reasons: list[Reason] = []
    for _, group in sorted(supporting, reverse=True):
        codes_if_false, codes_if_true = groups[group]
        codes = codes_if_true if judged.verdict else codes_if_false
        for code in codes:
            if code.is_true(judged):
                reasons.append(code.reason(judged))
                break
        if len(reasons) == MOST_REASONS:
            break
    return tuple(reasons)
