"""All that can be asked of a dashboard over a database of million_pages.py, and how long the answers take."""

import html
import http.client
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from dashboard_client import API, VIEWS, Parameter
from made_up_texts import ABSENT, COMMON, RARE
from million_pages import NAME
from sqlalchemy import Connection, text

CURSORS = ("after", "before", "cursor", "below")
STEPS = 3  # that a cursor is followed
PATIENCE = 30.0  # seconds
CALM = 5
"""Times a late answer is asked for again at most, while the machine's host keeps its processors for others."""
VALUES: Mapping[str, tuple[str, ...]] = {
    "crawl": (NAME, f"{NAME}-2"),
    "q": (COMMON, *RARE, ABSENT, f"{COMMON} garden", "蜜蜂", "ГАРДЕН"),
    "language": ("en", "ru", "xx"),
    "type": ("article", "forum"),
    "from": ("0.5", "0.99"),
    "to": ("0.01",),
    "round": ("1", "3"),
    "lang": ("zh",),
}
"""What parameters of these names are given; {site} stands for a large site, {small} for a small one."""
TABLES = {"page": "page", "crawl": "crawl", "verdict": "verdict", "job": "job", "run": "run", "label": "label"}
"""Of which table the numbers in an address are."""


class Timed(NamedTuple):
    """How long one address took, in milliseconds."""

    address: str
    status: int
    size: int
    cold: float
    """The first time, with nothing of a file of SQLite in the system's memory."""
    usual: float
    worst: float
    cpu: float | None
    """Of the dashboard's processor, on average once it is warm: what it would take on a machine with nothing to do."""
    again: int
    """Answers that were asked for again, because the machine's host kept its processors for others in late ones."""


class Limits(NamedTuple):
    """How addresses are asked for."""

    times: int
    """That each is asked for once it is warm."""
    late: float
    """Milliseconds after which an answer is late."""
    file: Path | None
    """Of a database of SQLite, which the system forgets before each address."""


class Facts(NamedTuple):
    """What of the database addresses are made of."""

    numbers: Mapping[str, tuple[int, ...]]
    sites: tuple[str, ...]


def facts(connection: Connection) -> Facts:
    """Numbers of each table: the first, one in the middle, the last; the sites with most and fewest pages."""
    numbers = {}
    for name, table in TABLES.items():
        least, most = connection.execute(text(f"SELECT min(id), max(id) FROM {table}")).one()
        numbers[name] = tuple(sorted({least, (least + most) // 2, most} if name != "crawl" else {1, 2}))
    found = "SELECT name FROM site WHERE crawl_id = 1 ORDER BY pages {} LIMIT 1"
    return Facts(numbers, tuple(connection.execute(text(found.format(way))).scalar_one() for way in ("DESC", "ASC")))


def addresses(known: Facts) -> Iterator[str]:
    """Each address of views and data: as it is, and with each value of each parameter. Downloads send all pages and are
    left out.
    """
    for pattern, route in {**VIEWS, **API}.items():
        if pattern.endswith("/download"):
            continue
        paths = _paths(pattern, known)
        yield from paths
        for parameter in route.parameters:
            for value in _values(parameter, known):
                yield f"{paths[0]}?{urlencode({parameter.name: value})}"


def _paths(pattern: str, known: Facts) -> list[str]:
    """The addresses of a pattern, with the first, the middle and the last number of what it is of."""
    names = re.findall(r"\{(\w+)\}", pattern)
    if not names:
        return [pattern]
    choices = [known.numbers.get(name, (1,)) for name in names]
    rows = [[choice[min(place, len(choice) - 1)] for choice in choices] for place in range(max(map(len, choices)))]
    return [pattern.format(**dict(zip(names, row, strict=True))) for row in rows]


def _values(parameter: Parameter, known: Facts) -> list[str]:
    if parameter.allowed:
        return [value for value in parameter.allowed if value]
    if parameter.name == "site":
        return [*known.sites, known.sites[0][:4], ABSENT]
    if parameter.name in CURSORS and parameter.type is int:
        return [str(number) for number in known.numbers["page"]]
    return [*VALUES.get(parameter.name, ("yes",) if parameter.type is bool else ())]


def cursors(address: str, body: bytes) -> str | None:
    """The address of what follows, of an answer that has not said all."""
    path, given = urlsplit(address).path, dict(parse_qsl(urlsplit(address).query))
    said = html.unescape(body.decode("utf-8", "replace"))
    if path.startswith("/api/"):
        found = re.search(r'"(?:more|after|before|next)": ("[^"]+"|\d+)', said)
        name = next((n for n in CURSORS if n in (p.name for p in API[path].parameters)), None) if path in API else None
        return f"{path}?{urlencode(given | {name: found[1].strip(chr(34))})}" if found and name else None
    for link in re.findall(r'href="([^"]*\?[^"]*)"', said):
        there = urlsplit(link)
        if there.path in ("", path) and set(CURSORS) & set(dict(parse_qsl(there.query))):
            return f"{path}?{there.query}"
    for name, value in re.findall(rf'<input type="hidden" name="({"|".join(CURSORS)})" value="([^"]+)"', said):
        return f"{path}?{urlencode(given | {name: value})}"
    return None


class Asker:
    """A visitor with one connection to the dashboard."""

    def __init__(self, address: str, pid: int | None = None) -> None:
        self.pid = pid
        self.place = urlsplit(address).netloc
        self.connection = http.client.HTTPConnection(self.place, timeout=PATIENCE)

    def cpu(self) -> float:
        """Milliseconds that the dashboard has had the processor, in steps of the clock; 0 where nobody tells."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return 1_000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, address: str) -> tuple[int, bytes, float]:
        """Status, body and milliseconds."""
        begun = time.perf_counter()
        self.connection.request("GET", quote(address, safe="/?=&%+:;,"), headers={"Host": self.place})
        answer = self.connection.getresponse()
        body = answer.read()
        return answer.status, body, 1_000 * (time.perf_counter() - begun)


def forget(file: Path | None) -> None:
    """Let the system drop what it has of a file in memory; nothing where that cannot be."""
    if file is None or not hasattr(os, "posix_fadvise"):
        return
    handle = os.open(file, os.O_RDONLY)
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def stolen() -> int:
    """Steps of the clock in which the machine's host kept its processors for others; 0 where nobody tells."""
    try:
        return int(Path("/proc/stat").read_text().split(maxsplit=9)[8])
    except (OSError, IndexError, ValueError):
        return 0


def calm(asker: Asker, address: str, limit: float) -> tuple[float, int]:
    """Milliseconds of an answer, and how often it was asked for again: the machine's host is not the dashboard."""
    again = 0
    while True:
        before = stolen()
        took = asker.ask(address)[2]
        if took <= limit or stolen() == before or again == CALM:
            return took, again
        again += 1


def timed(asker: Asker, address: str, limits: Limits) -> tuple[Timed, bytes]:
    """How long an address takes: once cold, then so many times; and what it answers."""
    forget(limits.file)
    status, body, cold = asker.ask(address)
    before = asker.cpu()
    warm, again = zip(*(calm(asker, address, limits.late) for _ in range(limits.times)), strict=True)
    cpu = (asker.cpu() - before) / (limits.times + sum(again))
    return Timed(address, status, len(body), cold, median(warm), max(warm), cpu, sum(again)), body


def all_timed(asker: Asker, firsts: Iterable[str], limits: Limits) -> Iterator[Timed]:
    """These addresses, and what follows on each for some steps."""
    seen: set[str] = set()
    for first in firsts:
        address: str | None = first
        for _ in range(STEPS):
            if address is None or address in seen:
                break
            seen.add(address)
            found, body = timed(asker, address, limits)
            yield found
            address = cursors(address, body) if found.status == http.client.OK else None


def shown(found: Timed) -> str:
    """A line of a table."""
    return (
        f"{found.cold:9.0f}{found.usual:9.0f}{found.worst:9.0f}{found.cpu or 0.0:9.0f}{found.size:12,}"
        f"  {found.status}  {found.address[:110]}"
    )


HEADING = f"{'cold, ms':>9}{'usual':>9}{'worst':>9}{'cpu':>9}{'bytes':>12}"
