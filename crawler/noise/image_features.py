"""The features of an image on its page, as numbers: its surroundings, size, words and addresses."""

import re
from bisect import bisect_left
from functools import partial
from itertools import islice
from math import log1p

from lxml import etree

from crawler.noise.certain_marks import ADVERT_SIZES
from crawler.noise.image_evidence import MOST_TEXT, Sighting
from crawler.noise.page_features import ABOUT, FAMILIES, MOST_LETTERS, SHORT, PageContext, families, file_name
from crawler.page.links import ImageLink
from crawler.page.page import MAX_NEAR_TEXT, Extraction, Page
from crawler.page.text import words
from crawler.urls.address import address_of

LEVELS = 4  # containers around an image that are considered
MOST_DEPTH = 100  # elements around an image beyond which none is considered: pages for readers have fewer
# Numbers of elements around the image whose names are considered: near and far.
OWN = 2
NEAR = 5
ALL = 9
NO_SIZE = -1.0
FAR = 50  # above this number, differences in the number of blocks are ignored
MOST_DIGITS = 4  # of a width in pixels
ICON = 40  # pixels up to which an image is an icon
PIXEL = 2  # pixels up to which an image is invisible
FRAMES = "nav header footer aside article main figure a li td form button noscript picture section table".split()
IMAGES = frozenset("jpg png gif webp avif bmp svg".split())
ENDINGS = "jpg png gif webp svg".split()
MOST_SAID = 400  # characters of alt and title that are read
LONG = 8  # characters from which a file name identifies an image, wherever it is in an address
_SIZE_IN_NAME = re.compile(r"(?<![\da-z])(\d{2,4})x(\d{2,4})(?!\d)", re.IGNORECASE)
_SIZE_ASKED = re.compile(r"[?&/;,_](?:w|width|imwidth|resize|size)[=:_-]?(\d{2,4})(?!\d)", re.IGNORECASE)
_DATE = re.compile(r"(?:19|20)\d\d[-/_]?(?:0[1-9]|1[0-2])")


def features_of(around: PageContext, index: int) -> tuple[float, ...]:
    """The features of one of the images of a page, given by its index; FEATURES has their names."""
    image = around.page.images[index]
    features = [
        *_of_place(around, image, index),
        *_of_containers(around, image),
        *_of_elements(around, image, index),
        *_of_size(image),
        *_of_words(around, image),
        *_of_addresses(around, image),
        *_of_names(image),
        *around.about,
    ]
    return tuple(map(float, features))


OF_PLACE = (
    "image number,place among images,place among blocks,main text before,after main text,before main text,"
    "main blocks before,main blocks after,blocks to main text back,blocks to main text ahead,next block main,"
    "last block main,next block length,last block length,next block linked,copies"
).split(",")


def _of_place(around: PageContext, image: ImageLink, index: int) -> list[float]:
    kept = around.kept
    blocks = around.page.blocks
    at = image.at
    where = bisect_left(kept, at)
    back = at - kept[where - 1] if where else FAR
    ahead = kept[where] - at if where < len(kept) else FAR
    following = blocks[at] if at < len(blocks) else None
    last = blocks[at - 1] if at else None
    return [
        log1p(index),
        index / len(around.page.images),
        at / max(1, len(blocks)),
        around.main_letters[min(at, len(blocks))] / max(1, around.main_letters[-1]),
        where == len(kept),
        where == 0,
        log1p(where),
        log1p(len(kept) - where),
        log1p(min(back, FAR)),
        log1p(min(ahead, FAR)),
        ahead == 0,
        back == 1,
        log1p(len(following.text)) if following else 0.0,
        log1p(len(last.text)) if last else 0.0,
        following.linked / max(1, len(following.text)) if following else 0.0,
        log1p(around.copies[image.url]),
    ]


_HELD = "letters,share linked,share of main text,blocks,images,share main".split(",")
OF_CONTAINERS = (
    *(f"{name} ^{level}" for level in range(LEVELS) for name in _HELD),
    *("in main container", "levels to main", "depth"),
)


def _of_containers(around: PageContext, image: ImageLink) -> list[float]:
    """The content of the containers around the image, from small to large."""
    containers = around.page.containers
    index_of_container = around.containers
    element: etree._Element | None = image.element
    while element is not None and element not in index_of_container:
        element = element.getparent()
    at = index_of_container[element] if element is not None else 0
    main = around.main
    depth = 0
    to_main = 0
    inside = False
    held: list[float] = []
    size = -1
    while at >= 0 and depth < MOST_DEPTH:
        start = containers.starts[at]
        end = containers.ends[at]
        if end - start > size and len(held) < LEVELS * len(_HELD):
            size = end - start
            letters = around.letters[end] - around.letters[start]
            main_letters = around.main_letters[end] - around.main_letters[start]
            held += (
                log1p(letters),
                (around.linked[end] - around.linked[start]) / max(1, letters),
                main_letters / max(1, around.main_letters[-1]),
                log1p(size),
                log1p(around.shown[end] - around.shown[start]),
                main_letters / max(1, letters),
            )
        inside = inside or at == main
        to_main += not inside
        depth += 1
        at = containers.parents[at]
    held += held[-len(_HELD) :] * (LEVELS - len(held) // len(_HELD))
    return [*held, inside, log1p(to_main), log1p(depth)]


OF_ELEMENTS = (*(f"in {tag}" for tag in FRAMES), "images like it", "is lazy")


def _of_elements(around: PageContext, image: ImageLink, index: int) -> list[float]:
    tags = {str(ancestor.tag) for ancestor in islice(image.element.iterancestors(), MOST_DEPTH)}
    lazy = image.element.get("loading") == "lazy" or any(str(name).startswith("data-") for name in image.element.attrib)
    return [*(tag in tags for tag in FRAMES), log1p(around.alike[around.kinds[index]]), lazy]


OF_SIZE = "width,height,area,aspect,size known,icon,advert's size,size in address,pixel".split(",")


def _of_size(image: ImageLink) -> list[float]:
    width = image.width or 0
    height = image.height or 0
    room = width or height or _width_of_cell(image.element)
    named = _SIZE_IN_NAME.search(image.url)
    size_in_query = _SIZE_ASKED.search(image.url)
    width_in_address = named or size_in_query
    in_address = int(width_in_address[1]) if width_in_address else 0
    if named and not (width and height):
        width = width or int(named[1])
        height = height or int(named[2])
    has_size = bool(width and height)
    return [
        log1p(width) if width else NO_SIZE,
        log1p(height) if height else NO_SIZE,
        log1p(width * height) if has_size else NO_SIZE,
        width / height if has_size else NO_SIZE,
        has_size,
        0 < room <= ICON or 0 < width <= ICON or 0 < height <= ICON,
        (width, height) in ADVERT_SIZES,
        log1p(in_address) if in_address else NO_SIZE,
        0 < width <= PIXEL or 0 < height <= PIXEL,
    ]


def _width_of_cell(element: etree._Element) -> int:
    """The width of the table's cell that holds the image, if the page gives it in pixels: signs have narrow cells."""
    cell = next(element.iterancestors("td", "th"), None)
    width = "" if cell is None else cell.get("width", "")
    if len(width) <= MOST_DIGITS and width.isascii() and width.isdigit():
        return int(width)
    return 0


OF_WORDS = "alt,has alt,title,anchor text,alt in title,alt words,near text,caption".split(",")


def _of_words(around: PageContext, image: ImageLink) -> list[float]:
    description = frozenset(words(f"{image.alt} {image.title}"[:MOST_SAID]))
    common = len(description & around.title_words)
    following = around.page.blocks[image.at] if image.at < len(around.page.blocks) else None
    return [
        log1p(len(image.alt)),
        "alt" in image.element.attrib,
        log1p(len(image.title)),
        log1p(len(image.anchor_text)),
        common / max(1, len(description)),
        log1p(common),
        log1p(min(len(following.text), MAX_NEAR_TEXT)) if following is not None else 0.0,
        _has_caption(around, image),
    ]


_CAPTION = re.compile(
    r"\W?(?:fig(?:ure|ura|\.)|abb(?:ildung|\.)|рис(?:унок|\.)|[图圖図])(?:\s*[\d一二三四五六七八九十]|\s+[A-Z]\b)",
    re.IGNORECASE,
)


def _has_caption(around: PageContext, image: ImageLink) -> bool:
    """Whether the block after the image or before it is a caption: by its element, its class or its first words."""
    return any(
        block.tag in ("figcaption", "caption")
        or "caption" in block.element.get("class", "").lower()
        or _CAPTION.match(block.text) is not None
        for block in around.page.blocks[max(0, image.at - 1) : image.at + 1]
    )


OF_TARGET = (
    "linked,to image,to this site,to another site,to itself,to the front,target depth,told elsewhere,target query"
).split(",")
OF_ADDRESS = (
    *"own host,own site,path depth,query,digits,name length,head image,in scripts,date in address".split(","),
    *(f"is {name}" for name in ENDINGS),
)


def _of_addresses(around: PageContext, image: ImageLink) -> list[float]:
    address = address_of(image.url)
    path = address.path
    name = file_name(image.url)
    ending = _ending(path)
    is_ours = around.sites[image.url] == around.site
    return [
        *_of_target(around, image.target),
        address.host == address_of(around.page.url).host,
        is_ours,
        path.count("/"),
        bool(address.query),
        log1p(sum(map(str.isdigit, name))),
        log1p(len(name)),
        any(name == head or (len(head) >= LONG and head in image.url.lower()) for head in around.heads),
        len(name) > SHORT and name in around.scripts,
        _DATE.search(path) is not None,
        *(ending == known_ending for known_ending in ENDINGS),
    ]


def _of_target(around: PageContext, target: str) -> list[float]:
    if not target:
        return [0.0] * len(OF_TARGET)
    address = address_of(target)
    path = address.path
    is_ours = around.sites[target] == around.site
    return [
        True,
        _ending(path) in IMAGES,
        is_ours,
        not is_ours,
        target == around.page.url,
        len(path) < 2,
        path.count("/"),
        log1p(around.told.get(target, 0)),
        bool(address.query),
    ]


def _ending(path: str) -> str:
    """The ending of a file name; for JPEG always jpg."""
    return path.rpartition(".")[2].lower().replace("jpeg", "jpg")


_WHERE = ("own", "near", "far", "file", "target")
OF_NAMES = tuple(f"{where} {family}" for where in _WHERE for family in FAMILIES)


def _of_names(image: ImageLink) -> list[int]:
    """The names of the elements around the image, of its file and of its target."""
    named: list[str] = []
    element: etree._Element | None = image.element
    while element is not None and len(named) < ALL:
        get = element.get
        named.append(f"{get('class') or ''} {get('id') or ''}"[:MOST_LETTERS])
        element = element.getparent()
    file, target = (address_of(url).path for url in (image.url, image.target))
    levels = (" ".join(named[:OWN]), " ".join(named[OWN:NEAR]), " ".join(named[NEAR:]))
    return [count for name in (*levels, file[-MOST_LETTERS:], target[:MOST_LETTERS]) for count in families(name)]


FEATURES = (
    *(*OF_PLACE, *OF_CONTAINERS, *OF_ELEMENTS, *OF_SIZE, *OF_WORDS),
    *(*OF_TARGET, *OF_ADDRESS, *OF_NAMES, *ABOUT),
)
"""The names of the features."""


def sightings(page: Page, extraction: Extraction) -> tuple[Sighting, ...]:
    """The images of a page, in page order; the main text decides which of them are in it."""
    around = PageContext(page, extraction)
    return tuple(
        Sighting(
            url=image.url,
            target=image.target,
            page=page.url,
            alt=image.alt[:MOST_TEXT],
            title=image.title[:MOST_TEXT],
            anchor_text=image.anchor_text[:MOST_TEXT],
            size=(image.width, image.height),
            read=partial(features_of, around, index),
        )
        for index, image in enumerate(page.images)
    )
