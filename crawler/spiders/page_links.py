"""The links of a page: which are followed, and the words by which each gets its priority."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.frontier.page_result import Candidate
from crawler.spiders.page_images import image_targets
from crawler.topic.link_table import LinkContext

if TYPE_CHECKING:
    from crawler.frontier.frontier import Frontier
    from crawler.frontier.scope import Scope
    from crawler.page.links import Link
    from crawler.page.page import Page
    from crawler.spiders.crawl_status import OutcomeCounts
    from crawler.spiders.page_images import PageImages

# Links that are only an image are mostly adverts: they wait until nothing better is left.
IMAGE_LINK_PRIORITY = -1_000
MOST_WORDS = 300
"""Characters of a link's own words."""


@dataclass(frozen=True)
class SelectedLinks:
    """The links of a page, sorted by what is to be done with them."""

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

    def of(self, page: Page, depth: int) -> SelectedLinks:
        """The links of a page, each address once; `depth` is their distance from the seeds."""
        new: dict[str, list[Link]] = {}
        again: dict[str, list[Link]] = {}
        behind_images: list[str] = []
        known = self.frontier.seen({link.url for link in page.links})
        for link in page.links:
            if link.url in known and not _is_image(link):
                again.setdefault(link.url, []).append(link)
        left_out = self.counts.among_left_out([link.url for link in page.links if link.url not in known])
        unknown = [link for link in page.links if link.url not in known and link.url not in left_out]
        alone = {link.url for link in unknown if _is_image(link)}
        requested = {*self.frontier.seen(alone, "picture"), *self.images.requested(alone)}
        unknown = [link for link in unknown if not (_is_image(link) and link.url in requested)]
        refused = self.scope.refusals(list(dict.fromkeys(link.url for link in unknown if not link.nofollow)))
        for link in unknown:
            if link.nofollow:
                self.counts.mark_nofollow(link.url)
            elif link.url in refused:
                self.counts.leave_out(link.url, refused[link.url])
            elif _is_image(link):
                behind_images.append(link.url)
            else:
                new.setdefault(link.url, []).append(link)
        shown = image_targets(page) if behind_images else {}
        sights = self.images.sights(page, {url: shown[url] for url in behind_images if url in shown})
        image_links = tuple(
            Candidate(url, IMAGE_LINK_PRIORITY, depth, page.url, sight=sights.get(url), via="picture")
            for url in behind_images
        )
        called = _called(page, {*new, *again})
        words = tuple(LinkContext(url, _anchor(links, called), page.near_text(links[0])) for url, links in new.items())
        shown_again = tuple(LinkContext(url, _anchor(links, called)) for url, links in again.items())
        return SelectedLinks(tuple(Candidate(url, 0, depth, page.url) for url in new), words, image_links, shown_again)


def _is_image(link: Link) -> bool:
    """Whether a link is nothing but an image."""
    return link.has_image and not link.text


def _called(page: Page, urls: Collection[str]) -> dict[str, str]:
    """The alternative texts of the images that link to these addresses."""
    return {image.target: image.alt for image in page.images if image.target in urls and image.alt}


def _anchor(links: list[Link], called: dict[str, str]) -> str:
    """The words of all links to an address."""
    words = dict.fromkeys(word for link in links for word in (link.text, link.title) if word)
    url = links[0].url
    return " ".join([*words, *([called[url]] if url in called else [])])[:MOST_WORDS]
