"""Facts about a page that all its images share, and families of words in the names of elements, files and links.

`families` counts the words of seven families in a name; some families have words of several languages.
"""

import re
from collections import Counter
from functools import cached_property, lru_cache
from itertools import accumulate
from math import log1p

from lxml import etree

from crawler.page.links import ImageLink
from crawler.page.page import Extraction, Page, PageType
from crawler.page.text import words
from crawler.urls.address import address_of

FAMILIES = {
    "person": (
        "avatar gravatar author byline profile user userpic headshot bio writer columnist face member commenter "
        "portrait staff reporter"
    ),
    "symbol": (
        "icon icons ico logo logos brand badge share social sharing emoji smiley emoticon button btn arrow sprite "
        "svg flag star rating spacer pixel blank dot bullet clear loading loader placeholder tracking beacon "
        "counter print rss facebook twitter whatsapp linkedin pinterest telegram youtube instagram qr qrcode "
        "weixin weibo ewm"
    ),
    "advert": (
        "ad ads adv advert advertisement advertising advertise adsense sponsor sponsored banner banners promo "
        "promotion promoted affiliate partner partners cta newsletter subscribe subscription signup donate "
        "guanggao gg marketing commercial reklama werbung anzeige publicidad pub outbrain taboola dfp gpt popup "
        "modal"
    ),
    "frame": (
        "nav navbar menu header footer sidebar side aside top topbar bottom toolbar breadcrumb widget rail "
        "masthead navigation"
    ),
    # Teasers and lists of other pages.
    "other": (
        "related recommend recommended recommendation more popular trending teaser teasers card cards thumb "
        "thumbs thumbnail thumbnails latest list item items tile tiles grid carousel feed read next prev previous "
        "also similar most suggestions hot rank"
    ),
    "callout": "note tip warning caution important hint info danger attention admonition callout notice alert",
    "main": (
        "content article story entry post body main text figure hero lead featured feature gallery slideshow "
        "slider photo photos image media caption wp full inline zoom large original attachment attachments upload "
        "uploads editor detail details product picture"
    ),
}
MOST_OF_FAMILY = 3  # words of a family that are counted
MOST_LETTERS = 150  # characters of a name that are read
KEPT_NAMES = 4_096  # names whose families are cached: a site's elements have the same names on many pages
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*")
_FAMILY_INDEX = {word: index for index, family in enumerate(FAMILIES.values()) for word in family.split()}


@lru_cache(maxsize=KEPT_NAMES)
def families(name: str) -> tuple[int, ...]:
    """How many words of each family a name has, at most MOST_OF_FAMILY, in the order of FAMILIES.

    >>> dict(zip(FAMILIES, families("sidebar-adBanner post_thumb"), strict=True))
    {'person': 0, 'symbol': 0, 'advert': 2, 'frame': 1, 'other': 1, 'callout': 0, 'main': 1}
    """
    counts = [0] * len(FAMILIES)
    for word in _WORD.findall(name):
        index = _FAMILY_INDEX.get(word.lower())
        if index is not None and counts[index] < MOST_OF_FAMILY:
            counts[index] += 1
    return tuple(counts)


MAIN_SHARE = 0.8  # the least share of the main text that is in its container
KIND_LEVELS = 4  # levels of elements that images of the same kind have in common
MOST_NAME = 120  # characters of a class that are read
MOST_TITLE = 400  # characters of the titles that are read
HEAD_IMAGES = ("og:image", "og:image:url", "twitter:image", "thumbnail")  # meta elements with the representative image
LEAST_NAME = 4  # characters from which a file name identifies an image
OF_PAGE = (
    *("images", "main text", "share of main text", "main blocks", "blocks"),
    *(f"page is {name}" for name in PageType),
    "has head image",
)
"""The names of the features in `PageContext.features`."""
# A size or its name at the end of a file name.
_SIZED = re.compile(r"[-_]\d{2,4}x\d{2,4}$|[-_](?:small|large|medium|thumb\w*|scaled)$")


class PageContext:
    """The facts that all images of a page share, given its main text.

    Each list `..._before` has for each block a sum over the blocks before it; its last item is the sum for the page.
    """

    def __init__(self, page: Page, extraction: Extraction) -> None:
        self.page = page
        self.extraction = extraction

    @cached_property
    def site(self) -> str:
        if "://" in self.page.url:
            return address_of(self.page.url).site
        return ""

    @cached_property
    def sites(self) -> dict[str, str]:
        """The site of each image and of its target."""
        urls = {url for image in self.page.images for url in (image.url, image.target)} - {""}
        return {url: address_of(url).site for url in urls}

    @cached_property
    def main_indexes(self) -> list[int]:
        """The indexes of the blocks of the main text, in page order."""
        main_blocks = {id(block) for block in self.extraction.blocks}
        return [index for index, block in enumerate(self.page.blocks) if id(block) in main_blocks]

    @cached_property
    def main_length_before(self) -> list[int]:
        """The number of characters of the main text."""
        lengths = [0] * len(self.page.blocks)
        for index in self.main_indexes:
            lengths[index] = len(self.page.blocks[index].text)
        return [0, *accumulate(lengths)]

    @cached_property
    def length_before(self) -> list[int]:
        """The number of characters."""
        return [0, *accumulate(len(block.text) for block in self.page.blocks)]

    @cached_property
    def linked_length_before(self) -> list[int]:
        """The number of characters in links."""
        return [0, *accumulate(block.linked for block in self.page.blocks)]

    @cached_property
    def images_before(self) -> list[int]:
        """The number of images."""
        counts = Counter(image.at for image in self.page.images)
        return [0, *accumulate(counts[index] for index in range(len(self.page.blocks) + 1))]

    @cached_property
    def index_of_container(self) -> dict[etree._Element, int]:
        """The index of each container."""
        return {element: index for index, element in enumerate(self.page.containers.elements)}

    @cached_property
    def main_container(self) -> int:
        """The index of the innermost container with most of the main text."""
        containers = self.page.containers
        least_length = MAIN_SHARE * self.main_length_before[-1]
        innermost = 0  # the whole page
        if least_length:  # the page has main text
            for index, (start, end) in enumerate(zip(containers.starts, containers.ends, strict=True)):
                if self.main_length_before[end] - self.main_length_before[start] >= least_length:
                    innermost = index
        return innermost

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each image: the names and classes of the elements around it."""
        return list(map(kind_of, self.page.images))

    @cached_property
    def images_of_kind(self) -> Counter[str]:
        """How many images of the page are of each kind."""
        return Counter(self.kinds)

    @cached_property
    def copies(self) -> Counter[str]:
        """How often the page shows each image, by address."""
        return Counter(image.url for image in self.page.images)

    @cached_property
    def link_text_lengths(self) -> dict[str, int]:
        """The length of the longest text of the page's links to each address."""
        length_of_text: dict[str, int] = {}
        for link in self.page.links:
            if link.text:
                length_of_text[link.url] = max(length_of_text.get(link.url, 0), len(link.text))
        return length_of_text

    @cached_property
    def head_images(self) -> list[str]:
        """File names of the images that the page names as representative."""
        addresses = [self.page.meta.get(name, "") for name in HEAD_IMAGES]
        return [name for name in map(file_name, addresses) if len(name) >= LEAST_NAME]

    @cached_property
    def scripts(self) -> str:
        """The source of the page's JSON-LD, in lower case."""
        return "\n".join(self.page.head.scripts).lower()

    @cached_property
    def title_words(self) -> frozenset[str]:
        return frozenset(words(f"{self.page.title} {self.extraction.title}"[:MOST_TITLE]))

    @cached_property
    def features(self) -> tuple[float, ...]:
        """The features that are the same for all images of the page."""
        return (
            log1p(len(self.page.images)),
            log1p(self.main_length_before[-1]),
            self.main_length_before[-1] / max(1, self.length_before[-1]),
            log1p(len(self.main_indexes)),
            log1p(len(self.page.blocks)),
            *(float(self.extraction.page_type == name) for name in PageType),
            float(bool(self.head_images)),
        )


def file_name(url: str) -> str:
    """The file name in an address, without size and extension.

    >>> file_name("https://example.com/a/Photo-300x200.jpg?v=1")
    'photo'
    """
    path, _, _ = url.partition("?")
    last_segment = path.rstrip("/").rpartition("/")[2]
    return _SIZED.sub("", last_segment.partition(".")[0].lower())


def kind_of(image: ImageLink) -> str:
    """The names and classes of the elements around an image, which are the same for images of the same kind."""
    names: list[str] = []
    element: etree._Element | None = image.element
    while element is not None and len(names) < KIND_LEVELS:
        names.append(f"{element.tag} {element.get('class', '')[:MOST_NAME]}")
        element = element.getparent()
    return ">".join(names)
