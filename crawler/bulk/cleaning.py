"""Cleaning of saved pages: raw records in, lines of JSON out, in their order, on any number of processors."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from crawler.archives.records import Broken, BrokenError, Found, NotHtmlError, Raw, Skipped, as_json
from crawler.bulk.parallel import in_order
from crawler.extraction import Extractor
from crawler.extraction.output.markdown import markdown
from crawler.metadata.record_readers import READERS
from crawler.noise.verdict import noise_of
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.page.limits import Cut
from crawler.page.text import one_line

LINE = '{{"id": {}, "url": {}, "text": {}, "title": {}, "method": {}{}}}\n'
MORE = {name: read for name, read in READERS.items() if name not in ("title", "text")}
"""What a line has besides, if that is the wish, as the items of a crawl have it."""


class Cleaned(NamedTuple):
    """A clean page as a line of JSON, and the bytes of the page before and of its text after."""

    line: bytes
    before: int
    after: int
    ended: Cut | None = None
    """The limit after which the page was not read any more."""


Result = Cleaned | Broken | Skipped
Cleaner = Callable[[Found], Result]


@dataclass
class Tally:
    """The results of the records, counted."""

    pages: int = 0
    before: int = 0
    after: int = 0
    broken: int = 0
    skipped: Outcomes = field(default_factory=Outcomes)
    cut: Outcomes = field(default_factory=Outcomes)
    """Pages of which only the beginning was read."""

    def add(self, result: Result) -> None:
        if isinstance(result, Cleaned):
            self.pages += 1
            self.before += result.before
            self.after += result.after
            if result.ended:
                self.cut[Outcome(Code.PAGE_CUT, result.ended)] += 1
        elif isinstance(result, Broken):
            self.broken += 1
        else:
            self.skipped[result.outcome] += 1

    def include(self, other: "Tally") -> None:
        """Count what was counted elsewhere."""
        self.pages += other.pages
        self.before += other.before
        self.after += other.after
        self.broken += other.broken
        self.skipped += other.skipped
        self.cut += other.cut


def clean(found: Found, method: str, extract: Extractor, wish: str, fields: Sequence[str]) -> Result:
    """The clean text of a record, with what else is the wish; never an exception."""
    if not isinstance(found, Raw):
        return found
    try:
        record = found.decode(found)
        extraction = extract(record.page)
        more = {name: MORE[name](record.page, extraction) for name in fields}
        if wish != "no":
            more["markdown"] = markdown(
                record.page, extraction.blocks, wish == "links", noise_of(record.page, extraction)
            )
    except NotHtmlError as error:
        return Skipped(Outcome(Code.NOT_HTML, str(error)))
    except BrokenError as error:
        return Broken(found.place, str(error))
    except Exception as error:  # a page must not cost the others, whatever is wrong with it or with a method
        return Broken(found.place, f"it cannot be cleaned ({type(error).__name__}: {error})")
    values = as_json(extraction.text), as_json(extraction.title), as_json(method)
    others = [f', "{name}": {_json(value)}' for name, value in more.items()]
    line = LINE.format(record.id, record.url, *values, "".join(others))
    sizes = len(record.page.body), len(extraction.text.encode())
    return Cleaned(one_line(line).encode(), *sizes, record.page.ended or extraction.ended)


def _json(value: Any) -> str:
    return as_json(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def cleaner(method: str, extract: Extractor, wish: str = "no", fields: Sequence[str] = ()) -> Cleaner:
    """What cleans a record by a method, which goes by this name, in this process or another; `wish` is for Markdown."""
    return partial(clean, method=method, extract=extract, wish=wish, fields=fields)


def cleaned(found: Iterable[Found], clean: Cleaner, jobs: int, died: Callable[[], None]) -> Iterator[Result]:
    """The result of each record, in their order."""
    return in_order(clean, found, jobs, _lost, died)


def _lost(found: Found) -> Result:
    """A record whose cleaning has killed two processes."""
    assert isinstance(found, Raw)  # noqa: S101 - nothing is done with the others
    return Broken(found.place, "the process that cleans it dies")
