"""Training from pages to weights, on a few made-up pages."""

import math
from dataclasses import astuple, replace

import numpy as np
import pytest
from gold_pages import row
from missing import need

from crawler.contrib.lab.training.auto_model import train
from crawler.contrib.lab.training.examples import PageExample, TooFewError, example, parts_of, snippets, weights_of
from crawler.extraction.auto.model import PAGE_TYPES, Model, judge
from crawler.extraction.auto.page_arrays import page_arrays
from crawler.page.page import Page

need("sklearn", "lightgbm")


def flat(model: Model) -> list[np.ndarray]:
    layers = [layer for net in model.networks for layer in (net.first, *net.layers, net.last)]
    steps = [array for layer in layers for array in (layer.weights, layer.bias)]
    return [
        *astuple(model.vocabulary),
        model.networks[0].means,
        model.networks[0].scales,
        *steps,
        *astuple(model.page_types),
    ]


def test_the_same_pages_and_seed_give_the_same_weights(examples: list[PageExample], model: Model) -> None:
    again, other = (train(examples, seed, 2, lambda _: None) for seed in (0, 1))
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(flat(model), flat(again), strict=True))
    assert not np.array_equal(model.networks[0].first.weights, other.networks[0].first.weights)
    assert not np.array_equal(model.networks[0].first.weights, model.networks[1].first.weights)


def test_the_model_learns(examples: list[PageExample]) -> None:
    said: list[str] = []
    taught = train(examples, 0, 60, said.append)
    assert said[-60].startswith("epoch 1: ")
    assert said[-1].startswith("epoch 60: ")
    for number in (14, 20):  # pages it has not arrays, of sites that it has
        one = row(number)
        page = Page.from_html(one["html"], one["url"])
        found = judge(page, taught)
        main = np.array([block.text in one["gold"] for block in page.blocks])
        assert found.probabilities[main].mean() > found.probabilities[~main].mean() + 0.5
        assert found.page_type == one["page_type"]


def test_main_text_is_what_the_first_set_calls_so(examples: list[PageExample]) -> None:
    """One set keeps the headline, the other leaves it out."""
    golden = [one for one in examples if one.is_golden]
    page = Page.from_html(row(14)["html"], row(14)["url"])
    at = [block.tag for block in page.blocks].index("h1")
    without = [
        replace(
            one, page_set="without", labels=np.where(np.arange(len(one.labels)) == one.labels.argmax(), 0, one.labels)
        )
        for one in golden
    ]
    headline = [
        judge(page, train(sets, 0, 25, lambda _: None)).probabilities[at]
        for sets in ([*golden, *without], [*without, *golden])
    ]
    assert headline[0] > headline[1] + 0.15


def test_types_that_no_example_has_are_never_told(examples: list[PageExample], model: Model) -> None:
    assert {PAGE_TYPES[at] for at in np.flatnonzero(model.page_types.bias > -15)} == {"article", "listing"}
    untyped = train([replace(one, page_type="") for one in examples], 0, 1, lambda _: None)
    assert {PAGE_TYPES[at] for at in np.flatnonzero(untyped.page_types.bias > -15)} == {"article"}


@pytest.mark.parametrize(
    ("kept", "change"),
    [
        (range(1), {}),  # one site
        (range(12, 13), {}),  # snippets only
        (range(12), {"labels": 1.0}),  # no noise
        (range(12), {"labels": 0.0}),  # no main text
        (range(12), {"site": "a.example"}),
    ],
)
def test_pages_that_teach_nothing(examples: list[PageExample], kept: range, change: dict[str, object]) -> None:
    some = [examples[at] for at in kept]
    if (label := change.get("labels")) is not None:
        some = [replace(one, labels=np.full_like(one.labels, label)) for one in some]
    else:
        some = [replace(one, **change) for one in some]
    with pytest.raises(TooFewError, match=r"^too few sites .* 5 parts "):
        train(some, 0, 1, lambda _: None)


def test_sites_are_in_one_part_each() -> None:
    found = parts_of([f"{at % 13}.example" for at in range(40)], 5, 1)
    assert len(found) == 13
    assert sorted(map(list(found.values()).count, range(5))) == [2, 2, 3, 3, 3]
    assert found == parts_of(reversed(list(found)), 5, 1) != parts_of(found, 5, 2)


def test_small_sets_weigh_more(examples: list[PageExample]) -> None:
    sizes = {"large": 400, "small": 100, "tiny": 1}
    some = [replace(examples[0], page_set=page_set) for page_set, size in sizes.items() for _ in range(size)]
    found = weights_of([*some, examples[-1]])
    assert (found[0], found[400], found[500], found[501]) == (1, pytest.approx(4**0.35), 3, 0.7)
    weak = weights_of([*some[:400], replace(some[400], is_weak=True), *some[401:]])
    assert weak[400] == found[400] / 2


def test_snippets() -> None:
    rows = [
        ((), (), [None] * 6),
        (["bees dance"], (), [1, None, None, None, None, None]),
        (["BEES, dance!"], ["the menu"], [1, 0, None, None, None, 0]),
        ([""], ["", "!"], [None] * 6),
        (["more"], (), [None] * 6),  # it stands too often to say which is meant
        ((), ["more"], [None, 0, 0, 0, 0, None]),
        (["bees"], ["bees dance"], [1, None, None, None, None, None]),
    ]
    for present, absent, found in rows:
        texts = ["Bees dance.", "The menu: more", "more", "More", "and more", "the menu"]
        one = snippets("a", "b", Page.from_html("".join(f"<p>{text}</p>" for text in texts)), present, absent)
        assert [None if math.isnan(share) else share for share in one.labels.tolist()] == found
        assert (one.is_golden, one.page_type) == (False, "")


def test_an_example() -> None:
    page = Page.from_html("<ul><li>News</ul><p>Bees dance in the dark.</p>")
    one = example("set", "site", page, "Bees dance in the dark!", "forum")
    assert one.labels.tolist() == [0, 1]
    assert (one.page_set, one.site, one.page_type, one.is_golden) == ("set", "site", "forum", True)
    assert np.array_equal(one.arrays.lengths, page_arrays(page).lengths)
