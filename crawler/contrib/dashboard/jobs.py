"""The jobs of scheduled crawls, for views that change them."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.schedule.job_store import JobError, Jobs


@contextmanager
def opened_jobs(context: DashboardContext) -> Iterator[Jobs]:
    """The jobs of the database, to be changed; raises a RefusedError if a change is not possible."""
    with context.changing() as engine:
        try:
            yield Jobs(engine)
        except JobError as error:
            raise RefusedError(HTTPStatus.CONFLICT, error.message) from None
