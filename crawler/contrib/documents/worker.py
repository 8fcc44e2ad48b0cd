"""The process that reads documents, one after the other: `python -m crawler.contrib.documents.worker`.

It reads requests from standard input and writes answers to standard output. A request has two parts, the type of a
text file and the bytes of a file. The parts and the answers are sent as their length and their bytes. The process ends
itself when it takes too long or too much memory, and when the process that started it is gone.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO

from crawler.contrib.documents.process import LENGTH
from crawler.contrib.documents.read_document import read_document
from crawler.page.document import MAX_MEMORY, MAX_SECONDS, DocumentError, Fault

WATCH_SECONDS = 0.5
OVER_LIMIT = 3
"""Exit status."""


def serve(given: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while head := given.read(LENGTH):
        content_type = given.read(int.from_bytes(head, "big")).decode()
        data = given.read(int.from_bytes(given.read(LENGTH), "big"))
        with _time_limit():
            answer = json.dumps(_answer(data, content_type)).encode()
        with contextlib.suppress(BrokenPipeError):  # the process that asked is gone
            answers.write(len(answer).to_bytes(LENGTH, "big") + answer)
            answers.flush()


def _answer(data: bytes, content_type: str) -> dict[str, object]:
    try:
        document = read_document(data, content_type)
    except DocumentError as error:
        return {"fault": error.fault}
    except (MemoryError, RecursionError):
        return {"fault": Fault.LIMIT}
    except Exception:  # whatever a reader trips over costs this document only
        return {"fault": Fault.BROKEN}
    return asdict(document)


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """The system ends this process if the block takes more of the processor than a document may."""
    if not hasattr(signal, "setitimer"):  # on Windows
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _watch(parent: int) -> None:
    """End this process when it has too much memory, or when its parent is gone."""
    import resource

    def most() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    limit = max(MAX_MEMORY, most())  # Linux counts what the process that started this one had
    while os.getppid() == parent:
        if most() > limit:
            os._exit(OVER_LIMIT)
        time.sleep(WATCH_SECONDS)
    os._exit(OVER_LIMIT)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the crawl ends this one
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(ValueError, OSError):  # macOS refuses it, and is watched
            resource.setrlimit(resource.RLIMIT_AS, (2 * MAX_MEMORY, 2 * MAX_MEMORY))
        threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
