"""Judged images: lists of verdicts with people's labels, and the files of kept images.

A label is for an image as a page shows it. It can belong to several verdicts: on the image, and on the pages to which
the image links. Each of these verdicts stores the key of the label.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from heapq import nsmallest
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from fastapi.responses import Response
from sqlalchemy import ColumnElement, Connection, Select, select

from crawler.contrib.dashboard.context import ReasonObject
from crawler.frontier.page_result import AddressKind
from crawler.noise import verdict_reasons
from crawler.noise.image_evidence import Sighting
from crawler.page.image_file import type_of
from crawler.store.crawl_tables import crawl, site
from crawler.store.labels import CONTENT, NEWEST, NOISE
from crawler.store.page_tables import IS_AUDITED, LabelKind, label, verdict
from crawler.translation.message import CONTROL

KINDS = (AddressKind.IMAGE, AddressKind.LINK)
NEAREST_TO_CERTAIN = 1e-9
"""How near a probability may be to 0 and 1 when its log-odds are computed, which are infinite at 0 and 1."""
MOST_CANDIDATES = 10_000
"""The newest verdicts of each kind, of content and of noise, among which the least certain are looked for."""
MOST_BYTES = 10 * 1024 * 1024
"""The most bytes of an image file that is shown."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, max-age=3600",
    "Content-Disposition": "inline",
}
"""The headers of the response with an image file."""


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image, or the page behind it, with its verdict and label."""

    id: int
    kind: str
    """`image`, or `link`: the page that the image leads to."""
    url: str
    target: str
    """The address to which the image links; empty if it links to none."""
    page: str
    """The address of a page that shows it."""
    site: str | None
    """The site whose pages show it."""
    verdict: str
    """`content` or `noise`."""
    probability: float
    """The probability that it is noise."""
    keyword: float | None
    redundancy: float | None
    entropy: float | None
    """The scores of three models; None if a model did not judge it."""
    reasons: tuple[ReasonObject, ...]
    decided_by: str
    """The model or the filter list that decided."""
    audited: bool
    """Whether it is noise that was requested for the audit."""
    mistaken: bool | None
    """Whether the audit found it as large as content; None if its size was not judged."""
    bytes: int | None
    decided_at: str
    name: str
    """The part of its address that names its file."""
    alt: str
    title: str
    anchor: str
    width: int | None
    """The width in pixels, according to the page."""
    height: int | None
    is_here: bool
    """Whether it was downloaded, and the location of its file is known."""
    label: str
    """`content` or `noise` according to people; empty if nobody labelled it."""

    @property
    def is_disputed(self) -> bool:
        """Whether its label contradicts its verdict."""
        return bool(self.label) and self.label != self.verdict

    @property
    def box(self) -> tuple[int, int] | None:
        """Width and height in pixels of a box with its aspect ratio, at most 160 x 110; None if its size is unknown."""
        if not self.width or not self.height or self.width < 0 or self.height < 0:
            return None
        scale = min(160 / self.width, 110 / self.height, 1.0)
        return max(2, round(self.width * scale)), max(2, round(self.height * scale))


@dataclass(frozen=True, slots=True)
class ImageList:
    """Some images, newest first or least certain first."""

    images: tuple[ShownImage, ...]
    before: int
    """The parameter with which the next part of the list is requested; 0 at the end."""


@dataclass(frozen=True, slots=True)
class VerdictFilter:
    """Conditions for verdicts."""

    noise: bool
    _: KW_ONLY
    kinds: tuple[AddressKind, ...] = KINDS
    site_id: int | None = None
    by: str = ""
    """The model that called them noise; any model if empty."""
    audited: bool = False
    """Only noise that was selected for the audit."""
    labelled: bool = False
    """Only images with a label."""
    disputed: bool = False
    """Only labelled images whose label contradicts the verdict."""


JUDGED = (
    select(verdict, crawl.c.name.label("crawl"), site.c.name.label("site"), label.c.value.label("label"))
    .join(crawl, crawl.c.id == verdict.c.crawl_id)
    .outerjoin(site, site.c.id == verdict.c.site_id)
    .outerjoin(label, label.c.key == verdict.c.label_key)
)
"""The query for verdicts with their crawls, sites and labels."""


def list_verdicts(
    connection: Connection, crawl_id: int, verdict_filter: VerdictFilter, before: int = 0, most: int = 24
) -> ImageList:
    """The newest verdicts that match and have a number below `before`, or the newest of all if `before` is 0."""
    numbers: list[int] = []
    for query in _matching_numbers(crawl_id, verdict_filter, before or NEWEST):  # NEWEST is above all numbers
        numbers += connection.execute(query.limit(most + 1)).scalars()
    numbers.sort(reverse=True)
    next_before = numbers[most - 1] if len(numbers) > most else 0
    return ImageList(read_verdicts(connection, numbers[:most]), next_before)


def read_verdicts(connection: Connection, numbers: Sequence[int]) -> tuple[ShownImage, ...]:
    """The verdicts with these numbers, in this order, without those that were deleted."""
    image_of_number = {row.id: judged(row) for row in connection.execute(JUDGED.where(verdict.c.id.in_(numbers)))}
    return tuple(image_of_number[number] for number in numbers if number in image_of_number)


def judged(row: Any) -> ShownImage:
    """The image in a row of JUDGED."""
    sighting = Sighting.of(row.sight)
    width, height = sighting.size
    return ShownImage(
        id=row.id,
        kind=row.kind,
        url=row.url,
        target=row.target,
        page=row.page,
        site=row.site,
        verdict=NOISE if row.noise else CONTENT,
        probability=row.probability,
        keyword=row.keyword,
        redundancy=row.redundancy,
        entropy=row.entropy,
        reasons=verdict_reasons.stored_reasons(row.reasons),
        decided_by=row.decided_by,
        audited=row.audited,
        mistaken=row.mistaken,
        bytes=row.bytes if row.file else None,
        decided_at=row.decided_at,
        name=_name(row.url),
        alt=sighting.alt,
        title=sighting.title,
        anchor=sighting.anchor_text,
        width=width,
        height=height,
        is_here=row.file is not None,
        label=row.label or "",
    )


def _name(url: str) -> str:
    """The name of the file in an address, at most 80 characters."""
    return CONTROL.sub("", unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]))[:80]


def _matching_numbers(crawl_id: int, verdict_filter: VerdictFilter, before: int) -> Iterator[Select[Any]]:
    """Queries for the numbers of matching verdicts; each query uses an index for its order, or has few rows to sort."""
    if verdict_filter.labelled:
        yield _labelled(crawl_id, verdict_filter, before)
        return
    query = select(verdict.c.id).where(verdict.c.crawl_id == crawl_id, verdict.c.id < before)
    if not verdict_filter.audited:  # audited images are all noise, and their index has no column `noise`
        query = query.where(verdict.c.noise == verdict_filter.noise)
    for kind in verdict_filter.kinds:
        yield query.where(verdict.c.kind == kind, *_filters(verdict_filter)).order_by(verdict.c.id.desc())


def _labelled(crawl_id: int, verdict_filter: VerdictFilter, before: int) -> Select[Any]:
    """A query for the numbers of matching verdicts with a label."""
    # The query starts from the labels, which are few: + 0 keeps SQLite from scanning all verdicts in order of number.
    number = verdict.c.id + 0
    query = select(number).join_from(label, verdict, label.c.key == verdict.c.label_key).where(*labels_of(crawl_id))
    query = query.where(
        number < before, verdict.c.noise == verdict_filter.noise, verdict.c.kind.in_(verdict_filter.kinds)
    )
    if verdict_filter.disputed:
        query = query.where(label.c.value == (CONTENT if verdict_filter.noise else NOISE))
    return query.where(*_filters(verdict_filter)).order_by(number.desc())


def _filters(verdict_filter: VerdictFilter) -> Iterator[ColumnElement[bool]]:
    """The conditions of a filter on the site, the audit and the model."""
    if verdict_filter.site_id is not None:
        yield verdict.c.site_id == verdict_filter.site_id
    if verdict_filter.audited:
        yield IS_AUDITED
    if verdict_filter.by:
        yield verdict.c.decided_by == verdict_filter.by


def labels_of(crawl_id: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions on labels of a crawl's images."""
    name = select(crawl.c.name).where(crawl.c.id == crawl_id).scalar_subquery()
    return label.c.crawl == name, label.c.kind == LabelKind.IMAGE


def least_certain(
    connection: Connection, crawl_id: int, kinds: Sequence[AddressKind], most: int, newest: int = MOST_CANDIDATES
) -> tuple[ShownImage, ...]:
    """Up to `most` verdicts without a label whose probabilities are nearest to the limit, least certain first. Of each
    kind, the `newest` verdicts of content and as many of noise are considered.

    The limit is the middle between the highest probability of content and the lowest probability of noise, among the
    crawl's newest verdicts on images. The distance to the limit is measured in log-odds, as the limit may be near 1.
    """
    content = _newest(connection, crawl_id, AddressKind.IMAGE, newest, noise=False)
    noise = _newest(connection, crawl_id, AddressKind.IMAGE, newest, noise=True)
    bounds = []
    if content:
        bounds.append(max(content.values()))
    if noise:
        bounds.append(min(noise.values()))
    limit = _log_odds(sum(bounds) / len(bounds) if bounds else 0.5)

    probabilities: dict[int, float] = {}
    if AddressKind.IMAGE in kinds:
        probabilities |= content | noise
    if AddressKind.LINK in kinds:
        probabilities |= _newest(connection, crawl_id, AddressKind.LINK, newest, noise=False)
        probabilities |= _newest(connection, crawl_id, AddressKind.LINK, newest, noise=True)

    # Read the verdicts with the smallest distances, except those with a label.
    of_labels = select(verdict.c.id).join_from(label, verdict, label.c.key == verdict.c.label_key)
    labelled = set(connection.execute(of_labels.where(*labels_of(crawl_id))).scalars())
    distances = (
        (abs(_log_odds(probability) - limit), number)
        for number, probability in probabilities.items()
        if number not in labelled
    )
    return read_verdicts(connection, [number for _, number in nsmallest(most, distances)])


def _newest(connection: Connection, crawl_id: int, kind: AddressKind, most: int, *, noise: bool) -> dict[int, float]:
    """The probabilities of the newest verdicts, by their numbers, read from an index alone."""
    rows = select(verdict.c.id, verdict.c.probability).where(
        verdict.c.crawl_id == crawl_id, verdict.c.noise == noise, verdict.c.kind == kind
    )
    return dict(connection.execute(rows.order_by(verdict.c.id.desc()).limit(most)).all())


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, NEAREST_TO_CERTAIN), 1 - NEAREST_TO_CERTAIN)
    return math.log(bounded / (1 - bounded))


def image(path: Path) -> Response | None:
    """The image in a file as a response; None if the file is missing, too large, or not an image."""
    body = read_file(path, MOST_BYTES + 1)
    if body is None or len(body) > MOST_BYTES:
        return None
    image_type = type_of(body)
    if image_type is not None:
        return Response(body, headers={**HEADERS, "Content-Type": image_type.media_type})
    return None


def read_file(path: Path, most: int) -> bytes | None:
    """The first bytes of a file; None if it cannot be read, or is a link."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(most)
    except OSError:
        return None
