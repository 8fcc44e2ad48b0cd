"""The context of views: the database, pages in the visitor's language, threads, and types of parameters."""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from http import HTTPStatus
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated, Any, ParamSpec, TypeVar
from urllib.parse import quote

import fastapi
from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetPydanticSchema, StringConstraints
from pydantic_core import core_schema
from scrapy.settings import BaseSettings
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

from crawler.contrib.dashboard.access import SAFE_METHODS, AccessControl, RefusedError
from crawler.contrib.dashboard.edit_record import Action, record
from crawler.contrib.dashboard.logins import Logins
from crawler.contrib.dashboard.rendering import render
from crawler.errors import NothingError, SlowError, StateError
from crawler.outcomes import Outcome
from crawler.store.database import open_database
from crawler.store.read_only import limited_reading
from crawler.translation.message import Message, accepted_language
from crawler.translation.reasons import Reason
from crawler.urls.lru_dict import LruDict

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

UNESCAPED = "/?&=#%:;,@!$'()*+~"
"""Characters of an address that are not percent-encoded, besides letters and digits."""
YEAR_SECONDS = 31_536_000
LEAST_KEPT_RATIO = 20.0
"""A result is kept at least this many times as long as its computation took, so that computing uses at most a twentieth
of a core.
"""
MOST_RESULTS = 200
"""Results that are kept; beyond it, the least recently requested ones are dropped."""
SLOW_VIEW_THREADS = 2
"""Threads for views that are `slow`, besides those for other views."""
MOST_LETTERS = 500
"""The most characters of a parameter."""
MOST_WHOLE = 2**63 - 1
"""The largest whole number that databases can store."""


class NothingYetError(RefusedError):
    """There is no database, or no crawl was ever run."""


@dataclass
class Result:
    """The result of a background computation."""

    value: Any = None
    at: float | None = None
    """When the last computation ended, as time.time(); None before that."""
    error: Message | None = None
    """Why the last computation failed; the value is then that of the last successful one."""
    took: float = 0.0
    """Seconds that the last computation took."""
    busy: bool = False
    """Whether it is in the queue or being computed."""
    ready: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set when a computation ends, cleared when the next one is queued."""
    done: int = 0
    """The progress, if the computation reports it, e.g. the pages that it has read."""


class Background:
    """Computations that take too long for a request: one thread runs them in turn, and their results are cached by
    name.
    """

    def __init__(self, least_kept_ratio: float = LEAST_KEPT_RATIO, most: int = MOST_RESULTS) -> None:
        self._least_kept_ratio = least_kept_ratio
        self._results: LruDict[Hashable, Result] = LruDict(most)
        self._lock = threading.Lock()
        self._queue: SimpleQueue[tuple[Result, Callable[[], Any]]] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def get(self, name: Hashable, compute: Callable[[], Any], age: float, patience: float = 0.0) -> Result:
        """The last result of this name. It is computed again if it is older than `age` seconds, and older than
        `least_kept_ratio` times the duration of its computation. The request waits for that up to `patience` seconds.
        """
        with self._lock:
            result = self._results.use(name) or Result()
            self._results.set(name, result)
            is_old = result.at is None or time.time() - result.at > max(age, self._least_kept_ratio * result.took)
            if is_old and not result.busy:
                result.busy = True
                result.ready.clear()
                self._queue.put((result, compute))
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="background", daemon=True)
                    self._thread.start()
        if patience:
            result.ready.wait(patience)
        return result

    def report_progress(self, name: Hashable, done: int) -> None:
        """Store the progress of a computation in its result."""
        result = self._results.get(name)
        if result is not None:
            result.done = done

    def _work(self) -> None:
        """Run the queued computations, for ever."""
        while True:
            result, compute = self._queue.get()
            begun = time.monotonic()
            result.done = 0
            try:
                result.value = compute()
                result.error = None
            except StateError as error:
                result.error = error.message
            except Exception:  # no error may end the thread
                logger.exception("A background computation failed")
                result.error = Message("It cannot be computed; see the log.")
            result.took = time.monotonic() - begun
            with self._lock:  # after all else: a waiting request reads the result as soon as `ready` is set
                result.at = time.time()
                result.busy = False
                result.ready.set()


@dataclass(frozen=True)
class DashboardContext:
    """The database and the output folder that the dashboard shows, its access control, and its cached results."""

    url: URL
    output: Path
    settings: BaseSettings = field(repr=False)
    access: AccessControl
    logins: Logins = field(default_factory=Logins)
    root: str = ""
    """The path under which a reverse proxy serves the dashboard."""
    background: Background = field(default_factory=Background)
    reports: Background = field(default_factory=Background)
    """Computations that take minutes and must not delay the others."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only connection; raises a NothingYetError without a database, and a RefusedError if reading takes too
        long.
        """
        try:
            with limited_reading(self.url) as connection:
                yield connection
        except NothingError as error:
            raise NothingYetError(HTTPStatus.NOT_FOUND, error.message) from None
        except SlowError as error:
            raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, error.message) from None

    def record(self, request: Request, action: Action, subject: str) -> None:
        """Record a change by the visitor."""
        with self.changing() as engine:
            record(engine, request.state.visitor.name, action, subject)

    @contextmanager
    def changing(self) -> Iterator[Engine]:
        """An engine that can write to the database."""
        engine = open_database(self.url)
        try:
            yield engine
        finally:
            engine.dispose()

    def page(self, request: Request, template: str, status: int = HTTPStatus.OK, **values: Any) -> Response:
        """A page of the dashboard: a template with these values, and those of its layout."""
        language = language_of(request)
        visitor = request.state.visitor
        # The parameters that links to this page repeat: not the fields of a form, one of which may be a password.
        query = dict(request.query_params) if request.method in SAFE_METHODS else {}
        layout_values = {
            "path": path_of(request),
            "query": query,
            "visitor": visitor,
            "token": visitor.token if visitor else "",
        }
        text = render(template, language, self.root, {**values, **layout_values})
        response = HTMLResponse(text.encode("utf-8", "replace"), status)
        if _chosen_language(request):
            response.set_cookie("lang", language, YEAR_SECONDS, path=f"{self.root}/", samesite="strict", httponly=True)
        return response


async def context_of(request: Request) -> DashboardContext:
    """The dashboard that serves a request."""
    context: DashboardContext = request.state.context
    return context


def path_of(request: Request) -> str:
    """The path that was requested, within the dashboard."""
    return str(request.scope["path"]).removeprefix(request.scope["root_path"])


Context = Annotated[DashboardContext, Depends(context_of)]


def language_of(request: Request) -> str:
    """The language of the page: the one the visitor chose, or the browser's."""
    chosen_language = _chosen_language(request) or request.cookies.get("lang")
    if chosen_language:
        return accepted_language(chosen_language)
    return accepted_language(", ".join(request.headers.getlist("accept-language")))


def _chosen_language(request: Request) -> str | None:
    """The language that a link chooses, e.g. `?lang=en`; None for forms, which may have another field of this name."""
    if request.method in SAFE_METHODS:
        return request.query_params.get("lang")
    return None


def see_other(target: str) -> Response:
    """The response to a change: the browser is redirected to a page of this dashboard. Raises a ValueError if the
    target is not a path, such as `/pages?site=a`.

    >>> see_other("/pages?site=a b\\r\\nX: y").headers["location"]
    '/pages?site=a%20b%0D%0AX:%20y'
    """
    if not target.startswith("/") or target.startswith(("//", "/\\")):  # browsers read \ as /
        raise ValueError(f"{target!r} is no address of the dashboard")
    return Response(None, HTTPStatus.SEE_OTHER, {"Location": quote(target, safe=UNESCAPED, errors="replace")})


SLOW_VIEWS = CapacityLimiter(SLOW_VIEW_THREADS)
"""The threads of slow views."""


def slow(register: Callable[[Callable[..., Any]], object]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Wraps a decorator of FastAPI, such as `router.get("/")`, for a view that may take long or wait for a crawl's
    lock. The view then runs in one of the few threads for such views, so that other views need not wait for it.
    """

    def decorate(view: Callable[P, T]) -> Callable[P, T]:
        @wraps(view)
        async def run_view(*args: P.args, **kwargs: P.kwargs) -> T:
            return await to_thread.run_sync(partial(view, *args, **kwargs), limiter=SLOW_VIEWS)

        register(run_view)
        return view  # other views call it directly

    return decorate


def storable(text: str) -> str:
    """The text; raises a ValueError if no database can store it."""
    if "\0" in text:
        raise ValueError("PostgreSQL stores no null character")
    return text


Number = Annotated[int, fastapi.Path(ge=0, lt=10**18)]
"""The number of a crawl, page or image in the path of an address: up to 18 digits, which databases can store."""
Whole = Annotated[int, Field(ge=-MOST_WHOLE, le=MOST_WHOLE)]
"""A parameter that is a whole number."""
Text = Annotated[str, StringConstraints(max_length=MOST_LETTERS), AfterValidator(storable)]
"""A parameter that is a text."""


@dataclass(frozen=True, slots=True)
class OutcomeData:
    """An outcome as an object of the API."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ReasonData:
    """A reason as an object of the API."""

    code: str
    values: Mapping[str, Any]


def _written_as(kind: type[Any], convert: Callable[[Any], Any]) -> GetPydanticSchema:
    """An annotation for Pydantic: `convert` turns a value into the type `kind`, as which it is written in JSON and
    described in the API.
    """

    def schema(_: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        written = handler.generate_schema(kind)
        return core_schema.any_schema(
            serialization=core_schema.plain_serializer_function_ser_schema(convert, return_schema=written)
        )

    return GetPydanticSchema(schema)


Sentence = Annotated[Message, _written_as(str, str)]
OutcomeObject = Annotated[Outcome, _written_as(OutcomeData, lambda outcome: OutcomeData(outcome.code, outcome.detail))]
ReasonObject = Annotated[Reason, _written_as(ReasonData, lambda reason: ReasonData(reason.code, reason.values))]
