"""Why the learned model says what it says."""

from dataclasses import replace
from math import log1p

import numpy as np
import pytest
from pictured import TEXT, seen

from crawler.noise.evidence import Evidence
from crawler.noise.learned import CODES, SIGNS, SPLITS, Floats, Model, shipped, signs_of
from crawler.noise.reasons import _OF_GROUP, GROUPS, MOST_REASONS, TELLING, Changes, changes, reasons

FIVE = Evidence(pages=5)


def signs(**named: float) -> Floats:
    """Signs by their names, with _ for spaces; all others are 0."""
    found = np.zeros(len(SIGNS), np.float32)
    for name, sign in named.items():
        found[SIGNS.index(name.replace("_", " "))] = sign
    return found


def made(*trees: tuple[str, str, str]) -> Model:
    """Trees that add 1 for the first of their signs, 2 for the second, 4 for the third."""
    return Model(
        splits=np.array([[SIGNS.index(name) for name in tree] for tree in trees]).T,
        edges=np.full((SPLITS, len(trees)), 0.5, np.float32),
        tables=np.tile(np.arange(CODES, dtype=np.float32), (len(trees), 1)),
        usual=np.zeros(len(SIGNS), np.float32),
        limit=0.5,
    )


def test_each_sign_is_in_one_group() -> None:
    assert sorted(name for names in _OF_GROUP.values() for name in names) == sorted(SIGNS)


@pytest.mark.parametrize(
    ("row", "usual", "logit", "groups"),
    [
        (signs(), signs(), 0, {"size": 0, "words": 0}),
        (signs(width=1), signs(), 1, {"size": 1, "words": 0}),
        (signs(width=0.5), signs(alt=0.5), 0, {"size": 0, "words": 0}),
        (signs(width=1, height=1), signs(), 5, {"size": 5, "words": 0}),
        (signs(width=1, alt=1), signs(), 3, {"size": 1, "words": 2}),
        (signs(), signs(width=1), 0, {"size": -1, "words": 0}),
        (signs(alt=1), signs(width=1, alt=1), 2, {"size": -1, "words": 0}),
    ],
)
def test_changes_by_hand(row: Floats, usual: Floats, logit: float, groups: dict[str, float]) -> None:
    model = replace(made(("width", "alt", "height")), usual=usual)
    assert changes(model, row) == Changes(logit, groups)


def test_changes_are_those_of_the_model() -> None:
    model = shipped()
    for one in seen(f"<nav><a href=/><img src=/logo.gif width=30></a></nav><p>{TEXT}<img src=/p.jpg alt=x>"):
        row = signs_of(one, FIVE, None, 0.5)
        found = changes(model, row)
        for group, names in _OF_GROUP.items():
            mask = np.array([name in names for name in SIGNS])
            is_now, if_usual = model.logits(np.stack([row, np.where(mask, model.usual, row)]))
            assert found.logit == pytest.approx(is_now, abs=1e-4)
            assert found.groups.get(group, 0.0) == pytest.approx(is_now - if_usual, abs=1e-4)


def said(change: dict[str, float], row: Floats, is_noise: bool, evidence: Evidence = FIVE) -> tuple[str, ...]:
    return reasons(Changes(0.0, change), row, is_noise, evidence)


@pytest.mark.parametrize(
    ("change", "is_noise", "count"),
    [
        (TELLING, True, 0),
        (TELLING + 0.01, True, 1),
        (-TELLING, False, 0),
        (-TELLING - 0.01, False, 1),
        (9.0, False, 0),
        (-9.0, True, 0),
    ],
)
def test_what_changes_much_is_a_reason(change: float, is_noise: bool, count: int) -> None:
    assert len(said({"size": change}, signs(), is_noise)) == count


def test_the_weightiest_reason_comes_first() -> None:
    found = said({"size": 1.0, "target": 3.0, "words": 2.0, "page": 0.5}, signs(), True)
    assert found == ("it is no link", "what is written beside it is not of the page", "its size is not given")
    assert len(found) == MOST_REASONS


@pytest.mark.parametrize(
    ("group", "row", "is_noise", "reason"),
    [
        ("place", signs(in_main_container=1, next_block_main=1), True, "it stands in the main text"),
        ("place", signs(in_main_container=1, last_block_main=1), False, "it stands in the main text"),
        ("place", signs(in_main_container=1), False, "it stands near the main text"),
        ("place", signs(next_block_main=1), True, "it stands apart from the main text"),
        ("size", signs(width=log1p(300), height=log1p(200)), True, "its size is 300 x 200"),
        ("size", signs(width=log1p(300), height=-1), True, "its size is not given"),
        ("target", signs(), False, "it is no link"),
        ("target", signs(linked=1), False, "it links to another page"),
        ("target", signs(linked=1, to_picture=1), False, "it links to a picture"),
        ("target", signs(linked=1, to_itself=1), True, "it links to its own page"),
        ("target", signs(linked=1, to_the_front=1, to_another_site=1), True, "it links to a front page"),
        ("target", signs(linked=1, to_another_site=1), True, "it links to another site"),
        ("site", signs(pages_with_it=log1p(2)), True, "3 of 5 pages of the site show it"),
        ("site", signs(), False, "1 of 5 pages of the site show it"),
        ("site", signs(pages_with_it=log1p(5)), True, "5 of 5 pages of the site show it"),
        ("elements", signs(), True, "the elements around it are such as hold noise"),
        ("elements", signs(), False, "the elements around it are such as hold content"),
        ("words", signs(), False, "what is written beside it is of the page"),
        ("address", signs(), True, "its address is such as noise has"),
        ("head", signs(), True, "the page gives other pictures as its own"),
        ("head", signs(head_picture=1), False, "the page gives it as its own picture"),
        ("page", signs(), True, "pages like this show much noise"),
    ],
)
def test_reasons_in_words(group: str, row: Floats, is_noise: bool, reason: str) -> None:
    assert said({group: 9.0 if is_noise else -9.0}, row, is_noise) == (reason,)


def test_a_site_that_nobody_has_counted() -> None:
    assert said({"site": 1.0}, signs(), True, Evidence()) == ("1 of 1 pages of the site show it",)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("is_noise", [True, False])
def test_every_group_has_words(group: str, is_noise: bool) -> None:
    assert said({group: 9.0 if is_noise else -9.0}, signs(), is_noise)[0]
