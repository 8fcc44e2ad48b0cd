"""Limits how often pages make the crawler request other sites, which have not been chosen by anybody."""

from collections import Counter
from dataclasses import dataclass, field

from crawler.contrib.browser.parts import PagePart
from crawler.urls.address import address_of

MOST_HOSTS = 5
"""Hosts of other sites that one page may request: text comes from one API, and its program from a few networks that
deliver scripts. Scripts in the cache are not requested, so later pages of a site have more.
"""
MOST_OF_SITE = 200
"""Requests to other sites for all pages of one site: its programs, each once, and some data."""


@dataclass(frozen=True)
class ForeignRequests:
    """Counts the requests to other sites, by the site of the page."""

    _by_site: Counter[str] = field(default_factory=Counter)

    def admit(self, part: PagePart) -> bool:
        """Count a request; returns whether it is within the limits."""
        if not part.is_foreign:
            return True
        name = address_of(part.url).host
        of_site = address_of(part.page).site
        is_known = name in part.foreign_hosts
        if not is_known and len(part.foreign_hosts) >= MOST_HOSTS:
            return False
        if self._by_site[of_site] >= MOST_OF_SITE:
            return False
        part.foreign_hosts.add(name)
        self._by_site[of_site] += 1
        return True
