from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from crawler.extraction import EXTRACTORS
from crawler.noise.advert_marks import (
    counts_clicks,
    has_advert_address,
    has_banner_size,
    is_advert_address,
    is_repeated,
)
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.image_features import FEATURES, sightings
from crawler.noise.learned_model import CODES, SPLITS, NoiseModel
from crawler.noise.learned_model import FEATURES as MODEL_FEATURES
from crawler.noise.verdict import Judge, leads_to_noise
from crawler.noise.verdict_reasons import NoiseReason
from crawler.page.page import Page

ADVERT_ADDRESSES = (
    "http://a.example/ads/b.png",
    "http://a.example/en/Banners/b.png",
    "http://a.example/ads2/b.png",
    "http://ads.example.com/b.png",
    "https://ad1.example.com:8080/b.png",
    "http://x.adserver.example.com/b.png?ads",
    "http://a.example/guanggao/2024/b.gif",
)
OTHER_ADDRESSES = (
    "",
    "http://a.example/",
    "http://a.example/ads.png",
    "http://a.example/b/ads",
    "http://a.example/downloads/b.png",
    "http://ads.com/b.png",
    "http://a.example/b.png?from=/ads/c",
    "http://upload.a.example/thumb/a/ad/Bird.jpg/120px-Bird.jpg",
    "http://a.example/catchpic/A/AD/AD467F.jpg",
    "http://127.0.0.1:8000/b.png",
    "http://[::1]/b.png",
)


def test_addresses_of_adverts() -> None:
    assert [url for url in ADVERT_ADDRESSES if not is_advert_address(url)] == []
    assert [url for url in OTHER_ADDRESSES if is_advert_address(url)] == []


def test_programs_that_count_clicks() -> None:
    rows = [
        ("http://a.example/click?to=b", True),
        ("http://a.example/cgi-bin/click.cgi?id=1", True),
        ("http://a.example/adclick/7", True),
        ("http://a.example/clicker/7", False),
        ("http://a.example/b?click=1", False),
        ("http://click.example/b", False),
        ("", False),
    ]
    for url, counts in rows:
        assert counts_clicks(url) is counts


def test_on_a_page_about_adverts_their_folder_says_nothing() -> None:
    image = Sighting("http://a.example/sponsors/b.png", "", "http://a.example/news")
    assert has_advert_address(image)
    assert not has_advert_address(replace(image, page="http://a.example/sponsors/2024"))


def test_repetition() -> None:
    rows = [(3, 59, True), (3, 60, False), (2, 3, False), (3, 3, True), (0, 10, False)]
    for shown, pages, repeated in rows:
        assert is_repeated(shown / pages, pages) is repeated


def judge_of(probability: float, limit: float = 0.9) -> Judge:
    """A judge whose learned model gives every image the same probability."""
    logit = np.log(probability / (1 - probability))
    one_tree = np.full((1, CODES), logit, np.float32)
    no_splits = np.zeros((SPLITS, 1), np.intp)
    model = NoiseModel(no_splits, np.zeros((SPLITS, 1), np.float32), one_tree, np.zeros(len(MODEL_FEATURES)), limit)
    return Judge(models=("learned", "size", "redundancy"), learned=model)


PLAIN = Sighting("http://a.example/b.png", "", "http://a.example/news", compute_features=lambda: (0.0,) * len(FEATURES))
MARKED = {
    NoiseReason.ADVERT_SIZE: replace(PLAIN, size=(468, 60)),
    NoiseReason.ADVERT_ADDRESS: replace(PLAIN, target="http://a.example/click?id=1"),
    NoiseReason.KEYWORDS: replace(PLAIN, url="http://a.example/advertisement.png", target="http://b.example/"),
    NoiseReason.SHOWN_ON_PAGES: PLAIN,
}
ON_SOME_PAGES = Evidence(pages=20, links=20, pages_by_address=Counter({"a.example/b.png": 4}))
"""Too few for the redundancy model."""


def evidence_of(mark: NoiseReason) -> Evidence:
    return ON_SOME_PAGES if mark is NoiseReason.SHOWN_ON_PAGES else Evidence()


def test_one_mark_is_enough_if_noise_is_likely() -> None:
    for mark in MARKED:
        for probability, is_noise in [(0.76, True), (0.89, True), (0.74, False)]:
            verdict = judge_of(probability).judge(MARKED[mark], evidence_of(mark))
            assert verdict.is_noise is is_noise
            assert verdict.decided_by == ("learned" if is_noise else "")
            assert (mark in {reason.code for reason in verdict.reasons}) is is_noise
            assert (verdict.probability >= 0.95) is is_noise


@pytest.mark.parametrize(("probability", "is_noise"), [(0.89, False), (0.91, True)])
def test_without_a_mark_the_limit_decides(probability: float, is_noise: bool) -> None:
    assert judge_of(probability).judge(PLAIN, Evidence()).is_noise is is_noise


def test_sizes_of_banners_are_no_sizes_of_photos() -> None:
    rows = [
        ((468, 60), True),
        ((468, 61), False),
        ((88, 31), True),
        ((300, 250), False),
        ((180, 150), False),
        ((120, 600), True),
    ]
    for size, is_mark in rows:
        assert has_banner_size(replace(PLAIN, size=size)) is is_mark
        assert judge_of(0.8).judge(replace(PLAIN, size=size), Evidence()).is_noise is is_mark


PARAGRAPH = "<p>" + "The moth flies at night, and rests by day on the bark of the oak. " * 8
PLAIN_ADVERT = (
    "<html><head><title>The moth</title></head><body><div id=banner><a href='/ads/click?id={0}&from=4282'>"
    "<img src=/ads/banner{0}.png width=468 height=60 alt=''></a></div><div id=content><h1>The moth</h1>"
    f"{PARAGRAPH * 4}</div></body></html>"
)


def test_the_plainest_adverts_take_turns() -> None:
    """Twelve banners on sixty pages of a site: none of them is on a large share of the pages."""
    evidence = Evidence()
    shown_by_page: list[tuple[Sighting, ...]] = []
    for number in range(60):
        page = Page.from_html(PLAIN_ADVERT.format(number % 12), f"http://a.example/wiki/{number}")
        shown_by_page.append(sightings(page, EXTRACTORS["auto"](page)))
        evidence.see(shown_by_page[-1])
    verdicts = [Judge().judge(banner, evidence) for (banner,) in shown_by_page[:12]]
    assert all(verdict.is_noise for verdict in verdicts)
    leads = [leads_to_noise(banner, Judge().judge(banner, evidence), Judge(), 60) for (banner,) in shown_by_page[:12]]
    assert all(leads)
