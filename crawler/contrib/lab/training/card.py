"""Writes the card of a model: a Markdown file about its training data and scores. Puts card and weights in place.

A card has no date, so training the same model again writes the same card.
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
"""Characters that have a meaning in the cells of Markdown tables."""


def card(template: str, **values: object) -> str:
    """The card, rendered from a template of this folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # noqa: S701 - the output is Markdown, and `table` escapes its cells
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
    """A text escaped for a cell, such as the name of a set, which is a file name and may have any character."""
    return SIGNS.sub(r"\\\g<0>", " ".join(printable(text).split()))


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return escaped(str(value))


@contextmanager
def put_in_place(*paths: Path) -> Iterator[list[Path]]:
    """Temporary files that replace these files after the block; an exception leaves the files as they are."""
    parent = paths[0].parent
    parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=parent, prefix=".train-") as folder:
        temporary_files = [Path(folder, path.name) for path in paths]
        yield temporary_files
        for temporary, path in zip(temporary_files, paths, strict=True):
            temporary.replace(path)
