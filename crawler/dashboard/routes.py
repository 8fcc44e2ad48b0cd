"""All addresses of the dashboard, and how a request comes to its view."""

import re
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple, TypeVar

from crawler.dashboard import openapi
from crawler.dashboard.access import SAFE
from crawler.dashboard.api import API, as_json
from crawler.dashboard.context import DashboardContext
from crawler.dashboard.metrics import metrics
from crawler.dashboard.parameters import Parameter, read
from crawler.dashboard.request import JSON, TEXT, Answer, RefusedError, Request
from crawler.dashboard.translation import words_of
from crawler.dashboard.views import View, evaluate, images, labels, overview, page, pages, schedule
from crawler.store.database import StateError

T = TypeVar("T")


class Route(NamedTuple):
    """What answers, and what it may be given."""

    view: View
    parameters: tuple[Parameter, ...] = ()


VIEWS: dict[str, Route] = {
    **{
        path: Route(*found)
        for part in (overview, pages, page, images, labels, schedule, evaluate)
        for path, found in part.VIEWS.items()
    },
    "/metrics": Route(lambda desk, request, given: metrics(desk)),
    "/api": Route(
        lambda desk, request, given: desk.page(request, "api.html", api=API.items(), described=openapi.ADDRESS)
    ),
    openapi.ADDRESS: Route(lambda desk, request, given: Answer(openapi.document(API), JSON)),
}
"""What can be looked at; a part in braces is a number."""
CHANGES: dict[str, Route] = {
    path: Route(*found) for part in (images, labels, schedule) for path, found in part.CHANGES.items()
}
"""What can be changed, by a form that holds the parameters and the token."""
CHANGE = "POST"
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
BEFORE_THE_DOOR = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.TOO_MANY_REQUESTS,
)
KEPT = (("Cache-Control", "max-age=3600"),)


def answer(desk: DashboardContext, request: Request) -> Answer:
    """The answer to a request, whatever it is."""
    try:
        _check_method(request, (*SAFE, CHANGE))  # first of all: others are no business of anybody's
        desk.door.check(request)
        return _answer(desk, request)
    except RefusedError as error:
        return _refused(desk, request, error)
    except StateError as error:
        return _refused(desk, request, RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, error.message))


def _answer(desk: DashboardContext, request: Request) -> Answer:
    if (found := assets().get(request.path)) is not None and request.method in SAFE:
        return found
    if (of_api := _find(API, request.path)) is not None:
        one, numbers = of_api
        _check_method(request, SAFE)
        return Answer(as_json(one.data(desk, {**read(one.parameters, request.query), **numbers})), JSON)
    table, given = (VIEWS, request.query) if request.method in SAFE else (CHANGES, request.form)
    route = _find(table, request.path)
    if route is None:
        other = _find(CHANGES if request.method in SAFE else VIEWS, request.path)
        _check_method(request, () if other else (request.method,))
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")
    found_route, numbers = route
    return found_route.view(desk, request, {**read(found_route.parameters, given), **numbers})


def _check_method(request: Request, allowed: tuple[str, ...]) -> None:
    if request.method not in allowed:
        raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "This address is not for this.")


def _find(table: Mapping[str, T], path: str) -> tuple[T, dict[str, int]] | None:
    """What a table has for an address, and the numbers in it."""
    for pattern, found in table.items():
        if match := _pattern(pattern).fullmatch(path):
            return found, {name: int(digits) for name, digits in match.groupdict().items()}
    return None


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[0-9]{1,18})", re.escape(path)))


def _refused(desk: DashboardContext, request: Request, error: RefusedError) -> Answer:
    headers = {
        HTTPStatus.UNAUTHORIZED: (("WWW-Authenticate", 'Basic realm="Winnow", charset="UTF-8"'),),
        HTTPStatus.METHOD_NOT_ALLOWED: (("Allow", ", ".join((*SAFE, CHANGE))),),
        HTTPStatus.SERVICE_UNAVAILABLE: (("Retry-After", "5"),),
    }.get(HTTPStatus(error.status), ())
    if request.path.startswith(("/api/", "/metrics")):
        return Answer(as_json({"error": str(error)}), JSON, error.status, headers)
    if error.status in BEFORE_THE_DOOR:
        # Before the door nothing of the dashboard is shown, its token least of all.
        return Answer(f"{words_of(request.language).message(error.message)}\n".encode(), TEXT, error.status, headers)
    return desk.page(request, "refused.html", status=error.status, code=error.status, why=error.message)


@cache
def assets() -> dict[str, Answer]:
    """The files that pages need, by their addresses: read once, so that no address is ever looked up on disk."""
    found = {}
    for path, file in _files(files(__package__) / "static", "/static"):
        ending = "." + path.rpartition(".")[2]
        if ending in TYPES:
            found[path] = Answer(file.read_bytes(), TYPES[ending], headers=KEPT)
    return found


def _files(folder: Traversable, path: str) -> list[tuple[str, Traversable]]:
    found = []
    for one in folder.iterdir():
        found += _files(one, f"{path}/{one.name}") if one.is_dir() else [(f"{path}/{one.name}", one)]
    return found
