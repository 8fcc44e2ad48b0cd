"""Actions on jobs: pause, resume and remove jobs, start and stop runs.

Each run is a separate process, which outlives the dashboard.
"""

import logging
from http import HTTPStatus
from threading import Thread
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from crawler.arguments import ArgumentError
from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context, DashboardContext, Number, see_other, slow
from crawler.dashboard.views.schedule import After, numbered, opened
from crawler.schedule.job_definition import next_at
from crawler.schedule.job_process import starting_thread
from crawler.schedule.job_scheduler import JobScheduler, StartedRun, scheduler_of
from crawler.schedule.job_store import BY_HAND, TOLD, DueRun, Jobs
from crawler.store.database import StateError, open_database

logger = logging.getLogger(__name__)

router = APIRouter()
From = Annotated[Literal["list", "job"], Query(alias="from", description="the page of the button")]


def begin(context: DashboardContext, number: int) -> bool:
    """Start a run of a job now; returns whether it was not running already."""
    jobs, started = Jobs(open_database(context.url)), None
    try:
        job, scheduler = numbered(jobs.all()[0], number), scheduler_of(jobs, context.settings)
        run = jobs.start(job, DueRun(BY_HAND), scheduler.place)
        if run is not None:
            started = starting_thread().submit(scheduler.begin, job, run).result()
    except ArgumentError as error:
        raise RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from None
    finally:
        if started is None:
            jobs.engine.dispose()
    if started is not None:
        Thread(target=_see_out, args=(scheduler, started), name="run", daemon=True).start()
    return run is not None


def _see_out(scheduler: JobScheduler, started: StartedRun) -> None:
    """Record how a run ended that could not do so itself, for example because it was killed."""
    started.child.process.wait()
    try:
        scheduler.reap()
    except StateError as error:
        logger.warning("How a run ended could not be recorded: %s", error)
    finally:
        scheduler.jobs.engine.dispose()


def end(context: DashboardContext, number: int) -> bool:
    """Tell the current run of a job to stop; returns whether there is one."""
    with opened(context) as jobs:
        job = numbered(jobs.all()[0], number)
        if job.now is not None:
            jobs.stop(job.now.id, TOLD)  # its process reads this, on whatever machine it is
        return job.now is not None


@slow(router.post("/schedule/{job}/pause"))
def pause(context: Context, job: Number, came_from: From = "list", after: After = 0) -> Response:
    with opened(context) as jobs:
        jobs.pause(numbered(jobs.all()[0], job).name)
    return _back(job, came_from, after, "paused")


@slow(router.post("/schedule/{job}/resume"))
def resume(context: Context, job: Number, came_from: From = "list", after: After = 0) -> Response:
    with opened(context) as jobs:
        jobs.resume(numbered(jobs.all()[0], job).name, next_at)
    return _back(job, came_from, after, "resumed")


@slow(router.post("/schedule/{job}/remove"))
def remove(context: Context, job: Number) -> Response:
    with opened(context) as jobs:
        jobs.remove(numbered(jobs.all()[0], job).name)
    return see_other("/schedule?said=removed")


@slow(router.post("/schedule/{job}/run"))
def run_now(context: Context, job: Number, came_from: From = "list", after: After = 0) -> Response:
    return _back(job, came_from, after, "started" if begin(context, job) else "busy")


@slow(router.post("/schedule/{job}/stop"))
def stop(context: Context, job: Number, came_from: From = "list", after: After = 0) -> Response:
    return _back(job, came_from, after, "told" if end(context, job) else "idle")


def _back(job: int, came_from: str, after: int, said: str) -> Response:
    if came_from == "job":
        return see_other(f"/schedule/{job}?said={said}")
    return see_other(f"/schedule?said={said}" + (f"&after={after}" if after else ""))
