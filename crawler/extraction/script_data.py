"""The JSON that a script starts from, such as __NEXT_DATA__, and what in it may be the text of a page.

A text is one long string or a list of paragraphs, each of them a string, a node with a string or a line in pieces.
Texts of comments, of other articles and of the user interface are left out.
"""

import json
import re
from collections.abc import Iterator
from html import escape
from itertools import islice
from typing import Any, NamedTuple

from crawler.metadata.structured_data import letters
from crawler.page.text import FULL_STOPS, has_full_stop, unescaped

MAX_NODES = 50_000
MAX_TEXT = 500_000  # characters of the text
MIN_PROSE = 30
MIN_TITLE, MAX_TITLE = 8, 400  # characters
# A list is left for one in it that holds so much of its text.
MOST = 0.8
_DATA = re.compile(r"""\s*+(?:(?:window|self|globalThis|var|let|const)?+[\w\s.$\[\]"']{0,80}=\s*+)?+(?=[\[{])""")
_ADDRESSED = frozenset(("url", "slug", "href", "link", "path", "permalink", "canonicalUrl", "id", "uri"))
_TITLE_KEYS = frozenset(("title", "headline", "name", "subject"))
_ELSEWHERE = re.compile(
    r"comment|repl(?:y|ies)|related|recommend|trending|popular|i18n|locale|translat|messages|intl|footer|nav|menu|legal"
    r"|privacy|cookie|consent|config|settings|feature|seo|meta|schema|css|style|script|prompt|error|advert|author|bio"
    r"|caption|review|faq",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")
_TAGGED = re.compile(r"&lt;/?[a-zA-Z]")
_CODE = re.compile(r"[{}\[\]\\=;]")
_HOLDING = (str, list, dict)
_OPENINGS = frozenset(("[{", '{"', "[["))
_GOES_ON = frozenset(" \n\t\u00a0,.;:!?)’”»，。；：！？）、")


class _Piece(NamedTuple):
    """A string in the data that may be text."""

    at: int
    """Number of the container it stands in."""
    key: str
    text: str
    weight: int
    """Its length where it is prose, else 0."""


class Candidate(NamedTuple):
    """A text that may be the page's own."""

    weight: int
    html: str
    titled: bool = False
    """Whether it stands beside the page's title."""


class ScriptData:
    """One document of JSON, its containers numbered in their order."""

    def __init__(self, given: Any, title: str) -> None:
        self.parents: list[int] = []
        self.lists: list[bool] = []
        self.titled: list[bool] = []
        self.pieces: list[_Piece] = []
        stack: list[tuple[Any, str, int]] = [(given, "", -1)]
        while stack and len(self.parents) + len(self.pieces) < MAX_NODES:
            node, key, parent = stack.pop()
            if isinstance(node, str) and node[:2] in _OPENINGS and (inner := document(node)) is not None:
                node = inner
            if isinstance(node, str):
                self.pieces.append(_Piece(parent, key, node, prose(node)))
                continue
            self.parents.append(parent)
            self.lists.append(isinstance(node, list))
            number = len(self.parents) - 1
            own = _is_titled(node, title) if isinstance(node, dict) else None
            self.titled.append(own if own is not None else parent >= 0 and self.titled[parent])
            if isinstance(node, list):  # its key was looked at with it
                kept = [(child, key, number) for child in node[:MAX_NODES] if isinstance(child, _HOLDING)]
            else:
                kept = [
                    (child, name, number) for name, child in islice(node.items(), MAX_NODES) if _counts(name, child)
                ]
            stack += reversed(kept)

    def weights(self, pieces: list[_Piece]) -> list[int]:
        """How much of these pieces each container holds."""
        weights = [0] * len(self.parents)
        for piece in pieces:
            weights[piece.at] += piece.weight
        for number in range(len(self.parents) - 1, 0, -1):
            weights[self.parents[number]] += weights[number]
        return weights

    def found(self) -> Iterator[Candidate]:
        """The longest string, and the list with most text, each in and out of what bears the page's title."""
        for titled in (True, False):
            pieces = [piece for piece in self.pieces if piece.at >= 0 and self.titled[piece.at] is titled]
            if not any(piece.weight for piece in pieces):
                continue
            longest = max(pieces, key=lambda piece: piece.weight)
            yield Candidate(longest.weight, as_html([longest.text]), titled)
            weights = self.weights(pieces)
            most = max((weights[number] for number, is_list in enumerate(self.lists) if is_list), default=0)
            if most:
                # The innermost of the lists that hold nearly all of it; those in it come after it.
                homes = [n for n, is_list in enumerate(self.lists) if is_list and weights[n] >= MOST * most]
                yield Candidate(weights[homes[-1]], as_html(self.paragraphs(homes[-1], pieces)), titled)

    def paragraphs(self, home: int, pieces: list[_Piece]) -> list[str]:
        """Those of the pieces that stand in a list, with the pieces of a line joined."""
        inside = {home}
        for number in range(home + 1, len(self.parents)):
            if self.parents[number] not in inside:
                break
            inside.add(number)
        pieces = [piece for piece in pieces if piece.at in inside]
        keys = {piece.key for piece in pieces if piece.weight}
        lines: list[list[str]] = []
        last = home
        for piece in pieces:
            if piece.key not in keys:
                continue
            line = self.list_around(piece.at)
            if lines and home not in (line, last) and self.is_one_line(last, line, lines[-1][-1], piece.text):
                if piece.text:
                    lines[-1].append(piece.text)
            else:
                lines.append([piece.text])
            last = line
        return list(map("".join, lines))

    def is_one_line(self, last: int, line: int, before: str, text: str) -> bool:
        """Whether two pieces in these lists, one after the other, are of one line."""
        if before[-1:].isspace() or text[:1] in _GOES_ON:
            around, last_around = self.list_around(self.parents[line]), self.list_around(self.parents[last])
            return line in (last, last_around) or around in (last, last_around)
        return line == last and before[-1:] not in FULL_STOPS

    def list_around(self, number: int) -> int:
        """The list around a container, or itself if it is one; 0 where there is none."""
        while number > 0 and not self.lists[number]:
            number = self.parents[number]
        return max(number, 0)


def document(source: str) -> Any:
    """The JSON that a script is or assigns first; None where there is none."""
    if not (start := _DATA.match(source)):
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(source, start.end())[0]
    except (ValueError, RecursionError):
        return None


def _counts(key: str, value: Any) -> bool:
    """Whether a value can hold text of the page's own."""
    return isinstance(value, _HOLDING) and not _ELSEWHERE.search(key[:60])


def _is_titled(node: dict[str, Any], title: str) -> bool | None:
    """Whether a node bears the page's title, or else another and an address; None where it bears none."""
    other = False
    for key in _TITLE_KEYS:
        if isinstance(value := node.get(key), str) and MIN_TITLE <= len(value) <= MAX_TITLE:
            own = letters(_TAG.sub("", unescaped(value)))
            if own and (own == title or ((own in title or title in own) and 2 * len(own) > len(title) > len(own) / 2)):
                return True
            other = True
    return False if other and not _ADDRESSED.isdisjoint(node) else None


def prose(text: str) -> int:
    """About how many characters of a string are prose; 0 where it is no prose."""
    if len(text) < MIN_PROSE or len(text) > MAX_TEXT or text.startswith(("http", "/", "data:")):
        return 0
    if "<" in text or "&lt;" in text:
        text = _TAG.sub(" ", unescaped(text) if _TAGGED.search(text) else text)
    # Programs, keys and the like.
    if len(_CODE.findall(text)) * 40 > len(text) or not has_full_stop(text):
        return 0
    spaces = text.count(" ")
    return len(text) if spaces * 12 > len(text) or not text[: 4 * MIN_PROSE].isascii() else 0


def as_html(texts: list[str]) -> str:
    """Texts that may be HTML, each written as such, as one."""
    written = []
    for text in texts:
        if _TAGGED.search(text):
            text = unescaped(text)
        is_html = _TAG.search(text) is not None
        written.append(
            f"<div>{text}</div>" if is_html else "".join(f"<p>{escape(line)}</p>" for line in text.split("\n"))
        )
    return "".join(written)
