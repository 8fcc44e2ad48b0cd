"""Why the learned model says what it says: what its verdicts hang on, and the reasons that are true."""

import json
from dataclasses import replace
from math import log1p

import numpy as np
import pytest
from image_pages import TEXT, seen

from crawler.noise.image_evidence import Evidence
from crawler.noise.learned_model import (
    CODES,
    FEATURES,
    FEATURES_OF_GROUP,
    INDEX_OF_FEATURE,
    SPLITS,
    Floats,
    LogitChanges,
    NoiseModel,
    changes,
    features_of,
    shipped,
)
from crawler.noise.verdict_reasons import GROUPS, JudgedImage, NoiseReason, stored_reasons
from crawler.translation.reasons import Reason, records, weightiest

FIVE = Evidence(pages=5)


def features(**named: float) -> Floats:
    """Features by their names, with _ for spaces; all others are 0."""
    found = np.zeros(len(FEATURES), np.float32)
    for name, feature in named.items():
        found[FEATURES.index(name.replace("_", " "))] = feature
    return found


def made(*trees: tuple[str, str, str]) -> NoiseModel:
    """Trees that add 1 for the first of their features, 2 for the second, 4 for the third."""
    return NoiseModel(
        splits=np.array([[FEATURES.index(name) for name in tree] for tree in trees]).T,
        edges=np.full((SPLITS, len(trees)), 0.5, np.float32),
        tables=np.tile(np.arange(CODES, dtype=np.float32), (len(trees), 1)),
        usual=np.zeros(len(FEATURES), np.float32),
        limit=0.5,
    )


def test_each_feature_is_in_one_group() -> None:
    assert sorted(name for names in FEATURES_OF_GROUP.values() for name in names) == sorted(FEATURES)


def test_changes_by_hand() -> None:
    rows = [
        (features(), features(), 0, {"size": 0, "words": 0}),
        (features(width=1), features(), 1, {"size": 1, "words": 0}),
        (features(width=0.5), features(alt=0.5), 0, {"size": 0, "words": 0}),
        (features(width=1, height=1), features(), 5, {"size": 5, "words": 0}),
        (features(width=1, alt=1), features(), 3, {"size": 1, "words": 2}),
        (features(), features(width=1), 0, {"size": -1, "words": 0}),
        (features(alt=1), features(width=1, alt=1), 2, {"size": -1, "words": 0}),
    ]
    for row, usual, logit, groups in rows:
        model = replace(made(("width", "alt", "height")), usual=usual)
        assert changes(model, row) == LogitChanges(logit, groups)


def test_changes_are_those_of_the_model() -> None:
    model = shipped()
    for one in seen(f"<nav><a href=/><img src=/logo.gif width=30></a></nav><p>{TEXT}<img src=/p.jpg alt=x>"):
        row = features_of(one, FIVE, None, 0.5)
        found = changes(model, row)
        for group, names in FEATURES_OF_GROUP.items():
            mask = np.array([name in names for name in FEATURES])
            is_now, if_usual = model.logits(np.stack([row, np.where(mask, model.usual, row)]))
            assert found.logit == pytest.approx(is_now, abs=1e-4)
            assert found.groups.get(group, 0.0) == pytest.approx(is_now - if_usual, abs=1e-4)


def said(change: dict[str, float], row: Floats, is_noise: bool, pages: int = 5) -> list[str]:
    """The reasons in words."""
    found = weightiest(GROUPS, change, JudgedImage(lambda name: row.item(INDEX_OF_FEATURE[name]), is_noise, pages))
    return [str(one.message) for one in found]


def test_what_changes_much_is_a_reason() -> None:
    rows = [
        (0.25, True, []),
        (0.26, True, ["it is not a link"]),
        (-0.25, False, []),
        (-0.26, False, ["it is not a link"]),
        (9.0, False, []),
        (-9.0, True, []),
    ]
    for change, is_noise, expected in rows:
        assert said({"target": change}, features(), is_noise) == expected


def test_the_weightiest_reason_comes_first() -> None:
    found = said({"size": 1.0, "target": 3.0, "words": 2.0, "page": 9.0, "site": 8.0, "place": 0.5}, features(), True)
    assert found == ["it is not a link", "nothing describes it", "its size is not given"]


LARGE = {"width": log1p(300), "height": log1p(200)}
BANNER = {"width": log1p(468), "height": log1p(60), "advert's size": 1}
FAR = {"blocks to main text back": log1p(4), "blocks to main text ahead": log1p(50)}
BESIDE = FAR | {"blocks to main text ahead": log1p(3)}


def test_reasons_in_words() -> None:
    rows = [
        ("place", {"in main container": 1, "next block main": 1}, "", "it is in the main text"),
        ("place", {"in main container": 1, "last block main": 1}, "", "it is in the main text"),
        ("place", {"in main container": 1, **FAR}, "it is apart from the main text", ""),
        ("place", FAR, "it is apart from the main text", ""),
        ("place", BESIDE, "it is beside the main text, not in it", "it is beside the main text"),
        ("size", LARGE, "its size is 300 x 200", "its size is 300 x 200"),
        ("size", BANNER, "its size, 468 x 60, is a standard size of adverts", ""),
        ("size", {"width": log1p(600), "height": -1}, "its width is 600", "its width is 600"),
        ("size", {"width": -1, "height": log1p(90)}, "its height is 90", "its height is 90"),
        ("size", {"width": -1, "height": -1}, "its size is not given", ""),
        ("target", {}, "it is not a link", "it is not a link"),
        ("target", {"linked": 1}, "it links to another page", "it links to another page"),
        ("target", {"linked": 1, "to image": 1}, "it links to an image", "it links to an image"),
        ("target", {"linked": 1, "to itself": 1}, "it links to its own page", "it links to its own page"),
        ("target", {"to the front": 1, "to another site": 1}, "it links to a front page", "it links to a front page"),
        ("target", {"to another site": 1}, "it links to another site", "it links to another site"),
        ("site", {"pages with it": log1p(2)}, "3 of 5 pages of the site show it", ""),
        ("site", {"pages with it": log1p(5)}, "5 of 5 pages of the site show it", ""),
        ("site", {"pages with it": log1p(1)}, "", ""),
        ("site", {}, "", "no other of 5 pages of the site shows it"),
        ("elements", {"in aside": 1, "in figure": 1}, "it is in <aside>", "it is in <figure>"),
        ("elements", {"far symbol": 1, "near advert": 1}, "the elements around it have names typical of adverts", ""),
        ("elements", {"own main": 1}, "", "the elements around it have names typical of content"),
        ("elements", {"file person": 1}, "", ""),
        ("address", {"file person": 2}, "its file has a name typical of portraits", ""),
        ("address", {"file main": 1}, "", "its file has a name typical of content"),
        ("address", {"date in address": 1}, "", "its address has a date"),
        ("words", {}, "nothing describes it", ""),
        ("words", {"alt": 2}, "its description has no word of the page's title", "it is described"),
        ("words", {"alt": 2, "alt words": 1}, "", "its description has words of the page's title"),
        ("words", {"caption": 1}, "nothing describes it", "a caption follows it"),
        ("head", {"has head image": 1}, "the page names another image as its representative one", ""),
        ("head", {"has head image": 1, "head image": 1}, "", "the page names it as its representative image"),
        ("head", {}, "", ""),
        ("page", {"page is forum": 1}, "", ""),
    ]
    for group, row, of_noise, of_content in rows:
        found = np.zeros(len(FEATURES), np.float32)
        for name, feature in row.items():
            found[FEATURES.index(name)] = feature
        assert said({group: 9.0}, found, True) == [of_noise] * bool(of_noise)
        assert said({group: -9.0}, found, False) == [of_content] * bool(of_content)


@pytest.mark.parametrize(("pages", "of_content"), [(2, []), (3, ["no other of 3 pages of the site shows it"])])
def test_a_site_of_few_pages_tells_nothing(pages: int, of_content: list[str]) -> None:
    assert said({"site": -9.0}, features(), False, pages) == of_content
    assert said({"site": 9.0}, features(), True, 1) == []


def test_every_group_has_reasons() -> None:
    assert GROUPS.keys() == FEATURES_OF_GROUP.keys()
    told = {code for codes in GROUPS.values() for code in (*codes[0], *codes[1])}
    assert {code.name for code in NoiseReason if code not in told} == set(
        "UNSEEN ADVERT_ADDRESS KEYWORDS COMMON_WORDS BELOW_LIMIT ALL_TOGETHER BLOCKED_BY_LIST".split()
    )


def test_reasons_are_codes_with_values() -> None:
    image = JudgedImage(lambda name: log1p(11 if name == "pages with it" else 0), True, 39)
    reasons = (NoiseReason.SHOWN_ON_PAGES.reason(image), Reason(NoiseReason.KEYWORDS, {"words": ["ads", "{x}"]}))
    assert records(reasons) == [
        {"code": "shown_on_pages", "values": {"shown": 12, "pages": 39}},
        {"code": "keywords", "values": {"words": ["ads", "{x}"]}},
    ]
    assert stored_reasons(json.dumps(records(reasons))) == reasons
    pages, words = (str(one.message) for one in reasons)
    assert pages.startswith("12 of 39 ")
    assert words.endswith(": ads, {x}")
