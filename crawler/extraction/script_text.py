"""Finds the main text of a page that is only in its scripts, from which a browser would build the page.

Such text is the articleBody of JSON-LD, or is in the data that a script starts with (__NEXT_DATA__,
window.__INITIAL_STATE__ = {...}), or in a long string of a program. Of all prose the longest is chosen, preferably text
beside the page's own title. Scripts are read only if the page itself shows little text.

In the data (`ScriptData`) a text is one long string or a list of paragraphs, each of them a string, a node with a
string or a line in pieces. Texts of comments, of other articles and of the user interface are left out.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from html import escape
from itertools import islice
from typing import Any

from crawler.metadata.structured_data import letters, structured
from crawler.metadata.title import headline
from crawler.page.page import Page
from crawler.page.text import FULL_STOPS, has_full_stop, unescaped, width

MAX_NODES = 50_000
MAX_TEXT = 500_000  # characters of the text
MIN_PROSE = 30
MIN_TITLE = 8  # characters
MAX_TITLE = 400  # characters
# A list is replaced by one in it that contains this share of its text.
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


@dataclass(frozen=True, slots=True)
class _Piece:
    """A string in the data that may be part of the text."""

    at: int
    """Number of the container it stands in."""
    key: str
    text: str
    weight: int
    """Its length if it is prose, else 0."""


@dataclass(frozen=True, slots=True)
class TextCandidate:
    """A text that may be the page's main text."""

    weight: int
    html: str
    _: KW_ONLY
    titled: bool = False
    """Whether it is beside the page's title."""


class ScriptData:
    """One JSON document, with numbered containers."""

    def __init__(self, data: Any, title: str) -> None:
        self.parents: list[int] = []
        self.lists: list[bool] = []
        self.titled: list[bool] = []
        self.pieces: list[_Piece] = []
        stack: list[tuple[Any, str, int]] = [(data, "", -1)]
        while stack and len(self.parents) + len(self.pieces) < MAX_NODES:
            node, key, parent = stack.pop()
            if isinstance(node, str) and node[:2] in _OPENINGS and (inner := document(node)) is not None:
                node = inner
            if isinstance(node, str):
                self.pieces.append(_Piece(at=parent, key=key, text=node, weight=prose(node)))
                continue
            self.parents.append(parent)
            self.lists.append(isinstance(node, list))
            number = len(self.parents) - 1
            own = _is_titled(node, title) if isinstance(node, dict) else None
            self.titled.append(own if own is not None else parent >= 0 and self.titled[parent])
            if isinstance(node, list):  # its key was examined with it
                kept = [(child, key, number) for child in node[:MAX_NODES] if isinstance(child, _HOLDING)]
            else:
                kept = [
                    (child, name, number) for name, child in islice(node.items(), MAX_NODES) if _counts(name, child)
                ]
            stack += reversed(kept)

    def weights(self, pieces: list[_Piece]) -> list[int]:
        """The amount of text of these pieces in each container."""
        weights = [0] * len(self.parents)
        for piece in pieces:
            weights[piece.at] += piece.weight
        for number in range(len(self.parents) - 1, 0, -1):
            weights[self.parents[number]] += weights[number]
        return weights

    def found(self) -> Iterator[TextCandidate]:
        """The longest string, and the list with the most text, each inside and outside of the node with the page's
        title.
        """
        for titled in (True, False):
            pieces = [piece for piece in self.pieces if piece.at >= 0 and self.titled[piece.at] is titled]
            if not any(piece.weight for piece in pieces):
                continue
            longest = max(pieces, key=lambda piece: piece.weight)
            yield TextCandidate(weight=longest.weight, html=as_html([longest.text]), titled=titled)
            weights = self.weights(pieces)
            most = max((weights[number] for number, is_list in enumerate(self.lists) if is_list), default=0)
            if most:
                # The innermost of the lists that contain nearly all of it; inner lists have higher numbers.
                homes = [n for n, is_list in enumerate(self.lists) if is_list and weights[n] >= MOST * most]
                yield TextCandidate(
                    weight=weights[homes[-1]], html=as_html(self.paragraphs(homes[-1], pieces)), titled=titled
                )

    def paragraphs(self, home: int, pieces: list[_Piece]) -> list[str]:
        """The pieces in a list, with the pieces of a line joined."""
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
        """Whether two adjacent pieces in these lists belong to one line."""
        if before[-1:].isspace() or text[:1] in _GOES_ON:
            around = self.list_around(self.parents[line])
            last_around = self.list_around(self.parents[last])
            return line in (last, last_around) or around in (last, last_around)
        return line == last and before[-1:] not in FULL_STOPS

    def list_around(self, number: int) -> int:
        """The list around a container, or the container if it is a list; 0 if there is none."""
        while number > 0 and not self.lists[number]:
            number = self.parents[number]
        return max(number, 0)


def document(source: str) -> Any:
    """The JSON that a script consists of or assigns first; None if there is none."""
    start = _DATA.match(source)
    if not start:
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(source, start.end())[0]
    except (ValueError, RecursionError):
        return None


def _counts(key: str, value: Any) -> bool:
    """Whether a value can contain text of the page itself."""
    return isinstance(value, _HOLDING) and not _ELSEWHERE.search(key[:60])


def _is_titled(node: dict[str, Any], title: str) -> bool | None:
    """Whether a node has the page's title, or another title and an address; None if it has no title."""
    other = False
    for key in _TITLE_KEYS:
        if isinstance(value := node.get(key), str) and MIN_TITLE <= len(value) <= MAX_TITLE:
            own = letters(_TAG.sub("", unescaped(value)))
            if own and (own == title or ((own in title or title in own) and 2 * len(own) > len(title) > len(own) / 2)):
                return True
            other = True
    if other and not _ADDRESSED.isdisjoint(node):
        return False
    return None


def prose(text: str) -> int:
    """The approximate number of characters of a string that are prose; 0 if it is not prose."""
    if len(text) < MIN_PROSE or len(text) > MAX_TEXT or text.startswith(("http", "/", "data:")):
        return 0
    if "<" in text or "&lt;" in text:
        text = _TAG.sub(" ", unescaped(text) if _TAGGED.search(text) else text)
    # Programs, keys and the like.
    if len(_CODE.findall(text)) * 40 > len(text) or not has_full_stop(text):
        return 0
    spaces = text.count(" ")
    if spaces * 12 > len(text) or not text[: 4 * MIN_PROSE].isascii():
        return len(text)
    return 0


def as_html(texts: list[str]) -> str:
    """Texts that may be HTML, each as HTML, joined into one."""
    written = []
    for text in texts:
        if _TAGGED.search(text):
            text = unescaped(text)
        is_html = _TAG.search(text) is not None
        written.append(
            f"<div>{text}</div>" if is_html else "".join(f"<p>{escape(line)}</p>" for line in text.split("\n"))
        )
    return "".join(written)


MAX_SCRIPTS = 200
MAX_SCRIPT = 3_000_000  # characters
MIN_TEXT = 250  # a Chinese character counts as two
MIN_STRING = 200  # characters of a string in a program
# Text that is not beside the page's title is accepted only if the page itself shows at most so many characters.
MAX_SHOWN = 1_000
MIN_UNTITLED = 1_500
# The text of the scripts replaces one that is shorter than this, and so many times shorter than it.
MAX_OWN = 1_500
TIMES = 3

_SKIPPED_TYPES = re.compile("ld\\+json|importmap|speculationrules|x-mathjax", re.IGNORECASE)
_STRING = re.compile(
    r"\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?|`[^`\\]*+(?:\\.[^`\\]*+)*+`?", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "\n": "", "0": ""}


def instead(page: Page, text: str) -> str:
    """The text of the scripts if it should replace a method's text; else empty."""
    if page.withheld.parts:  # the scripts may have the marked text without its marks
        return ""
    if len(text) >= MAX_OWN or (own := width(text)) >= MAX_OWN:
        return ""
    scripts_text = scripted(page)
    if width(scripts_text) >= TIMES * own:
        return scripts_text
    return ""


def scripted(page: Page) -> str:
    """The main text in the page's scripts, one line for each paragraph; empty if there is none."""
    return page.once(_scripted)


def _scripted(page: Page) -> str:
    structured_data = structured(page)
    body = as_html(
        [post.text for post in structured_data.posts] if len(structured_data.posts) > 1 else [structured_data.body]
    )
    candidates = [TextCandidate(weight=prose(body), html=body, titled=True), *_in_data(page)]
    shown = sum(len(block.text) for block in page.blocks)
    best = max(candidates, key=lambda candidate: (candidate.titled, candidate.weight))
    least = MIN_TEXT
    if not best.weight and shown < MAX_SHOWN:  # a page that shows nothing without its scripts
        best = max(candidates, key=lambda candidate: candidate.weight)
        least = MIN_UNTITLED
    text = _text(best.html) if best.weight else ""
    return text if width(text) >= least else ""


def _in_data(page: Page) -> Iterator[TextCandidate]:
    """Possible texts in each script."""
    title = letters(headline(page)[:MAX_TITLE])
    for element in islice(page.root.iter("script"), MAX_SCRIPTS):
        source = element.text or ""
        kind = element.get("type", "")
        if not MIN_STRING <= len(source) <= MAX_SCRIPT or _SKIPPED_TYPES.search(kind[:100]):
            continue
        if "html" in kind or "template" in kind:
            yield TextCandidate(weight=prose(source), html=source)
            continue
        yield from _of(source, title)


def _of(source: str, title: str) -> Iterator[TextCandidate]:
    """Possible texts in a script: in the data it starts with, else in its strings."""
    data = document(source)
    if data is not None:
        yield from ScriptData(data, title).found()
        return
    longest: TextCandidate | None = None
    for string in _STRING.finditer(source):
        if string.end() - string.start() < MIN_STRING:
            continue
        text = _ESCAPE.sub(_unescaped, string[0][1:-1])
        if text[:1] in ("{", "[") and (data := document(text)) is not None:
            yield from ScriptData(data, title).found()
        elif (weight := prose(text)) and (longest is None or weight > longest.weight):
            longest = TextCandidate(weight=weight, html=text)
    if longest is not None:
        yield TextCandidate(weight=longest.weight, html=as_html([longest.html]))


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    if code:
        return chr(int(code, 16))
    return _ESCAPED.get(escape[3], escape[3])


def _text(html: str) -> str:
    """The lines of a text written as HTML, each once: data often contains the same text in two forms."""
    return "\n".join(dict.fromkeys(block.text for block in Page.from_html(html[:MAX_TEXT]).blocks))
