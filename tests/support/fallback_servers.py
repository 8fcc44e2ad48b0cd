"""A real server on loopback that finds the main text of pages, in the ways that a user's may, and in wrong ways."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Barrier, BrokenBarrierError
from typing import Any

from loopback import serving_requests

from crawler.page.page import Extraction, Page

TEXT = "Bees dance in the dark of the hive."
ANSWERS: dict[str, tuple[int, str]] = {
    "/text": (200, json.dumps({"text": TEXT, "model": "bee"})),
    "/empty": (200, json.dumps({"text": " \n"})),
    "/status": (503, json.dumps({"text": TEXT})),
    "/moved": (302, json.dumps({"text": TEXT})),
    "/no-json": (200, TEXT),
    "/no-object": (200, json.dumps([TEXT])),
    "/no-text": (200, json.dumps({"title": TEXT})),
    "/number": (200, json.dumps({"text": 7})),
    "/deep": (200, "[" * 200_000),
}
"""The status and the body of an answer, by path; `/drip` never ends its answer, `/endless` sends more than is read, and
`/padded?9` has so many bytes.
"""

ROWS = "".join(f"<div><a href=/>Hive {number}</a> <span>{number} frames</span></div>" for number in range(12))
DOUBTFUL = f"<!DOCTYPE html><html lang=en><title>Hives</title><body><div>{ROWS}</div>"
"""A page of which `auto` is in doubt."""


def second_text(page: Page) -> Extraction:
    """What a user's function may be."""
    return Extraction(TEXT, "")


@dataclass
class FallbackSite:
    """What was asked of a server."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    together: Barrier | None = None
    """Where requests wait for each other, so that they are seen to be sent at the same time."""
    were_together: bool = False


def answer_to(path: str) -> tuple[int, str]:
    """The status and the body of the answer to a path."""
    if path.startswith("/padded?"):
        return 200, json.dumps({"text": TEXT}).ljust(int(path.partition("?")[2]))
    return ANSWERS.get(path, (200, ""))


@contextmanager
def answering(together: int = 1) -> Iterator[FallbackSite]:
    """A server, whose answers wait until so many requests are there."""
    site = FallbackSite(together=Barrier(together) if together > 1 else None)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/json"
            site.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if site.together is not None:
                with suppress(BrokenBarrierError):
                    site.together.wait(20)
                    site.were_together = True
            with suppress(OSError):
                self.answer()

        def answer(self) -> None:
            status, body = answer_to(self.path)
            self.send_response(status)
            if self.path == "/moved":
                self.send_header("Location", "/text")
            self.end_headers()
            self.wfile.write(body.encode())
            if self.path == "/drip":
                for _ in range(600):
                    self.wfile.write(b" ")
                    time.sleep(0.05)
            if self.path == "/endless":
                for _ in range(1_000):
                    self.wfile.write(b"x" * 65_536)

        def log_message(self, *_: object) -> None:
            pass

    with serving_requests(Handler) as site.url:
        yield site
