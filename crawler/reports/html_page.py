"""Tables and pages of reports: a report is one self-contained HTML file without scripts.

All text of pages is escaped; a Content-Security-Policy forbids scripts, images, frames and loading anything.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache
from html import escape
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from crawler.translation.message import CONTROL, counted


def report_page(template: str, **values: object) -> str:
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    return environment(__package__, counted=counted)


def environment(package: str, **filters: Callable[..., Any]) -> Environment:
    """The templates of a package; all text is escaped."""
    found = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_without_control,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= filters
    return found


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


class Table(NamedTuple):
    """Rows under heads; the columns with the given heads contain text, the others numbers."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    texts: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def aligned(rows: Sequence[Sequence[str]], left: Container[int]) -> Iterator[str]:
    """The rows as aligned lines; the given columns are left-aligned.

    The last cell of a row that is shorter than others may be of any width.

    >>> list(aligned([("a", "bees"), ("wasps", "7")], {0}))
    ['a      bees', 'wasps     7']
    """
    count = max(map(len, rows))
    wide = [row if len(row) == count else row[:-1] for row in rows]
    widths = [max(len(row[at]) for row in wide if at < len(row)) for at in range(count)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=False))
        yield "  ".join(cell.ljust(width) if at in left else cell.rjust(width) for at, (cell, width) in cells).rstrip()
