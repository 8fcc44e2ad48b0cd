"""The buttons that pause, resume and stop a running crawl.

A crawl may have been started by hand, on another machine. So its workers get no signal: they read the request from the
database with their next commit. If a job runs the crawl, "stop" stops this run, as the buttons of the schedule do: the
process of the run also reads the request from the database, and the run counts as stopped.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from crawler.contrib.dashboard.context import Context, Number, see_other, slow
from crawler.contrib.dashboard.edit_record import Action
from crawler.contrib.dashboard.jobs import opened_jobs
from crawler.contrib.dashboard.views.one_crawl import found_crawl
from crawler.contrib.schedule.job_store import Run, RunStatus, jobs_of
from crawler.frontier.batch import Control
from crawler.store.crawl_control import request_control

CONTROLS = {
    "pause": (Control.PAUSED, "pausing", Action.CRAWL_PAUSED),
    "resume": (Control.RUNNING, "resumed", Action.CRAWL_RESUMED),
    "stop": (Control.STOPPING, "stopping", Action.CRAWL_STOPPED),
}
"""The request that each button sends to the workers, its notice for the visitor, and the recorded edit."""
router = APIRouter()


@slow(router.post("/crawls/{crawl}/{change}"))
def change(
    context: Context,
    request: Request,
    number: Annotated[Number, Path(alias="crawl")],
    button: Annotated[Literal["pause", "resume", "stop"], Path(alias="change")],
) -> Response:
    control, notice, action = CONTROLS[button]
    with opened_jobs(context) as jobs:
        with jobs.writing() as connection:
            crawl = found_crawl(connection, number)
            run_to_stop: Run | None = None
            if control is Control.STOPPING:
                run_to_stop = next((job.now for job in jobs_of(connection) if job.crawl == crawl.name), None)
            is_accepted = run_to_stop is not None or request_control(connection, number, control)
        if run_to_stop is not None:  # after the transaction, as `stop` begins its own
            jobs.stop(run_to_stop.id, RunStatus.TOLD)
    if not is_accepted:
        return see_other(f"/crawls/{number}?said=idle")
    context.record(request, action, crawl.name)
    return see_other(f"/crawls/{number}?said={notice}")
