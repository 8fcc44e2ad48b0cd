"""Small pages for the tests of images, and their features by name."""

from crawler.extraction import EXTRACTORS
from crawler.noise.image_evidence import Sighting
from crawler.noise.image_features import FEATURES, features_of, sightings
from crawler.noise.page_features import PageContext
from crawler.page.page import Extraction, Page

URL = "http://www.example.org/a/story.html"
TEXT = "The river rose in the night, and by the morning the water stood in the houses of the lower town. "


def page(html: str, url: str = URL) -> Page:
    return Page.from_html(html, url)


def surroundings(html: str, url: str = URL, main: str = "river", page_type: str = "") -> PageContext:
    """The surroundings whose main text are the blocks that have a word."""
    found = page(html, url)
    blocks = tuple(block for block in found.blocks if main in block.text)
    text = "\n".join(block.text for block in blocks)
    return PageContext(found, Extraction(text, found.title, blocks=blocks, page_type=page_type))


def features_in(
    html: str, index: int = 0, url: str = URL, main: str = "river", page_type: str = ""
) -> dict[str, float]:
    """The features of an image of a page."""
    return dict(zip(FEATURES, features_of(surroundings(html, url, main, page_type), index), strict=True))


def seen(html: str, url: str = URL) -> tuple[Sighting, ...]:
    """The images of a page, its main text as the usual extractor tells it."""
    found = page(html, url)
    return sightings(found, EXTRACTORS["auto"](found))
