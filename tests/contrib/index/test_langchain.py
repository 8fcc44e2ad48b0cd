"""The loader of LangChain, with its own indexing API."""

import asyncio

import pytest
from index_pages import AT, SITE, ChangingCrawl
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.indexing import InMemoryRecordManager, index
from langchain_core.vectorstores import InMemoryVectorStore

from crawler.contrib.index.langchain import WinnowLoader

PAGE = "## Dance\n\nBees dance in the dark.\n\n## Honey\n\nHoney is sweet."
OTHER = "## Dance\n\nBees dance in the dark.\n\n## Wax\n\nWax is soft."


def test_pages_are_documents(changing_crawl: ChangingCrawl) -> None:
    page_id = changing_crawl.store("/a", PAGE, title="On bees")
    changing_crawl.store("/b", PAGE, language=None)
    changing_crawl.store("/c", PAGE)
    changing_crawl.remove("/c")
    first, second = WinnowLoader("bees", folder=changing_crawl.folder).load()
    assert (first.id, first.page_content) == (page_id, PAGE)
    assert first.metadata == {
        "source": f"{SITE}/a",
        "title": "On bees",
        "language": "en",
        "page_id": page_id,
        "fetched_at": AT,
    }
    assert second.metadata["language"] == ""


def test_chunks_are_documents_below_their_headings(changing_crawl: ChangingCrawl) -> None:
    page_id = changing_crawl.store("/a", PAGE, title="On bees")
    dance, honey = WinnowLoader(folder=changing_crawl.folder, chunks=True).load()
    assert [dance.page_content, honey.page_content] == [
        "On bees > Dance\n\nBees dance in the dark.",
        "On bees > Honey\n\nHoney is sweet.",
    ]
    assert dance.metadata == {
        "source": f"{SITE}/a",
        "title": "On bees",
        "language": "en",
        "page_id": page_id,
        "url": f"{SITE}/a",
        "headings": "On bees > Dance",
        "chunk_id": dance.id,
    }
    assert dance.id is not None
    assert dance.id.startswith(page_id)


@pytest.mark.parametrize("chunks", [True, False])
def test_only_what_changed_is_indexed(changing_crawl: ChangingCrawl, chunks: bool) -> None:
    records = InMemoryRecordManager("bees")
    records.create_schema()
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    loader = WinnowLoader("bees", folder=changing_crawl.folder, chunks=chunks)

    def counts() -> tuple[int, int, int]:
        """How many documents were added, deleted and skipped."""
        found = index(loader, records, store, cleanup="full", source_id_key="page_id", key_encoder="sha256")
        return found["num_added"], found["num_deleted"], found["num_skipped"]

    for path in ("/a", "/b"):
        changing_crawl.store(path, PAGE)
    assert counts() == ((4, 0, 0) if chunks else (2, 0, 0))
    assert counts() == ((0, 0, 4) if chunks else (0, 0, 2))
    changing_crawl.store("/a", OTHER)
    assert counts() == ((1, 1, 3) if chunks else (1, 1, 1))
    changing_crawl.remove("/b")
    assert counts() == ((0, 2, 2) if chunks else (0, 1, 1))
    assert {document["metadata"]["source"] for document in store.store.values()} == {f"{SITE}/a"}


def test_it_loads_beside_an_event_loop(changing_crawl: ChangingCrawl) -> None:
    changing_crawl.store("/a", PAGE)
    loader = WinnowLoader(folder=changing_crawl.folder, chunks=True)
    assert asyncio.run(loader.aload()) == loader.load()
