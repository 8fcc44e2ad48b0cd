"""Tables and pages of reports: a report is one self-contained HTML file without scripts.

All text of pages is escaped; a Content-Security-Policy forbids scripts, images, frames and loading anything.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache, partial
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from rich.cells import cell_len

from crawler.translation.message import CONTROL, SOURCE, Catalogue, Message, catalogue_of, counted, translated


def report_page(template: str, catalogue: Catalogue | None = None, /, **values: object) -> str:
    """The report in the language of a catalogue, or in English."""
    return _environment(catalogue or catalogue_of(SOURCE)).get_template(template).render(values)


@cache
def _environment(catalogue: Catalogue) -> Environment:
    """The templates in a language, with `_`."""
    templates = environment(
        __package__, counted=counted, translated=partial(translated, translations=catalogue.translations)
    )
    templates.add_extension("jinja2.ext.i18n")
    templates.globals |= {"gettext": catalogue.gettext, "catalogue": catalogue}
    return templates


def environment(package: str, **filters: Callable[..., Any]) -> Environment:
    """The templates of a package; all text is escaped."""
    templates = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_without_control,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= filters
    return templates


def _without_control(value: Any) -> Any:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return CONTROL.sub("\ufffd", value.replace("\r\n", "\n"))


def shown(text: str) -> str:
    """The text as HTML; control characters are replaced by a sign.

    >>> shown('<b title="x">\\x1b')
    '&lt;b title=&quot;x&quot;&gt;\\ufffd'
    """
    return escape(_without_control(text))


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.4921), percent(1.0)
    ('49.2%', '100.0%')
    """
    return f"{share:.1%}"


Row = tuple[str | Message, ...]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows under heads; the columns in the given places contain text, the others numbers."""

    title: Message
    heads: tuple[Message, ...]
    rows: Sequence[Row]
    _: KW_ONLY
    texts: frozenset[int] = frozenset()
    notes: tuple[Message, ...] = ()


def aligned(rows: Sequence[Sequence[str]], left: Container[int]) -> Iterator[str]:
    """The rows as aligned lines for a terminal, in which Chinese letters are twice as wide as Latin ones; the given
    columns are left-aligned.

    The last cell of a row that is shorter than others may be of any width.

    >>> list(aligned([("a", "bees"), ("蜜蜂", "7")], {0}))
    ['a     bees', '蜜蜂     7']
    """
    count = max(map(len, rows))
    wide = [row if len(row) == count else row[:-1] for row in rows]
    widths = [max(cell_len(row[at]) for row in wide if at < len(row)) for at in range(count)]
    for row in rows:
        padded = ((cell, " " * (width - cell_len(cell))) for cell, width in zip(row, widths, strict=False))
        yield "  ".join(cell + gap if at in left else gap + cell for at, (cell, gap) in enumerate(padded)).rstrip()
