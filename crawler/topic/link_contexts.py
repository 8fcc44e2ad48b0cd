"""The words that represent the links of a page, from which the scores of links are computed."""

from collections.abc import Iterable, Mapping, Sequence

from crawler.page.links import Link
from crawler.page.page import Page
from crawler.topic.link_table import MOST_LINK_TEXT, LinkContext


def is_image_link(link: Link) -> bool:
    """Whether a link consists only of an image."""
    return link.has_image and not link.text


def links_by_address(links: Iterable[Link]) -> dict[str, list[Link]]:
    """The links of a page, by their addresses."""
    links_to_urls: dict[str, list[Link]] = {}
    for link in links:
        links_to_urls.setdefault(link.url, []).append(link)
    return links_to_urls


def link_contexts(page: Page, links: Mapping[str, Sequence[Link]], near: bool = True) -> tuple[LinkContext, ...]:
    """Each address in `links` with the words of all links to it on the page, and with the text around the first of them
    unless `near` is false.
    """
    image_texts = {image.target: image.alt for image in page.images if image.target in links and image.alt}
    return tuple(
        LinkContext(
            url=url,
            anchor=_anchor(links_to_url, image_texts.get(url)),
            near=page.near_text(links_to_url[0]) if near else "",
        )
        for url, links_to_url in links.items()
    )


def _anchor(links: Sequence[Link], image_text: str | None) -> str:
    """The words of links to one address, and the alternative text of an image in them."""
    words = list(dict.fromkeys(word for link in links for word in (link.text, link.title) if word))
    if image_text:
        words.append(image_text)
    return " ".join(words)[:MOST_LINK_TEXT]
