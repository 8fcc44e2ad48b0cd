"""The links in an `llms.txt`, in which a site lists its pages for language models (https://llmstxt.org/#format).

It is Markdown: a title, a summary as a quote, and sections with lists of links, each with a description of its page.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crawler.urls.address import address_of

NAME = "llms.txt"
TITLE = re.compile(rb"(?:\xef\xbb\xbf)?\s*#\s")
TARGET = r"[^\s()<>]{1,2083}(?:\([^\s()<>]{0,300}\)[^\s()<>]{0,300})?"
"""The address of a link, which may contain one pair of brackets."""
# A list item that begins with a link: the groups are the link's title and its address.
ITEM = re.compile(
    rf"^\s{{0,8}}[-*+]\s+\[([^\[\]\n]{{1,300}})\]\(\s*<?({TARGET})>?(?:\s[^()\n]{{0,300}})?\)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class LlmsEntry:
    """A link in an `llms.txt`."""

    href: str
    title: str


def is_llms_list(body: bytes, url: str) -> bool:
    """Whether a response is an `llms.txt`, by its name and its first line.

    >>> is_llms_list(b"# Bees", "https://a.example/docs/llms.txt"), is_llms_list(b"Bees", "https://a.example/llms.txt")
    (True, False)
    """
    return address_of(url).name.lower() == NAME and TITLE.match(body) is not None


def listed_pages(text: str) -> Iterator[LlmsEntry]:
    """The links at the beginnings of list items in a text.

    >>> list(listed_pages("# Bees\\n\\n## Manual\\n\\n- [Dance](dance.md): how they dance\\n\\nSee [this](other.md)."))
    [LlmsEntry(href='dance.md', title='Dance')]
    """
    for item in ITEM.finditer(text):
        yield LlmsEntry(href=item[2], title=item[1])
