"""The features of an image on its page, as numbers: its surroundings, size, words and addresses.

Each group of features has a tuple of names, such as OF_PLACE, and a function that returns their values in the same
order. Counts and lengths are logarithms, log(1 + n). The main text is that of the extraction.
"""

import re
from bisect import bisect_left
from functools import partial
from itertools import islice
from math import log1p

from lxml import etree

from crawler.noise.advert_marks import ADVERT_SIZES
from crawler.noise.image_evidence import MOST_TEXT, Sighting
from crawler.noise.page_features import FAMILIES, LEAST_NAME, MOST_LETTERS, OF_PAGE, PageContext, families, file_name
from crawler.page.links import ImageLink
from crawler.page.page import MAX_NEAR_TEXT, Extraction, Page
from crawler.page.text import words
from crawler.urls.address import address_of

LEVELS = 4  # containers around an image whose content is read
MOST_DEPTH = 100  # elements, and containers, around an image that are counted: pages for readers have fewer
# The names of the elements around an image are counted in three parts: the innermost 2, the next 3, the next 4.
OWN = 2
NEAR = 5
ALL = 9
NO_SIZE = -1.0  # stands for a size that is not known
FAR = 50  # above this number, differences in the number of blocks are ignored
MOST_DIGITS = 4  # digits of the width of a table cell in pixels; a longer number is ignored
ICON = 40  # pixels up to which an image is an icon
PIXEL = 2  # pixels up to which an image is invisible
FRAMES = "nav header footer aside article main figure a li td form button noscript picture section table".split()
IMAGES = frozenset("jpg png gif webp avif bmp svg".split())
ENDINGS = "jpg png gif webp svg".split()
MOST_DESCRIPTION = 400  # characters of alt and title that are read
LONG_NAME = 8  # characters from which a file name identifies an image, wherever in an address it is
_SIZE_IN_NAME = re.compile(r"(?<![\da-z])(\d{2,4})x(\d{2,4})(?!\d)", re.IGNORECASE)
_SIZE_IN_QUERY = re.compile(r"[?&/;,_](?:w|width|imwidth|resize|size)[=:_-]?(\d{2,4})(?!\d)", re.IGNORECASE)
_DATE = re.compile(r"(?:19|20)\d\d[-/_]?(?:0[1-9]|1[0-2])")


def features_of(context: PageContext, index: int) -> tuple[float, ...]:
    """The features of one of the images of a page, given by its index; FEATURES has their names."""
    image = context.page.images[index]
    features = [
        *_of_place(context, image, index),
        *_of_containers(context, image),
        *_of_elements(context, image, index),
        *_of_size(image),
        *_of_words(context, image),
        *_of_addresses(context, image),
        *_of_names(image),
        *context.features,
    ]
    return tuple(map(float, features))


OF_PLACE = (
    "image number,place among images,place among blocks,main text before,after main text,before main text,"
    "main blocks before,main blocks after,blocks to main text back,blocks to main text ahead,next block main,"
    "last block main,next block length,last block length,next block linked,copies"
).split(",")


def _of_place(context: PageContext, image: ImageLink, index: int) -> list[float]:
    """The position of the image among the images, the blocks and the blocks of the main text."""
    main_indexes = context.main_indexes
    blocks = context.page.blocks
    at = image.at  # the index of its block, or of the next block
    main_before = bisect_left(main_indexes, at)  # the number of blocks of main text before the image
    back = FAR
    if main_before:
        back = at - main_indexes[main_before - 1]
    ahead = FAR
    if main_before < len(main_indexes):
        ahead = main_indexes[main_before] - at

    next_length = 0
    next_linked = 0.0
    if at < len(blocks):
        next_length = len(blocks[at].text)
        next_linked = blocks[at].linked / max(1, next_length)
    last_length = 0
    if at:
        last_length = len(blocks[at - 1].text)
    return [
        log1p(index),
        index / len(context.page.images),
        at / max(1, len(blocks)),
        context.main_length_before[min(at, len(blocks))] / max(1, context.main_length_before[-1]),
        main_before == len(main_indexes),
        main_before == 0,
        log1p(main_before),
        log1p(len(main_indexes) - main_before),
        log1p(min(back, FAR)),
        log1p(min(ahead, FAR)),
        ahead == 0,
        back == 1,
        log1p(next_length),
        log1p(last_length),
        next_linked,
        log1p(context.copies[image.url]),
    ]


_OF_CONTAINER = "letters,share linked,share of main text,blocks,images,share main".split(",")
OF_CONTAINERS = (
    *(f"{name} ^{level}" for level in range(LEVELS) for name in _OF_CONTAINER),
    *("in main container", "levels to main", "depth"),
)


def _of_containers(context: PageContext, image: ImageLink) -> list[float]:
    """The content of LEVELS containers around the image, from the inside. Then, of all containers around the image:
    whether the main container is one of them, how many are inside it, and how many there are.
    """
    containers = context.page.containers
    index_of_container = context.index_of_container
    element: etree._Element | None = image.element
    while element is not None and element not in index_of_container:
        element = element.getparent()
    at = 0
    if element is not None:
        at = index_of_container[element]

    # A container without blocks of its own, beside those of the container in it, is not a level.
    depth = 0
    levels_to_main = 0
    is_in_main = False
    features: list[float] = []
    block_count = -1
    while at >= 0 and depth < MOST_DEPTH:
        start = containers.starts[at]
        end = containers.ends[at]
        if end - start > block_count and len(features) < LEVELS * len(_OF_CONTAINER):
            block_count = end - start
            length = context.length_before[end] - context.length_before[start]
            main_length = context.main_length_before[end] - context.main_length_before[start]
            features += (
                log1p(length),
                (context.linked_length_before[end] - context.linked_length_before[start]) / max(1, length),
                main_length / max(1, context.main_length_before[-1]),
                log1p(block_count),
                log1p(context.images_before[end] - context.images_before[start]),
                main_length / max(1, length),
            )
        is_in_main = is_in_main or at == context.main_container
        levels_to_main += not is_in_main
        depth += 1
        at = containers.parents[at]

    # Near the root of the page there are fewer levels: the missing ones get the features of the last level.
    features += features[-len(_OF_CONTAINER) :] * (LEVELS - len(features) // len(_OF_CONTAINER))
    return [*features, is_in_main, log1p(levels_to_main), log1p(depth)]


OF_ELEMENTS = (*(f"in {tag}" for tag in FRAMES), "images like it", "is lazy")


def _of_elements(context: PageContext, image: ImageLink, index: int) -> list[float]:
    """The elements around the image, how many images are of its kind, and whether it is loaded lazily: by the attribute
    `loading`, or by a script that reads a `data-` attribute.
    """
    tags = {str(ancestor.tag) for ancestor in islice(image.element.iterancestors(), MOST_DEPTH)}
    lazy = image.element.get("loading") == "lazy" or any(str(name).startswith("data-") for name in image.element.attrib)
    return [*(tag in tags for tag in FRAMES), log1p(context.images_of_kind[context.kinds[index]]), lazy]


OF_SIZE = "width,height,area,aspect,size known,icon,advert's size,size in address,pixel".split(",")


def _of_size(image: ImageLink) -> list[float]:
    """The size of the image, as the page or its address gives it."""
    width = image.width or 0
    height = image.height or 0
    side = width or height or _width_of_cell(image.element)  # as the page gives it
    size_in_name = _SIZE_IN_NAME.search(image.url)
    if size_in_name and not (width and height):
        width = width or int(size_in_name[1])
        height = height or int(size_in_name[2])

    area = 0
    aspect = NO_SIZE
    if width and height:
        area = width * height
        aspect = width / height
    width_in_address = 0
    size_in_address = size_in_name or _SIZE_IN_QUERY.search(image.url)
    if size_in_address:
        width_in_address = int(size_in_address[1])
    return [
        _log_size(width),
        _log_size(height),
        _log_size(area),
        aspect,
        area > 0,
        0 < side <= ICON or 0 < width <= ICON or 0 < height <= ICON,
        (width, height) in ADVERT_SIZES,
        _log_size(width_in_address),
        0 < width <= PIXEL or 0 < height <= PIXEL,
    ]


def _log_size(size: int) -> float:
    if size:
        return log1p(size)
    return NO_SIZE


def _width_of_cell(element: etree._Element) -> int:
    """The width in pixels of the table cell around the image; 0 if the page gives none. Icons have narrow cells."""
    cell = next(element.iterancestors("td", "th"), None)
    if cell is None:
        return 0
    width = cell.get("width", "")
    if len(width) <= MOST_DIGITS and width.isascii() and width.isdigit():
        return int(width)
    return 0


OF_WORDS = "alt,has alt,title,anchor text,alt in title,alt words,near text,caption".split(",")


def _of_words(context: PageContext, image: ImageLink) -> list[float]:
    """The texts that describe the image or are near it."""
    description = frozenset(words(f"{image.alt} {image.title}"[:MOST_DESCRIPTION]))
    common = len(description & context.title_words)
    next_length = 0
    if image.at < len(context.page.blocks):
        next_length = len(context.page.blocks[image.at].text)
    return [
        log1p(len(image.alt)),
        "alt" in image.element.attrib,
        log1p(len(image.title)),
        log1p(len(image.anchor_text)),
        common / max(1, len(description)),
        log1p(common),
        log1p(min(next_length, MAX_NEAR_TEXT)),
        _has_caption(context, image),
    ]


_CAPTION = re.compile(
    r"\W?(?:fig(?:ure|ura|\.)|abb(?:ildung|\.)|рис(?:унок|\.)|[图圖図])(?:\s*[\d一二三四五六七八九十]|\s+[A-Z]\b)",
    re.IGNORECASE,
)


def _has_caption(context: PageContext, image: ImageLink) -> bool:
    """Whether the block after the image or before it is a caption: by its element, its class or its first words."""
    return any(
        block.tag in ("figcaption", "caption")
        or "caption" in block.element.get("class", "").lower()
        or _CAPTION.match(block.text) is not None
        for block in context.page.blocks[max(0, image.at - 1) : image.at + 1]
    )


# "told elsewhere" is the length of the longest text of a link to the same target.
OF_TARGET = (
    "linked,to image,to this site,to another site,to itself,to the front,target depth,told elsewhere,target query"
).split(",")
OF_ADDRESS = (
    *"own host,own site,path depth,query,digits,name length,head image,in scripts,date in address".split(","),
    *(f"is {name}" for name in ENDINGS),
)


def _of_addresses(context: PageContext, image: ImageLink) -> list[float]:
    """The target of the image, its address, and whether the head of the page names it."""
    address = address_of(image.url)
    path = address.path
    name = file_name(image.url)
    ending = _ending(path)
    is_own_site = context.sites[image.url] == context.site
    return [
        *_of_target(context, image.target),
        address.host == address_of(context.page.url).host,
        is_own_site,
        path.count("/"),
        bool(address.query),
        log1p(sum(map(str.isdigit, name))),
        log1p(len(name)),
        any(name == head or (len(head) >= LONG_NAME and head in image.url.lower()) for head in context.head_images),
        len(name) > LEAST_NAME and name in context.scripts,
        _DATE.search(path) is not None,
        *(ending == known_ending for known_ending in ENDINGS),
    ]


def _of_target(context: PageContext, target: str) -> list[float]:
    if not target:
        return [0.0] * len(OF_TARGET)
    address = address_of(target)
    path = address.path
    is_own_site = context.sites[target] == context.site
    return [
        True,
        _ending(path) in IMAGES,
        is_own_site,
        not is_own_site,
        target == context.page.url,
        len(path) < 2,
        path.count("/"),
        log1p(context.link_text_lengths.get(target, 0)),
        bool(address.query),
    ]


def _ending(path: str) -> str:
    """The ending of a file name; for JPEG always jpg."""
    return path.rpartition(".")[2].lower().replace("jpeg", "jpg")


_WHERE = ("own", "near", "far", "file", "target")  # elements around it in three parts, its file and its target
OF_NAMES = tuple(f"{where} {family}" for where in _WHERE for family in FAMILIES)


def _of_names(image: ImageLink) -> list[int]:
    """Families of words in the names of the elements around the image, of its file and of its target."""
    # The names of elements from the inside, in three parts.
    element_names: list[str] = []
    element: etree._Element | None = image.element
    while element is not None and len(element_names) < ALL:
        get = element.get
        element_names.append(f"{get('class') or ''} {get('id') or ''}"[:MOST_LETTERS])
        element = element.getparent()
    parts = (" ".join(element_names[:OWN]), " ".join(element_names[OWN:NEAR]), " ".join(element_names[NEAR:]))

    file = address_of(image.url).path
    target = address_of(image.target).path
    return [count for name in (*parts, file[-MOST_LETTERS:], target[:MOST_LETTERS]) for count in families(name)]


FEATURES = (
    *(*OF_PLACE, *OF_CONTAINERS, *OF_ELEMENTS, *OF_SIZE, *OF_WORDS),
    *(*OF_TARGET, *OF_ADDRESS, *OF_NAMES, *OF_PAGE),
)
"""The names of the features."""


def sightings(page: Page, extraction: Extraction) -> tuple[Sighting, ...]:
    """The images of a page, in page order, with features that depend on its main text."""
    context = PageContext(page, extraction)
    return tuple(
        Sighting(
            url=image.url,
            target=image.target,
            page=page.url,
            alt=image.alt[:MOST_TEXT],
            title=image.title[:MOST_TEXT],
            anchor_text=image.anchor_text[:MOST_TEXT],
            size=(image.width, image.height),
            compute_features=partial(features_of, context, index),
        )
        for index, image in enumerate(page.images)
    )
