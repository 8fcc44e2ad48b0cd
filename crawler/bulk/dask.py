"""Files cleaned by the workers of a Dask scheduler, on many machines, or by processes that are started here.

Each worker's thread has one file at a time, and no other waits behind it there: whoever is free takes the largest one,
and of a worker that dies only the file it was at is suspected. Dask gives that file to another, four times in all.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from secrets import token_hex

from dask import config
from distributed import Client, Future, LocalCluster, Security, wait
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from crawler.bulk.cleaning import FileCleaner, FileResult, lost
from crawler.bulk.manifest import Pair
from crawler.bulk.parallel import WorkersError, without_interrupts

LOOK_SECONDS = 1.0  # between two looks at which workers there are
# No pages on other ports: what a cluster of one's own does is said here.
QUIET: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
LOGGERS = ("distributed", "distributed.client", "distributed.gc")
GONE = "A worker is gone; another goes on with what it was at."
NOBODY = "There is no worker at the scheduler; the files wait for one."


def by_dask(
    work: FileCleaner, todo: Sequence[Pair], address: str, jobs: int, said: Callable[[str], None]
) -> Iterator[FileResult]:
    """The result of each file, as it is done; without an address by so many processes of this machine."""
    if not todo:
        return
    with _silence(), _client(address, jobs) as client, client.as_current():
        yield from DaskRun(client, work, said).results(todo)


class DaskRun:
    """Files that are given to the workers of a scheduler."""

    def __init__(self, client: Client, work: FileCleaner, said: Callable[[str], None]) -> None:
        self.client, self.work, self.said = client, work, said
        self.under_way: dict[Future, Pair] = {}
        self.workers: dict[str, int] = {}
        self.looked = 0.0
        self.is_alone = False

    def results(self, todo: Sequence[Pair]) -> Iterator[FileResult]:
        """The result of each file, in no order."""
        waiting = deque(todo)
        try:
            while waiting or self.under_way:
                self.look()
                while waiting and len(self.under_way) < sum(self.workers.values()):
                    self.give(waiting.popleft())
                yield from self.done()
            self.look(at_once=True)  # whoever went meanwhile is told of
        except (CancelledError, FutureCancelledError, CommClosedError, OSError) as error:
            raise WorkersError(f"the scheduler does not answer any more ({type(error).__name__})") from None
        finally:
            with suppress(Exception):  # it may be gone; what is under way ends by itself
                self.client.cancel(list(self.under_way))

    def look(self, at_once: bool = False) -> None:
        """See now and then which workers there are, and say what is odd about it."""
        if not at_once and time.monotonic() - self.looked < LOOK_SECONDS:
            return
        self.looked = time.monotonic()
        before, self.workers = self.workers, dict(self.client.ncores())
        for _ in before.keys() - self.workers.keys():
            self.said(GONE)
        if not self.workers and not self.is_alone:
            self.said(NOBODY)
        self.is_alone = not self.workers

    def give(self, pair: Pair) -> None:
        future = self.client.submit(self.work, pair, key=f"clean-{token_hex(8)}", pure=False)
        self.under_way[future] = pair

    def done(self) -> Iterator[FileResult]:
        """The results of files that were finished in the last moment."""
        if not self.under_way:
            time.sleep(LOOK_SECONDS)
            return
        with suppress(TimeoutError):
            wait(list(self.under_way), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")
        for future in [future for future in self.under_way if future.done()]:
            yield _result(future, self.under_way.pop(future))


def _result(future: Future, pair: Pair) -> FileResult:
    """The result of a file that is done or given up."""
    if future.status != "error":
        found = future.result()
        assert isinstance(found, FileResult)  # noqa: S101 - by the work that was given
        return found
    error = future.exception()
    if isinstance(error, KilledWorker):
        return lost(pair)
    return FileResult(pair, failed=f"{pair.shown!r} cannot be cleaned ({type(error).__name__}: {error})"[:1_000])


@contextmanager
def _silence() -> Iterator[None]:
    """A time in which Dask does not say what is said here, or what nobody can do anything about."""
    before = {name: logging.getLogger(name).level for name in LOGGERS}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _client(address: str, jobs: int) -> Iterator[Client]:
    """A scheduler's client; without an address that of a new cluster, which only this process has the keys of."""
    if not address:
        with _cluster(jobs) as cluster, Client(cluster, set_as_default=False) as client:
            yield client
        return
    try:
        keys = Security()
        if address.startswith("tls:") and keys.get_connection_args("client")["ssl_context"] is None:
            raise ValueError("tls:// needs certificates: Dask's settings distributed.comm.tls")
        client = Client(address, security=keys, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise WorkersError(f"there is no scheduler at {address!r} ({' '.join(str(error).split())[:200]})") from None
    with client:
        yield client


def _cluster(jobs: int) -> LocalCluster:
    """A new cluster on this machine; Ctrl-C is for this process, which ends the others."""
    with config.set(QUIET), without_interrupts():
        return LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tls://",
            security=True,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # or it would be 8787, of which there is one
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
