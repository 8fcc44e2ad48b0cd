"""The reports that lie as files beside what crawls wrote: found by their first bytes, and shown in frames of their own.

No path ever comes from a request: a file is asked for by a number made of its name, and looked for among those that
there are. No link is followed. Whoever wrote a file, nothing in it acts: its frame is of no origin, runs no script and
loads nothing.
"""

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

from fastapi.responses import HTMLResponse, Response
from pydantic import PlainSerializer

from crawler.dashboard.views.judged_images import read_file
from crawler.reports.html_page import shown

MOST_OPENED = 300
MOST_BYTES = 20_000_000
MOST_LETTERS = 500_000
"""Of a file of figures, that are shown."""
HEAD = 1_000  # bytes by which ours are known
EXTRACTION, FOCUS, EXTRACTION_FIGURES, NOISE_FIGURES = "extraction", "focus", "extraction figures", "noise figures"
_PAGE = rb'<!doctype html>\s+<html lang="en">.{1,600}<title>Winnow: %s</title>'
OURS = {
    EXTRACTION: re.compile(_PAGE % b"extraction judged", re.DOTALL),
    FOCUS: re.compile(_PAGE % b"how well it kept to the topic", re.DOTALL),
    EXTRACTION_FIGURES: re.compile(rb'\{"format": \d+, "winnow": "'),
    NOISE_FIGURES: re.compile(rb'\{\s*"labels": \{\s*"given": \d'),
}
"""How the files begin that our commands write."""
PAGES = (EXTRACTION, FOCUS)
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY}


FileName = Annotated[str, PlainSerializer(lambda name: name.encode("utf-8", "replace").decode(), return_type=str)]
"""The name of a file, which need not be text."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report that lies as a file."""

    id: int
    name: FileName
    kind: str
    """extraction or focus; extraction figures or noise figures."""
    bytes: int
    written_at: float
    can_be_shown: bool
    """Whether it is small enough."""


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The reports among the files of a folder, the newest first."""

    files: tuple[ReportFile, ...]
    unopened: int
    """Older files that may be reports, and were not looked into."""


def report_files(folder: Path) -> ReportFiles:
    """The reports that lie in a folder."""
    candidates = _candidates(folder)
    found = []
    for written_at, name, size in candidates[:MOST_OPENED]:
        head = read_file(folder / name, HEAD) or b""
        kind = next((kind for kind, start in OURS.items() if start.match(head)), None)
        if kind is not None:
            found.append(ReportFile(_number(name), name, kind, size, written_at, size <= MOST_BYTES))
    return ReportFiles(tuple(found), max(0, len(candidates) - MOST_OPENED))


def report_file(folder: Path, number: int) -> Response | None:
    """The report of this number as a document for a frame; None where there is none that may be shown."""
    for one in report_files(folder).files:
        if one.id == number and one.can_be_shown:
            body = read_file(folder / one.name, MOST_BYTES)
            if body is None or not OURS[one.kind].match(body[:HEAD]):  # it is another one by now
                return None
            return HTMLResponse(body if one.kind in PAGES else _figures(one.name, body), headers=HEADERS)
    return None


def _candidates(folder: Path) -> list[tuple[float, str, int]]:
    """When the files that may be reports by their names were written, their names and sizes; the newest first."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.lower().endswith((".html", ".htm", ".json")):
                with suppress(OSError):  # it is gone by now
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        found.append((status.st_mtime, entry.name, status.st_size))
    return sorted(found, reverse=True)


def _number(name: str) -> int:
    """A number that stands for a name in addresses, and that a program in JavaScript can hold, too."""
    return int.from_bytes(blake2b(os.fsencode(name), digest_size=6).digest(), "big")


def _figures(name: str, body: bytes) -> bytes:
    """A document of a file of figures, as text."""
    text = body.decode("utf-8", "replace")
    rest = f"<p>… {len(text) - MOST_LETTERS:,}</p>" if len(text) > MOST_LETTERS else ""
    style = ":root{color-scheme:light dark}pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 monospace}"
    head = f'<meta charset="utf-8"><title>{shown(name)}</title><style>{style}</style>'
    said = f"<!doctype html><html lang=en><head>{head}</head><body><pre>{shown(text[:MOST_LETTERS])}</pre>{rest}"
    return said.encode("utf-8", "replace")
