"""Reads saved documents in a process of their own, outside of a crawl."""

from functools import cache

from crawler.contrib.documents.process import DocumentProcess
from crawler.page.document import DocumentContent


def read_saved(body: bytes, text_kind: str) -> DocumentContent:
    """The document in a body; raises a DocumentError if it cannot be read. `text_kind` is the type of a text file."""
    return _process().read(body, text_kind)


@cache
def _process() -> DocumentProcess:
    """The child process, which is started once."""
    return DocumentProcess()
