"""The chunks of a cleaned page, and those of a stored one."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from crawler.contrib.index.chunk_size import TOKENS, CountTokens, estimated_tokens
from crawler.contrib.index.chunks import Chunk, page_chunks
from crawler.contrib.index.heading_anchors import heading_anchors
from crawler.contrib.index.page_sections import HeadingAnchor
from crawler.export.markdown import text_as_markdown
from crawler.frontier.page_result import StoredResponse
from crawler.page.blocks import Block
from crawler.page.page import Page, is_html
from crawler.reports.stored_pages import StoredPage

FIELDS = ("url", "title", "language", "text", "markdown")
"""The fields of a stored page that its chunks are made of."""
HEADING_LINE = "\n#"


def document_chunks(
    page: Page,
    kept: Collection[Block],
    *,
    markdown: str,
    title: str,
    language: str | None,
    tokens: int,
    count: CountTokens | None,
) -> list[Chunk]:
    """The chunks of a page whose main text are the kept blocks."""
    return page_chunks(
        markdown,
        title=title,
        url=page.url,
        language=language,
        tokens=tokens,
        count=count or estimated_tokens,
        anchors=heading_anchors(page, kept),
    )


def stored_chunks(page: StoredPage, tokens: int = TOKENS, count: CountTokens = estimated_tokens) -> list[Chunk]:
    """The chunks of a stored page that has the values `FIELDS`, with anchors if it has its response."""
    values = page.values
    return page_chunks(
        stored_markdown(values),
        title=values["title"],
        url=values["url"],
        language=values["language"],
        tokens=tokens,
        count=count,
        anchors=_stored_anchors(page),
    )


def stored_markdown(values: Mapping[str, Any]) -> str:
    """The Markdown of a stored page, or else its text as Markdown, without the title at its start."""
    if values["markdown"]:
        return str(values["markdown"])
    text = str(values["text"])
    first, _, rest = text.partition("\n")
    return text_as_markdown(rest if first.strip() == values["title"] else text)


def has_headings(page: StoredPage) -> bool:
    """Whether a stored page may have headings below its title."""
    return HEADING_LINE in (page.values["markdown"] or "")


def _stored_anchors(page: StoredPage) -> Sequence[HeadingAnchor]:
    """The headings of the response of a page whose Markdown has headings."""
    if page.response is None or not has_headings(page):
        return ()
    content_type = _content_type(page.response)
    if not is_html(content_type, page.response.body):
        return ()
    return heading_anchors(Page(url=page.values["url"], body=page.response.body, content_type=content_type))


def _content_type(response: StoredResponse) -> str:
    return next((value for name, value in response.headers if name.lower() == "content-type"), "")
