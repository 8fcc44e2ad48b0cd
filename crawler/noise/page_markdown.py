"""The main text of a page as Markdown, without the images that are noise."""

from crawler.extraction.output.markdown import markdown
from crawler.noise.verdict import noise_of
from crawler.page.page import Extraction, Page


def page_markdown(page: Page, found: Extraction, link_addresses: bool = False, judges_images: bool = True) -> str:
    """The Markdown of a page; with all images in the text if they are not to be judged."""
    return markdown(page, found, link_addresses, noise_of(page, found) if judges_images else frozenset())
