"""Small sites that strangers' generators and themes made of our posts, crawled from their front pages.

`python tests/bench/strangers.py` is the long form; its `--keep` made the pages in `sites`.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sites import OPEN, Answer, Site, crawl, serving

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from strangers import KEPT_DOCUMENTS, SITES
from strangers_sites.compare import Comparison, Share, compare, match
from strangers_sites.kept import HERE, kept_pages
from strangers_sites.site import Workshop
from strangers_sites.sources import Document

FOLDER = Path(__file__).resolve().parent / "sites"
NAMES = sorted(path.name.removesuffix(".jsonl.xz") for path in FOLDER.iterdir())
SETTINGS = OPEN | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}
CONTENT_TYPES = {"html": "text/html; charset=utf-8", "xml": "application/xml", "txt": "text/plain; charset=utf-8"}
LEAST_F1 = 0.98


@dataclass(frozen=True)
class Crawled:
    """What a crawl of all sites left."""

    sites: Mapping[str, Site]
    items: list[dict[str, Any]]
    documents: Mapping[str, Sequence[Document]]

    def comparison(self, name: str) -> Comparison:
        """The row of a site in the bench's table."""
        site = self.sites[name]
        items = [item for item in self.items if item["url"].startswith(site.url)]
        requests = site.paths(without="/robots.txt")
        return compare(name, match(items, self.documents[name]), self.documents[name], len(requests))


def routes(pages: Mapping[str, str], site: Site) -> dict[str, Answer]:
    """The pages at their paths, with the address that the site is served at."""
    answers = {}
    for name, page in pages.items():
        answer = Answer(page.replace(HERE, site.url.rstrip("/")), content_type=CONTENT_TYPES[name.rpartition(".")[2]])
        path = quote(f"/{name}")
        answers[path] = answer
        if path.endswith("/index.html"):
            answers[path.removesuffix("index.html")] = answer
    return answers


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    with ExitStack() as servers:
        sites = {}
        for number, name in enumerate(NAMES, 1):
            site = servers.enter_context(serving(Site({}), f"127.0.46.{number}"))
            site.routes = dict(routes(kept_pages(FOLDER / f"{name}.jsonl.xz"), site))
            sites[name] = site
        arguments = {
            "seeds": ",".join(site.url for site in sites.values()),
            "markdown": "yes",
            "images": "no",
            "render": "never",
        }
        crawled = crawl(tmp_path_factory.mktemp("strangers"), arguments, SETTINGS, timeout=300)
        assert crawled.status == 0, crawled.err
        documents = {
            site.name: Workshop(root=FOLDER, site=site, most_documents=KEPT_DOCUMENTS).documents
            for site in SITES
            if site.name in NAMES
        }
        yield Crawled(sites, crawled.items(), documents)


@pytest.mark.parametrize("name", NAMES)
def test_all_documents_come_whole_and_no_list_with_them(crawled: Crawled, name: str) -> None:
    row = crawled.comparison(name)
    assert row.documents == Share(KEPT_DOCUMENTS, KEPT_DOCUMENTS)
    assert (row.lists, row.twice, row.empty, row.copies) == (0, 0, 0, 0)
    assert row.f1 >= LEAST_F1
    for share in (row.code, row.cells, row.formulas, row.titles, row.authors, row.dates, row.languages):
        assert share.count == share.of, row
