"""A static server in a separate process, and how many pages a second it can serve.

`python server.py FOLDER [HOST [PORT [FALLBACK]]]` serves FOLDER, by default on a free port of 127.0.0.1. It prints the
port, and when its standard input ends, what it served. So it always ends with the process that started it. Files other
than pages have a Last-Modified header, as servers of files send it. The file FALLBACK is served for a path that has no
extension and no file, as hosts of applications do.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cache
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

CONNECTIONS = 32
LOAD_SECONDS = 2.0
NOT_FOUND = b"<!DOCTYPE html><title>Not found</title><p>Nothing is here."


@dataclass
class Served:
    """What a server answered."""

    pages: list[str] = field(default_factory=list)
    """Distinct addresses answered with a web page and 200."""
    requested: list[str] = field(default_factory=list)
    """All requested addresses, each as often as it was requested."""
    answers: int = 0
    """Answers of any kind, except for robots.txt."""
    seconds: float = 0.0
    """The time from the first request, except for robots.txt, to the last answer."""
    cpu: float = 0.0
    """CPU seconds of the server."""


class Files:
    """The files of a folder as whole answers, ready to send."""

    def __init__(self, folder: Path, fallback: str = "") -> None:
        self.folder = folder.resolve()
        self.fallback = fallback
        self.answer = cache(self._answer)
        for path in self.folder.rglob("*.html"):
            self.answer("/" + path.relative_to(self.folder).as_posix())

    def _answer(self, path: str) -> tuple[bytes, bool]:
        """The answer, and whether it is a page."""
        file = (self.folder / path.lstrip("/")).resolve()
        if file.is_dir() and (file / "index.html").is_file():
            if not path.endswith("/"):
                return _answer("301 Moved Permanently", "text/html", b"", location=quote(f"{path}/")), False
            file /= "index.html"
        if self.fallback and not file.is_file() and not file.suffix:
            file = self.folder / self.fallback
        if not file.is_relative_to(self.folder) or not file.is_file():
            return _answer("404 Not Found", "text/html", NOT_FOUND), False
        kind = guess_type(file.name)[0] or "application/octet-stream"
        is_page = kind == "text/html"
        modified = "" if is_page else formatdate(file.stat().st_mtime, usegmt=True)
        return _answer("200 OK", kind, file.read_bytes(), modified=modified), is_page


def _answer(status: str, kind: str, body: bytes, location: str = "", modified: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    if location:
        head += f"Location: {location}\r\n"
    if modified:
        head += f"Last-Modified: {modified}\r\n"
    return f"{head}\r\n".encode() + body


class Connection(asyncio.Protocol):
    """One connection, kept open; head and body of an answer go out in one piece."""

    def __init__(self, files: Files, served: dict[str, Any]) -> None:
        self.files, self.served = files, served
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        *requests, self.received = (self.received + data).split(b"\r\n\r\n")
        for request in requests:
            target = unquote(request.split(b" ", 2)[1].decode("latin-1"))
            answer, is_page = self.files.answer(target.partition("?")[0])
            self.transport.write(answer)
            self.served["requested"].append(target)
            if target != "/robots.txt":
                self.served["answers"] += 1
                self.served["last"] = time.monotonic()
                self.served.setdefault("first", self.served["last"])
            if is_page:
                self.served["pages"].add(target)


async def serve(folder: Path, host: str = "127.0.0.1", port: int = 0, fallback: str = "") -> None:
    """Serve until standard input ends."""
    files = Files(folder, fallback)
    served: dict[str, Any] = {"answers": 0, "pages": set(), "requested": []}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(files, served), host, port, backlog=1024)
    started = time.process_time()
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.buffer.read)
    seconds = served.get("last", 0.0) - served.get("first", 0.0)
    cpu = time.process_time() - started
    print(json.dumps([sorted(served["pages"]), served["answers"], seconds, cpu, served["requested"]]))


@contextmanager
def serving(folder: Path, host: str = "127.0.0.1", port: int = 0, fallback: str = "") -> Iterator[tuple[int, Served]]:
    """The port of a server of the folder, and what it served once it has ended."""
    served = Served()
    line = [sys.executable, __file__, str(folder), host, str(port), fallback]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline()), served
            process.stdin.close()
            record = json.loads(process.stdout.read())
            served.pages, served.answers, served.seconds, served.cpu, served.requested = record
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


async def _ask(port: int, paths: list[str], until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = 0
    while time.monotonic() < until:
        writer.write(b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % paths[answers % len(paths)].encode())
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.rpartition(b": ")[2]))
        answers += 1
    writer.close()
    await writer.wait_closed()
    return answers


async def _load(port: int, paths: list[str]) -> float:
    until = time.monotonic() + LOAD_SECONDS
    clients = (_ask(port, paths[start:] + paths[:start], until) for start in range(min(CONNECTIONS, len(paths))))
    return sum(await asyncio.gather(*clients)) / LOAD_SECONDS


def capacity(folder: Path, targets: list[str]) -> float:
    """How many of these pages a second the server answers a client that does nothing with them."""
    with serving(folder) as (port, _):
        return asyncio.run(_load(port, [quote(target) for target in targets]))


if __name__ == "__main__":
    folder, *others = sys.argv[1:]
    host, port, fallback = [*others, *("127.0.0.1", "0", "")[len(others) :]]
    asyncio.run(serve(Path(folder), host, int(port), fallback))
