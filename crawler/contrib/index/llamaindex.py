"""`WinnowReader`: the pages of a crawl, or their chunks, as documents of LlamaIndex."""

from collections.abc import Iterator
from typing import Any

from crawler.contrib.index.current_documents import DocumentSource
from crawler.errors import MissingPartError

try:
    from llama_index.core.readers.base import BaseReader
    from llama_index.core.schema import Document
except ModuleNotFoundError as error:
    raise MissingPartError(
        "the module {module} is missing: pip install 'winnow-crawler[{extra}]'", module=error.name, extra="llamaindex"
    ) from error


class WinnowReader(DocumentSource, BaseReader):
    """Loads the current pages of a crawl, or their chunks; the arguments are those of `crawler.changes`.

    With an `IngestionPipeline` that has a `vector_store`, a `docstore` and the strategy `UPSERTS_AND_DELETE`, only
    changed documents are embedded. Its transformations must begin with a splitter, such as
    `SentenceSplitter(chunk_size=1024)`, through which the store knows which vectors to delete with a document. The
    metadata are not embedded, because the text of a chunk already has its headings.
    """

    def lazy_load_data(self, *args: Any, **load_kwargs: Any) -> Iterator[Document]:
        """Yields the documents one at a time."""
        for document in self.documents():
            yield Document(
                id_=document.id,
                text=document.text,
                metadata={**document.metadata},
                excluded_embed_metadata_keys=[*document.metadata],
            )
