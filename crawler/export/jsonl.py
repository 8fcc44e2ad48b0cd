"""JSON lines: pages as a crawl writes them, and labelled pages as the gold that `scrapy evaluate` and `train` read."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from crawler.labels.labels import Label
from crawler.metadata.page_record import TYPES
from crawler.page.page import Page
from crawler.store.output_files import json_line

if TYPE_CHECKING:
    from crawler.reports.pages import StoredPage


def jsonl(pages: "Iterable[StoredPage]", fields: Sequence[str]) -> Iterator[bytes]:
    """A line for each page."""
    return (json_line({name: page.values[name] for name in fields}) for page in pages)


TEXT, WHOLE, NUMBER, IMAGES = "text", "whole", "number", "images"
KINDS: dict[type, str] = {str: TEXT, int: WHOLE, float: NUMBER, list: IMAGES}
FIELDS = {name: KINDS[kind] for name, kind in TYPES.items()}
"""What each field holds; the README's table says what that is."""


def gold_line(label: Label) -> bytes:
    """A page as it was fetched and its main text, as one line."""
    told = json.loads(label.detail)
    row = {
        "id": label.url,
        "url": label.url,
        "lang": told["language"],
        "page_type": told["page_type"],
        "html": Page(label.url, label.source, told["content_type"]).html,
        "gold": label.value,
    }
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
