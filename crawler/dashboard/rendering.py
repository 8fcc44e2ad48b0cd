"""Templates: all text is escaped where it is put in, whatever it says."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from rich.filesize import decimal

from crawler import __version__
from crawler.dashboard.excerpts import all_of
from crawler.outcomes import Outcome
from crawler.reports.html_page import environment, shown
from crawler.translation.message import N_, Message, catalogue_of, languages, span
from crawler.urls.parsing import readable

MOST_SHOWN = 300
"""Letters of a title or an address in a list."""
LONGEST_SIGN = len("%F0%A0%AE%B7")
"""Letters of an address that people read as one."""


KINDS = (
    *(N_("article"), N_("collection"), N_("documentation"), N_("forum"), N_("listing"), N_("product"), N_("service")),
    *(N_("counterexample"), N_("example"), N_("feed"), N_("link"), N_("refresh"), N_("seed"), N_("sitemap")),
    *(N_("done"), N_("held"), N_("recorded"), N_("waiting"), N_("image"), N_("list"), N_("page"), N_("picture")),
    *(N_("entropy"), N_("keyword"), N_("redundancy"), N_("size")),
)
"""Types of pages, ways to addresses, states, kinds and models, which templates translate as they are."""
LANGUAGE = N_("English")
"""Translated as the name of the catalogue's own language."""


@cache
def _environment(language: str) -> Environment:
    """The templates in a language, with `_` and `ngettext`."""
    catalogue = catalogue_of(language)
    found = environment(
        "crawler.dashboard",
        web=web,
        address=address,
        link=link,
        whole=whole,
        day=day,
        size=size,
        number=number,
        share=share,
    )
    found.add_extension("jinja2.ext.i18n")
    found.globals |= {
        "gettext": catalogue.gettext,
        "ngettext": catalogue.ngettext,
        "span": lambda seconds: catalogue.gettext(short_span(seconds)),
        "reason": lambda outcome: catalogue.gettext(_outcome(outcome).message),
        "language": language,
        "languages": [(one, catalogue_of(one).gettext(LANGUAGE)) for one in languages()],
        "version": __version__,
    }
    return found


def render(template: str, language: str, values: Mapping[str, Any]) -> str:
    """The text of a page."""
    return _environment(language).get_template(template).render(values)


def short_span(seconds: float | None) -> str | Message:
    """A span of time in the largest unit that it is two of; a short one with its decimals.

    >>> [str(short_span(seconds)) for seconds in (None, -1, 0.0123, 2.5, 119.9)]
    ['–', '0 s', '13 ms', '2.5 s', '119 s']
    """
    if seconds is None:
        return "–"
    if 0 < seconds < 0.1:
        return Message("{n} ms", {"n": math.ceil(1_000 * seconds)})
    return Message("{n} s", {"n": f"{seconds:.1f}"}) if 0 < seconds < 10 else span(seconds)


def _outcome(given: Outcome | str) -> Outcome:
    return given if isinstance(given, Outcome) else Outcome.of(given)


def web(text: object, most: int = MOST_SHOWN, words: Sequence[str] = ()) -> Markup:
    """What the web has written, as text of its own direction; cut where it is long, these words in it highlighted.

    >>> str(web("<b>bees</b>", words=["bees"]))
    '<bdi>&lt;b&gt;<mark>bees</mark>&lt;/b&gt;</bdi>'
    """
    said = "" if text is None else str(text)
    pieces = all_of(said if len(said) <= most else said[:most] + "…", words)
    marked = (f"<mark>{shown(one.text)}</mark>" if one.is_word else shown(one.text) for one in pieces)
    return Markup(f"<bdi>{''.join(marked)}</bdi>")  # noqa: S704 - escaped


def whole(text: str) -> Markup:
    """All of a text of the web, its lines as they are.

    >>> str(whole("<b>bees</b>"))
    '<bdi>&lt;b&gt;bees&lt;/b&gt;</bdi>'
    """
    return web(text, len(text))


def address(url: str, most: int = MOST_SHOWN, words: Sequence[str] = ()) -> Markup:
    """An address of the web as people read it, cut where it is long."""
    return web(readable(url[: LONGEST_SIGN * (most + 1)]), most, words)


def link(url: str, words: Sequence[str] = (), most: int = MOST_SHOWN) -> Markup:
    """A link to a page of the web if that is what the address is; as people read it, these words highlighted."""
    said = address(url, most, words)
    if not url.lower().startswith(("http://", "https://")):
        return said
    return Markup(  # noqa: S704 - escaped
        f'<a href="{shown(url)}" rel="noopener noreferrer nofollow" target="_blank">{said}</a>'
    )


def day(moment: float | str | None) -> Markup:
    """A moment, in the visitor's own time where scripts run; in UTC where they do not."""
    try:
        found = (
            datetime.fromisoformat(moment) if isinstance(moment, str) else datetime.fromtimestamp(moment or 0.0, UTC)
        )
    except (ValueError, OverflowError, OSError):
        return web(moment)
    if moment is None:
        return Markup("–")
    return Markup(f'<time datetime="{found.isoformat()}">{found:%Y-%m-%d %H:%M} UTC</time>')  # noqa: S704 - digits


def size(count: float | None) -> str:
    """Bytes in the unit that suits.

    >>> size(1), size(306_400)
    ('1 B', '306.4 kB')
    """
    if count is None:
        return "–"
    return f"{int(count)} B" if abs(count) < 1_000 else decimal(int(count))


def number(count: float | None, digits: int = 0) -> str:
    """A number with its thousands apart."""
    return "–" if count is None else f"{count:,.{digits}f}"


def share(part: float | None, digits: int = 0) -> str:
    """A part of one as a percentage; what is not quite nothing or all is not said to be.

    >>> share(0.0), share(0.004), share(0.625), share(0.9999, 1), share(1.0)
    ('0%', '<1%', '62%', '>99.9%', '100%')
    """
    if part is None:
        return "–"
    least = 0.01 / 10**digits
    if 0 < part < least:
        return f"<{least:.{digits}%}"
    return f">{1 - least:.{digits}%}" if 1 - least < part < 1 else f"{part:.{digits}%}"
