"""What is said of crawls at a glance, on both databases."""

import pytest
from sqlalchemy import Engine, insert

from crawler.frontier.batch import SAMPLE_COUNTS
from crawler.reports.crawls import summary_of
from crawler.reports.throughput import page_rates
from crawler.store.crawl_tables import crawl, sample, worker

NOW = 1_000_000.0


def enter(engine: Engine, waiting: int = 0) -> None:
    with engine.begin() as connection:
        connection.execute(insert(crawl).values(id=1, name="bees", seeds="[]", started_at=0.0, waiting=waiting))


@pytest.mark.parametrize(("ago", "rate"), [(29.0, {1: 4.0}), (31.0, {1: 2.0})])
def test_a_rate_is_of_late(engine: Engine, ago: float, rate: dict[int, float]) -> None:
    enter(engine)
    with engine.begin() as connection:
        for at, pages in ((NOW - 1, 1), (NOW - ago, 3)):
            row = {"crawl_id": 1, "at": at, "number": 1, "seconds": 0.5, "pages": pages, "statuses": "{}"}
            connection.execute(insert(sample).values(**dict.fromkeys(SAMPLE_COUNTS, 0) | {"waiting": 0} | row))
        assert page_rates(connection, [1], NOW) == rate


@pytest.mark.parametrize(("workers", "waiting"), [((), 3), ((-1, 2), 4), ((-3,), 0), ((-2, -2), 0)])
def test_less_than_nothing_does_not_wait(engine: Engine, workers: tuple[int, ...], waiting: int) -> None:
    """Workers may have taken from the list what another has not yet said that it put there."""
    enter(engine, 3)
    with engine.begin() as connection:
        for number, more in enumerate(workers, 1):
            row = {
                "crawl_id": 1,
                "number": number,
                "folder_id": "a",
                "heartbeat": NOW,
                "batch": 0,
                "pages": 0,
                "waiting": more,
            }
            connection.execute(insert(worker).values(**row))
        found = summary_of(connection, 1, NOW)
        assert found is not None
        assert found.waiting == waiting
