"""The places in which exports are tested, and a crawl whose pages change."""

from export_place import place
from index_pages import changing_crawl

__all__ = ["changing_crawl", "place"]
