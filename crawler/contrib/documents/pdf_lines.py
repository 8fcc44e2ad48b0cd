"""The lines of a PDF page: words with their places and fonts, in the order in which the file draws them.

Places are in points, on a page that is turned so that most of its text is upright. x0 and x1 are the left and right
edges of a word, a piece (words of a line without a wide gap between them) or a line. y is the distance of the baseline
of a line from the top of the page.

PDFium returns the text of a whole page at once, with spaces and line ends that it derives from the places of the
characters. Everything else about a character costs a call, so few calls are made: for each word, one for the box of its
first character and one for the last; for each text object (a string that the file draws in one font), those for its
size and font.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from ctypes import addressof
from dataclasses import dataclass, replace
from itertools import islice
from math import hypot
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdf

from crawler.contrib.documents.pdf_links import PdfLink, page_links

MAX_LINKS = 2_000
"""The most links of one page that are read; a page of an index has some hundred."""
MAX_CHARACTERS = 100_000
"""The most characters of one page that are read; a full page of a newspaper has some 20,000."""
HYPHEN = "\ufffe"
"""The character that PDFium returns in place of a hyphen at the end of a line and of the line end."""
WORD = re.compile(f"[^\\s{HYPHEN}]+{HYPHEN}?")
"""A word; the first part of a divided word includes the hyphen."""
FAR = 20_000
"""Points. Larger text, or text that is further from the origin, is outside of the page."""
TINY = 0.05
"""Points. Text of this size, or smaller, cannot be seen."""
GAP = 1.5
"""Ems. Words with more space between them are in different cells of a table, or in different columns."""
LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
WORD_TRANSLATION = {**LIGATURES, 0x2010: "-", ord(HYPHEN): "-"}
"""Replaces the ligatures of a word by letters, and its hyphens by ASCII hyphens."""
# Parts of the names of bold and of monospaced fonts.
BOLD = re.compile(
    r"bold|black|heavy|demi|(?:^|[+-])(?:cmb|sfbx|ecbx|cmssbx)|medi(?:um)?$|(?:sim|st|msy)hei|heiti", re.IGNORECASE
)
MONO = re.compile(
    r"mono|courier|typewriter|consol|cm(?:sl)?tt|sftt|ectt|menlo|txtt|nimbusmon|inconsolata|fixed", re.IGNORECASE
)
FIXED_PITCH = 1
"""The flag of fonts whose letters have one width: section 9.8.2 of ISO 32000."""
BOLD_WEIGHT = 600
"""The least weight of a bold font, on the scale from 100 to 900."""
MOSTLY = 0.8
"""A line is bold, or monospaced, if a larger share of its letters is."""


@dataclass(frozen=True, slots=True)
class Font:
    """The properties of a font that tell headings and code from other text."""

    is_bold: bool
    is_mono: bool


@dataclass(slots=True)
class PdfPiece:
    """Words of a line without a wide gap between them."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line of text."""

    text: str
    pieces: tuple[PdfPiece, ...]
    x0: float
    x1: float
    page: int
    """The number of its page, from 0."""
    y: float
    size: float
    """The font size of most of its letters, in points."""
    is_bold: bool
    is_mono: bool

    def with_pieces(self, pieces: tuple[PdfPiece, ...]) -> PdfLine:
        """The line with only these of its pieces."""
        text = " ".join(piece.text for piece in pieces)
        return replace(self, text=text, pieces=pieces, x0=pieces[0].x0, x1=pieces[-1].x1)


@dataclass(frozen=True, slots=True)
class _Look:
    """The look of the words of one text object."""

    turn: int
    """The direction of the text, in quarter turns to the left."""
    size: float
    font: Font


@dataclass(slots=True)
class _Word:
    text: str
    x0: float
    x1: float
    down: float
    """How far the baseline is below the origin of PDF's coordinates, on the turned page."""
    look: _Look


@dataclass(frozen=True)
class PdfPage:
    """The lines and links of one page."""

    lines: list[PdfLine]
    height: float
    """The height of the turned page."""
    is_cut: bool = False
    """Whether characters or links beyond the limits were left out."""
    links: tuple[PdfLink, ...] = ()


NO_FONT = Font(is_bold=False, is_mono=False)


class PdfPageReader:
    """Reads the pages of one file; the properties of its fonts are kept for the next page."""

    def __init__(self) -> None:
        self._fonts: dict[int, Font] = {}
        # PDFium writes coordinates and matrices into these objects, which are used for all characters.
        self._left = ctypes.c_double()
        self._right = ctypes.c_double()
        self._low = ctypes.c_double()
        self._high = ctypes.c_double()
        self._matrix = pdf.FS_MATRIX()

    def read(self, page: pdfium.PdfPage, number: int) -> PdfPage:
        """The lines and links of a page. Lines are in the order in which the page draws them; text that runs in
        another direction than most of the page's text is left out.
        """
        text_page = page.get_textpage()
        try:
            count = text_page.count_chars()
            words = list(self._words(text_page.raw, min(count, MAX_CHARACTERS)))
            # One link more than is kept shows that there are too many.
            links = tuple(islice(page_links(page.pdf.raw, page.raw, text_page.raw), MAX_LINKS + 1))
        finally:
            text_page.close()
        is_cut = count > MAX_CHARACTERS or len(links) > MAX_LINKS
        turns = Counter(word.look.turn for word in words)
        turn = 0
        if turns:
            turn = turns.most_common(1)[0][0]
        top, height = _top(turn, *page.get_size())
        upright_words = (word for word in words if word.look.turn == turn)
        return PdfPage(list(_lines(upright_words, number, top)), height, is_cut, links[:MAX_LINKS])

    def _words(self, text_page: Any, count: int) -> Iterator[_Word]:
        """The words among the first `count` characters, without those that cannot be seen or are slanted."""
        buffer = (ctypes.c_ushort * (count + 1))()
        length = max(pdf.FPDFText_GetText(text_page, 0, count, buffer) - 1, 0)
        text = "".join(map(chr, buffer[:length]))
        is_shifted = length != count  # some characters have no text, so the indexes of characters and of text differ

        looks: dict[int, tuple[_Look, float] | None] = {}  # the results of _look by the address of the text object
        for match in WORD.finditer(text):
            first = match.start()
            last = match.end() - 1
            # A hyphen at the end of a line does not count: in some files it hangs over the right edge of the text, and
            # with a wider edge, other lines would seem to have room for another word.
            if text[last] == HYPHEN:
                last -= 1
            if is_shifted:
                first = pdf.FPDFText_GetCharIndexFromTextIndex(text_page, first)
                last = pdf.FPDFText_GetCharIndexFromTextIndex(text_page, last)
            text_object = pdf.FPDFText_GetTextObject(text_page, first)
            key = addressof(text_object.contents) if text_object else 0
            if key not in looks:
                looks[key] = self._look(text_page, first, text_object)
            look_and_down = looks[key]
            if look_and_down is not None:
                look, down = look_and_down
                x0, x1 = self._span(text_page, first, last, look.turn)
                yield _Word(text=_unicode(match[0]), x0=x0, x1=x1, down=down, look=look)

    def _look(self, text_page: Any, at: int, text_object: Any) -> tuple[_Look, float] | None:
        """The look of the text object that has the character at an index, and the `down` of its words.

        None if its text is slanted, cannot be seen, or is outside of the page.
        """
        matrix = self._matrix
        if not pdf.FPDFText_GetMatrix(text_page, at, matrix):
            return None
        # The matrix scales the size in the file to points.
        size = pdf.FPDFText_GetFontSize(text_page, at) * hypot(matrix.c, matrix.d)
        pdf.FPDFText_GetCharOrigin(text_page, at, self._left, self._low)
        x = self._left.value
        y = self._low.value
        is_slanted = min(abs(matrix.a), abs(matrix.b)) > 0.1 * max(abs(matrix.a), abs(matrix.b))
        if is_slanted or not (TINY < size < FAR and abs(x) < FAR and abs(y) < FAR):
            return None
        if abs(matrix.a) > abs(matrix.b):
            turn = 0 if matrix.a > 0 else 2
        else:
            turn = 1 if matrix.b > 0 else 3

        handle = pdf.FPDFTextObj_GetFont(text_object) if text_object else None
        key = addressof(handle.contents) if handle else 0
        if key not in self._fonts:
            self._fonts[key] = _font(handle) if handle else NO_FONT
        down = (-y, x, y, -x)[turn]  # PDF counts y upwards
        return _Look(turn=turn, size=round(size, 1), font=self._fonts[key]), down

    def _span(self, text_page: Any, first: int, last: int, turn: int) -> tuple[float, float]:
        """The left and right edges of the characters from one index to another when the text is turned upright."""
        x0, x1, y0, y1 = self._box(text_page, first)
        if last != first:
            left, right, low, high = self._box(text_page, last)
            x0 = min(x0, left)
            x1 = max(x1, right)
            y0 = min(y0, low)
            y1 = max(y1, high)
        return ((x0, x1), (y0, y1), (-x1, -x0), (-y1, -y0))[turn]

    def _box(self, text_page: Any, at: int) -> tuple[float, float, float, float]:
        """The left, right, lower and upper edge of a character."""
        edges = (self._left, self._right, self._low, self._high)
        pdf.FPDFText_GetCharBox(text_page, at, *edges)
        return self._left.value, self._right.value, self._low.value, self._high.value


def _top(turn: int, width: float, height: float) -> tuple[float, float]:
    """How far the origin of PDF's coordinates is below the top of the turned page, and the height of that page."""
    return ((height, height), (0.0, width), (0.0, height), (width, width))[turn]


def _font(handle: Any) -> Font:
    """A font, by its name, its weight and its flags."""
    buffer = ctypes.create_string_buffer(200)
    pdf.FPDFFont_GetBaseFontName(handle, buffer, len(buffer))
    name = buffer.value.decode("latin-1").replace(" ", "")
    flags = pdf.FPDFFont_GetFlags(handle)
    is_bold = pdf.FPDFFont_GetWeight(handle) >= BOLD_WEIGHT or BOLD.search(name) is not None
    has_fixed_pitch = flags > 0 and flags & FIXED_PITCH != 0  # -1 stands for unknown flags
    return Font(is_bold=is_bold, is_mono=has_fixed_pitch or MONO.search(name) is not None)


def _unicode(units: str) -> str:
    """A word in Unicode, translated by WORD_TRANSLATION. Each character of `units` is one code unit of UTF-16."""
    if units.isascii():
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").translate(WORD_TRANSLATION)


def _lines(words: Iterable[_Word], page: int, top: float) -> Iterator[PdfLine]:
    """The lines that words form. `top` is the first value that `_top` returns."""
    line: list[_Word] = []
    for word in words:
        if line and not _is_same_line(line[-1], word):
            yield _line(line, page, top)
            line = []
        line.append(word)
    if line:
        yield _line(line, page, top)


def _is_same_line(before: _Word, word: _Word) -> bool:
    """Whether a word is on the line of the word before it: it is not further left, and at most a little higher or
    lower, as exponents and the numbers of notes are.
    """
    size = max(before.look.size, word.look.size)
    return abs(word.down - before.down) < 0.6 * size and word.x0 > before.x0 - 0.1 * size


def _line(words: list[_Word], page: int, top: float) -> PdfLine:
    """The line of words, divided into pieces at wide gaps."""
    length_of_look: dict[_Look, int] = {}
    for word in words:
        length_of_look[word.look] = length_of_look.get(word.look, 0) + len(word.text)
    size = max(length_of_look, key=length_of_look.__getitem__).size

    pieces: list[PdfPiece] = []
    texts: list[str] = []
    start = words[0].x0
    end = start
    for word in words:
        if texts and word.x0 - end > GAP * size:
            pieces.append(PdfPiece(text=" ".join(texts), x0=start, x1=end))
            texts = []
            start = word.x0
        texts.append(word.text)
        end = max(end, word.x1)
    pieces.append(PdfPiece(text=" ".join(texts), x0=start, x1=end))

    # The baseline of a word in the size of most letters: exponents have another.
    y = next(word.down for word in words if word.look.size == size) + top
    length = sum(length_of_look.values())
    bold = sum(count for look, count in length_of_look.items() if look.font.is_bold)
    mono = sum(count for look, count in length_of_look.items() if look.font.is_mono)
    text = " ".join(piece.text for piece in pieces)
    return PdfLine(
        text=text,
        pieces=tuple(pieces),
        x0=words[0].x0,
        x1=end,
        page=page,
        y=y,
        size=size,
        is_bold=bold > MOSTLY * length,
        is_mono=mono > MOSTLY * length,
    )
