"""Writes the figures of a run of `winnow evaluate` as JSON (a record), and compares them with an earlier record."""

import json
from collections.abc import Iterable
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
from typing import Any

from crawler.contrib.lab.evaluation.method_scores import SetResult
from crawler.errors import MessageError

FORMAT = 1
"""The version of the JSON."""
TOLERANCE = 0.005
"""How far a figure may fall below the same figure in the baseline, which is the record of an earlier run."""
COMPARED_FIGURES = {"f1": "shingle F1", "word_f1": "word F1"}
"""The figures that must not fall; speed is not compared, because it depends on the machine."""
DIGITS = 4
"""Decimal places of the figures in JSON."""


class RecordError(MessageError):
    """A file is not a record of a run that --save wrote."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """A run compared with an earlier one."""

    falls: list[str]
    """A line for each figure that fell by more than the tolerance."""
    not_compared: list[str]
    """A line for each pair of set and method that could not be compared."""
    pairs: int
    """How many pairs of set and method were compared."""
    _: KW_ONLY
    gaps: int = 0
    """How many of the pairs in `not_compared` are failures: the method could not be run, or the set has changed."""


def record(results: Iterable[SetResult], version: str) -> str:
    """The figures as JSON, one line for each method, in the order of the run; equal runs differ only in `speed`."""
    sets = []
    for result in results:
        figures_of_method = {
            judged.name: asdict(judged.figures) if judged.figures else {"absent": judged.run.absent}
            for judged in result.judged
        }
        rows = [f"   {_json(name)}: {_json(_rounded(figures))}" for name, figures in figures_of_method.items()]
        head = f'  {_json(result.name)}: {{"fingerprint": {_json(result.fingerprint)}, "methods": {{\n'
        sets.append(head + ",\n".join(rows) + "\n  }}")
    return f'{{"format": {FORMAT}, "winnow": {_json(version)}, "sets": {{\n' + ",\n".join(sets) + "\n}}\n"


def read_record(path: Path) -> dict[str, Any]:
    """The sets in a record; raises a RecordError if the file is not one."""
    try:
        sets: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["sets"]
        _figures_of(sets)
    except OSError as error:
        raise RecordError("{path} cannot be read ({why})", path=repr(str(path)), why=error.strerror) from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise RecordError("{path} was not written by --save", path=repr(str(path))) from None
    return sets


def compare_records(baseline: dict[str, Any], now: dict[str, Any]) -> BaselineComparison:
    """Compare the figures of a run, `now`, with those of an earlier one, for each set and method that both have."""
    falls = []
    not_compared = []
    pairs = 0
    gaps = 0
    figures_now = _figures_of(now)
    for (name, method), old in _figures_of(baseline).items():
        new = figures_now.get((name, method))
        if new is None:
            if name in now and method in now[name]["methods"]:  # requested, but it could not be run
                gaps += 1
            not_compared.append(f"{name}, {method}: not in this run")
        elif baseline[name]["fingerprint"] != now[name]["fingerprint"]:
            gaps += 1
            not_compared.append(f"{name}, {method}: the set's pages are not the same")
        else:
            pairs += 1
            falls += [
                f"{name}, {method}: {title} fell from {old[figure]:.4f} to {new[figure]:.4f}"
                for figure, title in COMPARED_FIGURES.items()
                if old[figure] - new[figure] > TOLERANCE + 10**-DIGITS / 2  # both figures are rounded
            ]
    return BaselineComparison(falls=falls, not_compared=not_compared, pairs=pairs, gaps=gaps)


def _figures_of(sets: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The figures of the methods that could be run, by set and method."""
    return {
        (name, method): figures
        for name, result in sets.items()
        for method, figures in result["methods"].items()
        if "absent" not in figures
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
