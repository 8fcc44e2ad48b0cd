"""The chunks of a stored page."""

from collections.abc import Mapping, Sequence
from typing import Any

from crawler.contrib.index.chunk_size import TOKENS, CountTokens, estimated_tokens
from crawler.contrib.index.chunks import Chunk, page_chunks
from crawler.contrib.index.heading_anchors import heading_anchors
from crawler.contrib.index.page_sections import HeadingAnchor
from crawler.export.markdown import text_as_markdown
from crawler.frontier.page_result import StoredResponse
from crawler.page.page import Page, is_html
from crawler.reports.stored_pages import StoredPage

FIELDS = ("url", "title", "language", "text", "markdown")
"""The columns of pages that chunks are made of."""
HEADING_LINE = "\n#"
"""The beginning of a heading that is not on the first line; a heading on the first line is the title."""


def stored_chunks(page: StoredPage, tokens: int = TOKENS, count: CountTokens = estimated_tokens) -> list[Chunk]:
    """The chunks of a stored page with the values of `FIELDS`, with anchors if its response is given."""
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
    """The Markdown of a stored page. If it has none, its text as Markdown, without a first line that is the title."""
    if values["markdown"]:
        return str(values["markdown"])
    text = str(values["text"])
    first, _, rest = text.partition("\n")
    return text_as_markdown(rest if first.strip() == values["title"] else text)


def has_headings(page: StoredPage) -> bool:
    """Whether a stored page may have headings below its title."""
    return HEADING_LINE in (page.values["markdown"] or "")


def _stored_anchors(page: StoredPage) -> Sequence[HeadingAnchor]:
    """The headings in the response of a page; empty without a response, and if its Markdown has no headings."""
    if page.response is None or not has_headings(page):
        return ()
    content_type = _content_type(page.response)
    if not is_html(content_type, page.response.body):
        return ()
    return heading_anchors(Page(url=page.values["url"], body=page.response.body, content_type=content_type))


def _content_type(response: StoredResponse) -> str:
    return next((value for name, value in response.headers if name.lower() == "content-type"), "")
