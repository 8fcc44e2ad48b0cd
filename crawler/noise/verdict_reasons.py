"""The reasons of verdicts on images: codes, their sentences, and their conditions."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, auto
from math import expm1

from crawler.noise.li2006 import LEAST_PAGES
from crawler.translation.message import N_
from crawler.translation.reasons import Groups, Judged, Reason, ReasonCode, has

NEAR = 3  # blocks between an image and the main text up to which it is beside the text
FRAMES = "nav header footer aside form button".split()  # elements around an image that support noise
STORIES = "figure article main".split()  # elements around an image that support content


class ImagePlace(StrEnum):
    """Where an image is, relative to the main text."""

    IN_MAIN_TEXT = "in"
    BESIDE = "beside"
    APART = "apart"


@dataclass(frozen=True)
class JudgedImage(Judged):
    """An image by its features (crawler/noise/image_features.py); the verdict is whether it is noise."""

    pages: int
    """How many pages of its site are counted; at least one."""

    @property
    def place(self) -> ImagePlace:
        if self.feature("in main container") and (self.feature("next block main") or self.feature("last block main")):
            return ImagePlace.IN_MAIN_TEXT
        blocks = min(self.feature("blocks to main text back"), self.feature("blocks to main text ahead"))
        if round(expm1(blocks)) <= NEAR:
            return ImagePlace.BESIDE
        return ImagePlace.APART

    @property
    def element(self) -> str:
        """The name of an element around it that supports the verdict; empty if there is none."""
        supporting = STORIES
        if self.verdict:
            supporting = FRAMES
        return next((tag for tag in supporting if self.feature(f"in {tag}")), "")

    @property
    def is_sized(self) -> bool:
        return min(self.feature("width"), self.feature("height")) > 0

    @property
    def width(self) -> int:
        """The width in pixels, as the page gives it."""
        return self.number("width")

    @property
    def height(self) -> int:
        return self.number("height")

    @property
    def is_described(self) -> bool:
        return bool(self.feature("alt") or self.feature("title"))

    @property
    def shown(self) -> int:
        """How many pages of its site show it."""
        return min(self.number("pages with it") + 1, self.pages)


def named(family: str) -> Callable[[JudgedImage], bool]:
    """The condition that elements around an image have a word of `family` in their names
    (crawler/noise/page_features.py).
    """
    return lambda image: any(image.feature(f"{where} {family}") for where in ("own", "near", "far"))


class NoiseReason(ReasonCode):
    """Why an image is noise, or content. Each reason has its code, its sentence and its condition on the judged image,
    `p`. Reasons without a condition are given by crawler/noise/verdict.py.
    """

    IN_MAIN_TEXT = auto(), N_("it is in the main text"), lambda p: p.place is ImagePlace.IN_MAIN_TEXT
    BESIDE_MAIN_TEXT = auto(), N_("it is beside the main text"), lambda p: p.place is ImagePlace.BESIDE
    NOT_IN_MAIN_TEXT = auto(), N_("it is beside the main text, not in it"), lambda p: p.place is ImagePlace.BESIDE
    APART_FROM_MAIN_TEXT = auto(), N_("it is apart from the main text"), lambda p: p.place is ImagePlace.APART

    IN_ELEMENT = auto(), N_("it is in <{element}>"), lambda p: p.element
    AROUND_ADVERT = auto(), N_("the elements around it have names typical of adverts"), named("advert")
    AROUND_PERSON = auto(), N_("the elements around it have names typical of portraits"), named("person")
    AROUND_SYMBOL = auto(), N_("the elements around it have names typical of icons"), named("symbol")
    AROUND_CALLOUT = auto(), N_("the elements around it have names typical of notes and warnings"), named("callout")
    AROUND_FRAME = auto(), N_("the elements around it have names typical of page frames"), named("frame")
    AROUND_OTHER = auto(), N_("the elements around it have names typical of teasers"), named("other")
    AROUND_MAIN = auto(), N_("the elements around it have names typical of content"), named("main")

    NO_SIZE = auto(), N_("its size is not given"), lambda p: max(p.feature("width"), p.feature("height")) <= 0
    WIDTH = auto(), N_("its width is {width}"), lambda p: p.feature("width") > 0 >= p.feature("height")
    HEIGHT = auto(), N_("its height is {height}"), lambda p: p.feature("height") > 0 >= p.feature("width")
    ADVERT_SIZE = auto(), N_("its size, {width} x {height}, is a standard size of adverts"), has("advert's size")
    SIZE = auto(), N_("its size is {width} x {height}"), lambda p: p.is_sized and not p.feature("advert's size")
    ADVERT_ADDRESS = auto(), N_("its address or its target is one of adverts")
    UNSEEN = auto(), N_("it is {width} x {height}, too small to be seen")

    OF_TITLE = auto(), N_("its description has words of the page's title"), has("alt words")
    CAPTION = auto(), N_("a caption follows it"), has("caption")
    DESCRIBED = auto(), N_("it is described"), lambda p: p.is_described
    NOT_OF_TITLE = (
        auto(),
        N_("its description has no word of the page's title"),
        lambda p: p.is_described and not p.feature("alt words"),
    )
    UNDESCRIBED = auto(), N_("nothing describes it"), lambda p: not p.is_described and not p.feature("alt words")

    LINKS_TO_IMAGE = auto(), N_("it links to an image"), has("to image")
    LINKS_TO_ITSELF = auto(), N_("it links to its own page"), has("to itself")
    LINKS_TO_FRONT = auto(), N_("it links to a front page"), has("to the front")
    LINKS_TO_SITE = auto(), N_("it links to another site"), has("to another site")
    LINKS_TO_PAGE = auto(), N_("it links to another page"), has("linked")
    NO_LINK = auto(), N_("it is not a link"), lambda p: True

    FILE_ADVERT = auto(), N_("its file has a name typical of adverts"), has("file advert")
    FILE_PERSON = auto(), N_("its file has a name typical of portraits"), has("file person")
    FILE_SYMBOL = auto(), N_("its file has a name typical of icons"), has("file symbol")
    FILE_CALLOUT = auto(), N_("its file has a name typical of signs for notes and warnings"), has("file callout")
    FILE_FRAME = auto(), N_("its file has a name typical of page frames"), has("file frame")
    FILE_OTHER = auto(), N_("its file has a name typical of teasers"), has("file other")
    FILE_MAIN = auto(), N_("its file has a name typical of content"), has("file main")
    DATE = auto(), N_("its address has a date"), has("date in address")

    HEAD = auto(), N_("the page names it as its representative image"), has("head image")
    NOT_HEAD = (
        auto(),
        N_("the page names another image as its representative one"),
        lambda p: p.feature("has head image") and not p.feature("head image"),
    )

    SHOWN_ON_PAGES = auto(), N_("{shown} of {pages} pages of the site show it"), lambda p: p.shown >= LEAST_PAGES
    SHOWN_ON_ONE = (
        auto(),
        N_("no other of {pages} pages of the site shows it"),
        lambda p: not p.number("pages with it") and p.pages >= LEAST_PAGES,
    )

    KEYWORDS = auto(), N_("its words are typical of adverts, navigation or decoration: {words}")
    COMMON_WORDS = auto(), N_("its words describe many images of the site: {words}")
    BELOW_LIMIT = auto(), N_("it is likely noise, but below the limit of {percent:g}%")
    ALL_TOGETHER = auto(), N_("no single feature, but all of them together")
    BLOCKED_BY_LIST = auto(), N_("a filter list blocks it")


_R = NoiseReason
_TARGETS = (_R.LINKS_TO_IMAGE, _R.LINKS_TO_ITSELF, _R.LINKS_TO_FRONT, _R.LINKS_TO_SITE, _R.LINKS_TO_PAGE, _R.NO_LINK)
GROUPS: Groups = {
    "place": ((_R.IN_MAIN_TEXT, _R.BESIDE_MAIN_TEXT), (_R.APART_FROM_MAIN_TEXT, _R.NOT_IN_MAIN_TEXT)),
    "elements": (
        (_R.IN_ELEMENT, _R.AROUND_MAIN),
        (
            *(_R.IN_ELEMENT, _R.AROUND_ADVERT, _R.AROUND_PERSON, _R.AROUND_CALLOUT, _R.AROUND_SYMBOL),
            *(_R.AROUND_FRAME, _R.AROUND_OTHER),
        ),
    ),
    "size": ((_R.WIDTH, _R.HEIGHT, _R.SIZE), (_R.NO_SIZE, _R.WIDTH, _R.HEIGHT, _R.ADVERT_SIZE, _R.SIZE)),
    "words": ((_R.OF_TITLE, _R.CAPTION, _R.DESCRIBED), (_R.NOT_OF_TITLE, _R.UNDESCRIBED)),
    "target": (_TARGETS, _TARGETS),
    "address": (
        (_R.FILE_MAIN, _R.DATE),
        (_R.FILE_ADVERT, _R.FILE_PERSON, _R.FILE_CALLOUT, _R.FILE_SYMBOL, _R.FILE_FRAME, _R.FILE_OTHER),
    ),
    "head": ((_R.HEAD,), (_R.NOT_HEAD,)),
    "page": ((), ()),  # the type of the page does not explain an image
    "site": ((_R.SHOWN_ON_ONE,), (_R.SHOWN_ON_PAGES,)),
}
"""For each group of features (learned_model.FEATURES_OF_GROUP): the reasons for content, then the reasons for noise.
The first reason whose condition is true counts.
"""


def stored_reasons(text: str) -> tuple[Reason, ...]:
    """The reasons of a stored verdict, which crawler.translation.reasons.records wrote."""
    return tuple(Reason(NoiseReason(reason["code"]), reason["values"]) for reason in json.loads(text))
