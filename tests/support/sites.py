"""Small real servers on loopback, and crawls of them in a process of their own."""

import json
import re
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any

import fork_server
from fork_server import environment

from crawler.extensions.statistics import STATISTICS


@dataclass(frozen=True)
class Answer:
    """What a path is answered with."""

    body: bytes | str | Iterable[bytes] = ""
    """Pieces are sent as they come, without a Content-Length."""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it."""

    path: str
    at: float
    headers: Mapping[str, str]
    times: int
    """How often the path was asked for before."""


Route = Answer | str | Callable[[Asked], Answer]


class Site:
    """A site made of routes; `asked` is the log of what was asked of it."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self.routes = dict(routes)
        self.asked: list[Asked] = []
        self.url = ""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        asked = Asked(path, time.monotonic(), headers, self.paths().count(path))
        self.asked.append(asked)
        route = self.routes.get(path, Answer("<p>Nothing is here.</p>", 404))
        if isinstance(route, str):
            return Answer(route)
        return route if isinstance(route, Answer) else route(asked)

    def paths(self, without: str = "") -> list[str]:
        """The paths asked for, in order."""
        return [asked.path for asked in self.asked if asked.path != without]


@contextmanager
def serving(site: Site, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, port: int = 0) -> Iterator[Site]:
    """The site, served on a port of a loopback address; on a free one if none is given."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            answer = site.answer(self.path, dict(self.headers.items()))
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            self.send_response(answer.status)
            length = {"Content-Length": str(len(body))} if isinstance(body, bytes) else {"Connection": "close"}
            headers = {"Content-Type": answer.content_type} | length | dict(answer.headers)
            for name, value in headers.items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            for piece in [body] if isinstance(body, bytes) else body:
                self.wfile.write(piece)

        def log_message(self, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        address_family = AF_INET6 if ":" in host else AF_INET

        def handle_error(self, *args: Any) -> None:
            pass  # a crawler that hangs up early is part of the tests

    with Server((host, port), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        shown = f"[{host}]" if ":" in host else host
        site.url = f"{'http' if tls is None else 'https'}://{shown}:{server.server_address[1]}/"
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serving_all(sites: Iterable[Site]) -> Iterator[str]:
    """Sites served each on a port of its own; their addresses as the seeds of one crawl."""
    with ExitStack() as served:
        yield " ".join(served.enter_context(serving(site)).url for site in sites)


@dataclass(frozen=True)
class Crawl:
    """A crawl that ended."""

    status: int
    out: str
    err: str
    folder: Path

    def items(self, name: str = "topic") -> list[dict[str, Any]]:
        path = self.folder / "output" / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def paths_of(self, site: Site) -> list[str]:
        """The paths of the items from a site, in order."""
        urls = [str(item["url"]) for item in self.items()]
        return ["/" + url.removeprefix(site.url) for url in urls if url.startswith(site.url)]

    def closing(self) -> str:
        """What was said after the log."""
        return self.err[self.err.rindex("INFO: Spider closed") :]

    def statistics(self) -> dict[str, int]:
        """The whole numbers among the statistics that a crawl with STATS_DUMP printed."""
        printed = re.findall(r"^[ {]'([^']+)': (\d+)[,}]", self.err, re.MULTILINE)
        assert printed, "nothing was printed"
        return {name: int(number) for name, number in printed}

    def outcomes(self) -> dict[str, int]:
        """How often a crawl with STATS_DUMP left something out or failed, by the code of the outcome."""
        counts = self.statistics().items()
        return {name.partition("/")[2]: count for name, count in counts if name.startswith(("skipped/", "failed/"))}

    def unlisted_statistics(self) -> set[str]:
        """Statistics that a crawl with STATS_DUMP printed, and that neither Scrapy nor the list of ours has."""
        names = set(re.findall(r"^[ {]'([^']+)': ", self.err, re.MULTILINE))
        ours = "|".join(re.sub("[A-Z]+", ".+", re.escape(name)) for name in STATISTICS)
        return {name for name in names if not re.fullmatch(f"{ours}|{OF_SCRAPY}", name)}

    def counts(self) -> dict[str, int]:
        """How often each reason to leave something out was given at the end."""
        lines = [line for line in self.closing().splitlines() if line.startswith(("Left out: ", "Failed: "))]
        found = [match for line in lines for match in re.findall(r"(.+?) \(([\d,]+)\)[,.] ?", line.partition(": ")[2])]
        return {why: int(count.replace(",", "")) for why, count in found}


OF_SCRAPY = (
    "(downloader|scheduler|log_count|memusage|retry|spider_exceptions|httpcompression|httperror|robotstxt)/.*|"
    "(item|response|request|elapsed|start|finish)_.*|(items|responses)_per_minute|feedexport/.*"
)


# A tester's own site: open to it, and asked without pauses.
OPEN = {
    "ALLOWED_PRIVATE_HOSTS": "127.0.0.1",
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "False",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "8",
}
# The same, with the statistics that `Crawl.statistics` reads.
COUNTED = OPEN | {"STATS_DUMP": "True"}
# Images are judged by their shares of the pages alone: what stands around them is not what these tests are about.
BY_SHARES = OPEN | {"IMAGE_NOISE_MODELS": "redundancy"}


# With `stubbed`: nothing is looked up, and nothing is sent to an address that is not on loopback.
STUB = {"TWISTED_DNS_RESOLVER": "stub_resolver.StubResolver"}


def command(arguments: Mapping[str, Any], settings: Mapping[str, Any], *more: str) -> list[str]:
    """The command line of a crawl."""
    line = [sys.executable, "-m", "scrapy", "crawl", "topic"]
    line += [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    line += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    return [*line, *more]


def crawl(
    folder: Path,
    arguments: Mapping[str, Any],
    settings: Mapping[str, Any] = OPEN,
    *more: str,
    timeout: float = 300,
    env: Mapping[str, str] | None = None,
) -> Crawl:
    """A crawl with these arguments and settings, run to its end in `folder`."""
    line = command(arguments, settings, *more)
    run = fork_server.run(line, folder, environment() | dict(env or {}), timeout)
    ended = Crawl(run.returncode, run.stdout, run.stderr, folder)
    assert ended.unlisted_statistics() == set()
    return ended


def stubbed(folder: Path, names: Mapping[str, list[Any]] | None = None) -> dict[str, str]:
    """The environment of a crawl that knows only these names, and lists in `connections` where it connects to."""
    return {"STUB_NAMES": json.dumps(names or {}), "STUB_CONNECTIONS": str(folder / "connections")}


def page(*paragraphs: str, links: Mapping[str, str] | None = None, head: str = "") -> str:
    """A web page of paragraphs and links."""
    anchors = "".join(f'<li><a href="{href}">{text}</a></li>' for href, text in (links or {}).items())
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs) + f"<nav><ul>{anchors}</ul></nav>"
    return f"<!DOCTYPE html><html lang='en'><head><title>A page</title>{head}</head><body>{body}</body></html>"
