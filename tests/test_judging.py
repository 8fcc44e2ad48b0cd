"""The judge as the settings have it, what leads to noise, and what is known of sites."""

from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as our_settings
from crawler.judging import Court, Shelf, counted, court_of, leads_to_noise
from crawler.noise.evidence import Evidence
from crawler.noise.sighting import Sighting
from crawler.noise.verdict import Judge, Verdict
from crawler.state.entries import Evidence as Counts

PAGE = "http://www.example.com/a"
THUMBNAIL = Sighting("http://img.example.com/1.png", "http://example.com/story", PAGE)
ELSEWHERE = THUMBNAIL._replace(target="http://shop.example.net/")


def settings(**changes: Any) -> Settings:
    ours = {name: value for name, value in vars(our_settings).items() if name.isupper()}
    return Settings(ours | changes)


@pytest.mark.parametrize(
    ("sighting", "verdict", "expected"),
    [
        (THUMBNAIL, Verdict(False, 0.1), False),
        (THUMBNAIL, Verdict(True, 0.9, decided_by="entropy"), False),
        (THUMBNAIL, Verdict(True, 0.9, decided_by="keyword"), True),
        (THUMBNAIL, Verdict(True, 0.9, decided_by="filter_list"), True),
        (THUMBNAIL, Verdict(True, 0.9, redundancy=0.3, decided_by="entropy"), False),
        (THUMBNAIL, Verdict(True, 0.9, redundancy=0.31, decided_by="entropy"), True),
        (ELSEWHERE, Verdict(True, 0.9, decided_by="entropy"), True),
        (ELSEWHERE, Verdict(False, 0.1, redundancy=0.9), False),
    ],
)
def test_a_page_is_noise_for_more_than_its_picture(sighting: Sighting, verdict: Verdict, expected: bool) -> None:
    assert leads_to_noise(sighting, verdict, 0.3) is expected


class Says:
    """A list that blocks these addresses, as these."""

    def __init__(self, *blocked: tuple[str, str]) -> None:
        self.blocked = blocked

    def hit(self, url: str, page: str, kind: str = "image") -> bool:
        return (url, kind) in self.blocked and page == PAGE


@pytest.mark.parametrize(
    ("blocked", "expected"),
    [
        ((THUMBNAIL.url, "image"), True),
        ((THUMBNAIL.target, "document"), True),
        ((THUMBNAIL.url, "document"), False),
        (("http://example.com/", "image"), False),
    ],
)
def test_the_word_of_a_list_is_final(blocked: tuple[str, str], expected: bool) -> None:
    said = Court(Judge(("redundancy",)), Says(blocked)).verdict(THUMBNAIL, Evidence())  # type: ignore[arg-type]
    assert (said.is_noise, said.decided_by) == (expected, "filter_list" if expected else "")


@pytest.mark.parametrize(("limit", "expected"), [(None, False), (0.5, False), (0.4, True), (0.41, False)])
def test_a_limit_of_one_s_own_decides(limit: float | None, expected: bool) -> None:
    evidence = Evidence(pages=100, shown={"img.example.com/1.png": 24})  # type: ignore[arg-type]
    said = Court(Judge(("redundancy",), redundancy_limit=0.3), limit=limit).verdict(THUMBNAIL, evidence)
    assert said.probability == pytest.approx(0.4)
    assert (said.is_noise, said.decided_by) == (expected, "probability" if expected else "")


def test_settings_make_the_court(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("banner 2\n")
    given = {"MODELS": "entropy, keyword", "LIMIT": "0.7", "KEYWORD_LIMIT": "1.5", "ENTROPY_LIMIT": "0.9"}
    given |= {"KEYWORDS": str(words), "REDUNDANCY_LIMIT": "0.4"}
    court = court_of(settings(**{f"IMAGE_NOISE_{name}": value for name, value in given.items()}))
    judge = court.judge
    assert (judge.models, judge.noise_words.weights) == (("entropy", "keyword"), {"banner": 2.0})
    assert (court.limit, judge.keyword_limit, judge.entropy_limit, judge.redundancy_limit) == (0.7, 1.5, 0.9, 0.4)


def test_the_settings_are_the_judge_s_own() -> None:
    assert court_of(settings()) == Court(Judge())


def test_a_shelf_holds_what_was_counted() -> None:
    one, two = counted([(THUMBNAIL,)]), counted([(THUMBNAIL, ELSEWHERE), ()])
    shelf = Shelf()
    assert shelf.of(None).pages == shelf.of(1).pages == 0
    shelf.take_in([Counts(1, True, [one]), Counts(2, True, [])], [])
    shelf.take_in([Counts(1, False, [two])], [2])
    assert (shelf.of(1).pages, shelf.of(1).links, shelf.of(2).pages) == (3, 3, 0)
    shelf.take_in([Counts(1, True, [two])], [])
    assert shelf.of(1).pages == 2
    shelf.take_in([], [1])
    assert shelf.of(1).pages == 0
