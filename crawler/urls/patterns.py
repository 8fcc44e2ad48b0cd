"""The pattern of an address: what it has in common with other addresses of its site.

    http://a.example/2024/05/some-title/comment-page-2   /#/#/*/comment-page-#
    http://a.example/index.php?action=edit&title=Bird    /index.php?action=edit&title=*

A part is a segment of the path, the text before a colon in a segment, or a parameter with its value. A part that many
different addresses have is a name. It is kept in the pattern, with its digits as `#`: `category` is a name, the title
of one category is not. A segment that is a number becomes `#`, every other part `*`.

If the addresses of a site look alike, the links to them may tell them apart. A label is the text of a link or the class
of its element. A label becomes part of patterns if links with this label lead to many different addresses, as links
named "Reply" do.

    http://a.example/x/8f3a2c, from a link "Reply"                /x/* "reply"

Each parameter also has a pattern for all paths (`*?id=*`), because some parameters say nothing about the page
(`shorter_addresses`).
"""

import re
from collections.abc import Iterable
from functools import lru_cache

LEAST_ADDRESSES = 12
LEAST_SHARE = 0.02
"""A part becomes a name when at least this many addresses have it, and at least this share of all addresses that were
seen. Addresses that differ only in digits count as one, except for a number right after the part: `/topic/17` and
`/topic/18` are two addresses with `topic`.
"""
MOST_NAMES = 60
"""The most names of a site, and the most labels in its patterns; a site can invent any number."""
MOST_PARTS = 500
"""The most parts, and the most labels, that are counted for a site; the rarest are dropped first."""
MOST_DEPTH = 8
"""The most segments, and the most parameters, that are read of an address."""
MOST_LENGTH = 40
"""The most characters of a segment, and of a parameter's name and value; the rest is cut off."""
MOST_LABEL = 24
"""The most characters of a label: a longer text of a link is no label, and a longer class is cut off."""
DIGITS = re.compile(r"[0-9]+")
NUMBERED = re.compile(r"(?<=/)([^/?#0-9]+)/([0-9]+)(?=[/?#]|$)")
"""A segment without digits and the number after it."""
ANY_QUERY = "?*"
"""The end of a pattern for all queries of a path."""
ANY_PATH = "*?"
"""The beginning of a pattern for a parameter of any path."""
LETTER = re.compile(r"[^\W\d_]|%[0-9A-F]")
"""A letter; an escape counts as one."""

Parts = tuple[tuple[str, ...], tuple[str, ...]]
"""The segments and the parameters of an address, with runs of digits as `#`."""


class Patterns:
    """The patterns of one site. Its names are learned from the addresses that are seen."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self.names: set[str] = set()
        self.labels: set[str] = set()
        """The labels that are part of patterns."""
        self.seen = 0
        """How many addresses were seen."""
        self._addresses: dict[str, set[int]] = {}
        """For each part that may become a name, the addresses that have it."""
        self._labelled: dict[str, set[int]] = {}
        """For each label that may become part of patterns, the addresses that links with it lead to."""
        self.learn(patterns)

    def learn(self, patterns: Iterable[str]) -> None:
        """Learn the names in patterns that are known from an earlier run or another worker."""
        for pattern in patterns:
            without_label, _, label = pattern.partition(" ")
            self.names.update(sorted(_names(_parts(without_label)))[: MOST_NAMES - len(self.names)])
            if label and len(self.labels) < MOST_NAMES:
                self.labels.add(label)

    def see(self, url: str, labels: str = "") -> bool:
        """Count the parts of a new address, and the labels of the link to it; returns whether a part became a name."""
        self.seen += 1
        without_digits = hash(DIGITS.sub("#", url))
        has_new_name = False
        numbers = dict(NUMBERED.findall(url))
        for part in _names(_parts(url)) - self.names:
            has_new_name |= self._count(self._addresses, self.names, part, hash((without_digits, numbers.get(part))))
        for label in set(labels.splitlines()) - self.labels:
            self._count(self._labelled, self.labels, label, hash(url))
        return has_new_name

    def _count(self, addresses: dict[str, set[int]], names: set[str], part: str, address: int) -> bool:
        """Count an address that has this part (or label); returns whether the part became one of the `names`.

        `addresses` are those of all parts that are counted.
        """
        addresses_with_part = addresses.setdefault(part, set())
        addresses_with_part.add(address)
        if len(addresses_with_part) >= max(LEAST_ADDRESSES, LEAST_SHARE * self.seen) and len(names) < MOST_NAMES:
            del addresses[part]
            names.add(part)
            return True
        if len(addresses) > MOST_PARTS:
            # Drop parts until half the limit is left, so that this slow sorting is rare.
            rarest_first = sorted(addresses, key=lambda part_or_label: len(addresses[part_or_label]))
            for rare in rarest_first[: len(addresses) - MOST_PARTS // 2]:
                del addresses[rare]
        return False

    def label(self, labels: str) -> str:
        """The first of a link's labels that is part of patterns; empty if none is."""
        return next((label for label in labels.splitlines() if label in self.labels), "")

    def of(self, url: str) -> str:
        """The pattern of an address.

        >>> patterns = Patterns(["/tag/*"])
        >>> patterns.of("http://a.example/tag/bees/"), patterns.of("http://a.example/2024/bees?page=2&sort=new")
        ('/tag/*', '/#/*?page=*&sort=*')
        """
        segments, parameters = _parts(url)
        path = "".join(f"/{self._segment(segment)}" for segment in segments) or "/"
        query = sorted(map(self._parameter_pattern, parameters))
        if query:
            return f"{path}?{'&'.join(query)}"
        return path

    def _segment(self, segment: str) -> str:
        if segment in self.names or segment == "#":
            return segment
        before, colon, _ = segment.partition(":")
        if colon and f"{before}:" in self.names:
            return f"{before}:*"
        return "*"

    def _parameter_pattern(self, parameter: str) -> str:
        if parameter in self.names:
            return parameter
        return parameter.partition("=")[0] + "=*"


def with_any_query(pattern: str) -> str:
    """The pattern of the same path with any query; empty for a pattern without a query.

    >>> with_any_query("/timeline?c=*&y=ci"), with_any_query("/timeline")
    ('/timeline?*', '')
    """
    without_label = pattern.partition(" ")[0]
    path, mark, _ = without_label.partition("?")
    if mark:
        return path + ANY_QUERY
    return ""


def shorter_addresses(url: str) -> dict[str, str]:
    """For each parameter of an address or of its route, the pattern of the parameter and the address without it.

    >>> shorter_addresses("http://a.example/manual?page=2&id=bees")
    {'*?page=*': 'http://a.example/manual?id=bees', '*?id=*': 'http://a.example/manual?page=2'}
    >>> shorter_addresses("http://a.example/#/manual?id=bees"), shorter_addresses("http://a.example/?id=bees#/manual")
    ({'*?id=*': 'http://a.example/#/manual'}, {})
    """
    path, mark, query = url.rpartition("?")
    if not mark or "#" in query:
        return {}
    parameters = query.split("&")
    if len(parameters) > MOST_DEPTH:
        return {}
    address_of_pattern = {}
    for parameter in parameters:
        pattern = f"{ANY_PATH}{parameter.partition('=')[0][:MOST_LENGTH]}=*"
        rest = "&".join(other for other in parameters if other != parameter)
        address_of_pattern[pattern] = path
        if rest:
            address_of_pattern[pattern] = f"{path}?{rest}"
    return address_of_pattern


def names_of(pattern: str) -> frozenset[str]:
    """The parts that a pattern may have in common with others: its names, and its parameters without their values.

    >>> sorted(names_of("/index.php/*?action=edit&title=*"))
    ['action=', 'action=edit', 'index.php', 'title=']
    """
    segments, parameters = _parts(pattern.partition(" ")[0].removesuffix(ANY_QUERY))
    without_values = {parameter.partition("=")[0] + "=" for parameter in parameters}
    return frozenset(_names((segments, parameters)) | without_values)


def labels_of(text: str, its_class: str) -> str:
    """The possible labels of a link, one on each line: its text, if it is short, and the class of its element.

    >>> labels_of("12 replies", "btn"), labels_of("A title of many words, of one page only", "")
    ('"# replies"\\n.btn', '')
    """
    labels = []
    if len(text) <= MOST_LABEL and text.isprintable() and LETTER.search(text):
        labels.append(f'"{text.casefold()}"')
    if its_class.isprintable() and LETTER.search(its_class):
        labels.append(f".{its_class[:MOST_LABEL]}")
    return DIGITS.sub("#", "\n".join(labels))


@lru_cache(maxsize=4096)  # `see` and `of` are called for the same link, one soon after the other
def _parts(url: str) -> Parts:
    """The parts of an address or of a pattern."""
    rest = ""  # the path and what follows it
    if url.startswith("/"):
        rest = url
    elif url.count("/") > 2:
        rest = url.split("/", 3)[3]
    path, _, query = DIGITS.sub("#", rest).partition("?")
    segments = tuple([segment[:MOST_LENGTH] for segment in path.split("/") if segment][:MOST_DEPTH])
    return segments, tuple([_parameter(parameter) for parameter in query.split("&")[:MOST_DEPTH] if parameter])


def _names(parts: Parts) -> set[str]:
    """The parts that may be names: texts before a colon, segments with a letter, and parameters with a letter in their
    value.
    """
    segments, parameters = parts
    prefixes = {f"{segment.partition(':')[0]}:" for segment in segments if ":" in segment}
    # In a pattern, `Talk:*` has only the prefix.
    whole = {segment for segment in segments if LETTER.search(segment) and not segment.endswith(":*")}
    return prefixes | whole | {parameter for parameter in parameters if LETTER.search(parameter.partition("=")[2])}


def _parameter(text: str) -> str:
    name, _, value = text.partition("=")
    return f"{name[:MOST_LENGTH]}={value[:MOST_LENGTH]}"
