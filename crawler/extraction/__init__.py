"""The extraction methods, by name: each finds the main text of a page."""

from collections.abc import Callable
from functools import partial

from crawler.doors import Door, Part, PartTable
from crawler.extraction.auto import BALANCE, FAVOURS, auto
from crawler.extraction.auto.common_blocks import BlockLibrary
from crawler.extraction.methods.template import Library
from crawler.page.page import Extraction, Page

Extractor = Callable[[Page], Extraction]

METHODS: dict[str, Extractor | Part] = {
    "auto": auto,
    "framework": Part("crawler.extraction.methods.framework:framework"),
    "leaf-tags": Part("crawler.extraction.methods.leaf_tags:leaf_tags"),
    "dom-tags": Part("crawler.extraction.methods.dom_tags:dom_tags"),
    "max-text": Part("crawler.extraction.methods.slope_and_max_text:max_text"),
    "crunch": Part("crawler.extraction.methods.crunch:crunch"),
    "slope": Part("crawler.extraction.methods.slope_and_max_text:slope"),
    "template": Part("crawler.extraction.methods.template:template"),
    "template-svm": Part("crawler.extraction.methods.template_svm:template_svm"),
}
"""The default method, and the other methods, which are imported when they are chosen."""
EXTRACTORS: PartTable[Extractor] = PartTable(Door.EXTRACTORS, METHODS)
"""The methods above, and those that other packages add."""
EXTRACTION_VERSION = 6
"""Raise this by one with each change after which a method may return another text for some page, such as new weights:
a recrawl does not compare texts of different versions, so that no page counts as changed because of a new release. Do
not raise it if a method only becomes faster. tests/extraction/test_version.py fails if the texts of the test pages
change and this number does not.
"""
LEARNING: dict[str, type[Library]] = {"auto": BlockLibrary, "template": Library, "template-svm": Library}
"""The methods that learn the common parts of a site's pages, with the class of their argument `library`, which holds
these parts.
"""


def extractor_named(method: str, favour: str = BALANCE) -> Extractor:
    """The method with this name; for `auto`, with a preference for precision or recall. Raises a ValueError if there is
    no such method or preference.
    """
    if method not in EXTRACTORS:
        raise ValueError(f"there is no method {method!r}; there are {', '.join(EXTRACTORS)}")
    if favour == BALANCE:
        return EXTRACTORS[method]
    if method != "auto" or favour not in FAVOURS:
        raise ValueError(
            f"favour {favour!r} is for the method auto alone, which has {', '.join(FAVOURS)}; the method is {method}"
        )
    return partial(auto, favour=favour)


def with_library(extractor: Callable[..., Extraction], library: Library) -> Extractor:
    """A method of `LEARNING` for the pages of one site, with the library of that site."""
    return partial(extractor, library=library)


def extract(html: str | bytes, url: str | None = None, method: str = "auto", favour: str = BALANCE) -> Extraction:
    """The main text of a page, given as text or as bytes.

    >>> extract("<nav><a href=/>Home</a></nav><p>Bees dance in the dark of the hive, and others follow.</p>").text
    'Bees dance in the dark of the hive, and others follow.'
    """
    return extractor_named(method, favour)(Page.from_html(html, url or ""))


def version(method: str, favour: str = BALANCE, fallback: str = "") -> str:
    """The version of the texts of a method, with the version of its package, its preference and its fallback.

    >>> version("auto"), version("auto", "recall"), version("auto", fallback="a.b")
    ('6:auto', '6:auto/recall', '6:auto+a.b')
    """
    text = f"{EXTRACTION_VERSION}:{method}"
    package_version = EXTRACTORS.package_version(method)
    if package_version:
        text += f"@{package_version}"
    if favour != BALANCE:
        text += f"/{favour}"
    if fallback:
        text += f"+{fallback}"
    return text


def method_and_favour(version: str) -> tuple[str, str]:
    """The method and the preference that a version names.

    >>> method_and_favour("6:auto/recall+http://127.0.0.1/"), method_and_favour("6:theirs@1.2")
    (('auto', 'recall'), ('theirs', 'balance'))
    """
    without_fallback, _, _ = version.partition("+")
    _, _, method_part = without_fallback.partition(":")
    method, _, favour = method_part.partition("/")
    name, _, _ = method.partition("@")
    return name, favour or BALANCE
