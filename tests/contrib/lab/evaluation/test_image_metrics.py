"""The figures of models that tell images apart, against sums done another way."""

import json
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from crawler.contrib.lab.evaluation.gold import KINDS, ImageLabel, ScoredImage
from crawler.contrib.lab.evaluation.image_metrics import (
    CONTENT_KEPT,
    MANY_PAGES,
    ScoredLink,
    figures,
    model_tables,
    of_kind,
    record,
    text,
)


def link(is_noise: bool, score: float, skipped: bool = False, **more: Any) -> ScoredLink:
    label = ImageLabel("set", "1", "", is_noise, more.pop("kind", "advert" if is_noise else "text"))
    return replace(ScoredLink(label, "a.example", 1, score, skipped), **more)


def links(noise: list[float], content: list[float]) -> list[ScoredLink]:
    return [link(True, score) for score in noise] + [link(False, score) for score in content]


def test_auc() -> None:
    rows = [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1, 0.2], [0.9, 0.8], 0.0),
        ([0.5], [0.5], 0.5),
        ([0.5, 0.9], [0.5, 0.1], 0.875),
        ([-1.0, 0.0], [-1.0], 0.75),
        ([0.5], [], None),
        ([], [0.5], None),
        ([], [], None),
    ]
    for noise, content, auc in rows:
        assert figures(links(noise, content)).auc == auc


def test_auc_is_the_share_of_pairs_in_order() -> None:
    chance = random.Random(1)
    noise = [round(chance.gauss(0.6, 0.2), 1) for _ in range(70)]
    content = [round(chance.gauss(0.4, 0.2), 1) for _ in range(50)]
    won = sum((one > other) + (one == other) / 2 for one in noise for other in content)
    assert figures(links(noise, content)).auc == pytest.approx(won / 70 / 50)


def test_noise_removed_at_98_percent_of_content_kept() -> None:
    rows = [
        ([0.9] * 3 + [0.1], [0.5] * 50, 0.75),
        ([0.9] * 3 + [0.1], [0.95] + [0.5] * 49, 0.75),  # one of 50 may go: 98% are kept
        ([0.9] * 3 + [0.1], [0.95] + [0.5] * 48, 0.0),  # one of 49 may not
        ([0.9] * 3 + [0.1], [0.95] * 2 + [0.5] * 98, 0.75),
        ([0.9] * 3 + [0.1], [0.95] * 3 + [0.5] * 97, 0.0),
        ([0.97] * 3 + [0.9], [0.95] * 3 + [0.5] * 97, 0.75),
        ([0.9, 0.5], [0.5] * 50, 0.5),  # noise of the same score as content stays with it
        ([0.5], [], None),
        ([], [0.5], None),
    ]
    for noise, content, removed in rows:
        assert CONTENT_KEPT == 0.98
        assert figures(links(noise, content)).removed == removed


def test_by_the_models_own_threshold() -> None:
    found = figures(
        [
            *(link(True, 0.9, skipped) for skipped in (True, True, True, False)),
            *(link(True, 0.9, skipped, kind="icon") for skipped in (True, False)),
            *(link(False, 0.1, skipped) for skipped in (True, False, False, False, False)),
        ]
    )
    assert (found.links, found.noise) == (11, 6)
    assert (found.kept, found.recall, found.precision, found.adverts) == (4 / 5, 4 / 6, 4 / 5, 3 / 4)


def test_sites_that_keep_their_content() -> None:
    kept = link(False, 0.1)
    skipped = link(False, 0.9, skipped=True)
    sites = {
        "all kept": [kept],
        "one of 100 skipped": [kept] * 99 + [skipped],
        "one of 99 skipped": [kept] * 98 + [skipped],
    }
    links_of_sites = [replace(one, site=name) for name, links in sites.items() for one in links]
    assert figures([*links_of_sites, link(True, 0.9, site="no content")]).sites == 2 / 3


def test_nothing_to_divide_by() -> None:
    found = figures([link(False, 0.1)])
    assert (found.kept, found.recall, found.precision, found.adverts) == (1, None, None, None)
    only_noise = figures([link(True, 0.1, kind="icon")])
    assert (only_noise.kept, only_noise.sites) == (None, None)


def test_intervals_draw_sites_and_are_always_the_same() -> None:
    chance = random.Random(2)
    alike = [
        link(noise, level + (0.3 if noise else 0), False, site=f"{site}.example")
        for site in range(12)
        for level in [chance.random()]
        for noise in [True, False] * 20
    ]
    found = figures(alike)
    assert found == figures(alike) == figures(alike[::-1])
    low, high = found.auc_interval
    assert low < found.auc < high
    apart = figures([replace(one, site=f"{place}.example") for place, one in enumerate(alike)]).auc_interval
    assert high - low > 1.5 * (apart[1] - apart[0])  # links of one site are no news after the first
    assert found.kept_interval == (1, 1)


@pytest.mark.parametrize("sites", [0, 1])
def test_of_a_single_site_nothing_is_said(sites: int) -> None:
    found = figures([link(True, 0.9), link(False, 0.1)][: 2 * sites])
    assert (found.auc_interval, found.removed_interval, found.kept_interval) == (None, None, None)


def test_intervals_can_be_left_out() -> None:
    found = [link(True, 0.9), link(False, 0.1, site="b.example")]
    assert figures(found).auc_interval is not None
    assert figures(found, intervals=False).auc_interval is None


def test_the_curve_never_falls() -> None:
    chance = random.Random(3)
    content = [chance.random() for _ in range(100)]
    removed = [figures(links([level], content)).removed for level in sorted(chance.random() for _ in range(30))]
    assert all(one <= other for one, other in pairwise(removed))


@pytest.mark.parametrize(
    ("kind", "kinds"), [("icon", ["icon", "text", "text"]), ("text", ["advert", "icon", "text", "text"])]
)
def test_a_kind_is_compared_with_the_other_label(kind: str, kinds: list[str]) -> None:
    found = [link(True, 0.9), link(True, 0.9, kind="icon"), link(False, 0.1), link(False, 0.2)]
    assert sorted(one.label.kind for one in of_kind(found, kind)) == kinds


NAMES = ("one", "other")


def met(kind: str, score: float, pages: int, set_: str = "a") -> ScoredImage:
    """An image on which the first model is right and the other says the contrary."""
    label = ImageLabel(set_, "1", f"{kind}{score}", KINDS[kind] == "noise", kind)
    return ScoredImage(label, f"{set_}{score}.example", pages, (score, -score), (score > 0.5, score <= 0.5))


FOUND = [
    met("advert", 0.9, MANY_PAGES),
    met("icon", 0.8, MANY_PAGES - 1),
    met("text", 0.2, MANY_PAGES, "b"),
    met("head", 0.1, MANY_PAGES - 1, "b"),
]


def test_tables() -> None:
    all_, many, kinds, sets = model_tables(FOUND, NAMES)
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
    lines = text(model_tables(FOUND, NAMES)).splitlines()
    head, one, other = (line.split() for line in lines[:3])
    assert head == "model links noise AUC removed@98% kept sites NRecall NPrecision adverts".split()
    assert one[:5] == ["one", "4", "2", "1.000", "(1.000-1.000)"]
    assert other[:4] == ["other", "4", "2", ".000"]
    assert lines[-1].startswith("AUC, removed@98%")


def test_without_labels_there_are_no_figures() -> None:
    assert "-" in text(model_tables([], NAMES))


def test_record() -> None:
    found = json.loads(record(model_tables(FOUND, NAMES), {"given": 5}))
    assert found["labels"] == {"given": 5}
    assert found["tables"]["model"]["one"]["auc"] == 1
    assert found["tables"]["model"]["one"]["adverts"] == 1
