"""The main text of a page as Markdown, without the images that are noise."""

from crawler.extraction.auto.neighbour_links import neighbour_images
from crawler.extraction.output.markdown import markdown
from crawler.noise.verdict import noise_of
from crawler.page.page import Extraction, Page


def page_markdown(page: Page, extraction: Extraction, link_addresses: bool = False, judges_images: bool = True) -> str:
    """The Markdown of a page, without images that lead to neighbouring pages and, if they are judged, without noise."""
    excluded_images = neighbour_images(page)
    if judges_images:
        excluded_images |= noise_of(page, extraction)
    return markdown(page, extraction, link_addresses, excluded_images)
