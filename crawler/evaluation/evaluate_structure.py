"""`scrapy evaluate --structure`: judges Markdown, beside that of other programs if they are installed."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from crawler.command_line.terminal import FAILED, printable, say
from crawler.evaluation.gold import objects
from crawler.evaluation.structure_scores import PARTS, scores
from crawler.evaluation.text_metrics import mean
from crawler.extraction.auto import auto
from crawler.noise.page_markdown import page_markdown
from crawler.page.page import Page
from crawler.reports.html_page import aligned

CALLED = "scrapy evaluate"

Row = dict[str, str]


def _winnow(html: str, url: str) -> str:
    page = Page.from_html(html, url)
    return page_markdown(page, auto(page))


def _trafilatura(html: str, url: str) -> str:
    module = import_module("trafilatura")
    found = module.extract(html, url=url or None, output_format="markdown", include_formatting=True)
    return found or ""


def _readability(html: str, url: str) -> str:
    summary = import_module("readability").Document(html, url=url or None).summary()
    return str(import_module("markdownify").markdownify(summary, heading_style="ATX"))


PROGRAMS: dict[str, tuple[tuple[str, ...], Callable[[str, str], str]]] = {
    "winnow": ((), _winnow),
    "trafilatura": (("trafilatura",), _trafilatura),
    "readability + markdownify": (("readability", "markdownify"), _readability),
}
"""Each with the modules that it needs."""


def evaluate(paths: list[Path]) -> int:
    """Judge the Markdown of the pages of files, and print a table for each file; returns the exit status."""
    status = 0
    programs = [name for name, (needed, _) in PROGRAMS.items() if all(map(find_spec, needed))]
    for path in paths:
        pages, faults = _pages(path)
        for fault in faults:
            say(CALLED, fault)
            status = FAILED
        if pages:
            print(f"{path.name}: {len(pages):,} pages")
            print("\n".join(map(printable, aligned([*_rows(pages, programs)], {0}))), end="\n\n")
    return status


def _pages(path: Path) -> tuple[list[Row], list[str]]:
    """The pages of a file with their Markdown, and what is wrong with other lines."""
    pages, faults = [], []
    for number, row in objects(path):
        if isinstance(row, str):
            faults.append(f"{path}:{number}: {row}")
        elif not all(isinstance(row.get(name), str) for name in ("html", "gold_markdown")):
            faults.append(f"{path}:{number}: html and gold_markdown must be there and be text")
        else:
            pages.append(row)
    return pages, faults


def _rows(pages: list[Row], programs: list[str]) -> Iterator[tuple[str, ...]]:
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = defaultdict(float)
    for page in pages:
        for name in programs:
            started = time.process_time()
            made = PROGRAMS[name][1](page["html"], str(page.get("url") or ""))
            seconds[name] += time.process_time() - started
            for part, score in scores(made, page["gold_markdown"]).items():
                if score is not None:
                    found[name][part].append(score)
    yield ("program", *(f"{part} (pages)" for part in PARTS), "ms a page")
    for name in programs:
        cells = (f"{mean(found[name][part]) or 0:.3f} ({len(found[name][part]):,})" for part in PARTS)
        yield (name, *cells, f"{1000 * seconds[name] / len(pages):.1f}")
