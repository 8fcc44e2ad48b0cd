"""Selects the links and images of a page to request.

`LinkSelector` also returns the words by which links get priorities. `PageImages` also describes how the page shows its
images, as evidence of which are noise, and decides which responses are images.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scrapy.http import Response

from crawler.frontier.batch import SiteEvidence
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
from crawler.page.image_file import non_image_type, type_of
from crawler.page.links import Link
from crawler.page.page import Extraction, Page
from crawler.spiders.crawl_status import OutcomeCounts
from crawler.spiders.request_outcomes import NO_WHOLE_PAGE
from crawler.topic.link_contexts import is_image_link, link_contexts
from crawler.topic.link_table import LinkContext
from crawler.topic.priorities import BEHIND_IMAGE
from crawler.urls.address import address_of
from crawler.urls.parsing import with_ending
from crawler.urls.patterns import labels_of

IMAGE_PRIORITY = -10_000
"""Images come after all links but those unlikely to lead to the topic, see crawler/topic/priorities.py."""
LEAST_BYTES = 40
"""A smaller file is no whole image: even the smallest, of a single pixel, have 43 bytes."""
IMAGE_ENDINGS = frozenset("avif bmp gif ico jpeg jpg png webp".split())
"""Endings of the addresses of images. An image that links to such an address is a thumbnail."""


@dataclass(frozen=True)
class PageImages:
    """Selects the images of a page to request, and describes how the page shows them."""

    extract: Callable[[Page], Extraction]
    """Returns the main text of a page."""
    are_requested: bool
    are_judged: bool
    """Whether images are judged as noise or content."""
    max_bytes: int
    """The most bytes of an image."""
    page_limit: int = MOST_IMAGES
    """The most images of a page by the settings. Only the first `MOST_IMAGES` are judged, so no more are requested."""
    site_limit: int | None = None
    """The most images that are requested for all pages of a site; None for any number."""
    _site_counts: Counter[str] = field(default_factory=Counter)
    """How many images were requested for the pages of each site."""

    def sightings(self, page: Page) -> tuple[Sighting, ...]:
        """How a page shows its first MOST_IMAGES images."""
        return sightings(page, self.extract(page))[:MOST_IMAGES]

    def cut_count(self, page: Page) -> int:
        """How many images of a page are not requested because it has too many."""
        if self.are_requested:
            return max(0, len(page.images) - self.most_of_page)
        return 0

    @property
    def most_of_page(self) -> int:
        """The most images of a page that are requested."""
        return min(self.page_limit, MOST_IMAGES)

    def within_site_limit(self, images: Sequence[Candidate], page: Page) -> Sequence[Candidate]:
        """Return the images of a page that the limit of its site still allows, and count them."""
        site = address_of(page.url).site
        if self.site_limit is not None:
            images = images[: max(0, self.site_limit - self._site_counts[site])]
        self._site_counts[site] += len(images)
        return images

    def evidence_of(self, page: Page) -> Evidence:
        """The counts of one page's images, as evidence."""
        evidence = Evidence()
        evidence.see(page.once(self.sightings))
        return evidence

    def candidates(
        self, page: Page, depth: int, seen: Callable[[Iterable[str], AddressKind], Collection[str]]
    ) -> list[Candidate]:
        """The images of a page and the large images that its thumbnails link to, except those that `seen` returns."""
        images = page.images[: self.most_of_page]
        large = with_ending([image.target for image in images], IMAGE_ENDINGS)
        # A large image is judged by the sighting of its thumbnail.
        position_of_image: dict[str, int] = {}
        for position, image in enumerate(images):
            position_of_image.setdefault(image.url, position)
            if image.target in large:
                position_of_image.setdefault(image.target, position)
        for url in seen(position_of_image, AddressKind.IMAGE):
            del position_of_image[url]
        sighting_records = self.sighting_records(page, position_of_image)
        return [
            Candidate(
                url=url,
                priority=IMAGE_PRIORITY,
                depth=depth,
                parent=page.url,
                kind=AddressKind.IMAGE,
                sight=sighting_records.get(url),
                via=FoundBy.IMAGE,
            )
            for url in position_of_image
        ]

    def requested(self, urls: Iterable[str]) -> Collection[str]:
        """The addresses among these whose endings show that they are images, which are requested as such."""
        if self.are_requested:
            return with_ending(urls, IMAGE_ENDINGS)
        return ()

    def sighting_records(self, page: Page, positions: Mapping[str, int]) -> dict[str, str]:
        """How a page shows images, as JSON by address; empty if no images are judged.

        `positions` maps addresses to positions of images on the page.
        """
        if not self.are_judged or not positions:
            return {}
        page_sightings = page.once(self.sightings)
        return {url: page_sightings[position].record() for url, position in positions.items()}

    def item(self, response: Response, candidate: Candidate) -> ImageItem | Outcome:
        """An image as an item, or the reason why it is not stored."""
        body = response.body
        image_type = type_of(body)
        if image_type is None or response.status in NO_WHOLE_PAGE:
            return Outcome(Code.NOT_AN_IMAGE, non_image_type(body) or str(response.status))
        if len(body) < LEAST_BYTES:
            return Outcome(Code.IMAGE_TOO_SMALL)
        item = ImageItem(response.url, candidate.parent or "", image_type.media_type)
        item.body = body
        item.ending = image_type.ending
        return item


def image_targets(page: Page) -> dict[str, int]:
    """The targets of a page's images, each with the position of the first image that links there."""
    position_of_target: dict[str, int] = {}
    for position, image in enumerate(page.images[:MOST_IMAGES]):
        if image.target:
            position_of_target.setdefault(image.target, position)
    return position_of_target


class EvidenceCache:
    """The evidence of the sites whose images are being judged, as the database sent it."""

    def __init__(self) -> None:
        self._sites: dict[int, Evidence] = {}

    def of(self, site_id: int | None) -> Evidence:
        """The evidence of a site; empty if none is known."""
        return self._sites.get(site_id or 0) or Evidence()

    def update(self, news: Iterable[SiteEvidence], forgotten: Iterable[int]) -> None:
        """Add new counts to those of a site, or replace them if the new ones are `whole`; drop the forgotten sites."""
        for site_evidence in news:
            evidence = Evidence()
            if not site_evidence.whole:
                evidence = self._sites.get(site_evidence.site_id, evidence)
            for record in site_evidence.counts:
                evidence.add(Evidence.of(record))
            self._sites[site_evidence.site_id] = evidence
        for site_id in forgotten:
            self._sites.pop(site_id, None)


@dataclass(frozen=True)
class SelectedLinks:
    """The links of a page: new ones, which are queued, and links to known addresses."""

    new: tuple[Candidate, ...] = ()
    """New links, still without priorities."""
    new_contexts: tuple[LinkContext, ...] = ()
    """The words of each new link, by which it gets its priority."""
    image_links: tuple[Candidate, ...] = ()
    """New links that are only an image; their priority is fixed."""
    known_contexts: tuple[LinkContext, ...] = ()
    """The words of links to known addresses."""


@dataclass(frozen=True)
class LinkSelector:
    """Selects the links of a page to follow."""

    scope: Scope
    images: PageImages
    counts: OutcomeCounts
    frontier: Frontier
    languages: Collection[str] = ()
    """Languages that the crawl prefers: the versions of a page in these languages are followed."""

    def of(self, page: Page, depth: int) -> SelectedLinks:
        """The links of a page, each address once; `depth` is their distance from the seeds."""
        for url in page.routes:  # only the scripts of the page can open them
            self.counts.leave_out(url, Outcome(Code.ROUTE))
        links = (*page.links, *self._links_of_head(page))

        # Links to known addresses.
        known_urls = self.frontier.seen({link.url for link in links})
        known: dict[str, list[Link]] = {}
        for link in links:
            if link.url in known_urls and not is_image_link(link):
                known.setdefault(link.url, []).append(link)

        # The other links, without addresses that are not followed. A link that is only an image is left out if its
        # target is requested as a large image, or was found behind another image.
        left_out = self.counts.among_left_out([link.url for link in links if link.url not in known_urls])
        unknown = [link for link in links if link.url not in known_urls and link.url not in left_out]
        behind_image = {link.url for link in unknown if is_image_link(link)}
        requested = {*self.frontier.seen(behind_image, AddressKind.IMAGE_LINK), *self.images.requested(behind_image)}
        unknown = [link for link in unknown if not (is_image_link(link) and link.url in requested)]

        # The links to follow: neither marked nofollow, nor outside the scope, nor to the source of the page.
        refused = self.scope.refusals(list(dict.fromkeys(link.url for link in unknown if not link.nofollow)))
        new: dict[str, list[Link]] = {}
        new_behind_image: list[str] = []
        for link in unknown:
            if link.nofollow:
                self.counts.mark_nofollow(link.url)
            elif link.url in refused:
                self.counts.leave_out(link.url, refused[link.url])
            elif page.document is None and is_source_of(link.url, page.url):
                self.counts.leave_out(link.url, Outcome(Code.SOURCE_OF_PAGE))
            elif is_image_link(link):
                new_behind_image.append(link.url)
            else:
                new.setdefault(link.url, []).append(link)

        # The candidates. Links that are only an image have a fixed priority; `TopicTracker` sets those of the others.
        positions = image_targets(page) if new_behind_image else {}
        sighting_records = self.images.sighting_records(
            page, {url: positions[url] for url in new_behind_image if url in positions}
        )
        image_links = tuple(
            Candidate(url, BEHIND_IMAGE, depth, page.url, sight=sighting_records.get(url), via=FoundBy.IMAGE)
            for url in new_behind_image
        )
        candidates = tuple(
            Candidate(url, 0, depth, page.url, labels=labels_of(first.text, first.its_class))
            for url, (first, *_) in new.items()
        )
        # Of links to known addresses, only their own words are used, not the text around them (`near`).
        return SelectedLinks(
            new=candidates,
            new_contexts=link_contexts(page, new),
            image_links=image_links,
            known_contexts=link_contexts(page, known, near=False),
        )

    def _links_of_head(self, page: Page) -> Iterator[Link]:
        """Links in the head of the page: to its versions in preferred languages, and to its next part.

        Their text is the title of the page, which describes their targets as well.
        """
        # Several tags may have one code, such as en-GB and en-US. The first of them is set last, so that it remains.
        url_of_language = {normalise(tag): url for tag, url in reversed(page.alternates.items())}
        url_of_language.pop(normalise(page.language), None)
        urls = [url_of_language[code] for code in sorted(self.languages) if code in url_of_language]
        if page.next_part:
            urls.append(page.next_part)
        for url in urls:
            after_all_blocks = len(page.blocks)
            yield Link(url=url, text=page.title, title="", nofollow=False, has_image=False, at=after_all_blocks)
