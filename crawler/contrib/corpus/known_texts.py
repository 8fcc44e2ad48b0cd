"""The sources that `--not-in` names, each called OLD: a file or folder of texts, or a crawl of the same database.

A file may have the texts themselves or only their signatures. A `.txt` file is one text. A folder stands for all files
in it and below it that have a known extension.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from crawler.atomic_files import readable_file
from crawler.contrib.corpus.text_files import EXTENSIONS, Fault, KnownText, read_file, reader_name
from crawler.errors import WrongUseError
from crawler.export.formats import COMPRESSORS
from crawler.export.where_conditions import ENDING as REMOVED_LIST_ENDING
from crawler.reports.crawls import name_list
from crawler.reports.stored_pages import PageFilter, StoredPages
from crawler.translation.message import Message, plural

CRAWL_PREFIX = "crawl:"
"""The prefix of the name of a crawl; a file whose name begins like that is given as ./crawl:NAME."""
UNFINISHED = ".part"
"""The suffix of the names of folders that an export has not finished."""
COMPARED = ("url", "text_fingerprint", "signature")
"""The columns of pages: the fingerprint and the signature are compared; the URL names a page in reports."""


@dataclass(frozen=True, slots=True)
class KnownSource:
    """An OLD of `--not-in`, as it was typed."""

    typed: str

    @property
    def crawl(self) -> str | None:
        """The name of the crawl; None if the source is a file or folder."""
        return self.typed.removeprefix(CRAWL_PREFIX) if self.typed.startswith(CRAWL_PREFIX) else None

    def __str__(self) -> str:
        """The name in a manifest: only the last part of a path, so that it tells nothing about the user's folders."""
        return self.typed if self.crawl is not None else Path(self.typed).resolve().name

    def files(self) -> Iterator[tuple[Path, str]]:
        """The files with texts, and their names within the source; unfinished exports and lists of removed pages are
        skipped.
        """
        top = Path(self.typed)
        if not top.is_dir():
            yield top, top.name
            return
        for folder, folders, names in os.walk(top, onerror=_refuse_folder):
            folders[:] = sorted(name for name in folders if not name.endswith(UNFINISHED))  # which os.walk then enters
            for name in sorted(names):
                file = Path(folder, name)
                if reader_name(name) and not name.endswith(REMOVED_LIST_ENDING) and file.is_file():
                    yield file, file.relative_to(top).as_posix()

    def overlaps(self, output: str) -> bool:
        """Whether writing to this path would overwrite texts of the source."""
        if self.crawl is not None or not Path(output).exists():
            return False
        source_path = Path(self.typed).resolve()
        output_path = Path(output).resolve()
        return source_path == output_path or source_path in output_path.parents or output_path in source_path.parents


def _refuse_folder(error: OSError) -> NoReturn:
    raise WrongUseError("{path} cannot be read ({why})", path=repr(error.filename), why=error.strerror)


def known_source_of(text: str) -> KnownSource:
    """Parse the name of a file or folder with texts, or of a crawl; raises a WrongUseError."""
    source = KnownSource(text)
    if source.crawl is not None:
        return source
    is_folder = Path(text).is_dir()
    if is_folder and next(source.files(), None) is None:
        raise WrongUseError(
            "{path} has no file with texts; extensions of such files are {endings}",
            path=repr(text[:200]),
            endings=[*EXTENSIONS],
        )
    if not is_folder and not reader_name(readable_file(text).name):
        raise WrongUseError(
            "the name {path} does not tell the format; extensions of files with texts are {endings}, also with "
            "{compressions}",
            path=repr(text[:200]),
            endings=[*EXTENSIONS],
            compressions=[*COMPRESSORS],
        )
    return source


def check_crawls(sources: Sequence[KnownSource], exported: Sequence[str], stored: Sequence[str]) -> None:
    """Raise a WrongUseError if a source is a crawl that does not exist, or that is itself exported.

    `exported` and `stored` are the names of crawls.
    """
    for source in sources:
        if source.crawl is not None and source.crawl not in stored:
            raise WrongUseError(
                "there is no crawl {name}; there are {names}", name=repr(source.crawl[:200]), names=name_list(stored)
            )
        if source.crawl in exported:
            raise WrongUseError("--not-in {old} is the crawl that is exported", old=source.typed)


@dataclass
class KnownCounts:
    """Counts of the texts of an OLD."""

    source: KnownSource
    texts: int = 0
    removed: int = 0
    """Pages that were left out as copies of its texts."""
    unread: int = 0
    """Texts that could not be read."""
    fault: Fault | None = None
    """Why the first unread text could not be read."""

    def summary_lines(self) -> Iterator[Message]:
        """The lines about this OLD that are printed after the export."""
        old = self.source.typed
        yield plural("Compared with {n} text of {old}.", "Compared with {n} texts of {old}.", self.texts, old=old)
        if self.fault is not None:
            yield plural(
                "{n} text of {old} could not be read: {place} {why}.",
                "{n} texts of {old} could not be read; the first: {place} {why}.",
                self.unread,
                old=old,
                place=self.fault.place,
                why=self.fault.why,
            )


def known_texts(counts: KnownCounts, crawls: Mapping[str, StoredPages]) -> Iterator[KnownText]:
    """The texts of an OLD; updates the counts, and raises a WrongUseError if none of the texts can be read."""
    source = counts.source
    if source.crawl is not None:
        for page in crawls[source.crawl].pages(COMPARED, PageFilter()):
            url, fingerprint, signature = (page.values[name] for name in COMPARED)
            counts.texts += 1
            yield KnownText(address=url, fingerprint=fingerprint, signature=signature)
        return
    for path, name in source.files():
        for text in read_file(path, name):
            if isinstance(text, Fault):
                counts.unread += 1
                if counts.fault is None:
                    counts.fault = text
            else:
                counts.texts += 1
                yield text
    if counts.fault is not None and not counts.texts:
        raise WrongUseError(
            "no text of {path} can be read: {place} {why}",
            path=repr(source.typed),
            place=counts.fault.place,
            why=counts.fault.why,
        )
