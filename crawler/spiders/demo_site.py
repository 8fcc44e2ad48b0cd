"""A crawl of the demo site: served for its length, and always where the crawl has its pages."""

from contextlib import ExitStack
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler

from crawler import demo
from crawler.store.database import StateError, database_time
from crawler.store.worker_session import WorkerSession
from crawler.store.workers import workers_of
from crawler.urls.parsing import host

# The demo site is ours: it is asked without pauses, one page after the other, so that the promising ones come first.
DEMO_SLOT = {"concurrency": 1, "delay": 0.0, "jitter": 0.0}


def check_demo(session: WorkerSession) -> None:
    """Give up the seat and raise a StateError, unless the demo site can be served to it."""
    if why := _hindrance(session):
        session.leave()
        raise StateError(f"{why}; give another -a name=NAME")


def serve_demo(crawler: Crawler, session: WorkerSession) -> str:
    """The address of the demo site, served until the crawl ends, opened for it alone and asked without pauses."""
    known = session.seed_known()
    served = ExitStack()
    crawler.signals.connect(served.close, signals.spider_closed, weak=False)
    url = served.enter_context(demo.serving(_port(known), exact=True) if known else demo.serving())
    address = host(url)
    opened = [*crawler.settings.getlist("ALLOWED_PRIVATE_HOSTS"), address]
    crawler.settings.set("ALLOWED_PRIVATE_HOSTS", opened, priority="cmdline")
    slots = crawler.settings.getdict("DOWNLOAD_SLOTS") | {address.partition(":")[0]: DEMO_SLOT}
    crawler.settings.set("DOWNLOAD_SLOTS", slots, priority="cmdline")
    return url


def _hindrance(session: WorkerSession) -> str:
    """Why the demo site cannot be served to this worker, if it cannot: each has a site of its own, at one address."""
    name, known = session.plan.name, session.seed_known()
    with session.engine.begin() as connection:
        workers = workers_of(connection, database_time(connection))[session.crawl_id]
    if any(one.alive and one.number != session.number for one in workers):
        return f"the crawl {name!r} has another worker, and the demo site is for one"
    if known and not demo.free(_port(known)):
        return f"port {_port(known)} of this machine is taken, and the crawl {name!r} has its pages there"
    return ""


def _port(url: str) -> int:
    return urlsplit(url).port or demo.PORT
