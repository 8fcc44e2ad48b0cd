"""Writes the card of a model in Markdown, with its training data and scores, and puts card and weights in place.

The same model has the same card.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from crawler import __version__
from crawler.command_line.terminal import printable
from crawler.translation.message import counted

SIGNS = re.compile(r"[\\|<`]")
"""Characters with a meaning in a cell of a Markdown table."""


def card(template: str, **values: object) -> str:
    """The card made from a template of this folder and the values."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # noqa: S701 - Markdown, whose cells are escaped by `table`
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"counted": counted, "format": format, "table": table, "version": version}
    return environment.get_template(template).render(winnow=__version__, **values)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; whole numbers are written with thousands separators."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(_cell, row))} |" for row in rows)])


def escaped(text: str) -> str:
    """A text escaped for a cell: the names of sets are file names, and may contain anything."""
    return SIGNS.sub(r"\\\g<0>", " ".join(printable(text).split()))


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return escaped(str(value))


@contextmanager
def put_in_place(*paths: Path) -> Iterator[list[Path]]:
    """Temporary files that replace these files at the end, or none of them if the end is not reached."""
    parent = paths[0].parent
    parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=parent, prefix=".train-") as folder:
        temporary_files = [Path(folder, path.name) for path in paths]
        yield temporary_files
        for temporary, path in zip(temporary_files, paths, strict=True):
            temporary.replace(path)
