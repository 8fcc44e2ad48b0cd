"""The places in which exports are tested."""

from export_place import either, either_filled, filled, place
from exported_crawl import crawled, finished

__all__ = ["crawled", "either", "either_filled", "filled", "finished", "place"]
