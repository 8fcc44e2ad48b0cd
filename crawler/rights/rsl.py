"""Licence files of Really Simple Licensing (RSL 1.0, December 2025): what they permit and prohibit.

A file has `<content>` elements, called contents here, each with a pattern of addresses and licences. For each use, the
most specific contents that mention the use count. A content disallows a use if a licence prohibits it, or if licences
list what they permit and none of them permits it. A use that must be paid for, or needs a token of a licence server, is
disallowed, because a crawl neither pays nor has a token. A use that is permitted only to some users or in some
countries is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from math import inf
from urllib.parse import SplitResult, urlsplit

from lxml import etree

from crawler.rights.path_patterns import NOT_COMPARED, PathPattern, matching, path_of
from crawler.rights.statement import ALL_MALFORMED, MAX_SAYS, NOTHING, RightsEvidence, Signal, State, Use, Uses

NAMESPACE = "{https://rslstandard.org/rsl}"
RSL_MEDIA_TYPE = "application/rsl+xml"
MAX_BYTES = 500_000
"""A longer file cannot be parsed."""
MAX_CONTENTS = 1_000
"""Contents of a file that are read; further ones are ignored."""
MAX_LICENCES = 100
"""Licences of a content that are read."""
MAX_ELEMENTS = 20_000
"""Elements of a licence that are read."""
MAX_WORDS = 100
"""Words of an element that are read."""
AI = frozenset((Use.AI_INPUT, Use.AI_TRAIN))
TOKENS = {
    "all": frozenset(Use),
    "ai-all": AI,
    "ai-train": frozenset((Use.AI_TRAIN,)),
    "train-ai": frozenset((Use.AI_TRAIN,)),  # in the guides of the standard
    "ai-input": frozenset((Use.AI_INPUT,)),
    "search": frozenset((Use.SEARCH,)),
}
"""The words for uses in `permits` and `prohibits`."""
FREE = ("free", "attribution")
"""The types of payment that cost nothing."""
_SEPARATORS = re.compile(r"[\s,]+")


@dataclass(frozen=True, slots=True)
class Licence:
    """One licence of a content."""

    permits: frozenset[Use] | None
    """The uses that it permits; None if it does not list them."""
    prohibits: frozenset[Use]
    is_free: bool
    """Whether it costs nothing and needs no token of a licence server."""
    is_for_some: bool
    """Whether it is limited to some users or countries."""


@dataclass(frozen=True, slots=True)
class RslContent:
    """A content: what a file says about the addresses that a pattern matches."""

    host: str
    """The host of the addresses; empty for any host."""
    pattern: PathPattern
    uses: Uses
    says: str
    """The XML of the content, in one line."""
    _: KW_ONLY
    is_page: bool = False
    """Whether it has no address, and so is about the page that names the file or contains it."""

    @property
    def length(self) -> float:
        """How specific it is: a longer pattern is more specific, and contents about a page are the most specific."""
        if self.is_page:
            return inf
        return self.pattern.length


TOO_COSTLY = RslContent(host="", pattern=PathPattern.of(""), uses=ALL_MALFORMED, says=NOT_COMPARED, is_page=True)
"""Replaces contents that were not compared with a path: they may be refusals."""


@dataclass(frozen=True)
class LicenceFile:
    """The contents of a licence file."""

    url: str
    """Its address, or the element of the page that contains it."""
    read_at: str = ""
    """When it was fetched: ISO 8601, in UTC; empty if a page contains it."""
    contents: tuple[RslContent, ...] = ()
    error: str = ""
    """The beginning of a file that cannot be parsed; empty for other files."""

    def evidence(self, url: str, is_of_page: bool = False) -> Iterator[RightsEvidence]:
        """What the file says about an address, the most specific content first. `is_of_page` says whether the page at
        this address names or contains the file; only then the contents without an address count.
        """
        if self.error:
            yield RightsEvidence(Signal.RSL, self.url, self.error, ALL_MALFORMED, self.read_at)
            return
        hosts = ("", urlsplit(url).netloc.lower())
        contents = (
            content for content in self.contents if content.host in hosts and (is_of_page or not content.is_page)
        )
        matching_contents = list(matching(contents, path_of(url), TOO_COSTLY))
        # Of the contents that mention a use, those with the longest pattern count.
        length_of_use: dict[Use, float] = {}
        for content in sorted(matching_contents, key=lambda content: -content.length):
            uses = {
                use: state for use, state in content.uses.items() if length_of_use.get(use) in (None, content.length)
            }
            length_of_use |= dict.fromkeys(uses, content.length)
            yield RightsEvidence(Signal.RSL, self.url, content.says, uses, self.read_at)


def read_file(body: bytes, url: str, read_at: str = "") -> LicenceFile:
    """The contents of a licence file."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    root = None
    if len(body) <= MAX_BYTES:
        with suppress(etree.XMLSyntaxError, ValueError):
            root = etree.fromstring(body.strip(), parser)
    if root is None or root.tag != f"{NAMESPACE}rsl":
        return LicenceFile(url, read_at, error=body[:200].decode("utf-8", "replace") or "empty")
    return LicenceFile(url, read_at, tuple(_contents(root)))


def _contents(root: etree._Element) -> Iterator[RslContent]:
    """The contents of a file."""
    for content in root.findall(f"{NAMESPACE}content")[:MAX_CONTENTS]:
        address = content.get("url", "").strip()
        parts = _parts(address)
        path = parts.path
        if parts.query:
            path += f"?{parts.query}"
        if address and not path:  # only a host: all its paths
            path = "/"
        elements = content.findall(f"{NAMESPACE}license")[:MAX_LICENCES]
        licences = [_licence(element, content.get("server")) for element in elements]
        yield RslContent(
            host=parts.netloc.lower(),
            pattern=PathPattern.of(path),
            uses=_uses(licences),
            says=_one_line(content),
            is_page=not address,
        )


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "\n", "", "")  # a path that matches nothing


def _one_line(content: etree._Element) -> str:
    """The XML of a content in one line."""
    etree.cleanup_namespaces(content)
    return " ".join(etree.tostring(content, encoding="unicode", with_tail=False).split())[:MAX_SAYS]


def _licence(licence: etree._Element, server: str | None) -> Licence:
    """The licence in an element; `server` is the licence server of its content."""
    permits: frozenset[Use] | None = None
    prohibits: frozenset[Use] = frozenset()
    is_for_some = False
    is_free = not server
    for element in list(licence)[:MAX_ELEMENTS]:
        kind = (element.get("type") or "usage").strip().lower()  # "usage", "user" or "geo"
        if element.tag == f"{NAMESPACE}permits" and kind == "usage":
            permits = (permits or frozenset()) | _named_uses(element)
        elif element.tag == f"{NAMESPACE}prohibits" and kind == "usage":
            prohibits |= _named_uses(element)
        elif element.tag in (f"{NAMESPACE}permits", f"{NAMESPACE}prohibits"):
            is_for_some = True
        elif element.tag == f"{NAMESPACE}payment":
            is_free = is_free and element.get("type", "free").strip().lower() in FREE
    return Licence(permits=permits, prohibits=prohibits, is_free=is_free, is_for_some=is_for_some)


def _named_uses(element: etree._Element) -> frozenset[Use]:
    """The uses that a `permits` or `prohibits` element names."""
    words = _SEPARATORS.split((element.text or "").strip().lower())
    return frozenset(use for word in words[:MAX_WORDS] for use in TOKENS.get(word, ()))


def _uses(licences: Iterable[Licence]) -> Uses:
    """What the licences of a content together say about each use."""
    all_licences = list(licences)
    state_of_use = {use: _state(use, all_licences) for use in Use}
    return {use: state for use, state in state_of_use.items() if state is not None} or NOTHING


def _state(use: Use, licences: list[Licence]) -> State | None:
    """What licences together say about a use; None if they do not mention it."""
    if any(use in licence.prohibits for licence in licences):
        return State.DISALLOWED
    permitting = [licence for licence in licences if licence.permits is not None and use in licence.permits]
    if any(licence.is_free and not licence.is_for_some for licence in permitting):
        return State.ALLOWED
    if any(licence.is_free for licence in permitting):
        return State.UNKNOWN  # only some users or countries are permitted
    if any(licence.permits is not None for licence in licences):
        return State.DISALLOWED  # not listed, or not free
    return None
