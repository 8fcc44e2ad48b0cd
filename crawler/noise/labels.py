"""Labelled picture links, as readers give them: which picture of which page, content or noise, and of what kind."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

NOISE, CONTENT = "noise", "content"
KINDS = {
    CONTENT: ("text", "head", "gallery"),
    NOISE: ("advert", "navigation", "decoration", "icon", "avatar", "thumbnail"),
}
"""What a picture can be: of the page's own text, its head or its gallery; or one of the kinds of noise."""


class LabelError(Exception):
    """A line that is no label; the message is one sentence for the user."""


class Label(NamedTuple):
    """What a reader says of a picture of a page."""

    set: str
    page: str
    """The page's id in its set."""
    img: str
    is_noise: bool
    kind: str = ""
    unsure: bool = False


def read(lines: Iterable[str], name: str) -> Iterator[Label]:
    """The labels of lines of JSON; a LabelError at a line that is none, by its number and the name of the file."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            yield _label(found, f"line {number} of {name}")


def _label(found: Any, place: str) -> Label:
    if not isinstance(found, dict) or not all(isinstance(found.get(key), str) for key in ("page", "img", "label")):
        raise LabelError(f"{place} has no page, img and label")
    if (label := found["label"]) not in KINDS:
        raise LabelError(f"{place} has the label {label!r}; there is {CONTENT} and {NOISE}")
    kind = str(found.get("kind") or "")
    if kind and kind not in KINDS[label]:
        raise LabelError(f"{place} has the kind {kind!r}; of {label} there is {', '.join(KINDS[label])}")
    name = str(found.get("set") or "")
    return Label(name, found["page"], found["img"], label == NOISE, kind, found.get("unsure") is True)
