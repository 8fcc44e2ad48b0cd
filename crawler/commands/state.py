"""`scrapy state`: what the crawls have done and where they stand; and the deletion of what is not wanted any more."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from crawler.outcomes import Code, Group, Outcome, of_group
from crawler.reports.sites import SiteRow
from crawler.reports.state_report import Crawl, Disk, State, disk, read
from crawler.store.database import StateError, database_url, display_url
from crawler.store.deletion import BusyError, delete_crawl, delete_old_pages, vacuum
from crawler.store.hosts import REQUESTS_A_PAGE
from crawler.store.worker_files import pages_file
from crawler.store.workers import LEASE_SECONDS, WorkerState
from crawler.subcommands.options import OneSentence, standard_output, whole
from crawler.translation.message import counted, span
from crawler.translation.outcome_messages import message, ranked

FEW, MORE = 3, 10  # seeds, reasons and files that are named: of all crawls, and of one
WIDE = 10_000  # lines in a pipe are not folded
WORTH_IT = 0.05  # part of SQLite's file that is free when it is written anew
QUIET = 5.0  # seconds without a sign of life that are worth a word; workers give several a second
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_DAYS = 36_500
INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it
FOOTER = (
    "Links that were never taken up are no addresses: the closing lines alone count them.",
    "More of one, with its workers and sites: scrapy state NAME",
)
# The outcomes of addresses that were neither left out nor failed, in words for one and for many.
ENDS = {
    Code.LIST: ("list of addresses", "lists of addresses"),
    Code.REDIRECTED: ("redirect", "redirects"),
    Code.EXAMPLE: ("example of the topic", "examples of the topic"),
    Code.COUNTEREXAMPLE: ("counterexample", "counterexamples"),
}
GROUPS = {Group.SKIPPED: "left out", Group.NOISE: "skipped as noise", Group.FAILED: "failed"}


class Command(OneSentence):
    """Shows all crawls, or one with more; deletes one with --reset, and old pages with --prune."""

    called = "scrapy state"

    def syntax(self) -> str:
        return "[NAME] | --reset NAME [--yes] | --prune"

    def short_desc(self) -> str:
        return "Show what the crawls have done and where they stand, or delete what is not wanted any more"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--reset", metavar="NAME", help="delete what is known of this crawl; its files stay")
        parser.add_argument("--yes", action="store_true", help="do not ask first")
        parser.add_argument("--prune", action="store_true", help="drop pages older than STATE_KEEP_DAYS")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if len(args) > 1:
            _refuse(f"{args[1]!r} is too much; one crawl is shown at a time, or all: scrapy state [NAME]")
        if (opts.reset is not None) + opts.prune + len(args) > 1:
            _refuse("NAME, --reset NAME and --prune are three different things; give one of them")
        if opts.yes and opts.reset is None:
            _refuse("--yes goes with --reset NAME")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        self.folder = Path(self.settings["OUTPUT_DIR"])
        self.limit = _whole("SITE_PAGE_LIMIT", self.settings["SITE_PAGE_LIMIT"], 1)
        self.days = _whole("STATE_KEEP_DAYS", self.settings["STATE_KEEP_DAYS"], 0, MOST_DAYS)
        try:
            self.url = database_url(self.settings["STATE_URL"], self.folder)
        except StateError as error:
            _refuse(str(error))
        try:
            with standard_output():
                self.obey(args, opts)
        except BusyError as error:
            _refuse(str(error))
        except StateError as error:
            _say(str(error))
            self.exitcode = 1
        except KeyboardInterrupt:
            print(file=sys.stderr)
            sys.exit(INTERRUPTED)

    def obey(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what is asked for."""
        if opts.prune:
            self.prune()
        elif opts.reset is not None:
            self.reset(opts.reset, opts.yes)
        else:
            self.show(*args)

    def show(self, name: str = "") -> None:
        """Print the state of all crawls, or of one with more."""
        state = read(self.url, name)
        if name:
            state, crawl = self.find(state, name)
            _print(self.block(crawl, state, MORE) + self.tables(crawl, state.now))
        elif state is None or not state.crawls:
            _print([_line(f"{self.nothing(state)}.")])
        else:
            said: list[Text | Table] = [_line(f"{counted(len(state.crawls), 'crawl')} in {self.place(state)}.")]
            for crawl in state.crawls:
                said += [_line(), *self.block(crawl, state, FEW)]
            _print([*said, _line(), *map(_line, FOOTER)])

    def reset(self, name: str, sure: bool) -> None:
        """Delete all that belongs to a crawl, if that is really wanted."""
        state, crawl = self.find(read(self.url), name)
        if crawl.alive:
            workers = ", ".join(f"worker {one.number} (sign of life {_ago(one.silent)})" for one in crawl.alive)
            _refuse(
                f"the crawl {name!r} is running: {workers}; end it first, or if it is dead already, "
                f"wait until there was no sign of life for {LEASE_SECONDS:.0f} s"
            )
        what = f"{counted(crawl.texts, 'page')} and {counted(crawl.addresses, 'address', 'addresses')}"
        if not sure:
            if not sys.stdin.isatty():
                _refuse(f"--reset {name} asks before it deletes {what}, and nobody is here to answer; --yes answers it")
            question = f"Delete {what} of the crawl {name!r}? The files in {self.folder}/ stay. [y/N] "
            print(_spelled(question), end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                _print([_line("Nothing was deleted.")])
                return
        delete_crawl(self.url, name)
        _print([_line(f"Deleted {what} of the crawl {name!r}. {self.room(state.disk)}".rstrip())])

    def prune(self) -> None:
        """Drop the pages that are older than they are to become."""
        if not self.days:
            _print([_line("STATE_KEEP_DAYS is 0: pages of any age are kept, and none was dropped.")])
            return
        before = disk(self.url)
        if before is None:
            _print([_line(f"{self.nothing(None)}.")])
            return
        limit = datetime.now(UTC) - timedelta(days=self.days)
        count = delete_old_pages(self.url, limit.isoformat(timespec="seconds"))
        dropped = f"Dropped {counted(count, 'page')} fetched before {_date(limit.timestamp())}."
        none = f"No page is older than {counted(self.days, 'day')}."
        _print([_line(f"{dropped} {self.room(before)}".rstrip() if count else none)])

    def room(self, before: Disk) -> str:
        """Where the room of what was deleted went, in one sentence; none where it left no trace."""
        if self.url.drivername != "sqlite":
            return "PostgreSQL has its room for what comes next."
        now = disk(self.url) or before
        if now.free <= now.size * WORTH_IT:
            return f"{decimal(now.free)} of {display_url(self.url)} are free for what comes next." if now.free else ""
        if vacuum(self.url):
            size = (disk(self.url) or now).size
            return f"{display_url(self.url)} takes {decimal(max(0, before.size - size))} less: {decimal(size)}."
        return (
            f"{display_url(self.url)} keeps its size while others are at it: {decimal(now.free)} of it are free for "
            "what comes next, and scrapy state --prune gives them back later."
        )

    def find(self, state: State | None, name: str) -> tuple[State, Crawl]:
        """The crawl of this name; without one, the program ends."""
        if state is None or not state.crawls:
            _refuse(f"there is no crawl {name!r}: {self.nothing(state)}")
        found = next((crawl for crawl in state.crawls if crawl.name == name), None)
        if found is None:
            _refuse(f"there is no crawl {name!r}; there are {_some([one.name for one in state.crawls], MORE)}")
        return state, found

    def nothing(self, state: State | None) -> str:
        """That there is no crawl, in words."""
        if state is not None:
            return f"no crawl is in {display_url(self.url)}"
        missing = self.url.drivername == "sqlite" and not Path(str(self.url.database)).exists()
        gone = "is not there" if missing else "has no tables of it"
        return f"no crawl was ever run here ({display_url(self.url)} {gone})"

    def place(self, state: State) -> str:
        """Where the database is, and how large."""
        return f"{display_url(self.url)} ({decimal(state.disk.size)})"

    def block(self, crawl: Crawl, state: State, most: int) -> list[Text | Table]:
        """What there is to say of a crawl."""
        facts = {
            "seeds": _some(json.loads(crawl.seeds), most),
            "started": f"{_date(crawl.started_at)}, {_ago(state.now - crawl.started_at)}",
            "pages": _pages(crawl),
            "round": _round(crawl),
            "addresses": _addresses(crawl),
            "done": _ends(crawl),
            "left out": _reasons(crawl, Group.SKIPPED, most),
            "noise": _reasons(crawl, Group.NOISE, most),
            "failed": _reasons(crawl, Group.FAILED, most),
            "sites": f"{crawl.site_count:,}",
            "items": _some([f"{self.file(*one[:2], crawl)} ({decimal(one.pages_size)})" for one in crawl.files], most),
        }
        if most == MORE:
            facts["database"] = self.place(state)
        table = Table.grid(padding=(0, 2))
        for name, fact in facts.items():
            if fact:
                table.add_row(_line(f"  {name}"), _line(fact))
        return [_line(f"{crawl.name}: {_status(crawl)}", "bold"), table]

    def tables(self, crawl: Crawl, now: float) -> list[Text | Table]:
        """The workers and the first sites of a crawl."""
        said: list[Text | Table] = []
        if crawl.workers:
            workers = [self.worker(one, crawl) for one in crawl.workers]
            said += [_line(), _table(["worker", "file", "holds", "last sign of life"], workers, numbers=(0, 2))]
        if crawl.sites:
            sites = [_site(one, self.limit, now) for one in crawl.sites]
            title = f"The {len(sites)} sites with the most pages, of {crawl.site_count:,}:"
            said += [_line(), *([_line(title)] if crawl.site_count > len(sites) else [])]
            said.append(_table(["site", "pages", "waiting", "budget used", ""], sites, numbers=(1, 2, 3)))
        return said

    def worker(self, worker: WorkerState, crawl: Crawl) -> list[str]:
        """A row of the table of workers."""
        seen = _ago(worker.silent) + ("" if worker.alive else ": taken for dead")
        return [str(worker.number), self.file(worker.number, worker.folder_id, crawl), f"{worker.held:,}", seen]

    def file(self, number: int, place: str, crawl: Crawl) -> str:
        """Where a worker writes its pages, as far as that is known here."""
        name = pages_file(crawl.name, number)
        here = self.folder / ".folder_id"
        ours = here.is_file() and here.read_text(encoding="ascii", errors="replace").split()[:1] == [place]
        return str(self.folder / name) if ours else f"{name} in another folder"


def _status(crawl: Crawl) -> str:
    """Whether a crawl is at its end, at work or neither."""
    if crawl.ended_at is not None:
        full = " with all its pages (max_pages); more max_pages goes on there" if crawl.waiting else ""
        return f"finished on {_date(crawl.ended_at)}{full}"
    if crawl.alive:
        quiet = f", last sign of life {_ago(crawl.silent or 0.0)}" if (crawl.silent or 0.0) > QUIET else ""
        return f"running, {counted(len(crawl.alive), 'worker')}{quiet}"
    if crawl.workers:
        return f"broken off, last sign of life {_ago(crawl.silent or 0.0)}; the same command goes on there"
    return "stopped; the same command goes on there"


def _round(crawl: Crawl) -> str:
    """Which round it is, and when the next one begins, which says nothing while a crawl is at work."""
    number = "" if crawl.round == crawl.first_round else f"{crawl.round:,}"
    if crawl.ended_at is None or crawl.next_due is None:
        return number
    due = f"{counted(crawl.due, 'page')} due" if crawl.due else f"the next page is due in {span(crawl.next_due)}"
    return f"{number or crawl.round}; {due}"


def _pages(crawl: Crawl) -> str:
    if crawl.round > crawl.first_round:
        return f"{crawl.pages:,} in this round, {crawl.texts:,} in the database"
    said = f"{crawl.pages:,} stored"
    if crawl.texts < crawl.pages:
        said += f", {crawl.texts:,} of them still in the database"
    if crawl.texts > crawl.pages:
        said += f"; {crawl.texts:,} in the database, with those of earlier runs"
    return said


def _addresses(crawl: Crawl) -> str:
    recorded = f", {crawl.recorded:,} pictures recorded to be judged" if crawl.recorded else ""
    return f"{crawl.waiting:,} waiting, {crawl.held:,} held by workers, {crawl.done:,} done{recorded}"


def _ends(crawl: Crawl) -> str:
    """The outcomes of those that are done, in numbers."""
    counts = {("page", "pages"): crawl.ends.pages, ("picture", "pictures"): crawl.ends.pictures}
    counts |= {words: crawl.ends.outcomes[Outcome(code)] for code, words in ENDS.items()}
    counts |= {(words, words): of_group(crawl.ends.outcomes, group).total() for group, words in GROUPS.items()}
    return ", ".join(counted(count, *words) for words, count in counts.items() if count)


def _reasons(crawl: Crawl, group: Group, most: int) -> str:
    """Why there is nothing of some addresses, the most frequent first, as the closing lines say it."""
    return ranked(of_group(crawl.ends.outcomes, group), most)


def _site(site: SiteRow, limit: int, now: float) -> list[str]:
    """A row of the table of sites."""
    used = max(site.pages / limit, site.requests / (limit * REQUESTS_A_PAGE))
    said = ""
    if site.why is not None:
        some = "" if site.closed == site.hosts else f"{site.closed:,} of {site.hosts:,} hosts "
        said = f"{some}closed: {message(Outcome(Code(site.why)))}"
    elif used >= 1:
        said = str(message(Outcome(Code.SITE_BUDGET_SPENT)))
    elif site.rests_until is not None and (rest := site.rests_until - now) >= 1:
        said = f"rests {span(rest)}"
    return [site.name, f"{site.pages:,}", f"{site.waiting:,}", f"{min(1, used):.0%}", said]


def _some(things: Sequence[str], most: int) -> str:
    rest = len(things) - most
    return ", ".join(things[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def _date(time: float) -> str:
    return (EPOCH + timedelta(seconds=time)).strftime("%Y-%m-%d %H:%M UTC")


def _ago(seconds: float) -> str:
    return f"{span(seconds)} ago"


def _whole(name: str, value: object, least: int, most: int = 10**9) -> int:
    """A setting that is a whole number; if it is not, the program ends."""
    try:
        return whole(least, most)(str(value))
    except argparse.ArgumentTypeError as error:
        _refuse(f"setting {name}={error}")


def _spelled(text: str) -> str:
    """The text in one line, with what is no letter, sign or space spelled out: what was crawled moves no cursor.

    >>> _spelled("\\x1b[2Jbees\\n.example")
    '\\\\x1b[2Jbees\\\\n.example'
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _line(text: str = "", style: str = "") -> Text:
    return Text(_spelled(text), style, overflow="fold")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int]) -> Table:
    """A table with its numbers to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, head in enumerate(heads):
        table.add_column(_line(head), justify="right" if place in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_line, row))
    return table


def _print(parts: Iterable[Text | Table]) -> None:
    """Print to a terminal as wide as it is, and elsewhere without folds and colours."""
    if sys.stdout.isatty():
        Console(highlight=False).print(*parts, sep="\n")
        return
    console = Console(highlight=False, width=WIDE, color_system=None)
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _say(message: str) -> None:
    print(_spelled(f"scrapy state: {message}"), file=sys.stderr)


def _refuse(message: str) -> NoReturn:
    _say(message)
    sys.exit(2)
