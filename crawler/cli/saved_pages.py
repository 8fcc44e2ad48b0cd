"""Files that commands read and write: whether they can be, and which hold the pages of labels."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.cli.command import WrongUseError
from crawler.evaluation.gold import set_name
from crawler.extraction import EXTRACTORS, Extractor

DATA, FOLDER, ENDING = "WINNOW_DATA", "extraction", ".jsonl.xz"


def method(settings: BaseSettings) -> Extractor:
    """The extractor of the settings."""
    name = str(settings["EXTRACTOR"])
    if name not in EXTRACTORS:
        raise WrongUseError(f"setting EXTRACTOR={name[:100]!r} is wrong; allowed are {', '.join(EXTRACTORS)}")
    return EXTRACTORS[name]


def readable(name: str) -> Path:
    """The path of a file that can be read, and more than once."""
    path = Path(name)
    try:
        regular = path.is_file()
        if regular or not path.exists():
            path.open("rb").close()
    except OSError as error:
        raise WrongUseError(f"{name[:200]!r} cannot be read ({error.strerror})") from None
    if not regular:  # a pipe can be read once only
        raise WrongUseError(f"{name[:200]!r} is no file")
    return path


def files_of(sets: Collection[str], given: Iterable[str] | None) -> list[Path]:
    """The files of pages: those given, else of these sets in the folder that WINNOW_DATA names."""
    if given:
        return [readable(name) for name in dict.fromkeys(given)]
    if not os.environ.get(DATA):
        raise WrongUseError(f"no --pages FILE is given, and {DATA} names no folder")
    folder = Path(os.environ[DATA]) / FOLDER
    found = [path for path in sorted(folder.glob(f"*{ENDING}")) if set_name(path) in sets]
    if missing := sorted(set(sets) - {set_name(path) for path in found}):
        raise WrongUseError(
            f"there is no file {str(folder / (missing[0] + ENDING))[:300]!r}; --pages FILE names others"
        )
    return found


def check_apart(output: str | None, inputs: Iterable[Path]) -> None:
    """Raise a WrongUseError where the output is one of the inputs."""
    if output is not None and Path(output).exists() and any(path.samefile(output) for path in inputs):
        raise WrongUseError(f"{output!r} is to be read and cannot be written to")
