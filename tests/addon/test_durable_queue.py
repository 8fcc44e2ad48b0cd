"""The durable queue in projects that `scrapy startproject` makes: killed, stopped, and gone on with."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sites import Answer, Asked, Site, serving

COMMITTED = 0.5
"""Seconds after which all that was done is committed."""
PAGES = 300
EVERY_PATH = {str(number) for number in range(1, PAGES)}
MOST_REPEATED = 16 + 30
"""Requests at a time, and those that are done between two commits."""
SETTINGS = """
BOT_NAME = "other"
SPIDER_MODULES = ["other.spiders"]
ADDONS = {"crawler.addon.Winnow": 100}
WINNOW_DURABLE_QUEUE = "queue"
DOWNLOAD_DELAY = 0
RETRY_TIMES = 1
"""
RULES = """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
class Rules(CrawlSpider):
    name = "rules"
    rules = [Rule(LinkExtractor(), callback="found", follow=True)]
    def __init__(self, site, **more):
        super().__init__(**more)
        self.start_urls = [site]
    def found(self, response):
        yield {"path": response.url.removeprefix(self.start_urls[0]), "depth": response.meta["depth"]}
"""
ORDER = """
import scrapy
class Order(scrapy.Spider):
    name = "order"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    async def start(self):
        yield scrapy.Request(self.site)
    def parse(self, response):
        for number in range(1, 41):
            yield response.follow(f"/{number}", self.leaf, priority=number % 4, cb_kwargs={"pair": (number, {number})})
    def leaf(self, response, pair):
        yield {"number": pair[0], "is_set": pair[1] == {pair[0]}}
"""
AGAIN = """
import scrapy
class Again(scrapy.Spider):
    name = "again"
    handle_httpstatus_list = [404]
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    async def start(self):
        for path in "cookie", "busy", "slow", "gone":
            yield scrapy.Request(self.site + path, dont_filter=True, errback=self.failed)
    def parse(self, response):
        yield {"path": response.url.removeprefix(self.site), "status": response.status}
    def failed(self, failure):
        yield {"path": failure.request.url.removeprefix(self.site), "status": None}
"""
LAMBDAS = """
import scrapy
class Lambdas(scrapy.Spider):
    name = "lambdas"
    async def start(self):
        yield scrapy.Request(self.site)
    def parse(self, response):
        for path in "/2", "/3", "/3":
            yield response.follow(path, lambda response: {"path": response.url.removeprefix(self.site)})
"""


class Project:
    """A project of Scrapy with the durable queue, and its crawls."""

    def __init__(self, place: Path, site: Site) -> None:
        self.place, self.site = place, site
        subprocess.run([sys.executable, "-m", "scrapy", "startproject", "other", str(place)], check=True, stdout=-3)
        (place / "other" / "settings.py").write_text(SETTINGS)

    def add_spider(self, name: str, source: str) -> None:
        (self.place / "other" / "spiders" / f"{name}.py").write_text(source)

    @contextmanager
    def started(self, spider: str, *options: str) -> Iterator[subprocess.Popen[str]]:
        line = [sys.executable, "-m", "scrapy", "crawl", spider, "-a", f"site={self.site.url}"]
        line += [] if "-O" in options else ["-o", f"{spider}.jsonl"]
        environment = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
        with subprocess.Popen(
            line + list(options), cwd=self.place, stderr=subprocess.PIPE, text=True, env=environment
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def crawl(self, spider: str, *options: str) -> str:
        """The log of a crawl that ended by itself."""
        with self.started(spider, *options) as process:
            return process.communicate(timeout=60)[1]

    def run(self, *words: str) -> str:
        """What a command of Scrapy prints."""
        line = [sys.executable, "-m", "scrapy", *words]
        environment = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
        ended = subprocess.run(line, cwd=self.place, capture_output=True, text=True, env=environment, timeout=60)
        assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
        return ended.stdout

    def interrupted(self, spider: str, by: signal.Signals, more: int, wait: float = 0) -> str:
        """The log of a crawl that got a signal after some more requests."""
        goal = len(self.site.asked) + more
        with self.started(spider) as process:
            while len(self.site.asked) < goal:
                assert process.poll() is None, process.stderr and process.stderr.read()
                time.sleep(0.002)
            time.sleep(wait)
            process.send_signal(by)
            return process.communicate(timeout=60)[1]

    def items(self, spider: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.place / f"{spider}.jsonl").read_text().splitlines()]


def tree(number: int) -> Callable[[Asked], Answer]:
    """A page that links to two pages below it, and to one that others link to as well."""
    links = [f"/{one}" for one in (2 * number, 2 * number + 1, number * 7 % PAGES) if 0 < one < PAGES]

    def answer(asked: Asked) -> Answer:
        time.sleep(0.005)
        return Answer("".join(f'<a href="{link}">page</a> ' for link in links))

    return answer


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with serving(Site({"/": tree(1)} | {f"/{number}": tree(number) for number in range(1, PAGES)})) as site:
        yield Project(tmp_path / "foreign", site)


@pytest.mark.long
def test_kills_lose_nothing(project: Project) -> None:
    project.add_spider("rules", RULES)
    for more in (1, 40, 70, 50):
        project.interrupted("rules", signal.SIGKILL, more)
    log = project.crawl("rules")
    assert "'finish_reason': 'finished'" in log
    found = Counter(item["path"] for item in project.items("rules"))
    assert found.keys() == EVERY_PATH
    assert 0 < found.total() - len(found) <= 4 * MOST_REPEATED
    assert list((project.place / "queue").iterdir()) == []


@pytest.mark.long
def test_stops_repeat_nothing(project: Project) -> None:
    project.add_spider("rules", RULES)
    log = project.interrupted("rules", signal.SIGINT, 60)
    waiting = int(re.findall(r"(\d+) requests wait in queue/rules.db; the same command continues", log)[0])
    log = project.crawl("rules", "-s", "CLOSESPIDER_PAGECOUNT=50")
    assert f"'winnow/requests_resumed': {waiting}" in log
    assert "'finish_reason': 'closespider_pagecount'" in log
    project.crawl("rules")
    assert Counter(item["path"] for item in project.items("rules")) == dict.fromkeys(EVERY_PATH, 1)
    assert Counter(project.site.paths()) == dict.fromkeys(["/", *(f"/{path}" for path in EVERY_PATH)], 1)


@pytest.mark.long
def test_a_finished_crawl_begins_anew(project: Project) -> None:
    project.add_spider("order", ORDER)
    for _ in range(2):
        project.crawl("order")
    assert Counter(project.site.paths()) == dict.fromkeys(["/", *(f"/{number}" for number in range(1, 41))], 2)


@pytest.mark.long
@pytest.mark.parametrize(("queue", "is_ascending"), [("Lifo", False), ("Fifo", True)])
def test_the_order_is_kept(queue: str, is_ascending: bool, project: Project) -> None:
    project.add_spider(
        "order", ORDER.replace("1}", f'1, "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.{queue}MemoryQueue"}}', 1)
    )
    project.interrupted("order", signal.SIGINT, 15)
    project.interrupted("order", signal.SIGKILL, 10)
    project.crawl("order")
    numbers = range(1, 41) if is_ascending else range(40, 0, -1)
    expected = sorted(numbers, key=lambda number: -(number % 4))
    asked = list(dict.fromkeys(int(path[1:]) for path in project.site.paths() if path != "/"))
    assert asked == expected
    assert all(item["is_set"] for item in project.items("order"))


@pytest.mark.long
def test_requests_that_come_again(project: Project) -> None:
    def cookie(asked: Asked) -> Answer:
        time.sleep(0 if asked.times else 30)
        return Answer(status=200 if "seen" in asked.headers.get("Cookie", "") else 302, headers={"Location": "/give"})

    def slow(asked: Asked) -> Answer:
        time.sleep(0 if asked.times else 30)
        return Answer()

    give = Answer(status=302, headers={"Location": "/cookie", "Set-Cookie": "seen=1"})
    routes = {"/cookie": cookie, "/give": give, "/busy": lambda asked: Answer(status=200 if asked.times else 503)}
    project.site.routes |= routes | {"/slow": slow}
    project.add_spider("again", AGAIN)
    project.interrupted("again", signal.SIGKILL, 1, wait=COMMITTED)
    project.interrupted("again", signal.SIGKILL, 5, wait=COMMITTED)
    project.crawl("again")
    assert project.site.paths() == [
        *("/cookie", "/cookie", "/give", "/cookie"),
        *("/busy", "/slow", "/slow", "/gone", "/busy"),
    ]
    found = [(item["path"], item["status"]) for item in project.items("again")]
    assert found == [("cookie", 200), ("slow", 200), ("gone", 404), ("busy", 200)]


@pytest.mark.long
def test_requests_in_memory_are_counted_and_named_once(project: Project) -> None:
    project.add_spider("lambdas", LAMBDAS)
    log = project.crawl("lambdas")
    assert sorted(item["path"] for item in project.items("lambdas")) == ["2", "3"]
    assert log.count("Kept only in memory; further ones are only counted: <GET") == 1
    assert "'winnow/requests_in_memory': 2" in log


@pytest.mark.long
def test_a_queue_has_one_crawl(project: Project) -> None:
    project.site.routes["/"] = lambda asked: time.sleep(60) or Answer()
    project.add_spider("order", ORDER)
    with project.started("order"):
        while not project.site.asked:
            time.sleep(0.01)
        log = project.crawl("order")
    assert "queue/order.db" in log
    assert "database is locked" in log
    assert len(project.site.asked) == 1


def test_a_torn_line_is_cut_off(project: Project) -> None:
    project.add_spider("order", ORDER)
    project.interrupted("order", signal.SIGKILL, 10)
    with (project.place / "order.jsonl").open("a") as file:
        file.write('{"number": 12, "is')
    project.crawl("order")
    assert {item["number"] for item in project.items("order")} == set(range(1, 41))


@pytest.mark.long
def test_other_commands_leave_the_queue_alone(project: Project) -> None:
    project.add_spider("order", ORDER.replace("response, pair)", "response, pair=(0, {0}))"))
    project.interrupted("order", signal.SIGINT, 15)
    asked, page = len(project.site.asked), f"{project.site.url}2"
    queue = (project.place / "queue" / "order.db").read_bytes()
    arguments = page, "--spider=order", "-a", f"site={project.site.url}"
    assert "'number': 0" in project.run("parse", *arguments, "-c", "leaf")
    assert "<a href" in project.run("fetch", *arguments[:2])
    assert "<a href" in project.run("fetch", page)
    assert project.run("shell", *arguments[:2], "-c", "response.status").endswith("200\n")
    assert project.site.paths()[asked:] == ["/2"] * 4
    assert (project.place / "queue" / "order.db").read_bytes() == queue
    assert [path.name for path in (project.place / "queue").iterdir()] == ["order.db"]


@pytest.mark.long
def test_a_file_of_items_is_not_overwritten(project: Project) -> None:
    project.add_spider("order", ORDER)
    over = ("-O", "all.jsonl")
    project.crawl("order", "-s", "CLOSESPIDER_ITEMCOUNT=9", *over)
    with closing(sqlite3.connect(project.place / "queue" / "order.db")) as held:
        held.execute("BEGIN EXCLUSIVE")
        assert "database is locked" in project.crawl("order", *over)
    assert 9 <= len(project.items("all")) < 40
    project.crawl("order", *over)
    assert {item["number"] for item in project.items("all")} == set(range(1, 41))
