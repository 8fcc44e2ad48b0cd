"""The description of `/api/` for programs: OpenAPI 3.1, made from what the views are annotated with."""

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from crawler import __version__
from crawler.dashboard.parameters import Parameter
from crawler.translation.message import Message

if TYPE_CHECKING:
    from crawler.dashboard.api import Api

ADDRESS = "/api/openapi.json"
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", Message: "string", type(None): "null"}


def document(api: Mapping[str, "Api"]) -> bytes:
    """The whole description as JSON."""
    schemas: dict[str, Any] = {
        "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    }
    paths = {path: {"get": _operation(path, one, schemas)} for path, one in sorted(api.items())}
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Winnow",
                "version": __version__,
                "description": "What the dashboard shows of all crawls.",
            },
            "paths": paths,
            "components": {"schemas": schemas},
        }
    ).encode()


def _operation(path: str, api: "Api", schemas: dict[str, Any]) -> dict[str, Any]:
    returns = get_type_hints(api.data)["return"]
    numbers = [name[1:-1] for name in path.split("/") if name.startswith("{")]
    given: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer"}} for name in numbers
    ]
    given += [_parameter(one) for one in api.parameters if one.name not in numbers]
    return {
        "summary": api.about,
        "operationId": "_".join(part for part in path.replace("{", "").replace("}", "").split("/") if part),
        "parameters": given,
        "responses": {
            "200": {"description": "The data.", "content": {"application/json": {"schema": schema(returns, schemas)}}},
            "default": {
                "description": "Why there is none.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }


def _parameter(one: Parameter) -> dict[str, Any]:
    kind: dict[str, Any] = (
        {"type": PLAIN[one.type]} if one.type is not bool else {"type": "string", "enum": ["yes", "no"]}
    )
    if one.allowed:
        kind["enum"] = list(one.allowed)
    elif one.default not in (None, "") and not isinstance(one.default, bool):
        kind["default"] = one.default
    return {"name": one.name, "in": "query", "required": False, "description": one.about, "schema": kind}


def schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an annotation; those of classes stand by their names among the schemas."""
    if kind is Any:
        return {}
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"type": "string"} | ({"enum": [str(one) for one in kind]} if len(kind) else {})
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema(one, schemas) for one in inner]}
    if (origin is tuple and len(inner) == 2 and inner[1] is Ellipsis) or origin in (list, Sequence, frozenset, set):
        return {"type": "array", "items": schema(inner[0], schemas)}
    if origin is tuple:
        return {"type": "array", "prefixItems": [schema(one, schemas) for one in inner]}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema(inner[1], schemas)}
    return _of_class(kind, schemas)


def _of_class(kind: type[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in schemas:
        schemas[name] = {}  # it may hold itself
        hints = get_type_hints(kind)
        names = [one.name for one in fields(kind)] if is_dataclass(kind) else list(kind._fields)
        schemas[name] = {
            "type": "object",
            "description": (kind.__doc__ or "").strip().partition("\n")[0],
            "properties": {one: schema(hints[one], schemas) for one in names},
            "required": names,
        }
    return {"$ref": f"#/components/schemas/{name}"}
