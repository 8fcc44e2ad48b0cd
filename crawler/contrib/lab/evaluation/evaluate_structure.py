"""`winnow evaluate --structure`: judges the Markdown that programs make of pages.

The programs are Winnow and, if they are installed, others.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from crawler.contrib.lab.evaluation.program_tables import Row, print_tables
from crawler.contrib.lab.evaluation.structure_scores import PARTS, scores
from crawler.contrib.lab.evaluation.text_metrics import mean
from crawler.extraction.auto import auto
from crawler.noise.page_markdown import page_markdown
from crawler.page.page import Page


def _winnow(html: str, url: str) -> str:
    page = Page.from_html(html, url)
    return page_markdown(page, auto(page))


def _trafilatura(html: str, url: str) -> str:
    module = import_module("trafilatura")
    markdown = module.extract(html, url=url or None, output_format="markdown", include_formatting=True)
    return markdown or ""


def _readability(html: str, url: str) -> str:
    summary = import_module("readability").Document(html, url=url or None).summary()
    return str(import_module("markdownify").markdownify(summary, heading_style="ATX"))


PROGRAMS: dict[str, tuple[tuple[str, ...], Callable[[str, str], str]]] = {
    "winnow": ((), _winnow),
    "trafilatura": (("trafilatura",), _trafilatura),
    "readability + markdownify": (("readability", "markdownify"), _readability),
}
"""By name, the modules that each program needs, and the function from a page's source and address to Markdown."""


def evaluate(paths: list[Path]) -> int:
    """Judge the Markdown of the pages of files, and print a table for each file; returns the exit status."""
    return print_tables(paths, _fault, _rows, {0})


def _fault(row: Row) -> str:
    if all(isinstance(row.get(name), str) for name in ("html", "gold_markdown")):
        return ""
    return "html and gold_markdown must be there and be text"


def _rows(pages: list[Row]) -> Iterator[tuple[str, ...]]:
    """The head of the table, and a row for each installed program."""
    programs = {name: to_markdown for name, (modules, to_markdown) in PROGRAMS.items() if all(map(find_spec, modules))}
    scores_by_program: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = defaultdict(float)
    for page in pages:
        for name, to_markdown in programs.items():
            started = time.process_time()
            markdown = to_markdown(page["html"], str(page.get("url") or ""))
            seconds[name] += time.process_time() - started
            for part, score in scores(markdown, page["gold_markdown"]).items():
                if score is not None:
                    scores_by_program[name][part].append(score)

    yield ("program", *(f"{part} (pages)" for part in PARTS), "ms a page")
    for name in programs:
        scores_by_part = [scores_by_program[name][part] for part in PARTS]
        cells = [f"{mean(part_scores) or 0:.3f} ({len(part_scores):,})" for part_scores in scores_by_part]
        yield (name, *cells, f"{1000 * seconds[name] / len(pages):.1f}")
