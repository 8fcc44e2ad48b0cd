"""What programs are told of the data is what they get."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dashboards
import pytest
from dashboard_client import API, Request, answer
from scrapy.settings import Settings
from sqlalchemy import URL

from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.app import app
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.schedule.job_definition import column_values
from crawler.contrib.schedule.job_store import BY_HAND, DueRun, Jobs, RunPlace, find_job
from crawler.store.database import open_database
from crawler.store.labels import NOISE, Label, put_label
from crawler.store.page_tables import LabelKind

DESCRIBED = app.openapi()
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


def test_what_is_wrong_is_found() -> None:
    rows = [
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
    ]
    for value, schema, right in rows:
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
        given = one["get"].get("parameters", ())
        assert {each["name"] for each in given if each["in"] == "path"} == {
            part[1:-1] for part in path.split("/") if part.startswith("{")
        }
        assert len({each["name"] for each in given}) == len(given)


GIVEN = {"/api/cron": {"cron": "0 3 * * *"}}
"""What is asked with, where an address wants something."""


@pytest.fixture(scope="module")
def desk(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> DashboardContext:
    """At a crawl of the demo, with a job that ran and a mark."""
    output = dashboards.copy(crawled, tmp_path_factory.mktemp("described") / "output")
    url = URL.create("sqlite", database=str(output / "crawl.db"))
    engine = open_database(url)
    jobs = Jobs(engine)
    values = {"cron": "0 3 * * *", "timezone": "UTC", "spider": "topic", "crawl": "topic"}
    jobs.add("bees", lambda now: values | {"next_at": now + 60} | column_values({"seeds": "demo"}, {}))
    begun = jobs.start(find_job(jobs.all()[0], "bees"), DueRun(BY_HAND), RunPlace("here", "localhost"))
    assert begun is not None
    jobs.end(begun, 0, "topic")
    put_label(engine, Label(LabelKind.IMAGE, "topic", "http://a.example/1.png", "http://a.example/", NOISE))
    engine.dispose()
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    settings.set("OUTPUT_DIR", str(output), priority="cmdline")
    return DashboardContext(url, output, settings, AccessControl())


@pytest.mark.parametrize("path", sorted(API))
def test_every_answer_is_as_it_is_described(desk: DashboardContext, path: str) -> None:
    address = re.sub(r"{\w+}", "1", path)
    found = answer(desk, Request("GET", address, GIVEN.get(path, {}), headers={"host": "localhost"}))
    said = json.loads(found.body)
    assert found.status == 200, said
    schema = DESCRIBED["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert wrong(said, schema, path) == []


def test_an_error_is_as_it_is_described(desk: DashboardContext) -> None:
    found = answer(desk, Request("GET", "/api/pages/999999", headers={"host": "localhost"}))
    assert found.status == 404
    assert wrong(json.loads(found.body), {"$ref": "#/components/schemas/Error"}) == []


def test_people_can_read_what_there_is(desk: DashboardContext) -> None:
    text = answer(desk, Request("GET", "/api", headers={"host": "localhost"})).body.decode()
    assert all(path in text for path in API)
