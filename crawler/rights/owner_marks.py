"""The marks with which the owner of a page withholds parts of its text, as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.page.owner_marks import OwnerMark
from crawler.page.page import Page
from crawler.rights.statement import RightsEvidence, Signal


def marked_parts(page: Page) -> Iterator[RightsEvidence]:
    """One statement for each kind of mark on a page, with the number of parts that have it."""
    for parts in page.withheld.parts:
        kind = "comment" if parts.mark is OwnerMark.GOOGLE_OFF else "attribute"
        yield RightsEvidence(Signal.OWNER_MARK, f"{kind} {parts.mark}, parts: {parts.count}", parts.first_mark)
