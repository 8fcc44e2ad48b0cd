"""Has a crawl not count what links led to: it knows a link by the pages that show it and by its words alone.

Scrapy loads this module with the spiders, for `focus.py`.
"""

from functools import partial

from crawler import build_crawl as building
from crawler.topic.link_scores import FocusOptions

building.FocusOptions = partial(FocusOptions, learning=False)  # type: ignore[assignment, misc]
