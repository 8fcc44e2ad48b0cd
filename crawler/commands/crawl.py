"""`winnow crawl`: checks the arguments before anything starts, crawls, and sets the exit status."""

import argparse
from pkgutil import resolve_name
from typing import Any

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from crawler.command_line import command
from crawler.command_line.terminal import INTERRUPTED, refuse
from crawler.errors import MessageError, WrongUseError
from crawler.settings import SPIDER_MODULES
from crawler.translation.message import Message

SPIDER = "topic"  # as in crawler/arguments.py, which is not imported here: Scrapy loads this module for every command


class Command(command.Command, CrawlCommand):
    """Scrapy's crawl command, with the arguments of the spider topic as options."""

    requires_crawler_process = True

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        try:
            self.spider, seeds = self._spider_and_seeds(opts)
            if self.spider != SPIDER:
                return
            if seeds:
                opts.spargs["seeds"] = ",".join(seeds)
            # Imported only now: the second one is slow, and not needed if an argument is wrong.
            arguments = resolve_name("crawler.arguments:parse")(self.arguments(opts))
            prepare_crawl = resolve_name("crawler.command_line.start_crawl:prepare_crawl")
            self.crawl = prepare_crawl(arguments, self.settings, self.assigned_settings(opts))
        except MessageError as error:
            self.refuse(error.message)
        except KeyboardInterrupt:
            refuse(Message("Stopped before the first page."), status=INTERRUPTED)

    def _spider_and_seeds(self, opts: argparse.Namespace) -> tuple[str, list[str]]:
        """The name of the spider, which the user may omit if it is topic, and the words after it."""
        words: list[str] = opts.words
        if words and words[0] != SPIDER:
            assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
            has_others = self.settings.getlist("SPIDER_MODULES") != SPIDER_MODULES
            if has_others and words[0] in get_spider_loader(self.settings).list():
                return words[0], words[1:]
        names_spider = words[:1] == [SPIDER]
        seeds = words[1:] if names_spider else words
        has_all_seeds = "seeds" in opts.spargs
        if has_all_seeds and seeds and not names_spider:
            raise WrongUseError("there is no spider {name}; there is topic", name=repr(seeds[0]))
        for seed in seeds:
            is_assignment = "=" in seed and seed.partition("=")[0].isidentifier()
            if has_all_seeds or is_assignment:
                raise WrongUseError(
                    "{given} is not recognized; give arguments as -a NAME=VALUE, in quotes if VALUE has spaces",
                    given=repr(seed),
                )
        return SPIDER, seeds

    def arguments(self, opts: argparse.Namespace) -> dict[str, Any]:
        """The arguments of the crawl, not yet parsed."""
        arguments: dict[str, Any] = opts.spargs
        return arguments

    def assigned_settings(self, opts: argparse.Namespace) -> set[str]:
        """The names of the settings that the user gives to this crawl."""
        return {assignment.partition("=")[0] for assignment in opts.set}

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.spider != SPIDER:
            try:
                CrawlCommand.run(self, opts.words, opts)
            except UsageError as error:
                self.refuse(Message(str(error)))
            return
        self.exitcode = self.crawl.run(self.crawler_process, self._create_crawler, self.arguments(opts))
