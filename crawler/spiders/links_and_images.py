"""Selects the links and images of a page to request, with the words that links get their priorities from; describes how
the page shows its images; and decides which responses are images.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scrapy.http import Response

from crawler.frontier.batch import SiteEvidence as Counts
from crawler.frontier.frontier import Frontier
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy
from crawler.frontier.scope import Scope
from crawler.items import ImageItem
from crawler.metadata.language import normalise
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.image_features import sightings
from crawler.noise.page_images import MOST_IMAGES
from crawler.outcomes import Code, Outcome
from crawler.page.document_type import is_source_of
from crawler.page.image_file import content_of, type_of
from crawler.page.links import Link
from crawler.page.page import Extraction, Page
from crawler.spiders.crawl_status import OutcomeCounts
from crawler.spiders.request_outcomes import NO_WHOLE_PAGE
from crawler.topic.link_contexts import is_image, link_contexts
from crawler.topic.link_table import LinkContext
from crawler.topic.priorities import BEHIND_IMAGE
from crawler.urls.address import address_of
from crawler.urls.parsing import with_ending
from crawler.urls.patterns import labels_of

IMAGE_PRIORITY = -10_000
SMALLEST = 40
"""Bytes; a smaller image shows nothing: an image of a single pixel has 43."""
# Endings of image addresses; an image that links to such an address is its thumbnail.
IMAGE_ENDINGS = frozenset("avif bmp gif ico jpeg jpg png webp".split())


@dataclass(frozen=True)
class PageImages:
    """Selects the images of a page to request, and describes how the page shows them."""

    extraction: Callable[[Page], Extraction]
    """The main text of a page."""
    wanted: bool
    """Whether images are requested."""
    judged: bool
    """Whether noise is told apart from content."""
    largest: int
    """Bytes."""
    page_limit: int = MOST_IMAGES
    site_limit: int | None = None
    _of_site: Counter[str] = field(default_factory=Counter)
    """How many images were requested for the pages of each site."""

    def sightings(self, page: Page) -> tuple[Sighting, ...]:
        """How a page shows its images; only the first ones if there are very many."""
        return sightings(page, self.extraction(page))[:MOST_IMAGES]

    def beyond(self, page: Page) -> int:
        """How many images of a page are left out because it has too many."""
        if self.wanted:
            return max(0, len(page.images) - self.most_of_page)
        return 0

    @property
    def most_of_page(self) -> int:
        """The most images of a page that are requested."""
        return min(self.page_limit, MOST_IMAGES)

    def within_site_limit(self, images: Sequence[Candidate], page: Page) -> Sequence[Candidate]:
        """The first of these images of a page for which the limit of its site has room; they are counted."""
        name = address_of(page.url).site
        if self.site_limit is not None:
            images = images[: max(0, self.site_limit - self._of_site[name])]
        self._of_site[name] += len(images)
        return images

    def counts(self, page: Page) -> Evidence:
        """The counts of one page's images, as evidence."""
        counts = Evidence()
        counts.see(page.once(self.sightings))
        return counts

    def candidates(
        self, page: Page, depth: int, seen: Callable[[Iterable[str], AddressKind], Collection[str]]
    ) -> list[Candidate]:
        """The images of a page and the large images that they link to, with how the page shows them."""
        images = page.images[: self.most_of_page]
        large = with_ending([image.target for image in images], IMAGE_ENDINGS)
        shown: dict[str, int] = {}
        for at, image in enumerate(images):
            for url in (image.url, image.target):
                if url == image.url or url in large:
                    shown.setdefault(url, at)
        for url in ("", *seen(shown, AddressKind.IMAGE)):
            shown.pop(url, None)
        sights = self.sights(page, shown)
        return [
            Candidate(
                url=url,
                priority=IMAGE_PRIORITY,
                depth=depth,
                parent=page.url,
                kind=AddressKind.IMAGE,
                sight=sights.get(url),
                via=FoundBy.IMAGE,
            )
            for url in shown
        ]

    def requested(self, urls: Iterable[str]) -> Collection[str]:
        """Those links that are requested as images because of their endings."""
        if self.wanted:
            return with_ending(urls, IMAGE_ENDINGS)
        return ()

    def sights(self, page: Page, shown: Mapping[str, int]) -> dict[str, str]:
        """How a page shows images, by address and position; empty if no images are judged."""
        if not self.judged or not shown:
            return {}
        page_sightings = page.once(self.sightings)
        return dict(zip(shown, map(Sighting.record, [page_sightings[at] for at in shown.values()]), strict=True))

    def item(self, response: Response, candidate: Candidate) -> ImageItem | Outcome:
        """An image as an item, or the reason why it is not stored."""
        kind = type_of(response.body)
        body = response.body
        if kind is None or response.status in NO_WHOLE_PAGE:
            return Outcome(Code.NOT_AN_IMAGE, content_of(body) or str(response.status))
        if len(body) < SMALLEST:
            return Outcome(Code.IMAGE_TOO_SMALL)
        item = ImageItem(response.url, candidate.parent or "", kind.media_type)
        item.body = body
        item.ending = kind.ending
        return item


def image_targets(page: Page) -> dict[str, int]:
    """The targets of a page's images, each with the position of the first image that links there."""
    position_of_target: dict[str, int] = {}
    for at, image in enumerate(page.images[:MOST_IMAGES]):
        if image.target:
            position_of_target.setdefault(image.target, at)
    return position_of_target


class EvidenceCache:
    """The evidence of the sites whose images are being judged."""

    def __init__(self) -> None:
        self._sites: dict[int, Evidence] = {}

    def of(self, site_id: int | None) -> Evidence:
        """The evidence of a site; empty if none is known."""
        return self._sites.get(site_id or 0) or Evidence()

    def update(self, news: Iterable[Counts], forgotten: Iterable[int]) -> None:
        """Add new counts, and forget sites that were not used lately."""
        for site_counts in news:
            evidence = Evidence() if site_counts.whole else self._sites.get(site_counts.site_id, Evidence())
            for record in site_counts.counts:
                evidence.add(Evidence.of(record))
            self._sites[site_counts.site_id] = evidence
        for site_id in forgotten:
            self._sites.pop(site_id, None)


@dataclass(frozen=True)
class SelectedLinks:
    """The links of a page, sorted by what happens to them."""

    new: tuple[Candidate, ...] = ()
    """New links, still without priorities."""
    words: tuple[LinkContext, ...] = ()
    """The words of each new link."""
    image_links: tuple[Candidate, ...] = ()
    """New links that are only an image; their priority is fixed."""
    again: tuple[LinkContext, ...] = ()
    """Links to known addresses."""


@dataclass(frozen=True)
class LinkSelector:
    """Selects the links of a page to follow."""

    scope: Scope
    images: PageImages
    counts: OutcomeCounts
    frontier: Frontier
    languages: Collection[str] = ()
    """Languages in which pages are wanted that are there in another one."""

    def of(self, page: Page, depth: int) -> SelectedLinks:
        """The links of a page, each address once; `depth` is their distance from the seeds."""
        for url in page.routes:
            self.counts.leave_out(url, Outcome(Code.ROUTE))
        links = (*page.links, *self._named_in_head(page))
        new: dict[str, list[Link]] = {}
        again: dict[str, list[Link]] = {}
        behind_images: list[str] = []
        known_urls = self.frontier.seen({link.url for link in links})
        for link in links:
            if link.url in known_urls and not is_image(link):
                again.setdefault(link.url, []).append(link)
        left_out = self.counts.among_left_out([link.url for link in links if link.url not in known_urls])
        unknown = [link for link in links if link.url not in known_urls and link.url not in left_out]
        alone = {link.url for link in unknown if is_image(link)}
        requested = {*self.frontier.seen(alone, AddressKind.IMAGE_LINK), *self.images.requested(alone)}
        unknown = [link for link in unknown if not (is_image(link) and link.url in requested)]
        refused = self.scope.refusals(list(dict.fromkeys(link.url for link in unknown if not link.nofollow)))
        for link in unknown:
            if link.nofollow:
                self.counts.mark_nofollow(link.url)
            elif link.url in refused:
                self.counts.leave_out(link.url, refused[link.url])
            elif page.document is None and is_source_of(link.url, page.url):
                self.counts.leave_out(link.url, Outcome(Code.SOURCE_OF_PAGE))
            elif is_image(link):
                behind_images.append(link.url)
            else:
                new.setdefault(link.url, []).append(link)
        shown = image_targets(page) if behind_images else {}
        sights = self.images.sights(page, {url: shown[url] for url in behind_images if url in shown})
        image_links = tuple(
            Candidate(url, BEHIND_IMAGE, depth, page.url, sight=sights.get(url), via=FoundBy.IMAGE)
            for url in behind_images
        )
        words = link_contexts(page, new)
        shown_again = link_contexts(page, again, near=False)
        candidates = tuple(
            Candidate(url, 0, depth, page.url, labels=labels_of(first.text, first.its_class))
            for url, (first, *_) in new.items()
        )
        return SelectedLinks(candidates, words, image_links, shown_again)

    def _named_in_head(self, page: Page) -> Iterator[Link]:
        """Links to the next part of the page, and to the page in wanted languages, that its title describes."""
        url_of_language = {code: url for tag, url in reversed(page.alternates.items()) if (code := normalise(tag))}
        own = normalise(page.language)
        urls = [url_of_language[code] for code in sorted(self.languages) if code in url_of_language and code != own]
        for url in (*urls, *filter(None, [page.next_part])):
            at = len(page.blocks)
            yield Link(url=url, text=page.title, title="", nofollow=False, has_image=False, at=at)
