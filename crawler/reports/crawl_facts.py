"""The state of one crawl as lines and tables for the terminal, and a function that prints them."""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from crawler.command_line.terminal import byte_size, spelled
from crawler.outcomes import Code, Group, Outcome, of_group, ranked
from crawler.reports.crawls import CrawlPhase, CrawlState
from crawler.reports.sites import SiteRow
from crawler.reports.waiting_links import links_behind_images, unlikely_links
from crawler.store.batch.hosts import REQUESTS_A_PAGE
from crawler.store.heartbeats import WorkerState
from crawler.store.output_files import FOLDER_ID_FILE, pages_file
from crawler.translation.message import N_, Message, first, localized, plural, span

WIDE = 10_000
"""The width in characters of output that is no terminal, so that its lines are not wrapped."""
WITHOUT_WORKERS = {
    "failed": N_("failed on {date}: every seed failed"),
    "full": N_("finished on {date}, max_pages reached; a larger max_pages continues it"),
    "finished": N_("finished on {date}"),
    "broken": N_("interrupted, last heartbeat {ago}; the same command continues it"),
    "stopped": N_("stopped; the same command continues it"),
}
"""The sentences about crawls without live workers, by status."""
QUIET_SECONDS = 5.0
"""If no worker sent a heartbeat for longer than this, the time is shown; workers send several heartbeats a second."""


def facts(
    crawl: CrawlState, now: float, folder: Path, most: int, database: Message | None = None
) -> list[Text | Table]:
    """The block of lines about a crawl: its status, then its facts by name, with at most `most` seeds, reasons and
    files each. `database` is the fact about the database, if it is shown.
    """
    started = Message("{date}, {ago}", {"date": date(crawl.started_at), "ago": ago(now - crawl.started_at)})
    unlikely: str | Message = ""
    if crawl.unlikely:
        unlikely = unlikely_links(crawl.unlikely)
    behind_images: str | Message = ""
    if crawl.behind_images:
        behind_images = links_behind_images(crawl.behind_images)

    fact_of_name: dict[str, object] = {
        N_("seeds"): first(json.loads(crawl.seeds), most),
        N_("topic"): crawl.topic or Message("what its seeds are about"),
        N_("started"): started,
        N_("pages"): _pages(crawl),
        N_("round"): _round(crawl),
        N_("addresses"): _addresses(crawl),
        N_("unlikely"): unlikely,
        N_("behind images"): behind_images,
        N_("done"): _ends(crawl),
        N_("left out"): _reasons(crawl, Group.SKIPPED, most),
        N_("noise"): _reasons(crawl, Group.NOISE, most),
        N_("put off"): _reasons(crawl, Group.PUT_OFF, most),
        N_("failed"): _reasons(crawl, Group.FAILED, most),
        N_("failed seeds"): _failed_seeds(crawl),
        N_("sites"): f"{crawl.site_count:,}",
        N_("items"): first([_file_size(file, crawl, folder) for file in crawl.files], most),
    }
    if database is not None:
        fact_of_name[N_("database")] = database

    table = Table.grid(padding=(0, 2))
    for name, fact in fact_of_name.items():
        if fact:
            table.add_row(line(f"  {localized(Message(name))}"), line(fact))
    return [line(Message("{name}: {status}", {"name": crawl.name, "status": _status(crawl)}), "bold"), table]


def workers_and_sites(crawl: CrawlState, now: float, folder: Path, site_limit: int) -> list[Text | Table]:
    """The workers and the first sites of a crawl, as tables."""
    lines: list[Text | Table] = []
    if crawl.workers:
        workers = [_worker(worker, crawl, folder) for worker in crawl.workers]
        lines += [
            line(),
            _table([N_("worker"), N_("file"), N_("leased"), N_("last heartbeat")], workers, numbers=(0, 2)),
        ]
    if crawl.sites:
        sites = [_site(site, site_limit, now) for site in crawl.sites]
        values = {"n": len(sites), "all": f"{crawl.site_count:,}"}
        lines.append(line())
        if crawl.site_count > len(sites):
            lines.append(line(Message("The {n} sites with the most pages, of {all}:", values)))
        lines.append(_table([N_("site"), N_("pages"), N_("waiting"), N_("budget used"), ""], sites, numbers=(1, 2, 3)))
    return lines


def _worker(worker: WorkerState, crawl: CrawlState, folder: Path) -> list[object]:
    last_heartbeat = ago(worker.silent)
    if not worker.alive:
        last_heartbeat = Message("{ago}: considered dead", {"ago": last_heartbeat})
    file = _file(worker.number, worker.folder_id, crawl, folder)
    return [str(worker.number), file, f"{worker.held:,}", last_heartbeat]


def _file_size(file: Any, crawl: CrawlState, folder: Path) -> Message:
    path = _file(file.number, file.folder_id, crawl, folder)
    return Message("{path} ({size})", {"path": path, "size": byte_size(file.pages_size)})


def _file(number: int, folder_id: str, crawl: CrawlState, folder: Path) -> str | Message:
    """The path of a worker's output file, or its name if the file is not in the output folder of this command."""
    name = pages_file(crawl.name, number)
    id_file = folder / FOLDER_ID_FILE
    # Another folder, perhaps on another machine, has another id.
    if id_file.is_file() and id_file.read_text(encoding="ascii", errors="replace").split()[:1] == [folder_id]:
        return str(folder / name)
    return Message("{name} in another folder", {"name": name})


def _status(crawl: CrawlState) -> Message:
    silent = crawl.silent or 0.0
    values: dict[str, object] = {"ago": ago(silent)}
    if crawl.ended_at is not None:
        values["date"] = date(crawl.ended_at)
    sentence = WITHOUT_WORKERS.get(crawl.status)
    if sentence is not None:
        return Message(sentence, values)
    running = _running(crawl.status, len(crawl.alive))
    if silent <= QUIET_SECONDS:
        return running
    return Message("{running}, last heartbeat {ago}", {"running": running, **values})


def _running(status: CrawlPhase, n: int) -> Message:
    if status is CrawlPhase.PAUSED:
        return plural("paused on the dashboard, {n} worker", "paused on the dashboard, {n} workers", n)
    if status is CrawlPhase.STOPPING:
        return plural("stopping, {n} worker", "stopping, {n} workers", n)
    return plural("running, {n} worker", "running, {n} workers", n)


def _round(crawl: CrawlState) -> str | Message:
    """If the crawl has ended, the round and how many pages are due, e.g. "1; 7 pages due", or when the next one is due.
    Otherwise, and if no page will be due, only the round; empty in the first round.
    """
    number = f"{crawl.round:,}"
    if crawl.ended_at is None or crawl.next_due is None:
        if crawl.round == crawl.first_round:
            return ""
        return number
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
    counts = Message("{waiting} queued, {held} leased, {done} done", values)
    if not crawl.recorded:
        return counts
    return Message("{counts}, {n} images recorded for judging", {"counts": counts, "n": f"{crawl.recorded:,}"})


def _ends(crawl: CrawlState) -> list[Message]:
    """How many addresses ended with each outcome, without the outcomes that no address has."""
    ends = defaultdict[str, int](int, crawl.totals.ends)
    counts = (
        plural("{n} page", "{n} pages", ends["page"]),
        plural("{n} image", "{n} images", ends["image"]),
        plural("{n} list of addresses", "{n} lists of addresses", ends[Code.LIST]),
        plural("{n} redirect", "{n} redirects", ends[Code.REDIRECTED]),
        plural("{n} example of the topic", "{n} examples of the topic", ends[Code.EXAMPLE]),
        plural("{n} counterexample", "{n} counterexamples", ends[Code.COUNTEREXAMPLE]),
        plural("{n} left out", "{n} left out", ends[Group.SKIPPED]),
        plural("{n} skipped as noise", "{n} skipped as noise", ends[Group.NOISE]),
        plural("{n} put off", "{n} put off", ends[Group.PUT_OFF]),
        plural("{n} failed", "{n} failed", ends[Group.FAILED]),
    )
    return [count for count in counts if count.values["n"]]


def _reasons(crawl: CrawlState, group: Group, most: int) -> list[Message]:
    """Why addresses yielded nothing, most frequent reasons first, as in the closing lines."""
    return ranked(of_group(crawl.totals.outcomes, group), most)


def _failed_seeds(crawl: CrawlState) -> object:
    """The first failed seeds with their reasons, and how many others there are."""
    failed_seeds = crawl.failed_seeds
    number = failed_seeds.number
    named = [Message("{url} ({why})", {"url": seed.url, "why": seed.outcome.message}) for seed in failed_seeds.seeds]
    if number <= len(named):
        return named
    return Message("{things} and {n} more", {"things": named, "n": f"{number - len(named):,}"})


def _site(site: SiteRow, limit: int, now: float) -> list[object]:
    """The cells of a site: its name, pages, queued addresses, the used share of its page budget, and a remark."""
    # The page budget also limits requests: to REQUESTS_A_PAGE for each page.
    used = max(site.pages / limit, site.requests / (limit * REQUESTS_A_PAGE))
    remark = _site_remark(site, used, now)
    return [site.name, f"{site.pages:,}", f"{site.waiting:,}", f"{min(1, used):.0%}", remark]


def _site_remark(site: SiteRow, used: float, now: float) -> str | Message:
    """Why a site is not requested now; empty if it is."""
    if site.why is not None:
        why = Outcome.of(site.why).message
        if site.closed == site.hosts:
            return Message("closed: {why}", {"why": why})
        values = {"why": why, "closed": f"{site.closed:,}", "hosts": f"{site.hosts:,}"}
        return Message("{closed} of {hosts} hosts closed: {why}", values)
    if used >= 1:
        return Outcome(Code.SITE_BUDGET_SPENT).message
    if site.rests_until is not None and site.rests_until - now >= 1:
        return Message("paused for {span}", {"span": span(site.rests_until - now)})
    return ""


def sentences(sentence: Message, more: Message | None) -> Message:
    """One or two sentences in a line."""
    if more:
        return Message("{first} {second}", {"first": sentence, "second": more})
    return sentence


def date(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def ago(seconds: float) -> Message:
    return Message("{span} ago", {"span": span(seconds)})


def line(text: object = "", style: str = "") -> Text:
    """A line for the terminal, translated and with escaped control characters."""
    return Text(spelled(localized(text)), style, overflow="fold")


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int]) -> Table:
    """A table. The columns with the indexes in `numbers` are right-aligned."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for index, head in enumerate(heads):
        table.add_column(line(Message(head)), justify="right" if index in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(line, row))
    return table


def show(parts: Iterable[Text | Table]) -> None:
    """Print lines and tables: as wide as the terminal, or without wrapping and colours if the output is no terminal."""
    if sys.stdout.isatty():
        Console(highlight=False).print(*parts, sep="\n")
        return
    console = Console(highlight=False, width=WIDE, color_system=None)
    with console.capture() as captured:  # to remove the spaces with which Rich fills lines
        console.print(*parts, sep="\n")
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))
