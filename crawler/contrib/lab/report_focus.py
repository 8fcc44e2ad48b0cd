"""`winnow focus report`: how well crawls kept to their topics, printed and as one HTML file."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler import __version__
from crawler.atomic_files import AtomicFile, check_apart, readable_file
from crawler.checked_settings import canonical_of
from crawler.command_line.terminal import say, spelled
from crawler.contrib.lab.focus_data import Truth, crawls_with_pages, truth_of
from crawler.contrib.lab.focus_report import CrawlFocus, crawl_focus, html_report, text_report
from crawler.errors import WrongUseError
from crawler.reports.crawls import check_name, name_list
from crawler.store.database import state_url
from crawler.translation.message import N_, Message, user_catalogue


def report(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the reports of all crawls or of one; returns the exit status."""
    limit = opts.min_relevance
    url = state_url(settings)
    known_truth = truth(opts.truth, settings)
    inputs = []
    if url.drivername == "sqlite":
        inputs.append(Path(str(url.database)))
    if opts.truth:
        inputs.append(Path(opts.truth))
    check_apart(opts.output, [path for path in inputs if path.exists()])
    output = (
        None if opts.output is None else AtomicFile(opts.output)
    )  # opened before the database is read, to fail early
    try:
        reports = read(url, opts.name, limit, known_truth)
        if output is not None:
            output.write(html_report(reports, limit, __version__, datetime.now(UTC).date(), user_catalogue()).encode())
            output.finish()
    finally:
        if output is not None:
            output.discard()
    print("\n\n".join("\n".join(map(spelled, text_report(crawl_report, user_catalogue()))) for crawl_report in reports))
    return 0


def read(url: URL, name: str | None, limit: float, known_truth: Truth | None) -> list[CrawlFocus]:
    """The reports of all crawls with pages, or of the one of this name."""
    with crawls_with_pages(url) as crawls:
        check_name([crawl.name for crawl in crawls], name, url)
        chosen = [crawl for crawl in crawls if name in (None, crawl.name)]
        reports = [focus for focus in (crawl_focus(crawl, limit, known_truth) for crawl in chosen) if focus is not None]
        if not reports:
            raise WrongUseError("no page of {names} is stored", names=name_list([crawl.name for crawl in chosen]))
        return reports


def truth(name: str | None, settings: BaseSettings) -> Truth | None:
    """Read a truth list from a file with one address on each line; None without a file."""
    if name is None:
        return None
    try:
        same = canonical_of(settings)
        with readable_file(name).open(encoding="utf-8-sig") as lines:
            truth_list = truth_of(lines, same)
    except UnicodeDecodeError:
        raise WrongUseError("{path} is not UTF-8", path=repr(name[:200])) from None
    if truth_list.faults:
        faults = truth_list.faults
        values = {"path": name, "line": f"{faults[0]:,}", "n": f"{len(faults) - 1:,}"}
        one_line = N_("{path}: line {line}: no address, left out")
        several = N_("{path}: line {line} and {n} more: no address, left out")
        say("focus report", Message(several if len(faults) > 1 else one_line, values))
    if not truth_list.addresses:
        raise WrongUseError("{path} contains no address", path=repr(name[:200]))
    return truth_list
