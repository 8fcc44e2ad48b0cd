"""The fields of a page, as the items of a crawl have them and in their order."""

TEXT, WHOLE, NUMBER, IMAGES = "text", "whole", "number", "images"

FIELDS = {
    "url": TEXT,
    "requested_url": TEXT,
    "fetched_at": TEXT,
    "status": WHOLE,
    "depth": WHOLE,
    "parent": TEXT,
    "language": TEXT,
    "title": TEXT,
    "text": TEXT,
    "markdown": TEXT,
    "comments": TEXT,
    "author": TEXT,
    "published": TEXT,
    "page_type": TEXT,
    "relevance": NUMBER,
    "link_score": NUMBER,
    "via": TEXT,
    "extractor": TEXT,
    "text_fingerprint": TEXT,
    "duplicate_of": TEXT,
    "images": IMAGES,
}
"""What each field holds; the README's table says what that is."""
