"""A real PostgreSQL server of the tests' own, on loopback.

`python postgres.py BINARIES FOLDER PORT FSYNC` keeps the server, does what its standard input says a line at a time,
and when that ends stops the server and removes the folder. So both end with whoever started them, whatever happens to
that one.
"""

import ctypes
import importlib
import os
import pwd
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from socket import create_server
from tempfile import TemporaryDirectory
from typing import Any

HOST = "127.0.0.1"
DEBIAN = Path("/usr/lib/postgresql")  # where each version has a folder
# Below those that systems give to outgoing connections, so that one is still free when a stopped server starts again.
PORTS = range(20_000, 30_000)
# No sockets in the file system: their paths may have 107 bytes, and a folder for temporary files can be longer.
OPTIONS = {"listen_addresses": HOST, "unix_socket_directories": "", "shared_buffers": "16MB", "timezone": "UTC"}
START_SECONDS = 60.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.01


def binaries() -> Path | None:
    """The folder of the server's programs, which need not be on the PATH."""
    found = [Path(path).parent for path in [shutil.which("postgres")] if path]
    if shutil.which("pg_config"):
        asked = subprocess.run(["pg_config", "--bindir"], capture_output=True, encoding="utf-8", check=False)
        found.insert(0, Path(asked.stdout.strip()))
    found += sorted(DEBIAN.glob("*/bin"), key=_version, reverse=True)
    # The header files of the client come with a pg_config of their own, which names a folder without a server.
    return next((path for path in found if all((path / name).is_file() for name in ("initdb", "postgres"))), None)


def _version(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.parent.name)]


def missing() -> str | None:
    """Why there can be no server here, if so."""
    if binaries() is None:
        return "PostgreSQL is not installed: initdb and postgres are needed, as in Debian's package postgresql."
    try:
        importlib.import_module("psycopg")
    except ImportError as error:
        return f"psycopg is not installed: {error}"
    return None


def connect(url: str, **options: Any) -> Any:
    """A psycopg connection to the database at this SQLAlchemy URL, committing each statement."""
    psycopg = importlib.import_module("psycopg")  # missing() says that there may be none
    return psycopg.connect(url.replace("+psycopg", "", 1), autocommit=True, **options)


class Server:
    """A running server; every method returns when it is done, and may be called again."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.url = self._url("postgres")
        self.keeper = process
        self._numbers = count(1)

    def _url(self, name: str) -> str:
        return f"postgresql+psycopg://postgres@{HOST}:{self.port}/{name}"

    def database(self) -> str:
        """The URL of a new, empty database."""
        name = f"test_{next(self._numbers)}"
        with connect(self.url, connect_timeout=10) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self._url(name)

    def stop(self) -> None:
        """End it at once, as a crash would."""
        self._tell("stop")

    def start(self) -> None:
        """Start it with the same port and data."""
        self._tell("start")

    def freeze(self) -> None:
        """Let it answer nothing, though connections stay open."""
        self._tell("freeze")

    def thaw(self) -> None:
        """Let it go on where it was frozen."""
        self._tell("thaw")

    def _tell(self, command: str) -> None:
        assert self.keeper.stdin is not None
        with suppress(BrokenPipeError):  # then there is nothing to hear but why
            os.write(self.keeper.stdin.fileno(), f"{command}\n".encode())
        _hear(self.keeper)


def _hear(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    if (said := process.stdout.readline()) != "done\n":
        raise RuntimeError(f"The keeper of PostgreSQL has ended. {said}{process.stdout.read()}")


@contextmanager
def running(fsync: str = "off") -> Iterator[Server]:
    """A new server with no data, which ends with the block.

    What it has confirmed survives its own crash either way, as the system keeps what was written; only that of the
    system would cost it. To sync all its files at each start takes up to ten seconds.
    """
    if (programs := binaries()) is None:
        raise RuntimeError(missing())
    port = free_port()
    # Not one of pytest's folders, which are closed to the user that the server runs as if that is another.
    with TemporaryDirectory(prefix="winnow-", ignore_cleanup_errors=True) as folder:
        line = [sys.executable, "-I", __file__, str(programs), folder, str(port), fsync]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        # A session of its own, because Ctrl-C and the like are for the tests: this one cleans up after them.
        with subprocess.Popen(line, encoding="utf-8", start_new_session=True, **pipes) as process:
            _hear(process)
            yield Server(process, Path(folder), port)


def free_port() -> int:
    for port in random.sample(PORTS, len(PORTS)):
        with suppress(OSError), create_server((HOST, port)):
            return port
    raise RuntimeError(f"No port of {HOST} from {PORTS.start} to {PORTS.stop - 1} is free.")


class Keeper:
    """Starts and stops the server as its parent process."""

    def __init__(self, programs: Path, folder: Path, port: int, fsync: str) -> None:
        self.programs, self.folder, self.data = programs, folder, folder / "data"
        self.options = OPTIONS | {"port": str(port), "fsync": fsync}
        self.process: subprocess.Popen[bytes] | None = None
        self.frozen: list[int] = []
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        self.how: dict[str, Any] = {"cwd": folder, "env": environment | {"LC_ALL": "C"}, "stdin": subprocess.DEVNULL}
        if os.geteuid() == 0:  # as whom PostgreSQL refuses to run
            user = _unprivileged()
            os.chown(folder, user.pw_uid, user.pw_gid)
            self.how |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def create(self) -> None:
        words = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        line = [self.programs / "initdb", "-D", self.data, *words]
        made = subprocess.run(line, **self.how, capture_output=True, timeout=START_SECONDS, check=False)
        if made.returncode:
            raise ChildProcessError(made.stderr.decode(errors="replace"))

    def start(self) -> None:
        if self.is_running():
            return
        line = [self.programs / "postgres", "-D", self.data]
        line += [word for name, value in self.options.items() for word in ("-c", f"{name}={value}")]
        log = self.folder / "log"
        with log.open("ab") as file:
            self.process = subprocess.Popen(line, **self.how, stdout=file, stderr=file, preexec_fn=_end_with_parent)
        until = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if not self.is_running() or time.monotonic() > until:
                raise ChildProcessError(f"it did not start:\n{log.read_text(errors='replace')}")
            time.sleep(POLL_SECONDS)

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def is_ready(self) -> bool:
        """Whether the server says so in its lock file, which one that crashed may have left."""
        with suppress(FileNotFoundError):
            lock = (self.data / "postmaster.pid").read_text().split()
            return self.process is not None and lock[:1] + lock[-1:] == [str(self.process.pid), "ready"]
        return False

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.send_signal(signal.SIGQUIT)  # without a shutdown checkpoint, but with its shared memory freed
        self.thaw()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()  # which its children notice
            self.process.wait()

    def freeze(self) -> None:
        if self.process is None or not self.is_running() or self.frozen:
            return
        # The parent first, and waited for: it starts no more children, and the numbers of those that end stay theirs.
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)
        self.frozen = [*_children(self.process.pid), self.process.pid]
        _signal(self.frozen, signal.SIGSTOP)

    def thaw(self) -> None:
        _signal(self.frozen, signal.SIGCONT)
        self.frozen = []


def _signal(processes: list[int], what: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, what)


def _unprivileged() -> pwd.struct_passwd:
    with suppress(KeyError):
        return pwd.getpwnam("postgres")
    return pwd.getpwnam("nobody")


def _end_with_parent() -> None:
    if sys.platform == "linux":  # where also a keeper that is killed can be followed
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG


def _children(parent: int) -> Iterator[int]:
    """The processes that this one started, which are in sessions of their own: no signal reaches all at once."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            if int(path.read_bytes().rpartition(b")")[2].split()[1]) == parent:
                yield int(path.parent.name)


def keep(programs: Path, folder: Path, port: int, fsync: str) -> None:
    """Keep a server until standard input ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # by way of `finally`
    try:
        keeper = Keeper(programs, folder, port, fsync)
        commands = {"start": keeper.start, "stop": keeper.stop, "freeze": keeper.freeze, "thaw": keeper.thaw}
        try:
            keeper.create()
            keeper.start()
            print("done", flush=True)
            for line in sys.stdin:
                commands[line.strip()]()
                print("done", flush=True)
        finally:
            keeper.stop()
    except ChildProcessError as error:
        sys.exit(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
