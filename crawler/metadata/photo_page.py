"""Recognises pages that show images with only a few words: the page of a photo, or a gallery.

Content management systems create a page for each uploaded image, with its name, its size, the date and navigation. Such
a page is recognised by its class in WordPress, or by its address, title or headings, which repeat the name or the
description of the image:

    /photos/hive-at-dawn.jpg        <h1>hive-at-dawn</h1> <a href="/files/hive-at-dawn.jpg"><img …></a>
    /detail?media=hive-at-dawn.jpg  <h1>Hive at dawn</h1> <img src="/fetch?w=500&media=hive-at-dawn.jpg">
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from urllib.parse import parse_qsl, unquote

from crawler.page.links import ImageLink
from crawler.page.page import Extraction, Page
from crawler.page.text import letters, width
from crawler.urls.address import address_of

MOST_BESIDE_A_PHOTO = 400
"""The most columns of text on the page of an image: its size, date and camera take some 200; 李 takes two."""
MOST_WITH_WEAK_EVIDENCE = 120
"""The most columns of a sentence or two where evidence is weaker: a gallery, or a page that `_names_the_page` finds."""
FEWEST_IN_A_GALLERY = 6
"""The fewest images that make a gallery, each with a link to a larger image."""
ATTACHMENT = "attachment"
"""The class of the body in pages that WordPress creates for uploaded files."""
IMAGE_ENDINGS = frozenset("jpg jpeg png gif webp avif bmp tif tiff svg heic".split())
BEFORE_A_NAME = re.compile("[/:=?&]")
"""The characters before the name of a file in an address."""
SIZE = re.compile(r"[-_.](?:\d+x\d+|scaled|thumb(?:nail)?|small|medium|large)$", re.IGNORECASE)
"""The end of the name of a smaller version of an image."""


def is_photo_page(page: Page, extraction: Extraction) -> bool:
    """Whether a page shows an image or a gallery and has next to no text."""
    columns = width(extraction.text)
    if page.document is not None or columns > MOST_BESIDE_A_PHOTO or not page.images:
        return False
    if _is_attachment(page) or _is_named_after_a_file(page):
        return True
    if columns > MOST_WITH_WEAK_EVIDENCE:
        return False
    linked_to_larger = [image for image in page.images if _file_names(image.target)]
    if len({image.target for image in linked_to_larger}) >= FEWEST_IN_A_GALLERY:
        return True
    headings = {letters(heading) for heading in _headings(page)}
    return any(_names_the_page(image, page, headings) for image in linked_to_larger)


def _is_attachment(page: Page) -> bool:
    """Whether WordPress made the page for an uploaded file."""
    body = page.root.find("body")
    return body is not None and ATTACHMENT in body.get("class", "").lower().split()


def _is_named_after_a_file(page: Page) -> bool:
    """Whether the page has the name of an image file that it shows, in its address, its title or a heading."""
    names = {*_file_names(page.url), *_file_names(page.title.strip())}
    for heading in _headings(page):
        names.update(_file_names(heading))
    return bool(names) and any(not names.isdisjoint(_file_names(image.url)) for image in page.images)


def _names_the_page(image: ImageLink, page: Page, headings: Container[bytes]) -> bool:
    """Whether the address of a page ends with the name of an image, or one of its headings is the image's description.

    `headings` are reduced to their letters.
    """
    last_segment = unquote(address_of(page.url).path.rstrip("/").rpartition("/")[2])
    if _plain(last_segment.rpartition(".")[0] or last_segment) in _file_names(image.target):
        return True
    description = letters(image.alt)
    return bool(description) and description in headings


def _headings(page: Page) -> Iterator[str]:
    return (block.text for block in page.blocks if block.tag == "h1")


def _file_names(text: str) -> list[str]:
    """The names of the image files in an address or a title, without endings and sizes.

    >>> _file_names("http://a.example/fetch?w=500&media=wiki:Hive-at_dawn.jpg"), _file_names("/hive-300x200.png")
    (['hive at dawn'], ['hive'])
    """
    names = map(_name_of_image, _parts(text))
    return [_plain(name) for name in names if name]


def _name_of_image(path: str) -> str:
    """The name of the image file at the end of a path, without its ending; empty if there is none."""
    before, _, ending = path.rpartition(".")
    if ending.lower() in IMAGE_ENDINGS:
        return BEFORE_A_NAME.split(before)[-1]
    return ""


def _parts(text: str) -> Iterator[str]:
    """The path and the values of the parameters of an address; a title is its own path."""
    path, _, query = text.partition("#")[0].partition("?")
    yield unquote(path)
    if query:
        yield from (value for _, value in parse_qsl(query))


def _plain(name: str) -> str:
    """The words of a file's name, without the size of the image."""
    return re.sub(r"[\W_]+", " ", SIZE.sub("", name)).strip().casefold()
