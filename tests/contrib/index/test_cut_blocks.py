"""Blocks are whole in chunks, and cut into blocks of their kind where they are too large alone."""

import pytest
from markdown_it import MarkdownIt

from crawler.contrib.index.chunk_size import estimated_tokens
from crawler.contrib.index.cut_blocks import packed_blocks
from crawler.contrib.index.markdown_blocks import blocks


def cut(text: str, limit: int = 60) -> list[str]:
    return [*packed_blocks(blocks(text.split("\n")), limit, estimated_tokens)]


PARSER = MarkdownIt("commonmark").enable("table")


def kinds(text: str) -> list[str]:
    """The types of the outermost blocks, by another parser."""
    return [token.type for token in PARSER.parse(text) if token.level == 0 and token.nesting >= 0]


CODE = "\n".join(["```python", *(f"dance({number}, 'waggle')" for number in range(60)), "```"])
TABLE = "\n".join(["| bee | way |", "| --- | --- |", *(f"| number {n} | {n} metres north |" for n in range(40))])
LIST = "\n".join(f"- Bee number {number} dances in the dark." for number in range(40))
ORDERED = "\n".join(f"{number}. Bee number {number} dances in the dark." for number in range(1, 41))
QUOTE = "\n>\n".join(f"> Bee number {number} dances in the dark." for number in range(40))
PROSE = " ".join(f"Bee number {number} dances in the dark." for number in range(40))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CODE, "fence"),
        (TABLE, "table_open"),
        (LIST, "bullet_list_open"),
        (ORDERED, "ordered_list_open"),
        (QUOTE, "blockquote_open"),
        (PROSE, "paragraph_open"),
    ],
)
def test_pieces_are_of_the_kind_of_the_block(text: str, kind: str) -> None:
    pieces = cut(text)
    assert len(pieces) > 4
    assert all(kinds(piece) == [kind] for piece in pieces)
    assert all(estimated_tokens(piece) <= 60 for piece in pieces)


def test_lines_rows_and_items_are_whole() -> None:
    assert [line for piece in cut(CODE) for line in piece.split("\n")[1:-1]] == CODE.split("\n")[1:-1]
    assert [line for piece in cut(TABLE) for line in piece.split("\n")[2:]] == TABLE.split("\n")[2:]
    assert {tuple(piece.split("\n")[:2]) for piece in cut(TABLE)} == {tuple(TABLE.split("\n")[:2])}
    for text in (LIST, ORDERED):
        assert [line for piece in cut(text) for line in piece.split("\n")] == text.split("\n")


@pytest.mark.parametrize("block", [CODE, TABLE, LIST, QUOTE, PROSE])
def test_a_block_within_the_limit_is_whole(block: str) -> None:
    limit = int(estimated_tokens(block)) + 1
    texts = cut(f"Before.\n\n{block}\n\nAfter.", limit)
    assert sum(block in text for text in texts) == 1
    assert sum(block in text for text in cut(f"Before.\n\n{block}\n\nAfter.", limit - 2)) == 0


def test_code_in_an_item_keeps_its_fences() -> None:
    code = "\n".join(f"   dance({number}, 'waggle')" for number in range(60))
    pieces = cut(f"1. Run this:\n\n   ```sh\n{code}\n   ```\n2. Done.")
    assert pieces[0].startswith("1. Run this:")
    assert pieces[-1] == "2. Done."
    assert all(piece.startswith("```sh\n") and piece.endswith("\n```") for piece in pieces[1:-1])
    assert "".join(pieces).count("dance(") == 60


def test_a_row_and_a_line_over_the_limit_are_cut() -> None:
    row = "| a | " + "bees dance " * 100 + "|"
    line = "    call(" + "bees, dance, " * 100 + ")"
    for text in (f"| x | y |\n| --- | --- |\n| 1 | 2 |\n{row}\n| 3 | 4 |", f"```\n1\n{line}\n2\n```"):
        pieces = cut(text)
        assert all(estimated_tokens(piece) <= 60 for piece in pieces)
        assert "".join(pieces).count("bees") == 100
    assert cut(f"```\n{line}\n```")[0].startswith("```\n    call(bees")


def test_a_head_that_takes_half_of_the_size_is_there_once() -> None:
    head = "| " + " | ".join(f"name {number}" for number in range(20)) + " |"
    pieces = cut("\n".join([head, "| " + "--- | " * 20, *(f"| {number} |" for number in range(50))]), 60)
    assert "".join(pieces).count("name 7") == 1
    assert all(estimated_tokens(piece) <= 60 for piece in pieces)


@pytest.mark.parametrize("mark", ["> ", "- "])
def test_deep_nesting_ends(mark: str) -> None:
    for text in (mark * 3_000, "\n".join(mark * (n % 40) + "bees dance" for n in range(400))):
        assert all(estimated_tokens(piece) <= 20 for piece in cut(text, 20))
