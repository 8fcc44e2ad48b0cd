"""The figures of a run as a small file, and what became worse since another."""

import json
from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from crawler.evaluation.judgement import JudgedMethod, Verdict

FORMAT = 1
TOLERANCE = 0.005  # how far a figure may fall below the baseline
# What must not fall. Speed is left out: it is that of a machine on a day.
HELD = {"f1": "shingle F1", "word_f1": "word F1"}
DIGITS = 4


class RecordError(Exception):
    """A file that is no record of a run."""


class Compared(NamedTuple):
    """What a run says beside an earlier one."""

    falls: list[str]
    """A line for each figure that fell by more than the tolerance."""
    left: list[str]
    """A line for each pair of set and method that could not be compared."""
    pairs: int
    """How many pairs of set and method were compared."""
    gaps: int = 0
    """How many of those that could not be compared this run was asked for."""


def record(verdicts: Iterable[Verdict], version: str) -> str:
    """The figures as JSON, one line a method, in the order of the run; pages/s is all that differs from run to run."""
    sets = []
    for verdict in verdicts:
        rows = [f"   {_json(judged.name)}: {_json(_figures(judged))}" for judged in verdict.judged]
        head = f'  {_json(verdict.name)}: {{"fingerprint": {_json(verdict.fingerprint)}, "methods": {{\n'
        sets.append(head + ",\n".join(rows) + "\n  }}")
    return f'{{"format": {FORMAT}, "winnow": {_json(version)}, "sets": {{\n' + ",\n".join(sets) + "\n}}\n"


def read_record(path: Path) -> dict[str, Any]:
    """The sets of a record; a RecordError where the file is none."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        if read["format"] != FORMAT:
            raise RecordError(f"{str(path)!r} is a record of another format ({read['format']}, not {FORMAT})")
        sets: dict[str, Any] = read["sets"]
        for of in sets.values():
            for figures in of["methods"].values():
                if "absent" not in figures and not all(isfinite(figures[name]) for name in HELD):
                    raise ValueError
            str(of["fingerprint"])
    except OSError as error:
        raise RecordError(f"{str(path)!r} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise RecordError(f"{str(path)!r} is no record that --save has written") from None
    return sets


def compared(before: dict[str, Any], now: dict[str, Any]) -> Compared:
    """What fell, of the methods and sets that both records have; and which they do not both have."""
    falls, left, count, gaps = [], [], 0, 0
    for place, old in _figures_of(before).items():
        new = _figures_of(now).get(place)
        name, method = place
        if new is None:
            gaps += method in now.get(name, {"methods": ()})["methods"]
            left.append(f"{name}, {method}: not in this run")
        elif before[name]["fingerprint"] != now[name]["fingerprint"]:
            gaps += 1
            left.append(f"{name}, {method}: the set's pages are not the same")
        else:
            count += 1
            falls += [
                f"{name}, {method}: {words} fell from {old[held]:.4f} to {new[held]:.4f}"
                for held, words in HELD.items()
                if old[held] - new[held] > TOLERANCE + 10**-DIGITS / 2  # the records are rounded
            ]
    return Compared(falls, left, count, gaps)


def _figures_of(sets: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (name, method): figures
        for name, of in sets.items()
        for method, figures in of["methods"].items()
        if "absent" not in figures
    }


def _figures(judged: JudgedMethod) -> dict[str, Any]:
    if judged.figures is None:
        return {"absent": judged.run.absent}
    return {name: _rounded(value) for name, value in judged.figures._asdict().items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, tuple):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
