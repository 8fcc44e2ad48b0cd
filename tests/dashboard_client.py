"""The dashboard's application asked in this process, without a server."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from inspect import iscoroutinefunction
from threading import Thread
from typing import Any, NamedTuple, get_args
from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel

from crawler.contrib.dashboard.app import VIEWS as MODULES
from crawler.contrib.dashboard.app import dashboard
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.metrics import router as metrics


@dataclass(frozen=True)
class Request:
    """What a browser asks."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    client: str = "127.0.0.1"


class Answer(NamedTuple):
    """What it gets."""

    body: bytes
    type: str
    status: int
    headers: tuple[tuple[str, str], ...]


class Parameter(NamedTuple):
    """What may stand in the query of an address."""

    name: str
    type: Any
    allowed: tuple[str, ...]
    about: str


class Route(NamedTuple):
    """An address, and what it may be given."""

    parameters: tuple[Parameter, ...] = ()
    about: str = ""
    is_slow: bool = False


def answer(context: DashboardContext, request: Request) -> Answer:
    """The answer to a request."""
    found: list[Answer] = []
    asking = Thread(target=lambda: found.append(asyncio.run(_answer(context, request))))
    asking.start()  # as a browser's event loop may be that of this thread
    asking.join()
    return found[0]


HOST = {"host": "localhost"}


def get(context: DashboardContext, path: str, **query: str) -> Answer:
    """The answer to a visitor of this machine."""
    return answer(context, Request("GET", path, query, headers=HOST))


def post(context: DashboardContext, path: str, **form: str) -> Answer:
    """The answer to a form of theirs, which has the token."""
    return answer(context, Request("POST", path, form={"token": context.access.token} | form, headers=HOST))


def text(context: DashboardContext, path: str, **query: str) -> str:
    """A page that there is."""
    found = get(context, path, **query)
    assert found.status == HTTPStatus.OK, found.body
    return found.body.decode()


def data(context: DashboardContext, path: str, **query: str) -> Any:
    """Data that there are."""
    return json.loads(text(context, path, **query))


async def _answer(context: DashboardContext, request: Request) -> Answer:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    form = urlencode(request.form, errors="replace").encode()
    headers = dict(request.headers)
    if form:
        headers["content-type"] = "application/x-www-form-urlencoded"
    scope = {
        "type": "http",
        "method": request.method,
        "path": request.path,
        "raw_path": request.path.encode("utf-8", "replace"),
        "root_path": "",
        "scheme": "http",
        "query_string": urlencode(request.query, errors="replace").encode(),
        "headers": [(name.encode(), value.encode("utf-8", "replace")) for name, value in headers.items()],
        "client": (request.client, 1),
        "server": ("127.0.0.1", 6080),
        "state": {"body": form, "refusal": None},
    }
    await dashboard(context)(scope, receive, send)
    body = b"".join(one["body"] for one in sent if one["type"] == "http.response.body")
    told = [(name.decode().title(), value.decode()) for name, value in sent[0]["headers"]]
    return Answer(body, dict(told).get("Content-Type", ""), sent[0]["status"], tuple(told))


def routes(routers: Iterable[APIRouter], method: str = "GET") -> Iterator[tuple[str, Route]]:
    """The addresses of these routers, in the order in which they are looked at."""
    for router in routers:
        for one in router.routes:
            assert isinstance(one, APIRoute)
            if method in one.methods:
                yield one.path, Route(tuple(_parameters(one)), one.summary or "", iscoroutinefunction(one.endpoint))


def _parameters(route: APIRoute) -> Iterator[Parameter]:
    for one in route.dependant.query_params:
        kind = one.field_info.annotation
        of_model = isinstance(kind, type) and issubclass(kind, BaseModel)
        fields = kind.model_fields if of_model else {one.alias: one.field_info}
        for name, each in fields.items():
            allowed = tuple(value for value in get_args(each.annotation) if isinstance(value, str))
            yield Parameter(each.alias or name, each.annotation, allowed, each.description or "")


PAGES = [*(one.router for one in MODULES), metrics]
VIEWS = {**dict(routes(PAGES)), "/api": Route(), "/api/openapi.json": Route()}
API = dict(routes(one.api for one in MODULES if hasattr(one, "api")))
CHANGES = dict(routes(PAGES, "POST"))
