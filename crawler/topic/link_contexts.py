"""The words that represent the links of a page, from which links get their scores."""

from collections.abc import Iterable, Mapping, Sequence

from crawler.page.links import Link
from crawler.page.page import Page
from crawler.topic.link_table import LinkContext

MOST_WORDS = 300
"""Characters of a link's own words."""


def is_image(link: Link) -> bool:
    """Whether a link is nothing but an image."""
    return link.has_image and not link.text


def by_address(links: Iterable[Link]) -> dict[str, list[Link]]:
    """The links of a page, by where they lead."""
    links_by_address: dict[str, list[Link]] = {}
    for link in links:
        links_by_address.setdefault(link.url, []).append(link)
    return links_by_address


def link_contexts(page: Page, links: Mapping[str, Sequence[Link]], near: bool = True) -> tuple[LinkContext, ...]:
    """Each address with the words of all links to it on a page, and with the text around the first one."""
    called = {image.target: image.alt for image in page.images if image.target in links and image.alt}
    return tuple(
        LinkContext(url=url, anchor=_anchor(to_it, called.get(url)), near=page.near_text(to_it[0]) if near else "")
        for url, to_it in links.items()
    )


def _anchor(links: Sequence[Link], called: str | None) -> str:
    """The words of links to one address, and the alternative texts of images in them."""
    words = dict.fromkeys(word for link in links for word in (link.text, link.title) if word)
    return " ".join([*words, *([called] if called else [])])[:MOST_WORDS]
