"""Parts of a text share chunks in runs that change near a change only."""

import random

from crawler.contrib.index.stable_runs import TextUnit, stable_runs


def units(names: list[str], tokens: int = 30) -> list[TextUnit]:
    return [TextUnit(text=name, tokens=tokens) for name in names]


def runs(names: list[str], limit: int = 200) -> list[tuple[str, ...]]:
    return [tuple(unit.text for unit in run) for run in stable_runs(units(names), limit)]


NAMES = [f"paragraph {number}" for number in range(60)]


def test_runs_hold_all_units_in_order_within_the_limit() -> None:
    for limit in (30, 59, 60, 200, 1_799, 1_800):
        found = runs(NAMES, limit)
        assert [name for run in found for name in run] == NAMES
        assert all(len(run) * 30 <= limit for run in found)
        assert all(len(run) * 30 > limit / 2 for run in found[:-1])
    assert len(runs(NAMES, 1_800)) == 1
    assert len(runs(NAMES, 1_799)) == 2


def test_a_unit_over_the_limit_is_a_run_of_its_own() -> None:
    mixed = [TextUnit(text=str(tokens), tokens=tokens) for tokens in (5, 11, 5, 5)]
    assert [[unit.tokens for unit in run] for run in stable_runs(mixed, 10)] == [[5], [11], [5, 5]]


def test_nothing_is_no_run() -> None:
    assert runs([]) == []


def test_most_runs_stay_when_a_unit_is_added_or_removed() -> None:
    chance = random.Random(1)
    kept = 0
    for _ in range(100):
        place = chance.randrange(len(NAMES))
        changed = NAMES[:place] + (["another"] if chance.random() < 0.5 else []) + NAMES[place + 1 :]
        kept += len(set(runs(NAMES)) & set(runs(changed)))
    assert kept / 100 > 0.8 * len(runs(NAMES))


def test_what_is_introduced_is_not_cut_off() -> None:
    for name in "abcdefgh":
        texts = [TextUnit(text=text, tokens=30, introduces=text == "intro") for text in ("1", "intro", name, "4", "5")]
        first = next(iter(stable_runs(texts, 100)))
        assert [unit.text for unit in first] == ["1", "intro", name], name
