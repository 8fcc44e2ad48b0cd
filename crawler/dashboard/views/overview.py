"""The view "overview": all crawls, and one of them with its course."""

from crawler.dashboard.desk import Desk
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, Request
from crawler.dashboard.views import Data

PARAMETERS = (Parameter("crawl", "", "name of the crawl that is shown with more"),)
API: Data = {}


def show(desk: Desk, request: Request, given: Given) -> Answer:
    """The page."""
    return desk.page(request, "overview.html")
