"""The fields of a page, as the items of a crawl have them and in their order."""

from crawler.page_record import TYPES

TEXT, WHOLE, NUMBER, IMAGES = "text", "whole", "number", "images"
KINDS: dict[type, str] = {str: TEXT, int: WHOLE, float: NUMBER, list: IMAGES}
FIELDS = {name: KINDS[kind] for name, kind in TYPES.items()}
"""What each field holds; the README's table says what that is."""
