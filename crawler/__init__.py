"""Winnow: a focused web crawler that cleans while it crawls."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawler.api.crawl_run import CrawlRun as CrawlRun
    from crawler.api.crawl_run import crawl as crawl
    from crawler.api.document import Document as Document
    from crawler.api.document import clean as clean
    from crawler.api.focus import Focus as Focus
    from crawler.api.images import ImageVerdict as ImageVerdict
    from crawler.api.images import judge_images as judge_images
    from crawler.contrib.index.changes import Change as Change
    from crawler.contrib.index.changes import ChangeKind as ChangeKind
    from crawler.contrib.index.changes import OffsetError as OffsetError
    from crawler.contrib.index.changes import changes as changes
    from crawler.errors import CrawlError as CrawlError

__version__ = "0.1.0"

# The Python API. Each name is imported when it is first used, because every command imports this package.
_API = {
    "CrawlError": "crawler.errors",
    "CrawlRun": "crawler.api.crawl_run",
    "crawl": "crawler.api.crawl_run",
    "Document": "crawler.api.document",
    "clean": "crawler.api.document",
    "Focus": "crawler.api.focus",
    "ImageVerdict": "crawler.api.images",
    "judge_images": "crawler.api.images",
    "Change": "crawler.contrib.index.changes",
    "ChangeKind": "crawler.contrib.index.changes",
    "OffsetError": "crawler.contrib.index.changes",
    "changes": "crawler.contrib.index.changes",
}
__all__ = [
    "Change",
    "ChangeKind",
    "CrawlError",
    "CrawlRun",
    "Document",
    "Focus",
    "ImageVerdict",
    "OffsetError",
    "__version__",
    "changes",
    "clean",
    "crawl",
    "judge_images",
]

# Set before anything imports numpy, which reads it once. The matrices of a page are small: threads would cost a crawl
# more time than they save, and crawls and their workers are separate processes anyway.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def __getattr__(name: str) -> Any:
    if name not in _API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_API[name]), name)
