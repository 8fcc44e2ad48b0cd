"""Serving, from the port that is opened to the signal that ends it."""

import sys
from functools import partial
from importlib import import_module
from socket import SO_SNDBUF, SOL_SOCKET
from threading import Thread
from typing import Any

from twisted.internet.error import CannotListenError
from twisted.python.threadpool import ThreadPool

from crawler.dashboard.context import DashboardContext
from crawler.dashboard.routes import answer
from crawler.dashboard.server import AT_ONCE, AT_ONCE_SLOW, site
from crawler.translation.message import printable

BUFFER = 1 << 17
"""Of what the system takes of an answer at once: less of it stands still unseen."""


def place(host: str, port: int) -> str:
    """Where the dashboard is to be found that listens there.

    >>> place("::1", 6080)
    'http://[::1]:6080/ ;'
    >>> place("0.0.0.0", 6080)
    'http://127.0.0.1:6080/ ; other machines reach it at any other address of this one;'
    """
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound to here
    name = everywhere.get(host, host)
    said = f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"
    return f"{said} ;" + (" other machines reach it at any other address of this one;" if host in everywhere else "")


def listen(reactor: Any, found: Any, host: str, port: int) -> Any:
    """The port; each of its connections has the buffer that it has."""
    listening = reactor.listenTCP(port, found, interface="127.0.0.1" if host == "localhost" else host)
    listening.socket.setsockopt(SOL_SOCKET, SO_SNDBUF, BUFFER)
    return listening


def serve(desk: DashboardContext, host: str, port: int, where: str) -> int:
    """Serve until a signal ends it; the exit status."""
    reactor: Any = import_module("twisted.internet.reactor")  # made by whoever asks first

    pools: list[Any] = [ThreadPool(0, AT_ONCE, "answers"), ThreadPool(0, AT_ONCE_SLOW, "slow answers")]
    for pool in pools:
        pool.threadFactory = partial(Thread, daemon=True)  # the end waits for no answer: nobody is there to read it
    found = site(partial(answer, desk), reactor, *pools)
    try:
        listening = listen(reactor, found, host, port)
    except CannotListenError as error:
        said = f"nothing can be served at {host} port {port}: {error.socketError}; --port gives another"
        print(printable(f"scrapy dashboard: {said}"), file=sys.stderr)
        return 1
    taken = listening.getHost().port
    print(printable(f"The dashboard of {where} is at {place(host, taken)} Ctrl-C ends it."), flush=True)
    for pool in pools:
        pool.start()
    reactor.run()
    return 0
