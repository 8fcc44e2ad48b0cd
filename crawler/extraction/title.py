"""The headline of a page: what <title> says, without the name of the site around it."""

import re

from crawler.page import Page

# Between the headline and the site's name; a hyphen only with spaces around it.
SEPARATORS = re.compile(r"\s+[-–—|·»«:]\s+|\s*[|_｜]\s*|\s*[-–—]{2,}\s*")
HEADINGS = frozenset(("h1", "h2", "h3"))


def headline(page: Page) -> str:
    """The longest heading that <title> repeats, else the longest part of <title>, else the first heading."""
    headings = [block.text for block in page.blocks if block.tag in HEADINGS]
    repeated = [text for text in headings if text in page.title and len(text) > 1]
    if repeated:
        return max(repeated, key=len)
    if page.title:
        return max(SEPARATORS.split(page.title), key=len).strip() or page.title
    return headings[0] if headings else ""
