"""What a crawl loses when it is killed: with Scrapy's JOBDIR, and with the add-on's durable queue.

`python tests/bench/durable_queues.py [--pages N] [--kills N]` crawls a made-up site of N pages with a spider that
follows all links, and kills it by SIGKILL whenever it has read 20 to 50 pages more. Then it lets the crawl run to its
end. A run that ends by itself before its kill counts as the end: its queue was empty. For each queue it prints the
kills, the pages that were never read, and those that were read twice.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from server import serving
from synthetic import build

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
QUEUES = {
    "JOBDIR, PickleLifoDiskQueue": ["-s", "JOBDIR=job"],
    "JOBDIR, PickleLifoSQLiteQueue": [
        *("-s", "JOBDIR=job"),
        *("-s", "SCHEDULER_DISK_QUEUE=scrapy.squeues.PickleLifoSQLiteQueue"),
    ],
    "WINNOW_DURABLE_QUEUE": ["-s", 'ADDONS={"crawler.addon.Winnow": 500}', "-s", "WINNOW_DURABLE_QUEUE=job"],
}
FEWEST_BEFORE_A_KILL = 20
MOST_BEFORE_A_KILL = 50
POLL_SECONDS = 0.02
RUN_SECONDS = 600.0
READ = "read.txt"
SPIDER = f"""
import os
import scrapy


class AllLinks(scrapy.Spider):
    name = "all_links"
    custom_settings = {{"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0.01}}

    def __init__(self, first):
        super().__init__()
        self.first = first
        self.read = os.open({READ!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def start(self):
        yield scrapy.Request(self.first, dont_filter=True)

    def parse(self, response):
        yield from response.follow_all(css="a")
        os.write(self.read, f"{{response.url}}\\n".encode())
"""


def crawl_with_kills(queue: list[str], pages: int, kills: int) -> str:
    """Kill a crawl with a queue so often, let it end, and count what it read."""
    with TemporaryDirectory(prefix="durable-queues-") as name:
        folder = Path(name)
        site = folder / "site"
        site.mkdir()
        build(site, pages)
        spider = folder / "all_links.py"
        spider.write_text(SPIDER, encoding="utf-8")
        with serving(site) as (port, _):
            first = f"http://127.0.0.1:{port}/index.html"
            line = [sys.executable, "-m", "scrapy", "runspider", str(spider), "-a", f"first={first}", *queue]
            killed = _kill_often(line, folder, kills)
            if killed == kills:
                _start(line, folder).wait(RUN_SECONDS)
        read = Counter(url for url in _read(folder) if url.endswith(".html"))
    lost = pages - len(read)
    return f"{killed:5}   {lost:16}   {read.total() - len(read):16}"


def _kill_often(line: list[str], folder: Path, kills: int) -> int:
    """Kill a command so often, each time after it has read some pages; returns how often it ran long enough."""
    chance = random.Random(7)
    for killed in range(kills):
        enough = len(_read(folder)) + chance.randrange(FEWEST_BEFORE_A_KILL, MOST_BEFORE_A_KILL)
        process = _start(line, folder)
        while process.poll() is None and len(_read(folder)) < enough:
            time.sleep(POLL_SECONDS)
        if process.poll() is not None:
            return killed
        process.send_signal(signal.SIGKILL)
        process.wait()
    return kills


def _start(line: list[str], folder: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment.pop("SCRAPY_SETTINGS_MODULE", None)
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(line, cwd=folder, env=environment, stdout=log, stderr=log)


def _read(folder: Path) -> list[str]:
    """The addresses of the pages that were read so far."""
    path = folder / READ
    return path.read_text("utf-8").splitlines() if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=600, help="pages of the site (600)")
    parser.add_argument("--kills", type=int, default=10, help="kills of each crawl (10)")
    options = parser.parse_args()
    print(f"{'queue':32}{'kills':>5}   {'pages never read':>16}   {'pages read twice':>16}")
    for name, queue in QUEUES.items():
        print(f"{name:32}{crawl_with_kills(queue, options.pages, options.kills)}", flush=True)


if __name__ == "__main__":
    main()
