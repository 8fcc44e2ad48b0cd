"""HTML files, and folders of them."""

import os
from collections.abc import Iterator
from pathlib import Path

from crawler.archives.records import MAX_PAGE, Broken, Raw, ReadResult, Record, Skipped, as_json
from crawler.archives.stream import Stream, bare, opened
from crawler.outcomes import Code, Outcome
from crawler.page.page import Page

SUFFIXES = (".html", ".htm", ".xhtml")


def read(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The one page of a file; its name is its id."""
    data = stream.take(MAX_PAGE + 1)
    if stream.hole is not None:
        yield Broken(name, str(stream.hole))
    elif len(data) > MAX_PAGE:
        yield Broken(name, f"the page is longer than {MAX_PAGE:,} bytes")
    else:
        yield Raw(name, record, data, {"name": name})


def record(raw: Raw) -> Record:
    """The page of one file. Nothing declares its type but its name."""
    return Record(Page("", raw.data), as_json(raw.head["name"]), '""')


def read_folder(folder: Path) -> Iterator[ReadResult]:
    """The pages of a folder and of the folders in it, by name; what has no name of HTML is left out."""
    home = folder.resolve()
    waiting: list[Path | os.DirEntry[str]] = [folder]  # the next one last, however deep
    while waiting:
        entry = waiting.pop()
        path = Path(entry)
        if isinstance(entry, Path) or entry.is_dir(follow_symlinks=False):
            try:
                waiting += sorted(os.scandir(path), key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                yield Broken(path.as_posix(), f"it cannot be read ({error.strerror})")
        elif not bare(entry.name).endswith(SUFFIXES):
            yield Skipped(Outcome(Code.NO_HTML_NAME))
        elif entry.is_symlink() and not _stays(path, home):
            yield Skipped(Outcome(Code.LINK_NOT_FOLLOWED))
        else:
            yield from read_file(path)


def _stays(link: Path, home: Path) -> bool:
    """Whether a link leads to a file in the folder, or nowhere."""
    target = Path(os.path.realpath(link))  # which ends where links lead in a circle
    return target.is_relative_to(home) and not target.is_dir()


def read_file(path: Path) -> Iterator[ReadResult]:
    """The one page of a file in a folder."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            yield Skipped(Outcome(Code.NOT_A_FILE))
            return
        with path.open("rb") as file:
            yield from read(opened(file, path.name), path.as_posix())
    except OSError as error:
        yield Broken(path.as_posix(), f"it cannot be read ({error.strerror})")
