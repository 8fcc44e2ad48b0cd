"""The record of a stored page: each field stands here once, and its item, column, exports and view derive from it."""

from dataclasses import dataclass, field
from typing import get_args, get_origin, get_type_hints

from crawler.translation.message import N_


@dataclass
class PageRecord:
    """A cleaned page; the README's table says what each field holds."""

    url: str
    requested_url: str
    fetched_at: str
    status: int
    depth: int
    parent: str | None
    language: str | None = None
    title: str = ""
    text: str = ""
    markdown: str | None = None
    comments: str = ""
    author: str = ""
    published: str | None = None
    page_type: str = ""
    relevance: float = 0.0
    link_score: float | None = None
    via: str = "link"
    extractor: str = ""
    text_fingerprint: str | None = None
    duplicate_of: str | None = None
    images: list[dict[str, str]] = field(default_factory=list)


"""What reads each field that a page and its main text tell."""
LABELS = {"author": N_("Author"), "published": N_("Published")}
"""What the dashboard calls the fields that it lists among a page's facts."""
_HINTS = get_type_hints(PageRecord)
IS_OPTIONAL = {name: type(None) in get_args(hint) for name, hint in _HINTS.items()}
"""Whether a field may be None."""
TYPES: dict[str, type] = {
    name: list if get_origin(hint) is list else next(iter(get_args(hint)), hint) for name, hint in _HINTS.items()
}
"""What each field holds where it is not None: str, int, float or list."""
