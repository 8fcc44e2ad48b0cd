"""The course of a crawl over time, as charts draw it."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import zip_longest
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from sqlalchemy import func, select

from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context
from crawler.dashboard.views import Number, slow
from crawler.reports.throughput import SamplePoint, sample_points
from crawler.store.crawl_tables import crawl, sample
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
    moments = list(_moments(points))
    shown = [point for _, point in moments]
    lines = [
        Series(name, unit, tuple(None if one is None else value(one) for one in shown))
        for name, (unit, value) in LINES.items()
    ]
    lines.insert(3, Series("harvest", "%", tuple(_harvest(shown))))
    return Course(tuple(at for at, _ in moments), tuple(lines))


def _moments(points: Sequence[SamplePoint]) -> Iterator[tuple[float, SamplePoint | None]]:
    """When each point begins, and each pause, which has no point."""
    for point, following in zip_longest(points, points[1:]):
        yield point.at, point
        ends = point.at + point.sums.seconds
        if following is not None and following.at - ends > max(PAUSE, PAUSES * point.sums.seconds):
            yield ends, None


def _harvest(points: Iterable[SamplePoint | None]) -> Iterator[float | None]:
    """The share of pages on topic, at each point of the last ones that make enough pages."""
    last: deque[SamplePoint] = deque()
    read = on_topic = 0
    for point in points:
        if point is None:
            yield None
            continue
        last.append(point)
        read, on_topic = read + point.sums.read, on_topic + point.sums.on_topic
        while read - last[0].sums.read >= ENOUGH:
            first = last.popleft()
            read, on_topic = read - first.sums.read, on_topic - first.sums.on_topic
        yield on_topic / read if read else None


def _a_second(name: str) -> Callable[[SamplePoint], float | None]:
    return lambda point: getattr(point.sums, name) / point.sums.seconds if point.sums.seconds > 0 else None


def _answers(first: str) -> Callable[[SamplePoint], float | None]:
    """The answers a second whose status begins so."""

    def count(point: SamplePoint) -> float | None:
        found = sum(n for status, n in point.sums.statuses.items() if status.startswith(first))
        return found / point.sums.seconds if point.sums.seconds > 0 else None

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
