"""Markdown: names that every file system can have, and front matter that is read as it was written."""

import json
import re

import yaml
from export_pages import FIELDS, ODD_TEXT, odd, several, stored

from crawler.export.markdown import BODY_FIELDS, markdown, path_of

NAME = re.compile(r"[a-z0-9_][a-z0-9.-]{0,80}/[a-z0-9-]{1,97}\.md")


def parts(data: bytes) -> tuple[list[str], str]:
    """The lines of the front matter, and what is below."""
    empty, front, body = data.decode().split("---\n", 2)
    assert empty == ""
    return front.split("\n")[:-1], body


def test_front_matter_is_read_by_yaml_and_line_by_line_by_json() -> None:
    for page in several():
        ((_, data),) = markdown([page], FIELDS)
        front, _ = parts(data)
        expected = {name: page.values[name] for name in FIELDS if name not in BODY_FIELDS}
        assert yaml.safe_load("\n".join(front)) == expected
        assert {(pair := line.split(": ", 1))[0]: json.loads(pair[1]) for line in front} == expected


def test_fields_that_are_not_wanted_are_not_there() -> None:
    ((_, data),) = markdown([stored(1)], ["title", "text", "status"])
    assert parts(data) == (['title: "Page 1"', "status: 200"], "\nBees 1.\n")


def test_the_body_is_the_markdown_or_the_text_without_any() -> None:
    rows = [
        ("plain *text*", "# Bees\n\n*dance*", "# Bees\n\n*dance*"),
        ("two\nlines", None, "two\n\nlines"),
        ("# no heading\n- item *one*\n1. two", "", "\\# no heading\n\n- item \\*one\\*\n\n1\\. two"),
        ("<script>alert(1)</script>\n    code", None, "\\<script>alert(1)\\</script>\n\ncode"),
        ("---\n- - -\n- # a", None, "\\---\n\n- \\- -\n\n- \\# a"),
    ]
    for text, stored_markdown, expected in rows:
        ((_, data),) = markdown([stored(1, text=text, markdown=stored_markdown)], ["url"])
        assert parts(data)[1] == f"\n{expected}\n"


def test_a_page_without_text_has_front_matter() -> None:
    ((_, data),) = markdown([stored(1, text="")], ["depth"])
    assert data == b"---\ndepth: 1\n---\n\n"


def test_names_are_those_that_any_system_can_have() -> None:
    rows = [
        "http://a.example/../../../etc/passwd",
        "http://a.example/%2e%2e%2f%2e%2e%2fetc",
        'http://a.example/a\\..\\b:c*?"<>|\x00\n',
        f"http://{'a' * 63}.{'b' * 63}.{'c' * 63}.example/{'d' * 2_000}",
        "http://a.example/蜜蜂",
        "http://a.example",
        "http://[::1]:8000/",
        "http://.../x",
        "http://../x",
        "http:///x",
        "http://nul/",
        "http://COM1.example/con",
        "http://-a.example/-",
    ]
    for url in rows:
        path = path_of(url, 5)
        assert NAME.fullmatch(path), path
        assert not re.match(r"(con|prn|aux|nul|com\d|lpt\d)[./]", path)
        assert ".." not in path.split("/")
        assert not path.split("/")[0].endswith(".")


def test_no_two_pages_have_one_name() -> None:
    pages = [
        stored(key, url=url)
        for key, url in enumerate(("http://a.example/A", "http://a.example/a", "http://A.example/a"))
    ]
    paths = [path for path, _ in markdown(pages, ["url"])]
    assert len({path.casefold() for path in paths}) == 3
    assert path_of("http://a.example/", -1) != path_of("http://a.example/", 2**63 - 1)


def test_nothing_that_a_page_says_ends_the_front_matter() -> None:
    ((_, data),) = markdown([odd()], FIELDS)
    assert yaml.safe_load("\n".join(parts(data)[0]))["title"] == ODD_TEXT
