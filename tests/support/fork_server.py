"""Crawls and dashboards as forks of one process that has read the code before: that is most of what a start takes."""

import atexit
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy.utils.misc import walk_modules_iter

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds that a crawl may take to come to a point, on a machine with much else to do

# What they import on their way, but for the reactor, which a crawl chooses.
OURS = (
    "command_line commands contrib.browser contrib.dashboard contrib.documents extensions frontier middlewares noise "
    "pipelines processes reports spiders store"
).split()
FOLDERS = [
    *(f"crawler.{name}" for name in OURS),
    *(f"scrapy.{name}" for name in "commands downloadermiddlewares extensions spidermiddlewares".split()),
]
MODULES = (
    "crawler.spiders.request_scheduler numpy.ma scrapy.cmdline scrapy.core.downloader.handlers.http11 "
    "scrapy.core.engine scrapy.crawler scrapy.logformatter scrapy.resolver scrapy.shell scrapy.statscollectors "
    "sqlalchemy.dialects.sqlite.pysqlite twisted.web.client psycopg sqlalchemy.dialects.postgresql.psycopg"
).split()


# As pip writes it: the path of Python may have spaces, which a first line cannot have.
PROGRAM = """#!/bin/sh
'''exec' "{python}" -SE "$0" "$@"
' '''
import json, os, socket, sys

files = [f"/proc/{{os.getpid()}}/fd/{{number}}" for number in (1, 2)]
asked = {{"line": ["scrapy", *sys.argv[1:]], "folder": os.getcwd(), "files": files, "file_size": None}}
with socket.create_connection(("127.0.0.1", {port})) as connection:
    connection.sendall(json.dumps(asked | {{"environment": dict(os.environ)}}).encode() + b"\\n")
    pid, status = connection.makefile()  # two lines, the second at the end
sys.exit(int(status) % 256)
"""
"""As the console script, but that standard input is empty and each file is written from its beginning."""


def environment() -> dict[str, str]:
    """The environment of a crawl: this checkout's code, outside the checkout."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")])
    return os.environ | {"SCRAPY_SETTINGS_MODULE": "crawler.settings", "PYTHONPATH": paths}


class Forked:
    """A crawl that the nursery started."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.heard = b""
        self.pid = int(self._hear(PATIENCE) or 0)
        self.status: int | None = None

    def _hear(self, timeout: float | None) -> bytes:
        """The next line that the nursery says, if it comes in time."""
        while b"\n" not in self.heard and select.select([self.connection], [], [], timeout)[0]:
            self.heard += self.connection.recv(100) or b"-1\n"
        line, end, rest = self.heard.partition(b"\n")
        self.heard = rest if end else self.heard
        return line if end else b""

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        if self.status is None:
            if not (line := self._hear(timeout)):
                raise subprocess.TimeoutExpired("crawl", timeout or 0)
            self.status = int(line)
            self.connection.close()
        return self.status

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)


class Nursery:
    """Starts crawls."""

    def __init__(self, port: int) -> None:
        self.port = port

    def __call__(self, line: list[str], folder: Path, log: Path, file_size: int | None = None) -> Forked:
        """A new crawl; none of its files may grow larger than the size, if one is given."""
        return self.start(line, folder, (os.devnull, str(log)), environment(), file_size)

    def start(
        self,
        line: list[str],
        folder: Path,
        files: tuple[str, str],
        environment: Mapping[str, str],
        file_size: int | None = None,
    ) -> Forked:
        """A new crawl in this environment, its output and what it says in these files."""
        asked = {"line": line[line.index("scrapy") :], "folder": str(folder), "files": files, "file_size": file_size}
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.sendall(json.dumps(asked | {"environment": dict(environment)}).encode() + b"\n")
        return Forked(connection)


@contextmanager
def nursery() -> Iterator[Nursery]:
    """A nursery, which ends with the block."""
    line = [sys.executable, __file__]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(line, env=environment(), encoding="ascii", **pipes) as process:  # type: ignore[call-overload]
        yield Nursery(int(process.stdout.readline()))
        process.stdin.close()


def program(folder: Path) -> Path:
    """A `scrapy` in this folder, for a shell to find, which is a fork of the nursery of all tests."""
    path = folder / "scrapy"
    path.write_text(PROGRAM.format(python=sys.executable, port=common().port), encoding="utf-8")
    path.chmod(0o755)
    return path


@cache
def common() -> Nursery:
    """The nursery of all tests, which ends with them."""
    block = ExitStack()
    atexit.register(block.close)
    return block.enter_context(nursery())


def run(
    line: list[str], folder: Path, environment: Mapping[str, str], timeout: float
) -> "subprocess.CompletedProcess[str]":
    """A crawl that has ended; a TimeoutExpired if it does not in time."""
    with TemporaryDirectory() as place:
        out, err = (Path(place) / name for name in ("out", "err"))
        process = common().start(line, folder, (str(out), str(err)), environment)
        try:
            status = process.wait(timeout)
        except BaseException:
            process.send_signal(signal.SIGKILL)
            process.wait()
            raise
        return subprocess.CompletedProcess(line, status, out.read_text("utf-8"), err.read_text("utf-8"))


def _nurse() -> None:
    """Fork a process for each that connects, until standard input ends."""
    with warnings.catch_warnings(action="ignore"):  # some of what is imported is deprecated, and not used
        _read_ahead()
    gc.freeze()  # or each crawl, as it ends, would look through what it shares with the others
    with socket.create_server(("127.0.0.1", 0), backlog=20) as listener:
        print(listener.getsockname()[1], flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while sys.stdin not in select.select([sys.stdin, listener], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    _keep(connection)


def _read_ahead() -> None:
    """Import what a crawl does, and do what it does once: nothing comes back."""
    for name in FOLDERS:
        with suppress(ModuleNotFoundError):  # a folder of contrib/ need not be there
            list(walk_modules_iter(name))
    for name in MODULES:
        with suppress(ImportError):  # psycopg need not be there
            importlib.import_module(name)
    importlib.import_module("crawler.metadata.language").language("Its model is read by what it is first asked.")
    importlib.import_module("crawler.extraction").extract("<p>So are the weights of the method.")
    _site = importlib.import_module("crawler.urls.address").address_of("http://example.com/").site


def _keep(connection: socket.socket) -> None:
    """Say the number of a new process, and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked = json.loads(connection.makefile().readline())
    if (number := os.fork()) == 0:
        _crawl(**asked)
    connection.sendall(b"%d\n" % number)
    status = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    with suppress(OSError):  # nobody may want to know any more
        connection.sendall(b"%d\n" % status)
    os._exit(0)


def _crawl(line: list[str], folder: str, files: list[str], environment: dict[str, str], file_size: int | None) -> None:
    """Be a crawl, to the end of this process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder  # as of `python -m`
    for number, path in enumerate((os.devnull, *files)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), number)
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    sys.argv = line
    importlib.import_module("scrapy.cmdline").execute()


if __name__ == "__main__":
    _nurse()
