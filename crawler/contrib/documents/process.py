"""Has documents read by another process, which is started again when a document has ended it."""

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading

from crawler.contrib.documents.worker import LENGTH
from crawler.page.document import MAX_WAIT, DocumentContent, DocumentError, Facts, Fault

MAX_ANSWER = 100_000_000
"""Bytes of an answer: the text of a document is smaller, whatever the process has become."""
RENEWED_AFTER = 500
"""Documents after which the process is started again, so that what it may lose of its memory is not missed."""


class DocumentProcess:
    """Reads documents in one process; calls from several threads wait for each other."""

    def __init__(self, seconds: float = MAX_WAIT) -> None:
        self.seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._read = 0

    def read(self, data: bytes, content_type: str = "") -> DocumentContent:
        """The document in the bytes of a file; raises a DocumentError if there is none, or if reading it is ended.

        The type is for text files alone, see `read_document`.
        """
        with self._lock:
            answer = self._answer(data, content_type.encode())
        if answer is None:
            raise DocumentError(Fault.LIMIT)
        found = json.loads(answer)
        if "fault" in found:
            raise DocumentError(Fault(found["fault"]))
        return DocumentContent(found["body"], Facts(**found["facts"]), found["is_cut"], found["media_type"])

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            atexit.unregister(self.close)
            process.kill()
            with contextlib.suppress(OSError):
                process.communicate()

    def _answer(self, data: bytes, content_type: bytes) -> bytes | None:
        """The answer of the process, or None if it has ended."""
        if self._read >= RENEWED_AFTER or (self._process is not None and self._process.poll() is not None):
            self.close()
        process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            return None
        self._read += 1
        timer = threading.Timer(self.seconds, process.kill)
        timer.start()
        try:
            for part in (content_type, data):
                process.stdin.write(len(part).to_bytes(LENGTH, "big"))
                process.stdin.write(part)
            process.stdin.flush()
            length = int.from_bytes(process.stdout.read(LENGTH), "big")
            answer = process.stdout.read(length) if length <= MAX_ANSWER else b""
        except OSError:
            answer = b""
        finally:
            timer.cancel()
        if answer:
            return answer
        self.close()
        return None

    def _start(self) -> subprocess.Popen[bytes]:
        # The process finds the same modules.
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crawler.contrib.documents.worker"],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._read = 0
        atexit.register(self.close)
        return self._process
