"""The places in which exports are tested."""

from export_place import either, filled, place
from exported_crawl import crawled, finished

__all__ = ["crawled", "either", "filled", "finished", "place"]
