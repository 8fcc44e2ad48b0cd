"""The view "overview": all crawls with their figures, live."""

from typing import NamedTuple

from crawler.dashboard.context import DashboardContext, NothingYetError
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, Request
from crawler.dashboard.views import Data, Views, course, one_crawl
from crawler.dashboard.views.crawl_figures import CrawlFigures, figures
from crawler.reports.crawl_summary import latest_summaries
from crawler.store.sql import database_time

AT_ONCE = 25


class CrawlList(NamedTuple):
    """Crawls, those at work first, then the latest."""

    crawls: tuple[CrawlFigures, ...]
    more: int | None
    """What `before` is to be for those that follow."""


PARAMETERS = (Parameter("before", 0, "the crawls that follow, as more of an answer says"),)


def crawls(desk: DashboardContext, given: Given) -> CrawlList:
    """All crawls, a part at a time."""
    try:
        with desk.reading() as connection:
            now = database_time(connection)
            found, more = latest_summaries(connection, now, given["before"], AT_ONCE)
            return CrawlList(figures(connection, found, now), more)
    except NothingYetError:
        return CrawlList((), None)


def show(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page."""
    found = crawls(desk, given)
    running = [one for one in found.crawls if one.status == "running"]
    return desk.page(
        request,
        "overview.html",
        found=found,
        before=given["before"],
        running=len(running),
        rate=sum(one.rate or 0.0 for one in running),
    )


VIEWS: Views = {"/": (show, PARAMETERS), **one_crawl.VIEWS}
API: Data = {
    "/api/crawls": (crawls, PARAMETERS, "All crawls with their figures, those at work first"),
    **one_crawl.API,
    **course.API,
}
