"""The view "overview": all crawls with their figures, live."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crawler.dashboard.context import Context, NothingYetError
from crawler.dashboard.views import Whole
from crawler.dashboard.views.one_crawl import CrawlFigures, figures
from crawler.reports.crawls import latest_summaries
from crawler.store.database import database_time
from crawler.translation.message import N_

AT_ONCE = 25


@dataclass(frozen=True, slots=True)
class CrawlList:
    """Crawls, those at work first, then the latest."""

    crawls: tuple[CrawlFigures, ...]
    more: int | None
    """What `before` is to be for those that follow."""


Before = Annotated[Whole, Query(description=N_("the crawls that follow, as more of an answer says"))]
router, api = APIRouter(), APIRouter()


@api.get("/api/crawls", summary=N_("All crawls with their figures, those at work first"))
def crawls(context: Context, before: Before = 0) -> CrawlList:
    """All crawls, a part at a time."""
    try:
        with context.reading() as connection:
            now = database_time(connection)
            found, more = latest_summaries(connection, now, before, AT_ONCE)
            return CrawlList(figures(connection, found, now), more)
    except NothingYetError:
        return CrawlList((), None)


@router.get("/")
def show(context: Context, request: Request, before: Before = 0) -> Response:
    """The page."""
    found = crawls(context, before)
    running = [one for one in found.crawls if one.status == "running"]
    return context.page(
        request,
        "overview.html",
        found=found,
        before=before,
        running=len(running),
        rate=sum(one.rate or 0.0 for one in running),
    )
