"""JSON lines, read by a parser that takes nothing but JSON."""

import json
from typing import Any

import pytest
from export_pages import FIELDS, several

from crawler.export.export_pages import jsonl


def refuse(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("fields", [FIELDS, ["title"], ["images", "url"]])
def test_each_page_is_a_line_of_its_fields_in_their_order(fields: list[str]) -> None:
    data = b"".join(jsonl(several(), fields)).decode()
    assert data.endswith("\n")
    lines = data.split("\n")[:-1]
    assert data.splitlines() == lines  # whatever a reader takes for the end of a line
    found = [json.loads(line, parse_constant=refuse) for line in lines]
    assert [list(one) for one in found] == [fields] * 4
    assert found == [{name: page.values[name] for name in fields} for page in several()]


def test_of_no_page_there_is_no_line() -> None:
    assert list(jsonl([], FIELDS)) == []
