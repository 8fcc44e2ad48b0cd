"""The signs of a block in words, each group of them as it speaks for the verdict; nothing where none of it does."""

from collections.abc import Callable, Mapping
from functools import cache
from math import expm1
from typing import NamedTuple

from crawler.extraction.auto.sight import FRAMES, TAGS

MOSTLY = 0.5
"""The share from which on most of something is."""
PART, LITTLE = 0.15, 0.05
SHORT, LONG = 40, 200
"""Characters of a short line, and of a paragraph."""
NEAR, FAR = 2, 6
"""Blocks."""
SPEAKS = 0.5
"""What a score of names or words is at least if it says something."""
STORY = ("article", "main", "p", "blockquote", "figcaption", "pre")
FRAME = ("nav", "header", "footer", "aside", "form", "button", "label", "iframe")


class Reason(NamedTuple):
    """One reason, as a sentence that may have a place for a number or a name."""

    sentence: str
    n: str = ""

    def __str__(self) -> str:
        return self.sentence.format(n=self.n)


ALL_TOGETHER = Reason("no sign alone, but all of them together")


class Said(NamedTuple):
    """A block's signs, and what was said of it."""

    signs: Mapping[str, float]
    is_text: bool

    def number(self, name: str) -> int:
        """What a sign was the logarithm of."""
        return round(expm1(self.signs[name]))


def _text(said: Said) -> Reason | None:
    letters, stops = said.number("length"), said.number("stops")
    if said.is_text:
        if stops:
            return Reason("it has sentences ({n} characters)", f"{letters:,}")
        return Reason("it is long ({n} characters)", f"{letters:,}") if letters >= LONG else None
    if not stops:
        short = "it is short and has no full stop ({n} characters)"
        return Reason(short if letters < SHORT else "it has no full stop ({n} characters)", f"{letters:,}")
    return None


def _links(said: Said) -> Reason | None:
    density = said.signs["density"]
    if said.is_text and density < LITTLE:
        return Reason("next to none of it is links")
    if said.is_text:
        return Reason("no more than {n} of it is links", f"{density:.0%}") if density <= PART else None
    return Reason("{n} of it is links", f"{density:.0%}") if density > PART else None


def _words(said: Said) -> Reason | None:
    score = said.signs["word score"]
    if said.is_text:
        return Reason("its words are those of main texts") if score > SPEAKS else None
    return Reason("its words are those of menus and notices") if score < -SPEAKS else None


def _elements(said: Said) -> Reason | None:
    around = [tag for tag in (STORY if said.is_text else FRAME) if tag in FRAMES and said.signs[f"in {tag}"]]
    if around:
        return Reason("it stands in <{n}>", around[0])
    found = next((tag for at, tag in enumerate(TAGS, 1) if said.signs[f"tag {at}"]), "")
    return Reason("its element is <{n}>", found) if found else None


def _names(said: Said) -> Reason | None:
    score = said.signs["own names"] + said.signs["names around"]
    if said.is_text:
        return Reason("the elements around it are named as those of main texts") if score > SPEAKS else None
    return Reason("the elements around it are named as those of a page's frame") if score < -SPEAKS else None


def _place(said: Said) -> Reason | None:
    before, after = said.signs["text before"], said.signs["text after"]
    if not said.is_text and said.number("copies") >= 1:
        return Reason("the page says the same more than once")
    if said.is_text:
        return Reason("it stands in the middle of the page") if min(before, after) > LITTLE else None
    if before < PART:
        return Reason("it stands at the start of the page")
    return Reason("it stands at the end of the page") if after < PART else None


def _titles(said: Said) -> Reason | None:
    if said.is_text:
        if said.signs["is title"]:
            return Reason("it is the headline")
        if said.signs["in title"] > MOSTLY:
            return Reason("its words are those of the title")
        return Reason("it stands under the headline") if said.signs["after title"] else None
    return Reason("it stands before the headline") if said.signs["before title"] else None


def _described(said: Said) -> Reason | None:
    if not said.is_text:
        return None
    if said.signs["in body"] > MOSTLY:
        return Reason("the page gives it to machines as its article")
    return Reason("its words are those of the description") if said.signs["in description"] > MOSTLY else None


def _neighbours(said: Said) -> Reason | None:
    near = min(said.number("prose ago"), said.number("prose ahead"))
    if said.is_text:
        return Reason("there are sentences beside it") if near <= NEAR else None
    if said.signs["density +1"] > MOSTLY and said.signs["density -1"] > MOSTLY:
        return Reason("there are links before it and after it")
    return Reason("the next sentences are {n} lines away", f"{near:,}") if near > FAR else None


def _headings(said: Said) -> Reason | None:
    there = not said.signs["heading 0"]
    if said.is_text:
        return Reason("it stands under a heading") if there else None
    if there and said.signs["heading words"] < -SPEAKS:
        return Reason("the words of the heading above it are those of menus and notices")
    return None if there else Reason("no heading stands above it")


def _containers(said: Said) -> Reason | None:
    if said.is_text:
        share = max(said.signs[f"prose share ^{level}"] for level in (1, 2, 3))
        return Reason("what stands around it has {n} of the page's sentences", f"{share:.0%}") if share > PART else None
    density = max(said.signs[f"density ^{level}"] for level in (0, 1))
    if density > MOSTLY:
        return Reason("{n} of what stands around it is links", f"{density:.0%}")
    share = said.signs["prose share ^1"]
    return Reason("what stands around it has next to none of the page's sentences") if share < LITTLE else None


def _path(said: Said) -> Reason | None:
    count = f"{max(1, said.number('path count') + 1):,}"
    wide, linked, prose = (expm1(said.signs[f"path {name}"]) for name in ("width", "linked", "prose"))
    if said.is_text:
        return Reason("most lines of the same elements are sentences") if prose > MOSTLY * wide else None
    if linked > MOSTLY * wide:
        return Reason("most lines of the same elements are links")
    return Reason("no line of the same elements is a sentence") if prose < LITTLE * wide and count != "1" else None


def _page(said: Said) -> Reason | None:
    """Nothing: what kind of page it is explains no block to people."""
    return None


IN_WORDS: dict[str, Callable[[Said], Reason | None]] = {
    "text": _text,
    "links": _links,
    "words": _words,
    "elements": _elements,
    "names": _names,
    "place": _place,
    "titles": _titles,
    "described": _described,
    "neighbours": _neighbours,
    "headings": _headings,
    "containers": _containers,
    "path": _path,
    "page": _page,
}
"""For each group of signs (.reasons) what says it."""
GROUPS = tuple(IN_WORDS)
_BY_NAME = {
    **dict.fromkeys(("density", "links"), "links"),
    "word score": "words",
    **dict.fromkeys(("own names", "names around"), "names"),
    **dict.fromkeys(("text before", "text after", "at", "log at", "log from end", "copies"), "place"),
    **dict.fromkeys(("in title", "of title", "after title", "before title", "is title"), "titles"),
    **dict.fromkeys(("in description", "of description", "in body"), "described"),
    **dict.fromkeys(("depth", "images", "images after"), "elements"),
    **dict.fromkeys(("prose ago", "prose ahead", "step", "step after"), "neighbours"),
    **dict.fromkeys(("same home before", "same home after", "sibling before", "sibling after"), "neighbours"),
}
_BY_FIRST_WORD = {
    **dict.fromkeys(("tag", "wrap", "in"), "elements"),
    "heading": "headings",
    "path": "path",
    "page": "page",
}


@cache
def group_of(name: str) -> str:
    """The group in which a sign is told of.

    >>> group_of("density"), group_of("density ^2"), group_of("in nav"), group_of("width -1")
    ('links', 'containers', 'elements', 'neighbours')
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    last = name.rpartition(" ")[2]
    if last[0] == "^":
        return "containers"
    if last[0] == "±" or last in ("+1", "-1"):
        return "neighbours"
    return _BY_FIRST_WORD.get(name.partition(" ")[0], "text")
