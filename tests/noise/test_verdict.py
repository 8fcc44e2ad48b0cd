from collections import Counter
from dataclasses import replace

import pytest

from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.image_features import FEATURES, sightings
from crawler.noise.li2006 import NoiseWords
from crawler.noise.verdict import MODELS, Judge, ModelVerdict, Verdict, verdicts
from crawler.noise.verdict_reasons import NoiseReason
from crawler.page.page import Extraction, Page
from crawler.translation.reasons import Reason

BANNER = Sighting("http://a/ads/top_banner.gif", "http://b/", "http://a/")
STORY = Sighting("http://a/2024/flood.jpg", "", "http://a/", alt="The valley")
EMPTY = Evidence()
PAPER = ("keyword", "redundancy", "entropy")


def site(pages: int, showing: int, one: Sighting = STORY) -> Evidence:
    """Evidence of a site where so many pages show the image, and the others one of their own."""
    found = Evidence()
    for at in range(pages):
        found.see([one if at < showing else Sighting(f"http://c{at}/n{at}.x{at}", "", "")])
    return found


def test_the_reason_of_keywords() -> None:
    verdict = Judge(models=("keyword",)).judge(BANNER, EMPTY)
    reason = Reason(NoiseReason.KEYWORDS, {"words": ["ads", "banner"]})
    assert verdict == Verdict(
        True, pytest.approx(1.0), keyword=1.0, redundancy=None, entropy=None, reasons=(reason,), decided_by="keyword"
    )


def test_the_reason_of_redundancy() -> None:
    verdict = Judge(models=("redundancy",)).judge(STORY, site(40, 38))
    assert verdict.is_noise
    assert verdict.probability == pytest.approx(0.5 + (0.95 - 0.3) / 0.7 / 2)
    assert (verdict.keyword, verdict.redundancy) == (None, 0.95)
    assert verdict.reasons == (Reason(NoiseReason.SHOWN_ON_PAGES, {"shown": 38, "pages": 40}),)


def test_the_reason_of_entropy() -> None:
    evidence = site(10, 10, BANNER)
    verdict = Judge(models=("entropy",)).judge(BANNER, evidence)
    assert (verdict.is_noise, verdict.entropy) == (True, pytest.approx(1.0))
    assert verdict.reasons == (Reason(NoiseReason.COMMON_WORDS, {"words": ["a", "ads", "b", "banner", "gif"]}),)


def test_all_models_say_why() -> None:
    verdict = Judge(models=PAPER).judge(BANNER, site(10, 10, BANNER))
    assert verdict.is_noise
    assert len(verdict.reasons) == 3
    assert verdict.probability == pytest.approx(1.0)
    assert None not in (verdict.keyword, verdict.redundancy, verdict.entropy)


def test_an_image_of_a_story_is_none() -> None:
    for models in [(), ("keyword",), ("redundancy", "entropy"), tuple(MODELS)]:
        verdict = Judge(models=models).judge(STORY, site(10, 1))
        assert (verdict.is_noise, verdict.reasons) == (False, ())
        assert verdict.probability < 0.5


def test_one_model_is_enough() -> None:
    verdict = Judge(models=PAPER).judge(BANNER, site(10, 1))
    assert (verdict.is_noise, verdict.probability, verdict.redundancy) == (True, pytest.approx(1.0), 0.0)
    assert len(verdict.reasons) == 1


def test_all_scores_are_told_whichever_models_decide() -> None:
    verdict = Judge(models=("redundancy",)).judge(BANNER, site(10, 1))
    assert (verdict.is_noise, verdict.keyword, verdict.redundancy) == (False, pytest.approx(1.0), 0.0)
    assert verdict.entropy == pytest.approx(0.0)


@pytest.mark.parametrize(("limit", "is_noise"), [(0.49, True), (0.5, False)])
def test_the_limit_of_redundancy(limit: float, is_noise: bool) -> None:
    assert Judge(models=("redundancy",), redundancy_limit=limit).judge(STORY, site(10, 5)).is_noise is is_noise


@pytest.mark.parametrize(("showing", "is_noise"), [(2, False), (3, True)])
def test_so_many_pages_must_show_an_address(showing: int, is_noise: bool) -> None:
    assert Judge(models=("redundancy",)).judge(STORY, site(4, showing)).is_noise is is_noise


@pytest.mark.parametrize(("pages", "is_noise"), [(2, False), (3, True)])
def test_words_repeat_over_so_many_pages(pages: int, is_noise: bool) -> None:
    verdict = Judge(models=("entropy",)).judge(BANNER, site(pages, pages, BANNER))
    assert (verdict.is_noise, verdict.entropy) == (is_noise, pytest.approx(1.0))


@pytest.mark.parametrize(("limit", "is_noise"), [(0.49, True), (0.51, False)])
def test_the_limit_of_entropy(limit: float, is_noise: bool) -> None:
    evidence = Evidence(pages=3, links=16, word_counts=Counter(all=4))
    judge = Judge(models=("entropy",), entropy_limit=limit)
    assert judge.judge(Sighting("", "", "", alt="all"), evidence).is_noise is is_noise


@pytest.mark.parametrize(("limit", "is_noise"), [(None, False), (1.9, True), (2.0, False)])
def test_the_limit_of_keywords(limit: float | None, is_noise: bool) -> None:
    words = NoiseWords({"flood": 2.0, "fire": 1.0, "ad": 3.0})
    judge = Judge(models=("keyword",), noise_words=words, keyword_limit=limit)
    assert judge.judge(STORY, EMPTY).is_noise is is_noise


def test_words_against_noise_are_no_reason() -> None:
    words = NoiseWords({"top": 1.0, "banner": 9.0, "ads": 9.0, "gif": 0.0})
    (reason,) = Judge(models=("keyword",), noise_words=words, keyword_limit=4).judge(BANNER, EMPTY).reasons
    assert reason.values == {"words": ["ads", "banner"]}


def test_scores_as_probabilities() -> None:
    rows = [
        (ModelVerdict(), 0.0),
        (ModelVerdict(score=0.0, limit=0.4), 0.0),
        (ModelVerdict(score=0.2, limit=0.4), 0.25),
        (ModelVerdict(score=0.4, limit=0.4), 0.5),
        (ModelVerdict(score=0.4, limit=0.4, is_noise=True), 0.5),
        (ModelVerdict(score=0.7, limit=0.4, is_noise=True), 0.75),
        (ModelVerdict(score=1.0, limit=0.4, is_noise=True), 1.0),
        (ModelVerdict(score=9.0, limit=0.4, is_noise=True), 1.0),
        (ModelVerdict(score=1.0, limit=1.0, is_noise=True), 0.5),
        (ModelVerdict(score=0.0, limit=0.0), 0.0),
    ]
    for opinion, probability in rows:
        assert opinion.probability == pytest.approx(probability)


def test_what_nobody_sees_is_noise() -> None:
    rows = [((1, 1), True), ((2, 2), True), ((0, 0), True), ((3, 2), False), ((800, 0), False), ((1, None), False)]
    for size, is_noise in rows:
        verdict = Judge(models=("size",)).judge(replace(STORY, size=size), EMPTY)
        assert (verdict.is_noise, verdict.decided_by) == (is_noise, "size" if is_noise else "")
        assert verdict.reasons == (Reason(NoiseReason.UNSEEN, {"width": size[0], "height": size[1]}),) * is_noise


def test_a_page_s_own_image_is_seen() -> None:
    html = '<meta property="og:image" content="/flood.jpg"><img src="/flood.jpg" width=0 height=0>'
    (one,) = sightings(Page.from_html(html, "http://a/"), Extraction("", ""))
    assert one.features[FEATURES.index("head image")]
    assert not Judge(models=("size",)).judge(one, EMPTY).is_noise


def test_signs_of_notes_are_noise_on_few_pages() -> None:
    rows = [
        ("note.svg", 3, True),
        ("note.svg", 2, False),
        ("warning_24.png", 3, True),
        ("notes-of-a-visit.jpg", 3, False),
    ]
    for name, showing, is_noise in rows:
        one = replace(STORY, url=f"http://a/note/{name}")
        verdict = Judge(models=("redundancy",)).judge(one, site(40, showing, one))
        assert verdict.is_noise is is_noise
        said = (Reason(NoiseReason.SHOWN_ON_PAGES, {"shown": 3, "pages": 40}), Reason(NoiseReason.FILE_CALLOUT, {}))
        assert verdict.reasons == (said if is_noise else ())


@pytest.mark.parametrize("sizes", [((1, 1), (640, 480)), ((640, 480), (1, 1))])
def test_an_image_that_a_page_shows_twice_is_content_if_one_of_them_is(sizes: tuple[tuple[int, int], ...]) -> None:
    shown = [replace(STORY, size=size) for size in sizes]
    verdict_of_image = verdicts(shown, Judge(models=("size",)), EMPTY)
    assert {url: verdict.is_noise for url, verdict in verdict_of_image.items()} == {STORY.url: False}
