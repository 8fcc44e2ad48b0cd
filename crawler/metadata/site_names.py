"""The names that the site of a page goes by, and names without what some sites leave in them."""

import re
from html import unescape

from crawler.page.head import MAX_HEADLINE
from crawler.page.page import Page
from crawler.page.text import fold_space

MAX_LABELS = 5  # of a host
_SITE_NAMES = ("og:site_name", "application-name")
_TAG = re.compile(r"<[^<>]{1,300}>")
_HOST = re.compile(r"https?://([^/:?#]{1,253})")
_NO_LETTERS = re.compile(r"[\W_]+")


def site_keys(page: Page) -> frozenset[str]:
    """The names of the page's site, by what it says and by its host, each as its letters alone."""
    return page.once(_site_keys)


def letters(text: str) -> str:
    """The letters and digits of a text, without case.

    >>> letters("The Valley-Post!")
    'thevalleypost'
    """
    return _NO_LETTERS.sub("", text.casefold())


def plain(text: str) -> str:
    """A line of text without the entities and tags that some leave in what is to be plain.

    >>> plain("Bees &amp; <i>wasps</i>")
    'Bees & wasps'
    """
    text = text[: 2 * MAX_HEADLINE].encode("utf-8", "replace").decode()  # JSON can hold halves of characters
    return fold_space(_TAG.sub("", unescape(text)) if "&" in text or "<" in text else text)


def _site_keys(page: Page) -> frozenset[str]:
    metas = page.head.metas
    host = found[1] if (found := _HOST.match(page.url)) else ""
    labels = host.split(".")
    names = [metas.get(name, "") for name in _SITE_NAMES] + labels
    names += [".".join(labels[number:]) for number in range(min(len(labels), MAX_LABELS))]
    return frozenset(map(letters, names)) - {""}
