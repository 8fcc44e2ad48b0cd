"""`scrapy focus report`: how well crawls kept to their topics, as text and as one HTML file."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler import __version__
from crawler.cli import Subcommand, WrongUseError
from crawler.cli.options import share, state_url
from crawler.cli.saved_pages import check_apart, readable
from crawler.config import canonical_of
from crawler.files import AtomicFile, OutputError
from crawler.reports.focus_report import CrawlFocus, text_report
from crawler.reports.focus_report import crawl_focus as kept_of
from crawler.reports.focus_report import html_report as html
from crawler.reports.pages import CrawlPages, crawls_with_pages
from crawler.reports.truth import Truth, truth_of
from crawler.store.database import StateError, display_url
from crawler.topic.harvest import ON_TOPIC
from crawler.translation.message import counted, printable

BROKEN = 1
MOST_NAMES = 10


def report(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print how well all crawls kept to their topics, or one of them; the exit status."""
    if args:
        raise WrongUseError(f"{args[0][:200]!r} is too much; it is scrapy focus report {REPORT.syntax}")
    limit = opts.min_relevance
    url = state_url(settings)
    known = truth(opts.truth, settings)
    inputs = [Path(str(url.database))] if url.drivername == "sqlite" else []
    check_apart(opts.output, [path for path in (*inputs, *([Path(opts.truth)] if opts.truth else [])) if path.exists()])
    output = opened(opts.output)
    try:
        kept = read(url, opts.name, limit, known)
        if output is not None:
            write(output, kept, limit)
    except OutputError as error:
        print(f"scrapy focus report: {printable(str(error))}", file=sys.stderr)
        return BROKEN
    finally:
        if output is not None:
            output.discard()
    print("\n\n".join(spelled("\n".join(text_report(one))) for one in kept))
    return 0


def opened(path: str | None) -> AtomicFile | None:
    """The file for the report, before anything is read for it; None where none is wanted."""
    if path is None:
        return None
    if not path:
        raise WrongUseError("-o names no file")
    try:
        return AtomicFile(path)
    except OutputError as error:
        raise WrongUseError(str(error)) from None


def read(url: URL, name: str | None, limit: float, known: Truth | None) -> list[CrawlFocus]:
    """How all crawls kept to their topics that have a page, or the one of this name."""
    with crawls_with_pages(url) as crawls:
        if not crawls:
            raise WrongUseError(f"no crawl was ever run here ({display_url(url)})")
        wanted = [one for one in crawls if name is None or one.name == name]
        if not wanted:
            raise WrongUseError(f"there is no crawl {str(name)[:200]!r}; there are {_names(crawls)}")
        found = [kept for one in wanted if (kept := kept_of(one, limit, known)) is not None]
        if not found:
            raise WrongUseError(f"no page is stored of {_names(wanted)}")
        return found


def write(output: AtomicFile, kept: Sequence[CrawlFocus], limit: float) -> None:
    """Write the report as HTML."""
    output.write(html(kept, limit, __version__, datetime.now(UTC).date()).encode())
    output.finish()


def truth(name: str | None, settings: BaseSettings) -> Truth | None:
    """The addresses of a file, one in each line, that are on topic; None without a file."""
    if name is None:
        return None
    try:
        same = canonical_of(settings)
        with readable(name).open(encoding="utf-8-sig") as lines:
            found = truth_of(lines, same)
    except UnicodeDecodeError:
        raise WrongUseError(f"{name[:200]!r} is not UTF-8") from None
    except StateError as error:
        raise WrongUseError(error.message) from None
    if found.faults:
        rest = f" and {len(found.faults) - 1:,} more" if len(found.faults) > 1 else ""
        print(
            f"scrapy focus report: {printable(name)}: line {found.faults[0]:,}{rest}: no address, left out",
            file=sys.stderr,
        )
    if not found.addresses:
        raise WrongUseError(f"{name[:200]!r} holds no address")
    return found


def spelled(text: str) -> str:
    """The text with what is no letter, sign or line end spelled out: what was crawled moves no cursor.

    >>> spelled("a\\u202eb\\n")
    'a\\\\u202eb\\n'
    """
    return "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text)


def _names(crawls: Sequence[CrawlPages]) -> str:
    rest = f" and {counted(len(crawls) - MOST_NAMES, 'other')}" if len(crawls) > MOST_NAMES else ""
    return ", ".join(one.name for one in crawls[:MOST_NAMES]) + rest


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what may stand behind `scrapy focus report`."""
    parser.add_argument("--name", metavar="NAME")
    parser.add_argument("-o", dest="output", metavar="FILE")
    parser.add_argument("--min-relevance", metavar="X", type=share, default=ON_TOPIC)
    parser.add_argument("--truth", metavar="FILE")


REPORT = Subcommand("[--name NAME] [-o FILE.html] [--min-relevance X] [--truth FILE]", report, add_options)
