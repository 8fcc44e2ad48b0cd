"""Reads gold sets (saved pages with the main text that people marked), and labels of images on saved pages.

Both are files of JSON lines, which may be compressed. A file of pages is a set; a file of labels names the set and the
page of each image. A broken line is skipped, and described by a message (a fault).
"""

import gzip
import json
import lzma
import os
import zlib
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

from crawler.atomic_files import readable_file
from crawler.errors import WrongUseError
from crawler.urls.parsing import absolute

READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""The errors of a file that is cut off or damaged."""
DATA = "WINNOW_DATA"
"""The environment variable that names the folder of data."""
PAGES_FOLDER = "extraction"
"""The folder in the folder of data that has the files of pages, for the commands without --pages."""
PAGES_ENDING = ".jsonl.xz"
"""The ending of the names of the files of pages in PAGES_FOLDER."""
SET_ENDINGS = (".gz", ".xz", ".jsonl", ".json")
"""Endings that are removed, one after another in this order, from a file's name to get the name of its set."""
CONTENT = "content"
NOISE = "noise"
KINDS = {
    **dict.fromkeys(("text", "head", "gallery"), CONTENT),
    **dict.fromkeys(("advert", "navigation", "decoration", "icon", "avatar", "thumbnail"), NOISE),
}
"""The kinds of images, each with the label that images of this kind have."""


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A saved page and its main text."""

    id: str
    url: str
    lang: str
    page_type: str
    html: str
    gold: str
    """The main text that people marked."""

    @property
    def host(self) -> str:
        """The host of the page's address; empty if there is none."""
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True)
class GoldSet:
    """The pages of one file, and the faults of its broken lines."""

    name: str
    pages: tuple[GoldPage, ...]
    faults: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """16 hex digits that identify the pages and their gold texts."""
        digest = blake2b(digest_size=8)
        for page in self.pages:
            for part in (page.id, page.html, page.gold):
                digest.update(part.encode("utf-8", "surrogatepass") + b"\xff")
        return digest.hexdigest()


def read_set(path: Path) -> GoldSet:
    """The pages of a file, and the faults of broken lines."""
    pages = []
    faults = []
    for number, row in objects(path):
        page = row if isinstance(row, str) else _page(row, number)
        if isinstance(page, str):
            faults.append(f"{path}:{number}: {page}")
        else:
            pages.append(page)
    if not pages:
        faults.append(f"{path}: no page is in it")
    return GoldSet(name=set_name(path), pages=tuple(pages), faults=tuple(faults))


def set_name(path: Path) -> str:
    """The name of a file's set in tables.

    >>> set_name(Path("gold/news.2024.jsonl.xz"))
    'news.2024'
    """
    name = path.name
    for ending in SET_ENDINGS:
        name = name.removesuffix(ending)
    return name or path.name


def opened(path: Path) -> BinaryIO:
    """The file, open for reading, decompressed according to its name."""
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path))
    if path.suffix == ".xz":
        return cast(BinaryIO, lzma.open(path))
    return path.open("rb")


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """For each line of a file that is not blank, its number and its object, or a message if the line is broken."""
    number = 0
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _object(line)
    except READ_ERRORS as error:
        yield number + 1, f"the file cannot be read from here on ({error})"


def _object(line: bytes) -> dict[str, Any] | str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return "no JSON"
    return row if isinstance(row, dict) else "no object"


def _fault(row: dict[str, Any], text_fields: Sequence[str]) -> str:
    """A message about the fields that are missing or not text; empty if all are text."""
    wrong = [name for name in text_fields if not isinstance(row.get(name), str)]
    if wrong:
        return f"{' and '.join(wrong)} must be there and be text"
    return ""


def _page(row: dict[str, Any], number: int) -> GoldPage | str:
    """The page of a line, or a message if a field is missing; without an id, the number of the line is the id."""
    fault = _fault(row, ("html", "gold"))
    if fault:
        return fault
    return GoldPage(
        id=str(row.get("id", number)),
        url=_text_or_empty(row.get("url")),
        lang=_text_or_empty(row.get("lang")),
        page_type=_text_or_empty(row.get("page_type")),
        html=row["html"],
        gold=row["gold"],
    )


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True, order=True)
class ImageLabel:
    """A person's label of an image on a page. Labels can be sorted, so that their fingerprint does not depend on their
    order in files.
    """

    set: str
    """The name of the set that the page belongs to."""
    page: str
    """The id of the page."""
    img: str
    """The address of the image."""
    is_noise: bool
    kind: str
    """One of KINDS; empty for a label of a crawl."""
    _: KW_ONLY
    unsure: bool = False
    """Whether the labeller was in doubt."""


@dataclass(frozen=True, slots=True)
class ScoredImage:
    """A labelled image that was found on its page, with the score and the decision of each model."""

    label: ImageLabel
    site: str
    pages: int
    """How many pages of its site were read."""
    scores: tuple[float, ...]
    """The score of each model; a higher one means that the image is more likely to be noise."""
    skipped: tuple[bool, ...]
    """Whether each model called the image noise."""


class PendingLabels:
    """Labels whose images have not been found on a page yet."""

    def __init__(self, labels: Iterable[ImageLabel], files: Iterable[Path]) -> None:
        """The labels of a set are searched in the file with its name; if there is none, in all files that have not the
        name of another labelled set.
        """
        labels = tuple(labels)
        self._sets_with_file = {label.set for label in labels} & {set_name(path) for path in files}
        # The keys are a set and a page id, then an image. The set is an empty text if no file has its name.
        self._labels_of_page: dict[tuple[str, str], dict[str, ImageLabel]] = {}
        for label in labels:
            set_with_file = label.set if label.set in self._sets_with_file else ""
            self._labels_of_page.setdefault((set_with_file, label.page), {})[label.img] = label
        self.pages = frozenset(page for _, page in self._labels_of_page)

    def take(self, file: str, page: str, shown: Container[str]) -> list[ImageLabel]:
        """Remove and return the labels of images on a page of a file; `shown` are the addresses of its images."""
        name = set_name(Path(file))
        set_with_file = name if name in self._sets_with_file else ""
        labels = self._labels_of_page.get((set_with_file, page), {})
        return [labels.pop(img) for img in list(labels) if img in shown]

    @property
    def missed(self) -> int:
        """The number of labels that `take` has not returned: after the last page, those whose image was not found."""
        return sum(map(len, self._labels_of_page.values()))


def read_labels(path: Path) -> tuple[list[ImageLabel], list[str]]:
    """The labels of a file, and the faults of broken lines.

    A line has `set`, `page` (an id), `img`, `label` (`content` or `noise`), `kind`, and perhaps `unsure`. If several
    lines label the same image on a page, the first one counts.
    """
    labels: dict[tuple[str, str, str], ImageLabel] = {}
    faults = []
    for number, row in objects(path):
        label = row if isinstance(row, str) else _label(row)
        if isinstance(label, str):
            faults.append(f"{path}: line {number:,}: {label}")
        else:
            labels.setdefault((label.set, label.page, label.img), label)
    return [*labels.values()], faults


def _label(row: dict[str, Any]) -> ImageLabel | str:
    """The label of a line, or a message if the line is wrong."""
    fault = _fault(row, ("set", "page", "img", "label", "kind"))
    if fault:
        return fault
    if KINDS.get(row["kind"]) != row["label"]:
        return f"a label {row['label'][:20]!r} of the kind {row['kind'][:20]!r} is not known"
    img = absolute("", row["img"]) or row["img"]  # spelled as the images of pages are
    return ImageLabel(
        set=row["set"],
        page=row["page"],
        img=img,
        is_noise=row["label"] == NOISE,
        kind=row["kind"],
        unsure=row.get("unsure") is True,
    )


def files_of(sets: Collection[str], chosen_files: Iterable[str] | None) -> list[Path]:
    """The files of pages: the chosen ones; without a choice, the files of these sets in PAGES_FOLDER."""
    if chosen_files:
        return [readable_file(name) for name in dict.fromkeys(chosen_files)]
    if not os.environ.get(DATA):
        raise WrongUseError("no --pages FILE is given, and {variable} names no folder", variable=DATA)
    folder = Path(os.environ[DATA]) / PAGES_FOLDER
    files = [path for path in sorted(folder.glob(f"*{PAGES_ENDING}")) if set_name(path) in sets]
    missing = sorted(set(sets) - {set_name(path) for path in files})
    if missing:
        raise WrongUseError(
            "there is no file {path}; --pages FILE names others",
            path=repr(str(folder / (missing[0] + PAGES_ENDING))[:300]),
        )
    return files
