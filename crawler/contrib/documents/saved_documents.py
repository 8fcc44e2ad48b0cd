"""Reads saved documents in one process of their own, outside of a crawl."""

from functools import cache

from crawler.contrib.documents.process import DocumentProcess
from crawler.page.document import DocumentContent


def read_saved(body: bytes, text_kind: str) -> DocumentContent:
    """The document; raises a DocumentError if it cannot be read. The kind is for text files alone."""
    return _process().read(body, text_kind)


@cache
def _process() -> DocumentProcess:
    """The process of this process."""
    return DocumentProcess()
