"""The pages that people labelled, as the file that `scrapy evaluate` and `scrapy train` read."""

import json

from crawler.labels.labels import Label
from crawler.page.page import Page


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
