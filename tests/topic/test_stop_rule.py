import pytest

from crawler.topic.stop_rule import Harvest, HarvestCounts, StopWhen


def harvest(shown: str, window: int, bound: float = 0.5) -> HarvestCounts:
    """That of pages on the topic (#) and others."""
    counted = Harvest(window, bound)
    for page in shown:
        counted.count(bound if page == "#" else bound - 0.01)
    return counted.counts


def test_shares() -> None:
    rows = [
        ("", 2, 0, 0),
        ("#", 2, 1, 1),
        ("#.", 2, 1 / 2, 1 / 2),
        ("#..", 2, 1 / 3, 0),
        ("..##", 2, 1 / 2, 1),
        ("#" * 50 + "." * 50, 20, 1 / 2, 0),
        ("." * 50 + "#" * 50, 80, 1 / 2, 5 / 8),
        (".#", 1, 1 / 2, 1),
    ]
    for shown, window, share, lately in rows:
        counted = harvest(shown, window)
        assert (counted.share, counted.share_lately) == (share, lately)
        assert (counted.pages, counted.on_topic) == (len(shown), shown.count("#"))


def test_the_bound_is_on_the_topic() -> None:
    for bound in [0.0, 0.3, 0.5, 1.0]:
        counted = Harvest(10, bound)
        counted.count(bound)
        assert counted.counts.share == 1
        counted.count(bound - 0.0001)
        assert counted.counts.share == 1 / 2


def test_when_it_ends() -> None:
    rows = [
        ("....", None, False),
        ("...", 0.5, False),
        ("....", 0.5, True),
        ("#...", 0.5, True),
        ("##..", 0.5, False),
        ("####....", 0.01, True),
        ("....####", 0.99, False),
    ]
    for shown, when, ends in rows:
        assert harvest(shown, 4).ends(when and StopWhen(when), 4) == ends


def test_in_words() -> None:
    rows = [
        ("", "On topic: 0 of 0 pages read (0%)."),
        ("#", "On topic: 1 of 1 page read (100%)."),
        ("#...", "On topic: 1 of 4 pages read (25%)."),
        ("#....", "On topic: 1 of 5 pages read (20%), 0% of the last 4."),
        ("#" * 3_000, "On topic: 3,000 of 3,000 pages read (100%), 100% of the last 4."),
    ]
    for shown, words in rows:
        assert str(harvest(shown, 4).words()) == words


def test_two_workers_together() -> None:
    both = harvest("#..", 2).plus(harvest("##", 2))
    assert both == HarvestCounts(pages=5, on_topic=3, last=4, on_topic_lately=2)
    assert (both.share, both.share_lately) == (3 / 5, 1 / 2)


def test_a_condition() -> None:
    rows = [
        ("harvest<0.05", 0.05),
        ("harvest < .5", 0.5),
        ("harvest<0.999999", 0.999999),
        ("harvest<0.000001", 0.000001),
    ]
    for text, share in rows:
        assert StopWhen.of(text) == StopWhen(share)


def test_no_condition() -> None:
    rows = (
        "harvest<0 harvest<1 harvest<1.0 harvest>0.5 harvest<-0.1 harvest<nan harvest<5% harvest= <0.5 Harvest<0.5 "
        "harvest<0,5 harvest<1e-3 harvest<٠.٥ harvest<0.0000001".split()
    )
    for text in rows:
        with pytest.raises(ValueError, match="is no condition"):
            StopWhen.of(text)
