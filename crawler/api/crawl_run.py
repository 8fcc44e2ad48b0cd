"""`crawl(seeds, topic)`: yields the items of a crawl while it runs.

The crawl runs in a separate process, so that it works in a notebook, where an event loop is running already, and more
than once in a script. Its items are read from its file of JSON lines: none are kept in memory, and a slow reader does
not slow the crawl down.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from subprocess import PIPE
from threading import Thread
from time import monotonic, sleep
from typing import IO, Any
from weakref import finalize

from crawler.command_line.stop_signals import REPEAT_SECONDS
from crawler.errors import CrawlError
from crawler.processes.child_process import ChildProcess

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.1  # between two looks for new items in the output file
MOST_LINES = 100  # how many of the crawl's closing lines are kept
MOST_NAME = 40  # characters of the topic in the default name of a crawl
LOG_FORMAT = "%(levelname)s %(name)s: %(message)s"  # in which the process writes log records to standard error
LOG_LINE = re.compile(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) (\S+: .*)")
PREFIX = "crawl: "  # of the command's error messages
WRONG_USE = 2  # the exit status of the command for wrong arguments or settings


class CrawlRun:
    """A crawl in a separate process. Iterating over it yields an item for each page, those of earlier runs first.
    Leaving the loop early stops the crawl.
    """

    path: Path
    """The file of JSON lines to which the items are written."""

    def __init__(self, arguments: Mapping[str, object], settings: Mapping[str, object]) -> None:
        command = ["-m", "crawler.api.crawl_process"]
        self._process = ChildProcess(command, own_session=True, stdout=PIPE, stderr=PIPE)
        self._stop_at_exit = finalize(self, self._process.tell_to_stop)
        """Tells the process to stop, once: at the latest when this object is deleted or Python exits."""
        self._is_stopped = False
        self._closing_lines = deque[str](maxlen=MOST_LINES)
        self._log = Thread(target=read_log, args=(self._process.popen.stderr, self._closing_lines), daemon=True)
        self._log.start()
        try:
            task = json.dumps({"arguments": arguments, "settings": settings}, default=os.fspath)
            self.path = self._open(task.encode())
        except BaseException:
            self.stop()
            raise

    def _open(self, task: bytes) -> Path:
        """Wait for the name of the output file; raises a ValueError if the command refuses the arguments."""
        process = self._process
        assert process.popen.stdout is not None  # noqa: S101 - a pipe
        process.send(task)
        with process.popen.stdout as stdout:
            answer = stdout.readline()
        if answer:
            return Path(json.loads(answer)["path"])
        status = process.wait()
        self._log.join()
        if status == WRONG_USE and self._closing_lines:
            raise ValueError(self._closing_lines[-1].removeprefix(PREFIX))
        raise CrawlError("\n".join(self._closing_lines).removeprefix(PREFIX))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            yield from self._items()
            self.wait()
        finally:
            self.stop()

    def _items(self) -> Iterator[dict[str, Any]]:
        offset = 0
        while True:
            has_ended = self._process.poll() is not None  # asked first: then the lines read below are the last ones
            for line in whole_lines(self.path, offset):
                offset += len(line)
                yield json.loads(line)
            if has_ended:
                return
            sleep(POLL_SECONDS)

    def wait(self) -> str:
        """Wait for the end; returns the closing lines: how many pages were stored, what was left out and why. Raises a
        CrawlError if the crawl failed.
        """
        try:
            status = self._process.wait()
        except BaseException:
            self.stop()
            raise
        self._log.join()
        closing_lines = "\n".join(self._closing_lines)
        if status and not self._is_stopped:
            raise CrawlError(closing_lines or f"the crawl ended with status {status}")
        return closing_lines

    def stop(self) -> None:
        """Stop the crawl, as Ctrl-C does, and wait until it has ended; the same call of `crawl` continues it."""
        if self._process.poll() is None:
            self._is_stopped = True
        self._stop_at_exit()
        began = monotonic()
        while self._process.poll() is None:
            try:
                self._process.wait()
            except BaseException:  # Ctrl-C, which may arrive more than once; only one that comes later kills the crawl
                if monotonic() - began < REPEAT_SECONDS:
                    continue
                self._process.kill()  # pages are stored whole or not at all, so nothing is damaged
                self._process.wait()
                raise

    def __repr__(self) -> str:
        state = "running" if self._process.poll() is None else "ended"
        return f"<CrawlRun {self.path.name!r}, {state}>"


def crawl(
    seeds: str | Iterable[str],
    topic: str | Path = "",
    *,
    settings: Mapping[str, object] | None = None,
    **arguments: object,
) -> CrawlRun:
    """Start a crawl; iterate over it for the items of its pages.

    `seeds` and `topic` are those of `winnow crawl`; seeds may be a list. All other arguments are keywords:
    `max_pages=50`, `scope="any"`, `images=False`. `settings` is a mapping of settings. A wrong argument or setting
    raises a ValueError.

    The crawl runs in a separate process, and logs to the logger `crawler.api.crawl_run`. It writes the same files as
    the command, in `output/`, and continues an earlier crawl of the same `name`. The default name is derived from seeds
    and topic.
    """
    if not isinstance(seeds, str):
        seeds = list(seeds)
    all_arguments = {"seeds": seeds, "topic": topic, **arguments}
    given_texts = {name: _text(value) for name, value in all_arguments.items() if value is not None}
    given_texts.setdefault("name", default_name(given_texts["seeds"], str(given_texts["topic"])))
    return CrawlRun(given_texts, {"LOG_FORMAT": LOG_FORMAT, **(settings or {})})


def _text(value: object) -> str | list[str]:
    """The text of an argument as on the command line; of a list, the text of each item."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple | set | frozenset):
        return [str(item) for item in value]
    return str(value)


def default_name(seeds: str | list[str], topic: str) -> str:
    """A name that is always the same for the same seeds and topic, and differs for others.

    >>> default_name("https://example.org/", "honey bees")
    'honey-bees-6fec8092'
    """
    if not isinstance(seeds, str):
        seeds = ",".join(seeds)
    digest = blake2b(f"{seeds}\n{topic}".encode("utf-8", "replace"), digest_size=4).hexdigest()
    words = "-".join(re.findall(r"\w+", topic))[:MOST_NAME]
    return f"{words or 'crawl'}-{digest}"


def read_log(stream: IO[bytes], closing_lines: deque[str]) -> None:
    """Pass each line of the process on to this process's log. Those after the last log record are the closing lines."""
    level = logging.INFO
    with stream:
        for line in stream:
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            record_line = LOG_LINE.fullmatch(text)
            if record_line:
                level = logging.getLevelNamesMapping()[record_line[1]]
                text = record_line[2]
                closing_lines.clear()
            else:
                closing_lines.append(text)
            logger.log(level, "%s", text)


def whole_lines(path: Path, start: int) -> Iterator[bytes]:
    """The lines of a file from an offset on; a line that is still being written is left for later."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        file.seek(start)
        for line in file:
            if not line.endswith(b"\n"):
                return
            yield line
