"""The signs of a picture in words, each group of them as it speaks for the verdict; empty where none of it does."""

from collections.abc import Callable
from math import expm1
from typing import NamedTuple

from crawler.noise.learned import SIGNS, Floats
from crawler.noise.redundancy import LEAST_PAGES

NEAR = 3
"""Blocks from the main text up to which a picture is beside it."""
FRAMES = "nav header footer aside form button".split()
STORIES = "figure article main".split()
FAMILIES = {
    "advert": "adverts",
    "person": "pictures of people",
    "symbol": "symbols",
    "frame": "the frame of a page",
    "other": "what leads elsewhere",
}
"""What words of the families of noise (.called) are for, the plainest first."""
LEADS = {
    "to picture": "it links to a picture",
    "to itself": "it links to its own page",
    "to the front": "it links to a front page",
    "to another site": "it links to another site",
}
_AT = {name: at for at, name in enumerate(SIGNS)}


class Said(NamedTuple):
    """A picture's signs, and what was said of it."""

    signs: Floats
    is_noise: bool
    pages: int
    """Of its site, one at least."""

    def sign(self, name: str) -> float:
        """One of the signs."""
        return float(self.signs[_AT[name]])

    def number(self, name: str) -> int:
        """What a sign was the logarithm of."""
        return round(expm1(self.sign(name)))


def _place(said: Said) -> str:
    inside = said.sign("in main container") and (said.sign("next block main") or said.sign("last block main"))
    if inside:
        return "" if said.is_noise else "it stands in the main text"
    beside = min(said.number("blocks to main text back"), said.number("blocks to main text ahead")) <= NEAR
    if said.is_noise:
        return "it stands beside the main text, not in it" if beside else "it stands apart from the main text"
    return "it stands beside the main text" if beside else ""


def _elements(said: Said) -> str:
    if found := [tag for tag in (FRAMES if said.is_noise else STORIES) if said.sign(f"in {tag}")]:
        return f"it stands in <{found[0]}>"
    if named := _named(said, ("own", "near", "far")):
        return f"the elements around it are named as those of {named}"
    return ""


def _address(said: Said) -> str:
    if named := _named(said, ("file",)):
        return f"its file is named as those of {named}"
    return "its address has a date" if not said.is_noise and said.sign("date in address") else ""


def _named(said: Said, where: tuple[str, ...]) -> str:
    """What the names there speak for, if that is the verdict."""
    if not said.is_noise:
        return "content" if any(said.sign(f"{one} main") for one in where) else ""
    return next((words for name, words in FAMILIES.items() if any(said.sign(f"{one} {name}") for one in where)), "")


def _size(said: Said) -> str:
    width, height = (max(0, said.number(name)) for name in ("width", "height"))
    if not width and not height:
        return "its size is not given" if said.is_noise else ""
    if not width or not height:
        return f"its width is {width}" if width else f"its height is {height}"
    if said.sign("advert's size"):
        return f"its size, {width} x {height}, is one of adverts" if said.is_noise else ""
    return f"its size is {width} x {height}"


def _words(said: Said) -> str:
    described = said.sign("alt") > 0 or said.sign("title") > 0
    if said.sign("alt words") > 0:
        return "" if said.is_noise else "its description has words of the page's title"
    if said.is_noise:
        return "its description has no word of the page's title" if described else "nothing describes it"
    return "a caption follows it" if said.sign("caption") else "it is described" if described else ""


def _target(said: Said) -> str:
    leads = [words for name, words in LEADS.items() if said.sign(name)]
    return leads[0] if leads else "it links to another page" if said.sign("linked") else "it is no link"


def _head(said: Said) -> str:
    if said.sign("head picture"):
        return "" if said.is_noise else "the page gives it as its own picture"
    return "the page gives another picture as its own" if said.is_noise and said.sign("has head picture") else ""


def _site(said: Said) -> str:
    others = said.number("pages with it")
    shown = min(others + 1, said.pages)
    if said.is_noise:
        return f"{shown} of {said.pages} pages of the site show it" if shown >= LEAST_PAGES else ""
    return "" if others or said.pages < LEAST_PAGES else f"no other of {said.pages} pages of the site shows it"


def _page(said: Said) -> str:
    """Nothing: what kind of page it is explains no picture to people."""
    return ""


IN_WORDS: dict[str, Callable[[Said], str]] = {
    "place": _place,
    "elements": _elements,
    "size": _size,
    "words": _words,
    "target": _target,
    "address": _address,
    "head": _head,
    "page": _page,
    "site": _site,
}
"""For each group of signs (.reasons) what says it."""
