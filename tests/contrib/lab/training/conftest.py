"""What several tests of training share."""

from collections.abc import Callable

import pytest
from gold_pages import row, rows, sentence

from crawler.contrib.lab.training.auto_model import train
from crawler.contrib.lab.training.examples import PageExample, example, snippets
from crawler.extraction.auto.model import Model
from crawler.page.page import Page
from crawler.urls.address import address_of

Taught = Callable[[int], Model]


@pytest.fixture(scope="session")
def examples() -> list[PageExample]:
    """Twelve pages of six sites, and one of snippets."""
    pages = [(page, Page.from_html(page["html"], page["url"])) for page in rows(12)]
    found = [example("made", address_of(page.url).site, page, one["gold"], one["page_type"]) for one, page in pages]
    weak = row(13)
    page = Page.from_html(weak["html"], "http://weak.example/")
    return [*found, snippets("weak", "weak.example", page, [sentence(1300)[:30]], ["Section 1", "Copyright"])]


@pytest.fixture(scope="session")
def model(examples: list[PageExample]) -> Model:
    """What two rounds over these teach."""
    return train(examples, 0, 2, lambda _: None)
