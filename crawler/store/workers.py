"""Workers as the database knows them: signs of life, what they count, and how much of their files is committed."""

from collections import defaultdict
from errno import ENOENT
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, func, select, update

from crawler.store.database import database_time
from crawler.store.output_files import FileOffset
from crawler.store.schema import IS_HELD, address, output, worker
from crawler.store.schema import worker as worker_table

LEASE_SECONDS = 60.0  # seconds without a sign of life until a worker is taken for dead


class UncertainCommitError(Exception):
    """The connection was lost while a batch was committed, and it was committed; or this worker is taken for dead."""

    def __init__(self, lost: bool) -> None:
        self.lost = lost


def write_heartbeat(connection: Connection, worker_id: int, number: int) -> float:
    """A sign of life with the batch of this number, and the time by the database's clock."""
    file = connection.engine.url.database
    if connection.dialect.name == "sqlite" and not Path(str(file)).exists():
        raise OSError(ENOENT, "it was deleted", file)  # SQLite would write on, to nowhere
    now = database_time(connection)
    mine = worker.c.id == worker_id
    alive = update(worker).where(mine, worker.c.batch == number - 1).values(heartbeat=now, batch=number)
    if connection.execute(alive).rowcount == 0:
        raise UncertainCommitError(lost=connection.execute(select(worker.c.batch).where(mine)).first() is None)
    return now


def silent_workers(connection: Connection, crawl_id: int, now: float) -> list[int]:
    """The workers of a crawl that gave no sign of life for a lease."""
    silent = select(worker.c.id).where(worker.c.crawl_id == crawl_id, worker.c.heartbeat < now - LEASE_SECONDS)
    return list(connection.execute(silent.with_for_update(skip_locked=True)).scalars())


def count_worker(connection: Connection, worker_id: int, waiting: int = 0, pages: int = 0) -> None:
    """Count so many addresses more that wait, and pages more that are stored, by a worker's doing."""
    if waiting or pages:
        counts = {"waiting": worker.c.waiting + waiting, "pages": worker.c.pages + pages}
        connection.execute(update(worker).where(worker.c.id == worker_id).values(**counts))


def files_of(crawl_id: int, worker_id: int) -> tuple[ColumnElement[bool], ...]:
    """What tells the row of a worker's files from others."""
    number = select(worker.c.number).where(worker.c.id == worker_id).scalar_subquery()
    return output.c.crawl_id == crawl_id, output.c.number == number


def file_offsets(connection: Connection, *mine: ColumnElement[bool]) -> tuple[FileOffset, FileOffset]:
    """How much is committed of a worker's files: pages and pictures."""
    columns = output.c.pages_size, output.c.pages_end, output.c.images_size, output.c.images_end
    row = connection.execute(select(*columns).where(*mine)).one()
    return FileOffset(row.pages_size, row.pages_end), FileOffset(row.images_size, row.images_end)


def save_file_offsets(
    connection: Connection, pages: FileOffset, images: FileOffset, *mine: ColumnElement[bool]
) -> None:
    """Have so much of a worker's files committed."""
    sizes = {"pages_size": pages.size, "images_size": images.size}
    ends = {"pages_end": pages.end, "images_end": images.end}
    connection.execute(update(output).where(*mine).values(**sizes, **ends))


class WorkerState(NamedTuple):
    """A process that is at a crawl, or that died at it and is not buried yet."""

    number: int
    folder_id: str
    silent: float
    """Seconds since its last sign of life."""
    held: int
    """Addresses that are its own to ask for now."""

    @property
    def alive(self) -> bool:
        """Whether it is to be taken for alive."""
        return self.silent <= LEASE_SECONDS


def workers_of(connection: Connection, now: float) -> defaultdict[int, list[WorkerState]]:
    """The workers of each crawl, by its number."""
    found: defaultdict[int, list[WorkerState]] = defaultdict(list)
    for row, one in worker_rows(connection, now):
        found[row.crawl_id].append(one)
    return found


def worker_rows(connection: Connection, now: float) -> list[tuple[Row[Any], WorkerState]]:
    holders = select(address.c.worker, func.count()).where(IS_HELD).group_by(address.c.worker)
    held = defaultdict(int, map(tuple, connection.execute(holders)))
    rows = connection.execute(select(worker_table).order_by(worker_table.c.number))
    return [(row, WorkerState(row.number, row.folder_id, max(0.0, now - row.heartbeat), held[row.id])) for row in rows]
