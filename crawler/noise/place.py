"""What a page tells of a picture's place: numbers and names, read before the picture is asked for."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from math import log1p
from typing import NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from lxml import etree

from crawler.heads import heads
from crawler.page import Extraction, Page
from crawler.text import words
from crawler.urls import NOT_PAGES, site
from crawler.walk import ImageLink

BUCKETS = 1 << 12
"""How many names are told apart."""
LEVELS = 4
"""Containers around a picture that are looked at."""
ANCESTORS = 8
"""Elements around a picture whose names are read."""
MOST_NAME = 120
MOST_WORDS = 60
NO_SIZE = -1.0
FAR = 50
MAIN_SHARE = 0.8
FRAMES = "nav header footer aside article main figure a li td form button noscript picture section table".split()
PICTURES = frozenset("jpg jpeg png gif webp avif bmp svg".split())
ENDINGS = "jpg png gif webp svg".split()
PAGE_TYPES = "article forum product collection listing documentation service".split()
ADVERT_SIZES = frozenset(
    (
        *((468, 60), (728, 90), (234, 60), (120, 600), (160, 600), (300, 250), (336, 280), (250, 250), (970, 250)),
        *((970, 90), (300, 600), (320, 50), (320, 100), (88, 31), (120, 60), (120, 90), (125, 125), (120, 240)),
        *((240, 400), (180, 150), (200, 200), (300, 100), (760, 90), (950, 90), (960, 90), (1000, 90), (980, 120)),
    )
)
_SIZE_IN_NAME = re.compile(r"(?<![\da-z])(\d{2,4})x(\d{2,4})(?!\d)", re.IGNORECASE)
_SIZE_ASKED = re.compile(r"[?&/;,_](?:w|width|imwidth|resize|size)[=:_-]?(\d{2,4})(?!\d)", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|[^\W\d_A-Za-z]+")


class Place(NamedTuple):
    """What a page tells of a picture."""

    signs: tuple[float, ...] = ()
    """Numbers, as SIGNS names them."""
    names: tuple[int, ...] = ()
    """The buckets of the words by which the elements around it, its address and its target are called."""


def around(page: Page, extraction: Extraction) -> "_Around":
    """What reads the place of each picture of a page, by its index among the pictures."""
    return _Around(page, extraction)


class _Around:
    """A page around its pictures; what several pictures need is computed once, when the first is asked for."""

    def __init__(self, page: Page, extraction: Extraction) -> None:
        self.page, self.extraction = page, extraction

    def __call__(self, index: int) -> Place:
        image = self.page.images[index]
        values = _signs(self, image, index)
        return Place(tuple(round(float(value), 3) for value in values), tuple(sorted(set(_names(self, image)))))

    @cached_property
    def site(self) -> str:
        return site(self.page.url) if "://" in self.page.url else ""

    @cached_property
    def kept(self) -> list[int]:
        """The indices of the blocks of the main text."""
        mine = {id(block) for block in self.extraction.blocks}
        return [index for index, block in enumerate(self.page.blocks) if id(block) in mine]

    @cached_property
    def main_letters(self) -> list[int]:
        """For each place between blocks, the letters of the main text before it."""
        mine = {id(block) for block in self.extraction.blocks}
        return [0, *accumulate(len(one.text) if id(one) in mine else 0 for one in self.page.blocks)]

    @cached_property
    def letters(self) -> list[int]:
        return [0, *accumulate(len(one.text) for one in self.page.blocks)]

    @cached_property
    def linked(self) -> list[int]:
        return [0, *accumulate(one.linked for one in self.page.blocks)]

    @cached_property
    def shown(self) -> list[int]:
        """For each place between blocks, the pictures before it."""
        counts = Counter(image.at for image in self.page.images)
        return [0, *accumulate(counts[index] for index in range(len(self.page.blocks) + 1))]

    @cached_property
    def container(self) -> dict[etree._Element, int]:
        return {element: index for index, element in enumerate(self.page.containers.elements)}

    @cached_property
    def main(self) -> int:
        """The innermost container that holds most of the main text."""
        containers, whole = self.page.containers, self.main_letters[-1]
        best = 0
        if whole:
            for index, (start, end) in enumerate(zip(containers.starts, containers.ends, strict=True)):
                if self.main_letters[end] - self.main_letters[start] >= MAIN_SHARE * whole:
                    best = index
        return best

    @cached_property
    def kinds(self) -> Counter[str]:
        return Counter(_kind(image.element) for image in self.page.images)

    @cached_property
    def copies(self) -> Counter[str]:
        return Counter(image.url for image in self.page.images)

    @cached_property
    def told(self) -> Counter[str]:
        """How long the text of the links to each address is, where they have any."""
        found: Counter[str] = Counter()
        for link in self.page.links:
            if link.text:
                found[link.url] = max(found[link.url], len(link.text))
        return found

    @cached_property
    def heads(self) -> list[str]:
        """File names of the pictures that the page gives as its own."""
        meta = self.page.meta
        given = [meta[name] for name in ("og:image", "twitter:image", "og:image:url", "thumbnail") if meta.get(name)]
        return [stem for url in given if len(stem := _stem(url)) > 3]

    @cached_property
    def scripts(self) -> str:
        return "\n".join(heads(self.page).scripts)

    @cached_property
    def title_words(self) -> frozenset[str]:
        return frozenset(words(f"{self.page.title} {self.extraction.title}"[:400]))

    @cached_property
    def about(self) -> tuple[float, ...]:
        """What all pictures of the page have in common."""
        kept, blocks = len(self.kept), len(self.page.blocks)
        return (
            log1p(len(self.page.images)),
            log1p(self.main_letters[-1]),
            self.main_letters[-1] / max(1, self.letters[-1]),
            log1p(kept),
            log1p(blocks),
            *(float(self.extraction.page_type == name) for name in PAGE_TYPES),
            float(bool(self.heads)),
        )


def _stem(url: str) -> str:
    """The name of an address's file, without sizes and ending."""
    name = url.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0].lower()
    return re.sub(r"[-_]\d{2,4}x\d{2,4}$|[-_](?:small|large|medium|thumb\w*|scaled)$", "", name)


def _kind(element: etree._Element) -> str:
    """The same for pictures in the same kind of element."""
    found = []
    one: etree._Element | None = element
    for _ in range(4):
        if one is None:
            break
        found.append(f"{one.tag} {(one.get('class') or '')[:MOST_NAME]}")
        one = one.getparent()
    return ">".join(found)


def _signs(around: _Around, image: ImageLink, index: int) -> list[float]:
    return [
        *_of_place(around, image, index),
        *_of_containers(around, image),
        *_of_elements(around, image),
        *_of_size(image),
        *_of_words(around, image),
        *_of_addresses(around, image),
        *around.about,
    ]


_PLACE = (
    "picture number,place among pictures,place among blocks,main text before,after main text,before main text,"
    "main blocks before,main blocks after,blocks to main text back,blocks to main text ahead,next block main,"
    "last block main,next block length,last block length,next block linked,copies"
).split(",")


def _of_place(around: _Around, image: ImageLink, index: int) -> list[float]:
    kept, blocks, at = around.kept, around.page.blocks, image.at
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


_HELD = "letters,share linked,share of main text,blocks,pictures,share main".split(",")
_HOLDS = tuple(f"{name} ^{level}" for level in range(LEVELS) for name in _HELD)
_INSIDE = ("in main container", "levels to main", "depth")


def _of_containers(around: _Around, image: ImageLink) -> list[float]:
    """What the containers around the picture hold, each larger than the one before."""
    containers, known = around.page.containers, around.container
    element: etree._Element | None = image.element
    while element is not None and element not in known:
        element = element.getparent()
    at = known[element] if element is not None else 0
    main, depth, to_main, inside = around.main, 0, 0, False
    held: list[float] = []
    size = -1
    while at >= 0:
        start, end = containers.starts[at], containers.ends[at]
        if end - start > size and len(held) < LEVELS * len(_HELD):
            size = end - start
            letters = around.letters[end] - around.letters[start]
            mine = around.main_letters[end] - around.main_letters[start]
            held += (
                log1p(letters),
                (around.linked[end] - around.linked[start]) / max(1, letters),
                mine / max(1, around.main_letters[-1]),
                log1p(size),
                log1p(around.shown[end] - around.shown[start]),
                mine / max(1, letters),
            )
        inside = inside or at == main
        to_main += not inside
        depth += 1
        at = containers.parents[at]
    held += held[-len(_HELD) :] * (LEVELS - len(held) // len(_HELD))
    return [*held, inside, log1p(to_main), log1p(depth)]


_IN = tuple(f"in {tag}" for tag in FRAMES)
_LIKE = ("pictures like it", "is lazy")


def _of_elements(around: _Around, image: ImageLink) -> list[float]:
    tags = {str(one.tag) for one in image.element.iterancestors()}
    lazy = image.element.get("loading") == "lazy" or any(name.startswith("data-") for name in image.element.attrib)
    return [*(tag in tags for tag in FRAMES), log1p(around.kinds[_kind(image.element)]), lazy]


_SIZES = "width,height,area,aspect,size known,icon,advert's size,size in address,pixel".split(",")


def _of_size(image: ImageLink) -> list[float]:
    width, height = image.width or 0, image.height or 0
    named = _SIZE_IN_NAME.search(image.url)
    asked = _SIZE_ASKED.search(image.url)
    in_address = int(named[1]) if named else int(asked[1]) if asked else 0
    if named and not (width and height):
        width, height = width or int(named[1]), height or int(named[2])
    known = bool(width and height)
    return [
        log1p(width) if width else NO_SIZE,
        log1p(height) if height else NO_SIZE,
        log1p(width * height) if known else NO_SIZE,
        width / height if known else NO_SIZE,
        known,
        (0 < width <= 40) or (0 < height <= 40),
        (width, height) in ADVERT_SIZES,
        log1p(in_address) if in_address else NO_SIZE,
        0 < width <= 2 or 0 < height <= 2,
    ]


_WORDS = "alt,has alt,title,anchor text,alt in title,alt words,near text,caption".split(",")


def _of_words(around: _Around, image: ImageLink) -> list[float]:
    said = frozenset(words(f"{image.alt} {image.title}"[:400]))
    common = len(said & around.title_words)
    following = around.page.blocks[image.at] if image.at < len(around.page.blocks) else None
    return [
        log1p(len(image.alt)),
        "alt" in image.element.attrib,
        log1p(len(image.title)),
        log1p(len(image.anchor_text)),
        common / max(1, len(said)),
        log1p(common),
        log1p(len(around.page.near_text(image))),
        following is not None and following.tag == "figcaption",
    ]


_ADDRESSES = (
    "linked,to picture,to this site,to another site,to itself,to the front,target depth,told elsewhere,target query,"
    "own host,own site,other site,path depth,query,digits,name length,head picture,in scripts,date in address"
).split(",") + [f"is {name}" for name in ENDINGS]
_DATE = re.compile(r"(?:19|20)\d\d[-/_]?(?:0[1-9]|1[0-2])")


def _of_addresses(around: _Around, image: ImageLink) -> list[float]:
    page, target, url = around.page.url, image.target, image.url
    host, path, query = _parts(url)
    own = _parts(page)[0]
    stem, ending = _stem(url), path.rpartition(".")[2].lower()
    to = _parts(target) if target else ("", "", "")
    ends = to[1].rpartition(".")[2].lower()
    mine = around.site
    return [
        bool(target),
        ends in PICTURES,
        bool(target) and site(target) == mine,
        bool(target) and site(target) != mine,
        target == page,
        bool(target) and len(to[1]) < 2,
        to[1].count("/"),
        log1p(around.told[target]) if target else 0.0,
        bool(to[2]),
        host == own,
        site(url) == mine,
        site(url) != mine,
        path.count("/"),
        bool(query),
        log1p(sum(map(str.isdigit, stem))),
        log1p(len(stem)),
        any(stem == head or (len(head) > 7 and head in url.lower()) for head in around.heads),
        len(stem) > 5 and stem in around.scripts,
        _DATE.search(path) is not None,
        *(ending == name or (ending == "jpeg" and name == "jpg") for name in ENDINGS),
    ]


def _parts(url: str) -> tuple[str, str, str]:
    """Host, path and query of an address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", "", ""
    return parts.netloc.lower(), parts.path, parts.query


SIGNS = (
    *_PLACE,
    *_HOLDS,
    *_INSIDE,
    *_IN,
    *_LIKE,
    *_SIZES,
    *_WORDS,
    *_ADDRESSES,
    *"pictures,main text,share main text,main blocks,blocks".split(","),
    *(f"page is {name}" for name in PAGE_TYPES),
    "has head picture",
)
"""The names of the numbers of a place."""


def _names(around: _Around, image: ImageLink) -> Iterator[int]:
    """The buckets of the names of a picture."""
    host, path, query = _parts(image.url)
    to_host, to_path, to_query = _parts(image.target) if image.target else ("", "", "")
    for kind, text in (("file", path[-MOST_NAME:]), ("host", host), ("query", query), ("to", to_path[:MOST_NAME])):
        yield from _buckets(kind, text)
    if image.target and site(image.target) != around.site:
        yield from _buckets("out", f"{to_host} {to_query[:MOST_NAME]}")
    yield from _buckets("alt", image.alt[:MOST_NAME] if len(image.alt) < MOST_NAME // 2 else "")
    one: etree._Element | None = image.element
    for level in range(ANCESTORS):
        if one is None:
            break
        kind = "own" if level < 2 else "around"
        named = f"{one.get('class') or ''} {one.get('id') or ''} {one.get('role') or ''}"
        yield from _buckets(kind, named[:MOST_NAME])
        one = one.getparent()


def _buckets(kind: str, text: str) -> Iterable[int]:
    return (crc32(f"{kind} {word.lower()}".encode()) % BUCKETS for word in _WORD.findall(text)[:MOST_WORDS])


assert NOT_PAGES  # noqa: S101
