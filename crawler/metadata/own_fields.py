"""Own fields: values that a user wants from pages, found by the CSS or XPath selectors in a TOML file.

["shop.example.org"]                # pages of this host and of the hosts below it; "*" is all pages
price = ".price"                    # CSS: the text of the first element, or None
seller = "//a[@rel='author']/@href" # begins with / or (: XPath
sizes = [".size"]                   # in brackets: a list of all there are
"""

from __future__ import annotations

import copyreg
import re
import tomllib
from collections.abc import Iterator, Mapping
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
MAX_LETTERS = 100_000  # of a value
MAX_LETTERS_OF_PAGE = 1_000_000
MOST_READ = 10 * MAX_LETTERS  # characters of an element, including white space
UNREAD = ("script", "style")
XPATH = ("/", "(", "./")
ALL_SITES = "*"
FAULTS = (etree.XPathError, ValueError, TypeError)
"""What compiling and evaluating an XPath raises; the last two come from functions and characters."""


COUNTED = re.compile(r"count\(((?:preceding|following)-sibling::[^()\[\]]+)\) = (\d+)")


copyreg.pickle(etree.XPath, lambda find: (etree.XPath, (find.path,)))  # further workers get the fields too


class CssTranslator(HTMLTranslator):
    """Translates so that each element of a page is looked at once, and at most some of its siblings.

    Else the time grows with the square of a list's length, and with its depth: pages have lists of 50,000 elements.
    """

    def css_to_xpath(self, css: str, prefix: str = "descendant-or-self::") -> str:
        if "*::text" in css:  # to parsel ".x *::text" is also the text of .x itself
            return HTMLTranslator().css_to_xpath(css, prefix)
        return COUNTED.sub(_compared, super().css_to_xpath(css, prefix))

    def xpath_descendant_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        return right.add_condition(f"ancestor::{left}")

    def xpath_child_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        return right.add_condition(f"parent::{left}")

    def xpath_direct_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        return right.add_condition(f"preceding-sibling::*[1]/self::{left}")

    def xpath_indirect_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        return right.add_condition(f"preceding-sibling::{left}")


def _compared(counted: re.Match[str]) -> str:
    """The condition that there are so many siblings, without counting all.

    >>> CssTranslator().css_to_xpath("p a:nth-child(2)")
    'descendant-or-self::a[((preceding-sibling::*[1] and not(preceding-sibling::*[2]))) and (ancestor::p)]'
    """
    siblings = counted[1]
    number = int(counted[2])
    none_more = f"not({siblings}[{number + 1}])"
    if number:
        return f"({siblings}[{number}] and {none_more})"
    return none_more


@dataclass(frozen=True, slots=True)
class Selector:
    """How one field is found."""

    name: str
    find: etree.XPath
    wants_all: bool


@dataclass(frozen=True, slots=True)
class FoundFields:
    """The own fields of a page."""

    values: dict[str, Any]
    """None or an empty list where there is nothing."""
    cut: int
    """How many values are beyond the limits."""
    failures: list[str]
    """The fields whose selectors fail on this page, each with the reason."""


class OwnFields:
    """The selectors of a file, by host."""

    def __init__(self, selectors: Mapping[str, tuple[Selector, ...]]) -> None:
        self.selectors = selectors

    def read(self, url: str, root: etree._Element) -> FoundFields:
        """The fields of a page."""
        values: dict[str, Any] = {}
        failures: list[str] = []
        left = MAX_LETTERS_OF_PAGE
        cut = 0
        for selector in self._of(url):
            texts: list[str] = []
            try:
                results = _listed(selector.find(root))
            except FAULTS as error:  # types are compared only where something is found
                failures.append(f"{selector.name}: {error}")
                results = []
            for at, each in enumerate(results):
                if len(texts) == MAX_VALUES or left <= 0:
                    cut += len(results) - at if selector.wants_all else 1
                    break
                text = _text(each)
                if text:
                    cut += len(text) > MAX_LETTERS
                    texts.append(text[:MAX_LETTERS])
                    left -= len(texts[-1])
                    if not selector.wants_all:
                        break
            values[selector.name] = texts if selector.wants_all else next(iter(texts), None)
        return FoundFields(values=values, cut=cut, failures=failures)

    def _of(self, url: str) -> Iterator[Selector]:
        """The selectors for an address: those for all sites, then from the widest domain to the narrowest."""
        labels = (urlsplit(url).hostname or "").split(".")
        for name in (ALL_SITES, *(".".join(labels[at:]) for at in range(len(labels) - 1, -1, -1))):
            yield from self.selectors.get(name, ())


def read_own_fields(path: Path) -> OwnFields:
    """The fields in a file; raises an OwnFieldsError if there are none."""
    try:
        with path.open("rb") as file:
            source = file.read(MAX_FILE + 1)
        tables = tomllib.loads(source.decode("utf-8-sig")) if len(source) <= MAX_FILE else None
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or " ".join(str(error).split())[:100]
        raise OwnFieldsError("fields={path} cannot be read as TOML ({why})", path=repr(str(path)), why=why) from None
    if not tables:
        raise OwnFieldsError(
            'fields={path} gives no fields; give a small file of tables such as ["example.org"]', path=repr(str(path))
        )
    wrong = partial(_wrong, str(path))
    return OwnFields({host.lower(): tuple(_selectors(host, table, wrong)) for host, table in tables.items()})


def _selectors(host: str, table: object, wrong: Any) -> Iterator[Selector]:
    if not isinstance(table, dict):
        raise wrong(host, 'fields stand below the name of a host in brackets and quotes, or "*"')
    if "/" in host or ":" in host:
        raise wrong(host, "a host has a name or a number, and neither scheme, port nor path")
    for name, rule in table.items():
        place = f"{host}: {name}"
        if isinstance(rule, dict):
            raise wrong(place, 'a host with dots stands in quotes: ["example.org"]')
        wants_all = isinstance(rule, list)
        selectors = rule if wants_all else [rule]
        selector = selectors[0] if len(selectors) == 1 else ""
        if not isinstance(selector, str) or not selector.strip():
            raise wrong(place, "a field has one selector in quotes, in brackets where all values are wanted")
        yield Selector(name=name, find=_compiled(selector.strip(), partial(wrong, place)), wants_all=wants_all)


def _compiled(selector: str, wrong: Any) -> etree.XPath:
    try:
        path = selector if selector.startswith(XPATH) else CssTranslator().css_to_xpath(selector)
        find = etree.XPath(path)
        find(etree.Element("html"))  # functions and namespaces are looked up only now
    except (SelectorError, RecursionError, *FAULTS) as error:
        raise wrong(f"{selector[:200]!r} is no selector of CSS or XPath ({error})") from None
    return find


def _wrong(path: str, place: str, why: str) -> OwnFieldsError:
    return OwnFieldsError("fields={path}: {place}: {why}", path=repr(path), place=place, why=why)


def _listed(result: object) -> list[Any]:
    """The result of an XPath: a list of elements and texts; or one number, text or boolean."""
    return result if isinstance(result, list) else [result]


def _text(result: Any) -> str:
    """The text in an element without scripts, or of an attribute."""
    if not isinstance(result, etree._Element):
        return fold_space(str(result))
    parts: list[str] = []
    letters = 0
    walk = etree.iterwalk(result, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            part = element.tail if element is not result else None
        elif element.tag in UNREAD and element is not result:
            walk.skip_subtree()
            part = None
        else:
            part = element.text
        if part:
            parts.append(part)
            letters += len(part)
            if letters > MOST_READ:
                break
    return fold_space("".join(parts))
