"""The course of a crawl over time, as charts draw it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from sqlalchemy import func, select

from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context
from crawler.dashboard.views import Number, slow
from crawler.store.dashboard_tables import sample
from crawler.store.samples import SamplePoint, sample_points
from crawler.store.schema import crawl
from crawler.translation.message import N_

Hours = Literal["1", "6", "24", "168", "all"]
POINTS = 300
"""As many as a chart has room for."""
PAUSE, PAUSES = 60.0, 3.0
"""Seconds, and times the length of a point, without a worker after which a line is broken off."""
ENOUGH = 50
"""Pages that a harvest rate is of: of fewer it only jumps."""
HOUR = 3_600.0
ABOUT = N_("What a crawl did over time: pages, requests and bytes a second, harvest, status codes, what waits")
api = APIRouter()


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart."""

    name: str
    unit: str
    values: tuple[float | None, ...]
    """None where no worker was at it, or there was nothing to tell by."""


@dataclass(frozen=True, slots=True)
class Course:
    """What a crawl did over time, all workers together."""

    at: tuple[float, ...]
    """Seconds since 1970, at which each stretch begins."""
    series: tuple[Series, ...]


@slow(
    api.get(
        "/api/crawls/{crawl}/course",
        summary=N_("What a crawl did over time: pages, requests and bytes a second, harvest, status codes, what waits"),
    )
)
def course_of(
    context: Context,
    number: Annotated[Number, Path(alias="crawl")],
    hours: Annotated[Hours, Query(description=N_("how many of its last hours, or all"))] = "all",
) -> Course:
    """The course of a crawl: all of it, or its last hours."""
    with context.reading() as connection:
        if connection.execute(select(crawl.c.id).where(crawl.c.id == number)).first() is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such crawl.")
        last = connection.execute(select(func.max(sample.c.at)).where(sample.c.crawl_id == number)).scalar()
        since = None if last is None or hours == "all" else last - HOUR * int(hours)
        points = sample_points(connection, number, since, POINTS)
    return drawn(points)


def drawn(points: Sequence[SamplePoint]) -> Course:
    """The lines of these points."""
    with_pauses = list(_with_pauses(points))
    lines = [
        Series(name, unit, tuple(value(one) if isinstance(one, SamplePoint) else None for one in with_pauses))
        for name, (unit, value) in LINES.items()
    ]
    lines.insert(3, Series("harvest", "%", tuple(_harvest(with_pauses))))
    return Course(tuple(one.at if isinstance(one, SamplePoint) else one for one in with_pauses), tuple(lines))


def _with_pauses(points: Sequence[SamplePoint]) -> Iterator[SamplePoint | float]:
    """The points, and a moment by itself where a pause begins."""
    for place, point in enumerate(points):
        yield point
        ends = point.at + point.seconds
        if place + 1 < len(points) and points[place + 1].at - ends > max(PAUSE, PAUSES * point.seconds):
            yield ends


def _harvest(points: Sequence[SamplePoint | float]) -> Iterator[float | None]:
    """The share of pages on topic, at each point of the last ones that make enough pages."""
    first = read = on_topic = 0
    for point in points:
        if not isinstance(point, SamplePoint):
            yield None
            continue
        read, on_topic = read + point.read, on_topic + point.on_topic
        while read - _read(points[first]) >= ENOUGH:
            read, on_topic = read - _read(points[first]), on_topic - _on_topic(points[first])
            first += 1
        yield on_topic / read if read else None


def _read(point: SamplePoint | float) -> int:
    return point.read if isinstance(point, SamplePoint) else 0


def _on_topic(point: SamplePoint | float) -> int:
    return point.on_topic if isinstance(point, SamplePoint) else 0


def _a_second(name: str) -> Callable[[SamplePoint], float | None]:
    return lambda point: getattr(point, name) / point.seconds if point.seconds > 0 else None


def _answers(first: str) -> Callable[[SamplePoint], float | None]:
    """The answers a second whose status begins so."""

    def count(point: SamplePoint) -> float | None:
        found = sum(n for status, n in point.statuses.items() if status.startswith(first))
        return found / point.seconds if point.seconds > 0 else None

    return count


LINES: dict[str, tuple[str, Callable[[SamplePoint], float | None]]] = {
    "pages": ("/s", _a_second("pages")),
    "requests": ("/s", _a_second("requests")),
    "failed": ("/s", _a_second("failed")),
    "ok": ("/s", _answers("2")),
    "redirects": ("/s", _answers("3")),
    "refused": ("/s", _answers("4")),
    "broken": ("/s", _answers("5")),
    "silent": ("/s", _answers("none")),
    "waiting": ("", lambda point: point.waiting),
    "bytes": ("B/s", _a_second("bytes")),
    "pictures": ("/s", _a_second("pictures")),
    "skipped": ("/s", _a_second("skipped")),
}
"""The lines but the harvest, their units, and what they are at a point."""
