"""JSON lines: the same as a crawl writes by itself."""

from collections.abc import Iterable, Iterator, Sequence

from crawler.state.exported import Stored
from crawler.state.lines import json_line


def jsonl(pages: Iterable[Stored], fields: Sequence[str]) -> Iterator[bytes]:
    """A line for each page."""
    return (json_line({name: page.values[name] for name in fields}) for page in pages)
