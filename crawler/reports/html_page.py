"""The HTML and the tables of reports: a report is one self-contained HTML file without scripts.

All text of crawled pages is escaped. A Content-Security-Policy forbids scripts, images, frames and loading anything.
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
    """The templates of reports, whose `_` translates into one language."""
    templates = environment(
        __package__, counted=counted, translated=partial(translated, translations=catalogue.translations)
    )
    templates.add_extension("jinja2.ext.i18n")
    templates.globals |= {"gettext": catalogue.gettext, "catalogue": catalogue}
    return templates


def environment(package: str, **filters: Callable[..., Any]) -> Environment:
    """The templates of a package, with these filters; all text is escaped, and control characters are replaced."""
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
    """A value with U+FFFD for control characters. CR LF becomes LF first, because CR is a control character, too."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return CONTROL.sub("\ufffd", value.replace("\r\n", "\n"))


def escaped(text: str) -> str:
    """The text as HTML; control characters are replaced by U+FFFD.

    >>> escaped('<b title="x">\\x1b')
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
    """A table with heads."""

    title: Message
    heads: tuple[Message, ...]
    rows: Sequence[Row]
    _: KW_ONLY
    texts: frozenset[int] = frozenset()
    """The indexes of the columns that contain text; the others contain numbers."""
    notes: tuple[Message, ...] = ()


def aligned(rows: Sequence[Sequence[str]], left: Container[int]) -> Iterator[str]:
    """The rows as lines for a terminal, in which Chinese characters are twice as wide as Latin letters. The columns in
    `left` are left-aligned, the others right-aligned.

    The last cell of a row with fewer cells than others does not widen its column.

    >>> list(aligned([("a", "bees"), ("蜜蜂", "7")], {0}))
    ['a     bees', '蜜蜂     7']
    """
    count = max(map(len, rows))
    widths = [0] * count
    for row in rows:
        measured_cells = row if len(row) == count else row[:-1]
        for column, cell in enumerate(measured_cells):
            widths[column] = max(widths[column], cell_len(cell))

    for row in rows:
        padded = []
        for column, cell in enumerate(row):
            gap = " " * (widths[column] - cell_len(cell))
            if column in left:
                padded.append(cell + gap)
            else:
                padded.append(gap + cell)
        yield "  ".join(padded).rstrip()
