"""The licence that a page names: in a meta element, JSON-LD, a link with rel=license, or a Creative Commons badge.

Each of these is a candidate, and all candidates are kept as evidence, up to a limit. The licence is the one on which
the candidates of the highest rank agree: those that declare a licence, or else badges and links in the footer. A link
to a licence in the text decides nothing, because it may be about an image.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import Any

from lxml import etree

from crawler.page.json_ld import json_documents
from crawler.page.page import Page
from crawler.rights.licence_names import licence_name
from crawler.rights.rsl import RSL_MEDIA_TYPE
from crawler.rights.statement import MAX_SAYS, RightsEvidence, Signal

MAX_READ = 200
"""Candidates of a page that are read."""
MAX_KEPT = 10
"""Candidates of a page that are kept as evidence; also licences of one node of JSON-LD that are read."""
MAX_NODES = 500
"""Nodes of JSON-LD that are read."""
DECLARED, SHOWN, MENTIONED = range(3)
"""The ranks of candidates, the most reliable first: declared as the licence, shown in a badge or footer, or only
linked.
"""
METAS = "license dc.license dcterms.license dc.rights dcterms.rights cc:license".split()
"""Names of meta elements that may contain a licence. Elements named `rights` may also contain any other text."""
RELATIONS = frozenset("license cc:license dc:license dct:license dcterms:license".split())
"""Values of `rel`, `itemprop` and `property` that declare a licence."""
_ABOUT_OTHERS = re.compile("Object|Person|Organization|Site|Software|Dataset")
"""Types of nodes in JSON-LD whose licence is not that of the text."""
_FOOTER = re.compile(r"(?:^|[\s_-])(?:footer|contentinfo)", re.IGNORECASE)
_BADGES = ("creativecommons.org/l/", "creativecommons.org/p/", "licensebuttons.net/")


class LicencePlace(StrEnum):
    """The part of a page that an element is in."""

    HEAD = "head"
    FOOTER = "footer"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class LicenceCandidate:
    """A licence that a page may have."""

    kind: str
    """The kind of element that names it."""
    place: LicencePlace | None
    """None if it is in JSON-LD."""
    says: str
    """The address or text of the licence, as the page has it."""
    name: str | None
    """The name of the licence; None if it is unknown."""
    rank: int
    """DECLARED, SHOWN or MENTIONED."""


def licence(page: Page) -> tuple[str | None, tuple[RightsEvidence, ...]]:
    """The name of a page's licence, or None if it has none or the deciding candidates name different ones; and the
    candidates as evidence, the most reliable first.
    """
    candidates = list(dict.fromkeys(islice(_candidates(page), MAX_READ)))
    if not candidates:
        return None, ()

    deciding = [candidate for candidate in candidates if candidate.name and candidate.rank < MENTIONED]
    deciding_rank = min((candidate.rank for candidate in deciding), default=MENTIONED)
    names = _distinct(candidate.name for candidate in deciding if candidate.rank == deciding_rank)
    chosen = None
    if len(names) == 1:
        chosen = names[0]

    kept = sorted(candidates, key=lambda candidate: candidate.rank)[:MAX_KEPT]
    is_contradiction = len(names) > 1
    evidence = (_evidence(candidate, is_contradiction and candidate.rank == deciding_rank) for candidate in kept)
    return chosen, tuple(evidence)


def _evidence(candidate: LicenceCandidate, is_contradicted: bool) -> RightsEvidence:
    """A candidate as evidence. With `is_contradicted`, candidates of the same rank name other licences, which `where`
    says.
    """
    where = [candidate.kind]
    if candidate.place:
        where.append(candidate.place)
    if is_contradicted and candidate.name:
        where.append("contradiction")
    return RightsEvidence(Signal.LICENCE, ", ".join(where), candidate.says)


def _distinct(names: Iterable[str | None]) -> list[str]:
    """The names, each once, without a name that lacks only the version of another one.

    >>> _distinct(["CC-BY", "CC-BY-4.0"]), _distinct(["CC-BY", "CC-BY-NC-4.0"])
    (['CC-BY-4.0'], ['CC-BY', 'CC-BY-NC-4.0'])
    """
    distinct_names = list(dict.fromkeys(filter(None, names)))
    return [name for name in distinct_names if not any(_adds_version(name, other) for other in distinct_names)]


def _adds_version(name: str, other: str) -> bool:
    """Whether another name of a licence is this one with a version."""
    return other.startswith(f"{name}-") and other[len(name) + 1 :][:1].isdigit()


def _candidates(page: Page) -> Iterator[LicenceCandidate]:
    """The candidates of a page: those in meta elements, in JSON-LD, in link elements, in links, and in images."""
    for name in METAS:
        says = page.head.metas.get(name, "").strip()
        # Under the name `rights`, only a known licence is a candidate.
        if says and (name.endswith("license") or licence_name(says)):
            yield _candidate(f"meta {name}", LicencePlace.HEAD, says, DECLARED)
    for says in chain.from_iterable(map(_licences_of_script, page.head.scripts)):
        yield _candidate("json-ld license", None, says, DECLARED)
    for element in page.metadata_elements("link"):
        if _declares(element, element.get("rel") or element.get("itemprop")):
            yield _candidate("link rel=license", _place(element), element.get("href", ""), DECLARED)
    yield from _links(page)
    for image in page.image_elements:
        source = image.element.get("src", "")
        if any(badge in source for badge in _BADGES):
            yield _candidate("badge", _place(image.element), source, SHOWN)


def _links(page: Page) -> Iterator[LicenceCandidate]:
    """The links of the body that declare a licence, or lead to one of Creative Commons."""
    for link in page.link_elements:
        href = link.href or ""
        relation = link.element.get("rel")
        is_of_cc = "creativecommons.org/" in href
        if is_of_cc:
            relation = relation or link.element.get("itemprop") or link.element.get("property")
        if relation and _declares(link.element, relation):
            yield _candidate("a rel=license", _place(link.element), href, DECLARED)
        elif is_of_cc and licence_name(href):
            place = _place(link.element)
            rank = MENTIONED
            if place is LicencePlace.FOOTER or link.has_image:
                rank = SHOWN
            yield _candidate("a", place, href, rank)


def _candidate(kind: str, place: LicencePlace | None, says: str, rank: int) -> LicenceCandidate:
    return LicenceCandidate(kind=kind, place=place, says=says[:MAX_SAYS], name=licence_name(says), rank=rank)


def _declares(element: etree._Element, relation: str | None) -> bool:
    """Whether an element with this relation declares a licence, other than a licence file of RSL
    (crawler/rights/rsl.py).
    """
    words = (relation or "").lower().split()
    return not RELATIONS.isdisjoint(words) and element.get("type", "").lower() != RSL_MEDIA_TYPE


def _place(element: etree._Element) -> LicencePlace:
    """The part of the page that an element is in."""
    for ancestor in chain((element,), element.iterancestors()):
        if ancestor.tag in ("head", "footer"):
            return LicencePlace(ancestor.tag)
        if any(_FOOTER.search(ancestor.get(name, "")) for name in ("class", "id", "role")):
            return LicencePlace.FOOTER
    return LicencePlace.BODY


def _licences_of_script(script: str) -> Iterator[str]:
    """The licences of the main nodes of JSON-LD, except nodes that are not about the text, such as images. Of other
    nodes, only those under `@graph` or a main entity are read.
    """
    if '"license"' not in script:  # so most scripts need not be parsed
        return
    nodes: list[Any] = json_documents(script)
    for _ in range(MAX_NODES):
        if not nodes:
            return
        node = nodes.pop(0)
        if isinstance(node, list):
            nodes += node[:MAX_NODES]
        elif isinstance(node, dict):
            nodes += [node[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in node]
            if not _ABOUT_OTHERS.search(str(node.get("@type"))[:MAX_SAYS]):
                yield from _licence_texts(node.get("license"))


def _licence_texts(value: Any) -> Iterator[str]:
    """The address or name of each licence in a value of JSON-LD: a text, a node, or a list of these."""
    if not isinstance(value, list):
        value = [value]
    for item in value[:MAX_KEPT]:
        text = item
        if isinstance(item, dict):
            text = item.get("@id") or item.get("url") or item.get("name")
        if isinstance(text, str) and text.strip():
            yield text.strip()
