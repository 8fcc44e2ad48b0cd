"""The dashboard as an ASGI application: routes, errors in the visitor's language, static files, and headers.

A request comes over a limited connection (.server) to `respond`, which checks where it comes from (.access) and who the
visitor is (.logins), and passes it to the FastAPI application `app`.
"""

import logging
import re
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlencode

from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from crawler import __version__
from crawler.command_line.terminal import printable
from crawler.contrib.dashboard import metrics
from crawler.contrib.dashboard.access import (
    HEADERS,
    SAFE_METHODS,
    TOKEN,
    RefusedError,
    check_origin,
    check_page,
    check_token,
)
from crawler.contrib.dashboard.context import Context, DashboardContext, language_of, path_of
from crawler.contrib.dashboard.logins import Visitor, basic_credentials, in_turn
from crawler.contrib.dashboard.server import TOO_LARGE
from crawler.contrib.dashboard.views import (
    crawl_buttons,
    edits,
    images,
    login,
    one_crawl,
    overview,
    page,
    page_blocks,
    page_changes,
    page_links,
    page_list,
    page_versions,
    topic_label,
)
from crawler.doors import Door, find, names
from crawler.errors import StateError
from crawler.translation.message import N_, Message, catalogue_of

logger = logging.getLogger(__name__)

VIEW_THREADS = 4
"""Threads for views, besides those for slow views."""
MOST_FIELDS = 10_000
"""The most fields of a form, or parameters of an address."""
FORM_TYPE = "application/x-www-form-urlencoded"
METHODS = (*SAFE_METHODS, "POST")
DESCRIPTION = "/api/openapi.json"
"""The path of the description of the API."""
STATIC = "/static"
"""The path of static files."""
PROGRAM_PATHS = ("/api/", "/metrics")
"""Prefixes of addresses for programs, which get errors as JSON."""
READER_FORMS = re.compile(rf"{login.LOGOUT}|/labels/pages/[0-9]+/preview")
"""Addresses of forms that visitors who may only read can send, too: they change no data."""
HEADERS_OF_STATUS = {
    HTTPStatus.METHOD_NOT_ALLOWED: {"Allow": ", ".join(METHODS)},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": "5"},
}
BROWSER_HEADERS = frozenset(("sec-fetch-mode", "accept-language"))
"""Headers by which a browser is recognised; without TLS it sends only the second."""
ASK_PROGRAM = 'Basic realm="Winnow", charset="UTF-8"'
"""The header WWW-Authenticate for programs."""
ASK_BROWSER = 'Form realm="Winnow"'
"""The header WWW-Authenticate for browsers. With Basic, they would show a dialog of their own, and keep the password
for ever.
"""
ALLOWED_VALUES = {
    "int": N_("a whole number"),
    "bool": N_("yes or no"),
    "finite": N_("a number"),
    "float": N_("a number"),
    "str": N_("a shorter text"),
}
"""What a parameter allows, by the first word of Pydantic's error type."""
SECURITY_HEADERS = [(name.lower().encode(), value.encode()) for name, value in {**HEADERS, "Server": "winnow"}.items()]
NO_PAGE = RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")
NO_LOGIN = RefusedError(HTTPStatus.UNAUTHORIZED, "Log in to see the dashboard.")
ONLY_READER = RefusedError(HTTPStatus.FORBIDDEN, "You may only read; an editor can change this.")
NO_METHOD = RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "This address does not accept this method.")


class Error(BaseModel):
    """An error of the API."""

    error: str


class Files(StaticFiles):
    """Static files, which browsers may cache for an hour."""

    def file_response(self, *args: Any, **more: Any) -> Response:
        response = super().file_response(*args, **more)
        response.headers["Cache-Control"] = "max-age=3600"
        return response


@asynccontextmanager
async def with_few_threads(_: FastAPI) -> AsyncIterator[None]:
    """A context in which views run in VIEW_THREADS threads."""
    to_thread.current_default_thread_limiter().total_tokens = VIEW_THREADS
    yield


app = FastAPI(
    title="Winnow",
    version=__version__,
    description="What the dashboard shows of all crawls.",
    openapi_url=DESCRIPTION,
    docs_url=None,
    redoc_url=None,
    redirect_slashes=False,
    generate_unique_id_function=lambda route: re.sub(r"\W+", "_", route.path).strip("_"),
    responses={"default": {"model": Error, "description": "Why there is no data"}},
    lifespan=with_few_threads,
)
VIEWS_OF_PARTS = [view for name in names(Door.VIEWS) for view in find(Door.VIEWS, name) or ()]
"""The views of other parts of Winnow; `find` returns None for parts that are not installed."""
VIEWS = (
    *(overview, one_crawl, crawl_buttons, page_list, page, topic_label, page_links, page_versions, page_blocks),
    *VIEWS_OF_PARTS,
    *(page_changes, images, edits, login),
)
"""All views, in the order in which the page about the API lists their data."""
for view in VIEWS:
    app.include_router(view.router, include_in_schema=False)
    if hasattr(view, "api"):
        app.include_router(view.api)
app.include_router(metrics.router, include_in_schema=False)
app.mount(STATIC, Files(directory=str(files(__package__) / "static")))


@app.get("/api", include_in_schema=False)
def show_api(context: Context, request: Request) -> Response:
    paths = {path: methods["get"] for path, methods in app.openapi()["paths"].items()}
    return context.page(request, "api.html", api=paths, described=DESCRIPTION)


@app.exception_handler(RefusedError)
@app.exception_handler(StateError)
@app.exception_handler(HTTPException)
@app.exception_handler(RequestValidationError)
async def refusal_response(request: Request, error: Exception) -> Response:
    """The response to a refused request, in the visitor's language; in English to programs."""
    refusal = _refusal(error)
    context = request.state.context
    headers = HEADERS_OF_STATUS.get(HTTPStatus(refusal.status), {})
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        is_browser = not BROWSER_HEADERS.isdisjoint(request.headers)
        headers = {"WWW-Authenticate": ASK_BROWSER if is_browser else ASK_PROGRAM}

    if path_of(request).startswith(PROGRAM_PATHS):
        return JSONResponse({"error": str(refusal).encode("utf-8", "replace").decode()}, refusal.status, headers)
    if refusal.status == HTTPStatus.UNAUTHORIZED and _is_navigation(request):
        response = login.login_form(context, request, refusal, _target(request))
    elif request.state.visitor is None:  # the sender is not known: a text without the links of the dashboard
        sentence = catalogue_of(language_of(request)).gettext(refusal.message)
        return PlainTextResponse(f"{sentence}\n", refusal.status, headers)
    else:
        response = context.page(request, "refused.html", refusal.status, code=refusal.status, why=refusal.message)
    response.headers.update(headers)
    return response


def _is_navigation(request: Request) -> bool:
    """Whether a browser will show the response as a page."""
    mode = request.headers.get("sec-fetch-mode")
    if mode:
        return mode == "navigate"
    return "text/html" in request.headers.get("accept", "")


def _target(request: Request) -> str:
    """The address of the page that a visitor requested; the start page for changes."""
    if request.method not in SAFE_METHODS:
        return login.START
    query = request.scope["query_string"].decode()
    if query:
        return f"{path_of(request)}?{query}"
    return path_of(request)


def _refusal(error: Exception) -> RefusedError:
    """An error as a refusal, with a status and a sentence."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, StateError):
        return RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, error.message)
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        place, *_, name = first["loc"]  # such as query and the name of a parameter
        if place == "path":
            return NO_PAGE
        sentence = N_("{name} is wrong; allowed is {allowed}")
        return RefusedError(HTTPStatus.BAD_REQUEST, sentence, name=str(name), allowed=_allowed(first))
    if getattr(error, "status_code", 0) == HTTPStatus.METHOD_NOT_ALLOWED:
        return NO_METHOD
    return NO_PAGE


def _allowed(error: dict[str, Any]) -> list[str] | Message:
    """The values that a parameter allows, by Pydantic's error about it."""
    if error["type"] == "literal_error":
        return [choice for choice in re.findall(r"'([^']*)'", error["ctx"]["expected"]) if choice]
    kind = error["type"].partition("_")[0]
    if error["type"] in ("greater_than_equal", "less_than_equal"):  # only whole numbers have limits
        kind = "int"
    return Message(ALLOWED_VALUES.get(kind, ALLOWED_VALUES["str"]))


@app.exception_handler(Exception)
async def failure_response(request: Request, error: Exception) -> Response:
    """The response if a view has failed; `respond` writes the error to the log."""
    text = catalogue_of(language_of(request)).gettext("Something went wrong; see the log.")
    return PlainTextResponse(f"{text}\n", HTTPStatus.INTERNAL_SERVER_ERROR)


def dashboard(context: DashboardContext) -> Any:
    """The ASGI application of a dashboard, with access control and security headers around it."""
    root = context.root

    async def respond(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        # The server adds the body and perhaps a refusal, `_admit` the visitor.
        state = {"body": b"", "refusal": None, "visitor": None, **scope["state"], "context": context}
        scope = {**scope, "state": state, "root_path": root}

        async def send_with_headers(event: Any) -> None:
            """Send a part of the response; its head gets SECURITY_HEADERS, and redirects lead to below `root`."""
            if event["type"] == "http.response.start":
                headers = []
                for name, value in event["headers"]:
                    if name == b"location":
                        value = root.encode() + value
                    headers.append((name, value))
                sent_names = {name for name, _ in headers}
                headers += [(name, value) for name, value in SECURITY_HEADERS if name not in sent_names]
                event["headers"] = headers
            await send(event)

        try:
            try:
                await _admit(context, scope)
            except (RefusedError, StateError) as error:
                response = await refusal_response(Request(scope), error)
                await response(scope, receive, send_with_headers)
            else:
                # A view responds to HEAD as to GET; the server omits the body.
                method = "GET" if scope["method"] == "HEAD" else scope["method"]
                await app({**scope, "method": method}, receive, send_with_headers)
        except Exception:  # FastAPI has already sent a response
            logger.error("A request could not be answered: %s", printable(traceback.format_exc()))

    return respond


async def _admit(context: DashboardContext, scope: Any) -> None:
    """Raise a RefusedError if a request has no access; store the visitor and the parameters for the views."""
    request = Request(scope)
    state = scope["state"]
    is_change = request.method not in SAFE_METHODS
    if request.method not in METHODS:
        raise NO_METHOD
    if state["refusal"] is not None:  # the request is too large or too slow, or the server is busy
        raise state["refusal"]
    token = _read_parameters(request)
    context.access.check_host(request)
    if not scope["path"].startswith(f"{context.root}/"):
        raise NO_PAGE

    path = path_of(request)
    is_open = path == login.LOGIN or (not is_change and path.startswith(f"{STATIC}/"))
    if is_open:
        return
    visitor = await _visitor(context, request)
    state["visitor"] = visitor

    if not is_change:
        check_page(request)
        return
    check_origin(request)
    check_token(request, token, visitor.token)
    if not visitor.is_editor and not READER_FORMS.fullmatch(path):
        raise ONLY_READER


def _read_parameters(request: Request) -> str:
    """Replace the query of a request by its parameters: of the address, or for a change of the form in its body.
    Returns the token of the form, or an empty text.

    So one rule applies to all parameters of views: the first value of each name counts, and an empty value counts as
    absent.
    """
    scope = request.scope
    is_change = request.method not in SAFE_METHODS
    is_form = request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM_TYPE
    if not is_change:
        text = scope["query_string"]
    elif is_form:
        text = scope["state"]["body"]
    else:
        text = b""

    value_of_name: dict[str, str] = {}
    try:
        for name, value in parse_qsl(text.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS):
            value_of_name.setdefault(name, value)
    except ValueError:
        raise TOO_LARGE from None
    scope["query_string"] = urlencode(value_of_name).encode()
    if not is_change:
        return ""
    return value_of_name.get(TOKEN, "")


async def _visitor(context: DashboardContext, request: Request) -> Visitor:
    """The visitor who sends a request; raises a RefusedError if a login is missing or wrong."""
    logins = context.logins
    if not logins.look_for_users():
        return Visitor(token=context.access.token)
    # A header without a name and a password is ignored rather than counted as a wrong password.
    credentials = basic_credentials(request.headers.get("authorization", ""))
    if credentials is not None and logins.visitor(request) is None:
        await in_turn(logins.log_in_program, request, *credentials)
    visitor = logins.visitor(request)
    if visitor is None:
        raise NO_LOGIN
    return visitor
