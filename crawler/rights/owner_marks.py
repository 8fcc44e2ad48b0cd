"""The marks by which the owner of a page takes parts of its text out, as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.page.owner_marks import OwnerMark
from crawler.page.page import Page
from crawler.rights.statement import RightsEvidence, Signal


def marked_parts(page: Page) -> Iterator[RightsEvidence]:
    """The kinds of marks, each with how many parts of the page have it."""
    for parts in page.withheld.parts:
        kind = "comment" if parts.mark is OwnerMark.GOOGLE_OFF else "attribute"
        yield RightsEvidence(Signal.OWNER_MARK, f"{kind} {parts.mark}, parts: {parts.count}", parts.says)
