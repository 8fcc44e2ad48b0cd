"""Labelled pages in the form that `winnow evaluate` and `winnow train` read."""

import json
from collections.abc import Iterable, Iterator

from crawler.atomic_files import AtomicFile
from crawler.export.exporter import Tally, write_parts
from crawler.page.page import Page
from crawler.store.labels import Label


def write_labels(labels: Iterable[Label], target: AtomicFile, tally: Tally) -> None:
    """Write the labelled pages, and count them while they are written."""

    def lines() -> Iterator[bytes]:
        for label in labels:
            tally.pages += 1
            yield gold_line(label)

    write_parts(lines(), target, tally)


def gold_line(label: Label) -> bytes:
    """A labelled page and its main text as a line of JSON."""
    detail = json.loads(label.detail)
    row = {
        "id": label.url,
        "url": label.url,
        "lang": detail["language"],
        "page_type": detail["page_type"],
        "html": Page(url=label.url, body=label.source, content_type=detail["content_type"]).html,
        "gold": label.value,
        **{name: detail[name] for name in ("title", "author", "published") if name in detail},
    }
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
