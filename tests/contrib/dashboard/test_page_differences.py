"""What one text says that another did not: found exactly, folded, and within bounds of time."""

import random
import time

import pytest

from crawler.contrib.dashboard.views.page_differences import (
    ADDED,
    AROUND,
    FOLDED,
    REMOVED,
    SAME,
    Difference,
    difference,
)

LONG = "Bees dance in the dark of the hive, and others follow them out to the flowers. " * 8
LINES = [f"Line {number} of the page." for number in range(20)]


def sides(found: Difference) -> tuple[list[str], list[str]]:
    """Both texts, as far as they are shown."""
    old, new = [], []
    for paragraph in found.paragraphs:
        for side, kinds in ((old, (SAME, REMOVED)), (new, (SAME, ADDED))):
            if text := "".join(piece.text for piece in paragraph.pieces if piece.kind in kinds):
                side.append(text)
    return old, new


def marked(found: Difference) -> list[str]:
    """The comparison as a line for each paragraph."""
    signs = {SAME: "{}", REMOVED: "[-{}]", ADDED: "[+{}]", FOLDED: "…"}
    return ["".join(signs[piece.kind].format(piece.text) for piece in one.pieces) for one in found.paragraphs]


def test_what_changed() -> None:
    rows = [
        ("", "", []),
        ("Bees dance.", "Bees dance.", ["…"]),
        ("", "Bees dance.", ["[+Bees dance.]"]),
        ("Bees dance.", "", ["[-Bees dance.]"]),
        ("Bees dance.", "Bees waltz.", ["Bees [-dance][+waltz]."]),
        ("Bees dance.", "Bees dance twice.", ["Bees dance[+ twice]."]),
        ("蜜蜂在黑暗中跳舞。", "蜜蜂在夜里跳舞。", ["蜜蜂在[-黑暗中][+夜里]跳舞。"]),
        ("Bees dance.", "Trains are late today.", ["[-Bees dance.]", "[+Trains are late today.]"]),
        ("a\nb\nc", "a\nc", ["a", "[-b]", "c"]),
        ("a\nc", "a\nb\nc", ["a", "[+b]", "c"]),
        ("a\n\n \nb", "a\nb", ["…"]),
        ("a\nb\nc\nd\ne", "a\nb\nc\nd\nX", ["…", "d", "[-e]", "[+X]"]),
        ("<b>x</b> one two three", "<i>x</i> one two three", ["<[-b][+i]>x</[-b][+i]> one two three"]),
        (LONG + "End.", LONG + "Stop.", [f"{LONG[:120]}…{(LONG + ' ')[-121:-1]}[-End][+Stop]."]),
    ]
    for old, new, expected in rows:
        assert marked(difference(old, new)) == expected


def test_counts_and_share() -> None:
    found = difference("Bees dance.\nBees hum.", "Bees waltz.\nBees hum.")
    assert (found.removed, found.added, found.unread, found.is_coarse) == (5, 5, 0, False)
    assert found.share == pytest.approx(10 / 40)


@pytest.mark.parametrize("at", [0, 9, 19])
def test_far_paragraphs_are_folded_and_counted(at: int) -> None:
    new = [*LINES[:at], "Something else altogether!", *LINES[at + 1 :]]
    found = difference("\n".join(LINES), "\n".join(new)).paragraphs
    folded = [one.number for one in found if one.kind == FOLDED]
    shown = [one for one in found if one.kind == SAME]
    assert sum(folded) + len(shown) == len(LINES) - 1
    assert len(shown) == AROUND * (2 if 0 < at < 19 else 1)


def test_moved_paragraphs_go_and_come() -> None:
    assert marked(difference("a\nb\nc", "b\nc\na")) == ["[-a]", "b", "c", "[+a]"]


def test_both_texts_can_be_read_from_it() -> None:
    for seed in range(30):
        rng = random.Random(seed)
        old = ["".join(rng.choice("ab 蜂") for _ in range(rng.randrange(1, 9))) + "." for _ in range(rng.randrange(6))]
        new = [line if rng.random() < 0.6 else line[::-1] for line in rng.sample(old, len(old))] + [
            "c."
        ] * rng.randrange(2)
        changed = difference("\n".join(old), "\n".join(new))
        if not any(one.kind == FOLDED for one in changed.paragraphs):
            assert sides(changed) == (old, new)


def _words(rng: random.Random, lines: int) -> str:
    return "\n".join(" ".join(f"w{rng.randrange(500)}" for _ in range(60)) for _ in range(lines))


def _pairs() -> list[tuple[str, str]]:
    rng = random.Random(1)
    text = _words(rng, 400)
    words = text.split(" ")
    for at in rng.sample(range(len(words)), 500):
        words[at] = "new"
    han = "蜜蜂在黑暗中跳舞"
    return [
        (text, " ".join(words)),
        (text, _words(rng, 400)),
        ("a b " * 30_000, "b a " * 30_000),
        ("x\n" * 100_000, "y\nx\n" * 70_000),
        ("\n".join(rng.choices("ab", k=100_000)), "\n".join(rng.choices("ab", k=100_000))),
        ("".join(rng.choices(han, k=100_000)), "".join(rng.choices(han, k=100_000))),
        (" ".join(map(str, range(20_000))), " ".join(map(str, range(20_000, 0, -1)))),
        ("(" * 100_000, ")" * 100_000),
    ]


def test_long_texts_take_no_long_time() -> None:
    for old, new in _pairs():
        begun = time.thread_time()
        found = difference(old, new)
        assert time.thread_time() - begun < 1.0  # a tenth of that, on a machine with nothing else to do
        assert found.share > 0 or found.is_coarse


@pytest.mark.parametrize(("gaps", "is_coarse"), [(1_000, False), (1_500, True)])
def test_so_many_changes_of_a_paragraph_are_told_apart(gaps: int, is_coarse: bool) -> None:
    old, new = (" ".join(f"anchor{n} {word}" for n in range(gaps)) for word in ("x", "y"))
    assert difference(old, new).is_coarse is is_coarse


@pytest.mark.parametrize(("more", "is_coarse"), [("y ", False), ("y z", True)])
def test_so_many_words_are_compared(more: str, is_coarse: bool) -> None:
    assert difference("a " * 12_499 + "x ", "a " * 12_499 + more).is_coarse is is_coarse


def test_what_is_not_compared_is_counted() -> None:
    assert difference("a" * 250_000, "a" * 200_000).unread == 50_000
    assert difference("a" * 200_000, "a" * 200_000).unread == 0
    assert difference("a\n" * 5_000, "").unread == 1_000
