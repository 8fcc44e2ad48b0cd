"""A real server on loopback that receives notices."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import serving_requests


class Receiver:
    """What was posted to a server, by path; the path decides the response."""

    def __init__(self) -> None:
        self.url = ""
        self.got: list[tuple[str, dict[str, Any]]] = []


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A server: /500 fails, /moved redirects, /drip never ends its status line, /endless its body."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/json"
            receiver.got.append((self.path, json.loads(body)))
            with suppress(OSError):
                if self.path == "/drip":
                    for _ in range(200):
                        self.wfile.write(b"H")
                        time.sleep(0.05)
                    return
                self.send_response({"/500": 500, "/moved": 302}.get(self.path, 200))
                if self.path == "/moved":
                    self.send_header("Location", "/elsewhere")
                self.end_headers()
                if self.path == "/endless":
                    for _ in range(1_000):
                        self.wfile.write(b"x" * 65_536)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with serving_requests(Handler) as receiver.url:
        yield receiver
