"""The dashboard as an application: routes, errors in the visitor's language, static files, headers, and serving.

A request comes over a limited connection (.limits) to `answer`, which checks access (.access) and hands it to the
FastAPI application.
"""

import logging
import re
import signal
import socket
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.resources import files
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlencode

import uvicorn
from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from crawler import __version__
from crawler.dashboard import metrics
from crawler.dashboard.access import HEADERS, SAFE, TOKEN, RefusedError, Visit
from crawler.dashboard.context import Context, DashboardContext, language_of
from crawler.dashboard.limits import MOST_HEAD, SECONDS, TOO_LARGE, Visitors
from crawler.dashboard.views import (
    course,
    evaluate,
    images,
    label_sheet,
    labels,
    one_crawl,
    overview,
    page,
    page_blocks,
    page_links,
    page_versions,
    pages,
    schedule,
)
from crawler.store.database import StateError
from crawler.terminal import printable
from crawler.translation.message import N_, Message, catalogue_of

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""Threads for answers, besides those of slow ones."""
MOST_FIELDS = 10_000
FORM = "application/x-www-form-urlencoded"
METHODS = (*SAFE, "POST")
DESCRIPTION = "/api/openapi.json"
WHY = "Why there is no data"
BUFFER = 1 << 17
"""Bytes of an answer that the system holds for a client: with more, a client that stands still is seen late."""
WITHOUT_ACCESS = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.TOO_MANY_REQUESTS,
)
"""Refusals of visitors who may have no access: they get a sentence, and no page with the token."""
MORE_HEADERS = {
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": 'Basic realm="Winnow", charset="UTF-8"'},
    HTTPStatus.METHOD_NOT_ALLOWED: {"Allow": ", ".join(METHODS)},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": "5"},
}
ALLOWED = {
    "int": N_("a whole number"),
    "bool": N_("yes or no"),
    "finite": N_("a number"),
    "float": N_("a number"),
    "str": N_("a text that is not so long"),
}
"""What a parameter allows, by the first word of Pydantic's name for the error."""
SECURITY = [(name.lower().encode(), value.encode()) for name, value in {**HEADERS, "Server": "winnow"}.items()]
NO_PAGE = RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")
NO_METHOD = RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "This address is not for this.")


class Error(BaseModel):
    """Why there is no data."""

    error: str


class Files(StaticFiles):
    """The files that pages need, which browsers may keep for an hour."""

    def file_response(self, *args: Any, **more: Any) -> Response:
        answer = super().file_response(*args, **more)
        answer.headers["Cache-Control"] = "max-age=3600"
        return answer


@asynccontextmanager
async def with_few_threads(_: FastAPI) -> AsyncIterator[None]:
    """Views are answered by AT_ONCE threads."""
    to_thread.current_default_thread_limiter().total_tokens = AT_ONCE
    yield


def _operation(route: APIRoute) -> str:
    return re.sub(r"\W+", "_", route.path).strip("_")


app = FastAPI(
    title="Winnow",
    version=__version__,
    description="What the dashboard shows of all crawls.",
    openapi_url=DESCRIPTION,
    docs_url=None,
    redoc_url=None,
    redirect_slashes=False,
    generate_unique_id_function=_operation,
    responses={"default": {"model": Error, "description": WHY}},
    lifespan=with_few_threads,
)
VIEWS = (
    *(overview, one_crawl, course, pages, page, page_links, page_versions, page_blocks),
    *(images, labels, label_sheet, schedule, evaluate),
)
for one in VIEWS:
    if hasattr(one, "router"):
        app.include_router(one.router, include_in_schema=False)
    app.include_router(one.api)
app.include_router(metrics.router, include_in_schema=False)
app.mount("/static", Files(directory=str(files(__package__) / "static")))


@app.get("/api", include_in_schema=False)
def show_api(context: Context, request: Request) -> Response:
    """The page that lists what programs may ask for."""
    paths = {path: one["get"] for path, one in app.openapi()["paths"].items()}
    return context.page(request, "api.html", api=paths, described=DESCRIPTION)


@app.exception_handler(RefusedError)
@app.exception_handler(StateError)
@app.exception_handler(HTTPException)
@app.exception_handler(RequestValidationError)
async def refused(request: Request, error: Exception) -> Response:
    """The answer to a request that is refused, in the visitor's language; for programs in English."""
    why = _refusal(error)
    headers = MORE_HEADERS.get(HTTPStatus(why.status), {})
    if request.scope["path"].startswith(("/api/", "/metrics")):
        return JSONResponse({"error": str(why).encode("utf-8", "replace").decode()}, why.status, headers)
    if why.status in WITHOUT_ACCESS or why is request.state.refusal:
        return PlainTextResponse(f"{catalogue_of(language_of(request)).gettext(why.message)}\n", why.status, headers)
    context: DashboardContext = request.state.context
    answer = context.page(request, "refused.html", why.status, code=why.status, why=why.message)
    answer.headers.update(headers)
    return answer


def _refusal(error: Exception) -> RefusedError:
    """The refusal that an error stands for."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, StateError):
        return RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, error.message)
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        what, name = N_("{name} is wrong; allowed is {allowed}"), str(first["loc"][-1])
        if first["loc"][0] == "path":
            return NO_PAGE
        return RefusedError(HTTPStatus.BAD_REQUEST, what, name=name, allowed=_allowed(first))
    return NO_METHOD if getattr(error, "status_code", 0) == HTTPStatus.METHOD_NOT_ALLOWED else NO_PAGE


def _allowed(error: dict[str, Any]) -> list[str] | Message:
    """What a parameter allows that Pydantic refused."""
    if error["type"] == "literal_error":
        return [one for one in re.findall(r"'([^']*)'", error["ctx"]["expected"]) if one]
    is_bound = error["type"] in ("greater_than_equal", "less_than_equal")
    kind = "int" if is_bound else error["type"].partition("_")[0]
    sentence = ALLOWED.get(kind, ALLOWED["str"])
    return Message(sentence)


@app.exception_handler(Exception)
async def failed(request: Request, error: Exception) -> Response:
    """The answer where a view has failed; `answer` writes the error to the log."""
    text = catalogue_of(language_of(request)).gettext("Something went wrong; the log says what.")
    return PlainTextResponse(f"{text}\n", HTTPStatus.INTERNAL_SERVER_ERROR)


def dashboard(context: DashboardContext) -> Any:
    """The ASGI application of a dashboard, access control and security headers around it."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        scope = {**scope, "state": {"body": b"", "refusal": None, **scope["state"], "context": context}}

        async def send_on(event: Any) -> None:
            if event["type"] == "http.response.start":
                own = {name for name, _ in event["headers"]}
                event["headers"] = [*event["headers"], *(one for one in SECURITY if one[0] not in own)]
            await send(event)

        try:
            try:
                _admit(context, scope)
            except RefusedError as error:
                refusal = await refused(Request(scope), error)
                await refusal(scope, receive, send_on)
            else:
                # A view answers HEAD as GET; the server leaves the body out.
                method = "GET" if scope["method"] == "HEAD" else scope["method"]
                await app({**scope, "method": method}, receive, send_on)
        except Exception:  # FastAPI has answered it
            logger.error("A request could not be answered: %s", printable(traceback.format_exc()))

    return answer


def _admit(context: DashboardContext, scope: Any) -> None:
    """Raise a RefusedError where a request has no access; the fields of a form become the query of the request.

    So one rule holds for all that views are given: of each name the first, and an empty one is not given.
    """
    state, is_change = scope["state"], scope["method"] not in SAFE
    if scope["method"] not in METHODS:
        raise NO_METHOD
    if state["refusal"] is not None:
        raise state["refusal"]
    headers: dict[str, str] = {}
    for raw_name, raw in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw.decode("utf-8", "replace")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    is_form = headers.get("content-type", "").partition(";")[0].strip().lower() == FORM
    given: dict[str, str] = {}
    try:
        text = (state["body"] if is_form else b"") if is_change else scope["query_string"]
        for name, value in parse_qsl(text.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS):
            given.setdefault(name, value)
    except ValueError:
        state["refusal"] = TOO_LARGE
        raise TOO_LARGE from None
    scope["query_string"] = urlencode(given).encode()
    client = scope["client"][0] if scope["client"] else ""
    context.access.check(Visit(scope["method"], headers, client, given.get(TOKEN, "") if is_change else ""))


def url_of(host: str, port: int) -> str:
    """The address of a dashboard that listens there, in words.

    >>> url_of("::1", 6080)
    'http://[::1]:6080/ ;'
    >>> url_of("0.0.0.0", 6080)
    'http://127.0.0.1:6080/ ; other machines reach it at any other address of this one;'
    """
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound to here
    name = everywhere.get(host, host)
    said = f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"
    return f"{said} ;" + (" other machines reach it at any other address of this one;" if host in everywhere else "")


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; an OSError where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.create_server(("127.0.0.1" if host == "localhost" else host, port), family=family, backlog=128)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    # Its connections have it from it: asyncio sets it for sockets alone that are made with a protocol by number.
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def server_of(application: Any) -> uvicorn.Server:
    """A server with the limits of .limits."""
    return uvicorn.Server(
        uvicorn.Config(
            application,
            http=Visitors().connection,  # type: ignore[arg-type]
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            log_level=logging.CRITICAL,
            access_log=False,
            server_header=False,
            timeout_keep_alive=SECONDS,
            h11_max_incomplete_event_size=MOST_HEAD,
        )
    )


def serve(context: DashboardContext, host: str, port: int, where: str) -> int:
    """Serve until a signal ends it; the exit status.

    The server's thread is a daemon, as are those that it starts: the end waits for no answer, which nobody would read.
    """
    try:
        listening = listen(host, port)
    except OSError as error:
        said = f"nothing can be served at {host} port {port}: {error.strerror}; --port gives another"
        print(printable(f"scrapy dashboard: {said}"), file=sys.stderr)
        return 1
    ended = Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: ended.set())

    def run() -> None:
        try:
            server_of(dashboard(context)).run([listening])
        finally:
            ended.set()

    print(
        printable(f"The dashboard of {where} is at {url_of(host, listening.getsockname()[1])} Ctrl-C ends it."),
        flush=True,
    )
    Thread(target=run, name="server", daemon=True).start()
    while not ended.wait(1.0):  # as on Windows a signal does not end a longer wait
        pass
    return 0
