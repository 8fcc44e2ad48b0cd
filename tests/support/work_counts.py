"""An extension that counts the work of a crawl: SQL statements and commits, how often each long text is cut into words,
extractions of the main text, and uses of the model of languages.
"""

import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from sqlalchemy import Engine, event

from crawler.metadata import language
from crawler.page import text

LONG = 300
"""Characters of a text whose cuts are counted."""
FILE = "work_counts.json"
auto = import_module("crawler.extraction.auto")  # whose name in its package is the function


class WorkCounts:
    """Writes the counts to FILE in the folder of the crawl when it ends."""

    def __init__(self) -> None:
        self.statements = self.commits = self.extractions = self.model_uses = 0
        self.cuts = Counter[str]()
        event.listen(Engine, "before_cursor_execute", self.count_statement)
        event.listen(Engine, "commit", self.count_commit)
        self.uncut_words, text.uncut_words = text.uncut_words, self.count_cut
        self.main_text, auto.main_text = auto.main_text, self.count_extraction
        self.load_model, language.load_model = language.load_model, self.count_model_use

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

    def count_extraction(self, *values: Any) -> Any:
        self.extractions += 1
        return self.main_text(*values)

    def count_model_use(self) -> Any:
        self.model_uses += 1
        return self.load_model()

    def write(self) -> None:
        counts = {
            "statements": self.statements,
            "commits": self.commits,
            "cuts": list(self.cuts.values()),
            "extractions": self.extractions,
            "model_uses": self.model_uses,
        }
        Path(FILE).write_text(json.dumps(counts))
