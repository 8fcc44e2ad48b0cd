"""The reservation of text and data mining by the TDM Reservation Protocol.

The protocol is read as in the final report of the W3C community group (TDMRep, 10 May 2024). In
`/.well-known/tdmrep.json`, the first rule that matches an address counts. The header `tdm-reservation` replaces that
rule, and the meta element `tdm-reservation` replaces both. The value `1` reserves mining and `0` does not; any other
value is an error and replaces nothing. `tdm-policy` is the address at which a licence can be acquired.

Mining covers the training of models and their input; building a search index is not regarded as mining.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from crawler.rights.path_patterns import NOT_COMPARED, PathPattern, matching, path_of
from crawler.rights.statement import NOTHING, RightsEvidence, Signal, State, Use, Uses

PATH = "/.well-known/tdmrep.json"
RESERVATION = "tdm-reservation"
POLICY = "tdm-policy"
MINING = (Use.AI_INPUT, Use.AI_TRAIN)
MAX_RULES = 10_000  # of a tdmrep.json that are read
_VALUES = {"1": State.DISALLOWED, "0": State.ALLOWED}
_MALFORMED: Uses = dict.fromkeys(MINING, State.MALFORMED)


@dataclass(frozen=True, slots=True)
class TdmRule:
    """A rule for the paths that its pattern matches."""

    pattern: PathPattern
    says: str
    uses: Uses


@dataclass(frozen=True)
class TdmFile:
    """The rules of a host's tdmrep.json."""

    url: str
    read_at: str
    rules: tuple[TdmRule, ...] = ()
    error: str = ""
    """The beginning of a file that cannot be parsed."""

    def evidence(self, url: str) -> Iterator[RightsEvidence]:
        """What the first rule that matches an address says."""
        if self.error:
            yield RightsEvidence(Signal.TDM_RESERVATION, self.url, self.error, _MALFORMED, self.read_at)
            return
        rule = next(matching(self.rules, path_of(url), TOO_COSTLY), None)
        if rule is not None:
            yield RightsEvidence(Signal.TDM_RESERVATION, self.url, rule.says, rule.uses, self.read_at)


def read_file(body: bytes, url: str, read_at: str) -> TdmFile:
    """The rules in a tdmrep.json, or its error if it is not a list of rules."""
    text = body.decode("utf-8-sig", "replace")
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        return TdmFile(url, read_at, error=text[:100] or "empty")
    return TdmFile(url, read_at, tuple(_rules(entries[:MAX_RULES])))


def _rules(entries: list[Any]) -> Iterator[TdmRule]:
    """The rules of the entries that have a location. A rule with a wrong or missing reservation is malformed."""
    for entry in entries:
        location = entry.get("location") if isinstance(entry, dict) else None
        if isinstance(location, str) and location:
            value = entry.get(RESERVATION)
            uses = _MALFORMED
            if isinstance(value, int | str) and not isinstance(value, bool):
                uses = _meaning(str(value))
            says = json.dumps({name: entry[name] for name in ("location", RESERVATION, POLICY) if name in entry})
            yield TdmRule(pattern=PathPattern.of(location), says=says, uses=uses)


def _meaning(value: str) -> Uses:
    """What the value of a reservation says about mining."""
    return dict.fromkeys(MINING, _VALUES.get(value.strip(), State.MALFORMED))


TOO_COSTLY = TdmRule(pattern=PathPattern.of(""), says=NOT_COMPARED, uses=_MALFORMED)
"""Replaces rules that were not compared with a path: they may be reservations."""


def reservations(
    headers: Mapping[str, str], metas: Mapping[str, str], in_file: Iterable[RightsEvidence] = ()
) -> list[RightsEvidence]:
    """The statements of a tdmrep.json, of the headers and of the meta elements, in this order. The last valid statement
    replaces all statements before it: their `uses` become empty.
    """
    statements = list(in_file)
    for kind, fields in (("header", headers), ("meta", metas)):
        value = fields.get(RESERVATION, "").strip()
        if value:
            says = f"{RESERVATION}: {value}"
            policy = fields.get(POLICY, "").strip()
            if policy:
                says += f"\n{POLICY}: {policy}"
            statements.append(RightsEvidence(Signal.TDM_RESERVATION, f"{kind} {RESERVATION}", says, _meaning(value)))

    # If no statement is valid, none is replaced: all of them are malformed.
    valid = [at for at, statement in enumerate(statements) if State.MALFORMED not in statement.uses.values()]
    last_valid = max(valid, default=0)
    replaced = [replace(statement, uses=NOTHING) for statement in statements[:last_valid]]
    return [*replaced, *statements[last_valid:]]
