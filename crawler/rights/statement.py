"""Statements about the use of a page, and the rights that follow from all of them together."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

MAX_SAYS = 500
"""Characters of a statement that are kept."""
MAX_WHERE = 400
"""Characters of `RightsEvidence.where` that are kept."""
MAX_EVIDENCE = 20
"""Statements that are kept in the item of a page; the others also decide about its rights."""


class Use(StrEnum):
    """What a page may be used for."""

    SEARCH = "search"
    """An index that leads readers to the page, with short excerpts."""
    AI_INPUT = "ai-input"
    """Input of a generative model that answers questions."""
    AI_TRAIN = "ai-train"
    """Training of a model."""


class State(StrEnum):
    """What is said about a use."""

    ALLOWED = "allowed"
    DISALLOWED = "disallowed"
    UNKNOWN = "unknown"
    MALFORMED = "malformed"
    """Something is said that cannot be parsed."""


class Signal(StrEnum):
    """The kinds of statements, each with its own specification or convention."""

    CONTENT_USAGE = "content_usage"
    """Usage preferences, `Content-Usage`."""
    CONTENT_SIGNAL = "content_signal"
    """Content signals, `Content-Signal`."""
    TDM_RESERVATION = "tdm_reservation"
    """A reservation of text and data mining."""
    RSL = "rsl"
    """A licence file of Really Simple Licensing, or its address."""
    NOAI = "noai"
    """`noai` or `noimageai` among the directives for robots."""
    TRAINING_CRAWLERS = "training_crawlers"
    """Rules of robots.txt that refuse the page to crawlers that collect pages for training."""
    ROBOTS_TXT = "robots_txt"
    """The rule by which robots.txt let the page be requested."""
    LICENCE = "licence"
    """A licence that the page names."""
    OWNER_MARK = "owner_mark"
    """A part of the page that its owner withholds. It says nothing about the uses of the other parts."""


RANK = (State.DISALLOWED, State.MALFORMED, State.ALLOWED)
"""The states in order of precedence. `malformed` precedes `allowed` because a statement that cannot be parsed may be a
refusal.
"""

Uses = Mapping[Use, State]
"""What a statement says about each use that it mentions."""
NOTHING: Uses = MappingProxyType({})
ALL_MALFORMED: Uses = MappingProxyType(dict.fromkeys(Use, State.MALFORMED))


@dataclass(frozen=True)
class RightsEvidence:
    """A statement about the use of a page, in the words of its source."""

    signal: Signal
    where: str
    """The address of a file, or the part of the response or the page."""
    says: str
    uses: Uses = field(default_factory=dict)
    """What the statement means for each use; empty if it means nothing, or if another statement replaces it."""
    read_at: str = ""
    """When its file was fetched; empty for the page itself."""

    def row(self, read_at: str) -> dict[str, str]:
        """The statement for the item of a page that was fetched at this time."""
        says = self.says[:MAX_SAYS]
        where = self.where[:MAX_WHERE]
        return {"signal": self.signal.value, "where": where, "says": says, "read_at": self.read_at or read_at}


@dataclass(frozen=True)
class Rights:
    """What a page may be used for, and why."""

    licence: str | None = None
    """The name of the licence, as SPDX spells it; None if it is unknown."""
    evidence: tuple[RightsEvidence, ...] = ()

    def state(self, use: Use) -> State:
        """What all statements together mean for a use."""
        return state_of(self.evidence, use)

    def field(self, read_at: str) -> dict[str, Any]:
        """The item field `rights` of a page that was fetched at this time."""
        statements = list(self.evidence)
        if len(statements) > MAX_EVIDENCE:
            statements.sort(key=lambda statement: not statement.uses)  # first those that mean something
        return {
            "licence": self.licence,
            "uses": {use.value: self.state(use).value for use in Use},
            "evidence": [statement.row(read_at) for statement in statements[:MAX_EVIDENCE]],
        }


def state_of(evidence: Iterable[RightsEvidence], use: Use) -> State:
    """What statements together mean for a use.

    >>> rules = [RightsEvidence(Signal.RSL, "", "", {Use.SEARCH: state}) for state in (State.ALLOWED, State.DISALLOWED)]
    >>> str(state_of(rules, Use.SEARCH)), str(state_of(rules, Use.AI_TRAIN))
    ('disallowed', 'unknown')
    """
    states = {statement.uses.get(use) for statement in evidence}
    return next((state for state in RANK if state in states), State.UNKNOWN)


def refusal(evidence: Iterable[RightsEvidence], wanted_uses: Collection[Use]) -> Signal | None:
    """The first signal that disallows one of the wanted uses, or None."""
    for statement in evidence:
        if any(statement.uses.get(use) is State.DISALLOWED for use in wanted_uses):
            return statement.signal
    return None
