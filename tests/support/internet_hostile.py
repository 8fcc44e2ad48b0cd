"""Habits of hosts that mean harm."""

import gzip
from collections.abc import Mapping
from functools import partial

import internet_server as net
from hostile_pages import PAGES
from internet import Habit, Host, Internet
from internet_server import Reply

ANSWERS: Mapping[str, Reply] = {
    "bomb": Reply(gzip.compress(bytes(20_000_000)), headers={"Content-Encoding": "gzip"}),
    "endless": Reply(way=net.dripping),
    "depth": Reply(PAGES["nested divs"]),
    "attributes": Reply(PAGES["many attributes"]),
    "nuls": Reply(PAGES["nuls in a page"]),
    "title": Reply(PAGES["open title"]),
    "no-http": Reply(b"220 mail.example ESMTP\r\n", way=net.raw),
    "cookie": Reply(b"<p>A cookie.", headers={"Set-Cookie": "a=" + "b" * 15_000}),
    "inside": Reply(status=302, headers={"Location": "http://inside.example/admin"}),
    "terminal": Reply(b"<p>One.", content_type="\x1b]0;gone\x07/x"),
}
"""Ten answers that are made to do harm."""


def hostile(name: str, web: Internet, host: Host) -> None:
    """An answer that is made to do harm, beside articles that do none."""
    host.routes["/bad"] = lambda asked: ANSWERS[name]
    host.links.append("/bad")


HOSTILE: Mapping[str, Habit] = {name: partial(hostile, name) for name in ANSWERS}
