"""What durable state costs: `python tests/bench/state.py [throughput] [claims] [growth] [workers]`, or all four.

throughput  the crawl, compared with the same crawl on Scrapy's queue in memory (memory_queue.py lists the differences),
            on a made-up site, and on the folder `site` of static HTML in WINNOW_DATA, if there is one
claims      addresses claimed and pages committed a second by the database alone, without a crawl
growth      the time of a claim with many queued addresses, compared with few; and the memory of a crawl then
workers     several workers of one crawl (--workers), compared with one, on a private PostgreSQL

The compared runs take turns (A B B A), because on a machine with other work only the ratio of neighbouring runs is
reliable. PostgreSQL is a private server with synced writes and 16 MB of shared buffers (tests/support/postgres.py).
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

import postgres
from server import Connection, Files, serving
from sqlalchemy import Connection as Database
from sqlalchemy import make_url, text
from synthetic import build, site_of
from throughput import FAST_TOPIC, MEGABYTE, Run, _finish, machine

from crawler.frontier.batch import Batch, ClaimRequest
from crawler.frontier.page_result import Candidate, Completion, Lease, PageResult
from crawler.outcomes import Code, Outcome
from crawler.store.batch.claims import LONGEST_REST_SECONDS, claim
from crawler.store.database import open_database
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical

MEMORY = [
    *FAST_TOPIC,
    "-s",
    "SPIDER_MODULES=crawler.spiders,memory_queue",
    "-s",
    "SCHEDULER=memory_queue.MemoryScheduler",
]
DROPPED = PageResult(Outcome(Code.DROPPED))
LOOPBACKS = [f"127.0.0.{number}" for number in range(2, 10)]
MANY_HOSTS = ["-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8", "-s", "ALLOWED_PRIVATE_HOSTS=127.0.0.0/8"]
HOSTS = 10_000
FEW = 50_000
FILLED_AT_ONCE = 250_000
CLAIMED = 100  # addresses a batch
PAGES_A_BATCH = 16  # what a crawl of 64 pages a second commits every 250 ms
LINKS_A_PAGE = 30
TEXT = "A page of the usual length has about three thousand characters of text. " * 42
SITE_LIMIT = 10_000_000
WARM_UP = 50

Shown = Iterator[str]


def ratios(ours: list[float], theirs: list[float]) -> str:
    """The ratio of neighbours: its median, and its range."""
    quotients = [our / their for our, their in zip(ours, theirs, strict=True)]
    return f"{median(quotients):.2f} ({min(quotients):.2f} to {max(quotients):.2f})"


def in_turns(rounds: int, of: int = 2) -> Iterator[range]:
    """The order in each round, alternately forwards and backwards."""
    return (range(of)[:: 1 - 2 * (number % 2)] for number in range(rounds))


# ---- throughput


def throughput(options: argparse.Namespace) -> Shown:
    """Durable state beside memory, on the made-up site and on a mirror of a real one."""
    yield from _throughput_on(None, f"a made-up site of {options.pages:,} pages", options)
    data = os.environ.get("WINNOW_DATA")
    if data is None:
        yield "No site of the real web: WINNOW_DATA names no folder."
    elif not (Path(data) / "site" / "index.html").is_file():
        yield f"No site of the real web: {data} holds no site/index.html."
    else:
        yield from _throughput_on(Path(data) / "site", "a mirror of a site of the real web", options)


def _throughput_on(folder: Path | None, what: str, options: argparse.Namespace) -> Shown:
    runs: tuple[list[Run], list[Run]] = [], []
    with site_of(folder, options.pages) as site:
        for pair in in_turns(options.runs):
            for which in pair:
                runs[which].append(crawl(site, (FAST_TOPIC, MEMORY)[which], options.timeout))
            print(f"durable {runs[0][-1].rate:.1f} pages/s, memory {runs[1][-1].rate:.1f}", file=sys.stderr)
    durable, memory = runs
    yield f"Throughput on {what}, {options.runs} pairs. {same_pages([*durable, *memory])}"
    yield f"{'':26}{'durable':>12}{'in memory':>12}{'durable / in memory, pair by pair':>38}"
    rows: dict[str, Callable[[Run], float]] = {
        "pages a second": lambda run: run.rate,
        "CPU seconds": lambda run: run.cpu,
        "peak memory, MB": lambda run: run.memory,
    }
    for name, value in rows.items():
        ours, theirs = [value(run) for run in durable], [value(run) for run in memory]
        yield f"{name:26}{median(ours):12.1f}{median(theirs):12.1f}{ratios(ours, theirs):>38}"


def same_pages(runs: list[Run]) -> str:
    """A sentence that says whether every crawl was sent the same pages and stored as many."""
    first_pages, counts = runs[0].pages, {(len(run.pages), run.parsed, run.answers) for run in runs}
    if len(counts) == 1 and all(run.pages == first_pages for run in runs):
        return f"Every crawl was sent the same {len(first_pages):,} pages and stored {runs[0].parsed:,}."
    return f"NOT THE SAME WORK: pages sent, pages stored, answers were {sorted(counts)}."


def crawl(site: Path, words: list[str], timeout: float) -> Run:
    """One crawl of a site, by the command line that these words make."""
    with TemporaryDirectory(prefix="state-") as name, serving(site) as (port, served):
        line = [sys.executable, "-m", "scrapy", *(word.format(f"http://127.0.0.1:{port}/") for word in words)]
        usage, _ = _finish(line, Path(name), timeout)
        stored = lines_in(Path(name))
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / MEGABYTE
    return Run(served.pages, stored, served.answers, served.seconds, cpu, memory, served.cpu, served.requested)


def lines_in(folder: Path) -> int:
    """How many pages the crawls in this folder stored."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("output/topic*.jsonl"))


# ---- a database with many addresses, and a worker without a crawl


def seat_at(url: str, folder: Path, name: str = "bench") -> WorkerSession:
    """A seat at a crawl that asks nobody."""
    plan = CrawlPlan(name, ("http://bench.test/",), folder, Canonical(()), SITE_LIMIT)
    return WorkerSession(open_database(make_url(url)), plan)


def fill(session: WorkerSession, addresses: int, hosts: int) -> None:
    """Let so many addresses wait, spread over so many hosts, as the ledger would have written them."""
    crawl_id = session.crawl_id
    with session.engine.begin() as database:
        _insert(database, 0, hosts, f"INSERT INTO site (crawl_id, name, pages, held, requests) SELECT {crawl_id}, "
                "'host-' || i || '.test', 0, 0, 0 FROM n")  # fmt: skip
        _insert(database, 0, hosts, "INSERT INTO host (crawl_id, site_id, name, best, next_at, crawl_delay, tries) "
                f"SELECT {crawl_id}, site.id, site.name, 0, 0, 0, 0 FROM site CROSS JOIN n "
                f"WHERE site.crawl_id = {crawl_id} AND n.i = 0 ORDER BY site.id")  # fmt: skip
        first = database.execute(text(f"SELECT min(id) FROM host WHERE crawl_id = {crawl_id}")).scalar_one()
    step = 2**64 // (addresses + 2)  # keys are spread evenly, as hashes are, and ascend, because that is filled fast
    for begin in range(0, addresses, FILLED_AT_ONCE):
        with session.engine.begin() as database:
            if database.dialect.name == "postgresql" and addresses > FILLED_AT_ONCE:
                database.execute(text("SET LOCAL session_replication_role = replica"))  # check no foreign keys
            _insert(database, begin, min(addresses, begin + FILLED_AT_ONCE),
                    "INSERT INTO address (key, host_id, url, kind, priority, depth, state, crashes, via, labels) "
                    f"SELECT (CAST(i AS BIGINT) - {addresses // 2}) * {step}, {first} + i % {hosts}, 'http://host-' || "
                    f"(i % {hosts}) || '.test/articles/of-a-usual-length/number-' || i || '.html', 'link', "
                    f"(CAST(i AS BIGINT) / {hosts} * 7919 + i % {hosts} * 31) % 997, 3, 0, 0, 'link', '' "
                    "FROM n")  # fmt: skip
    with session.engine.begin() as database:
        best = "(SELECT max(priority) FROM address WHERE host_id = host.id AND state = 0)"
        database.execute(text(f"UPDATE host SET best = {best} WHERE crawl_id = {crawl_id}"))
        database.execute(text(f"UPDATE crawl SET waiting = {addresses} WHERE id = {crawl_id}"))
        if (
            database.dialect.name == "postgresql"
        ):  # its autovacuum does this by itself, a minute later; SQLite never does
            database.execute(text("ANALYZE"))


def _insert(database: Database, begin: int, end: int, insert: str) -> None:
    numbers = f"SELECT {begin} AS i UNION ALL SELECT i + 1 FROM n WHERE i < {end - 1}"
    database.execute(text(f"WITH RECURSIVE n AS ({numbers}) {insert}"))


@dataclass
class Worker:
    """Claims as a frontier with a second's pause between two requests to a host does, and ends what it claimed."""

    session: WorkerSession
    random: Random
    at_hand: tuple[int, ...] = ()

    def demand(self) -> ClaimRequest:
        """Two addresses each of some hosts at hand, and of new ones."""
        low = self.at_hand[: CLAIMED // 10]
        return ClaimRequest(CLAIMED // 2 - len(low), CLAIMED, 2, low, self.at_hand)

    def took(self, leases: list[Lease]) -> dict[int, float]:
        """Have the hosts at hand that were; those that are no longer rest, for as long as this says."""
        before, self.at_hand = self.at_hand, tuple({lease.host_id for lease in leases})
        return dict.fromkeys(set(before) - set(self.at_hand), 1.0)

    def link(self, lease: Lease) -> Candidate:
        """A new address of the same host, that it waits in place of this one."""
        url = lease.candidate.url.partition(".test/")[0] + f".test/new/{self.random.getrandbits(60)}.html"
        return Candidate(url, self.random.randrange(997), 4, lease.candidate.url)


# ---- claims


def claims(options: argparse.Namespace) -> Shown:
    """What the ledger does a second."""
    yield f"The ledger alone: claims of {CLAIMED} addresses, each with the end of those claimed before, and commits of"
    yield f"{PAGES_A_BATCH} pages with {LINKS_A_PAGE} new links each; {FEW * 4:,} addresses of {HOSTS:,} hosts wait."
    yield f"{'':32}{'addresses claimed a second':>28}{'pages written a second':>26}"
    with TemporaryDirectory(prefix="state-") as name:
        yield rates("SQLite, 1 worker", f"sqlite:///{name}/crawl.db", Path(name), 1, options.seconds)
    with ExitStack() as stack:
        if options.state_url:
            urls = options.state_url, options.state_url
        elif (why := postgres.missing()) is None:
            server = stack.enter_context(postgres.running("on"))
            urls = server.database(), server.database()
        else:
            yield f"PostgreSQL is left out. {why}"
            return
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="state-")))
        for workers, url in zip((1, 3), urls, strict=True):
            yield rates(f"PostgreSQL, {workers} worker{'s'[: workers - 1]}", url, folder, workers, options.seconds)


def rates(name: str, url: str, folder: Path, workers: int, seconds: float) -> str:
    """One line of the table."""
    crawl_name = f"bench-{workers}"
    session = seat_at(url, folder, crawl_name)
    fill(session, FEW * 4, HOSTS)
    session.leave()
    rates = []
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for work in (claim_on, write_on):
            start = time.time() + 3.0
            futures = [
                pool.submit(work, (url, folder / str(number), crawl_name), start, seconds) for number in range(workers)
            ]
            rates.append(sum(future.result() for future in futures))
    return f"{name:32}{rates[0]:28,.0f}{rates[1]:26,.0f}"


def claim_on(where: tuple[str, Path, str], start: float, seconds: float) -> float:
    """Addresses a second that one worker claims, and ends in its next batch."""
    with seated(where, start) as worker:
        ended: list[Completion] = []
        resting: dict[int, float] = {}
        total, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            answer = worker.session.committer.commit(
                Batch(ended=ended, rests_of_dropped_hosts=resting, demand=worker.demand())
            )
            ended = [Completion(lease, DROPPED) for lease in answer.leases]
            resting = worker.took(answer.leases)
            total += len(ended)
        worker.session.committer.commit(Batch(ended=ended))
    return total / seconds


def write_on(where: tuple[str, Path, str], start: float, seconds: float) -> float:
    """Pages a second that one worker writes with their links; the time to claim them is not counted."""
    with seated(where, start) as worker:
        total, spent, until = 0, 0.0, time.monotonic() + 2 * seconds
        resting: dict[int, float] = {}
        while time.monotonic() < until and spent < seconds:
            demand = replace(worker.demand(), hosts=PAGES_A_BATCH, addresses=PAGES_A_BATCH)
            leases = worker.session.committer.commit(Batch(rests_of_dropped_hosts=resting, demand=demand)).leases
            ended = [
                Completion(
                    lease,
                    PageResult(record=record(lease), links=tuple(worker.link(lease) for _ in range(LINKS_A_PAGE))),
                )
                for lease in leases
            ]
            begun = time.monotonic()
            worker.session.committer.commit(Batch(ended=ended))
            spent += time.monotonic() - begun
            total += len(ended)
            resting = worker.took(leases)
    return total / spent


@contextmanager
def seated(where: tuple[str, Path, str], start: float) -> Iterator[Worker]:
    """A worker with a folder of its own, from a moment that it shares with others."""
    session = seat_at(*where)
    try:
        time.sleep(max(0.0, start - time.time()))
        yield Worker(session, Random(time.time_ns()))
    finally:
        session.leave()


def record(lease: Lease) -> dict[str, Any]:
    """A page of the usual length as it is stored."""
    url = lease.candidate.url
    facts = {"url": url, "requested_url": url, "fetched_at": "2025-01-01T00:00:00+00:00", "status": 200, "depth": 3}
    words = {"parent": None, "language": "en", "title": "A page", "text": TEXT, "published": None, "relevance": 0.5}
    return facts | words | {"extractor": "leaf-tags", "text_fingerprint": None, "images": []}


# ---- growth


def growth(options: argparse.Namespace) -> Shown:
    """A claim while many wait beside one while few do."""
    yield f"Claims of {CLAIMED} addresses from {options.hosts:,} hosts, {options.batches} of each in turns, in ms."
    yield f"{'':24}{'addresses that wait:':>24}{FEW:>14,}{options.pending:>14,}{'ratio':>10}"
    with TemporaryDirectory(prefix="state-") as name:
        urls = tuple(f"sqlite:///{name}/{size}.db" for size in ("few", "many"))
        yield from grown("SQLite", urls, Path(name), options)
    if (why := postgres.missing()) is not None:
        yield f"PostgreSQL is left out. {why}"
        return
    with postgres.running("on") as server, TemporaryDirectory(prefix="state-") as name:
        yield from grown("PostgreSQL", (server.database(), server.database()), Path(name), options)


def grown(name: str, urls: tuple[str, ...], folder: Path, options: argparse.Namespace) -> Shown:
    """The lines of one kind of database."""
    workers = []
    for number, (url, size) in enumerate(zip(urls, (FEW, options.pending), strict=True)):
        begun = time.monotonic()
        workers.append(Worker(seat_at(url, folder / str(number)), Random(number)))
        fill(workers[-1].session, size, options.hosts)
        print(f"{name}: {size:,} addresses filled in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    spent: tuple[list[tuple[float, float]], ...] = [], []
    for pair in in_turns(WARM_UP + options.batches):
        for which in pair:
            spent[which].append(claimed(workers[which]))
    few, many = (list(zip(*times[WARM_UP:], strict=True)) for times in spent)
    for column, what in enumerate(("its statements", "with BEGIN and COMMIT")):
        for measure, of in {"median": median, "95th percentile": lambda times: quantiles(times, n=20)[-1]}.items():
            low, high = 1000 * of(few[column]), 1000 * of(many[column])
            yield f"{f'{name}, {what}, {measure}':48}{low:14.2f}{high:14.2f}{high / low:10.2f}"
    for worker in workers:
        worker.session.leave()
    small, large = (crawl_beside(url, options) for url in urls)
    yield f"{f'{name}, crawl beside them: peak memory, MB':48}{small.memory:14.0f}{large.memory:14.0f}"
    yield f"{f'{name}, crawl beside them: pages a second':48}{small.rate:14.1f}{large.rate:14.1f}"


def claimed(worker: Worker) -> tuple[float, float]:
    """How long a claim took without its commit and with it; as many new addresses come as were claimed."""
    begun = time.perf_counter()
    with worker.session.engine.begin() as database:
        at = time.perf_counter()
        answer = claim(database, worker.session.committer.claimant, worker.demand(), time.time())
        done = time.perf_counter()
    committed = time.perf_counter()
    if len(answer.leases) != CLAIMED:
        sys.exit(
            f"a claim brought {len(answer.leases)} addresses instead of {CLAIMED}; give fewer --batches or more --hosts"
        )
    ended = [Completion(lease, replace(DROPPED, links=(worker.link(lease),))) for lease in answer.leases]
    worker.session.committer.commit(Batch(ended=ended, rests_of_dropped_hosts=worker.took(answer.leases)))
    return done - at, committed - begun


def crawl_beside(url: str, options: argparse.Namespace) -> Run:
    """A crawl of a small site in a database where addresses of other hosts wait, which rest until it has ended."""
    with TemporaryDirectory(prefix="state-") as name:
        folder, site = Path(name), Path(name) / "site"
        build(site, options.beside)
        with serving(site) as (port, served):
            seed = f"http://127.0.0.1:{port}/"
            engine = open_database(make_url(url))
            with engine.begin() as database:
                later = time.time() + LONGEST_REST_SECONDS / 2
                database.execute(text(f"UPDATE host SET next_at = {later}, worker = NULL"))
                row = {"name": "topic", "seeds": json.dumps([seed])}
                database.execute(text("UPDATE crawl SET name = :name, seeds = :seeds"), row)
                database.execute(text("DELETE FROM output"))
            engine.dispose()
            line = [sys.executable, "-m", "scrapy", *(word.format(seed) for word in FAST_TOPIC)]
            line += ["-s", f"STATE_URL={url}", "-s", f"CLOSESPIDER_ITEMCOUNT={options.beside}"]
            usage, _ = _finish(line, folder, options.timeout)
        cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / MEGABYTE
        return Run(
            served.pages, lines_in(folder), served.answers, served.seconds, cpu, memory, served.cpu, served.requested
        )


# ---- workers


@dataclass
class Together:
    """A crawl by one worker or several."""

    pages: int
    stored: int
    seconds: float
    cpu: float
    server_cpu: float
    database_cpu: float

    @property
    def rate(self) -> float:
        return self.pages / self.seconds


def workers(options: argparse.Namespace) -> Shown:
    """Several workers beside one, and beside as many crawls that share nothing but the machine."""
    if (why := postgres.missing()) is not None:
        yield f"Workers are left out. {why}"
        return
    runs: tuple[list[Together], ...] = [], [], []
    pages, several = max(1, options.pages // 2), options.workers
    with site_of(None, pages) as site, postgres.running("on") as server:
        for turn in in_turns(options.runs, len(runs)):
            for which in turn:
                runs[which].append(together(site, server, 1 if which == 0 else several, which == 2, options.timeout))
            rates = ", ".join(f"{run[-1].rate:.1f}" for run in runs)
            print(f"pages/s of one worker, of {several}, of {several} crawls: {rates}", file=sys.stderr)
    yield f"Workers, {len(LOOPBACKS)} hosts of {pages:,} pages, 8 requests to each at once, {options.runs} rounds."
    done = {(run.pages, run.stored) for run in [run for column in runs for run in column]}
    same = len(done) == 1 and len(set(*done)) == 1
    yield f"Every crawl stored the same {runs[0][0].stored:,}." if same else f"NOT THE SAME WORK: {sorted(done)}."
    yield f"{several} apart are crawls of a part of the hosts each: what the machine can do when nothing is shared."
    titles = f"{several} workers / one", f"{several} workers / {several} apart"
    yield f"{'':40}{'one':>10}{several:>10}{f'{several} apart':>12}{titles[0]:>24}{titles[1]:>24}"
    rows: dict[str, Callable[[Together], float]] = {
        "pages a second": lambda run: run.rate,
        "CPU seconds of the workers": lambda run: run.cpu,
        "cores busy with workers, starts and all": lambda run: run.cpu / run.seconds,
        "cores busy with the site's server": lambda run: run.server_cpu / run.seconds,
        "cores busy with PostgreSQL": lambda run: run.database_cpu / run.seconds,
    }
    for name, value in rows.items():
        single, shared, apart = ([value(run) for run in column] for column in runs)
        medians = f"{median(single):10.2f}{median(shared):10.2f}{median(apart):12.2f}"
        yield f"{name:40}{medians}{ratios(shared, single):>24}{ratios(shared, apart):>24}"
    yield f"The machine has {os.cpu_count()} cores for all of them."


def together(site: Path, server: postgres.Server, number: int, apart: bool, timeout: float) -> Together:
    """One crawl of all hosts by so many workers, or as many crawls of a part of the hosts each, started at once."""
    before = _cpu_of(server)
    with TemporaryDirectory(prefix="state-") as name, served_on(site, LOOPBACKS) as (ports, ask):
        seeds = [f"http://{host}:{port}/" for host, port in zip(LOOPBACKS, ports, strict=True)]
        urls = [server.database() for _ in range(number)] if apart else [server.database()] * number
        lines = []
        for n, url in enumerate(urls):
            (Path(name) / str(n)).mkdir()
            own_seeds = ",".join(seeds[n::number] if apart else seeds)
            words = [*(word.format(own_seeds) for word in FAST_TOPIC), *MANY_HOSTS, "-s", f"STATE_URL={url}"]
            lines.append([sys.executable, "-m", "scrapy", *words])
        with ThreadPoolExecutor(number) as pool:
            futures = [pool.submit(_finish, line, Path(name) / str(n), timeout) for n, line in enumerate(lines)]
            cpu = sum(usage.ru_utime + usage.ru_stime for usage, _ in (future.result() for future in futures))
        served, server_cpu = ask()
        stored = sum(lines_in(Path(name) / str(n)) for n in range(number))
    seconds = max(counts["last"] for counts in served) - min(counts["first"] for counts in served)
    pages = sum(len(counts["pages"]) for counts in served)
    return Together(pages, stored, seconds, cpu, server_cpu, _cpu_of(server) - before)


def _cpu_of(server: postgres.Server) -> float:
    """The CPU seconds of PostgreSQL so far, those of connections that ended among them."""
    parent = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(path.parent.name) == parent:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == parent:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def served_on(folder: Path, hosts: list[str]) -> Iterator[tuple[list[int], Callable[[], tuple[Any, float]]]]:
    """One process that serves the folder on each of some addresses: the ports, and what tells what was served."""
    here, other_end = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(folder, hosts, other_end), daemon=True)
    process.start()
    other_end.close()

    def ask() -> tuple[Any, float]:
        here.send("what was served?")
        record: tuple[Any, float] = here.recv()
        return record

    try:
        yield here.recv(), ask
    finally:
        here.close()
        process.join(10)


def _serve(folder: Path, hosts: list[str], pipe: Pipe) -> None:
    """Serve until the other end of the pipe asks what was served, or is gone."""

    async def serve() -> None:
        files, loop = Files(folder), asyncio.get_running_loop()
        served: list[dict[str, Any]] = [{"answers": 0, "pages": set(), "requested": []} for _ in hosts]
        servers = [
            await loop.create_server(lambda counts=counts: Connection(files, counts), host, 0, backlog=1024)
            for host, counts in zip(hosts, served, strict=True)
        ]
        begun = time.process_time()
        pipe.send([server.sockets[0].getsockname()[1] for server in servers])
        try:
            await loop.run_in_executor(None, pipe.recv)
            pipe.send((served, time.process_time() - begun))
        except EOFError:
            return

    asyncio.run(serve())


# ----


def sync_time() -> float:
    """Milliseconds to write and sync 4 kilobytes in the folder for temporary files."""
    with TemporaryDirectory(prefix="state-") as name:
        file = os.open(Path(name) / "file", os.O_WRONLY | os.O_CREAT)
        spent = []
        for _ in range(100):
            begun = time.perf_counter()
            os.write(file, b"x" * 4096)
            os.fsync(file)
            spent.append(time.perf_counter() - begun)
        os.close(file)
    return 1000 * median(spent)


PARTS: dict[str, Callable[[argparse.Namespace], Shown]] = {
    "throughput": throughput,
    "claims": claims,
    "growth": growth,
    "workers": workers,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--pages", type=int, default=1500, help="pages of the made-up site (1500)")
    parser.add_argument("--runs", type=int, default=4, help="pairs of crawls (4)")
    parser.add_argument("--workers", type=int, default=2, help="workers of one crawl, or crawls apart (2)")
    parser.add_argument("--seconds", type=float, default=10.0, help="that each rate of the ledger is measured (10)")
    parser.add_argument("--pending", type=int, default=5_000_000, help="addresses that wait in growth (5000000)")
    parser.add_argument("--hosts", type=int, default=HOSTS, help=f"hosts they are of ({HOSTS})")
    parser.add_argument("--batches", type=int, default=300, help="claims timed in growth (300)")
    parser.add_argument("--beside", type=int, default=300, help="pages of the crawl whose memory is measured (300)")
    parser.add_argument("--state-url", help="another empty PostgreSQL database for claims, which is left filled")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds a crawl may take (900)")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for name in options.parts or PARTS:
        print(f"\n{machine()}; a sync takes {sync_time():.2f} ms\n")
        for line in PARTS[name](options):
            print(line, flush=True)


if __name__ == "__main__":
    main()
