"""Serves the demo site while it is crawled, on the port that it had when the crawl began."""

from __future__ import annotations

from contextlib import ExitStack
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler

from crawler import demo
from crawler.errors import StateError
from crawler.store.database import database_time
from crawler.store.heartbeats import workers_of
from crawler.store.worker_session import WorkerSession
from crawler.translation.message import Message
from crawler.urls.address import address_of

DEMO_SLOT = {"concurrency": 1, "delay": 0.0, "jitter": 0.0}
"""The settings of the downloader's slot: no pauses, but one request at a time, so that promising pages come first."""


def check_demo(session: WorkerSession) -> None:
    """If the demo site cannot be served, leave the session and raise a StateError."""
    why = _hindrance(session)
    if why:
        session.leave()
        raise StateError("{why}; give another -a name=NAME", why=why)


def serve_demo(crawler: Crawler, session: WorkerSession) -> str:
    """Serve the demo site until the crawl ends, without pauses and as an allowed address; returns its address."""
    known_seed = session.known_seed()
    serving = ExitStack()
    crawler.signals.connect(serving.close, signals.spider_closed, weak=False)
    if known_seed:  # the addresses that the crawl knows have this port
        url = serving.enter_context(demo.serving(_port(known_seed), exact=True))
    else:
        url = serving.enter_context(demo.serving())
    host = address_of(url).host
    allowed = [*crawler.settings.getlist("ALLOWED_PRIVATE_HOSTS"), host]
    crawler.settings.set("ALLOWED_PRIVATE_HOSTS", allowed, priority="cmdline")
    # Scrapy names slots by host, without the port.
    slots = crawler.settings.getdict("DOWNLOAD_SLOTS") | {host.partition(":")[0]: DEMO_SLOT}
    crawler.settings.set("DOWNLOAD_SLOTS", slots, priority="cmdline")
    return url


def _hindrance(session: WorkerSession) -> Message | None:
    """Why the demo site cannot be served to this worker, or None if it can. Known addresses keep their port."""
    name = session.plan.name
    known_seed = session.known_seed()
    with session.engine.begin() as connection:
        workers = workers_of(connection, database_time(connection))[session.crawl_id]
    if any(other_worker.alive and other_worker.number != session.number for other_worker in workers):
        return Message("the crawl {name} has another worker, and the demo site allows only one", {"name": repr(name)})
    if known_seed and not demo.is_free(_port(known_seed)):
        values = {"port": _port(known_seed), "name": repr(name)}
        return Message(
            "port {port} of this machine is in use, and the pages of the crawl {name} have addresses with this port",
            values,
        )
    return None


def _port(url: str) -> int:
    return urlsplit(url).port or demo.PORT
