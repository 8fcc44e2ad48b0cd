"""`--signatures`: writes a file with the signatures of texts, for the `--not-in` of a later export.

The file has the signatures of the texts of this export's `--not-in`, and of the pages that are written:
together, these are all the texts that the user then has. It keeps a temporary name until the output is complete, so it
never lists a page that was not written. text_files.py describes its format.
"""

from collections.abc import Iterable, Iterator

from crawler.atomic_files import AtomicFile
from crawler.contrib.corpus.text_files import HEADER, KnownText, signature_line
from crawler.export.formats import COMPRESSORS, compression_of
from crawler.reports.stored_pages import StoredPage
from crawler.store.output_files import json_line
from crawler.translation.message import Message, plural


class SignatureFile:
    """A file that is written one text at a time."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._target: AtomicFile | None = None
        compression = compression_of(path)
        self._packer = COMPRESSORS[compression]() if compression else None
        self._count = 0

    def open(self) -> None:
        """Begin the file."""
        self._target = AtomicFile(self.path)
        self._write(json_line(HEADER))

    def add(self, text: KnownText) -> None:
        """Add a text."""
        self._count += 1
        self._write(json_line(signature_line(text)))

    def recorded(self, pages: Iterable[StoredPage]) -> Iterator[StoredPage]:
        """The pages, unchanged; the signature of each is added when it is read."""
        for page in pages:
            values = page.values
            self.add(
                KnownText(address=values["url"], fingerprint=values["text_fingerprint"], signature=values["signature"])
            )
            yield page

    def finish(self) -> None:
        """Give the file its name."""
        assert self._target is not None  # noqa: S101 - it was opened
        if self._packer is not None:
            self._target.write(self._packer.flush())
        self._target.finish()

    def discard(self) -> None:
        """Delete the file if it is not finished."""
        if self._target is not None:
            self._target.discard()

    def summary_line(self) -> Message:
        """The line about the file that is printed after the export."""
        return plural(
            "{n} signature written to {path}, for --not-in.",
            "{n} signatures written to {path}, for --not-in.",
            self._count,
            path=self.path,
        )

    def _write(self, line: bytes) -> None:
        assert self._target is not None  # noqa: S101 - it was opened
        self._target.write(line if self._packer is None else self._packer.compress(line))
