"""An extension that counts the work of a crawl: SQL statements and commits, and how often each long text is cut into
words.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from sqlalchemy import Engine, event

from crawler.page import text

LONG = 300
"""Characters of a text whose cuts are counted."""
FILE = "work_counts.json"


class WorkCounts:
    """Writes the counts to FILE in the folder of the crawl when it ends."""

    def __init__(self) -> None:
        self.statements = self.commits = 0
        self.cuts = Counter[str]()
        event.listen(Engine, "before_cursor_execute", self.count_statement)
        event.listen(Engine, "commit", self.count_commit)
        self.uncut_words, text.uncut_words = text.uncut_words, self.count_cut

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        counts = cls()
        crawler.signals.connect(counts.write, signals.spider_closed)
        return counts

    def count_statement(self, *_: object) -> None:
        self.statements += 1

    def count_commit(self, _: object) -> None:
        self.commits += 1

    def count_cut(self, given: str) -> list[str]:
        self.cuts[given] += len(given) >= LONG
        return self.uncut_words(given)

    def write(self) -> None:
        found = {"statements": self.statements, "commits": self.commits, "cuts": list(self.cuts.values())}
        Path(FILE).write_text(json.dumps(found))
