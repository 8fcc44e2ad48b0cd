"""A database as a crawl of a million pages leaves it, made in minutes: all tables that the dashboard reads.

Rows are written as they are, past the crawler; what is in them is made up, but as long, as frequent and as connected
as on the web. What is not there: templates, lessons, and the parts by which near duplicates are found.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import postgres
from made_up_texts import LANGUAGES, SEED, SHARES, sentences, texts, titles
from sqlalchemy import Index, Table, inspect
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import URL
from sqlalchemy.schema import CreateIndex

from crawler.contrib.corpus.quality import measured
from crawler.demo.site import png
from crawler.outcomes import Code, Outcome
from crawler.rights.statement import State, Use
from crawler.store.batch.images import label_key
from crawler.store.crawl_tables import address, crawl, host, job, run, sample, site, tables, worker
from crawler.store.database import open_database
from crawler.store.page_tables import LabelKind, evidence, focus, label, page, page_version, stored_response, verdict

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

AT_ONCE = 10_000
NAME = "million"
CRAWLS, JOBS, RUNS, IMAGES, BODIES, MEASURED = 20, 12, 200, 100, 500, 200
STATES = (
    (State.ALLOWED, State.ALLOWED, State.DISALLOWED),
    (State.UNKNOWN, State.UNKNOWN, State.UNKNOWN),
    (State.ALLOWED, State.UNKNOWN, State.DISALLOWED),
    (State.MALFORMED, State.DISALLOWED, State.DISALLOWED),
)
"""What pages may be used for: search, ai-input, ai-train."""
DAY = 86_400.0
Rows = Iterable[Mapping[str, Sequence[Any]]]
"""Rows in batches: the values of each column; a column that is not there has its default."""
OUTCOMES = (
    None,
    Outcome(Code.HTTP_STATUS, "404"),
    Outcome(Code.TIMEOUT),
    Outcome(Code.NOINDEX),
    Outcome(Code.ROBOTS_FORBIDS),
)
REASONS = json.dumps(
    [
        {"code": "apart_from_main_text", "values": {}},
        {"code": "shown_on_pages", "values": {"shown": 12, "pages": 15}},
    ]
)


@dataclass(frozen=True)
class Web:
    """How much there is of everything."""

    pages: int = 1_000_000
    now: float = 0.0

    @property
    def hosts(self) -> int:
        return max(20, self.pages // 50)

    @property
    def sites(self) -> int:
        return self.hosts * 3 // 4

    @property
    def addresses(self) -> int:
        return 5 * self.pages

    @property
    def verdicts(self) -> int:
        return 3 * self.pages

    @cached_property
    def names(self) -> list[str]:
        """The sites' names."""
        return [f"{'-'.join(sentences('en')[n % 8_000].lower().split()[:2])}{n}.example" for n in range(self.sites)]

    def host_of(self, numbers: Any) -> Any:
        """The host of each page or address: few have many, and many few."""
        spread = (numbers * 2_654_435_761 % 2**32) / 2**32
        return (self.hosts * spread**3).astype(np.int64)

    def url(self, number: int, at: int) -> str:
        """The address of this number at a host, page or not."""
        return (
            f"https://www.{self.names[at % self.sites]}/news/2026/{number}-{self.names[number % self.sites][:24]}.html"
        )


def key(url: str, kind: str = "page") -> int:
    """The number of an address, as the first crawl has it."""
    said = f"1 {kind} {url}".encode()
    return int.from_bytes(blake2b(said, digest_size=8).digest(), "big", signed=True)


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()


def batches(count: int) -> Iterator[tuple[Any, Any]]:
    """The numbers from 1 on, some at once, and a source of chance for them."""
    for first in range(1, count + 1, AT_ONCE):
        yield np.arange(first, min(first + AT_ONCE, count + 1)), np.random.default_rng((SEED, first))


def one_in(numbers: Any, every: int, values: Iterable[Any]) -> list[Any]:
    """The values where a number can be divided, and None elsewhere."""
    return [value if number % every == 0 else None for number, value in zip(numbers.tolist(), values, strict=True)]


def crawls(web: Web) -> Rows:
    others = [f"{NAME}-{number}" for number in range(2, CRAWLS + 1)]
    at = [web.now - 40 * DAY] * CRAWLS
    yield {
        "id": range(1, CRAWLS + 1),
        "name": [NAME, *others],
        "seeds": ['["https://www.example.org/"]'] * CRAWLS,
        "started_at": at,
        "ended_at": [None, *(one + 3600 for one in at[1:])],
        "pages": [web.pages, *(0 for _ in others)],
        "waiting": [0] * CRAWLS,
        "round": [3, *(1 for _ in others)],
        "round_started": at,
        "first_round": [1] * CRAWLS,
    }


def workers(web: Web) -> Rows:
    waiting = web.addresses * 3 // 10 // 2
    yield {
        "id": [1, 2],
        "crawl_id": [1, 1],
        "number": [1, 2],
        "folder_id": ["a", "b"],
        "heartbeat": [web.now, web.now],
        "waiting": [waiting, waiting],
    }


def sites(web: Web) -> Rows:
    pages = np.bincount(web.host_of(np.arange(1, web.pages + 1)) % web.sites, minlength=web.sites)
    yield {
        "id": range(1, web.sites + 1),
        "crawl_id": [1] * web.sites,
        "name": web.names,
        "pages": pages.tolist(),
        "requests": (pages * 3).tolist(),
    }


def hosts(web: Web) -> Rows:
    random, numbers = np.random.default_rng(SEED), np.arange(web.hosts)
    yield {
        "id": (numbers + 1).tolist(),
        "crawl_id": [1] * web.hosts,
        "site_id": (numbers % web.sites + 1).tolist(),
        "name": [f"{'www' if n < web.sites else 'm'}.{web.names[n % web.sites]}" for n in range(web.hosts)],
        "best": [None if n % 5 == 4 else int(1_000 * (n % 97) / 97) for n in range(web.hosts)],
        "next_at": (web.now + random.exponential(60, web.hosts)).tolist(),
        "crawl_delay": [30.0 * (n % 10 == 0) for n in range(web.hosts)],
        "closed": one_in(numbers, 200, [Code.HOST_CLOSED] * web.hosts),
        "latency": random.exponential(0.8, web.hosts).tolist(),
        "delay": random.choice([1.0, 2.0, 5.0], web.hosts).tolist(),
    }


def addresses(web: Web) -> Rows:
    for numbers, random in batches(web.addresses):
        at, of_page, size = web.host_of(numbers), numbers <= web.pages, len(numbers)
        waits = ~of_page & (numbers % 8 < 3)
        image = ~of_page & ~waits & (numbers % 8 > 4)
        kinds = ["image" if one else "link" for one in image]
        urls = [web.url(n, h) for n, h in zip(numbers.tolist(), at.tolist(), strict=True)]
        ended = random.integers(0, len(OUTCOMES), size).tolist()
        outcomes = [None if p or w else OUTCOMES[e] for p, w, e in zip(of_page, waits, ended, strict=True)]
        parents = random.integers(1, web.pages + 1, size)
        parents[numbers % 100 == 0] = 1  # a page with very many links
        yield {
            "id": numbers.tolist(),
            "key": [key(url, "image" if kind == "image" else "page") for url, kind in zip(urls, kinds, strict=True)],
            "host_id": (at + 1).tolist(),
            "url": urls,
            "kind": kinds,
            "priority": random.integers(0, 1_000, size).tolist(),
            "depth": random.integers(1, 9, size).tolist(),
            "parent": [None if n == 1 else p for n, p in zip(numbers.tolist(), parents.tolist(), strict=True)],
            "state": np.where(waits, 0, 2).tolist(),
            "outcome": [one and one.code for one in outcomes],
            "outcome_detail": [(one and one.detail) or None for one in outcomes],
            "via": ["image" if one else "link" for one in image],
        }


@cache
def qualities() -> Mapping[str, Sequence[str]]:
    """The numbers of some texts, by language."""
    found: dict[str, list[str]] = {language: [] for language in LANGUAGES}
    languages = [language for language in LANGUAGES for _ in range(MEASURED)]
    for language, text in zip(languages, texts(np.random.default_rng(SEED), 1, languages, 3_000), strict=True):
        found[language].append(json.dumps({"certainty": 0.9, "kept_frac": 0.4} | measured(text, language)))
    return found


def rights(site: int, number: int) -> str:
    """What a page says about its use: most sites say the same on all pages."""
    states = STATES[(site if number % 5 else number) % len(STATES)]
    evidence = [
        {"signal": "content_signal", "where": f"robots.txt, sha256 {site:064x}", "says": "search=yes", "read_at": ""}
    ]
    licence = "CC-BY-4.0" if site % 3 == 0 else None
    return json.dumps({"licence": licence, "uses": dict(zip(Use, states, strict=True)), "evidence": 3 * evidence})


def pages(web: Web) -> Rows:
    noise = np.random.default_rng(SEED).bytes(1 << 16)
    for numbers, random in batches(web.pages):
        size, at, plain = len(numbers), web.host_of(numbers), numbers.tolist()
        languages = random.choice(LANGUAGES, size, p=SHARES).tolist()
        urls = [web.url(n, h) for n, h in zip(plain, at.tolist(), strict=True)]
        when = [web.now - 30 * DAY * (1 - n / web.pages) for n in plain]
        said = [moment(one) for one in when]
        images = [
            f"https://www.{web.names[h % web.sites]}/images/{n}.jpg" for n, h in zip(plain, at.tolist(), strict=True)
        ]
        yield {
            "id": plain,
            "key": [key(url) for url in urls],
            "crawl_id": [1] * size,
            "crawl": ["bees"] * size,
            "url": urls,
            "requested_url": urls,
            "fetched_at": said,
            "status": [200] * size,
            "depth": random.integers(1, 9, size).tolist(),
            "parent": urls[1:] + urls[:1],
            "language": languages,
            "title": titles(random, languages),
            "text": list(texts(random, plain[0], languages, 3_000)),
            "comments": [""] * size,
            "author": ["A. Writer" if n % 3 else "" for n in plain],
            "published": one_in(numbers, 2, said),
            "page_type": random.choice(["article", "listing", "forum", ""], size, p=[0.6, 0.3, 0.05, 0.05]).tolist(),
            "relevance": random.beta(0.6, 2, size).round(4).tolist(),
            "link_score": random.beta(1, 2, size).round(4).tolist(),
            "via": ["link"] * size,
            "extractor": ["auto"] * size,
            "text_fingerprint": [f"{n:016x}" for n in plain],
            "images": [json.dumps([{"url": url, "alt": "An image"}]) for url in images],
            "last_round": (3 - numbers % 3).tolist(),
            "first_round": [1] * size,
            "first_seen": [moment(one - 10 * DAY) for one in when],
            "changed_round": one_in(numbers, 10, (3 - numbers % 3).tolist()),
            "changed_at": one_in(numbers, 10, said),
            "gone_round": one_in(numbers, 50, [3] * size),
            "gone_at": one_in(numbers, 50, said),
            "checked_at": when,
            "due_at": [one + 35 * DAY for one in when],
            "interval": [35 * DAY] * size,
            "checks": [3] * size,
            "changes": (numbers % 10 == 0).astype(int).tolist(),
            "source_fingerprint": [f"{n:016x}" for n in plain],
            "extractor_version": ["1:auto"] * size,
            "signature": [noise[n % 60_000 : n % 60_000 + 128] for n in plain],
            "change_distance": one_in(numbers, 10, [0.2] * size),
            "duplicate_of": one_in(numbers, 30, (urls[at - at % 300] for at in range(size))),
            "quality": [qualities()[language][n % MEASURED] for n, language in zip(plain, languages, strict=True)],
            "rights": [rights(h % web.sites, n) for n, h in zip(plain, at.tolist(), strict=True)],
            "site_id": (at % web.sites + 1).tolist(),
            "certainty": random.beta(8, 2, size).round(4).tolist(),
        }


def versions(web: Web) -> Rows:
    for numbers, random in batches(web.pages // 10):
        mine = (numbers * 10).tolist()
        at = web.host_of(numbers * 10).tolist()
        languages = ["en"] * len(mine)
        yield {
            "id": numbers.tolist(),
            "key": [key(web.url(n, h)) for n, h in zip(mine, at, strict=True)],
            "crawl_id": [1] * len(mine),
            "fetched_at": [moment(web.now - 35 * DAY)] * len(mine),
            "title": titles(random, languages),
            "text": list(texts(random, mine[0], languages, 3_000)),
        }


def responses(web: Web) -> Rows:
    """The source of every second page: of some hundred different ones, which are not what the pages' texts say."""
    random, bodies = np.random.default_rng(SEED), []
    for text in texts(random, 0, ["en"] * BODIES, 6_000):
        menu = "".join(f'<li><a href="/news/{n}">{line[:20]}</a></li>' for n, line in enumerate(sentences("en")[:30]))
        body = "".join(f"<p>{line}</p>" for line in text.splitlines())
        html = f"<html><title>News</title><nav><ul>{menu}</ul></nav><main>{body}</main><footer>Imprint</footer></html>"
        bodies.append(zstd.compress(html.encode(), 3))
    for numbers, _ in batches(web.pages // 2):
        mine, size = (2 * numbers).tolist(), len(numbers)
        at = web.host_of(2 * numbers).tolist()
        yield {
            "key": [key(web.url(n, h)) for n, h in zip(mine, at, strict=True)],
            "crawl_id": [1] * size,
            "fetched_at": [moment(web.now - 30 * DAY * (1 - n / web.pages)) for n in mine],
            "status_line": ["HTTP/1.1 200 OK"] * size,
            "headers": ['[["Content-Type", "text/html; charset=utf-8"]]'] * size,
            "body": [bodies[n % BODIES] for n in mine],
        }


def image_file(number: int) -> str:
    """The name of one of the images' files, under their folder."""
    name = blake2b(str(number % IMAGES).encode(), digest_size=16).hexdigest()
    return f"{name[:2]}/{name}.png"


def images(web: Web, numbers: Any) -> tuple[list[str], list[str]]:
    """The addresses of the images of these verdicts, and of the pages that show them."""
    of_page = numbers // 3 + 1
    at = web.host_of(np.minimum(of_page, web.pages)).tolist()
    urls = [f"https://img.{web.names[h % web.sites]}/banner/{n}.gif" for n, h in zip(numbers.tolist(), at, strict=True)]
    return urls, [web.url(n, h) for n, h in zip(of_page.tolist(), at, strict=True)]


def verdicts(web: Web) -> Rows:
    for numbers, random in batches(web.verdicts):
        size = len(numbers)
        at = web.host_of(np.minimum(numbers // 3 + 1, web.pages))
        urls, shown = images(web, numbers)
        probability = random.beta(0.3, 0.25, size)
        noise, link = probability > 0.5, numbers % 3 == 0
        audited = noise & (numbers % 100 == 7)
        yield {
            "id": numbers.tolist(),
            "key": [key(url, "image") for url in urls],
            "crawl_id": [1] * size,
            "site_id": (at % web.sites + 1).tolist(),
            "kind": ["link" if one else "image" for one in link],
            "url": urls,
            "target": [
                f"https://ads.example/click?{n}" if one else "" for n, one in zip(numbers.tolist(), link, strict=True)
            ],
            "page": shown,
            "noise": noise.tolist(),
            "probability": probability.round(6).tolist(),
            "keyword": random.random(size).round(4).tolist(),
            "redundancy": random.random(size).round(4).tolist(),
            "entropy": random.random(size).round(4).tolist(),
            "reasons": [REASONS] * size,
            "decided_by": ["learned" if one else "" for one in noise],
            "audited": audited.tolist(),
            "mistaken": [bool(n % 700 == 7) if one else None for n, one in zip(numbers.tolist(), audited, strict=True)],
            "bytes": [None if one else 20_000 for one in noise],
            "bytes_are_measured": (~noise).tolist(),
            "decided_at": [moment(web.now - 30 * DAY * (1 - n / web.verdicts)) for n in numbers.tolist()],
            "sight": [
                json.dumps([url, "", one, "An image", "", "", [300, 200], []], separators=(",", ":"))
                for url, one in zip(urls, shown, strict=True)
            ],
            "file": [None if skipped else image_file(n) for n, skipped in zip(numbers.tolist(), noise, strict=True)],
            "label_key": [label_key(NAME, LabelKind.IMAGE, url, one) for url, one in zip(urls, shown, strict=True)],
        }


def evidences(web: Web) -> Rows:
    for numbers, _ in batches(2 * web.sites):
        counts = json.dumps([1, 15, {f"img.example/{n}.png": n for n in range(1, 15)}], separators=(",", ":"))
        mine = (numbers % web.sites + 1).tolist()
        yield {"id": numbers.tolist(), "crawl_id": [1] * len(mine), "site_id": mine, "counts": [counts] * len(mine)}


def learned(web: Web) -> Rows:
    said = json.dumps({"pages": web.pages, "topic": [["honey", 0.542], ["bees", 0.426]]})
    yield {"crawl_id": [1, 1], "number": [1, 2], "saved": [web.now] * 2, "summary": [said] * 2, "learned": ["{}"] * 2}


def samples(web: Web) -> Rows:
    """As they are after a month: every 5 seconds of the last hour, each minute of the last day, and so on."""
    steps = [(5, 720), (60, 1_380), (600, 4_176)]
    at, seconds = web.now, [step for step, count in steps for _ in range(count)]
    moments = []
    for one in seconds:
        at -= one
        moments.append(at)
    each = max(1.0, web.pages / sum(seconds))
    for number in (1, 2):
        pages_ = [int(each * one / 2) for one in seconds]
        yield {
            "crawl_id": [1] * len(moments),
            "at": moments,
            "number": [number] * len(moments),
            "seconds": seconds,
            "pages": pages_,
            "read": pages_,
            "on_topic": [n // 3 for n in pages_],
            "requests": [2 * n for n in pages_],
            "failed": [n // 50 for n in pages_],
            "bytes": [60_000 * n for n in pages_],
            "statuses": [json.dumps({"200": 2 * n, "404": n // 50, "503": n // 90, "none": n // 99}) for n in pages_],
            "images": pages_,
            "image_bytes": [20_000 * n for n in pages_],
            "skipped": [2 * n for n in pages_],
            "waiting": [web.addresses // 3 - 10 * n for n in range(len(moments))],
        }


def labels(web: Web) -> Rows:
    numbers = np.arange(1, min(5_000, web.pages) + 1)
    urls, shown = images(web, numbers * (7 * web.pages // 75_000 or 1))
    detail = json.dumps(["", "", "", "", "", "", [300, 200], []], separators=(",", ":"))
    yield {
        "id": numbers.tolist(),
        "key": [label_key(NAME, LabelKind.IMAGE, url, one) for url, one in zip(urls, shown, strict=True)],
        "crawl": [NAME] * len(numbers),
        "kind": [LabelKind.IMAGE] * len(numbers),
        "url": urls,
        "page": shown,
        "value": ["noise" if n % 3 else "content" for n in numbers.tolist()],
        "detail": [detail] * len(numbers),
        "said_at": [web.now - float(n) for n in numbers.tolist()],
    }


def jobs(web: Web) -> Rows:
    yield {
        "id": range(1, JOBS + 1),
        "name": [f"job-{n}" for n in range(1, JOBS + 1)],
        "cron": ["0 3 * * *"] * JOBS,
        "timezone": ["UTC"] * JOBS,
        "spider": ["topic"] * JOBS,
        "arguments": ['{"seeds": "https://www.example.org/", "topic": "honey bees"}'] * JOBS,
        "settings": ["{}"] * JOBS,
        "crawl": [f"{NAME}-{n + 1}" for n in range(1, JOBS + 1)],
        "paused": [n % 4 == 0 for n in range(JOBS)],
        "next_at": [web.now + DAY] * JOBS,
        "runs": [RUNS] * JOBS,
    }


def runs(web: Web) -> Rows:
    numbers = range(JOBS * RUNS)
    begun = [web.now - DAY * (RUNS - n % RUNS) for n in numbers]
    yield {
        "id": [n + 1 for n in numbers],
        "job_id": [n // RUNS + 1 for n in numbers],
        "number": [n % RUNS + 1 for n in numbers],
        "how": ["cron"] * len(numbers),
        "due": begun,
        "status": ["done"] * len(numbers),
        "exit": [0] * len(numbers),
        "started_at": begun,
        "beat": [one + 600 for one in begun],
        "ended_at": [one + 600 for one in begun],
        "place": ["a"] * len(numbers),
        "host": ["here"] * len(numbers),
        "pages": [1_000] * len(numbers),
        "new": [100] * len(numbers),
        "changed": [50] * len(numbers),
        "gone": [5] * len(numbers),
    }


PARTS = {
    crawl: crawls,
    worker: workers,
    site: sites,
    host: hosts,
    address: addresses,
    page: pages,
    page_version: versions,
    stored_response: responses,
    verdict: verdicts,
    evidence: evidences,
    focus: learned,
    sample: samples,
    label: labels,
    job: jobs,
    run: runs,
}


def rows(table: Table, found: Rows) -> Iterator[tuple[Any, ...]]:
    """Whole rows of a table."""
    for batch in found:
        assert set(batch) <= set(table.columns.keys())
        size = len(next(iter(batch.values())))
        columns = [batch.get(column.name, [_default(column)] * size) for column in table.columns]
        yield from zip(*columns, strict=True)


def _default(column: Any) -> Any:
    if column.default is not None:
        return column.default.arg
    given = column.server_default.arg if column.server_default is not None else None
    return int(given) if given is not None and given.isdigit() else given


def make(url: URL, output: Path, count: int) -> None:
    """Fill a database that is not there yet, or has nothing in it, and the folder of images beside it."""
    web = Web(count, time.time())
    for number in range(IMAGES):
        path = output / "images" / image_file(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(f"image {number}", 320, 200))
    engine = open_database(url)
    mine = [index for table in PARTS for index in table.indexes]
    with engine.begin() as connection:
        for index in mine:
            index.drop(connection)
    engine.dispose()
    (_fill_sqlite if url.drivername == "sqlite" else _fill_postgresql)(url, web, mine)


def renew(url: URL) -> None:
    """Give a file of SQLite the indexes that its tables have today, and no others."""
    engine = open_database(url)
    indexes = {index.name: index for table in PARTS for index in table.indexes}
    with engine.begin() as connection:
        columns = {
            index["name"]: index["column_names"]
            for table in PARTS
            for index in inspect(connection).get_indexes(table.name)
        }
        for name in columns.keys() - indexes.keys():
            connection.exec_driver_sql(f"DROP INDEX {name}")
        for name, index in indexes.items():
            if columns.get(name) != index.columns.keys():
                index.drop(connection, checkfirst=True)
                index.create(connection)
    engine.dispose()


def _say(what: str, begun: float) -> None:
    print(f"{what}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


def _fill_sqlite(url: URL, web: Web, indexes: Sequence[Index]) -> None:
    with closing(sqlite3.connect(str(url.database), isolation_level=None)) as connection:
        # What is made at one go needs no journal: if it breaks off, it is made anew.
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -2000000", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        for table, part in PARTS.items():
            begun = time.monotonic()
            line = f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(table.columns))})"
            connection.execute("BEGIN")
            connection.executemany(line, rows(table, part(web)))
            connection.execute("COMMIT")
            _say(table.name, begun)
    engine = open_database(url)
    with engine.begin() as connection:
        for index in indexes:
            begun = time.monotonic()
            index.create(connection)
            _say(str(index.name), begun)
    engine.dispose()


def _fill_postgresql(url: URL, web: Web, indexes: Sequence[Index]) -> None:
    with postgres.connect(url.render_as_string(hide_password=False)) as connection:
        connection.execute("SET statement_timeout = 0")
        for table, part in PARTS.items():
            begun = time.monotonic()
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            with connection.cursor().copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
                for row in rows(table, part(web)):
                    copy.write_row(row)
            _say(table.name, begun)
        for index in indexes:
            connection.execute(str(CreateIndex(index).compile(dialect=postgresql.dialect())))
        for table in tables.sorted_tables:
            if "id" in table.c:
                serial = f"pg_get_serial_sequence('{table.name}', 'id')"
                connection.execute(f"SELECT setval({serial}, (SELECT coalesce(max(id), 1) FROM {table.name}))")
        connection.execute("VACUUM ANALYZE")
