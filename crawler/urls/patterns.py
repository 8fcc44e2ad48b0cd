"""The pattern of an address: what it has in common with other addresses of its site.

    http://a.example/2024/05/some-title/comment-page-2   /#/#/*/comment-page-#
    http://a.example/index.php?action=edit&title=Bird    /index.php?action=edit&title=*

A part that stands in many different addresses is a name and stays, with its digits as `#`: `category` does, the name of
one category does not. A segment that is a number becomes `#`, every other part `*`. Parts are the segments of the path,
what stands before a colon in a segment, and the parameters with their values.

Where a site's addresses look alike, its links may tell: a label is the text of a link or the class of its element, and
it counts if links with it lead to many different addresses, as those called "Reply" do.

    http://a.example/x/8f3a2c, from a link "Reply"                /x/* "reply"

A parameter has a pattern of its own, whatever the path is, as some say nothing about the page (`*?id=*`).
"""

import re
from collections.abc import Iterable
from functools import lru_cache

LEAST_ADDRESSES, LEAST_SHARE = 12, 0.02
"""A part is a name if it is in so many addresses and in such a share of all that were seen. It stays a name then.
Addresses that differ in digits only are one, unless these are the number right after the part, as in `/topic/17`.
"""
MOST_NAMES = 60
"""Names of a site, and as many labels; a site can invent any number."""
MOST_PARTS = 500
"""Parts of a site that may become names, and as many labels; those of the fewest addresses are forgotten first."""
MOST_DEPTH = 8
"""Segments and parameters that are read of an address."""
MOST_LENGTH = 40
"""Characters of a name."""
MOST_LABEL = 24
"""Characters of a link's text that may be a label."""
DIGITS = re.compile(r"[0-9]+")
NUMBERED = re.compile(r"(?<=/)([^/?#0-9]+)/([0-9]+)(?=[/?#]|$)")
"""A segment without digits and the number after it."""
ANY_QUERY = "?*"
"""What a pattern ends with that stands for all queries of a path."""
ANY_PATH = "*?"
"""What a pattern begins with that stands for a parameter of any path."""
LETTER = re.compile(r"[^\W\d_]|%[0-9A-F]")

Parts = tuple[tuple[str, ...], tuple[str, ...]]
"""The segments and the parameters of an address."""


class Patterns:
    """The patterns of one site, which learn its names from the addresses that are seen."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self.names: set[str] = set()
        self.labels: set[str] = set()
        self.seen = 0
        self._addresses: dict[str, set[int]] = {}
        """For each part that may become a name, the addresses that have it."""
        self._labelled: dict[str, set[int]] = {}
        """For each label that may become a name, the addresses that have it."""
        self.learn(patterns)

    def learn(self, patterns: Iterable[str]) -> None:
        """Learn the names in patterns that are known from an earlier run or another worker."""
        for pattern in patterns:
            shape, _, label = pattern.partition(" ")
            self.names.update(sorted(_names(_parts(shape)))[: MOST_NAMES - len(self.names)])
            if label and len(self.labels) < MOST_NAMES:
                self.labels.add(label)

    def see(self, url: str, labels: str = "") -> bool:
        """Count the parts of an address that was not seen before, and the labels of the link to it; returns whether a
        part became a name.
        """
        self.seen += 1
        folded, has_new = hash(DIGITS.sub("#", url)), False
        numbers = dict(NUMBERED.findall(url))
        for part in _names(_parts(url)) - self.names:
            has_new |= self._count(self._addresses, self.names, part, hash((folded, numbers.get(part))))
        for label in set(labels.splitlines()) - self.labels:
            self._count(self._labelled, self.labels, label, hash(url))
        return has_new

    def _count(self, addresses: dict[str, set[int]], names: set[str], part: str, address: int) -> bool:
        """Count an address that has a part or a label; returns whether this made it known."""
        having = addresses.setdefault(part, set())
        having.add(address)
        if len(having) >= max(LEAST_ADDRESSES, LEAST_SHARE * self.seen) and len(names) < MOST_NAMES:
            del addresses[part]
            names.add(part)
            return True
        if len(addresses) > MOST_PARTS:
            for rare in sorted(addresses, key=lambda part_or_label: len(addresses[part_or_label]))[
                : len(addresses) - MOST_PARTS // 2
            ]:
                del addresses[rare]
        return False

    def label(self, labels: str) -> str:
        """The first of the labels of a link that counts, or an empty string."""
        return next((label for label in labels.splitlines() if label in self.labels), "")

    def of(self, url: str) -> str:
        """The pattern of an address.

        >>> patterns = Patterns(["/tag/*"])
        >>> patterns.of("http://a.example/tag/bees/"), patterns.of("http://a.example/2024/bees?page=2&sort=new")
        ('/tag/*', '/#/*?page=*&sort=*')
        """
        segments, parameters = _parts(url)
        path = "".join(f"/{self._segment(segment)}" for segment in segments) or "/"
        query = sorted(
            parameter if parameter in self.names else parameter.partition("=")[0] + "=*" for parameter in parameters
        )
        if query:
            return f"{path}?{'&'.join(query)}"
        return path

    def _segment(self, segment: str) -> str:
        if segment in self.names:
            return segment
        before, colon, _ = segment.partition(":")
        if colon and f"{before}:" in self.names:
            return f"{before}:*"
        return "#" if segment == "#" else "*"


def with_any_query(pattern: str) -> str:
    """The pattern of the same path with any query; empty for a pattern without a query.

    >>> with_any_query("/timeline?c=*&y=ci"), with_any_query("/timeline")
    ('/timeline?*', '')
    """
    path, mark, _ = pattern.partition(" ")[0].partition("?")
    return path + ANY_QUERY if mark else ""


def shorter_addresses(url: str) -> dict[str, str]:
    """For each parameter of an address or of its route, the pattern of the parameter and the address without it.

    >>> shorter_addresses("http://a.example/manual?page=2&id=bees")
    {'*?page=*': 'http://a.example/manual?id=bees', '*?id=*': 'http://a.example/manual?page=2'}
    >>> shorter_addresses("http://a.example/#/manual?id=bees"), shorter_addresses("http://a.example/?id=bees#/manual")
    ({'*?id=*': 'http://a.example/#/manual'}, {})
    """
    path, mark, query = url.rpartition("?")
    parameters = query.split("&") if mark and "#" not in query else []
    if len(parameters) > MOST_DEPTH:
        return {}
    shorter = {}
    for parameter in parameters:
        rest = "&".join(other for other in parameters if other != parameter)
        shorter[f"{ANY_PATH}{parameter.partition('=')[0][:MOST_LENGTH]}=*"] = f"{path}?{rest}" if rest else path
    return shorter


def names_of(pattern: str) -> frozenset[str]:
    """What patterns may share: names, and parameters whatever their values are.

    >>> sorted(names_of("/index.php/*?action=edit&title=*"))
    ['action=', 'action=edit', 'index.php', 'title=']
    """
    parts = _parts(pattern.partition(" ")[0].removesuffix(ANY_QUERY))
    return frozenset(_names(parts) | {parameter.partition("=")[0] + "=" for parameter in parts[1]})


def labels_of(text: str, its_class: str) -> str:
    """What may be the label of a link, a line each: its text, if it is short, and its class.

    >>> labels_of("12 replies", "btn"), labels_of("A title of many words, of one page only", "")
    ('"# replies"\\n.btn', '')
    """
    written = {f'"{text.casefold()}"': text if len(text) <= MOST_LABEL else "", f".{its_class[:MOST_LABEL]}": its_class}
    labels = (label for label, source in written.items() if source.isprintable() and LETTER.search(source))
    return DIGITS.sub("#", "\n".join(labels))


@lru_cache(maxsize=4096)  # a link is counted when it is found and judged by its pattern soon after
def _parts(url: str) -> Parts:
    """The segments and the parameters of an address or a pattern, without its host, digits folded."""
    rest = url if url.startswith("/") else url.split("/", 3)[3] if url.count("/") > 2 else ""
    path, _, query = DIGITS.sub("#", rest).partition("?")
    segments = tuple([segment[:MOST_LENGTH] for segment in path.split("/") if segment][:MOST_DEPTH])
    return segments, tuple([_parameter(parameter) for parameter in query.split("&")[:MOST_DEPTH] if parameter])


def _names(parts: Parts) -> set[str]:
    """What may be a name in the parts of an address: what has letters."""
    segments, parameters = parts
    before = {f"{segment.partition(':')[0]}:" for segment in segments if ":" in segment}
    whole = {segment for segment in segments if LETTER.search(segment) and not segment.endswith(":*")}
    return before | whole | {parameter for parameter in parameters if LETTER.search(parameter.partition("=")[2])}


def _parameter(text: str) -> str:
    name, _, value = text.partition("=")
    return f"{name[:MOST_LENGTH]}={value[:MOST_LENGTH]}"
