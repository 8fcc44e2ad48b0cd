"""Pictures that people have told apart: JSON lines with the page, the picture's address, and what it is."""

import json
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from crawler.evaluation.gold import BROKEN_OFF, opened, set_name
from crawler.urls.parsing import absolute

CONTENT, NOISE = "content", "noise"
KINDS = {
    **dict.fromkeys(("text", "head", "gallery"), CONTENT),
    **dict.fromkeys(("advert", "navigation", "decoration", "icon", "avatar", "thumbnail"), NOISE),
}
"""The kinds of pictures, and what those of each kind are."""


class Label(NamedTuple):
    """What a picture on a page is."""

    set: str
    page: str
    img: str
    is_noise: bool
    kind: str
    unsure: bool = False
    """Whether the reader was in doubt."""


class Met(NamedTuple):
    """A labelled picture that was found on its page, and what each model said of it."""

    label: Label
    site: str
    pages: int
    """Of its site."""
    scores: tuple[float, ...]
    skipped: tuple[bool, ...]


class Labels(NamedTuple):
    """The labels of a file, and what of it could not be read."""

    found: tuple[Label, ...]
    faults: tuple[str, ...]


class Waiting:
    """Labels by page, until their page is met."""

    def __init__(self, labels: Iterable[Label], files: Iterable[Path]) -> None:
        """A file that is called like a set holds the pages of that set, others hold those of all other sets."""
        labels = tuple(labels)
        self._named = {label.set for label in labels} & {set_name(path) for path in files}
        self._waiting: dict[tuple[str, str], dict[str, Label]] = {}
        for label in labels:
            home = label.set if label.set in self._named else ""
            self._waiting.setdefault((home, label.page), {})[label.img] = label
        self.pages = frozenset(page for _, page in self._waiting)

    def take(self, file: str, page: str, shown: Container[str]) -> list[Label]:
        """The labels of the pictures that a page of a file shows; each label is handed out once."""
        home = set_name(Path(file))
        labels = self._waiting.get((home if home in self._named else "", page), {})
        return [labels.pop(img) for img in list(labels) if img in shown]

    @property
    def missed(self) -> int:
        """How many labels are of pictures that were not found on their page, or whose page was not found."""
        return sum(map(len, self._waiting.values()))


def read_labels(path: Path) -> Labels:
    """Labels by hand: set, page (its id in the set), img, label (content or noise) and kind; the first of a picture."""
    found: dict[tuple[str, str, str], Label] = {}
    faults = []
    for number, row in _rows(path):
        label = row if isinstance(row, str) else _label(row)
        if isinstance(label, str):
            faults.append(f"{path}: line {number:,}: {label}")
        else:
            found.setdefault(label[:3], label)
    return Labels(tuple(found.values()), tuple(faults))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """The objects of a file's lines with their numbers, or what is wrong with a line."""
    number = 0
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _object(line)
    except BROKEN_OFF as error:
        yield number + 1, f"the file cannot be read from here on ({error})"


def _object(line: bytes) -> dict[str, Any] | str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return "no JSON"
    return row if isinstance(row, dict) else "no object"


def _label(row: dict[str, Any]) -> Label | str:
    names = ("set", "page", "img", "label", "kind")
    if wrong := [name for name in names if not isinstance(row.get(name), str)]:
        return f"{' and '.join(wrong)} must be there and be text"
    if KINDS.get(row["kind"]) != row["label"]:
        return f"a label {row['label'][:20]!r} of the kind {row['kind'][:20]!r} is not known"
    return Label(
        row["set"], row["page"], _spelled(row["img"]), row["label"] == NOISE, row["kind"], row.get("unsure") is True
    )


def _spelled(address: str) -> str:
    """The address in the spelling that a page's pictures have."""
    return absolute("", address) or address
