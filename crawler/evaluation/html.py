"""Reports as HTML: one file that needs nothing else, and in which nothing that was crawled acts.

All text of pages is escaped; a Content-Security-Policy forbids scripts, pictures, frames and every load.
"""

from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from crawler.wording import CONTROL, counted


def report_page(template: str, **values: object) -> str:
    """A report as the text of a file."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    return environment(__package__, counted=counted)


def environment(package: str, **filters: Callable[..., Any]) -> Environment:
    """The templates of a package: all text is escaped where it is put in."""
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
    """The text as HTML shows it, whatever it is; control characters as a sign of their own.

    >>> shown('<b title="x">\\x1b')
    '&lt;b title=&quot;x&quot;&gt;\\ufffd'
    """
    return escape(_without_control(text))
