"""A crawl killed with SIGKILL at random moments, and resumed until it ends by itself, stores every page exactly once.

`WINNOW_DATA=FOLDER python tests/bench/faults.py [--rounds N] [--workers K] [--state-url URL]` crawls FOLDER/site,
static HTML reached from its index.html, first without a fault and then with N kills, and compares what the two left:
each page of the first must be in the database and in the JSON lines of the second once, whole, and the same in both.
With K workers a round kills one of them and starts it again, the last one starts late, and two share a folder; they
want PostgreSQL, which is a private server (tests/support/postgres.py) unless --state-url names an empty database.
With --local L each is a command with `workers=L`, and every second round kills one of its further workers instead,
which the command replaces.
Without WINNOW_DATA nothing is done. The exit status is 1 if anything is lost or doubled.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import postgres
from fault_injection import Left, Running, faults, further_workers, left_by, sqlite_url
from server import Served, serving
from sites import OPEN


@dataclass(frozen=True)
class Outcome:
    """What a crawl with its faults came to."""

    left: Left
    """With addresses that do not say on which port the site was served."""
    served: Served
    seconds: float
    kills: int


class Workers:
    """The workers of one crawl; the first two share a folder."""

    def __init__(
        self, folder: Path, count: int, local: int, port: int, settings: dict[str, str], block: ExitStack
    ) -> None:
        self.folders = [folder / str(max(0, number - 1)) for number in range(count)]
        self.local = local
        self.seed = f"http://127.0.0.1:{port}/index.html"
        self.settings = settings
        self.block = block
        self.running: dict[int, Running] = {}

    def start(self, number: int) -> None:
        crawl = Running(self.folders[number], {"seeds": self.seed, "workers": self.local}, self.settings)
        self.running[number] = self.block.enter_context(crawl)

    def end_by_themselves(self) -> None:
        for crawl in self.running.values():
            if status := crawl.wait(600):
                sys.exit(f"a crawl ended with {status}, and said:\n{crawl.said[-3000:]}")

    def kill_further(self, number: int) -> bool:
        """Kill a further worker of a command; whether there was one."""
        further = further_workers(self.running[number].process.pid)
        if further:
            os.kill(further[0], signal.SIGKILL)
        return bool(further)

    def kill(self, number: int) -> bool:
        """Kill a worker; whether it had not ended by itself."""
        crawl = self.running[number]
        lived = crawl.process.poll() is None
        crawl.kill()
        if (not lived and crawl.process.returncode) or "Traceback" in crawl.said:
            sys.exit(f"a crawl ended with {crawl.process.returncode}, and said:\n{crawl.said[-3000:]}")
        return lived


def crawl(site: Path, workers: int, local: int, state: str, moments: Iterator[float]) -> Outcome:
    """A crawl that loses a worker after each of these times, and then is left alone."""
    with TemporaryDirectory(prefix="faults-") as name:
        folder, kills, began = Path(name), 0, time.monotonic()
        with serving(site) as (port, served), ExitStack() as block:
            at_work = Workers(folder, workers, local, port, OPEN | {"STATE_URL": state}, block)
            for number in range(max(1, workers - 1)):
                at_work.start(number)
            for turn, moment in enumerate(moments):
                time.sleep(moment)
                if turn == 0 and workers > 1:
                    at_work.start(workers - 1)
                if turn % 2 and at_work.kill_further(turn % workers):
                    kills += 1
                    continue
                if not at_work.kill(turn % workers):
                    break
                kills += 1
                at_work.start(turn % workers)
            at_work.end_by_themselves()
        seconds = time.monotonic() - began
        left = left_by(
            state or sqlite_url(at_work.folders[0]), [path / "output" for path in sorted({*at_work.folders})]
        )
    root = at_work.seed.removesuffix("index.html")
    left.rows = [(url.replace(root, "/", 1), text) for url, text in left.rows]
    left.lines = [line | {"url": line["url"].replace(root, "/", 1)} for line in left.lines]
    return Outcome(left, served, seconds, kills)


@contextmanager
def state_of(workers: int, given: str) -> Iterator[str]:
    """The setting STATE_URL: empty for SQLite."""
    if given or workers == 1:
        yield given
        return
    if (why := postgres.missing()) is not None:
        sys.exit(why)
    with postgres.running("on") as server:
        yield server.database()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="kills (20)")
    parser.add_argument("--workers", type=int, default=1, help="workers of the crawl (1); more want PostgreSQL")
    parser.add_argument("--local", type=int, default=1, help="processes of each worker (1)")
    parser.add_argument("--state-url", default="", help="an empty database; else one is made")
    parser.add_argument(
        "--seed", type=int, default=time.time_ns() % 10**6, help="of the moments; else another each time"
    )
    options = parser.parse_args()
    if not (data := os.environ.get("WINNOW_DATA")):
        print("Skipped: WINNOW_DATA names no folder with a folder `site` of static HTML that starts with index.html.")
        return
    site = Path(data) / "site"
    if not (site / "index.html").is_file():
        sys.exit(f"{site} has no index.html; WINNOW_DATA names a folder with a folder `site` of static HTML")
    chance = Random(options.seed)
    whole = crawl(site, 1, 1, "", iter(()))
    start = whole.seconds - whole.served.seconds
    share = whole.served.seconds / options.rounds
    # One worker starts anew after each kill, so part of the kills come while it starts; of many, others go on.
    span = (0.5 * start, start + 1.8 * share) if options.workers == 1 else (0.0, 1.8 * share)
    with state_of(options.workers, options.state_url) as state:
        hurt = crawl(
            site, options.workers, options.local, state, (chance.uniform(*span) for _ in range(options.rounds))
        )
    wrong = faults(hurt.left, {line["url"] for line in whole.left.lines}) + faults(whole.left, None)
    lines = [line["url"] for line in hurt.left.lines]
    wanted = {url for url, _ in whole.left.rows}
    table = {
        "workers": (1, options.workers * options.local),
        "kills": (0, hurt.kills),
        "pages": (len(whole.left.rows), len(hurt.left.rows)),
        "lines": (len(whole.left.lines), len(lines)),
        "lost": (0, len(wanted - set(lines)) + len(wanted - {url for url, _ in hurt.left.rows})),
        "doubled": (0, len(lines) - len(set(lines)) + len(hurt.left.rows) - len({url for url, _ in hurt.left.rows})),
        "requests": (whole.served.answers, hurt.served.answers),
        "made more than once": (0, hurt.served.answers - whole.served.answers),
        "seconds": (round(whole.seconds), round(hurt.seconds)),
    }
    print(f"seed {options.seed}, {'PostgreSQL' if state else 'SQLite'}\n{'':24}{'whole':>10}{'killed':>10}")
    for name, values in table.items():
        print(f"{name:24}" + "".join(f"{value:10,}" for value in values))
    if wrong:
        sys.exit("\n".join([f"{len(wrong)} faults:", *wrong[:50]]))
    print("Nothing is lost, nothing is doubled, and every line is as its row.")


if __name__ == "__main__":
    main()
