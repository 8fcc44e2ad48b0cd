"""Limits the requests that pages can cause to other sites, because nobody chose these sites for the crawl."""

from collections import Counter
from dataclasses import dataclass, field

from crawler.contrib.browser.parts import PagePart
from crawler.urls.address import address_of

MOST_HOSTS = 5
"""The most hosts of other sites that a page may request: usually one API for its text, and a few content delivery
networks for its scripts. Scripts in the cache are not requested, so later pages of a site can use more hosts.
"""
MOST_OF_SITE = 200
"""The most requests to other sites that all pages of a site may cause together: usually each of its scripts once, and
some data.
"""


@dataclass(frozen=True)
class ForeignRequests:
    """Counts the requests to other sites, by the site of the page that causes them."""

    _by_site: Counter[str] = field(default_factory=Counter)

    def admit(self, part: PagePart) -> bool:
        """Count a request if it is within the limits; returns whether it is."""
        if not part.is_foreign:
            return True
        host = address_of(part.url).host
        site = address_of(part.page).site
        if host not in part.foreign_hosts and len(part.foreign_hosts) >= MOST_HOSTS:
            return False
        if self._by_site[site] >= MOST_OF_SITE:
            return False
        part.foreign_hosts.add(host)
        self._by_site[site] += 1
        return True
