"""JSON lines."""

from collections.abc import Iterable, Iterator, Sequence

from crawler.reports.stored_pages import StoredPage
from crawler.store.output_files import json_line


def jsonl(pages: Iterable[StoredPage], fields: Sequence[str]) -> Iterator[bytes]:
    """Pages as lines of JSON, as in the crawl's own file."""
    return (json_line({name: page.values[name] for name in fields}) for page in pages)
