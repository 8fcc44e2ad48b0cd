"""The pictures of a crawl: how its pages show them, which of them may be asked for, and which bytes are of one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy.http import Response

from crawler.frontier.messages import Candidate
from crawler.frontier.messages import SiteEvidence as Counts
from crawler.items import ImageItem
from crawler.noise.evidence import Evidence
from crawler.noise.sighting import Sighting, sightings
from crawler.outcomes import Code, Outcome
from crawler.page.image_file import content_of, type_of
from crawler.page.page import Extraction, Page
from crawler.spiders.failures import NO_WHOLE_PAGE
from crawler.urls.parsing import ending

if TYPE_CHECKING:
    pass


IMAGE_PRIORITY = -10_000
SMALLEST = 40
"""Bytes: what is smaller is no picture that anybody sees; the smallest of one dot has 43."""
MOST_IMAGES = 500
"""Of a page, that are looked at: what is known of each waits in memory for its commit."""
# Endings of addresses that are pictures: where a small picture links to one, it is the large one.
IMAGE_ENDINGS = frozenset("avif bmp gif ico jpeg jpg png webp".split())


@dataclass(frozen=True)
class PageImages:
    """What a crawl wants of pictures, and what it knows of the sites that show them."""

    extraction: Callable[[Page], Extraction]
    """The main text of a page."""
    wanted: bool
    """Whether they are asked for at all."""
    judged: bool
    """Whether noise is told from content."""
    largest: int
    """Bytes."""

    def sightings(self, page: Page) -> tuple[Sighting, ...]:
        """The pictures of a page, as it shows them; of very many the first."""
        return sightings(page, self.extraction(page))[:MOST_IMAGES]

    def beyond(self, page: Page) -> int:
        """How many pictures of a page are left out because it has so many."""
        return max(0, len(page.images) - MOST_IMAGES) if self.wanted else 0

    def counts(self, page: Page) -> Evidence:
        """The counts of the pictures of one page."""
        counts = Evidence()
        counts.see(page.once(self.sightings))
        return counts

    def candidates(self, page: Page, depth: int, has_seen: Callable[[str, str], bool]) -> Iterator[Candidate]:
        """The page's pictures, and the large ones that they link to; to be judged by how the page shows them."""
        seen: set[str] = {""}
        for at, image in enumerate(page.images[:MOST_IMAGES]):
            large = image.target if image.target and ending(image.target) in IMAGE_ENDINGS else ""
            for url in (image.url, large):
                if url not in seen and not has_seen(url, "image"):
                    seen.add(url)
                    sight = page.once(self.sightings)[at].record() if self.judged else None
                    yield Candidate(url, IMAGE_PRIORITY, depth, page.url, "image", sight=sight, via="picture")

    def is_picture(self, url: str) -> bool:
        """Whether a link is taken for a picture instead."""
        return self.wanted and ending(url) in IMAGE_ENDINGS

    def sight(self, page: Page, url: str) -> str | None:
        """How the page shows the picture that leads to an address; None where nobody judges, or where that is no
        picture of its own.
        """
        shown = page.once(_leading) if self.judged else {}
        return page.once(self.sightings)[shown[url]].record() if url in shown else None

    def item(self, response: Response, candidate: Candidate) -> ImageItem | Outcome:
        """A picture as an item, if its bytes are those of one that is kept; otherwise why they are not."""
        kind, body = type_of(response.body), response.body
        if kind is None or response.status in NO_WHOLE_PAGE:
            return Outcome(Code.NOT_A_PICTURE, content_of(body) or str(response.status))
        if len(body) < SMALLEST:
            return Outcome(Code.PICTURE_TOO_SMALL)
        item = ImageItem(response.url, candidate.parent or "", kind.media_type)
        item.body, item.ending = body, kind.ending
        return item


def _leading(page: Page) -> dict[str, int]:
    """Where the page's pictures lead, and the first of those that lead there."""
    found: dict[str, int] = {}
    for at, image in enumerate(page.images[:MOST_IMAGES]):
        if image.target:
            found.setdefault(image.target, at)
    return found


class EvidenceCache:
    """The evidence of the sites whose pictures are being judged."""

    def __init__(self) -> None:
        self._sites: dict[int, Evidence] = {}

    def of(self, site_id: int | None) -> Evidence:
        """The evidence of a site; none where nothing was counted."""
        return self._sites.get(site_id or 0) or Evidence()

    def take_in(self, news: Iterable[Counts], forgotten: Iterable[int]) -> None:
        """Add what was counted since, and forget sites that were not asked for lately."""
        for one in news:
            known = Evidence() if one.whole else self._sites.get(one.site_id, Evidence())
            for record in one.counts:
                known.add(Evidence.of(record))
            self._sites[one.site_id] = known
        for site_id in forgotten:
            self._sites.pop(site_id, None)
