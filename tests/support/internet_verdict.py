"""What is wrong with crawls of the small internet, by the log of its server and by their database."""

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from fault_injection import NEVER, SESSION, WAITING
from internet import DAY, EDITION, Internet
from internet_server import Hit

EARLY = 0.25  # seconds by which a request may come early: one before it left a busy crawler late
WAKING = 1.0  # seconds after which a worker that wakes up knows that others have taken over


class Row(NamedTuple):
    """A stored page."""

    url: str
    text: str


def pages_wrong(web: Internet, log: Iterable[Hit], rows: Sequence[Row], parts: Iterable[int]) -> Iterator[str]:
    """Pages that are not stored once, in the text that was sent last."""
    wanted = {web.url(host, path): (host.name, path) for host, path in web.expected() if host.part in parts}
    sent = {(hit.host, bare(hit.path)): hit.edition for hit in log if hit.edition is not None}
    texts = {SESSION.sub("", row.url): row.text for row in rows}
    times = Counter(SESSION.sub("", row.url) for row in rows)
    yield from (f"{count} rows of {url}" for url, count in times.items() if count > 1)
    for url, place in wanted.items():
        if url not in texts:
            yield f"{url} is not stored" + ("" if place in sent else ", and was never requested")
        elif (found := EDITION.search(texts[url])) is None:
            yield f"the text of {url} is lost: {texts[url][:80]!r}"
        elif (found[2], found[3]) != place or int(found[1]) != sent.get(place):
            yield f"{url} has edition {found[1]} of {found[2]}{found[3]}, and {sent.get(place)} was sent last"


def bare(path: str) -> str:
    return unquote(path.partition("?")[0])


def requests_wrong(web: Internet, log: Iterable[Hit]) -> Iterator[str]:
    """Forbidden requests, and hosts that were not asked for robots.txt first."""
    first: dict[str, str] = {}
    for hit in log:
        first.setdefault(hit.host, hit.path)
        host = web.hosts.get(hit.host)
        if host is not None and host.forbidden and hit.path != "/robots.txt" and host.forbidden.search(hit.path):
            yield f"{hit.host} was asked for {hit.path}, which is forbidden"
    yield from (f"{host} was first asked for {path}" for host, path in first.items() if path != "/robots.txt")


def pauses_wrong(web: Internet, log: Iterable[Hit], pause: float, woken: Sequence[float] = ()) -> Iterator[str]:
    """Requests that came too soon after another to the same host, and hosts whose pauses were too short on average.

    A worker that was `woken` after its lease, by the steady clock, still sends what it was about to send.
    """
    hits: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in log:
        hits[hit.host].append(hit)
    for name, own in hits.items():
        host = web.hosts.get(name)
        least = max(pause, host.delay if host else 0.0)
        gaps = [other.steady - one.earliest for one, other in pairwise(own)]
        asked_for = [
            0.0 if any(0 <= other.steady - at < WAKING for at in woken) else max(least, one.rest)
            for one, other in pairwise(own)
        ]
        for gap, wanted, one, other in zip(gaps, asked_for, own[:-1], own[1:], strict=True):
            if gap < wanted - EARLY:
                day = (other.wall - web.span.since) / DAY
                told = f"{name}: {gap:.3f} s between {one.path} ({one.status}) and {other.path}"
                yield f"{told}, {wanted:g} asked for, on day {day:.4f}"
        if own[-1].steady - own[0].earliest < sum(asked_for) - EARLY:
            yield f"{name}: {len(own)} requests in {sum(gaps):.2f} s, {sum(asked_for):.2f} s asked for"


def lines_wrong(name: str, rows: Sequence[Row], folders: Iterable[Path]) -> Iterator[str]:
    """Pages whose last line of JSON is not as their row, and lines that are there twice or not whole."""
    files = [path for folder in folders for path in folder.glob(f"{name}*.jsonl")]
    times: Counter[tuple[str, str]] = Counter()
    last: dict[str, tuple[str, str]] = {}
    for path in files:
        for line in path.read_text("utf-8").splitlines():
            try:
                item = json.loads(line)
            except ValueError:
                yield f"a line of {path} is not whole: {line[:80]!r}"
                continue
            times[item["url"], item["fetched_at"]] += 1
            last[item["url"]] = max(last.get(item["url"], ("", "")), (item["fetched_at"], item["text"]))
    yield from (f"{count} lines of {url} of {at}" for (url, at), count in times.items() if count > 1)
    for row in rows:
        if row.url not in last:
            yield f"{row.url} has no line"
        elif last[row.url][1] != row.text:
            yield f"the last line of {row.url}, of {last[row.url][0]}, is not as its row"


Ask = Callable[[str], list[tuple[Any, ...]]]
"""Asks a database."""
OF_FIRST_ROUNDS = {
    "pages counted wrongly",
    "a site's pages counted wrongly",
    "addresses that wait counted wrongly",
    "two addresses of one page",
    "a page of an address that was not stored",  # in a later round its site may have spent its budget
}


def state_wrong(ask: Ask) -> Iterator[str]:
    """What contradicts itself in the database of crawls that have ended."""
    queries = {what: query for what, query in NEVER.items() if what not in OF_FIRST_ROUNDS}
    queries["addresses that wait counted wrongly"] = f"""
        SELECT name, waiting, (SELECT count(*) FROM address JOIN host ON host.id = host_id
        WHERE host.crawl_id = crawl.id AND state = {WAITING}) AS waits FROM crawl WHERE waiting != (
        SELECT count(*) FROM address JOIN host ON host.id = host_id WHERE host.crawl_id = crawl.id
        AND state = {WAITING})"""
    queries["two addresses of one page"] = """
        SELECT crawl_id, kind, url, count(*) FROM address JOIN host ON host.id = host_id
        GROUP BY crawl_id, kind, url HAVING count(*) > 1"""
    for what, query in queries.items():
        if rows := ask(query):
            yield f"{what}: {rows[:3]}{f' and {len(rows) - 3} more' if rows[3:] else ''}"


def fetches(web: Internet, log: Iterable[Hit], part: int) -> dict[tuple[str, str], list[Hit]]:
    """The answers with an edition of each page of a part, in order."""
    found: defaultdict[tuple[str, str], list[Hit]] = defaultdict(list)
    for hit in log:
        if hit.edition is not None and web.hosts[hit.host].part == part:
            found[hit.host, bare(hit.path)].append(hit)
    return found


def promises_wrong(web: Internet, log: Sequence[Hit], part: int, promised: float) -> Iterator[str]:
    """Changes that were seen later than promised, on hosts that are always there."""
    end = log[-1].wall
    for place, hits in fetches(web, log, part).items():
        if place not in web.changes or web.hosts[place[0]].habit == "away":
            continue
        walls = [hit.wall for hit in hits]
        for change in web.changes[place]:
            after = bisect_left(walls, change)
            seen = walls[after] if after < len(walls) else end
            if walls[0] < change < end and seen - change > promised:
                yield f"a change of {''.join(place)} was seen after {(seen - change) / 3600:.1f} h"
