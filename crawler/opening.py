"""Opening the state of a crawl, as its arguments and settings say."""

from pathlib import Path

from scrapy.settings import BaseSettings
from sqlalchemy.exc import DBAPIError

from crawler import demo
from crawler.arguments import Arguments
from crawler.canonical import Canonical
from crawler.state.database import StateError, database_url, open_database, shown, why
from crawler.state.seats import Plan, Seat


def take_seat(arguments: Arguments, settings: BaseSettings) -> Seat:
    """A seat at the crawl of this name; a StateError when there is none to be had."""
    folder = Path(settings["OUTPUT_DIR"])
    plan = Plan(
        arguments.name,
        arguments.seeds or ("demo",),
        folder,
        canonical(settings),
        settings.getint("SITE_PAGE_LIMIT"),
        arguments.max_pages,
        arguments.fresh,
    )
    url = database_url(settings["STATE_URL"], folder)
    try:
        seat = Seat(open_database(url), plan)
    except (DBAPIError, OSError) as error:
        raise StateError(f"the state in {shown(url)} cannot be used: {why(error)}") from error
    seat.ledger.patience = settings.getfloat("STATE_PATIENCE")
    return seat


def canonical(settings: BaseSettings) -> Canonical:
    """The rule by which two addresses are one; on the command line, expressions are separated by spaces."""
    ignored = settings["IGNORED_PARAMETERS"]
    return Canonical(ignored.split() if isinstance(ignored, str) else ignored)


def anything_left(seat: Seat, arguments: Arguments) -> bool:
    """Whether the crawl has anything left to do."""
    return seat.left(arguments.seeds or (demo.ADDRESS,))
