"""Optional parts of the crawler, such as the renderer. A part is an object of a module; a door is a kind of parts.

PARTS names the parts of this package, which are in contrib/. Another package adds parts by entry points of the group
`winnow.DOOR`, e.g. `winnow.renderers`; see docs/how-to/own-package.md. A part is imported when it is used. So a folder
of contrib/, or a library that the folder needs, may be missing as long as none of its parts is used.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, TypeVar, cast

from crawler.errors import MissingPartError
from crawler.translation.message import N_

T = TypeVar("T")


class Door(StrEnum):
    """A kind of part."""

    CHUNKS = "chunks"
    """Functions that cut cleaned pages into chunks."""
    DOCUMENTS = "documents"
    """Readers of files that are not web pages."""
    EXTRACTORS = "extractors"
    """Functions from a page to its extraction, in addition to the methods of crawler.extraction."""
    ITEM_FIELDS = "fields"
    """Functions from a page and its extraction to a JSON value, which is stored in `own_fields`."""
    EXPORTS = "exports"
    """Formats of exports, each under the extension of its files."""
    QUALITY = "quality"
    """The function that computes numbers about texts, and the names of these numbers."""
    RENDERERS = "renderers"
    """Functions that render pages in a browser, or check for one."""
    VIEWS = "views"
    """Tuples of modules with views of the dashboard, each with a `router` and perhaps an `api` of FastAPI."""


@dataclass(frozen=True)
class Part:
    """A part of this package."""

    reference: str
    """`module:name` of the object that is the part."""
    libraries: tuple[str, ...] = ()
    """Modules of other packages that the part needs but imports late; `resolve` checks whether they are installed."""

    @property
    def extra(self) -> str:
        """The extra of this package that installs the libraries; it has the name of the part's folder in contrib/."""
        return self.reference.removeprefix("crawler.contrib.").partition(".")[0]


PARTS: Mapping[Door, Mapping[str, Part]] = MappingProxyType(
    {
        Door.CHUNKS: {
            "document": Part("crawler.contrib.index.document_chunks:document_chunks"),
        },
        Door.DOCUMENTS: {
            "crawl": Part("crawler.contrib.documents.document_reader:DocumentReader"),
            "text": Part("crawler.contrib.documents.saved_documents:read_saved"),
            "file": Part("crawler.contrib.documents.saved_documents:read_saved", ("pypdfium2",)),
        },
        Door.EXPORTS: {
            "parquet": Part("crawler.contrib.corpus.table_and_archive_formats:PARQUET", ("pyarrow",)),
            "warc": Part("crawler.contrib.corpus.table_and_archive_formats:WARC"),
            "wacz": Part("crawler.contrib.corpus.table_and_archive_formats:WACZ"),
            "chunks": Part("crawler.contrib.index.chunk_export:CHUNKS"),
        },
        Door.QUALITY: {
            "measured": Part("crawler.contrib.corpus.quality:measured"),
            "names": Part("crawler.contrib.corpus.quality:NAMES"),
        },
        Door.RENDERERS: {
            "crawl": Part("crawler.contrib.browser.page_rendering:crawl_rendering", ("playwright",)),
            "is_usable": Part("crawler.contrib.browser.installed:is_usable"),
            "page": Part("crawler.contrib.browser.page_rendering:render_response", ("playwright",)),
        },
        Door.VIEWS: {
            "corpus": Part("crawler.contrib.corpus.views:VIEWS"),
            "erasure": Part("crawler.contrib.index.views:VIEWS"),
            "labels": Part("crawler.contrib.lab.views:VIEWS"),
            "schedule": Part("crawler.contrib.schedule.views:VIEWS", ("cronsim",)),
        },
    }
)


RENDERER_INSTALLATION = N_(
    "python -m pip install 'winnow-crawler[browser]', and then playwright install chromium or the package chromium of "
    "your system"
)
"""How to install what the renderers need."""


def names(door: Door) -> list[str]:
    """The names of the parts behind a door, those of this package first."""
    return list(dict.fromkeys([*PARTS.get(door, ()), *_entry_points(door)]))


def load(door: Door, name: str) -> Any:
    """A part; raises a MissingPartError if it, or a library that it needs, is not installed."""
    part = PARTS.get(door, {}).get(name)
    if part is not None:
        return resolve(part)
    return _entry_points(door)[name].load()


def resolve(part: Part) -> Any:
    """The object that is a part; raises a MissingPartError if it, or a library that it needs, is not installed."""
    missing = next((library for library in part.libraries if find_spec(library) is None), None)
    if missing is None:
        try:
            return resolve_name(part.reference)
        except ModuleNotFoundError as error:
            missing = error.name
    raise MissingPartError(
        "the module {module} is missing: pip install 'winnow-crawler[{extra}]'", module=missing, extra=part.extra
    )


def find(door: Door, name: str) -> Any:
    """A part; None if it, or a library that it needs, is not installed."""
    try:
        return load(door, name)
    except MissingPartError:
        return None


class PartTable(Mapping[str, T]):
    """The values of `own` and the parts behind a door, by name. A `Part` in `own` is imported when it is used."""

    def __init__(self, door: Door, own: Mapping[str, T | Part]) -> None:
        self._door = door
        self._own = own

    def __getitem__(self, name: str) -> T:
        part: T | Part | None = self._own.get(name)
        if part is None:
            part = load(self._door, name)
        elif isinstance(part, Part):
            part = resolve(part)
        return cast("T", part)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._own, *names(self._door)]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def package_version(self, name: str) -> str:
        """The version of the package that adds a part; empty for a part of this package."""
        if name in self._own or name not in _entry_points(self._door):
            return ""
        distribution = _entry_points(self._door)[name].dist
        if distribution is not None:
            return distribution.version
        return ""


@cache
def _entry_points(door: Door) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"winnow.{door}")}
