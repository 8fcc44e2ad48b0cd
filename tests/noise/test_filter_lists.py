import sys
from pathlib import Path

import pytest

from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.verdict import FilterLists, ImageFilter, Judge

LIST = """[Adblock Plus 2.0]
! a comment
||ads.example^
/banner/*$image
||click.example^$document
@@||ads.example/fair/
||shop.example^$third-party
"""


@pytest.fixture
def lists(tmp_path: Path) -> FilterLists:
    first, second = tmp_path / "list.txt", tmp_path / "more.txt"
    first.write_text(LIST, encoding="utf-8")
    second.write_text("||more.example^\n", encoding="utf-8")
    return FilterLists([first, second])


@pytest.mark.parametrize(
    ("url", "page", "kind", "hit"),
    [
        ("https://ads.example/1.gif", "https://news.example/", "image", True),
        ("https://ads.example/fair/1.gif", "https://news.example/", "image", False),
        ("https://news.example/banner/1.gif", "https://news.example/", "image", True),
        ("https://news.example/banner/", "https://news.example/", "document", False),
        ("https://click.example/", "https://news.example/", "document", True),
        ("https://click.example/1.gif", "https://news.example/", "image", False),
        ("https://shop.example/1.gif", "https://news.example/", "image", True),
        ("https://shop.example/1.gif", "https://shop.example/", "image", False),
        ("https://more.example/1.gif", "https://news.example/", "image", True),
        ("https://news.example/photo.jpg", "https://news.example/", "image", False),
        ("", "", "image", False),
        ("http://[", "nonsense", "image", False),
    ],
)
def test_hit(lists: FilterLists, url: str, page: str, kind: str, hit: bool) -> None:
    assert lists.hit(url, page, kind) is hit


@pytest.mark.parametrize(
    ("url", "target", "is_noise"),
    [
        ("https://ads.example/1.gif", "", True),
        ("https://ads.example/1.gif", "https://news.example/story", True),
        ("https://news.example/photo.jpg", "https://click.example/", True),
        ("https://news.example/photo.jpg", "https://news.example/story", False),
        ("https://news.example/photo.jpg", "", False),
    ],
)
def test_a_list_overrules_the_models(lists: FilterLists, url: str, target: str, is_noise: bool) -> None:
    sighting = Sighting(url, target, "https://news.example/")
    verdict = ImageFilter(Judge(models=()), lists).verdict(sighting, Evidence())
    decision = (True, 1.0, "filter_list") if is_noise else (False, 0.0, "")
    assert (verdict.is_noise, verdict.probability, verdict.decided_by) == decision


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"missing\.txt .*: No such file"):
        FilterLists([tmp_path / "missing.txt"])


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adblock", None)
    with pytest.raises(ValueError, match="pip install"):
        FilterLists([])
