"""Reads saved documents in a child process, outside of a crawl."""

from functools import cache

from crawler.contrib.documents.process import DocumentProcess
from crawler.page.document import DocumentContent


def read_saved(body: bytes, content_type: str) -> DocumentContent:
    """The document in a body; raises a DocumentError if it cannot be read.

    `content_type` is the type of a text file, and empty for other documents.
    """
    return _process().read(body, content_type)


@cache
def _process() -> DocumentProcess:
    """The child process, which is started once."""
    return DocumentProcess()
