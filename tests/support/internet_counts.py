"""What runs of jobs say that they did, beside what the server's log says."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import urlopen

from dashboards import dashboard
from fault_injection import WAITING
from internet import Internet
from internet_server import Hit
from internet_verdict import Ask, bare

GONE_AFTER = 2
"""How often a page is missing until it is gone. Written out, as a test that asks the code proves little."""
KINDS = ("new", "changed", "gone", "unchanged", "not_modified")
ROUND = re.compile(
    r"^Round [\d,]+: (?P<changed>[\d,]+) pages? changed, (?P<new>[\d,]+) new, (?P<gone>[\d,]+) gone, "
    r"(?P<unchanged>[\d,]+) unchanged(?: \((?P<not_modified>[\d,]+) of them answered 304\))?\.$",
    re.MULTILINE,
)


class Run(NamedTuple):
    """A run of a job, as it is stored."""

    number: int
    start: float
    end: float
    exit: int
    new: int
    changed: int
    gone: int


def runs_of(ask: Ask, name: str) -> list[Run]:
    query = f"""SELECT number, started_at, ended_at, exit, new, changed, gone FROM run JOIN job ON job.id = job_id
        WHERE name = '{name}' AND ended_at IS NOT NULL ORDER BY number"""
    return [Run(*row) for row in ask(query)]


def answers(said: str) -> Counter[int]:
    """The answers by status, by the statistics of a crawl."""
    found = re.findall(r"'downloader/response_status_count/(\d+)': (\d+)", said)
    return Counter({int(status): int(count) for status, count in found})


@dataclass(frozen=True)
class Truth:
    """What the server sent to the crawl of a part."""

    hits: Sequence[Hit]
    urls: Sequence[str]
    """Of the pages that are stored."""

    @classmethod
    def of_part(cls, web: Internet, log: Iterable[Hit], part: int, urls: Sequence[str]) -> "Truth":
        names = {host.name for host in web.of_part(part)} | {urlsplit(web.seed(part)).hostname}
        return cls([hit for hit in log if hit.host in names], urls)

    def answers(self, start: float, end: float) -> Counter[int]:
        return Counter(hit.status for hit in self.hits if hit.status and start <= hit.wall <= end)

    def changes(self, start: float, end: float) -> Counter[str]:
        """How many of the pages were new, changed, gone and unchanged between two moments."""
        hits: defaultdict[tuple[str, str], list[Hit]] = defaultdict(list)
        for hit in self.hits:
            if hit.status in (200, 304, 410) and hit.wall <= end:
                hits[hit.host, bare(hit.path)].append(hit)
        found: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        for place in {(urlsplit(url).hostname or "", bare(urlsplit(url).path)) for url in self.urls}:
            found.update(_changes(hits[place], start))
        return found


def _changes(hits: Sequence[Hit], start: float) -> Iterator[str]:
    """What became of a page from a moment on."""
    before, after = ([hit for hit in hits if (hit.wall < start) is earlier] for earlier in (True, False))
    missing = [sum(hit.status == 410 for hit in some) for some in (before, hits)]
    if not after:
        return
    if after[-1].status == 410:
        if missing[0] < GONE_AFTER <= missing[1]:
            yield "gone"
        return
    if not before:
        yield "new"
    elif before[-1].edition != after[-1].edition:
        yield "changed"
    else:
        yield "unchanged"
        if after[-1].status == 304:
            yield "not_modified"


def closing_line(said: str) -> Counter[str]:
    """The counts in the line about the round; all 0 where nothing was due."""
    found = ROUND.search(said)
    counts = {name: int((found[name] or "0").replace(",", "")) for name in KINDS} if found else {}
    return Counter(dict.fromkeys(KINDS, 0) | counts)


def statistics(said: str) -> Counter[str]:
    """The same by the statistics."""
    counts = {name: re.search(rf"'recrawl/{name}': (\d+)", said) for name in KINDS}
    return Counter({name: int(found[1]) if found else 0 for name, found in counts.items()})


def runs_wrong(name: str, truth: Truth, runs: Sequence[Run], logs: Path, is_calm: Callable[[Run], bool]) -> list[str]:
    """Counts of undisturbed runs, each after an undisturbed one, that are not true; and runs that failed."""
    wrong, checked = [], 0
    for before, run in pairwise(runs):
        if not (is_calm(before) and is_calm(run) and before.exit == 0):
            continue
        checked += 1
        log = (logs / name / f"{run.number}.log").read_text("utf-8", "replace")
        counts = truth.changes(run.start, run.end)
        stored = Counter({kind: getattr(run, kind) for kind in KINDS[:3]})
        for what, said, true in (
            ("the database", stored, Counter({kind: counts[kind] for kind in KINDS[:3]})),
            ("the closing line", closing_line(log), counts),
            ("the statistics", statistics(log), counts),
            ("the statuses", answers(log), truth.answers(run.start, run.end)),
        ):
            if said != true:
                wrong.append(f"run {run.number} of {name}: {what} say {dict(said)}, and true is {dict(true)}")
        if run.exit or "Traceback" in log:
            wrong.append(f"run {run.number} of {name}: exit {run.exit}\n{log[-1000:]}")
    print(f"{name:9} {checked} of {len(runs)} runs were undisturbed, and are counted again")
    return wrong


def dashboard_wrong(output: Path, state: str, ask: Ask, runs: Mapping[str, Sequence[Run]]) -> Iterator[str]:
    """Figures of the dashboard that are not those of the database, when nothing is under way."""
    with dashboard(output, "-s", f"STATE_URL={state}") as address:
        shown = dict(re.findall(r"^(winnow_\w+\{[^}]*\}) (\S+)$", _read(f"{address}/metrics"), re.MULTILINE))
        jobs: list[dict[str, Any]] = json.loads(_read(f"{address}/api/jobs"))["jobs"]
        histories = {job["name"]: json.loads(_read(f"{address}/api/jobs/{job['id']}/runs")) for job in jobs}
    query = f"""SELECT name, (SELECT count(*) FROM page WHERE crawl_id = crawl.id AND last_round = crawl.round),
        (SELECT count(*) FROM address JOIN host ON host.id = host_id WHERE host.crawl_id = crawl.id
        AND state = {WAITING}) FROM crawl"""
    for name, pages, waiting in ask(query):
        for metric, truth in {"round_pages": pages, "waiting": waiting, "workers": 0}.items():
            if float(found := shown.get(f'winnow_{metric}{{crawl="{name}"}}', "nan")) != truth:
                yield f"the dashboard says {found} {metric} of {name}, and there are {truth}"
    for name, own in runs.items():
        there = {(run.number, run.exit, run.new, run.changed, run.gone) for run in own}
        fields = ("number", "exit", "new", "changed", "gone")
        for run in histories[name]:
            if tuple(run[field] for field in fields) not in there:
                yield f"the dashboard says of a run of {name}: {run}"


def _read(url: str) -> str:
    with urlopen(url) as answer:
        found: str = answer.read().decode()
    return found
