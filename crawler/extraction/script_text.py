"""Finds the main text of a page in its scripts, which would show it in a browser.

The text may be the articleBody of JSON-LD, a part of the data at the beginning of a script (__NEXT_DATA__,
window.__INITIAL_STATE__ = {...}), or a long string in a program. The longest prose is chosen, preferably from an object
that also has the page's title (`is_titled`). Scripts are read only if the text that a method has extracted is short
(`replacement`).

In the data (`ScriptData`), a text is one long string or a list of paragraphs. A paragraph is a string, an object with a
string, or a list of the pieces of a line. Texts of comments, of other articles and of the user interface are excluded
by their keys.
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

MAX_SCRIPTS = 200  # scripts of a page that are read
MAX_SCRIPT = 3_000_000  # characters of a script; a longer one is not read
MAX_NODES = 50_000  # containers and strings of one JSON document that are read
MAX_TEXT = 500_000  # characters of the text
MIN_PROSE = 30  # characters of a string that may be prose
MIN_STRING = 200  # characters of a script that is read, and of a string that is read in a program
# Characters of a title in the data that is compared with the page's.
MIN_TITLE = 8
MAX_TITLE = 400
MIN_TEXT = 250  # columns of the text; a Chinese character has two
# Text without the page's title in its object is accepted only if it has at least MIN_UNTITLED columns, and if the page
# itself shows fewer than MAX_SHOWN characters.
MIN_UNTITLED = 1_500
MAX_SHOWN = 1_000
# A method's text of fewer than MAX_OWN columns is replaced by the text in the scripts if the latter is at least
# TIMES_AS_WIDE times as wide.
MAX_OWN = 1_500
TIMES_AS_WIDE = 3
# A list is replaced by a list in it that contains this share of its text.
NEARLY_ALL = 0.8
# The beginning of a script before its data: blank, or an assignment to a variable.
_BEFORE_DATA = re.compile(r"""\s*+(?:(?:window|self|globalThis|var|let|const)?+[\w\s.$\[\]"']{0,80}=\s*+)?+(?=[\[{])""")
_ADDRESS_KEYS = frozenset(("url", "slug", "href", "link", "path", "permalink", "canonicalUrl", "id", "uri"))
_TITLE_KEYS = frozenset(("title", "headline", "name", "subject"))
_KEYS_OF_OTHER_TEXT = re.compile(
    r"comment|repl(?:y|ies)|related|recommend|trending|popular|i18n|locale|translat|messages|intl|footer|nav|menu|legal"
    r"|privacy|cookie|consent|config|settings|feature|seo|meta|schema|css|style|script|prompt|error|advert|author|bio"
    r"|caption|review|faq",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")
_ESCAPED_TAG = re.compile(r"&lt;/?[a-zA-Z]")
_SIGN_OF_PROGRAM = re.compile(r"[{}\[\]\\=;]")
_TYPES_WITH_TEXT = (str, list, dict)
_JSON_BEGINNINGS = frozenset(("[{", '{"', "[["))
_CONTINUATIONS = frozenset(" \n\t\u00a0,.;:!?)’”»，。；：！？）、")
"""First characters of a piece that continues a line."""
_SKIPPED_TYPES = re.compile("ld\\+json|importmap|speculationrules|x-mathjax", re.IGNORECASE)
"""Types of scripts that are not read here; crawler.metadata.structured_data reads JSON-LD."""
# A string of JavaScript; without its end, it extends to the end of the line or script.
_STRING = re.compile(
    r"\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?|`[^`\\]*+(?:\\.[^`\\]*+)*+`?", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_CHARACTER_OF_ESCAPE = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "\n": "", "0": ""}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A string in the data that may be part of the text."""

    container: int
    """The number of the container around it; -1 if there is none."""
    key: str
    """The key of the string, or of the list that it is in."""
    text: str
    weight: int
    """Its length if it is prose, else 0."""


@dataclass(frozen=True, slots=True)
class TextCandidate:
    """A text that may be the page's main text."""

    weight: int
    """Characters of prose."""
    html: str
    _: KW_ONLY
    is_titled: bool = False
    """Whether it is in an object with the page's title, or is otherwise known to be about this page."""


class ScriptData:
    """A JSON document whose containers, the lists and objects in it, are numbered.

    `title` is the page's title as `letters` returns it: lower-case letters and digits.
    """

    def __init__(self, data: Any, title: str) -> None:
        self.parents: list[int] = []
        """For each container, the number of the container around it; -1 for the first."""
        self.is_list: list[bool] = []
        """Whether each container is a list."""
        self.is_titled: list[bool] = []
        """Whether each container is, or is in, an object with the page's title; `_is_titled` says what an object with
        another title means.
        """
        self.pieces: list[_Piece] = []
        stack: list[tuple[Any, str, int]] = [(data, "", -1)]
        while stack and len(self.parents) + len(self.pieces) < MAX_NODES:
            node, key, parent = stack.pop()

            # A string may contain JSON.
            if isinstance(node, str) and node[:2] in _JSON_BEGINNINGS:
                inner = data_of_script(node)
                if inner is not None:
                    node = inner
            if isinstance(node, str):
                self.pieces.append(_Piece(container=parent, key=key, text=node, weight=prose_length(node)))
                continue

            self.parents.append(parent)
            self.is_list.append(isinstance(node, list))
            number = len(self.parents) - 1
            is_titled = _is_titled(node, title) if isinstance(node, dict) else None
            if is_titled is None:
                is_titled = parent >= 0 and self.is_titled[parent]
            self.is_titled.append(is_titled)

            if isinstance(node, list):  # its items get the key of the list, which was tested already
                children = [(child, key, number) for child in node[:MAX_NODES] if isinstance(child, _TYPES_WITH_TEXT)]
            else:
                children = [
                    (child, name, number)
                    for name, child in islice(node.items(), MAX_NODES)
                    if _may_hold_text(name, child)
                ]
            stack += reversed(children)  # so that the first child is next, and the numbers follow the document

    def weights(self, pieces: list[_Piece]) -> list[int]:
        """The characters of prose of these pieces in each container."""
        weights = [0] * len(self.parents)
        for piece in pieces:
            weights[piece.container] += piece.weight
        # Inner containers have higher numbers: going backwards, a sum is complete when it is added to the outer one.
        for number in range(len(self.parents) - 1, 0, -1):
            weights[self.parents[number]] += weights[number]
        return weights

    def candidates(self) -> Iterator[TextCandidate]:
        """The longest string and the list with the most text: first among titled containers, then among the others."""
        for is_titled in (True, False):
            # The piece of a document that is only a string has no container: its number is -1.
            pieces = [
                piece for piece in self.pieces if piece.container >= 0 and self.is_titled[piece.container] is is_titled
            ]
            if not any(piece.weight for piece in pieces):
                continue

            longest = max(pieces, key=lambda piece: piece.weight)
            yield TextCandidate(weight=longest.weight, html=as_html([longest.text]), is_titled=is_titled)

            weights = self.weights(pieces)
            lists = [number for number, is_list in enumerate(self.is_list) if is_list]
            most = max((weights[number] for number in lists), default=0)
            if most:
                # The innermost of the lists that contain nearly all text; inner lists have higher numbers.
                text_list = [number for number in lists if weights[number] >= NEARLY_ALL * most][-1]
                html = as_html(self.paragraphs(text_list, pieces))
                yield TextCandidate(weight=weights[text_list], html=html, is_titled=is_titled)

    def paragraphs(self, text_list: int, pieces: list[_Piece]) -> list[str]:
        """The paragraphs in a list, given by its number: its pieces, with the pieces of one line joined."""
        # The pieces in the list. The numbers of the containers in it follow its own number.
        inside = {text_list}
        for number in range(text_list + 1, len(self.parents)):
            if self.parents[number] not in inside:
                break
            inside.add(number)
        pieces = [piece for piece in pieces if piece.container in inside]
        keys_of_prose = {piece.key for piece in pieces if piece.weight}

        lines: list[list[str]] = []
        last_list = text_list  # the list around the piece before
        for piece in pieces:
            if piece.key not in keys_of_prose:  # e.g. the address of an image
                continue
            its_list = self.list_around(piece.container)
            # A piece that is not in an inner list is a paragraph of its own.
            is_inner = text_list not in (its_list, last_list)
            if lines and is_inner and self.is_one_line(last_list, its_list, lines[-1][-1], piece.text):
                if piece.text:
                    lines[-1].append(piece.text)
            else:
                lines.append([piece.text])
            last_list = its_list
        return ["".join(line) for line in lines]

    def is_one_line(self, last_list: int, its_list: int, last_text: str, text: str) -> bool:
        """Whether a piece continues the line of the piece before it, given their lists and texts."""
        if last_text[-1:].isspace() or text[:1] in _CONTINUATIONS:
            # One list may be inside the other: the words of a link, for example, are a list in the list of their line.
            around = self.list_around(self.parents[its_list])
            last_around = self.list_around(self.parents[last_list])
            return its_list in (last_list, last_around) or around in (last_list, last_around)
        return its_list == last_list and last_text[-1:] not in FULL_STOPS

    def list_around(self, number: int) -> int:
        """The container if it is a list, else the nearest list around it; 0 if there is none."""
        while number > 0 and not self.is_list[number]:
            number = self.parents[number]
        return max(number, 0)


def data_of_script(source: str) -> Any:
    """The JSON of which a script consists, or which it assigns first; None if there is none."""
    start = _BEFORE_DATA.match(source)
    if not start:
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(source, start.end())[0]
    except (ValueError, RecursionError):
        return None


def _may_hold_text(key: str, value: Any) -> bool:
    """Whether a value can contain text of the page itself."""
    return isinstance(value, _TYPES_WITH_TEXT) and not _KEYS_OF_OTHER_TEXT.search(key[:60])


def _is_titled(node: dict[str, Any], title: str) -> bool | None:
    """True if an object has the page's title. False if it has another title and an address, so that it describes
    another page. None in other cases: then the object around it decides.
    """
    has_other_title = False
    for key in _TITLE_KEYS:
        value = node.get(key)
        if isinstance(value, str) and MIN_TITLE <= len(value) <= MAX_TITLE:
            own_title = letters(_TAG.sub("", unescaped(value)))
            # One of the two titles may also have the name of the site. Then it is less than twice as long as the other.
            is_part = own_title in title or title in own_title
            is_similar = is_part and 2 * len(own_title) > len(title) > len(own_title) / 2
            if own_title and (own_title == title or is_similar):
                return True
            has_other_title = True
    if has_other_title and not _ADDRESS_KEYS.isdisjoint(node):
        return False
    return None


def prose_length(text: str) -> int:
    """The approximate number of characters of prose in a string; 0 if it is not prose."""
    if len(text) < MIN_PROSE or len(text) > MAX_TEXT or text.startswith(("http", "/", "data:")):
        return 0
    if "<" in text or "&lt;" in text:
        if _ESCAPED_TAG.search(text):
            text = unescaped(text)
        text = _TAG.sub(" ", text)
    is_program = len(_SIGN_OF_PROGRAM.findall(text)) * 40 > len(
        text
    )  # more than one sign of a program in 40 characters
    if is_program or not has_full_stop(text):
        return 0
    # Keys and encoded data have fewer than one space in 12 characters; so has Chinese prose, which is not ASCII.
    if text.count(" ") * 12 > len(text) or not text[: 4 * MIN_PROSE].isascii():
        return len(text)
    return 0


def as_html(texts: list[str]) -> str:
    """The texts as one piece of HTML; each of them is HTML or plain text."""
    parts = []
    for text in texts:
        if _ESCAPED_TAG.search(text):
            text = unescaped(text)
        if _TAG.search(text):
            parts.append(f"<div>{text}</div>")
        else:
            parts += [f"<p>{escape(line)}</p>" for line in text.split("\n")]
    return "".join(parts)


def replacement(page: Page, text: str) -> str:
    """The text in the page's scripts if it should replace the text of a method; otherwise empty."""
    if page.withheld.parts:  # the scripts may contain the text that the page's owner has marked, without the marks
        return ""
    if len(text) >= MAX_OWN:  # a text is at least as wide as it is long: its width need not be computed
        return ""
    own_width = width(text)
    if own_width >= MAX_OWN:
        return ""
    text_in_scripts = script_text(page)
    if width(text_in_scripts) >= TIMES_AS_WIDE * own_width:
        return text_in_scripts
    return ""


def script_text(page: Page) -> str:
    """The main text in the page's scripts, one line for each paragraph; empty if there is none."""
    return page.once(_script_text)


def _script_text(page: Page) -> str:
    structured_data = structured(page)
    texts = [structured_data.body]
    # Several posts are a thread, whose text is that of all posts.
    if len(structured_data.posts) > 1:
        texts = [post.text for post in structured_data.posts]
    body = as_html(texts)
    # JSON-LD describes the page, so its text counts as titled.
    candidates = [TextCandidate(weight=prose_length(body), html=body, is_titled=True), *_in_scripts(page)]
    best = max((candidate for candidate in candidates if candidate.is_titled), key=lambda candidate: candidate.weight)
    min_width = MIN_TEXT
    shown_length = sum(len(block.text) for block in page.blocks)
    if not best.weight and shown_length < MAX_SHOWN:  # no titled prose, and the page is empty without its scripts
        best = max(candidates, key=lambda candidate: candidate.weight)
        min_width = MIN_UNTITLED
    text = _lines_of(best.html) if best.weight else ""
    return text if width(text) >= min_width else ""


def _in_scripts(page: Page) -> Iterator[TextCandidate]:
    """Possible texts in each script."""
    title = letters(headline(page)[:MAX_TITLE])
    for element in islice(page.root.iter("script"), MAX_SCRIPTS):
        source = element.text or ""
        kind = element.get("type", "")
        if not MIN_STRING <= len(source) <= MAX_SCRIPT or _SKIPPED_TYPES.search(kind[:100]):
            continue
        if "html" in kind or "template" in kind:  # the source is HTML
            yield TextCandidate(weight=prose_length(source), html=source)
            continue
        yield from _in_script(source, title)


def _in_script(source: str, title: str) -> Iterator[TextCandidate]:
    """Possible texts in a script: in the data at its beginning, or else in its strings."""
    data = data_of_script(source)
    if data is not None:
        yield from ScriptData(data, title).candidates()
        return

    longest = ""
    longest_weight = 0
    for string in _STRING.finditer(source):
        if string.end() - string.start() < MIN_STRING:
            continue
        text = _ESCAPE.sub(_unescaped, string[0][1:-1])
        data = data_of_script(text) if text[:1] in ("{", "[") else None
        if data is not None:
            yield from ScriptData(data, title).candidates()
            continue
        weight = prose_length(text)
        if weight > longest_weight:
            longest = text
            longest_weight = weight
    if longest:
        yield TextCandidate(weight=longest_weight, html=as_html([longest]))


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    if code:
        return chr(int(code, 16))
    return _CHARACTER_OF_ESCAPE.get(escape[3], escape[3])


def _lines_of(html: str) -> str:
    """The lines of a text written as HTML, each once: data often contains the same text in two forms."""
    return "\n".join(dict.fromkeys(block.text for block in Page.from_html(html[:MAX_TEXT]).blocks))
