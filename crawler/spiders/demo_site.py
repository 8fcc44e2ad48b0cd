"""A crawl of the demo site: served for its length, and always where the crawl has its pages."""

from contextlib import ExitStack
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler

from crawler import demo
from crawler.store.database import StateError, time_of
from crawler.store.worker_session import WorkerSession
from crawler.store.workers import workers_of
from crawler.urls.parsing import host

# The demo site is ours: it is asked without pauses, one page after the other, so that the promising ones come first.
DEMO_SLOT = {"concurrency": 1, "delay": 0.0, "jitter": 0.0}


def check_demo(seat: WorkerSession) -> None:
    """Give up the seat and raise a StateError, unless the demo site can be served to it."""
    if why := _hindrance(seat):
        seat.leave()
        raise StateError(f"{why}; give another -a name=NAME")


def serve_demo(crawler: Crawler, seat: WorkerSession) -> str:
    """The address of the demo site, served until the crawl ends, opened for it alone and asked without pauses."""
    known = seat.seed_known()
    served = ExitStack()
    crawler.signals.connect(served.close, signals.spider_closed, weak=False)
    url = served.enter_context(demo.serving(_port(known), exact=True) if known else demo.serving())
    address = host(url)
    opened = [*crawler.settings.getlist("ALLOWED_PRIVATE_HOSTS"), address]
    crawler.settings.set("ALLOWED_PRIVATE_HOSTS", opened, priority="cmdline")
    slots = crawler.settings.getdict("DOWNLOAD_SLOTS") | {address.partition(":")[0]: DEMO_SLOT}
    crawler.settings.set("DOWNLOAD_SLOTS", slots, priority="cmdline")
    return url


def _hindrance(seat: WorkerSession) -> str:
    """Why the demo site cannot be served to this worker, if it cannot: each has a site of its own, at one address."""
    name, known = seat.plan.name, seat.seed_known()
    with seat.engine.begin() as connection:
        workers = workers_of(connection, time_of(connection))[seat.crawl_id]
    if any(one.alive and one.number != seat.number for one in workers):
        return f"the crawl {name!r} has another worker, and the demo site is for one"
    if known and not demo.free(_port(known)):
        return f"port {_port(known)} of this machine is taken, and the crawl {name!r} has its pages there"
    return ""


def _port(url: str) -> int:
    return urlsplit(url).port or demo.PORT
