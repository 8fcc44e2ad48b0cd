"""Archives of several files, `scrapy clean --into` of them in a process of its own, and a Dask cluster on loopback."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import fork_server
import saved_pages
from fork_server import environment

COMMAND = [sys.executable, "-m", "scrapy", "clean"]
PARTS = "*.jsonl.*.part"
LONG = "<p>Bees dance in the dark of the hive, and others follow them.</p>" * 20


def archive(folder: Path, *counts: int) -> list[str]:
    """Files with so many pages each, of all kinds in turn; their names."""
    kinds: list[tuple[str, Callable[[int], bytes]]] = [
        ("jsonl", lambda n: saved_pages.line(n, html=saved_pages.html(n, LONG))),
        (
            "warc.gz",
            lambda n: saved_pages.PACK[".gz"](
                saved_pages.warc(n, saved_pages.answer(saved_pages.html(n, LONG).encode()))
            ),
        ),
        ("", lambda n: saved_pages.tianwang(n)),
    ]
    names = []
    for at, count in enumerate(counts):
        ending, record = kinds[at % len(kinds)]
        names.append(f"{at}.{ending}".rstrip("."))
        (folder / names[-1]).write_bytes(b"".join(map(record, range(count))))
    return names


def begin(folder: Path, *words: str) -> subprocess.Popen[str]:
    """The command, started in a folder."""
    line = [*COMMAND, *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    return subprocess.Popen(line, cwd=folder, env=environment(), start_new_session=True, **pipes)


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit status, and what was said."""
    _, said = process.communicate(timeout=60)
    return process.returncode, said


def clean(folder: Path, *words: str) -> tuple[int, str]:
    """The same of a run from beginning to end."""
    ended = fork_server.run([*COMMAND, *words], folder, environment(), 60)
    return ended.returncode, ended.stderr


def until(what: Callable[[], Any], seconds: float = 30) -> Any:
    """What it returns, once that is something."""
    limit = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < limit
        time.sleep(0.01)
    return found


def lines(folder: Path) -> dict[str, bytes]:
    """What is in a folder, but for what says how it was made."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".clean.")}


def under_way(folder: Path, count: int) -> Callable[[], bool]:
    """Whether so many files are being written."""
    return lambda: len(list(folder.glob(PARTS))) == count


def workers(pid: int) -> list[int]:
    """The processes that clean for another one."""
    found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return sorted(one for one in found if _is_worker(one, pid))


def _is_worker(one: int, pid: int) -> bool:
    try:
        parent = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[1]
        return int(parent) == pid and "function_child" in Path(f"/proc/{one}/cmdline").read_text()
    except OSError:
        return False


@contextmanager
def cluster(folder: Path, count: int, **config: str) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler that listens on loopback, and its workers, which nobody starts anew."""
    file = folder / "scheduler.json"
    here = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    with ExitStack() as stack:
        stack.enter_context(_dask(folder, "scheduler", *here, "--port", "0", "--scheduler-file", str(file), **config))
        address = until(lambda: file.exists() and json.loads(file.read_text() or "{}").get("address"))
        alone = ["--no-nanny", "--nthreads", "1", "--local-directory", str(folder)]
        found = [stack.enter_context(_dask(folder, "worker", address, *here, *alone)) for _ in range(count)]
        log = folder / "scheduler.log"
        until(lambda: log.read_text().count("Register worker") == count)
        yield address, found


@contextmanager
def _dask(folder: Path, what: str, *words: str, **config: str) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or a worker, killed at the end."""
    line = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words]
    settings = environment() | {f"DASK_DISTRIBUTED__{name}": value for name, value in config.items()}
    with (folder / f"{what}.log").open("ab") as log:
        process = subprocess.Popen(line, cwd=folder, env=settings, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
