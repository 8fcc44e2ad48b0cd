import pytest

from crawler.noise.image_evidence import Sighting
from crawler.noise.li2006 import MOST_ADDRESS, MOST_WORD, description
from crawler.page.text import words


def test_description() -> None:
    rows = [
        (Sighting("", "", ""), []),
        (Sighting("http://a.example.com/x_y-z.png", "", ""), ["a", "example", "com", "x", "y", "z", "png"]),
        (Sighting("https://www.b.org/Ads/TOP.gif?id=7", "", ""), ["b", "org", "ads", "top", "gif", "id", "7"]),
        (Sighting("http://a/1.jpg", "http://b/2.html", ""), ["a", "1", "jpg", "b", "2", "html"]),
        (Sighting("http://a/", "", "http://page/"), ["a"]),
        (Sighting("", "", "", alt="alt", title="title", anchor_text="text"), ["text", "alt", "title"]),
        (Sighting("http://a/ad/ad.gif", "", "", alt="Ad"), ["a", "ad", "ad", "gif", "ad"]),
        (Sighting("http://a/%E5%B9%BF%E5%91%8A.gif", "", ""), ["a", "广告", "gif"]),
        (Sighting("http://a/1", "", "", alt="广告位 Banner"), ["a", "1", "广告", "告位", "banner"]),
        (Sighting("http://a/1", "", "", alt="Don't click"), ["a", "1", "don't", "click"]),
        (Sighting("http://a/%zz%", "", ""), ["a", "zz"]),
    ]
    for sighting, expected in rows:
        assert list(description(sighting)) == expected


def test_ascii_is_cut_as_other_text_is() -> None:
    text = "".join(map(chr, range(1, 128))).replace("'", "")
    assert list(description(Sighting("", "", "", alt=text))) == words(text)


@pytest.mark.parametrize(("length", "kept"), [(MOST_WORD, MOST_WORD), (MOST_WORD + 1, MOST_WORD)])
def test_long_words_are_cut(length: int, kept: int) -> None:
    assert description(Sighting("", "", "", alt="x" * length)) == ("x" * kept,)


def test_long_addresses_are_cut() -> None:
    start = "http://a/"
    fits = start + "-" * (MOST_ADDRESS - len(start) - 1)
    assert description(Sighting(fits + "b", "", "")) == ("a", "b")
    assert description(Sighting(fits + "-b", "", "")) == ("a",)
    assert description(Sighting("", fits + "b", "")) == ("a", "b")
    assert description(Sighting("", fits + "-b", "")) == ("a",)
