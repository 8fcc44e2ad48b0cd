"""The models that are compared say what they say alone."""

import importlib.util
from pathlib import Path

import pytest

from crawler.evaluation.evaluate_images import models
from crawler.noise.evidence import Evidence
from crawler.noise.sighting import Sighting

PAGE = "http://a.example/"
ADVERT = Sighting("http://b.example/ads/banner.gif", "", PAGE)
PHOTO = Sighting("http://a.example/bee.jpg", "http://b.example/track?1", PAGE, alt="A bee")
WITH_ADBLOCK = pytest.mark.skipif(importlib.util.find_spec("adblock") is None, reason="adblock is not installed")


def counts(*pages: tuple[Sighting, ...]) -> Evidence:
    found = Evidence()
    for page in pages:
        found.see(page)
    return found


def test_names_in_the_order_of_the_table() -> None:
    names = ["joint verdict", "keyword", "redundancy", "entropy", "the three joined", "everything is content"]
    assert list(models(())) == names


def test_a_model_alone_scores_by_its_own_figure() -> None:
    evidence = counts(*[(ADVERT, PHOTO)] * 3, (ADVERT,))
    said = {name: model.judge(PHOTO, evidence) for name, model in models(()).items()}
    assert said["keyword"].probability == -1  # it knows nothing of the words, which is less than to know little
    assert said["redundancy"].probability == 0.75
    assert said["redundancy"].is_noise
    assert said["entropy"].probability == said["the three joined"].entropy > 0
    assert said["everything is content"][:2] == (False, 0)


def test_all_three_speak_in_the_joined_one() -> None:
    said = models(())["the three joined"].judge(ADVERT, counts(*[(ADVERT, PHOTO)] * 3))
    assert None not in (said.keyword, said.redundancy, said.entropy)


@WITH_ADBLOCK
def test_lists_say_what_they_would_block_or_what_leads_there(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("/ads/banner\n")
    model = models((path,))["filter lists"]
    linked = Sighting("http://a.example/c.jpg", "http://b.example/ads/banner/", PAGE)
    assert [model.judge(one, Evidence())[:2] for one in (ADVERT, PHOTO)] == [(True, 1), (False, 0)]
    path.write_text("||b.example^$document\n/ads/banner\n")
    assert models((path,)) is not None
    assert isinstance(model.judge(linked, Evidence()).is_noise, bool)


@WITH_ADBLOCK
def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        models((tmp_path / "none.txt",))
