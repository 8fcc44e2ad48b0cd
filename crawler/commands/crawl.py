"""`scrapy crawl topic`: the arguments are checked before anything starts, the outcome is the exit status."""

import argparse
import gc
import logging
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError

from crawler import settings as our_settings
from crawler.addresses import AllowList
from crawler.arguments import ArgumentError, parse
from crawler.extraction import EXTRACTORS
from crawler.items import PageItem
from crawler.spiders.topic import TopicSpider

# What Scrapy says of itself at every start; -L DEBUG shows it.
NOISY = ("scrapy.addons", "scrapy.middleware", "scrapy.crawler")
LOG_LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")

# New objects until Python looks for circles among them; its own 700 costs a crawl a tenth of its time.
GARBAGE_THRESHOLD = 50_000


class Command(CrawlCommand):
    """Scrapy's crawl command, which ends with one line and status 2 when what it was given cannot be right."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            super().process_options(args, opts)
            if args[:1] == [TopicSpider.name]:
                self.check(opts)
        except UsageError as error:
            _refuse(str(error))
        except ArgumentError as error:
            _refuse(f"crawl topic: {error}")

    def check(self, opts: argparse.Namespace) -> None:
        """Raise an ArgumentError unless the arguments, the settings and the place for the output will do."""
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        for name, default in vars(our_settings).items():
            if name.isupper() and isinstance(default, int | float):
                _check_number(name, self.settings[name], default)
        _check_choice("EXTRACTOR", self.settings["EXTRACTOR"], EXTRACTORS)
        _check_choice("LOG_LEVEL", self.settings["LOG_LEVEL"], LOG_LEVELS)
        try:
            AllowList(self.settings.getlist("ALLOWED_PRIVATE_HOSTS"))
        except ValueError as error:
            raise ArgumentError(f"ALLOWED_PRIVATE_HOSTS: {error}") from None
        parse(opts.spargs)
        for feed in self.settings.getdict("FEEDS").values():
            feed.setdefault("item_classes", [PageItem])  # pictures have a list of their own
        _check_writable(Path(self.settings["OUTPUT_DIR"]))

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args[:1] != [TopicSpider.name]:
            super().run(args, opts)
            return
        assert self.crawler_process is not None  # noqa: S101 - Scrapy has made it by now
        level = self.crawler_process.settings["LOG_LEVEL"]
        logging.getLogger().setLevel(level)  # what is not shown is not written up either
        if level == our_settings.LOG_LEVEL:
            for name in NOISY:
                logging.getLogger(name).setLevel(logging.WARNING)
        gc.freeze()  # what is loaded stays; and a page makes thousands of objects, few of them in circles
        gc.set_threshold(GARBAGE_THRESHOLD)
        crawler = self._create_crawler(TopicSpider.name)
        self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        spider = crawler.spider
        failed = isinstance(spider, TopicSpider) and bool(spider.seeds_failed) and not spider.seeds_answered
        if self.crawler_process.bootstrap_failed or failed:
            self.exitcode = 1


def _check_choice(name: str, value: str, allowed: Iterable[str]) -> None:
    if value not in allowed:
        raise ArgumentError(f"setting {name}={value!r} is wrong; allowed are {', '.join(allowed)}")


def _check_number(name: str, value: object, default: float) -> None:
    kind, example = (
        (bool, "True or False") if isinstance(default, bool) else (type(default), f"a number such as {default}")
    )
    try:
        number = {"true": 1, "false": 0}.get(str(value).lower(), value) if kind is bool else value
        if float(number) >= 0:  # type: ignore[arg-type]
            return
    except (TypeError, ValueError):
        pass
    raise ArgumentError(f"setting {name}={str(value)[:100]!r} is wrong; allowed is {example}")


def _check_writable(folder: Path) -> None:
    """Raise an ArgumentError when the folder can be neither written to nor made."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise ArgumentError(f"setting OUTPUT_DIR={str(folder)!r} cannot be written to ({error.strerror})") from None


def _refuse(message: str) -> NoReturn:
    print(" ".join(message.split()), file=sys.stderr)
    sys.exit(2)
