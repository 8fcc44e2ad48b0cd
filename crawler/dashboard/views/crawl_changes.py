"""Changes of running crawls: the buttons that pause, resume and stop.

A crawl may have been started by hand, on another machine. So its workers are not signalled: they read the request in
the database with their next commit.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from fastapi.responses import Response

from crawler.dashboard.context import Context, Number, see_other, slow
from crawler.dashboard.views.one_crawl import found_crawl
from crawler.dashboard.views.schedule import opened
from crawler.schedule.job_store import TOLD, jobs_of
from crawler.store.heartbeats import PAUSED, RUNNING, STOPPING, request_control

CONTROLS = {"pause": (PAUSED, "pausing"), "resume": (RUNNING, "resumed"), "stop": (STOPPING, "stopping")}
"""What each button asks of the workers, and what is said then."""
router = APIRouter()


@slow(router.post("/crawls/{crawl}/{change}"))
def change(
    context: Context,
    number: Annotated[Number, Path(alias="crawl")],
    wish: Annotated[Literal["pause", "resume", "stop"], Path(alias="change")],
) -> Response:
    control, said = CONTROLS[wish]
    with opened(context) as jobs:
        with jobs.writing() as connection:
            crawl = found_crawl(connection, number)
            run = next((job.now for job in jobs_of(connection) if job.crawl == crawl.name), None)
            is_told = run is not None and control == STOPPING
            is_told = is_told or request_control(connection, number, control)
        if run is not None and control == STOPPING:
            jobs.stop(run.id, TOLD)  # as on the schedule: the run counts as stopped
    return see_other(f"/crawls/{number}?said={said if is_told else 'idle'}")
