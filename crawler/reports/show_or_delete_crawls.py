"""`winnow state`: prints the state of crawls, deletes a crawl, or deletes old pages."""

import argparse
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.table import Table
from rich.text import Text
from scrapy.settings import BaseSettings
from sqlalchemy import text
from sqlalchemy.engine import URL

from crawler.checked_settings import number_of
from crawler.command_line.terminal import byte_size, spelled
from crawler.errors import BusyError, WrongUseError
from crawler.reports.crawl_facts import ago, date, facts, line, sentences, show, workers_and_sites
from crawler.reports.crawls import CrawlState, DatabaseState, read_state
from crawler.store.crawl_tables import tables
from crawler.store.database import display_url, state_url
from crawler.store.deletion import delete_crawl, delete_old_pages, vacuum
from crawler.store.heartbeats import LEASE_SECONDS
from crawler.store.read_only import exists, reading
from crawler.translation.message import N_, Message, first, localized, plural

MOST_OF_EACH = 3
"""The most seeds, reasons and files that are named for each crawl if all crawls are shown."""
MOST_OF_ONE = 10
"""The most seeds, reasons and files that are named if one crawl is shown, and the most crawls that errors name."""
SHRINK_SHARE = 0.05
"""If more than this share of SQLite's file is free, the file is shrunk."""
FOOTER = (
    N_("Links that a crawl leaves out immediately do not count as addresses; its closing lines count them."),
    N_("One crawl in detail, with its workers and sites: winnow state NAME"),
)


@dataclass(frozen=True, slots=True)
class DiskSize:
    """The bytes of the database on disk."""

    size: int
    free: int
    """How many of these bytes SQLite will reuse; 0 for PostgreSQL."""


def disk_size(url: URL) -> DiskSize | None:
    """The size of the database; None if it has no tables."""
    if not exists(url):
        return None
    with reading(url) as connection:
        if url.drivername == "sqlite":
            path = Path(str(url.database))
            files = [file for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
            free_pages = connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()
            page_size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
            return DiskSize(size=sum(file.stat().st_size for file in files), free=free_pages * page_size)
        size = text(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
            "WHERE relkind = 'r' AND pg_table_is_visible(oid) AND relname = ANY(:names)"
        )
        return DiskSize(size=int(connection.execute(size, {"names": list(tables.tables)}).scalar_one()), free=0)


def state(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Show the crawls, or delete from them; returns the exit status."""
    command = StateCommand(settings)
    if opts.prune:
        command.prune()
    elif opts.reset is not None:
        command.reset(opts.reset, opts.yes)
    else:
        command.show(opts.name or "")
    return 0


class StateCommand:
    """The command on the database that the settings name."""

    def __init__(self, settings: BaseSettings) -> None:
        self.folder = Path(settings["OUTPUT_DIR"])
        self.site_limit = int(number_of(settings, "SITE_PAGE_LIMIT"))
        self.days = int(number_of(settings, "STATE_KEEP_DAYS"))
        self.url = state_url(settings)

    def show(self, name: str = "") -> None:
        """Show the state of all crawls, or of one in more detail."""
        state = read_state(self.url, name)
        if name:
            state, crawl = self.find_crawl(state, name)
            block = facts(crawl, state.now, self.folder, MOST_OF_ONE, self.database_with_size())
            show(block + workers_and_sites(crawl, state.now, self.folder, self.site_limit))
        elif state is None or not state.crawls:
            show([line(Message("{what}.", {"what": self.why_no_crawl(state)}))])
        else:
            database = self.database_with_size()
            lines: list[Text | Table] = [
                line(plural("{n} crawl in {place}.", "{n} crawls in {place}.", len(state.crawls), place=database))
            ]
            for crawl in state.crawls:
                lines += [line(), *facts(crawl, state.now, self.folder, MOST_OF_EACH)]
            show([*lines, line(), *(line(Message(sentence)) for sentence in FOOTER)])

    def reset(self, name: str, is_confirmed: bool) -> None:
        """Delete a crawl from the database; asks first unless `is_confirmed`."""
        _, crawl = self.find_crawl(read_state(self.url), name)
        if crawl.alive:
            workers = [
                Message("worker {n} (heartbeat {ago})", {"n": worker.number, "ago": ago(worker.silent)})
                for worker in crawl.alive
            ]
            raise WrongUseError(
                "the crawl {name} is running: {workers}; stop it first, or if it is dead already, wait until the "
                "last heartbeat is {seconds:.0f} s ago",
                name=repr(name),
                workers=workers,
                seconds=LEASE_SECONDS,
            )

        # What is deleted, and the question.
        counts = {
            N_("pages"): plural("{n} page", "{n} pages", crawl.texts),
            N_("addresses"): plural("{n} address", "{n} addresses", crawl.addresses),
        }
        what = Message("{pages} and {addresses}", counts)
        if not is_confirmed:
            if not sys.stdin.isatty():
                raise WrongUseError(
                    "--reset {name} asks before it deletes {what}, and standard input is not a terminal; --yes "
                    "deletes without asking",
                    name=name,
                    what=what,
                )
            values = {"what": what, "name": repr(name), "folder": f"{self.folder}/"}
            question = Message("Delete {what} of the crawl {name}? The files in {folder} stay. [y/N] ", values)
            try:
                print(spelled(localized(question)), end="", file=sys.stderr, flush=True)
                answer = sys.stdin.readline()
            except KeyboardInterrupt:
                print(file=sys.stderr)  # end the line of the question
                raise
            if answer.strip().lower() not in ("y", "yes"):
                show([line(Message("Nothing was deleted."))])
                return

        size_before = disk_size(self.url)
        try:
            delete_crawl(self.url, name)
        except BusyError as error:
            raise WrongUseError(error.message) from None
        done = Message("Deleted {what} of the crawl {name}.", {"what": what, "name": repr(name)})
        show([line(sentences(done, self.shrink(size_before)))])

    def prune(self) -> None:
        """Delete the pages that were last fetched more than STATE_KEEP_DAYS ago."""
        if not self.days:
            show([line(Message("STATE_KEEP_DAYS is 0: pages of any age are kept, and none was deleted."))])
            return
        size_before = disk_size(self.url)
        if size_before is None:
            show([line(Message("{what}.", {"what": self.why_no_crawl(None)}))])
            return
        oldest_kept = datetime.now(UTC) - timedelta(days=self.days)
        count = delete_old_pages(self.url, oldest_kept.isoformat(timespec="seconds"))
        if not count:
            show([line(plural("No page is older than {n} day.", "No page is older than {n} days.", self.days))])
            return
        day = date(oldest_kept.timestamp())
        deleted = plural(
            "Deleted {n} page fetched before {date}.", "Deleted {n} pages fetched before {date}.", count, date=day
        )
        show([line(sentences(deleted, self.shrink(size_before)))])

    def shrink(self, size_before: DiskSize | None) -> Message | None:
        """Shrink SQLite's file if much of it is free; returns a sentence about the freed space, if there is any."""
        name = display_url(self.url)
        if self.url.drivername != "sqlite":
            return Message("PostgreSQL reuses the freed space.")
        size_now = disk_size(self.url)
        if size_now is None or size_before is None or not size_now.free:
            return None
        free = byte_size(size_now.free)
        if size_now.free <= size_now.size * SHRINK_SHARE:
            return Message("{size} of {path} are free for new data.", {"size": free, "path": name})
        if vacuum(self.url):
            size = (disk_size(self.url) or size_now).size
            values = {"path": name, "less": byte_size(max(0, size_before.size - size)), "size": byte_size(size)}
            return Message("{path} has shrunk by {less} to {size}.", values)
        return Message(
            "{path} keeps its size while other processes use it: {size} of it are free for new data, and winnow "
            "state --prune frees them later.",
            {"path": name, "size": free},
        )

    def find_crawl(self, state: DatabaseState | None, name: str) -> tuple[DatabaseState, CrawlState]:
        """The state, if it has a crawl of this name, and the crawl; otherwise raises a WrongUseError."""
        if state is None or not state.crawls:
            raise WrongUseError("there is no crawl {name}: {why}", name=repr(name), why=self.why_no_crawl(state))
        named_crawl = next((crawl for crawl in state.crawls if crawl.name == name), None)
        if named_crawl is None:
            names = first([spelled(known_crawl.name) for known_crawl in state.crawls], MOST_OF_ONE)
            raise WrongUseError("there is no crawl {name}; there are {names}", name=repr(name), names=names)
        return state, named_crawl

    def why_no_crawl(self, state: DatabaseState | None) -> Message:
        """Why the database has no crawl, as part of a sentence; `state` is None if the database has no tables."""
        path = {"path": display_url(self.url)}
        if state is not None:
            return Message("no crawl is in {path}", path)
        if self.url.drivername == "sqlite" and not Path(str(self.url.database)).exists():
            return Message("no crawl was ever run here ({path} does not exist)", path)
        return Message("no crawl was ever run here ({path} has no tables)", path)

    def database_with_size(self) -> Message:
        size = disk_size(self.url)
        bytes_on_disk = size.size if size else 0
        return Message("{path} ({size})", {"path": display_url(self.url), "size": byte_size(bytes_on_disk)})
