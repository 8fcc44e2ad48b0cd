"""Runs that somebody starts or ends on the dashboard: each a process of its own, which outlives it."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from threading import Lock, Thread

from crawler.dashboard.desk import Desk
from crawler.dashboard.request import RefusedError
from crawler.schedule.children import is_alive
from crawler.schedule.keeper import Keeper, Started
from crawler.state.database import StateError
from crawler.state.jobs import BY_HAND, TOLD, Due, Job, JobError, Jobs
from crawler.subcommands import WrongUseError
from crawler.subcommands.schedule_run import keeper_of

logger = logging.getLogger(__name__)

_looking = Lock()


@cache
def starter() -> ThreadPoolExecutor:
    """The one thread that starts runs.

    Where it is there before the dashboard steps back behind the crawls, runs do not step back, too: on Linux each
    thread has a standing of its own, which its children have from it; elsewhere they have that of the dashboard.
    """
    found = ThreadPoolExecutor(1, "starter")
    found.submit(int).result()  # until then it has no thread
    return found


@contextmanager
def opened(desk: Desk) -> Iterator[Jobs]:
    """The jobs of the database, to be changed; a RefusedError where that cannot be."""
    jobs = Jobs(desk.changing())
    try:
        yield jobs
    except JobError as error:
        raise RefusedError(HTTPStatus.CONFLICT, error.message) from None
    finally:
        jobs.engine.dispose()


def job_of(jobs: Jobs, number: int) -> Job:
    """The job of this number in the database; a RefusedError if there is none."""
    for one in jobs.all()[0]:
        if one.id == number:
            return one
    raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such job.")


def begin(desk: Desk, number: int) -> bool:
    """Start a run of a job now; whether it did not run already."""
    jobs = Jobs(desk.changing())
    try:
        job, keeper = job_of(jobs, number), keeper_of(jobs, desk.settings)
        run = jobs.start(job, Due(BY_HAND), keeper.place)
        started = None if run is None else starter().submit(keeper.begin, job, run).result()
    except WrongUseError as error:
        jobs.engine.dispose()
        raise RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from None
    except BaseException:
        jobs.engine.dispose()
        raise
    if started is None:
        jobs.engine.dispose()
    else:
        Thread(target=_see_out, args=(keeper, started), name="run", daemon=True).start()
    return run is not None


def _see_out(keeper: Keeper, started: Started) -> None:
    """Write down how a run ended that could not do so itself, as one that was killed."""
    started.child.process.wait()
    try:
        keeper.reap()
    except StateError as error:
        logger.warning("How a run ended is not written down: %s", error)
    finally:
        keeper.jobs.engine.dispose()


def end(desk: Desk, number: int) -> bool:
    """Tell the run of a job that is under way to end; whether there is one."""
    with opened(desk) as jobs:
        job = job_of(jobs, number)
        if job.now is not None:
            jobs.stop(job.now.id, TOLD)  # its process looks there, on whatever machine it is
        return job.now is not None


def scheduler_is_at_work(desk: Desk) -> bool | None:
    """Whether a scheduler looks after this folder; None if that cannot be seen."""
    with _looking:  # or one look would take another for a scheduler
        try:
            return is_alive(desk.output, "")
        except OSError:
            return None
