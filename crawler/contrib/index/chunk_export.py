"""`winnow export --format chunks`: a line of JSON for each chunk of the stored pages."""

from collections.abc import Iterable, Iterator, Sequence

from crawler.contrib.index.chunk_size import TOKENS
from crawler.contrib.index.stored_chunks import FIELDS, has_headings, stored_chunks
from crawler.export.formats import Format
from crawler.reports.stored_pages import StoredPage
from crawler.store.output_files import json_line
from crawler.translation.message import Message, plural

# The responses are read because the anchors of headings are in them.
CHUNKS = Format(
    "crawler.contrib.index.chunk_export:chunk_lines",
    options=("remarks", "tokens"),
    needs=FIELDS,
    is_text=True,
    chooses=False,
    reads_responses=True,
)


def chunk_lines(
    pages: Iterable[StoredPage], fields: Sequence[str], remarks: list[Message], tokens: int | None = None
) -> Iterator[bytes]:
    """The chunks of pages as lines of JSON; sentences about them are appended to `remarks`. `fields` is ignored."""
    chunk_count = 0
    empty_count = 0
    no_anchor_count = 0
    for page in pages:
        chunks = stored_chunks(page, TOKENS if tokens is None else tokens)
        chunk_count += len(chunks)
        empty_count += not chunks
        no_anchor_count += page.response is None and has_headings(page)
        for chunk in chunks:
            yield json_line(chunk.record())
    remarks.append(plural("{n} chunk in all.", "{n} chunks in all.", chunk_count))
    if empty_count:
        no_text = plural("{n} page has no text and no chunk.", "{n} pages have no text and no chunks.", empty_count)
        remarks.append(no_text)
    if no_anchor_count:
        no_anchors = plural(
            "{n} page has no stored response, so the addresses of its chunks have no anchors "
            "(a larger KEEP_RESPONSES stores more).",
            "{n} pages have no stored response, so the addresses of their chunks have no anchors "
            "(a larger KEEP_RESPONSES stores more).",
            no_anchor_count,
        )
        remarks.append(no_anchors)
