"""What views work with: the database, the templates, the words of the visitor's language."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

from crawler.dashboard.access import AccessControl
from crawler.dashboard.background import Background
from crawler.dashboard.rendering import render
from crawler.dashboard.request import Answer, RefusedError, Request
from crawler.dashboard.sources import Sources
from crawler.store.database import open_database
from crawler.store.read_only import NothingError, SlowError, glance


class NothingYetError(RefusedError):
    """There is no database, or no crawl was ever run."""


@dataclass(frozen=True)
class DashboardContext:
    """The one place that knows what the dashboard is over."""

    url: URL
    output: Path
    settings: BaseSettings = field(repr=False)
    door: AccessControl
    background: Background = field(default_factory=Background)
    """What takes too long for an answer."""
    reports: Background = field(default_factory=Background)
    """What takes minutes, and must not hold up the other."""

    sources: Sources = field(default_factory=Sources)
    """Of pages that somebody looks at."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A look at the database; a RefusedError where there is none, or where it takes too long."""
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

    def page(self, request: Request, template: str, status: int = HTTPStatus.OK, **values: Any) -> Answer:
        """A page of HTML in the visitor's language."""
        text = render(template, request, self.door.token, values)
        chosen = (("Set-Cookie", f"lang={request.language}; Path=/; Max-Age=31536000; SameSite=Strict; HttpOnly"),)
        return Answer(text.encode("utf-8", "replace"), status=status, headers=chosen if "lang" in request.query else ())
