"""The headline of a page: what <title> says, without the name of the site around it."""

import re

from crawler.page import Page
from crawler.walk import Block

# Between the headline and the site's name; a hyphen only with spaces around it.
SEPARATORS = re.compile(r"\s+[-–—|·»«:]\s+|\s*[|_｜]\s*|\s*[-–—]{2,}\s*")
HEADINGS = frozenset(("h1", "h2", "h3"))
# A part shorter than this is a label such as "News"; a Chinese character says as much as two letters.
MIN_LENGTH = 5
# Characters of <title> that are looked at: every heading is searched for in them.
MAX_TITLE = 1_000


def headline(page: Page) -> str:
    """The longest heading that <title> repeats, else the part of <title> that a line of the page repeats or that comes
    first, else the first heading.
    """
    title = page.title[:MAX_TITLE]
    headings = [block.text for block in page.blocks if block.tag in HEADINGS]
    repeated = [text for text in headings if text in title and len(text) > 1]
    if repeated:
        return max(repeated, key=len)
    parts = [part.strip() for part in SEPARATORS.split(title) if part.strip()]
    if parts:
        return _spoken(parts, page.blocks) or next((part for part in parts if _width(part) >= MIN_LENGTH), title)
    return headings[0] if headings else title


def _spoken(parts: list[str], blocks: tuple[Block, ...]) -> str:
    """The longest part that is a line of the page by itself and no link."""
    lines = {block.text for block in blocks if not block.linked}
    return max((part for part in parts if len(parts) > 1 and part in lines), key=len, default="")


def _width(text: str) -> int:
    return sum(1 + (character >= "\u2e80") for character in text)
