"""What views work with: the database, the templates, the words of the visitor's language."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from scrapy.settings import BaseSettings
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

from crawler.dashboard.access import SAFE, AccessControl, RefusedError
from crawler.dashboard.background import Background
from crawler.dashboard.rendering import render
from crawler.dashboard.views.sources import Sources
from crawler.store.database import open_database
from crawler.store.read_only import NothingError, SlowError, glance
from crawler.translation.message import accepted

OF_ADDRESSES = "/?&=#%:;,@!$'()*+~"
YEAR = 31_536_000


class NothingYetError(RefusedError):
    """There is no database, or no crawl was ever run."""


@dataclass(frozen=True)
class DashboardContext:
    """The database and the folder that the dashboard shows, and what it keeps in memory."""

    url: URL
    output: Path
    settings: BaseSettings = field(repr=False)
    access: AccessControl
    background: Background = field(default_factory=Background)
    """Computations that take longer than an answer may."""
    reports: Background = field(default_factory=Background)
    """Computations that take minutes, and must not hold up the others."""
    sources: Sources = field(default_factory=Sources)
    """Sources of pages that somebody looks at."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only connection; a RefusedError where there is no database, or where reading takes too long."""
        try:
            with glance(self.url) as connection:
                yield connection
        except NothingError as error:
            raise NothingYetError(HTTPStatus.NOT_FOUND, error.message) from None
        except SlowError as error:
            raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, error.message) from None

    def changing(self) -> Engine:
        """The database, to be changed."""
        return open_database(self.url)

    def page(self, request: Request, template: str, status: int = HTTPStatus.OK, **values: Any) -> Response:
        """A page of HTML in the visitor's language."""
        language, query = language_of(request), dict(request.query_params)
        around = {"path": request.scope["path"], "query": query, "token": self.access.token}
        text = render(template, language, {**values, **around})
        answer = HTMLResponse(text.encode("utf-8", "replace"), status)
        if _chosen(request):
            answer.set_cookie("lang", language, YEAR, path="/", samesite="strict", httponly=True)
        return answer


async def context_of(request: Request) -> DashboardContext:
    """The dashboard that a request is for."""
    found: DashboardContext = request.state.context
    return found


Context = Annotated[DashboardContext, Depends(context_of)]


def language_of(request: Request) -> str:
    """The language of the page: as the visitor chose, or the browser's own."""
    if chosen := _chosen(request) or request.cookies.get("lang"):
        return accepted(chosen)
    return accepted(", ".join(request.headers.getlist("accept-language")))


def _chosen(request: Request) -> str | None:
    """The language that a link chooses; a field of a form may have the same name."""
    return request.query_params.get("lang") if request.method in SAFE else None


def see_other(where: str) -> Response:
    """The answer to a change: the browser goes on to a page of this dashboard.

    >>> see_other("/pages?site=a b\\r\\nX: y").headers["location"]
    '/pages?site=a%20b%0D%0AX:%20y'
    """
    if not where.startswith("/") or where.startswith(("//", "/\\")):
        raise ValueError(f"{where!r} is no address of the dashboard")
    return Response(None, HTTPStatus.SEE_OTHER, {"Location": quote(where, safe=OF_ADDRESSES, errors="replace")})
