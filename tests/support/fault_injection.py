"""Crawls that are killed, stopped and starved, the web they are sent to, and what must be true of what they leave."""

import json
import re
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Protocol

from fork_server import PATIENCE
from sites import Answer, Asked, Route, Site, command, environment, page, serving
from sqlalchemy import create_engine, text

# Of address.state; written out, because a test that asks the code what is right proves little
WAITING, HELD, DONE = range(3)
SESSION = re.compile(r"\?PHPSESSID=\w+$")
WORDS = "river bridge winter letter engine garden harbour village market forest island teacher century history".split()


class Web(Site):
    """A site with what befalls a crawler: `pages` holds the address of each page there is, without its sessions.

    A tree of pages with links across, some with a session in the address; redirects to pages that nothing else leads
    to, and to others; links to nothing; images; and a chain of pages, each known only from the one before.
    """

    def __init__(self, size: int, pause: float, length: int = 1) -> None:
        super().__init__({})
        self.pause = pause
        self.count: Counter[str] = Counter()
        chain = max(3, size // 30)
        self.put("/", page("The beginning.", links={f"/p/{n}": "a page" for n in range(3)}))
        for n in range(size):
            links = {f"/p/{child}": "below" for child in (3 * n + 3, 3 * n + 4, 3 * n + 5) if child < size}
            links |= {f"/p/{n * 7 % size}?PHPSESSID={n:032x}": "with a session", f"/p/{n * 11 % size}": "across"}
            if n % 20 == 1:
                links |= {f"/moved/{n}": "moved", f"/renamed/{n}": "renamed", f"/missing/{n}": "missing"}
                self.put(f"/only/{n}", page(*prose(size + n, length), "Only a redirect leads here."))
                self.routes |= {f"/moved/{n}": moved(f"/only/{n}"), f"/renamed/{n}": moved(f"/p/{n * 5 % size}")}
            if n == size - 1:
                links |= {"/late/0": "later"}
            image = f'<img src="/images/{n % 5}.png" alt="An image">'
            self.put(f"/p/{n}", page(*prose(n, length), image, links=links))
        for n in range(chain):
            links = {f"/late/{n + 1}": "later"} if n + 1 < chain else {}
            self.put(f"/late/{n}", page(*prose(2 * size + n, length), links=links))
        for n in range(5):
            self.routes[f"/images/{n}.png"] = Answer(b"\x89PNG\r\n\x1a\n" + bytes([n] * 60), content_type="image/png")
        self.paths_of_pages = frozenset(self.paths_of_pages)

    paths_of_pages: Iterable[str] = ()

    def put(self, path: str, body: str) -> None:
        self.routes[path] = body
        self.paths_of_pages = {*self.paths_of_pages, path}

    @property
    def pages(self) -> set[str]:
        return {self.url + path[1:] for path in self.paths_of_pages}

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        self.count[path] += 1
        time.sleep(self.pause)
        route: Route = self.routes.get(SESSION.sub("", path), Answer("<p>Nothing is here.</p>", 404))
        if isinstance(route, str):
            return Answer(route)
        return route if isinstance(route, Answer) else route(Asked(path, time.monotonic(), headers, 0))

    def asked_for(self) -> int:
        """How many requests it had, but for robots.txt."""
        return self.count.total() - self.count["/robots.txt"]


@contextmanager
def spun(size: int, pause: float, length: int = 1, host: str = "127.0.0.1") -> Iterator[Web]:
    """A web of so many pages, each so many sentences long, served with a pause before each answer."""
    web = Web(size, pause, length)
    with serving(web, host):
        yield web


def moved(path: str) -> Answer:
    return Answer(status=302, headers={"Location": path})


def prose(number: int, sentences: int) -> list[str]:
    """A paragraph that no other number has, nor one nearly the same: copies of a page may be put off."""
    chance = Random(number)
    words = [chance.sample(WORDS, 12) for _ in range(sentences)]
    return [" ".join(f"In {number} and {n}, the {' and the '.join(some)} were seen." for n, some in enumerate(words))]


class Process(Protocol):
    """What a crawl runs in."""

    pid: int

    def poll(self) -> int | None:
        """Its exit status, if it has ended."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, once it has ended."""

    def send_signal(self, sig: int) -> None:
        """Send it a signal, unless it has ended."""


class Running:
    """A crawl, or one worker of it, that can be ended in more ways than one."""

    def __init__(
        self,
        folder: Path,
        arguments: Mapping[str, Any],
        settings: Mapping[str, Any],
        start: Callable[[list[str], Path, Path], Process] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.log = folder / f"log-{time.monotonic_ns()}"
        self.log.touch()
        self.process = (start or started)(command(arguments, settings), folder, self.log)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def kill(self) -> None:
        """End it at once, wherever it is."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Its exit status, when it has ended by itself."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it did not end in {timeout} s, and said:\n{self.said[-3000:]}") from None

    def until(self, reached: Callable[[], object]) -> bool:
        """Wait until something is so, or the crawl has ended; whether it still runs."""
        wait_for(lambda: reached() or self.process.poll() is not None)
        return self.process.poll() is None


def started(line: list[str], folder: Path, log: Path) -> Process:
    """A crawl in a process of its own, which writes what it says to the log."""
    with log.open("wb") as stderr:
        return subprocess.Popen(line, cwd=folder, env=environment(), stderr=stderr)


def further_workers(parent: int) -> list[int]:
    """The processes that a command with several workers has started; Linux only."""
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in found if b"crawler.workers" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def wait_for(reached: Callable[[], object]) -> None:
    """Return when something is so."""
    until = time.monotonic() + PATIENCE
    while not reached():
        if time.monotonic() > until:
            raise AssertionError("what was waited for never came")
        time.sleep(0.005)


@dataclass
class Left:
    """What a crawl left behind: its rows, and its lines of JSON."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """What contradicts itself, in words."""


# What holds of the database of any crawl that ended, and the query that finds what contradicts it.
NEVER = {
    "an address that is held": f"SELECT worker, url FROM address WHERE state = {HELD}",
    "an address that nobody asked for again": "SELECT url, outcome FROM address WHERE outcome LIKE '%died%'",
    "two addresses of one page": "SELECT url, count(*) FROM address GROUP BY kind, url HAVING count(*) > 1",
    "a page of an address that was not stored": f"""
        SELECT page.url FROM page LEFT JOIN address ON address.key = page.key AND address.state = {DONE}
        AND address.outcome IS NULL WHERE address.id IS NULL""",
    "an address whose page is not there": f"""
        SELECT address.url FROM address LEFT JOIN page ON page.key = address.key
        WHERE address.state = {DONE} AND address.outcome IS NULL AND kind != 'image' AND page.id IS NULL""",
    "a worker that has gone": "SELECT * FROM worker",
    "pages counted wrongly": """
        SELECT pages, (SELECT count(*) FROM page) FROM crawl WHERE pages != (SELECT count(*) FROM page)""",
    "a site's pages counted wrongly": "SELECT sum(pages) FROM site HAVING sum(pages) != (SELECT count(*) FROM page)",
    "a site with something on its way": "SELECT name, held FROM site WHERE held != 0",
    "a host that a worker keeps": "SELECT name, worker FROM host WHERE worker IS NOT NULL",
    "addresses that wait counted wrongly": f"""
        SELECT waiting, waits
        FROM crawl, (SELECT count(*) AS waits FROM address WHERE state = {WAITING}) AS a
        WHERE waiting != waits""",
    "a crawl without an end": "SELECT name FROM crawl WHERE ended_at IS NULL",
}


def left_by(url: str, folders: Iterable[Path], name: str = "topic") -> Left:
    """What a crawl left in its database, and in the folders of its workers."""
    left = Left()
    with database(url) as ask:
        left.rows = [(row[0], row[1]) for row in ask("SELECT url, text FROM page")]
        left.waiting = [row[0] for row in ask(f"SELECT url FROM address WHERE state = {WAITING}")]
        for what, query in NEVER.items():
            if rows := ask(query):
                left.wrong.append(f"{what}: {rows[:5]}{f' and {len(rows) - 5} more' if rows[5:] else ''}")
        if url.startswith("sqlite") and (check := ask("PRAGMA integrity_check")) != [("ok",)]:
            left.wrong.append(f"the database is damaged: {check}")
        sizes = sorted(size for row in ask("SELECT pages_size, images_size FROM output") for size in row if size)
    files = [path for folder in folders for path in sorted(folder.glob(f"{name}*.jsonl"))]
    files = [path for path in files if ".previous." not in path.name]
    if (found := sorted(path.stat().st_size for path in files if path.stat().st_size)) != sizes:
        left.wrong.append(f"files of {found} bytes, of which {sizes} are committed")
    for path in files:
        for line in path.read_bytes().split(b"\n")[:-1] if path.stat().st_size else []:
            try:
                record = json.loads(line)
            except ValueError:
                left.wrong.append(f"a line of {path.name} is not whole: {line[:100]!r}")
                continue
            if path.name.endswith(".images.jsonl"):
                left.images.append(record["url"])
            else:
                left.lines.append(record)
        if not path.read_bytes().endswith(b"\n") and path.stat().st_size:
            left.wrong.append(f"{path.name} does not end with a whole line")
    return left


def faults(left: Left, wanted: set[str] | None) -> list[str]:
    """What is wrong with what a crawl left, in words; `wanted` are the pages there must be, once each.

    None is for a crawl that had its number of pages before it had all.
    """
    wrong = list(left.wrong)
    if wanted is not None:
        wrong += [f"nobody asked for {url}" for url in left.waiting]
    texts = dict(left.rows)
    for record in left.lines:
        if record["text"] != texts.get(record["url"]):
            wrong.append(f"a line is not as its row: {record['url']}")
    for where, urls in (("row", [url for url, _ in left.rows]), ("line", [record["url"] for record in left.lines])):
        times = Counter(SESSION.sub("", url) for url in urls)
        wrong += [f"{count} {where}s of {url}" for url, count in times.items() if count > 1]
        if wanted is not None:
            wrong += [f"no {where} of {url}" for url in sorted(wanted - times.keys())]
            wrong += [f"a {where} of {url}, which is no page" for url in sorted(times.keys() - wanted)]
    wrong += [f"{count} lines of {url}" for url, count in Counter(left.images).items() if count > 1]
    return wrong


@contextmanager
def database(url: str) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """What asks the database of a crawl."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            yield lambda query: [tuple(row) for row in connection.execute(text(query))]
    finally:
        engine.dispose()


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'output' / 'crawl.db'}"


class Gate:
    """A way to a PostgreSQL server that can lose what the server says to a COMMIT, and the connection with it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.to_lose = 0
        self.lost = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self.listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._carry, args=(self.listener.accept()[0],), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with suppress(OSError), ExitStack() as open_ends:
            server = socket.create_connection(("127.0.0.1", self.port))
            open_ends.callback(server.close)
            open_ends.callback(client.close)
            state = threading.Event()
            threading.Thread(target=self._answer, args=(server, client, state), daemon=True).start()
            while data := client.recv(65536):
                if b"COMMIT\x00" in data and self.to_lose:
                    self.to_lose -= 1
                    state.set()
                server.sendall(data)

    def _answer(self, server: socket.socket, client: socket.socket, lose: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if lose.is_set():  # it is committed by now
                    self.lost += 1
                    break
                client.sendall(data)
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.listener.close()
