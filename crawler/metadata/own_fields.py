"""Own fields: the values that a user selects from pages with CSS or XPath selectors in a TOML file.

["shop.example.org"]                # pages of this host and of its subdomains; "*" is all pages
price = ".price"                    # CSS: the text of the first element, or None
seller = "//a[@rel='author']/@href" # XPath, as it begins with /, ( or ./
sizes = [".size"]                   # in brackets: a list of all values
"""

from __future__ import annotations

import copyreg
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cssselect import SelectorError
from cssselect.xpath import XPathExpr
from lxml import etree
from parsel.csstranslator import HTMLTranslator

from crawler.errors import OwnFieldsError
from crawler.page.text import fold_space

MAX_FILE = 1024 * 1024  # bytes
MAX_VALUES = 1_000  # values of a field on a page
MAX_CHARACTERS = 100_000  # characters of a value
MAX_CHARACTERS_OF_PAGE = 1_000_000  # characters of all values of a page
MAX_READ = 10 * MAX_CHARACTERS  # characters of an element, including white space
UNREAD_TAGS = ("script", "style")
XPATH_BEGINNINGS = ("/", "(", "./")
ALL_SITES = "*"
XPATH_ERRORS = (etree.XPathError, ValueError, TypeError)
"""Errors of compiling and evaluating an XPath. A ValueError comes from characters that XML forbids, a TypeError from
functions.
"""
SIBLING_COUNT = re.compile(r"count\(((?:preceding|following)-sibling::[^()\[\]]+)\) = (\d+)")
"""The condition that cssselect writes for :nth-child(2) and similar selectors: it counts all siblings of an element."""

copyreg.pickle(etree.XPath, lambda find: (etree.XPath, (find.path,)))  # so that other processes can get the fields


class CssTranslator(HTMLTranslator):
    """Translates CSS to an XPath that visits each element of a page once, and only some of its siblings.

    The XPath of parsel takes time that grows with the square of a list's length, and with its depth; there are pages
    with lists of 50,000 elements. Here, "a b" finds each b and then looks for an a above it.
    """

    def css_to_xpath(self, css: str, prefix: str = "descendant-or-self::") -> str:
        if "*::text" in css:  # parsel alone translates ".x *::text" so that it includes the text of .x itself
            return HTMLTranslator().css_to_xpath(css, prefix)
        return SIBLING_COUNT.sub(_without_count, super().css_to_xpath(css, prefix))

    def xpath_descendant_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        return right.add_condition(f"ancestor::{left}")

    def xpath_child_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        return right.add_condition(f"parent::{left}")

    def xpath_direct_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        return right.add_condition(f"preceding-sibling::*[1]/self::{left}")

    def xpath_indirect_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        return right.add_condition(f"preceding-sibling::{left}")


def _without_count(sibling_count: re.Match[str]) -> str:
    """The condition of SIBLING_COUNT without counting all siblings: the sibling with the number exists, the next not.

    >>> CssTranslator().css_to_xpath("p a:nth-child(2)")
    'descendant-or-self::a[((preceding-sibling::*[1] and not(preceding-sibling::*[2]))) and (ancestor::p)]'
    """
    siblings = sibling_count[1]
    number = int(sibling_count[2])
    none_more = f"not({siblings}[{number + 1}])"
    if number:
        return f"({siblings}[{number}] and {none_more})"
    return none_more


@dataclass(frozen=True, slots=True)
class Selector:
    """The selector of one field."""

    name: str
    """The name of the field."""
    find: etree.XPath
    """Returns the elements, texts or other results on a page."""
    wants_all: bool
    """Whether the field is a list of all values, and not the first value."""


@dataclass(frozen=True, slots=True)
class FoundFields:
    """The own fields of a page."""

    values: dict[str, Any]
    """The values by the name of their field; None or an empty list if nothing was found."""
    cut: int
    """How many values were cut or dropped because of the MAX_ limits."""
    failures: list[str]
    """The fields whose selectors fail on this page, each with the reason."""


class OwnFields:
    """The selectors of a file, by host; those for all sites are under ALL_SITES."""

    def __init__(self, selectors: Mapping[str, tuple[Selector, ...]]) -> None:
        self.selectors = selectors

    def read(self, url: str, root: etree._Element) -> FoundFields:
        """The fields of the page at `url`, whose root element is `root`."""
        values: dict[str, Any] = {}
        failures: list[str] = []
        left = MAX_CHARACTERS_OF_PAGE
        cut = 0
        for selector in self._selectors_for(url):
            try:
                results = _result_list(selector.find(root))
            except XPATH_ERRORS as error:  # some errors occur only on pages where the selector finds something
                failures.append(f"{selector.name}: {error}")
                results = []
            texts, cut_of_field = _texts(results, selector.wants_all, left)
            left -= sum(map(len, texts))
            cut += cut_of_field
            if selector.wants_all:
                values[selector.name] = texts
            else:
                values[selector.name] = next(iter(texts), None)
        return FoundFields(values=values, cut=cut, failures=failures)

    def _selectors_for(self, url: str) -> Iterator[Selector]:
        """The selectors for an address: those for all sites, then from the widest domain to the narrowest."""
        labels = (urlsplit(url).hostname or "").split(".")
        for name in (ALL_SITES, *(".".join(labels[at:]) for at in range(len(labels) - 1, -1, -1))):
            yield from self.selectors.get(name, ())


def read_own_fields(path: Path) -> OwnFields:
    """The fields in a file; raises an OwnFieldsError if there are none."""
    try:
        with path.open("rb") as file:
            source = file.read(MAX_FILE + 1)
        tables = {}
        if len(source) <= MAX_FILE:
            tables = tomllib.loads(source.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or " ".join(str(error).split())[:100]
        raise OwnFieldsError("fields={path} cannot be read as TOML ({why})", path=repr(str(path)), why=why) from None
    if not tables:
        raise OwnFieldsError(
            'fields={path} gives no fields; give a small file of tables such as ["example.org"]', path=repr(str(path))
        )
    wrong = partial(_wrong, str(path))
    return OwnFields({host.lower(): tuple(_selectors(host, table, wrong)) for host, table in tables.items()})


def _selectors(host: str, table: object, wrong: Callable[[str, str], OwnFieldsError]) -> Iterator[Selector]:
    """The selectors in the table of a host; `wrong` returns the error for a place and a reason."""
    if not isinstance(table, dict):
        raise wrong(host, 'fields stand below the name of a host in brackets and quotes, or "*"')
    if "/" in host or ":" in host:
        raise wrong(host, "a host has a name or a number, and neither scheme, port nor path")
    for name, rule in table.items():
        place = f"{host}: {name}"
        if isinstance(rule, dict):
            raise wrong(place, 'a host with dots stands in quotes: ["example.org"]')  # TOML reads each label as a table
        wants_all = isinstance(rule, list)
        selector = rule
        if wants_all:
            selector = rule[0] if len(rule) == 1 else ""  # an empty selector is rejected below
        if not isinstance(selector, str) or not selector.strip():
            raise wrong(place, "a field has one selector in quotes, in brackets where all values are wanted")
        yield Selector(name=name, find=_compiled(selector.strip(), partial(wrong, place)), wants_all=wants_all)


def _compiled(selector: str, wrong: Callable[[str], OwnFieldsError]) -> etree.XPath:
    """The XPath of a selector; `wrong` returns the error for a reason."""
    try:
        path = selector if selector.startswith(XPATH_BEGINNINGS) else CssTranslator().css_to_xpath(selector)
        find = etree.XPath(path)
        find(etree.Element("html"))  # unknown functions and namespaces are found only by evaluating it
    except (SelectorError, RecursionError, *XPATH_ERRORS) as error:
        raise wrong(f"{selector[:200]!r} is no selector of CSS or XPath ({error})") from None
    return find


def _wrong(path: str, place: str, why: str) -> OwnFieldsError:
    """The error that a place in the file is wrong."""
    return OwnFieldsError("fields={path}: {place}: {why}", path=repr(path), place=place, why=why)


def _result_list(result: object) -> list[Any]:
    """The results of an XPath: elements and texts; or one number, text or boolean."""
    return result if isinstance(result, list) else [result]


def _texts(results: Sequence[Any], wants_all: bool, left: int) -> tuple[list[str], int]:
    """The texts of all results of a selector, or of the first with text; and how many were cut or dropped.

    `left` is how many characters the values of the page may still have.
    """
    texts: list[str] = []
    cut = 0
    for at, result in enumerate(results):
        if len(texts) == MAX_VALUES or left <= 0:
            cut += len(results) - at if wants_all else 1
            break
        text = _text(result)
        if not text:
            continue
        cut += len(text) > MAX_CHARACTERS
        texts.append(text[:MAX_CHARACTERS])
        left -= len(texts[-1])
        if not wants_all:
            break
    return texts, cut


def _text(result: Any) -> str:
    """The text of an element, without the scripts and styles in it, or of another result, such as an attribute."""
    if not isinstance(result, etree._Element):
        return fold_space(str(result))
    parts: list[str] = []
    length = 0
    walk = etree.iterwalk(result, events=("start", "end"))
    for event, element in walk:
        part = None
        if event == "start" and element.tag in UNREAD_TAGS and element is not result:
            walk.skip_subtree()
        elif event == "start":
            part = element.text
        elif element is not result:
            part = element.tail
        if part:
            parts.append(part)
            length += len(part)
            if length > MAX_READ:
                break
    return fold_space("".join(parts))
