"""The pages that people marked, as the file that `scrapy evaluate` and `scrapy train` read."""

import json
from collections.abc import Iterable, Iterator

from crawler.page import Page
from crawler.state.marks import Mark


class GoldLines:
    """The lines of some marks, and how many could not be made."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        self._marks = marks
        self.made = self.bare = 0

    def __iter__(self) -> Iterator[bytes]:
        for mark in self._marks:
            line = gold_line(mark)
            if line is None:
                self.bare += 1
            else:
                self.made += 1
                yield line


def gold_line(mark: Mark) -> bytes | None:
    """A page as it was fetched and its main text, as one line; None where there is nothing of the page."""
    if mark.source is None:
        return None
    told = json.loads(mark.detail)
    page = Page(mark.url, mark.source, told["content_type"])
    row = {
        "id": mark.url,
        "url": mark.url,
        "lang": told["language"],
        "page_type": told["page_type"],
        "html": page.html,
        "gold": mark.value,
    }
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
