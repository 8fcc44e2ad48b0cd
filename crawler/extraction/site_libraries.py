"""The libraries of the sites that a worker crawls, each with its incomplete batch of pages.

A library holds the templates of a site: the labels that its pages have in common. A learner takes pages in batches of
ten and adds templates (crawler/extraction/methods/template.py).
"""

from collections.abc import Callable
from dataclasses import dataclass

from crawler.extraction.methods.template import LeafLabel, Learner, Library
from crawler.page.page import Extraction, Page
from crawler.urls.address import address_of
from crawler.urls.lru_dict import LruDict

# Labels in memory, of all sites together; beyond that, the sites not seen for longest are forgotten. A template takes
# about 1.3 kB, a label in an incomplete batch 0.3 kB, so that all take 60 to 260 MB.
MAX_KEPT = 200_000


@dataclass(frozen=True, slots=True)
class _Site:
    library: Library
    learner: Learner

    @property
    def size(self) -> int:
        """How many labels it keeps in memory, plus one, so that sites without labels are also limited."""
        return 1 + len(self.library) + len(self.learner)


class SiteLibraries:
    """Extracts pages with the libraries of their sites, and learns from them. Here a site is a host.

    `extract` and `learn` may be called in either order: the common labels of a page are computed once, before templates
    learned from this page are added.

    Incomplete batches, of at most nine pages, are only in memory. They are lost when the worker ends or forgets a site.
    """

    def __init__(
        self,
        method: Callable[..., Extraction],
        library_type: type[Library],
        count: Callable[[str, int], None],
        max_kept: int = MAX_KEPT,
    ) -> None:
        self.method = method
        self.library_type = library_type
        self.count = count
        """Counts events: takes the name of a statistic and a number."""
        self._sites: LruDict[str, _Site] = LruDict(max_kept, lambda site: site.size)

    def __len__(self) -> int:
        """The number of sites in memory."""
        return len(self._sites)

    def extract(self, page: Page) -> Extraction:
        """The main text, by the method with the library of the page's site."""
        site = self._sites.get(address_of(page.url).host)
        return self.method(page, library=site.library if site else None)

    def learn(self, page: Page) -> tuple[LeafLabel, ...]:
        """Learn from a page; returns the new templates if it completes a batch."""
        site = self._site(address_of(page.url).host)
        copies_before = site.learner.copies
        refused_before = site.library.refused
        templates = site.learner.add(page)
        self._keep(address_of(page.url).host, site)
        self.count("template/learned", len(templates))
        self.count("template/copies", site.learner.copies - copies_before)
        self.count("template/site_full", site.library.refused - refused_before)
        return templates

    def take_in(self, host: str, label: LeafLabel) -> None:
        """Add a template of a host, learned by another worker or in an earlier run."""
        site = self._site(host)
        refused_before = site.library.refused
        site.library.add(label)
        self._keep(host, site)
        self.count("template/site_full", site.library.refused - refused_before)

    def _site(self, host: str) -> _Site:
        site = self._sites.get(host)
        if site is not None:
            return site
        library = self.library_type()
        return _Site(library=library, learner=Learner(library))

    def _keep(self, host: str, site: _Site) -> None:
        """Store a site with its new size. Sites not seen for longest are forgotten if there are too many labels."""
        dropped = self._sites.set(host, site)
        if dropped:
            self.count("template/sites_forgotten", len(dropped))
