"""What the tests of several modules share."""

import gc
import os
from collections.abc import Iterator

import compiled
import postgres
import pytest

from crawler.parallel import GARBAGE_THRESHOLD

# Read when numpy is imported: on small matrices threads take ten times as long, on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

compiled.share()


def pytest_collection_finish() -> None:
    """Look for garbage as the commands do: the thousands of tests themselves stay."""
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)


def pytest_unconfigure() -> None:
    """What is never looked for would be told as lost, as the tests end."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A PostgreSQL server, started by the first test that wants one."""
    if (why := postgres.missing()) is not None:
        # What decides whether a change lands must not pass over these tests.
        (pytest.fail if os.environ.get("WINNOW_REQUIRE_POSTGRES") else pytest.skip)(why)
    with postgres.running() as server:
        yield server
