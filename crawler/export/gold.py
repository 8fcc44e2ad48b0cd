"""The pages that people labelled, as the file that `scrapy evaluate` and `scrapy train` read."""

import json
from collections.abc import Iterable, Iterator

from crawler.page.page import Page
from crawler.state.labels import Label, detail_of


class GoldLines:
    """The lines of some labels, and how many could not be made."""

    def __init__(self, labels: Iterable[Label]) -> None:
        self._labels = labels
        self.made = self.bare = 0

    def __iter__(self) -> Iterator[bytes]:
        for label in self._labels:
            line = gold_line(label)
            if line is None:
                self.bare += 1
            else:
                self.made += 1
                yield line


def gold_line(label: Label) -> bytes | None:
    """A page as it was fetched and its main text, as one line; None where there is nothing of the page."""
    if label.source is None:
        return None
    told = detail_of(label.detail)
    page = Page(label.url, label.source, str(told.get("content_type", "")))
    row = {
        "id": label.url,
        "url": label.url,
        "lang": str(told.get("language", "")),
        "page_type": str(told.get("page_type", "")),
        "html": page.html,
        "gold": label.value,
    }
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
