"""How soon the dashboard answers over a database of many pages, each address with each of its filters."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import asked
import million
import pytest
import served
from sqlalchemy.engine import URL

from crawler.state.report import reading

PAGES = 5_000
MOST = 200.0  # milliseconds of the processor: what others do on the machine meanwhile is not the dashboard's


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "output"
    folder.mkdir()
    million.make(URL.create("sqlite", database=str(folder / "crawl.db")), folder, PAGES)
    return folder


@pytest.fixture(scope="module")
def known(output: Path) -> asked.Facts:
    with reading(URL.create("sqlite", database=str(output / "crawl.db"))) as connection:
        return asked.facts(connection)


@pytest.fixture(scope="module")
def asker(output: Path) -> Iterator[asked.Asker]:
    with served.running(output) as there:
        found = asked.Asker(there.address, there.pid)
        with closing(found.connection):
            yield found


def test_every_address_is_answered_soon(asker: asked.Asker, known: asked.Facts) -> None:
    found = list(asked.all_timed(asker, asked.addresses(known), times=1))
    assert found
    assert [asked.shown(one) for one in found if one.status >= 500] == []
    assert [asked.shown(one) for one in found if (one.cpu or 0.0) > MOST] == []
