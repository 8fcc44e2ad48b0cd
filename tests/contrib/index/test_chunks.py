"""A page in chunks, whose ids change with their own text only."""

import json
import random
from collections import Counter

import pytest

from crawler.contrib.index.chunk_size import LEAST_TOKENS, MOST_TOKENS, ChunkSizeError
from crawler.contrib.index.chunks import Chunk, chunk_changes, page_chunks
from crawler.contrib.index.page_sections import HeadingAnchor

URL = "https://example.org/bees"
SENTENCES = [f"Bee number {number} dances in the dark of the hive, and others follow." for number in range(400)]


def chunks(markdown: str, **options: object) -> list[Chunk]:
    return page_chunks(markdown, title="Bees", url=URL, **options)  # type: ignore[arg-type]


def paragraphs(first: int, count: int) -> str:
    return "\n\n".join(" ".join(SENTENCES[at : at + 5]) for at in range(first, first + 5 * count, 5))


PAGE = {"Dance": paragraphs(0, 12), "Honey": paragraphs(100, 3), "Wax": paragraphs(200, 20), "Sting": "No."}


def written(sections: dict[str, str]) -> str:
    return "\n\n".join(["# Bees", *(f"## {name}\n\n{text}" for name, text in sections.items())])


def test_fields() -> None:
    [chunk] = chunks("# Bees\n\n## Dance\n\nThey *dance*.", language="en")
    assert chunk.record() == {
        "id": "ad7aa8135f3f200b1e70d1e395c8c0c0-" + chunk.id[33:],
        "page_id": "ad7aa8135f3f200b1e70d1e395c8c0c0",
        "url": URL,
        "headings": ["Bees", "Dance"],
        "text": "They *dance*.",
        "language": "en",
        "tokens": 4,
        "place": 0,
    }
    assert len(chunk.id) == 32 + 1 + 16


def test_the_id_is_the_same_in_every_version() -> None:
    [chunk] = chunks("# Bees\n\n## Dance\n\nThey *dance*.")
    assert chunk.id[33:] == "f46b6606279b9333"


def test_all_of_the_text_is_there_once_and_in_order() -> None:
    found = chunks(written(PAGE), tokens=100)
    assert " ".join(chunk.text for chunk in found).split() == " ".join(PAGE.values()).split()
    assert max(chunk.tokens for chunk in found) <= 100
    numbers = Counter[tuple[str, ...]]()
    for chunk in found:
        assert chunk.place == numbers[chunk.headings]
        numbers[chunk.headings] += 1


def test_a_change_in_a_section_changes_its_chunks_only() -> None:
    chance = random.Random(1)
    old = chunks(written(PAGE), tokens=100)
    for _ in range(20):
        name = chance.choice([*PAGE])
        texts = PAGE[name].split("\n\n")
        texts.insert(chance.randint(0, len(texts)), f"A new one: {chance.random()}.")
        new = chunks(written(PAGE | {name: "\n\n".join(texts)}), tokens=100)
        changes = chunk_changes([chunk.id for chunk in old], new)
        of_section = {chunk.id for chunk in old if chunk.headings[-1] == name}
        assert changes.add
        assert {chunk.headings[-1] for chunk in changes.add} == {name}
        assert set(changes.delete) <= of_section
        assert len(changes.add) <= 5


def test_sections_come_go_and_move_without_changes_of_others() -> None:
    old_ids = [chunk.id for chunk in chunks(written(PAGE))]
    without_dance = {name: text for name, text in PAGE.items() if name != "Dance"}
    moved = dict(reversed(PAGE.items()))
    assert chunk_changes(old_ids, chunks(written(moved))).add == []
    assert chunk_changes(old_ids, chunks(written(without_dance))).add == []
    added = chunk_changes(old_ids, chunks(written({"New": "New.", **PAGE})))
    assert ([chunk.text for chunk in added.add], added.delete) == (["New."], [])


def test_equal_chunks_have_ids_of_their_own() -> None:
    found = chunks("# Bees\n\n## A\n\nSame.\n\n## A\n\nSame.\n\n## B\n\nSame.")
    assert len({chunk.id for chunk in found}) == 3
    assert [chunk.place for chunk in found] == [0, 1, 0]
    changes = chunk_changes([chunk.id for chunk in found], found[:1])
    assert (changes.add, changes.delete) == ([], [found[1].id, found[2].id])


def test_changes_of_an_empty_page_and_of_an_empty_index() -> None:
    found = chunks("Bees.")
    assert chunk_changes(iter([found[0].id] * 2), []).delete == [found[0].id]
    assert chunk_changes([], found).add == found


def test_an_anchor_changes_the_address_and_not_the_id() -> None:
    markdown = "# Bees\n\n## Dance\n\nThey dance."
    [plain] = page_chunks(markdown, title="Bees", url=f"{URL}#top")
    anchors = [HeadingAnchor(text="Dance", anchor="the dance#蜂%")]
    [anchored] = page_chunks(markdown, title="Bees", url=f"{URL}#top", anchors=anchors)
    assert (plain.url, anchored.url) == (f"{URL}#top", f"{URL}#the%20dance%23%E8%9C%82%25")
    assert plain.id == anchored.id


@pytest.mark.parametrize("tokens", [LEAST_TOKENS, MOST_TOKENS])
def test_sizes(tokens: int) -> None:
    assert max(chunk.tokens for chunk in chunks(written(PAGE), tokens=tokens)) <= tokens


@pytest.mark.parametrize("tokens", [LEAST_TOKENS - 1, MOST_TOKENS + 1, True, 40.0, "400", None])
def test_other_sizes_are_refused(tokens: object) -> None:
    with pytest.raises(ChunkSizeError) as raised:
        chunks("Bees.", tokens=tokens)
    assert raised.value.message.values["most"] == "8,000"


def test_a_counter_of_ones_own() -> None:
    found = chunks(written(PAGE), tokens=300, count=len)
    assert max(len(chunk.text) for chunk in found) <= 300
    assert all(chunk.tokens == len(chunk.text) for chunk in found)


def test_chinese_is_cut_between_sentences() -> None:
    text = "".join(f"第{number}只蜜蜂在黑暗的蜂巢里跳舞，别的蜜蜂跟着它。“往北飞！”" for number in range(60))
    found = chunks(text, tokens=100)
    assert "".join(chunk.text for chunk in found) == text
    assert all(chunk.text.endswith(("。", "”")) and 50 < chunk.tokens <= 100 for chunk in found[:-1])


def test_a_surrogate_is_no_error() -> None:
    [chunk] = page_chunks("a\ud800", title="\ud800", url="https://example.org/\ud800")
    assert json.loads(json.dumps(chunk.record()))["text"] == "a\ud800"


@pytest.mark.parametrize(
    "text",
    [
        "bees dance " * 20_000,
        "蜜蜂在黑暗" * 40_000,
        "a" * 200_000,
        "…" * 200_000,
        "." + '"' * 200_000,
        "`" * 200_000,
        "```\n" * 50_000,
        "# a\n\n" * 20_000,
        "\n".join(" " * (2 * depth) + "- a" for depth in range(400)),
        "- " * 50_000,
        "> " * 50_000,
        "| a" * 50_000 + "|\n" + "| --- " * 50_000 + "|\n" + "| a |\n" * 10_000,
        "# " + "[" * 200_000,
        "# " + "[a](" * 50_000,
        "a\\\n" * 60_000,
        "# " + "bees " * 40_000 + "\n\n" + "# x\n\na\n\n" * 2_000,
    ],
    ids=lambda text: text[:8],
)
@pytest.mark.long
def test_hostile_pages_take_linear_time_and_space(text: str) -> None:
    found = page_chunks(text)
    assert sum(len(chunk.text) for chunk in found) < 4 * len(text)
