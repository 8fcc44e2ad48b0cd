"""All models side by side, as text and as JSON."""

import json

from crawler.evaluation.gold import KINDS, ImageLabel, JudgedImage
from crawler.evaluation.image_metrics import MANY, by_hand, record, text

NAMES = ("one", "other")


def met(kind: str, score: float, pages: int, set_: str = "a") -> JudgedImage:
    """A picture on which the first model is right and the other says the contrary."""
    label = ImageLabel(set_, "1", f"{kind}{score}", KINDS[kind] == "noise", kind)
    return JudgedImage(label, f"{set_}{score}.example", pages, (score, -score), (score > 0.5, score <= 0.5))


FOUND = [
    met("advert", 0.9, MANY),
    met("icon", 0.8, MANY - 1),
    met("text", 0.2, MANY, "b"),
    met("head", 0.1, MANY - 1, "b"),
]


def test_tables() -> None:
    all_, many, kinds, sets = by_hand(FOUND, NAMES)
    assert [row.auc for row in all_.rows.values()] == [1, 0]
    assert [row.kept for row in all_.rows.values()] == [1, 0]
    assert [row.links for row in many.rows.values()] == [2, 2]
    assert {kind: (row.links, row.noise, row.auc) for kind, row in kinds.rows.items()} == {
        "text": (3, 2, 1),
        "head": (3, 2, 1),
        "advert": (3, 1, 1),
        "icon": (3, 1, 1),
    }
    assert {name: (row.links, row.noise, row.auc) for name, row in sets.rows.items()} == {
        "a": (2, 2, None),
        "b": (2, 0, None),
    }


def test_text_has_a_row_for_each_name() -> None:
    lines = text(by_hand(FOUND, NAMES)).splitlines()
    head, one, other = (line.split() for line in lines[:3])
    assert head == "model links noise AUC removed@98% kept NRecall NPrecision adverts".split()
    assert one[:5] == ["one", "4", "2", "1.000", "(1.000-1.000)"]
    assert other[:4] == ["other", "4", "2", ".000"]
    assert lines[-1].startswith("AUC, removed@98%")


def test_without_labels_there_are_no_figures() -> None:
    assert "-" in text(by_hand([], NAMES))


def test_record() -> None:
    found = json.loads(record(by_hand(FOUND, NAMES), {"given": 5}))
    assert found["labels"] == {"given": 5}
    assert found["tables"]["model"]["one"]["auc"] == 1
    assert found["tables"]["model"]["one"]["adverts"] == 1
