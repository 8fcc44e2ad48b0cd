"""What topic does with a page, step by step: its own functions over a site's pages, in the order of a crawl.

`python stages.py FOLDER` prints the pages read and the CPU milliseconds a page of each step, as JSON.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, thread_time
from typing import Any
from urllib.parse import unquote, urlsplit

from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from server import Files

from crawler import build_crawl as building
from crawler.build_crawl import crawl_of
from crawler.frontier.host_limits import LimitSettings
from crawler.metadata.language import language
from crawler.metadata.record_readers import READERS
from crawler.outcomes import Code, Outcome
from crawler.page.page import Page
from crawler.pipelines import ExtractPipeline, StorePipeline
from crawler.spiders.request_scheduler import FrontierScheduler
from crawler.spiders.topic import TopicSpider
from crawler.spiders.topic_tracker import TopicTracker

START = "http://127.0.0.1/"
PARSE, WALK, EXTRACTION = "decode and tree", "blocks, links, images", "extraction"
JUDGE, LINKS, STORE = "language, date, relevance", "links and requests", "pipelines and store"
SERIAL = "transactions"
"""What the workers of one database do one after the other."""


class Clock:
    """CPU time by step; a step inside another one stops the outer one's time."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("", PARSE, WALK, EXTRACTION, JUDGE, LINKS, STORE, SERIAL), 0.0)
        self._running = [""]
        self._since = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self._charge()
        self._running.append(name)
        try:
            yield
        finally:
            self._charge()
            self._running.pop()

    def _charge(self) -> None:
        now = thread_time()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time charged to a step."""

        def run(*args: Any, **named: Any) -> Any:
            with self.step(name):
                return function(*args, **named)

        return run


def wrap(clock: Clock) -> None:
    """Have the clock told of every step inside `parse` and the pipelines of crawls built from now on."""
    for name, step in {
        "_is_clean": PARSE,
        "_decoded": PARSE,
        "_parsed": PARSE,
        "_contents": WALK,
        "_targets": WALK,
    }.items():
        computed = vars(Page)[name]
        computed.func = clock.timed(step, computed.func)
    made = building.favouring
    building.favouring = lambda *given: clock.timed(EXTRACTION, made(*given))
    TopicTracker.judge = clock.timed(JUDGE, TopicTracker.judge)  # type: ignore[method-assign]
    READERS.update({name: clock.timed(JUDGE, READERS[name]) for name in ("language", "author", "published")})


def started(output: str) -> Crawler:
    """A crawler that is set up but never run."""
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    settings.update({"OUTPUT_DIR": output}, priority="cmdline")
    crawler = Crawler(TopicSpider, settings, init_reactor=True)
    crawler.spider = crawler._create_spider(seeds=START, render="never")
    crawler._apply_settings()
    crawl_of(crawler).frontier.limits.settings = LimitSettings(32)  # there is no downloader to tell the pause of
    return crawler


def crawl(files: Files, clock: Clock, crawler: Crawler) -> int:
    """Go through the site as topic does, without a network; how many pages there were."""
    spider, parts = crawler.spider, crawl_of(crawler)
    assert isinstance(spider, TopicSpider)
    scheduler, frontier = FrontierScheduler.from_crawler(crawler), parts.frontier
    parts.session.committer.in_transaction = clock.timed(  # type: ignore[method-assign]
        SERIAL, parts.session.committer.in_transaction
    )
    pipelines: list[Any] = [ExtractPipeline.from_crawler(crawler), StorePipeline.from_crawler(crawler)]
    while not frontier.over:
        with clock.step(STORE):
            answer = parts.session.committer.commit(frontier.batch(monotonic()))
            news = frontier.apply_reply(answer, monotonic())
        frontier.update_priorities(parts.learning.apply(answer, news))
        while not frontier.needs_batch:
            with clock.step(LINKS):
                request = scheduler.next_request()
            if request is None:
                break
            sent, is_page = files.answer(unquote(urlsplit(request.url).path))
            if not is_page:
                spider.skip(request, Outcome(Code.HTTP_STATUS, "404"))
                continue
            headers = {"Content-Type": "text/html"}
            body = sent.partition(b"\r\n\r\n")[2]
            response = HtmlResponse(request.url, body=body, headers=headers, request=request)
            with clock.step(LINKS):
                for item in spider.parse(response):
                    with clock.step(STORE):
                        for pipeline in pipelines:
                            pipeline.process_item(item)
    parts.session.leave()
    return frontier.pages


def measure(folder: Path) -> tuple[int, dict[str, float]]:
    """The pages of a site, and the milliseconds a page of each step."""
    files, clock = Files(folder), Clock()
    language("The model of languages takes its time to load, which is no page's fault.")
    with TemporaryDirectory() as output:
        wrap(clock)
        crawler = started(output)
        pages = crawl(files, clock, crawler)
    return pages, {name: 1000 * seconds / max(1, pages) for name, seconds in clock.seconds.items() if name}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
