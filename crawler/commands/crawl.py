"""`scrapy crawl topic`: checks the arguments before anything starts, crawls, and sets the exit status."""

import argparse
import importlib
import logging
import sys
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings, default_settings
from scrapy.spiderloader import get_spider_loader

from crawler import settings as our_settings
from crawler.command_line.command import translate_argparse, translate_help
from crawler.command_line.stop_signals import ignore_repeats
from crawler.command_line.terminal import FAILED, INTERRUPTED, WrongUseError, printable, refuse
from crawler.translation.message import Message, MessageError, localized
from crawler.translation.program import is_winnow

SPIDER = "topic"
CALLED = "winnow crawl" if is_winnow() else "crawl topic"
COMPONENTS = (
    *("ADDONS", "DOWNLOADER_MIDDLEWARES", "DOWNLOAD_HANDLERS", "EXTENSIONS", "FEED_EXPORTERS", "FEED_STORAGES"),
    *("ITEM_PIPELINES", "SPIDER_MIDDLEWARES"),
)


class Command(CrawlCommand):
    """Scrapy's crawl command; wrong arguments and settings end it with one line and status 2."""

    def short_desc(self) -> str:
        return localized(Message(super().short_desc()))

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        translate_argparse()
        super().add_options(parser)
        translate_help(parser)
        of_scrapy = parser.format_help
        parser.format_help = lambda: f"{of_scrapy()}\n{argument_help()}"  # type: ignore[method-assign]
        parser.error = lambda message: refuse(Message(message), CALLED)  # type: ignore[method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        ignore_repeats()
        try:
            super().process_options(args, opts)
            if args and args[0] != SPIDER:
                assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
                if args[0] in get_spider_loader(self.settings).list():
                    return
                refuse(
                    Message(
                        "there is no spider {name}; there is topic: scrapy crawl topic -a seeds=demo",
                        {"name": repr(args[0])},
                    )
                )
            if len(args) > 1:
                raise WrongUseError(
                    "{given} is not recognized; give arguments as -a NAME=VALUE, in quotes if VALUE has spaces",
                    given=repr(args[1]),
                )
            if args:
                from crawler.arguments import parse

                self.arguments = parse(self.given(opts))
                self.prepare(opts)
        except UsageError as error:
            refuse(Message(str(error)))
        except MessageError as error:
            refuse(error.message, CALLED)
        except KeyboardInterrupt:
            refuse(Message("Stopped before the first page."), status=INTERRUPTED)

    def given(self, opts: argparse.Namespace) -> dict[str, Any]:
        found: dict[str, Any] = opts.spargs
        return found

    def prepare(self, opts: argparse.Namespace) -> None:
        """Join the crawl; raises an error for the user unless the settings and the output folder can be used."""
        from crawler.build_crawl import has_work, join_crawl
        from crawler.checked_settings import check_crawl
        from crawler.items import PageItem
        from crawler.metadata.language import load_model
        from crawler.spiders.demo_site import check_demo
        from crawler.store.database import DatabaseUnavailableError, state_url

        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        check_crawl(self.settings, self.arguments)
        state_url(self.settings)
        given = {assignment.partition("=")[0] for assignment in opts.set}
        self.unknown = sorted(given - set(vars(default_settings)) - set(vars(our_settings)))
        for name in self.unknown:
            for near in get_close_matches(name, [one for one in vars(our_settings) if one.isupper()], 1, 0.8):
                if not name.endswith(f"_{near}") and not name.startswith(f"{near}_"):  # such as MY_OUTPUT_DIR
                    raise WrongUseError("there is no setting {name}; the nearest is {near}", name=name, near=near)
        for feed in self.settings.getdict("FEEDS").values():
            feed.setdefault("item_classes", [PageItem])  # images have their own list
        _check_writable(Path(self.settings["OUTPUT_DIR"]), self.arguments.name)
        if self.arguments.lang:  # pages are dropped by their language, so the model must be there
            try:
                load_model()
            except OSError as error:
                raise WrongUseError(
                    "the language model cannot be unpacked in a temporary file ({why})", why=error.strerror
                ) from None
        try:
            self.session = join_crawl(self.arguments, self.settings)
            if (other_seeds := self.session.other_seeds()) is not None:
                print(printable(localized(other_seeds)), file=sys.stderr)
            self.left = has_work(self.session, self.arguments)
            if self.left and self.arguments.demo:
                check_demo(self.session)
        except DatabaseUnavailableError as error:
            refuse(error.message, CALLED, FAILED)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args[:1] != [SPIDER]:
            super().run(args, opts)
            return
        from crawler.build_crawl import has_failed, prepare_process

        assert self.crawler_process is not None  # noqa: S101 - Scrapy has made it by now
        if not self.left:
            print(printable(localized(self.session.finished_message())), file=sys.stderr)
            self.session.leave()
            return
        prepare_process(self.crawler_process.settings)
        for name in [] if has_other_components(self.crawler_process.settings) else self.unknown:
            logging.getLogger(__name__).warning("Nothing here reads the setting %s: is it misspelt?", name)
        try:
            crawler = self._create_crawler(SPIDER)
            # Not before the reactor runs, as Scrapy sets its handlers when it starts.
            importlib.import_module("twisted.internet.reactor").callLater(0, ignore_repeats)
            self.crawler_process.crawl(crawler, session=self.session, **self.given(opts))
            self.crawler_process.start()
        except KeyboardInterrupt:  # Scrapy handles signals from its start on
            self.exitcode = INTERRUPTED
            return
        finally:
            if self.session.is_open:  # stopped before the crawl had begun, or by a second signal
                print(localized(Message("Stopped before the end; the same command continues.")), file=sys.stderr)
                self.session.leave()
        if self.crawler_process.bootstrap_failed or has_failed(crawler):
            self.exitcode = FAILED


def argument_help() -> str:
    """The meaning and default of each argument of the spider."""
    from crawler.arguments import ARGUMENTS

    parser = argparse.ArgumentParser(add_help=False, usage=argparse.SUPPRESS)
    group = parser.add_argument_group(localized(Message("arguments of the spider topic, each given as -a NAME=VALUE")))
    for name, one in ARGUMENTS.items():
        group.add_argument(name, help=one.help())
    return parser.format_help()


def has_other_components(settings: BaseSettings) -> bool:
    """Whether components are set that are neither ours nor Scrapy's: they may read settings of their own."""
    found = {one for name in COMPONENTS for pair in settings.getdict(name).items() for one in pair}
    modules = {one if isinstance(one, str) else getattr(one, "__module__", "") for one in found}
    return any("." in module and module.partition(".")[0] not in ("crawler", "scrapy") for module in modules)


def _check_writable(folder: Path, name: str) -> None:
    """Raise a WrongUseError if the folder cannot be written to or created, or the output is not a regular file."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    output = folder / f"{name}.jsonl"
    try:
        with TemporaryFile(dir=place):
            pass
        if output.exists() and not output.is_file():
            raise WrongUseError("{path} is not a file; give another -a name=NAME", path=repr(str(output)))
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUseError(
            "setting OUTPUT_DIR={path} cannot be written to ({why})", path=repr(str(folder)), why=error.strerror
        ) from None
