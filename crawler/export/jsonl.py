"""JSON lines: the same as a crawl writes by itself.

The fields of a page, as the items of a crawl have them and in their order.
"""

from collections.abc import Iterable, Iterator, Sequence

from crawler.metadata.page_record import TYPES
from crawler.reports.stored_pages import Stored
from crawler.store.output_files import json_line


def jsonl(pages: Iterable[Stored], fields: Sequence[str]) -> Iterator[bytes]:
    """A line for each page."""
    return (json_line({name: page.values[name] for name in fields}) for page in pages)


TEXT, WHOLE, NUMBER, IMAGES = "text", "whole", "number", "images"
KINDS: dict[type, str] = {str: TEXT, int: WHOLE, float: NUMBER, list: IMAGES}
FIELDS = {name: KINDS[kind] for name, kind in TYPES.items()}
"""What each field holds; the README's table says what that is."""
