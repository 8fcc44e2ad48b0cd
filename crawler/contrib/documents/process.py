"""Reads documents in a child process, so that a hostile document does no harm beyond itself."""

import json
from collections.abc import Callable
from dataclasses import asdict
from subprocess import DEVNULL
from threading import Lock

from crawler.contrib.documents.read_document import read_document
from crawler.page.document import (
    MAX_MEMORY,
    MAX_SECONDS,
    MAX_WAIT,
    DocumentContent,
    DocumentError,
    Facts,
    Fault,
)
from crawler.processes.function_process import ChildDiedError, ChildLimits, FunctionProcess

MAX_ANSWER = 100_000_000
"""The most bytes of an answer. The text of a document is smaller, but a hijacked process may send more."""
RENEWED_AFTER = 500
"""Documents after which the process is started again, so that memory leaks stay small."""
LIMITS = ChildLimits(cpu_seconds=MAX_SECONDS, memory_bytes=MAX_MEMORY, answer_bytes=MAX_ANSWER)
File = tuple[bytes, str]
"""The bytes of a file, and its type if it is a text file."""


class DocumentProcess:
    """Reads documents in one process; calls from several threads wait for each other.

    `seconds` is the limit of wall-clock time for each document.
    """

    def __init__(self, seconds: float = MAX_WAIT) -> None:
        self.seconds = seconds
        self.process = FunctionProcess[File](make_reader, LIMITS, stderr=DEVNULL)
        self._lock = Lock()
        self._documents_read = 0

    def read(self, data: bytes, content_type: str = "") -> DocumentContent:
        """The document in the bytes of a file; raises a DocumentError if there is none, or if a limit ends the reading.

        `content_type` is only for text files, see `read_document`.
        """
        with self._lock:
            self._documents_read += 1
            if self._documents_read % RENEWED_AFTER == 0:
                self.process.close()  # the next call starts it again
            try:
                answer = self.process.call((data, content_type), self.seconds)
            except ChildDiedError:
                raise DocumentError(Fault.LIMIT) from None
        values = json.loads(answer)
        if "fault" in values:
            raise DocumentError(Fault(values["fault"]))
        return DocumentContent(
            body=values["body"],
            facts=Facts(**values["facts"]),
            is_cut=values["is_cut"],
            media_type=values["media_type"],
        )

    def close(self) -> None:
        """End the process."""
        self.process.close()


def make_reader() -> Callable[[File], bytes]:
    """The function that the child calls for each file. The child calls `make_reader` when it starts."""
    return answer_as_json


def answer_as_json(file: File) -> bytes:
    """The document in a file, or its fault, as JSON.

    A pickle would not be safe to read: a hostile document may have taken over the process that writes the answer.
    """
    return json.dumps(_answer(*file)).encode()


def _answer(data: bytes, content_type: str) -> dict[str, object]:
    """The fields of the document in a file, or its fault."""
    try:
        document = read_document(data, content_type)
    except DocumentError as error:
        return {"fault": error.fault}
    except (MemoryError, RecursionError):
        return {"fault": Fault.LIMIT}
    except Exception:  # an error in a reader must not affect other documents
        return {"fault": Fault.BROKEN}
    return asdict(document)
