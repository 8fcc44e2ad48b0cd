import pytest

from crawler.contrib.lab.training.block_labels import GAP, labels

ONE = "the bees dance in the dark of the hive"
TWO = "a queen lays two thousand eggs on a day in may"
THREE = "drones are fed by the workers until autumn comes"


def test_labels() -> None:
    rows = [
        ([], ONE, []),
        ([ONE, ""], "", [0, 0]),
        ([ONE], ONE, [1]),
        (["home news sport", ONE, "", TWO, "imprint"], f"{ONE} {TWO}", [0, 1, 0, 1, 0]),
        # What a page says twice is in the gold once: where its neighbours are.
        ([ONE, "home news", TWO, ONE, THREE], f"{TWO} {ONE} {THREE}", [0, 0, 1, 1, 1]),
        ([TWO, ONE, THREE, "imprint", ONE], f"{TWO} {ONE} {THREE}", [1, 1, 1, 0, 0]),
        ([TWO, ONE, "imprint", ONE], f"{TWO} {ONE}", [1, 1, 0, 0]),
        # Where the gold has it twice, both are main text.
        ([ONE, TWO, ONE], f"{ONE} {TWO} {ONE}", [1, 1, 1]),
        # The gold in another order.
        ([ONE, TWO, THREE], f"{THREE} {ONE} {TWO}", [1, 1, 1]),
        ([THREE, "home", ONE], f"{ONE} {THREE}", [1, 0, 1]),
        # Short blocks have no run of four: they are main text between main texts only.
        ([ONE, "bees", TWO], f"{ONE} bees {TWO}", [1, 1, 1]),
        ([ONE, "bees", TWO], f"{ONE} {TWO}", [1, 0, 1]),
        (["bees", "news", ONE, TWO], f"bees {ONE} {TWO}", [1, 0, 1, 1]),
        (["a day", ONE, TWO], f"{ONE} {TWO}", [0, 1, 1]),
        # The gold begins otherwise than the page.
        (["home news sport", ONE], f"drones are few {ONE}", [0, 1]),
        # Half of a block.
        ([f"{ONE} and all that is said of it elsewhere", TWO], f"{ONE} {TWO}", [0.5, 1]),
        # Chinese is a token a character: five of ten.
        (["蜜 蜂 在 黑 暗 中 首 页 新 闻"], "蜜 蜂 在 黑 暗", [0.5]),
    ]
    for blocks, gold, found in rows:
        said = labels([block.split() for block in blocks], gold.split())
        assert said == pytest.approx(found, abs=0.06)


def test_a_long_way_between_two_anchors() -> None:
    gap = [f"word{at % 7}" for at in range(4 * GAP)]
    assert labels([ONE.split(), gap, TWO.split()], [*ONE.split(), *gap[:50], *TWO.split()])[::2] == [1, 1]
