"""What is said of a model of images."""

import numpy as np
import pytest

from crawler.contrib.lab.evaluation.gold import ImageLabel
from crawler.contrib.lab.evaluation.image_metrics import BINS, CalibrationBin, ImageTable
from crawler.contrib.lab.training.image_examples import ImageExample
from crawler.contrib.lab.training.image_weights import (
    UNKNOWN,
    ImageTraining,
    JudgedLinks,
    calibrations,
    image_card,
    tables,
)
from crawler.noise.learned_model import CODES, FEATURES, SPLITS, NoiseModel

MODEL = NoiseModel(
    np.zeros((SPLITS, 1), int), np.zeros((SPLITS, 1)), np.zeros((1, CODES)), np.zeros(len(FEATURES)), 0.6
)
NOTHING = JudgedLinks([], np.zeros(0), 0, "0" * 16)


def given(*links: tuple[str, str, float], labels: int = 9) -> JudgedLinks:
    """Links by set, kind and probability, each of a site of its own."""
    found = [
        ImageExample(
            ImageLabel(name, "1", "", kind not in ("text", "head", "gallery"), kind, unsure=kind == "icon"),
            f"s{at}",
            3,
            (),
        )
        for at, (name, kind, _) in enumerate(links)
    ]
    return JudgedLinks(found, np.array([likely for *_, likely in links]), labels, "1" * 16)


HELD = given(("news", "text", 0.1), ("news", "advert", 0.7), ("news", "icon", 0.6), ("a|b", "head", 0.7))


def made(training: JudgedLinks = HELD, validation: JudgedLinks = NOTHING) -> ImageTraining:
    return ImageTraining(training, validation, MODEL, 7, 1_234)


def titled(found: list[ImageTable], title: str) -> ImageTable:
    (one,) = [table for table in found if table.title == title]
    return one


def bins(*links: tuple[str, str, float]) -> list[CalibrationBin]:
    return calibrations(made(given(*links)))["held-out sites"]


def test_bins() -> None:
    rows = [(0.0, 0), (0.0999, 0), (0.1, 0.1), (0.5, 0.5), (0.9699, 0.9), (0.97, 0.97), (1.0, 0.97)]
    for likely, low in rows:
        high = BINS[BINS.index(low) + 1]
        assert bins(("news", "icon", likely)) == [CalibrationBin(low, high, 1, pytest.approx(likely), 1.0)]


def test_links_of_a_bin() -> None:
    found = bins(("a", "icon", 0.2), ("a", "text", 0.1), ("a", "text", 0.9))
    assert found == [CalibrationBin(0.1, 0.3, 2, pytest.approx(0.15), 0.5), CalibrationBin(0.9, 0.97, 1, 0.9, 0.0)]


def test_the_limit_decides() -> None:
    row = titled(tables(made()), "all").rows["held-out sites"]
    assert (row.links, row.noise, row.kept, row.recall, row.precision, row.adverts) == (4, 2, 0.5, 0.5, 0.5, 1.0)


def test_by_set_and_kind() -> None:
    found = tables(made())
    assert len(found) == 3
    assert {name: row.links for name, row in found[1].rows.items()} == {"a|b": 1, "news": 3}
    assert {name: row.links for name, row in found[2].rows.items()} == {"text": 3, "head": 3, "advert": 3, "icon": 3}
    assert list(calibrations(made())) == ["held-out sites"]


@pytest.mark.parametrize(
    ("sets", "links"), [(("daniel", "fundus"), 1), (("daniel", "daniel"), None), (("fundus", "fundus"), None)]
)
def test_sets_that_the_extractor_was_not_trained_on(sets: tuple[str, str], links: int | None) -> None:
    validation = given((sets[0], "text", 0.1), (sets[1], "icon", 0.9))
    rows = titled(tables(made(validation=validation)), "all").rows
    assert (rows[UNKNOWN].links if UNKNOWN in rows else None) == links


def test_a_card() -> None:
    text = image_card(made(validation=given(("daniel", "text", 0.1), ("daniel", "icon", 0.9))))
    lines = text.splitlines()
    for line in (
        "| news | 3 | 2 | 1 | 3 |",
        "| a\\|b | 1 | 0 | 0 | 1 |",
        "| daniel | 2 | 1 | 1 | 2 |",
        "Kinds: text 1, head 1, advert 1, icon 1.",
        "| 0.1 to 0.3 | 1 | 0.100 | 0.000 |",
        "| seed | 7 |",
    ):
        assert line in lines
    assert " 0.6000 " in text
    assert "## Validation" in text
    assert "## Validation" not in image_card(made())
