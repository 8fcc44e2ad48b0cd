"""A week of three scheduled crawls of a small internet on loopback, through misfortunes; and a verdict on what is left.

`python tests/bench/soak.py [--days N] [--hosts N] [--pages N] [--kills SECONDS] [--minutes N]` serves 201 hosts with
articles of the encyclopaedia and saved pages of ../shared, each host with a habit (tests/support/internet_habits.py).
Three jobs with different topics run every two hours, every six hours and every day, in a scheduler, with two workers
each and guests that come and go.

The wall clock of all of them is set forward whenever no crawl runs, to the moment when the next one is due. So a week
takes as long as its crawls do, and pauses, leases and timeouts are as long as ever. Meanwhile a worker is killed every
so many seconds, PostgreSQL crashes twice, a disk is full, clocks jump, and a machine is suspended.

The exit status is 1 if the logs of the servers and the database say that anything was wrong, if a count of a run that
nothing disturbed is not what the servers' logs say, or if the memory or open files of crawls grow over the days.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import json
import lzma
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import module_from_spec, spec_from_file_location
from math import inf
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import numpy as np
import postgres
import recrawl
import wall_clock
from internet import DAY, Article, Internet, Span
from internet_counts import Truth, dashboard_wrong, runs_of, runs_wrong
from internet_crawls import served
from internet_habits import HABITS
from internet_server import Hit
from internet_settings import DOWNLOAD_DELAY, RECRAWL_MOST
from internet_verdict import (
    Row,
    fetches,
    lines_wrong,
    pages_wrong,
    pauses_wrong,
    promises_wrong,
    requests_wrong,
    state_wrong,
)
from misfortunes import MISFORTUNES
from scheduled_week import JOBS, Week

DATA = Path(os.environ.get("WINNOW_DATA", ROOT.parent / "shared" / "data"))
WIKI = DATA.parent / "tools" / "wikiweb.py"
TOPICS = ("Science.Biology.Birds", "Design_and_Technology.Railway_transport", "Music")
"""Of the jobs, in their order."""
DISK = "256m"
CALM = DAY / 4
"""How long nothing befalls the crawls at the end, so that each page is as it was sent last."""


def wiki(pages: int) -> list[list[Article]]:
    """So many articles for each part, those of its topic first."""
    spec = spec_from_file_location("wikiweb", WIKI)
    assert spec is not None
    assert spec.loader is not None
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    articles = tool.load()

    def name(title: str) -> str:
        return "".join(character if character.isascii() and character.isalnum() else "-" for character in title.lower())

    def article(row: Any) -> Article:
        texts = tuple(text for _, text in tool.figures_and_paragraphs(row["text"]))[:8]
        return Article(name(row["name"]), row["title"], texts, tuple(map(name, row["links"])))

    def is_about(row: Any, topic: str) -> bool:
        return any(f"{category}.".startswith(f"{topic}.") for category in row["categories"])

    long = {name(row["name"]): row for row in articles if len(row["text"]) > 1_000}
    parts: list[list[Article]] = []
    for topic in TOPICS:
        first = [key for key, row in long.items() if is_about(row, topic)][:pages]
        rest = [key for key, row in long.items() if not any(is_about(row, other) for other in TOPICS)]
        chosen = first + rest[: pages - len(first)]
        parts.append([article(long.pop(key)) for key in chosen])
    return parts


def saved_pages() -> list[bytes]:
    """Pages of real hosts that lead to little, as what they lead to is not there; those of manuals first."""
    pages: list[tuple[bool, bytes]] = []
    for path in ("unmarked/pages", "extraction/wcxb_dev"):
        with lzma.open(DATA / f"{path}.jsonl.xz", "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                links = set(re.findall(r"href=[\"']?([^\"'\s>]+)", row["html"]))
                own = sum(not re.match(r"https?:|//|#|mailto:|javascript:|data:", link) for link in links)
                if own <= 6 and len(links) <= 60 and len(row["html"]) < 300_000:
                    pages.append((row.get("page_type") != "documentation", row["html"].encode("utf-8", "replace")))
    return [body for _, body in sorted(pages, key=lambda entry: entry[0])]


def verdict(week: Week) -> list[str]:
    """All that is wrong, and figures on standard output."""
    web, log, output = week.web.web, week.web.server.log, week.folder / "jobs" / "output"
    wrong = [
        *week.wrong,
        *requests_wrong(web, log),
        *pauses_wrong(web, log, DOWNLOAD_DELAY, week.woken),
        *state_wrong(week.ask),
    ]
    pages, runs = 0, {job.name: runs_of(week.ask, job.name) for job in JOBS}
    for part, job in enumerate(JOBS):
        crawl = f"FROM page JOIN crawl ON crawl.id = page.crawl_id WHERE crawl.name = '{job.name}'"
        rows = [Row(*row) for row in week.ask(f"SELECT url, text {crawl}")]
        pages += len(rows)
        wrong += pages_wrong(web, log, rows, [part])
        wrong += lines_wrong(job.name, rows, week.folder.glob("*/output"))
        wrong += promises_wrong(web, log, part, RECRAWL_MOST + 2 * job.period)
        truth = Truth.of_part(web, log, part, [row.url for row in rows])
        wrong += runs_wrong(job.name, truth, runs[job.name], output / "logs", week.is_calm)
        print(f"{job.name:9} {freshness(web, log, part)}")
    wrong += [*dashboard_wrong(output, week.database, week.ask, runs), *week.use.wrong()]
    print(f"\n{pages:,} pages; {len(log):,} requests")
    print(*week.use.lines(), sep="\n")
    return wrong


def freshness(web: Internet, log: Sequence[Hit], part: int) -> str:
    """How current the copies of a part were, beside the best that can be done with as many fetches."""
    hits_of = {place: hits for place, hits in fetches(web, log, part).items() if place in web.changes}
    if not hits_of:
        return "no pages"
    start, end = max(hits[0].wall for hits in hits_of.values()), log[-1].wall
    changes = [np.array([change - start for change in web.changes[place] if start < change < end]) for place in hits_of]
    rates = np.array([web.hosts[host].rate for host, _ in hits_of])
    times = [np.array([0.0, *(hit.wall - start for hit in hits if hit.wall > start)]) for hits in hits_of.values()]
    pages = recrawl.Pages(changes, rates, [None] * len(changes))
    ours = recrawl.score(pages, times, end - start)
    gaps = recrawl.best_intervals(rates, ours.fetches / (end - start))
    best = recrawl.score(pages, recrawl.at_intervals(gaps, end - start, 1), end - start)
    return f"{len(times)} pages, {ours.fetches} fetches, freshness {ours.freshness:.3f}, at best {best.freshness:.3f}"


def live(week: Week, days: float, minutes: float, kills: float) -> None:
    """Run the jobs for so many days, with a kill every so many seconds; then for a while in which nothing happens."""
    start = week.web.web.span.since
    week.begin()
    week.kill_every = kills
    week.time_is_up = time.monotonic() + minutes * 60
    try:
        for share, happen in MISFORTUNES:
            week.until(start + share * days * DAY)
            if time.monotonic() > week.time_is_up:
                break
            part = week.wait_for_run()
            week.tell(happen.__name__.replace("_", " "))
            with week.disturbing():
                happen(week, part)
        week.until(start + days * DAY)
        week.tell("no more misfortunes")
        week.kill_every, week.time_is_up = 0.0, inf
        week.until(week.clock.now() + CALM)
    finally:
        week.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--days", type=float, default=7.0, help="how long, by the wall clock (7)")
    parser.add_argument("--minutes", type=float, default=120.0, help="after which the days end early (120)")
    parser.add_argument("--hosts", type=int, default=201, help="how many (201)")
    parser.add_argument("--pages", type=int, default=8, help="articles of a host (8)")
    parser.add_argument("--kills", type=float, default=120.0, help="seconds between two kills (120)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))  # by way of `finally`
    if why := postgres.missing() or wall_clock.missing():
        sys.exit(why)
    if not WIKI.exists():
        sys.exit(f"The encyclopaedia is not there: {WIKI} is looked for beside the project.")
    folder, began = Path(mkdtemp(prefix="soak-")), time.monotonic()
    folder.chmod(0o755)
    clock = wall_clock.WallClock(folder / "clock", wall_clock.library(folder))
    os.environ |= clock.environment  # of PostgreSQL; this process itself loads nothing
    now = time.time()
    span = Span(now, now + (options.days + 2) * DAY)
    web = Internet(wiki(options.hosts * options.pages // 3), options.hosts, HABITS, span, saved_pages())
    (folder / "jobs").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder / "jobs"], capture_output=True)
    with ExitStack() as block:
        block.callback(subprocess.run, ["umount", folder / "jobs"], capture_output=True)
        served_web, server = (
            block.enter_context(served(web, folder, clock.now)),
            block.enter_context(postgres.running()),
        )
        week = Week(served_web, clock, server, folder)
        live(week, options.days, options.minutes, options.kills)
        wrong = verdict(week)
        print(f"{week.kills} kills, {week.jumps} times skipped, {time.monotonic() - began:.0f} s; in {folder}")
    if wrong:
        (folder / "faults").write_text("\n".join(wrong))
        sys.exit("\n".join([f"{len(wrong)} faults, all in {folder / 'faults'}:", *wrong[:60]]))
    print("Every page is stored once in its latest text, and nothing else was wrong.")


if __name__ == "__main__":
    main()
