"""`WinnowLoader`: the pages of a crawl, or their chunks, as documents of LangChain."""

from collections.abc import Iterator

from crawler.contrib.index.current_documents import DocumentSource
from crawler.errors import MissingPartError

try:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document
except ModuleNotFoundError as error:
    raise MissingPartError(
        "the module {module} is missing: pip install 'winnow-crawler[{extra}]'", module=error.name, extra="langchain"
    ) from error


class WinnowLoader(DocumentSource, BaseLoader):
    """Loads the current pages of a crawl, or their chunks; the arguments are those of `crawler.changes`.

    With `langchain_core.indexing.index`, `cleanup="full"` and `source_id_key="page_id"`, only changed documents
    are embedded.
    """

    def lazy_load(self) -> Iterator[Document]:
        """Yields the documents one at a time."""
        for document in self.documents():
            yield Document(id=document.id, page_content=document.text, metadata={**document.metadata})
