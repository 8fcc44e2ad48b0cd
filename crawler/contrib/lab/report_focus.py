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
from crawler.contrib.lab.focus_data import Truth, readable_crawls, truth_of
from crawler.contrib.lab.focus_report import CrawlFocus, crawl_focus, html_report, text_report
from crawler.errors import WrongUseError
from crawler.reports.crawls import check_name, name_list
from crawler.store.database import state_url
from crawler.translation.message import N_, Message, user_catalogue


def report(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the reports of all crawls or of one; returns the exit status."""
    limit = opts.min_relevance
    url = state_url(settings)
    truth = read_truth(opts.truth, settings)
    inputs = []
    if url.drivername == "sqlite":
        inputs.append(Path(str(url.database)))
    if opts.truth:
        inputs.append(Path(opts.truth))
    check_apart(opts.output, [path for path in inputs if path.exists()])

    # The output is opened first, so that an error appears before the database is read.
    output = AtomicFile(opts.output) if opts.output is not None else None
    try:
        reports = read_reports(url, opts.name, limit, truth)
        if output is not None:
            output.write(html_report(reports, limit, __version__, datetime.now(UTC).date(), user_catalogue()).encode())
            output.finish()
    finally:
        if output is not None:
            output.discard()
    print("\n\n".join("\n".join(map(spelled, text_report(crawl_report, user_catalogue()))) for crawl_report in reports))
    return 0


def read_reports(url: URL, name: str | None, limit: float, truth: Truth | None) -> list[CrawlFocus]:
    """The reports of all crawls with pages, or of the crawl with this name; raises a WrongUseError without pages."""
    with readable_crawls(url) as crawls:
        check_name([crawl.name for crawl in crawls], name, url)
        chosen = [crawl for crawl in crawls if name in (None, crawl.name)]
        reports = []
        for crawl in chosen:
            focus = crawl_focus(crawl, limit, truth)
            if focus is not None:
                reports.append(focus)
        if not reports:
            raise WrongUseError("no page of {names} is stored", names=name_list([crawl.name for crawl in chosen]))
        return reports


def read_truth(name: str | None, settings: BaseSettings) -> Truth | None:
    """Read a truth list from a file with one address on each line; None without a file."""
    if name is None:
        return None
    try:
        with readable_file(name).open(encoding="utf-8-sig") as lines:
            truth_list = truth_of(lines, canonical_of(settings))
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
