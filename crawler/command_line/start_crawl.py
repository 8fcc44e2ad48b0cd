"""Starts a crawl from the command line: checks everything, joins the crawl, runs it, and returns how it ended."""

import importlib
import logging
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.settings import BaseSettings, default_settings

from crawler import settings as our_settings
from crawler.arguments import SPIDER, Arguments
from crawler.build_crawl import begin_round, has_failed, join_crawl, prepare_process
from crawler.checked_settings import check_crawl, has_other_components
from crawler.command_line.stop_signals import ignore_repeats
from crawler.command_line.terminal import FAILED, INTERRUPTED, printable, refuse
from crawler.errors import DatabaseUnavailableError, WrongUseError
from crawler.items import PageItem
from crawler.metadata.language import load_model
from crawler.spiders.demo_site import check_demo
from crawler.store.database import state_url
from crawler.store.worker_session import WorkerSession
from crawler.translation.message import Message, localized
from crawler.translation.nearest import nearest_name

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PreparedCrawl:
    """A crawl that this process has joined."""

    session: WorkerSession
    has_work: bool
    """False if the crawl is finished and no page is due for a new round."""
    unknown_settings: Collection[str]
    """Settings from the command line that neither Scrapy nor the crawler defines."""

    def run(
        self,
        process: CrawlerProcess,
        create_crawler: Callable[[str], Crawler],
        arguments: Mapping[str, object],
    ) -> int:
        """Crawl until the end; returns the exit status."""
        if not self.has_work:
            print(printable(localized(self.session.finished_message())), file=sys.stderr)
            self.session.leave()
            return 0
        prepare_process(process.settings)
        if not has_other_components(process.settings):  # components of other packages may read unknown settings
            for name in self.unknown_settings:
                logger.warning("Nothing here reads the setting %s: is it misspelt?", name)
        try:
            crawler = create_crawler(SPIDER)
            # Scrapy installs its own handlers of signals when it starts, so they are wrapped once the reactor runs.
            importlib.import_module("twisted.internet.reactor").callLater(0, ignore_repeats)
            process.crawl(crawler, session=self.session, **arguments)
            process.start()
        except KeyboardInterrupt:  # before Scrapy has installed its handlers
            return INTERRUPTED
        finally:
            if self.session.is_open:  # the crawl was stopped before it had begun, or by a second signal
                print(localized(Message("Stopped before the end; the same command continues.")), file=sys.stderr)
                self.session.leave()
        if process.bootstrap_failed or has_failed(crawler):
            return FAILED
        return 0


def prepare_crawl(arguments: Arguments, settings: BaseSettings, assigned_settings: Collection[str]) -> PreparedCrawl:
    """Join the crawl; raises an error for the user unless the settings and the output folder can be used."""
    check_crawl(settings, arguments)
    state_url(settings)  # raises an error if STATE_URL is wrong
    unknown_settings = _unknown_settings(assigned_settings)
    for feed in settings.getdict("FEEDS").values():
        feed.setdefault("item_classes", [PageItem])  # images have other fields, so feeds leave them out
    _check_writable(Path(settings["OUTPUT_DIR"]), arguments.name)
    if arguments.lang:
        _load_language_model()
    try:
        session = join_crawl(arguments, settings)
        for sentence in (session.other_seeds_message(), session.erased_seeds_message()):
            if sentence is not None:
                print(printable(localized(sentence)), file=sys.stderr)
        has_work = begin_round(session, arguments)
        if has_work and arguments.demo:
            check_demo(session)
    except DatabaseUnavailableError as error:
        refuse(error.message, "crawl", FAILED)
    return PreparedCrawl(session, has_work, unknown_settings)


def _unknown_settings(names: Collection[str]) -> list[str]:
    """The names that are no settings; raises a WrongUseError for a name that resembles a setting of Winnow."""
    unknown = sorted(set(names) - set(vars(default_settings)) - set(vars(our_settings)))
    own_names = [name for name in vars(our_settings) if name.isupper()]
    for name in unknown:
        near = nearest_name(name, own_names, least=0.8)
        # A name that contains the whole other name, such as MY_OUTPUT_DIR, is no misspelling.
        if near is None or name.endswith(f"_{near}") or name.startswith(f"{near}_"):
            continue
        raise WrongUseError("there is no setting {name}; the nearest is {near}", name=name, near=near)
    return unknown


def _load_language_model() -> None:
    """Load the model that recognizes languages; raises a WrongUseError if it cannot be unpacked."""
    try:
        load_model()
    except OSError as error:
        raise WrongUseError(
            "the language model cannot be unpacked in a temporary file ({why})", why=error.strerror
        ) from None


def _check_writable(folder: Path, name: str) -> None:
    """Raise a WrongUseError if the folder cannot be written to or created, or the output is not a regular file.

    The output of a crawl is NAME.jsonl in the folder.
    """
    existing_folder = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    output = folder / f"{name}.jsonl"
    try:
        with TemporaryFile(dir=existing_folder):
            pass
        if output.exists() and not output.is_file():
            raise WrongUseError("{path} is not a file; give another -a name=NAME", path=repr(str(output)))
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUseError(
            "setting OUTPUT_DIR={path} cannot be written to ({why})", path=repr(str(folder)), why=error.strerror
        ) from None
