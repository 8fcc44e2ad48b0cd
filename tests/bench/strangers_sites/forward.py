"""Forwards requests to a server on this machine, and remembers them: systems have logs of many forms, or none."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from server import Served

SECONDS = 120.0
"""Time limit of an answer."""
HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length")


@contextmanager
def forwarding(address: str, port: int, backend_port: int) -> Iterator[Served]:
    """What was asked for at an address while a backend answered."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            served.requested.append(self.path)
            backend = HTTPConnection("127.0.0.1", backend_port, timeout=SECONDS)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            backend.request("GET", self.path, headers=headers)
            answer = backend.getresponse()
            body = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            backend.close()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((address, port), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
