"""With what a folder of clean lines was made: a restart goes on with the same, or not at all."""

import hashlib
import json
import os
import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from crawler import __version__
from crawler.bulk.pairs import Pair
from crawler.files import OutputError, WholeFile

NAME = ".clean.json"
HEAD = 100  # bytes of a recipe, in which its folder's name of its own stands
LIBRARIES = ("lxml", "numpy", "py3langid", "w3lib")  # which the lines depend on
PACKAGE = Path(__file__).resolve().parent.parent
CODE = (
    "*.py",
    "urls/*.py",
    "page/*.py",
    "metadata/*.py",
    "archives/*.py",
    "bulk/*.py",
    "translation/*.py",
    "extraction/**/*",
    "noise/*",
)  # and so does what is in these
ELSEWHERE = "give another FOLDER, or empty this one"


class RecipeError(Exception):
    """Why a folder cannot be gone on with, in one sentence."""


@dataclass(frozen=True)
class Recipe:
    """Who made the lines, with which options, of which files: their bytes by the names of what they become."""

    folder: str
    """What tells the folder from all others, whatever it is called on other machines."""
    maker: str
    options: Mapping[str, Any]
    sizes: Mapping[str, int | None]


@cache
def maker() -> str:
    """What writes the same lines everywhere: Winnow, its code, the libraries below it, Python."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in CODE for path in PACKAGE.glob(pattern) if path.is_file()}):
        if path.suffix != ".pyc":
            digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    parts = [f"{name} {version(name)}" for name in LIBRARIES]
    return f"Winnow {__version__} {digest.hexdigest()[:12]}, {', '.join(parts)}, Python {python}"


def go_on(folder: Path, options: Mapping[str, Any], found: Sequence[Pair]) -> str:
    """What tells the folder from others, once its recipe is in it; a RecipeError when others made what is in it."""
    before = _read(folder / NAME)
    name = secrets.token_hex(16) if before is None else before.folder
    now = Recipe(name, maker(), options, {pair.output: pair.size for pair in found})
    if before is not None:
        _compare(folder, before, now)
    known = {} if before is None else before.sizes
    new = [output for output in now.sizes if output not in known]
    if strange := next((output for output in new if os.path.lexists(folder / output)), None):
        raise RecipeError(f"{str(folder / strange)!r} is there and was not made by scrapy clean --into; {ELSEWHERE}")
    sizes = {**known, **{output: known.get(output) if size is None else size for output, size in now.sizes.items()}}
    lines = {"folder": name, "maker": now.maker, "options": dict(options), "sizes": sizes}
    try:
        with WholeFile(str(folder / NAME)) as output:
            output.write(json.dumps(lines, indent=1).encode() + b"\n")
            output.finish()
    except OutputError as error:
        raise RecipeError(str(error)) from None
    return name


def is_folder(folder: Path, name: str) -> bool:
    """Whether a folder is the one that is known by this name, and no other of the same path on another machine."""
    try:
        with (folder / NAME).open("rb") as file:
            return name.encode() in file.read(HEAD)
    except OSError:
        return False


def _compare(folder: Path, before: Recipe, now: Recipe) -> None:
    if before.maker != now.maker:
        raise RecipeError(f"{str(folder)!r} was made by {before.maker}, and this is {now.maker}: {ELSEWHERE}")
    for name in sorted(before.options.keys() | now.options.keys()):
        was, is_now = before.options.get(name), now.options.get(name)
        if was != is_now:
            raise RecipeError(f"{str(folder)!r} was made with {name} {was!r}, and now it is {is_now!r}: {ELSEWHERE}")
    for name in sorted(before.sizes.keys() & now.sizes.keys()):
        was, is_now = before.sizes[name], now.sizes[name]
        if was is not None and is_now is not None and was != is_now:
            raise RecipeError(
                f"what became {name!r} in {str(folder)!r} had {was:,} bytes, and now {is_now:,}: {ELSEWHERE}"
            )


def _read(path: Path) -> Recipe | None:
    """The recipe in a file; None when there is none."""
    if not os.path.lexists(path):
        return None
    try:
        saved = json.loads(path.read_bytes())
        sizes = {str(name): size if size is None else int(size) for name, size in saved["sizes"].items()}
        return Recipe(str(saved["folder"]), str(saved["maker"]), dict(saved["options"]), sizes)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise RecipeError(f"{str(path)!r} is no recipe of scrapy clean --into; {ELSEWHERE}") from None
