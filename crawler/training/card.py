"""The card of a model, in Markdown: what it was trained on and how well it does; and how both come to their places.

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
"""Signs that Markdown reads in a cell."""


def card(template: str, **values: object) -> str:
    """The card that a template of this folder makes of the values."""
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
    """A text that stays within its cell: the names of sets are those of their files, and may hold anything."""
    return SIGNS.sub(r"\\\g<0>", " ".join(printable(text).split()))


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else escaped(str(value))


@contextmanager
def put_in_place(*paths: Path) -> Iterator[list[Path]]:
    """Temporary files that take the places of these at the end, or none of them where that is not reached."""
    parent = paths[0].parent
    parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=parent, prefix=".train-") as folder:
        made = [Path(folder, path.name) for path in paths]
        yield made
        for temporary, path in zip(made, paths, strict=True):
            temporary.replace(path)
