"""Judged images as the dashboard shows them: each with its verdict, its label and, if it was kept, the file itself."""

import math
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fastapi.responses import Response

from crawler.dashboard.views import ReasonObject
from crawler.labels.labels import CONTENT, NOISE
from crawler.labels.verdict_lists import Agreement, Audited, ListedVerdict
from crawler.noise import verdict_reasons
from crawler.noise.image_evidence import Sighting
from crawler.page.image_file import type_of
from crawler.translation.message import CONTROL

NORMAL = 1.959964
"""Standard deviations to each side of the middle 95% of a normal distribution."""


@dataclass(frozen=True, slots=True)
class JudgedPicture:
    """A picture, or the page behind it, with the verdict and what people said."""

    id: int
    kind: str
    """image, or link: the page that the picture leads to."""
    url: str
    target: str
    page: str
    site: str | None
    """Whose pages show it."""
    verdict: str
    """content or noise."""
    probability: float
    """Of noise."""
    keyword: float | None
    redundancy: float | None
    entropy: float | None
    reasons: tuple[ReasonObject, ...]
    decided_by: str
    audited: bool
    mistaken: bool | None
    bytes: int | None
    decided_at: str
    name: str
    """Of its file, in the address."""
    alt: str
    title: str
    anchor: str
    width: int | None
    """In pixels, as the page gives it."""
    height: int | None
    is_here: bool
    """Whether it was downloaded, and where it lies is known."""
    label: str
    """content or noise, as people say; empty where nobody did."""

    @property
    def is_disputed(self) -> bool:
        """Whether people see it otherwise than the verdict."""
        return bool(self.label) and self.label != self.verdict

    @property
    def box(self) -> tuple[int, int] | None:
        """Width and height of a box of its shape that is no larger than 160 x 110."""
        if not self.width or not self.height or self.width < 0 or self.height < 0:
            return None
        scale = min(160 / self.width, 110 / self.height, 1.0)
        return max(2, round(self.width * scale)), max(2, round(self.height * scale))


@dataclass(frozen=True, slots=True)
class ErrorShare:
    """How many of some verdicts are wrong, and between which shares that of all lies with 95% (Wilson)."""

    wrong: int
    of: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class AuditShare:
    """What the audit says of the noise of one kind."""

    kind: str
    chosen: int
    """To be fetched although they are noise, by their addresses and thus by chance."""
    mistaken: ErrorShare
    """Of those whose size in pixels could be told: how many are as large as content."""


@dataclass(frozen=True, slots=True)
class ImageErrors:
    """How often pictures are judged wrongly, by the audit and by people's labels."""

    crawl: str
    audit: tuple[AuditShare, ...]
    skipped: ErrorShare
    """Of the labelled pictures that were skipped: how many are content, as people say."""
    kept: ErrorShare
    """Of the labelled pictures that were kept: how many are noise, as people say."""
    unknown: int
    """Labels of pictures on which the crawl has no verdict now."""


def shown(one: ListedVerdict) -> JudgedPicture:
    """A verdict as it is shown."""
    sighting = Sighting.of(one.sight)
    width, height = sighting.size
    return JudgedPicture(
        *(one.id, one.kind, one.url, one.target, one.page, one.site, NOISE if one.noise else CONTENT),
        *(one.probability, one.keyword, one.redundancy, one.entropy, verdict_reasons.read(one.reasons), one.decided_by),
        *(one.audited, one.mistaken, one.bytes if one.file else None, one.decided_at),
        name=_name(one.url),
        alt=sighting.alt,
        title=sighting.title,
        anchor=sighting.anchor_text,
        width=width,
        height=height,
        is_here=one.file is not None,
        label=one.label or "",
    )


def errors(crawl: str, audits: tuple[Audited, ...], found: Agreement) -> ImageErrors:
    """How often a crawl's pictures are judged wrongly."""
    return ImageErrors(
        crawl,
        tuple(AuditShare(one.kind, one.chosen, wilson(one.mistaken, one.told)) for one in audits),
        skipped=wilson(found.content_skipped, found.content_skipped + found.noise_skipped),
        kept=wilson(found.noise_kept, found.noise_kept + found.content_kept),
        unknown=found.unknown,
    )


def wilson(wrong: int, of: int) -> ErrorShare:
    """A share, and Wilson's interval around it, which holds for few cases and shares near 0, too.

    >>> found = wilson(2, 50)
    >>> found.share, round(found.low, 3), round(found.high, 3), wilson(0, 0).share
    (0.04, 0.011, 0.135, None)
    """
    if not of:
        return ErrorShare(0, 0, None, None, None)
    share, spread = wrong / of, NORMAL**2 / of
    middle = (share + spread / 2) / (1 + spread)
    half = NORMAL * math.sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return ErrorShare(wrong, of, share, max(0.0, middle - half), min(1.0, middle + half))


def _name(url: str) -> str:
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return CONTROL.sub("", unquote(path.rstrip("/").rpartition("/")[2]))[:80]


MOST_BYTES = 10 * 1024 * 1024
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, max-age=3600",
    "Content-Disposition": "inline",
}


def picture(path: Path) -> Response | None:
    """The picture in a file as an answer; None where there is none that may be shown."""
    body = read_file(path, MOST_BYTES + 1)
    if body is None or len(body) > MOST_BYTES:
        return None
    found = type_of(body)
    return Response(body, headers={**HEADERS, "Content-Type": found.media_type}) if found is not None else None


def read_file(path: Path, most: int) -> bytes | None:
    """The first bytes of a file; None where it is none that can be read, and for a link."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(most)
    except OSError:
        return None
