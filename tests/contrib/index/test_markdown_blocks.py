"""Markdown is read as whole blocks."""

import pytest

from crawler.contrib.index.markdown_blocks import BlockKind, blocks, items

HEADING, PARAGRAPH, TABLE, LIST, QUOTE, CODE = BlockKind

ROWS: list[tuple[str, list[tuple[BlockKind, str]]]] = [
    ("", []),
    ("\n\n \n", []),
    ("a\nb\n\n\nc", [(PARAGRAPH, "a\nb"), (PARAGRAPH, "c")]),
    ("# a\nb", [(HEADING, "# a"), (PARAGRAPH, "b")]),
    ("#a\n####### b", [(PARAGRAPH, "#a\n####### b")]),
    ("\\# a", [(PARAGRAPH, "\\# a")]),
    ("```py\n# a\n\n- b\n```\nc", [(CODE, "```py\n# a\n\n- b\n```"), (PARAGRAPH, "c")]),
    ("````\n```\n````\na", [(CODE, "````\n```\n````"), (PARAGRAPH, "a")]),
    ("~~~\n```\n~~~\na", [(CODE, "~~~\n```\n~~~"), (PARAGRAPH, "a")]),
    ("```\na", [(CODE, "```\na")]),
    ("```a``` b", [(PARAGRAPH, "```a``` b")]),
    ("| a | b |\n| --- | --- |\n| 1 | 2 |\n\nc", [(TABLE, "| a | b |\n| --- | --- |\n| 1 | 2 |"), (PARAGRAPH, "c")]),
    ("a | b\nc", [(PARAGRAPH, "a | b\nc")]),
    ("- a\n- b\n\n- c\n\nd", [(LIST, "- a\n- b\n\n- c"), (PARAGRAPH, "d")]),
    ("- a\n\n  b\n\n c", [(LIST, "- a\n\n  b"), (PARAGRAPH, " c")]),
    ("1. a\nlazy\n2) b\n# c", [(LIST, "1. a\nlazy\n2) b"), (HEADING, "# c")]),
    ("- a\n  ```\n\n# b\n  ```\n- c", [(LIST, "- a\n  ```\n\n# b\n  ```\n- c")]),
    ("- ```\n  # b\n  ```\n# c", [(LIST, "- ```\n  # b\n  ```"), (HEADING, "# c")]),
    ("term\n:   meaning\n\n    more\n\nb", [(LIST, "term\n:   meaning\n\n    more"), (PARAGRAPH, "b")]),
    ("[^1]: a\n\n    b\n\nc", [(LIST, "[^1]: a\n\n    b"), (PARAGRAPH, "c")]),
    ("> a\n>\n> b\nc", [(QUOTE, "> a\n>\n> b"), (PARAGRAPH, "c")]),
    ("a\n- b", [(PARAGRAPH, "a"), (LIST, "- b")]),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_blocks(text: str, expected: list[tuple[BlockKind, str]]) -> None:
    assert [(block.kind, block.text) for block in blocks(text.split("\n"))] == expected


def test_items_keep_what_is_in_them() -> None:
    rows = [
        ("- a\n- b\n\n  c\n- d", ["- a", "- b\n\n  c", "- d"]),
        ("- a\n  - b\n  - c\n- d", ["- a\n  - b\n  - c", "- d"]),
        ("- a\n  ```\n- b\n  ```\n- c", ["- a\n  ```\n- b\n  ```", "- c"]),
    ]
    for text, expected in rows:
        [block] = blocks(text.split("\n"))
        assert ["\n".join(item).strip("\n") for item in items(block)] == expected
