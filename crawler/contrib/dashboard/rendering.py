"""Templates and their filters: all text is escaped, and the words of a search are highlighted.

An excerpt shows the text around the words of a search, in a few passages with an ellipsis between them.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from rich.filesize import decimal

from crawler import __version__
from crawler.doors import Door, find, names
from crawler.outcomes import Outcome
from crawler.reports.html_page import environment, escaped
from crawler.translation.message import CONTROL, N_, Message, catalogue_of, languages, span
from crawler.urls.parsing import readable

MOST_SHOWN = 300
"""Characters of a title or an address in a list."""
LONGEST_ENCODED = len("%F0%A0%AE%B7")
"""Characters of the longest percent-encoded character in an address."""
TRANSLATED_WORDS = (
    # Page types.
    *(N_("article"), N_("collection"), N_("documentation"), N_("forum"), N_("listing"), N_("product"), N_("service")),
    # Sources of dates.
    *(N_("structured_data"), N_("meta"), N_("time_element"), N_("attribute"), N_("text"), N_("address"), N_("script")),
    N_("document"),
    # How addresses were found.
    *(N_("counterexample"), N_("example"), N_("feed"), N_("link"), N_("seed"), N_("sitemap")),
    # States and kinds of addresses.
    *(N_("done"), N_("held"), N_("recorded"), N_("waiting"), N_("image"), N_("list"), N_("page")),
    # Models that judge images, and rights.
    *(N_("entropy"), N_("keyword"), N_("redundancy"), N_("size")),
    *(N_("allowed"), N_("disallowed"), N_("unknown"), N_("malformed")),
)
"""Words in values that templates translate by `_(value)`; here they are listed for the catalogue."""
LANGUAGE = N_("English")
"""Translated as the language's own name."""
BEFORE = 60
"""Characters of a passage before its first word."""
AFTER = 90
"""Characters of a passage after its last word."""
MOST_PASSAGES = 3
"""Passages of an excerpt."""
MOST_PIECES = 20 * MOST_PASSAGES
"""Pieces of an excerpt after which it ends: a passage becomes long if many words are close together."""
LONGEST_WHOLE_WORD = 30
"""How many characters a passage may be shifted so that it does not begin or end within a word."""
BLANK = re.compile(r"\s+")
WITHIN_WORD = re.compile(
    r"(?![\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])\S(?![\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])\S"
)
"""Two characters within a word, where a text is not cut; Chinese and Japanese may be cut anywhere."""
MOST_SEARCHED = 20_000
"""Characters of a text that are searched for more matches, from shortly before the first one."""


@cache
def _environment(language: str, root: str) -> Environment:
    """The template environment of a language, with `_` and `ngettext`; all links begin with `root`."""
    catalogue = catalogue_of(language)
    filters = (web, address, link, whole, day, size, number, share)
    templates = environment(
        "crawler.contrib.dashboard", **{text_filter.__name__: text_filter for text_filter in filters}
    )
    templates.add_extension("jinja2.ext.i18n")
    templates.globals |= {
        "gettext": catalogue.gettext,
        "ngettext": catalogue.ngettext,
        "span": lambda seconds: catalogue.gettext(short_span(seconds)),
        "reason": lambda outcome: catalogue.gettext(_outcome(outcome).message),
        "language": language,
        "root": root,
        "languages": [(code, catalogue_of(code).gettext(LANGUAGE)) for code in languages()],
        "version": __version__,
        "parts": [name for name in names(Door.VIEWS) if find(Door.VIEWS, name) is not None],
    }
    return templates


def _outcome(outcome: Outcome | str) -> Outcome:
    """The outcome itself, or the outcome of this code."""
    if isinstance(outcome, Outcome):
        return outcome
    return Outcome.of(outcome)


def render(template: str, language: str, root: str, values: Mapping[str, Any]) -> str:
    """The text of a template in a language, with these values."""
    return _environment(language, root).get_template(template).render(values)


def short_span(seconds: float | None) -> str | Message:
    """A time span in the largest unit of which it has at least two; short spans have decimals.

    >>> [str(short_span(seconds)) for seconds in (None, -1, 0.0123, 2.5, 119.9)]
    ['–', '0 s', '13 ms', '2.5 s', '119 s']
    """
    if seconds is None:
        return "–"
    if 0 < seconds < 0.1:
        return Message("{n} ms", {"n": math.ceil(1_000 * seconds)})
    if 0 < seconds < 10:
        return Message("{n} s", {"n": f"{seconds:.1f}"})
    return span(seconds)


def web(text: object, most: int = MOST_SHOWN, words: Sequence[str] = ()) -> Markup:
    """A text from the web, with its writing direction isolated, shortened if long, and with these words highlighted.

    >>> str(web("<b>bees</b>", words=["bees"]))
    '<bdi>&lt;b&gt;<mark>bees</mark>&lt;/b&gt;</bdi>'
    """
    shown_text = "" if text is None else str(text)
    if len(shown_text) > most:
        shown_text = shown_text[:most] + "…"
    pieces = text_pieces(shown_text, words)
    marked = (f"<mark>{escaped(piece.text)}</mark>" if piece.is_word else escaped(piece.text) for piece in pieces)
    return Markup(f"<bdi>{''.join(marked)}</bdi>")  # noqa: S704 - escaped


def whole(text: str) -> Markup:
    """A whole text from the web, with its line breaks.

    >>> str(whole("<b>bees</b>"))
    '<bdi>&lt;b&gt;bees&lt;/b&gt;</bdi>'
    """
    return web(text, len(text))


def address(url: str, most: int = MOST_SHOWN, words: Sequence[str] = ()) -> Markup:
    """A readable address, shortened if long."""
    # Cut before it is decoded, as an address may be very long. One character more is kept, so that `web` sees that the
    # address is too long.
    return web(readable(url[: LONGEST_ENCODED * (most + 1)]), most, words)


def link(url: str, words: Sequence[str] = (), most: int = MOST_SHOWN) -> Markup:
    """A readable link to a web page, with these words highlighted; without the link if the address is not http."""
    shown_address = address(url, most, words)
    if not url.lower().startswith(("http://", "https://")):
        return shown_address
    return Markup(  # noqa: S704 - escaped
        f'<a href="{escaped(url)}" rel="noopener noreferrer nofollow" target="_blank">{shown_address}</a>'
    )


def day(moment: float | str | None) -> Markup:
    """A moment in UTC, given in seconds since 1970 or as ISO 8601; app.js shows it in the visitor's time zone."""
    if moment is None:
        return Markup("–")
    try:
        if isinstance(moment, str):
            date = datetime.fromisoformat(moment)
        else:
            date = datetime.fromtimestamp(moment, UTC)
    except (ValueError, OverflowError, OSError):
        return web(moment)
    return Markup(f'<time datetime="{date.isoformat()}">{date:%Y-%m-%d %H:%M} UTC</time>')  # noqa: S704 - digits


def size(count: float | None) -> str:
    """Bytes in a suitable unit.

    >>> size(1), size(306_400)
    ('1 B', '306.4 kB')
    """
    if count is None:
        return "–"
    if abs(count) < 1_000:
        return f"{int(count)} B"
    return decimal(int(count))


def number(count: float | None, digits: int = 0) -> str:
    """A number with separators of thousands."""
    if count is None:
        return "–"
    return f"{count:,.{digits}f}"


def share(part: float | None, digits: int = 0) -> str:
    """A share as a percentage; never rounded to 0% or 100%.

    >>> share(0.0), share(0.004), share(0.625), share(0.9999, 1), share(1.0)
    ('0%', '<1%', '62%', '>99.9%', '100%')
    """
    if part is None:
        return "–"
    least = 0.01 / 10**digits
    if 0 < part < least:
        return f"<{least:.{digits}%}"
    if 1 - least < part < 1:
        return f">{1 - least:.{digits}%}"
    return f"{part:.{digits}%}"


@dataclass(frozen=True, slots=True)
class ExcerptPiece:
    """A piece of an excerpt."""

    text: str
    is_word: bool
    """Whether it is one of the words of the search."""


def excerpt(text: str, words: Sequence[str]) -> tuple[ExcerptPiece, ...]:
    """The text around the words, ignoring case, in pieces; its beginning if it contains none of them.

    >>> [piece.text for piece in excerpt("All bees like Honey.", ["honey"])]
    ['All bees like ', 'Honey', '.']
    """
    # Only a part of the text is searched for further matches: from shortly before the first match on.
    start = _after_blank(text, max(0, _first_match(text, words) - BEFORE))
    is_beginning_cut = start > 0
    text = CONTROL.sub("\ufffd", text[start : start + MOST_SEARCHED])
    if not words:
        return _beginning(text)

    pieces: list[ExcerptPiece] = []
    shown_until = 0
    passages = 0
    for match in _any_of(words).finditer(text):
        # A word far from the last one begins another passage, after the end of the last passage.
        if not pieces or match.start() > shown_until + AFTER + BEFORE:
            passages += 1
            if passages > MOST_PASSAGES:
                break
            if pieces:
                end = _before_blank(text, shown_until, AFTER)
                pieces.append(ExcerptPiece(text[shown_until:end] + " … ", is_word=False))
            shown_until = max(shown_until, _after_blank(text, max(0, match.start() - BEFORE)))
            if (shown_until or is_beginning_cut) and not pieces:
                pieces.append(ExcerptPiece("… ", is_word=False))

        pieces.append(ExcerptPiece(text[shown_until : match.start()], is_word=False))
        pieces.append(ExcerptPiece(match.group(), is_word=True))
        shown_until = match.end()
        if len(pieces) > MOST_PIECES:
            break

    # The end of the last passage.
    if not pieces:
        return _beginning(text)
    end = _before_blank(text, shown_until, AFTER)
    pieces.append(ExcerptPiece(text[shown_until:end] + ("…" if len(text) > end else ""), is_word=False))
    return tuple(piece for piece in pieces if piece.text)


def text_pieces(text: str, words: Sequence[str]) -> Iterator[ExcerptPiece]:
    """The whole of a short text, in pieces.

    >>> [piece.text for piece in text_pieces("All bees like Honey.", ["honey"])]
    ['All bees like ', 'Honey', '.']
    """
    shown_until = 0
    if words:
        for match in _any_of(words).finditer(text):
            yield ExcerptPiece(text[shown_until : match.start()], is_word=False)
            yield ExcerptPiece(match.group(), is_word=True)
            shown_until = match.end()
    yield ExcerptPiece(text[shown_until:], is_word=False)


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    """A pattern that matches each of the words, the longest one if several match."""
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)


def _first_match(text: str, words: Sequence[str]) -> int:
    """The index of the first of these words, found quickly in a text of any length; 0 if none is found."""
    lowered = text.lower()
    if len(lowered) != len(text):  # with "İ", whose lower case has two characters
        return 0
    indexes = map(lowered.find, words)
    return min((index for index in indexes if index >= 0), default=0)


def _beginning(text: str) -> tuple[ExcerptPiece, ...]:
    """The beginning of a text as an excerpt."""
    end = _before_blank(text, 0, BEFORE + 2 * AFTER)
    if text:
        return (ExcerptPiece(text[:end] + ("…" if len(text) > end else ""), is_word=False),)
    return ()


def _after_blank(text: str, index: int) -> int:
    """Where a passage may begin: at the index, or at the next word if the index is within a word that ends soon."""
    if not index or not WITHIN_WORD.match(text, index - 1):
        return index
    blank = BLANK.search(text, index, index + LONGEST_WHOLE_WORD)
    return blank.end() if blank else index


def _before_blank(text: str, start: int, most: int) -> int:
    """Where a passage may end: `most` characters after the start, or if that is within a word, at the last blank before
    it, if one is near.
    """
    end = start + most
    if end >= len(text):
        return len(text)
    if not WITHIN_WORD.match(text, end - 1):
        return start + len(text[start:end].rstrip())
    blanks = [blank.start() for blank in BLANK.finditer(text, max(start, end - LONGEST_WHOLE_WORD), end)]
    return blanks[-1] if blanks else end
