"""Every address of the dashboard with each of its filters, over the database that the bench makes, only smaller.

How soon it answers over a million pages is what `python tests/bench/dashboard.py answers` says.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import dashboard_requests
import dashboards
import million_pages
import pytest
from sqlalchemy.engine import URL

from crawler.store.read_only import reading

PAGES = 2_000
MOST = 200.0  # milliseconds of the processor: what others do on the machine meanwhile is not the dashboard's


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "output"
    folder.mkdir()
    million_pages.make(URL.create("sqlite", database=str(folder / "crawl.db")), folder, PAGES)
    return folder


@pytest.fixture(scope="module")
def known(output: Path) -> dashboard_requests.Facts:
    with reading(URL.create("sqlite", database=str(output / "crawl.db"))) as connection:
        return dashboard_requests.facts(connection)


@pytest.fixture(scope="module")
def asker(output: Path) -> Iterator[dashboard_requests.Asker]:
    with dashboards.running(output) as there:
        found = dashboard_requests.Asker(there.address, there.pid)
        with closing(found.connection):
            yield found


@pytest.mark.long
def test_every_address_is_answered_soon(asker: dashboard_requests.Asker, known: dashboard_requests.Facts) -> None:
    late = [address for address in dashboard_requests.addresses(known) if is_late(asker, address)]
    # The first of a view waits for its template, and for what is imported then.
    assert [address for address in late if is_late(asker, address)] == []


def is_late(asker: dashboard_requests.Asker, address: str) -> bool:
    before = asker.cpu()
    status, body, _ = asker.ask(address)
    assert status < 500, (address, body)
    return asker.cpu() - before > MOST
