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

from crawler.cli.options import OneSentence, standard_output, whole
from crawler.outcomes import Code, Group, Outcome, codes, of_group
from crawler.reports.crawls import CrawlState, DatabaseState, DiskSize, OutputSizes, disk_size, read_state
from crawler.reports.sites import SiteRow
from crawler.store.database import StateError, database_url, display_url
from crawler.store.deletion import BusyError, delete_crawl, delete_old_pages, vacuum
from crawler.store.hosts import REQUESTS_A_PAGE
from crawler.store.worker_files import pages_file
from crawler.store.workers import LEASE_SECONDS, WorkerState
from crawler.translation.catalogue import localized
from crawler.translation.message import N_, Message, plural, span
from crawler.translation.outcome_messages import message, ranked

FEW, MORE = 3, 10  # seeds, reasons and files that are named: of all crawls, and of one
WIDE = 10_000  # lines in a pipe are not folded
WORTH_IT = 0.05  # part of SQLite's file that is free when it is written anew
QUIET = 5.0  # seconds without a sign of life that are worth a word; workers give several a second
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_DAYS = 36_500
INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it
FOOTER = (
    N_("Links that were never taken up are no addresses: the closing lines alone count them."),
    N_("More of one, with its workers and sites: scrapy state NAME"),
)


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
            refuse(
                "{given} is too much; one crawl is shown at a time, or all: scrapy state [NAME]", given=repr(args[1])
            )
        if (opts.reset is not None) + opts.prune + len(args) > 1:
            refuse("NAME, --reset NAME and --prune are three different things; give one of them")
        if opts.yes and opts.reset is None:
            refuse("--yes goes with --reset NAME")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        self.folder = Path(self.settings["OUTPUT_DIR"])
        self.limit = _whole("SITE_PAGE_LIMIT", self.settings["SITE_PAGE_LIMIT"], 1)
        self.days = _whole("STATE_KEEP_DAYS", self.settings["STATE_KEEP_DAYS"], 0, MOST_DAYS)
        try:
            self.url = database_url(self.settings["STATE_URL"], self.folder)
        except StateError as error:
            refuse(error.message)
        try:
            with standard_output():
                self.obey(args, opts)
        except BusyError as error:
            refuse(error.message)
        except StateError as error:
            _say(error.message)
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
        state = read_state(self.url, name)
        if name:
            state, crawl = self.find(state, name)
            _print(self.block(crawl, state, MORE) + self.tables(crawl, state.now))
        elif state is None or not state.crawls:
            _print([_line(Message("{what}.", {"what": self.nothing(state)}))])
        else:
            place = self.place(state)
            said: list[Text | Table] = [
                _line(plural("{n} crawl in {place}.", "{n} crawls in {place}.", len(state.crawls), place=place))
            ]
            for crawl in state.crawls:
                said += [_line(), *self.block(crawl, state, FEW)]
            _print([*said, _line(), *(_line(Message(one)) for one in FOOTER)])

    def reset(self, name: str, sure: bool) -> None:
        """Delete all that belongs to a crawl, if that is really wanted."""
        state, crawl = self.find(read_state(self.url), name)
        if crawl.alive:
            workers = [
                Message("worker {n} (sign of life {ago})", {"n": one.number, "ago": _ago(one.silent)})
                for one in crawl.alive
            ]
            refuse(
                "the crawl {name} is running: {workers}; end it first, or if it is dead already, "
                "wait until there was no sign of life for {seconds:.0f} s",
                name=repr(name),
                workers=workers,
                seconds=LEASE_SECONDS,
            )
        counts = {
            N_("pages"): plural("{n} page", "{n} pages", crawl.texts),
            N_("addresses"): plural("{n} address", "{n} addresses", crawl.addresses),
        }
        what = Message("{pages} and {addresses}", counts)
        if not sure:
            if not sys.stdin.isatty():
                refuse(
                    "--reset {name} asks before it deletes {what}, and nobody is here to answer; --yes answers it",
                    name=name,
                    what=what,
                )
            values = {"what": what, "name": repr(name), "folder": f"{self.folder}/"}
            question = Message("Delete {what} of the crawl {name}? The files in {folder} stay. [y/N] ", values)
            print(_spelled(localized(question)), end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                _print([_line(Message("Nothing was deleted."))])
                return
        delete_crawl(self.url, name)
        done = Message("Deleted {what} of the crawl {name}.", {"what": what, "name": repr(name)})
        _print([_line(_sentences(done, self.room(state.disk)))])

    def prune(self) -> None:
        """Drop the pages that are older than they are to become."""
        if not self.days:
            _print([_line(Message("STATE_KEEP_DAYS is 0: pages of any age are kept, and none was dropped."))])
            return
        before = disk_size(self.url)
        if before is None:
            _print([_line(Message("{what}.", {"what": self.nothing(None)}))])
            return
        limit = datetime.now(UTC) - timedelta(days=self.days)
        count = delete_old_pages(self.url, limit.isoformat(timespec="seconds"))
        date = _date(limit.timestamp())
        dropped = plural(
            "Dropped {n} page fetched before {date}.", "Dropped {n} pages fetched before {date}.", count, date=date
        )
        none = plural("No page is older than {n} day.", "No page is older than {n} days.", self.days)
        _print([_line(_sentences(dropped, self.room(before)) if count else none)])

    def room(self, before: DiskSize) -> Message | None:
        """Where the room of what was deleted went, in one sentence; none where it left no trace."""
        name = display_url(self.url)
        if self.url.drivername != "sqlite":
            return Message("PostgreSQL has its room for what comes next.")
        now = disk_size(self.url) or before
        free = decimal(now.free)
        if now.free <= now.size * WORTH_IT:
            said = Message("{size} of {path} are free for what comes next.", {"size": free, "path": name})
            return said if now.free else None
        if vacuum(self.url):
            size = (disk_size(self.url) or now).size
            values = {"path": name, "less": decimal(max(0, before.size - size)), "size": decimal(size)}
            return Message("{path} takes {less} less: {size}.", values)
        return Message(
            "{path} keeps its size while others are at it: {size} of it are free for "
            "what comes next, and scrapy state --prune gives them back later.",
            {"path": name, "size": free},
        )

    def find(self, state: DatabaseState | None, name: str) -> tuple[DatabaseState, CrawlState]:
        """The crawl of this name; without one, the program ends."""
        if state is None or not state.crawls:
            refuse("there is no crawl {name}: {why}", name=repr(name), why=self.nothing(state))
        found = next((crawl for crawl in state.crawls if crawl.name == name), None)
        if found is None:
            names = _some([one.name for one in state.crawls], MORE)
            refuse("there is no crawl {name}; there are {names}", name=repr(name), names=names)
        return state, found

    def nothing(self, state: DatabaseState | None) -> Message:
        """That there is no crawl."""
        path = {"path": display_url(self.url)}
        if state is not None:
            return Message("no crawl is in {path}", path)
        if self.url.drivername == "sqlite" and not Path(str(self.url.database)).exists():
            return Message("no crawl was ever run here ({path} is not there)", path)
        return Message("no crawl was ever run here ({path} has no tables of it)", path)

    def place(self, state: DatabaseState) -> Message:
        """Where the database is, and how large."""
        return Message("{path} ({size})", {"path": display_url(self.url), "size": decimal(state.disk.size)})

    def block(self, crawl: CrawlState, state: DatabaseState, most: int) -> list[Text | Table]:
        """What there is to say of a crawl."""
        age = state.now - crawl.started_at
        facts: dict[str, object] = {
            N_("seeds"): _some(json.loads(crawl.seeds), most),
            N_("started"): Message("{date}, {ago}", {"date": _date(crawl.started_at), "ago": _ago(age)}),
            N_("pages"): _pages(crawl),
            N_("round"): _round(crawl),
            N_("addresses"): _addresses(crawl),
            N_("done"): _ends(crawl),
            N_("left out"): _reasons(crawl, Group.SKIPPED, most),
            N_("noise"): _reasons(crawl, Group.NOISE, most),
            N_("failed"): _reasons(crawl, Group.FAILED, most),
            N_("sites"): f"{crawl.site_count:,}",
            N_("items"): _some([self.size(one, crawl) for one in crawl.files], most),
        }
        if most == MORE:
            facts[N_("database")] = self.place(state)
        table = Table.grid(padding=(0, 2))
        for name, fact in facts.items():
            if fact:
                table.add_row(_line(f"  {localized(Message(name))}"), _line(fact))
        return [_line(Message("{name}: {status}", {"name": crawl.name, "status": _status(crawl)}), "bold"), table]

    def tables(self, crawl: CrawlState, now: float) -> list[Text | Table]:
        """The workers and the first sites of a crawl."""
        said: list[Text | Table] = []
        if crawl.workers:
            workers = [self.worker(one, crawl) for one in crawl.workers]
            said += [
                _line(),
                _table([N_("worker"), N_("file"), N_("holds"), N_("last sign of life")], workers, numbers=(0, 2)),
            ]
        if crawl.sites:
            sites = [_site(one, self.limit, now) for one in crawl.sites]
            values = {"n": len(sites), "all": f"{crawl.site_count:,}"}
            title = Message("The {n} sites with the most pages, of {all}:", values)
            said += [_line(), *([_line(title)] if crawl.site_count > len(sites) else [])]
            said.append(
                _table([N_("site"), N_("pages"), N_("waiting"), N_("budget used"), ""], sites, numbers=(1, 2, 3))
            )
        return said

    def worker(self, worker: WorkerState, crawl: CrawlState) -> list[object]:
        """A row of the table of workers."""
        seen = _ago(worker.silent)
        if not worker.alive:
            seen = Message("{ago}: taken for dead", {"ago": seen})
        return [str(worker.number), self.file(worker.number, worker.folder_id, crawl), f"{worker.held:,}", seen]

    def size(self, file: OutputSizes, crawl: CrawlState) -> Message:
        """Where a worker writes its pages, and how large that is."""
        path = self.file(file.number, file.place, crawl)
        return Message("{path} ({size})", {"path": path, "size": decimal(file.pages_size)})

    def file(self, number: int, folder_id: str, crawl: CrawlState) -> str | Message:
        """Where a worker writes its pages, as far as that is known here."""
        name = pages_file(crawl.name, number)
        here = self.folder / ".folder_id"
        ours = here.is_file() and here.read_text(encoding="ascii", errors="replace").split()[:1] == [folder_id]
        return str(self.folder / name) if ours else Message("{name} in another folder", {"name": name})


def _status(crawl: CrawlState) -> Message:
    """Whether a crawl is at its end, at work or neither."""
    values: dict[str, object] = {"ago": _ago(crawl.silent or 0.0)}
    if crawl.ended_at is not None:
        values["date"] = _date(crawl.ended_at)
        if crawl.waiting:
            return Message("finished on {date} with all its pages (max_pages); more max_pages goes on there", values)
        return Message("finished on {date}", values)
    if crawl.alive:
        running = plural("running, {n} worker", "running, {n} workers", len(crawl.alive))
        if (crawl.silent or 0.0) <= QUIET:
            return running
        return Message("{running}, last sign of life {ago}", {"running": running, **values})
    if crawl.workers:
        return Message("broken off, last sign of life {ago}; the same command goes on there", values)
    return Message("stopped; the same command goes on there")


def _round(crawl: CrawlState) -> str | Message:
    """Which round it is, and when the next one begins, which says nothing while a crawl is at work."""
    if crawl.ended_at is None or crawl.next_due is None:
        return "" if crawl.round == crawl.first_round else f"{crawl.round:,}"
    number = f"{crawl.round:,}"
    if crawl.due:
        return plural("{round}; {n} page due", "{round}; {n} pages due", crawl.due, round=number)
    return Message("{round}; the next page is due in {span}", {"round": number, "span": span(crawl.next_due)})


def _pages(crawl: CrawlState) -> Message:
    values = {"pages": f"{crawl.pages:,}", "texts": f"{crawl.texts:,}"}
    if crawl.round > crawl.first_round:
        return Message("{pages} in this round, {texts} in the database", values)
    if crawl.texts < crawl.pages:
        return Message("{pages} stored, {texts} of them still in the database", values)
    if crawl.texts > crawl.pages:
        return Message("{pages} stored; {texts} in the database, with those of earlier runs", values)
    return Message("{pages} stored", values)


def _addresses(crawl: CrawlState) -> Message:
    values = {"waiting": f"{crawl.waiting:,}", "held": f"{crawl.held:,}", "done": f"{crawl.done:,}"}
    said = Message("{waiting} waiting, {held} held by workers, {done} done", values)
    if not crawl.recorded:
        return said
    return Message("{counts}, {n} pictures recorded to be judged", {"counts": said, "n": f"{crawl.recorded:,}"})


def _ends(crawl: CrawlState) -> list[Message]:
    """The outcomes of those that are done, in numbers."""
    ends, of = crawl.ends, {code: crawl.ends.outcomes[Outcome(code)] for code in codes(Group.DONE)}
    skipped, noise, failed = (
        of_group(ends.outcomes, group).total() for group in (Group.SKIPPED, Group.NOISE, Group.FAILED)
    )
    found = (
        plural("{n} page", "{n} pages", ends.pages),
        plural("{n} picture", "{n} pictures", ends.pictures),
        plural("{n} list of addresses", "{n} lists of addresses", of[Code.LIST]),
        plural("{n} redirect", "{n} redirects", of[Code.REDIRECTED]),
        plural("{n} example of the topic", "{n} examples of the topic", of[Code.EXAMPLE]),
        plural("{n} counterexample", "{n} counterexamples", of[Code.COUNTEREXAMPLE]),
        plural("{n} left out", "{n} left out", skipped),
        plural("{n} skipped as noise", "{n} skipped as noise", noise),
        plural("{n} failed", "{n} failed", failed),
    )
    return [one for one in found if one.values["n"]]


def _reasons(crawl: CrawlState, group: Group, most: int) -> list[Message]:
    """Why there is nothing of some addresses, the most frequent first, as the closing lines say it."""
    return ranked(of_group(crawl.ends.outcomes, group), most)


def _site(site: SiteRow, limit: int, now: float) -> list[object]:
    """A row of the table of sites."""
    used = max(site.pages / limit, site.requests / (limit * REQUESTS_A_PAGE))
    said: object = ""
    if site.why is not None:
        values = {"why": message(Outcome(Code(site.why))), "closed": f"{site.closed:,}", "hosts": f"{site.hosts:,}"}
        some = N_("{closed} of {hosts} hosts closed: {why}")
        said = Message(N_("closed: {why}") if site.closed == site.hosts else some, values)
    elif used >= 1:
        said = message(Outcome(Code.SITE_BUDGET_SPENT))
    elif site.rests_until is not None and (rest := site.rests_until - now) >= 1:
        said = Message("rests {span}", {"span": span(rest)})
    return [site.name, f"{site.pages:,}", f"{site.waiting:,}", f"{min(1, used):.0%}", said]


def _some(things: Sequence[object], most: int) -> object:
    """The first of some things, and how many more there are."""
    rest = len(things) - most
    if rest <= 0:
        return list(things)
    return Message("{things} and {n} more", {"things": list(things[:most]), "n": f"{rest:,}"})


def _sentences(first: Message, second: Message | None) -> Message:
    return Message("{first} {second}", {"first": first, "second": second}) if second else first


def _date(time: float) -> str:
    return (EPOCH + timedelta(seconds=time)).strftime("%Y-%m-%d %H:%M UTC")


def _ago(seconds: float) -> Message:
    return Message("{span} ago", {"span": span(seconds)})


def _whole(name: str, value: object, least: int, most: int = 10**9) -> int:
    """A setting that is a whole number; if it is not, the program ends."""
    try:
        return whole(least, most)(str(value))
    except argparse.ArgumentTypeError as error:
        refuse("setting {name}={why}", name=name, why=str(error))


def _spelled(text: str) -> str:
    """The text in one line, with what is no letter, sign or space spelled out: what was crawled moves no cursor.

    >>> _spelled("\\x1b[2Jbees\\n.example")
    '\\\\x1b[2Jbees\\\\n.example'
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _line(text: object = "", style: str = "") -> Text:
    return Text(_spelled(localized(text)), style, overflow="fold")


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int]) -> Table:
    """A table with its numbers to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, head in enumerate(heads):
        table.add_column(_line(Message(head)), justify="right" if place in numbers else "left", overflow="fold")
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


def _say(message: Message) -> None:
    print(_spelled(f"scrapy state: {localized(message)}"), file=sys.stderr)


def refuse(text: str | Message, **values: object) -> NoReturn:
    """Say what is wrong, and end with status 2."""
    _say(text if isinstance(text, Message) else Message(text, values))
    sys.exit(2)
