"""The manifest of an output folder: which input file became which output file, and with which code and options.

A run is resumed only with the same code and options.
"""

import json
import os
import platform
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

from crawler import __version__
from crawler.atomic_files import LONGEST_NAME, AtomicFile
from crawler.contrib.bulk.archives.inputs import SINGLE_PAGES, STANDARD_INPUT, format_of_name
from crawler.errors import WrongUseError
from crawler.extraction import EXTRACTION_VERSION
from crawler.translation.message import Message

ENDING = ".jsonl"
"""The end of an output's name, after the whole name of its input."""
NO_ARCHIVE = Message("--into cleans WARC files, JSON lines and Tianwang's raw pages; use -o for other inputs")


@dataclass(frozen=True)
class FileToClean:
    """A file of an archive and its output: the lines of its pages."""

    shown: str
    """Its name as the user has given it, for messages."""
    input: Path
    """Its absolute path."""
    output: str
    """The name of the output in its folder."""
    size: int | None
    """Its size in bytes; None if the file cannot be read."""


def files_to_clean(names: Sequence[str]) -> list[FileToClean]:
    """The output file of each input; raises a WrongUseError if one is not an archive, or two would have the same
    output.

    A file keeps its whole name, so that `2004.warc` and `2004.warc.gz` have different outputs.
    """
    all_files = [_file_to_clean(name) for name in names]
    file_of_output: dict[str, FileToClean] = {}
    for file in all_files:
        other = file_of_output.setdefault(file.output.casefold(), file)  # some file systems ignore case
        if other is not file:
            raise WrongUseError(
                "{path} and {other} would both become {output}",
                path=repr(other.shown),
                other=repr(file.shown),
                output=repr(file.output),
            )
    return all_files


def largest_first(files: Iterable[FileToClean]) -> list[FileToClean]:
    """The order in which files are cleaned, so that no process is left with a large file at the end."""
    return sorted(files, key=lambda file: (-(file.size or 0), file.output))


def _file_to_clean(name: str) -> FileToClean:
    """An input with the name of its output; raises a WrongUseError if it is not an archive."""
    if name == STANDARD_INPUT:
        raise WrongUseError("standard input has no name from which to name its output; {why}", why=NO_ARCHIVE)

    path = Path(os.path.abspath(name))  # noqa: PTH100 - resolve() would replace the names of links
    try:
        status = path.stat()
    except (OSError, ValueError):
        size = None
    else:
        size = status.st_size
        if S_ISDIR(status.st_mode):
            raise WrongUseError("{path} is a folder; {why}", path=repr(name), why=NO_ARCHIVE)
        if not S_ISREG(status.st_mode):
            raise WrongUseError("{path} is not a file; {why}", path=repr(name), why=NO_ARCHIVE)

    kind = format_of_name(name)
    if kind is not None and kind.name in SINGLE_PAGES:
        raise WrongUseError("{path} is a single page; {why}", path=repr(name), why=NO_ARCHIVE)
    if len(os.fsencode(path.name + ENDING)) > LONGEST_NAME:
        raise WrongUseError(
            "the name of {path} is too long: {most} bytes are allowed",
            path=repr(name),
            most=LONGEST_NAME - len(ENDING),
        )
    return FileToClean(name, path, path.name + ENDING, size)


MANIFEST = ".clean.json"
HEAD_BYTES = 100  # the beginning of a manifest, which contains the folder's id
PACKAGES = ("lxml", "numpy", "py3langid", "w3lib")
"""The packages on whose versions the lines depend."""
OTHER_FOLDER = Message("give another FOLDER, or empty this one")


@cache
def maker() -> str:
    """The versions of Winnow, its extractors, its libraries and Python, on which the lines depend."""
    python = ".".join(platform.python_version_tuple()[:2])
    packages = [f"{name} {version(name)}" for name in PACKAGES]
    return f"Winnow {__version__} with extraction {EXTRACTION_VERSION}, {', '.join(packages)}, Python {python}"


def write_manifest(folder: Path, options: Mapping[str, Any], files: Sequence[FileToClean]) -> str:
    """Write the manifest of a new or continued run; returns the folder's random id, by which other machines recognize
    it. Raises a WrongUseError if the folder's content was made with other options.
    """
    path = folder / MANIFEST
    sizes = {file.output: file.size for file in files}
    manifest = {"folder": secrets.token_hex(16), "maker": maker(), "options": dict(options), "sizes": sizes}
    earlier: dict[str, Any] = manifest | {"sizes": {}}  # in a new folder, nothing differs from an earlier run
    if path.exists():
        earlier = json.loads(path.read_bytes())
    earlier_sizes = earlier["sizes"]
    _compare(folder, earlier, manifest)
    foreign_file = next((name for name in sizes if name not in earlier_sizes and os.path.lexists(folder / name)), None)
    if foreign_file:
        raise WrongUseError(
            "{path} exists and was not made by winnow clean --into; {advice}",
            path=repr(str(folder / foreign_file)),
            advice=OTHER_FOLDER,
        )

    # The files of earlier runs stay, and a file that cannot be read keeps its earlier size.
    new_sizes = {name: earlier_sizes.get(name) if size is None else size for name, size in sizes.items()}
    with AtomicFile(str(path)) as output:
        output.write(json.dumps(earlier | {"sizes": earlier_sizes | new_sizes}, indent=1).encode() + b"\n")
        output.finish()
    return str(earlier["folder"])


def is_same_folder(folder: Path, folder_id: str) -> bool:
    """Whether this is the folder with this id, rather than another machine's folder with the same path."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            return folder_id.encode() in file.read(HEAD_BYTES)
    except OSError:
        return False


def _compare(folder: Path, earlier: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """Raise a WrongUseError if a run with this manifest might write other lines than the earlier run."""
    if earlier["maker"] != manifest["maker"]:
        raise WrongUseError(
            "{path} was made by {before}, not by {now}: {advice}",
            path=repr(str(folder)),
            before=earlier["maker"],
            now=manifest["maker"],
            advice=OTHER_FOLDER,
        )

    for name in sorted(earlier["options"].keys() | manifest["options"].keys()):
        earlier_value = earlier["options"].get(name)
        value = manifest["options"].get(name)
        if value != earlier_value:
            raise WrongUseError(
                "{path} was made with {option} {before}, not {now}: {advice}",
                path=repr(str(folder)),
                option=name,
                before=repr(earlier_value),
                now=repr(value),
                advice=OTHER_FOLDER,
            )

    for name, size in manifest["sizes"].items():
        earlier_size = earlier["sizes"].get(name)
        if size is not None and earlier_size is not None and size != earlier_size:
            raise WrongUseError(
                "the input of {name} in {path} had {before} bytes, and now has {now}: {advice}",
                name=repr(name),
                path=repr(str(folder)),
                before=f"{earlier_size:,}",
                now=f"{size:,}",
                advice=OTHER_FOLDER,
            )
