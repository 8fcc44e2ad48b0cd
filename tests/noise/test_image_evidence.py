"""Images as pages show them, and pages that want to break what reads them."""

import json
import time

import pytest
from image_pages import TEXT, URL, page, seen

from crawler.noise.image_evidence import MOST_TEXT, Sighting
from crawler.noise.image_features import FEATURES, sightings
from crawler.page.page import Extraction

MOST_SECONDS = 3.0  # for 10,000 images, of which a crawl looks at 500; 0.6 where nothing else is at work
LINK = '<a href="http://b.example/x"><img src="/p.jpg" alt="A \u6d2a" title="T"> Text</a>'
MANY = 10_000


def test_what_a_page_shows() -> None:
    (found,) = seen(f"<p>{TEXT}{LINK}")
    texts = (found.url, found.target, found.page, found.alt, found.title, found.anchor_text)
    assert texts == ("http://www.example.org/p.jpg", "http://b.example/x", URL, "A 洪", "T", "Text")
    assert len(found.features) == len(FEATURES)


def test_a_sighting_comes_back() -> None:
    (found,) = seen(f"<p>{TEXT}{LINK}")
    record = found.record()
    again = Sighting.of(record)
    assert again.record() == record
    assert "\n" not in record
    assert (again.url, again.target, again.page, again.alt) == (found.url, found.target, found.page, found.alt)
    assert again.features == pytest.approx(found.features, rel=1e-5)


def test_a_sighting_without_a_page_comes_back() -> None:
    again = Sighting.of(Sighting("http://a.example/p.jpg", "", "").record())
    assert (again.url, again.features) == ("http://a.example/p.jpg", ())


def test_records_are_short() -> None:
    (found,) = seen(f"<p>{TEXT}{LINK}")
    numbers = json.loads(found.record())[-1]
    assert all(isinstance(feature, int) or len(str(feature)) <= 9 for feature in numbers)
    assert len(found.record()) < 1_200


@pytest.mark.parametrize("length", [MOST_TEXT, MOST_TEXT + 1])
def test_long_texts_are_cut(length: int) -> None:
    (found,) = seen(f"<a href=/x><img src=1 alt={'a' * length} title={'b' * length}>{'c' * length}</a>")
    assert {len(found.alt), len(found.title), len(found.anchor_text)} == {MOST_TEXT}


def test_features_are_read_once_and_only_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def features(_: object, index: int) -> tuple[float, ...]:
        asked.append(index)
        return (1.0,)

    monkeypatch.setattr("crawler.noise.image_features.features_of", features)
    found = sightings(page("<img src=1><img src=2><img src=3>"), Extraction("", ""))
    assert (len(found), asked) == (3, [])
    assert found[1].features == found[1].features == (1.0,)
    assert asked == [1]


PAGES = {
    "nothing": "",
    "many images": "".join(f"<p>Text {at}<a href=/x{at}><img src=/p{at}.jpg alt='A {at}'></a>" for at in range(MANY)),
    "many images in one block": f"<p>{'<img src=/p.jpg>' * MANY}",
    "many images deep down": "<div>" * 100 + "<p>x<img src=/p.jpg>" * MANY,
    "long attributes": "".join(
        f"<p class='{'ad ' * 100_000}'><img src=/p.jpg {name}='{'ad x ' * 200_000}'>"
        for name in ("alt", "title", "class", "id", "data-x", "style")
    ),
    "a long address": f"<img src='/{'a/' * 500_000}p.jpg'>",
    "a long query": f"<img src='/p.jpg?{'w=1&' * 250_000}'>",
    "a long target": f"<a href='/{'a-' * 500_000}'><img src=/p.jpg></a>",
    "a long name": f"<img src='/{'1x' * 500_000}.jpg'>",
    "a long title": f"<title>{'word ' * 200_000}</title><img src=/p.jpg alt='{'word ' * 200_000}'>",
    "deep nesting": "<div class=ad>" * 2_000 + "<p>x<img src=/p.jpg>" * 20,
    "deep inline nesting": "<span class=ad>" * 2_000 + "<img src=/p.jpg>" * 20,
    "noscript": "<noscript><img src=/p.jpg></noscript><p>x<noscript><p><img src=/q.jpg></p></noscript>",
    "no addresses": "<img src='data:image/gif;base64,R0lGOD'><img src='javascript:alert(1)'><img src=''><img>",
    "no targets": "<a href='javascript:x()'><img src=/p.jpg></a><a href='data:,x'><img src=/q.jpg></a>",
    "broken addresses": "<img src='http://[::1/p.jpg'><a href='http://[/'><img src='//a:99999/p.jpg'></a>",
    "lone surrogates": "<p class='\udcff'>\udcff<img src='/\udcff.jpg' alt='\udcff' title='\ud800' width=\udcff>",
    "many head images": "<meta property=og:image content=/wave.jpg>" * 5_000 + "<img src=/p.jpg>" * 100,
    "a long script": f"<script type=application/ld+json>{{'image': '{'x' * 1_000_000}'}}</script><img src=/photo.jpg>",
}


def test_no_page_is_too_much() -> None:
    for name in PAGES:
        found = page(PAGES[name])
        extraction = Extraction(TEXT, "", blocks=found.blocks[:100])
        assert len(found.images) <= MANY
        begin = time.process_time()
        shown = sightings(found, extraction)
        assert all(len(one.features) == len(FEATURES) for one in shown)
        assert time.process_time() - begin < MOST_SECONDS
        assert all(Sighting.of(one.record()).url == one.url for one in shown[:100])


@pytest.mark.parametrize(("name", "images"), [("noscript", 2), ("no addresses", 0), ("no targets", 2)])
def test_which_images_there_are(name: str, images: int) -> None:
    shown = seen(PAGES[name])
    assert len(shown) == images
    assert {one.target for one in shown} <= {""}
