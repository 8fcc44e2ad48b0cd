"""The judge as the settings have it, what leads to noise, and what is known of sites."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as our_settings
from crawler.checked_settings import image_filter_of
from crawler.errors import ArgumentError
from crawler.frontier.batch import SiteEvidence as Counts
from crawler.noise import learned_model
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.li2006 import NoiseWords
from crawler.noise.verdict import ImageFilter, Judge, Verdict, leads_to_noise
from crawler.noise.verdict_reasons import NoiseReason
from crawler.spiders.links_and_images import EvidenceCache
from crawler.translation.reasons import Reason

PAGE = "http://www.example.com/a"
THUMBNAIL = Sighting("http://img.example.com/1.png", "http://example.com/story", PAGE)
ELSEWHERE = replace(THUMBNAIL, target="http://shop.example.net/")
NO_LINK = Reason(NoiseReason.NO_LINK, {})


def settings(**changes: Any) -> Settings:
    ours = {name: value for name, value in vars(our_settings).items() if name.isupper()}
    return Settings(ours | changes)


def test_a_page_is_noise_for_more_than_its_image() -> None:
    rows = [
        (THUMBNAIL, Verdict(False, 0.1), False),
        (THUMBNAIL, Verdict(True, 0.9, decided_by="entropy"), False),
        (THUMBNAIL, Verdict(True, 0.9, keyword=2.0, decided_by="learned"), False),
        (THUMBNAIL, Verdict(True, 0.9, keyword=2.1, decided_by="learned"), True),
        (THUMBNAIL, Verdict(True, 0.9, decided_by="filter_list"), True),
        (THUMBNAIL, Verdict(True, 0.9, redundancy=0.3, decided_by="entropy"), False),
        (THUMBNAIL, Verdict(True, 0.9, redundancy=0.31, decided_by="entropy"), True),
        (ELSEWHERE, Verdict(True, 0.9, decided_by="entropy"), True),
        (ELSEWHERE, Verdict(False, 0.1, redundancy=0.9), False),
    ]
    for sighting, verdict, expected in rows:
        judge = Judge(noise_words=NoiseWords({"ad": 3.0, "banner": 1.0}), redundancy_limit=0.3)
        assert leads_to_noise(sighting, verdict, judge, pages=100) is expected


@pytest.mark.parametrize(("pages", "expected"), [(2, False), (3, True)])
def test_few_pages_tell_nothing_of_the_page_behind(pages: int, expected: bool) -> None:
    assert leads_to_noise(THUMBNAIL, Verdict(True, 0.9, redundancy=1.0), Judge(), pages) is expected


class Says:
    """A list that blocks these addresses, as these."""

    def __init__(self, *blocked: tuple[str, str]) -> None:
        self.blocked = blocked

    def hit(self, url: str, page: str, kind: str = "image") -> bool:
        return (url, kind) in self.blocked and page == PAGE


def test_the_word_of_a_list_is_final() -> None:
    rows = [
        ((THUMBNAIL.url, "image"), True),
        ((THUMBNAIL.target, "document"), True),
        ((THUMBNAIL.url, "document"), False),
        (("http://example.com/", "image"), False),
    ]
    for blocked, expected in rows:
        said = ImageFilter(Judge(("redundancy",)), Says(blocked)).verdict(THUMBNAIL, Evidence())  # type: ignore[arg-type]
        assert (said.is_noise, said.decided_by) == (expected, "filter_list" if expected else "")


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        (Verdict(False, 0.1, reasons=(Reason(NoiseReason.IN_MAIN_TEXT, {}),)), ()),
        (Verdict(True, 0.9, reasons=(NO_LINK,)), (NO_LINK,)),
    ],
)
def test_no_reason_of_a_list_speaks_for_content(said: Verdict, reasons: tuple[Reason, ...]) -> None:
    class Known(Judge):
        def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
            return said

    image_filter = ImageFilter(Known(("redundancy",)), Says((THUMBNAIL.url, "image")))  # type: ignore[arg-type]
    assert image_filter.verdict(THUMBNAIL, Evidence()).reasons == (*reasons, Reason(NoiseReason.BLOCKED_BY_LIST, {}))


def test_settings_make_the_court() -> None:
    given = "entropy:0.9, keyword : 1.5,learned:0.7,redundancy:0.4,size"
    judge = image_filter_of(settings(IMAGE_NOISE_MODELS=given)).judge
    assert judge.models == ("entropy", "keyword", "learned", "redundancy", "size")
    assert (judge.learned_limit, judge.keyword_limit) == (0.7, 1.5)
    assert (judge.entropy_limit, judge.redundancy_limit) == (0.9, 0.4)


def test_a_model_without_a_limit_has_its_own() -> None:
    judge, own = image_filter_of(settings(IMAGE_NOISE_MODELS="entropy")).judge, Judge()
    assert judge.models == ("entropy",)
    assert (judge.entropy_limit, judge.redundancy_limit) == (own.entropy_limit, own.redundancy_limit)


def test_the_settings_are_the_judge_s_own() -> None:
    ours, own = image_filter_of(settings()).judge, Judge()
    assert (ours.models, ours.learned_limit) == (own.models, own.learned_limit)
    assert ours.keyword_limit == own.keyword_limit
    assert (ours.redundancy_limit, ours.entropy_limit) == (own.redundancy_limit, own.entropy_limit)


@pytest.mark.parametrize(
    ("models", "refused"), [("learned", True), ("keyword,learned", True), ("keyword", False)], ids=str
)
def test_weights_are_seen_to_be_whole_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: str, refused: bool
) -> None:
    monkeypatch.setattr(learned_model, "WEIGHTS", tmp_path / "weights.npz")
    learned_model.WEIGHTS.write_bytes(b"PK")
    learned_model.shipped.cache_clear()
    with pytest.raises(ArgumentError, match=r"'learned'.*weights\.npz") if refused else nullcontext():
        image_filter_of(settings(IMAGE_NOISE_MODELS=models))
    learned_model.shipped.cache_clear()


def counted(*pages: tuple[Sighting, ...]) -> str:
    """The record of the counts of some pages."""
    evidence = Evidence()
    for page in pages:
        evidence.see(page)
    return evidence.record()


def test_a_shelf_holds_what_was_counted() -> None:
    one, two = counted((THUMBNAIL,)), counted((THUMBNAIL, ELSEWHERE), ())
    cache = EvidenceCache()
    assert cache.of(None).pages == cache.of(1).pages == 0
    cache.update([Counts(1, True, [one]), Counts(2, True, [])], [])
    cache.update([Counts(1, False, [two])], [2])
    assert (cache.of(1).pages, cache.of(1).links, cache.of(2).pages) == (3, 3, 0)
    cache.update([Counts(1, True, [two])], [])
    assert cache.of(1).pages == 2
    cache.update([], [1])
    assert cache.of(1).pages == 0
