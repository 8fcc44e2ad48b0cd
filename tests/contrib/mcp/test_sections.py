"""The headings of a page's Markdown."""

import time

import pytest

from crawler.contrib.mcp.sections import section_named, sections

PAGE = "intro\n# Bees\nall\n## Dance\nround\n### Angle\nsun\n## Honey\nsweet\n# Wasps\nno"
CODE = "# Bees\n````sh\n# no\n```\n# no\n````\n## Dance\n```\n# never closed"


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("Bees", "# Bees\nall\n## Dance\nround\n### Angle\nsun\n## Honey\nsweet\n"),
        ("## Dance", "## Dance\nround\n### Angle\nsun\n"),
        ("  angle ", "### Angle\nsun\n"),
        ("Honey", "## Honey\nsweet\n"),
        ("WASPS", "# Wasps\nno"),
    ],
)
def test_a_section_ends_at_the_next_heading_of_its_level(heading: str, text: str) -> None:
    section = section_named(sections(PAGE), heading)
    assert section is not None
    assert PAGE[section.start : section.end] == text


@pytest.mark.parametrize("heading", ["Bee", "", "intro", "#"])
def test_no_such_heading(heading: str) -> None:
    assert section_named(sections(PAGE), heading) is None


def test_of_equal_headings_the_one_at_the_position_is_found() -> None:
    first, second = sections("# A\nx\n# A\ny")
    for position, section in [(0, first), (5, first), (6, second), (10, second), (11, None)]:
        assert section_named([first, second], "a", position) == section


def test_sizes_include_what_is_below() -> None:
    assert [(section.title, round(section.tokens, 1)) for section in sections(PAGE)] == [
        *(("Bees", 15.6), ("Dance", 7.8), ("Angle", 3.9), ("Honey", 3.9), ("Wasps", 3.9))
    ]


def test_code_has_no_headings() -> None:
    assert [section.title for section in sections(CODE)] == ["Bees", "Dance"]


def test_many_headings_take_a_moment() -> None:
    began = time.process_time()
    assert len(sections("# a\n###### b\n" * 20_000)) == 40_000
    assert time.process_time() - began < 2
