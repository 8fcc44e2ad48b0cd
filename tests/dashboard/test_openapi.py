"""What programs are told of the data is what they get."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from sqlalchemy import URL

from crawler.dashboard import openapi
from crawler.dashboard.api import API
from crawler.dashboard.desk import Desk
from crawler.dashboard.door import Door
from crawler.dashboard.request import Request
from crawler.dashboard.routes import answer

DESCRIBED = json.loads(openapi.document(API))
TYPES: dict[str, tuple[type[Any], ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def wrong(value: Any, schema: Mapping[str, Any], place: str = "") -> list[str]:
    """Where a value is not as a schema says, of what the schemas here say at all."""
    if "$ref" in schema:
        return wrong(value, DESCRIBED["components"]["schemas"][schema["$ref"].rpartition("/")[2]], place)
    if "anyOf" in schema:
        found = [wrong(value, one, place) for one in schema["anyOf"]]
        return [] if [] in found else min(found, key=len)
    if "type" not in schema:
        return []
    kind = schema["type"]
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return [f"{place} is {type(value).__name__} and no {kind}"]
    if kind == "array":
        each = schema.get("prefixItems") or [schema.get("items", {})] * len(value)
        return [
            why for n, (one, of) in enumerate(zip(value, each, strict=True)) for why in wrong(one, of, f"{place}/{n}")
        ]
    if kind != "object":
        return []
    known, others = schema.get("properties", {}), schema.get("additionalProperties", "properties" not in schema)
    missing = [f"{place}/{name} is missing" for name in schema.get("required", ()) if name not in value]
    more = [f"{place}/{name} is not described" for name in value if name not in known and others is False]
    more += [f"{place}/{name} is not described" for name in value if name not in known and known]
    each = {name: known.get(name, others if isinstance(others, dict) else {}) for name in value}
    return missing + more + [why for name in value for why in wrong(value[name], each[name], f"{place}/{name}")]


@pytest.mark.parametrize(
    ("value", "schema", "right"),
    [
        (1, {"type": "integer"}, True),
        (True, {"type": "integer"}, False),
        (1, {"type": "number"}, True),
        (1.5, {"type": "integer"}, False),
        (None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        (1, {"anyOf": [{"type": "string"}, {"type": "null"}]}, False),
        ([1, "x"], {"type": "array", "items": {"type": "integer"}}, False),
        ({"a": 1}, {"type": "object", "additionalProperties": {"type": "integer"}}, True),
        ({"a": "x"}, {"type": "object", "additionalProperties": {"type": "integer"}}, False),
        ({}, {"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        ({"a": 1, "b": 2}, {"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
    ],
)
def test_what_is_wrong_is_found(value: Any, schema: Mapping[str, Any], right: bool) -> None:
    assert (wrong(value, schema) == []) is right


def test_the_description_is_whole() -> None:
    said = json.dumps(DESCRIBED)
    assert DESCRIBED["openapi"] == "3.1.0"
    assert set(DESCRIBED["paths"]) == set(API)
    names = [one["get"]["operationId"] for one in DESCRIBED["paths"].values()]
    assert len(names) == len(set(names))
    for name in DESCRIBED["components"]["schemas"]:
        assert f'"#/components/schemas/{name}"' in said, name
    for path, one in DESCRIBED["paths"].items():
        given = one["get"]["parameters"]
        assert {each["name"] for each in given if each["in"] == "path"} == {
            part[1:-1] for part in path.split("/") if part.startswith("{")
        }
        assert len({each["name"] for each in given}) == len(given)


@pytest.fixture(scope="module")
def desk(crawled: Path) -> Desk:
    """At a crawl of the demo, with a job that ran."""
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    settings.set("OUTPUT_DIR", str(crawled), priority="cmdline")
    return Desk(URL.create("sqlite", database=str(crawled / "crawl.db")), crawled, settings, Door())


@pytest.mark.parametrize("path", sorted(API))
def test_every_answer_is_as_it_is_described(desk: Desk, path: str) -> None:
    address = path
    for part in (part for part in path.split("/") if part.startswith("{")):
        address = address.replace(part, "1")
    found = answer(desk, Request("GET", address, headers={"host": "localhost"}))
    said = json.loads(found.body)
    schema = DESCRIBED["paths"][path]["get"]["responses"]["200" if found.status == 200 else "default"]
    assert wrong(said, schema["content"]["application/json"]["schema"], path) == []
    assert found.status in (200, 404), said


def test_people_can_read_what_there_is(desk: Desk) -> None:
    text = answer(desk, Request("GET", "/api", headers={"host": "localhost"})).body.decode()
    assert all(path in text for path in API)
