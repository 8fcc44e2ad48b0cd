import pytest

from crawler.noise.image_evidence import Sighting
from crawler.noise.li2006 import NoiseWords, description, noise_words, shipped

GRADED = NoiseWords({"sms": 3.0, "banner": 2.0, "top": 1.0})


def test_formula_1_against_formula_2() -> None:
    rows = [
        (GRADED, ["sms"], 3.0, True),
        (GRADED, ["sms", "top", "story"], 2.0, False),  # N sigma itself is not over it
        (GRADED, ["sms", "banner", "banner"], 2.5, True),  # each word counts once
        (GRADED, ["top"], 1.0, False),
        (GRADED, ["story"], None, False),
        (GRADED, [], None, False),
        (NoiseWords({}), ["sms"], None, False),
    ]
    for vector, words, score, is_noise in rows:
        assert vector.score(words) == score
        assert vector.is_over(vector.score(words)) is is_noise


@pytest.mark.parametrize(("vector", "limit"), [(GRADED, 2.0), (NoiseWords({}), 0.0)])
def test_formula_2(vector: NoiseWords, limit: float) -> None:
    assert vector.limit == limit


@pytest.mark.parametrize(("limit", "is_noise"), [(2.4, True), (2.5, False)])
def test_a_limit_of_ones_own(limit: float, is_noise: bool) -> None:
    assert GRADED.is_over(2.5, limit) is is_noise


def test_lines() -> None:
    rows = [
        ([], {}),
        (["", "  ", "# banner 2"], {}),
        (["Banner 0.5 # ours"], {"banner": 0.5}),
        (["banner\t2"], {"banner": 2.0}),
        (["buy now 2"], {"buy": 2.0, "now": 2.0}),
        (["导航条 3"], {"导航": 3.0, "航条": 3.0}),
        (["468 1"], {"468": 1.0}),
        (["sms 1", "sms 2", "sms 1.5"], {"sms": 2.0}),
        (["sms 0"], {"sms": 0.0}),
    ]
    for lines, weights in rows:
        assert noise_words(lines).weights == weights


def test_words_that_are_shipped() -> None:
    rows = [
        ("https://img.example.com/ads/4711.gif", "", True),
        ("https://img.example.com/4711.gif", "点击进入广告", True),
        ("https://example.com/guanggao/1.gif", "", True),
        ("https://example.com/img/logo.svg", "", True),
        ("https://example.com/weixin/1.png", "", True),
        ("https://example.com/2024/05/flood-4711.jpg", "Flood in the valley", False),
        ("https://example.com/2024/05/4711.jpg", "洪水淹没山谷", False),
        ("https://example.com/next/4711.jpg", "", False),  # not enough by itself
        ("https://example.com/4711.jpg", "Photo of the logo", False),  # a word of the subject beside it
    ]
    for url, alt, is_noise in rows:
        vector = shipped()
        assert vector.is_over(vector.score(description(Sighting(url, "", "", alt=alt)))) is is_noise


def test_what_the_shipped_lists_say_of_their_weights() -> None:
    assert set(shipped().weights.values()) == {0.0, 0.8, 1.0}
    assert 0.8 < shipped().limit < 0.9
