"""The main text of a page as Markdown, without the images that are noise."""

from crawler.extraction.auto.neighbour_links import neighbour_images
from crawler.extraction.output.markdown import markdown
from crawler.noise.verdict import noise_of
from crawler.page.page import Extraction, Page


def page_markdown(page: Page, extraction: Extraction, link_addresses: bool = False, judges_images: bool = True) -> str:
    """The Markdown of a page; if images are not to be judged, with all but those that lead to neighbouring pages."""
    noise = noise_of(page, extraction) if judges_images else frozenset()
    return markdown(page, extraction, link_addresses, noise | neighbour_images(page))
