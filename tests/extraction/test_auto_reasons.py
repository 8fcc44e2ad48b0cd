"""Why the model keeps a block or leaves it out: the same verdict as auto's, and reasons that are true."""

import pytest

from crawler.extraction.auto import auto, block_features, page_arrays
from crawler.extraction.auto.explanation import GROUPS, BlockReason, JudgedBlock, explain, group_of
from crawler.extraction.auto.model import best_f, judge, judged, shipped
from crawler.page.page import Page
from crawler.translation.reasons import MOST_REASONS, records, weightiest

PROSE = "Bees dance in the dark of the hive, and others follow them out to the flowers. They come back with nectar."
PAGE = Page.from_html(
    "<head><title>How bees dance</title></head><body><nav><ul>"
    "<li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/log>Log in</a>"
    f"</ul></nav><main><article><h1>How bees dance</h1>{f'<p>{PROSE}' * 6}</article></main>"
    "<footer><p>Copyright. All rights reserved.</footer>"
)


def usual() -> dict[str, float]:
    """The features of a block of which there is nothing to say."""
    seen = page_arrays.page_arrays(PAGE)
    names = block_features.features(seen, shipped().vocabulary.scores(seen), page_arrays.ranges(seen)).names
    return dict.fromkeys(names, 0.0) | {"heading 0": 1.0, "after title": 0.0}


def test_probabilities_are_those_of_auto() -> None:
    judged, said = judge(PAGE, shipped()), explain(PAGE)
    assert [one.probability for one in said.blocks] == pytest.approx(judged.probabilities.tolist(), abs=1e-5)
    assert said.best == pytest.approx(best_f(judged.probabilities, judged.tokens, said.share), abs=1e-5)
    assert said.limit == pytest.approx(said.share * said.best)
    kept = [block for block, one in zip(PAGE.blocks, said.blocks, strict=True) if one.probability >= said.limit]
    assert tuple(kept) == auto(PAGE).blocks


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("Home", {"it is in <nav>", "100% of the elements around it is links"}, {"it is in <article>"}),
        ("Copyright. All rights reserved.", {"it is in <footer>", "it is at the end of the page"}, set()),
        (PROSE, {f"it has sentences ({len(PROSE)} characters)", "there are sentences next to it"}, {"in <nav>"}),
    ],
)
def test_reasons_of_a_page(text: str, some: set[str], none: set[str]) -> None:
    said = explain(PAGE)
    mine = [one.reasons for block, one in zip(PAGE.blocks, said.blocks, strict=True) if block.text == text]
    assert mine
    for reasons in mine:
        found = {str(one.message) for one in reasons}
        assert found & some
        assert not found & none
        assert 0 < len(reasons) <= MOST_REASONS


def test_each_feature_is_in_a_group() -> None:
    named = {group_of(name) for name in usual()}
    assert named == {*GROUPS, "page"}


def test_groups_in_words() -> None:
    rows = [
        ("text", {"length": 5.0, "stops": 1.0}, True, "it has sentences (147 characters)"),
        ("text", {"length": 5.5}, True, "it is long (244 characters)"),
        ("text", {"length": 4.0}, True, None),
        ("text", {"length": 3.0}, False, "it is short and has no full stop (19 characters)"),
        ("text", {"length": 4.0}, False, "it has no full stop (54 characters)"),
        ("text", {"length": 4.0, "stops": 1.0}, False, None),
        ("links", {"density": 0.9}, False, "90% of it is links"),
        ("links", {"density": 0.1}, False, None),
        ("links", {"density": 0.1}, True, "no more than 10% of it is links"),
        ("links", {"density": 0.05}, True, "no more than 5% of it is links"),
        ("links", {"density": 0.04}, True, "almost none of it is links"),
        ("links", {"density": 0.0}, False, None),
        ("links", {"density": 0.9}, True, None),
        ("words", {"word score": 1.0}, True, "its words are typical of main text"),
        ("words", {"word score": 1.0}, False, None),
        ("words", {"word score": -1.0}, False, "its words are typical of menus and notices"),
        ("elements", {"in nav": 1.0}, False, "it is in <nav>"),
        ("elements", {"in nav": 1.0, "tag 1": 1.0}, True, "its element is <p>"),
        ("elements", {}, True, None),
        ("names", {"own names": 1.0}, True, "the elements around it have names typical of main text"),
        ("names", {"own names": -1.0}, True, None),
        ("names", {"own names": -1.0}, False, "the elements around it have names typical of a page's frame"),
        ("place", {"text before": 0.0, "text after": 1.0}, False, "it is at the start of the page"),
        ("place", {"text before": 1.0, "text after": 0.0}, False, "it is at the end of the page"),
        ("place", {"text before": 0.5, "text after": 0.5}, False, None),
        ("place", {"text before": 0.5, "text after": 0.5}, True, "it is in the middle of the page"),
        ("place", {"copies": 0.7}, False, "the page contains the same text more than once"),
        ("titles", {"is title": 1.0}, True, "it is the headline"),
        ("titles", {"before title": 1.0}, False, "it is before the headline"),
        ("titles", {"before title": 1.0}, True, None),
        ("described", {"in body": 0.9}, True, "the page's structured data names it as the article"),
        ("described", {"in body": 0.9}, False, None),
        ("neighbours", {"prose ahead": 0.7}, True, "there are sentences next to it"),
        ("neighbours", {"prose ago": 3.0, "prose ahead": 3.0}, False, "the next sentences are 19 lines away"),
        ("neighbours", {"density +1": 1.0, "density -1": 1.0}, False, "there are links before it and after it"),
        ("headings", {"heading 0": 0.0}, True, "it is below a heading"),
        ("headings", {}, False, "there is no heading above it"),
        ("containers", {"prose share ^2": 0.8}, True, "the elements around it have 80% of the page's sentences"),
        ("containers", {"density ^1": 0.8}, False, "80% of the elements around it is links"),
        ("path", {"path width": 4.0, "path linked": 4.0}, False, "most lines of the same elements are links"),
        ("path", {"path width": 4.0, "path prose": 4.0}, True, "most lines of the same elements are sentences"),
    ]
    for group, changed, is_text, expected in rows:
        block = JudgedBlock((usual() | changed).__getitem__, is_text)
        found = weightiest(GROUPS, {group: 9.0 if is_text else -9.0}, block)
        assert [str(one.message) for one in found] == [expected] * bool(expected)


@pytest.mark.parametrize(("count", "is_explained"), [(1_000, True), (1_001, False)])
def test_pages_of_too_many_blocks_have_no_reasons(count: int, is_explained: bool) -> None:
    page = Page.from_html("<p>Bees dance.</p>" * count)
    said = explain(page)
    assert [block.probability for block in said.blocks] == pytest.approx(page.once(judged).probabilities, abs=1e-5)
    assert len(said.blocks) == count
    assert bool(said.blocks[0].reasons) is is_explained


def test_a_page_without_a_block() -> None:
    assert explain(Page.from_html("")).blocks == ()


def test_every_reason_is_of_a_group() -> None:
    told = {code for codes in GROUPS.values() for code in (*codes[0], *codes[1])}
    assert {code.name for code in BlockReason if code not in told} == {"ALL_TOGETHER", "COMMON", "IN_DOUBT", "PART"}


def test_reasons_are_codes_with_values() -> None:
    block = JudgedBlock({"density": 0.5}.__getitem__, False)
    (found,) = weightiest(GROUPS, {"links": -1.0}, block)
    assert records([found]) == [{"code": "links", "values": {"linked": 0.5}}]
    assert str(found.message).startswith("50% ")
