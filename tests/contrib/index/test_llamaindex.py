"""The reader of LlamaIndex, with its own docstore. To import the library takes seconds."""

import pytest
from index_pages import AT, SITE, ChangingCrawl
from missing import need

pytestmark = pytest.mark.long
need("llama_index")

PAGE = "## Dance\n\nBees dance in the dark.\n\n## Honey\n\nHoney is sweet."
OTHER = "## Dance\n\nBees dance in the dark.\n\n## Wax\n\nWax is soft."


def test_pages_and_chunks_are_documents(changing_crawl: ChangingCrawl) -> None:
    from crawler.contrib.index.llamaindex import WinnowReader

    page_id = changing_crawl.store("/a", PAGE, title="On bees")
    changing_crawl.store("/b", PAGE)
    changing_crawl.remove("/b")
    [page] = WinnowReader("bees", folder=changing_crawl.folder).load_data()
    assert (page.id_, page.text) == (page_id, PAGE)
    assert (page.metadata["source"], page.metadata["fetched_at"]) == (f"{SITE}/a", AT)
    dance, honey = WinnowReader(folder=changing_crawl.folder, chunks=True).lazy_load_data()
    assert dance.id_.startswith(page_id)
    assert honey.get_content("embed") == "On bees > Honey\n\nHoney is sweet."
    assert (honey.metadata["page_id"], honey.metadata["headings"]) == (page_id, "On bees > Honey")


def test_only_what_changed_is_upserted(changing_crawl: ChangingCrawl) -> None:
    from llama_index.core import MockEmbedding
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.core.vector_stores import SimpleVectorStore

    from crawler.contrib.index.llamaindex import WinnowReader

    vectors = SimpleVectorStore()
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=1024), MockEmbedding(embed_dim=8)],
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
        vector_store=vectors,
    )
    reader = WinnowReader(folder=changing_crawl.folder, chunks=True)

    def upserted_texts() -> list[str]:
        """The last line of each document that the pipeline has embedded."""
        return [node.get_content().splitlines()[-1] for node in pipeline.run(documents=reader.load_data())]

    for path in ("/a", "/b"):
        changing_crawl.store(path, PAGE)
    assert upserted_texts() == ["Bees dance in the dark.", "Honey is sweet."] * 2
    assert upserted_texts() == []
    assert len(vectors.data.embedding_dict) == 4
    changing_crawl.store("/a", OTHER)
    assert upserted_texts() == ["Wax is soft."]
    assert len(vectors.data.embedding_dict) == 4
    changing_crawl.remove("/b")
    assert upserted_texts() == []
    chunk_ids = {document.id_ for document in reader.load_data()}
    assert set(vectors.data.text_id_to_ref_doc_id.values()) == chunk_ids
    assert len(vectors.data.embedding_dict) == 2
