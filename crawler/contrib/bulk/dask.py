"""Cleans files with the workers of a Dask scheduler, on many machines or in processes that are started here.

Only as many files are submitted as the workers have threads, so that a free thread always takes the largest file that
remains. If a worker dies, Dask gives its file to another worker, until four workers have died on it.
"""

import logging
import signal
import threading
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

from crawler.contrib.bulk.cleaning import FileCleaner, FileResult, lost_file
from crawler.contrib.bulk.resume_manifest import FileToClean
from crawler.processes.function_pool import WorkersError

POLL_SECONDS = 1.0  # between two requests for the list of workers
# The settings with which a local cluster has no web interface.
NO_WEB_INTERFACE: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
LOGGERS = ("distributed", "distributed.client", "distributed.gc")
WORKER_GONE = "A worker is gone; another one continues its file."
NO_WORKERS = "The scheduler has no workers; the files wait for one."


def by_dask(
    clean: FileCleaner, todo: Sequence[FileToClean], address: str, jobs: int, report: Callable[[str], None]
) -> Iterator[FileResult]:
    """The result of each file when it is done; without an address, by `jobs` processes of this machine."""
    if not todo:
        return
    with _silence(), _client(address, jobs) as client, client.as_current():
        yield from DaskRun(client, clean, report).results(todo)


class DaskRun:
    """Files that are submitted to a scheduler."""

    def __init__(self, client: Client, clean: FileCleaner, report: Callable[[str], None]) -> None:
        self.client = client
        self.clean = clean
        self.report = report
        self.under_way: dict[Future, FileToClean] = {}
        """The files that are submitted and not finished, by the futures of their results."""
        self.workers: dict[str, int] = {}
        """The number of threads of each worker, by its address."""
        self.last_poll = float("-inf")
        self.lacks_workers = False

    def results(self, todo: Sequence[FileToClean]) -> Iterator[FileResult]:
        """The results of the files, in any order."""
        waiting = deque(todo)
        try:
            while waiting or self.under_way:
                self.poll_workers()
                while waiting and len(self.under_way) < sum(self.workers.values()):
                    file = waiting.popleft()
                    future = self.client.submit(self.clean, file, key=f"clean-{token_hex(8)}", pure=False)
                    self.under_way[future] = file
                yield from self.finished()
            self.poll_workers(at_once=True)  # reports a worker that is gone since the last poll
        except (CancelledError, FutureCancelledError, CommClosedError, OSError) as error:
            raise WorkersError(f"the scheduler does not answer any more ({type(error).__name__})") from None
        finally:
            with suppress(Exception):  # it may be gone; running tasks end by themselves
                self.client.cancel(list(self.under_way))

    def poll_workers(self, at_once: bool = False) -> None:
        """Update the list of workers, at most every POLL_SECONDS unless `at_once`; report when one is gone or there are
        none.
        """
        if not at_once and time.monotonic() - self.last_poll < POLL_SECONDS:
            return
        self.last_poll = time.monotonic()
        before = self.workers
        self.workers = dict(self.client.ncores())
        for _ in before.keys() - self.workers.keys():
            self.report(WORKER_GONE)
        if not self.workers and not self.lacks_workers:
            self.report(NO_WORKERS)
        self.lacks_workers = not self.workers

    def finished(self) -> Iterator[FileResult]:
        """Wait a moment, then yield the results of finished files."""
        if not self.under_way:
            time.sleep(POLL_SECONDS)
            return
        with suppress(TimeoutError):
            wait(list(self.under_way), timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
        done = [future for future in self.under_way if future.done()]
        for future in done:
            yield _result(future, self.under_way.pop(future))


def _result(future: Future, file: FileToClean) -> FileResult:
    """The result of a file that a worker has finished or Dask has given up."""
    if future.status != "error":
        file_result = future.result()
        assert isinstance(file_result, FileResult)  # noqa: S101 - the task is a FileCleaner
        return file_result
    error = future.exception()
    if isinstance(error, KilledWorker):
        return lost_file(file)
    return FileResult(file, failed=f"{file.shown!r} cannot be cleaned ({type(error).__name__}: {error})"[:1_000])


@contextmanager
def _silence() -> Iterator[None]:
    """A context that suppresses Dask's own log lines."""
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
    """A client of the scheduler; without an address, of a new local cluster with its own keys."""
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
    """A new cluster on this machine; only this process handles Ctrl-C, and stops the others."""
    with config.set(NO_WEB_INTERFACE), _without_interrupts():
        return LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tls://",
            security=True,
            dashboard_address=None,
            # The default port is 8787, which only one process can have.
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """A context in which Ctrl-C is ignored, also by the processes that are started in it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
