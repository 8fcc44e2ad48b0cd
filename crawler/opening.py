"""Opening the state of a crawl, as its arguments and settings say."""

import logging
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from crawler import demo
from crawler.arguments import ALL, Arguments
from crawler.canonical import Canonical
from crawler.recrawl import Bounds
from crawler.state.claims import LONGEST_REST
from crawler.state.database import AwayError, StateError, database_url, open_database, passes, shown, why
from crawler.state.manners import Pace
from crawler.state.seats import Plan, Seat

logger = logging.getLogger(__name__)

# The settings that bound how long a host may rest.
PAUSES = ("BACKOFF_LIMIT", "CRAWL_DELAY_LIMIT", "AUTOTHROTTLE_MAX_DELAY", "DOWNLOAD_DELAY")


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
        max(LONGEST_REST, *(2 * settings.getfloat(name) for name in PAUSES)),
        arguments.fresh,
        arguments.images,
        bounds(settings),
        settings.getint("KEEP_VERSIONS"),
    )
    url, patience = database_url(settings["STATE_URL"], folder), settings.getfloat("DATABASE_RETRY_SECONDS")
    seat = _patiently(lambda: _seat(url, plan), patience)
    seat.ledger.patience = patience
    return seat


def _seat(url: URL, plan: Plan) -> Seat:
    engine = open_database(url)
    try:
        return Seat(engine, plan)
    except (SQLAlchemyError, OSError, ValueError) as error:
        kind = AwayError if passes(error) else StateError
        raise kind(f"the state in {shown(url)} cannot be used: {why(error)}") from error
    except BaseException:
        engine.dispose()
        raise


def _patiently(take: Callable[[], Seat], patience: float) -> Seat:
    """What can be taken, tried again while the database is locked, full or away."""
    until, said = monotonic() + patience, False
    while True:
        try:
            return take()
        except AwayError as error:
            if monotonic() > until:
                raise
            if not said:
                logger.warning("Waiting: %s", error)
            said = True
            sleep(min(1.0, patience))


def canonical(settings: BaseSettings) -> Canonical:
    """The rule by which two addresses are one; on the command line, expressions are separated by spaces."""
    ignored = settings["IGNORED_PARAMETERS"]
    try:
        return Canonical(ignored.split() if isinstance(ignored, str) else ignored)
    except ValueError as error:
        raise StateError(f"setting IGNORED_PARAMETERS is wrong: {error}") from None


def pace_of(crawler: Crawler) -> Pace:
    """How much is asked of a host at once, and how often, by the settings and by what AutoThrottle makes of them."""
    settings = crawler.settings
    slots, at_once = settings.getdict("DOWNLOAD_SLOTS"), settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    pause = settings.getfloat("DOWNLOAD_DELAY")
    throttled = settings.getbool("AUTOTHROTTLE_ENABLED")

    def pause_of(name: str) -> float:
        slot = crawler.engine.downloader.slots.get(name.rpartition(":")[0] or name) if crawler.engine else None
        return slot.delay if slot is not None else pause

    return Pace(
        lambda name: slots.get(name.partition(":")[0], {}).get("concurrency", at_once),
        pause_of,
        settings.getint("CONCURRENT_REQUESTS"),
        shared=not pause and not throttled and at_once > 1,
    )


def anything_to_do(seat: Seat, arguments: Arguments) -> bool:
    """Whether the crawl has anything left to do, or begins a new round."""
    return seat.begin(arguments.seeds or (seat.seed_known() or demo.ADDRESS,), arguments.refresh == ALL)


def bounds(settings: BaseSettings) -> Bounds:
    """Within which seconds pages come again; a StateError where that cannot be."""
    least, most = settings.getfloat("RECRAWL_LEAST"), settings.getfloat("RECRAWL_MOST")
    try:
        return Bounds(least, most)
    except ValueError:
        raise StateError(
            f"settings RECRAWL_LEAST={least} and RECRAWL_MOST={most} are wrong; allowed are seconds above 0, "
            "and no fewer for the second"
        ) from None
