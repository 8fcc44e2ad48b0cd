"""`winnow noise judge`: judges the images of saved pages in order, without a crawl, on any number of processors.

The pages are read twice, so that they need not be kept in memory. The first pass collects the evidence of each site:
how often its images, and the words in their addresses, occur. The second judges each image with the evidence of its
site.

A run may take hours. With -o, lines are written to OUT.TOKEN.part, which is renamed to OUT at the end: OUT is always
complete, and an earlier OUT stays until then.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.atomic_files import AtomicFile, check_apart, readable_file
from crawler.checked_settings import extractor_of, judge_of
from crawler.command_line.terminal import FAILED, INTERRUPTED, say
from crawler.contrib.bulk.archives import json_lines, stream
from crawler.contrib.bulk.archives.records import Broken, BrokenError, Raw, ReadResult, Skipped, as_json
from crawler.errors import OutputError
from crawler.extraction import Extractor
from crawler.noise.image_evidence import Evidence
from crawler.noise.image_features import sightings
from crawler.noise.verdict import ImageJudge, Judge, Verdict, verdicts
from crawler.outcomes import Code, Outcome
from crawler.page.page import Extraction, Page
from crawler.page.text import one_line
from crawler.processes.function_pool import DIED, WorkersError, in_order
from crawler.processes.machine import cores
from crawler.translation.message import counted
from crawler.translation.reasons import records
from crawler.urls.address import address_of
from crawler.urls.parsing import absolute

COMMAND = "noise judge"
NO_TEXT = Extraction(text="", title="")
"""For the first pass: evidence does not depend on the text around images, so no text is extracted."""
NOT_REQUESTED = Skipped(Outcome(Code.NOT_ASKED_FOR))
"""The result for a page that is not among the `page_ids` to judge."""
FILE = "file"
"""The field of a record's head with the path of its file."""
DIGITS = 6  # digits after the point in scores
NAMELESS = "http://page.example/"
"""Stands for the address of a page that has none; relative addresses in labels are joined to it."""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page in a line of JSON."""

    id: str
    """The id of the line, or else the page's address."""
    id_as_json: str
    """The id as JSON text, so that a number in the input is a number in the output."""
    site: str
    page: Page


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """The verdicts on a page's images."""

    id: str
    id_as_json: str
    file: str
    site: str
    pages: int
    """How many pages its site has."""
    images: dict[str, tuple[Verdict, ...]]
    """For each address, in page order, the verdict of each judge."""


@dataclass(frozen=True)
class ImageJudging:
    """The judges, and the evidence that they use."""

    judges: tuple[ImageJudge, ...]
    extract: Extractor
    evidence: Mapping[str, Evidence]
    """The evidence by site."""
    nameless: str = ""
    """The address that pages without an http address get, such as NAMELESS; if empty, such pages are broken."""
    page_ids: frozenset[str] | None = field(default=None, repr=False)
    """The ids of the pages to judge; None for all."""


def read(path: Path) -> Iterator[ReadResult]:
    """The lines of a file, which may be compressed; raises an OSError if it cannot be read."""
    with path.open("rb") as file:
        for record in json_lines.read(stream.opened(file, path.name), path.as_posix()):
            yield replace(record, head={FILE: path.as_posix()}) if isinstance(record, Raw) else record


def read_all(paths: Iterable[Path]) -> Iterator[ReadResult]:
    """The lines of files, one file after the other."""
    return chain.from_iterable(map(read, paths))


def evidence(
    records: Iterable[ReadResult], jobs: int, died: Callable[[], None], nameless: str = ""
) -> dict[str, Evidence]:
    """The evidence of all pages by site; broken pages are skipped. `nameless` is as in ImageJudging."""
    evidence_by_site: dict[str, Evidence] = {}
    for result in in_order(partial(_page_evidence, nameless=nameless), records, jobs, lambda _: None, died):
        if result is not None:
            site, page_evidence = result
            evidence_by_site.setdefault(site, Evidence()).add(page_evidence)
    return evidence_by_site


def judged(
    records: Iterable[ReadResult], judging: ImageJudging, jobs: int, died: Callable[[], None]
) -> Iterator[JudgedPage | Broken]:
    """The verdicts on the images of each page, or why the page is broken."""
    for result in in_order(partial(_judge, judging=judging), records, jobs, _lost, died):
        if not isinstance(result, Skipped):
            yield result


def lines(page: JudgedPage, for_people: bool = False) -> Iterator[bytes]:
    """The first judge's verdicts as lines of JSON. Reasons are sentences if `for_people`, otherwise codes."""
    for address, (verdict, *_) in page.images.items():
        scores = {"keyword": verdict.keyword, "redundancy": verdict.redundancy, "entropy": verdict.entropy}
        values = {
            "img": address,
            "verdict": "noise" if verdict.is_noise else "content",
            "probability": round(verdict.probability, DIGITS),
            **{name: score if score is None else round(score, DIGITS) for name, score in scores.items()},
            "reasons": [str(reason.message) for reason in verdict.reasons] if for_people else records(verdict.reasons),
        }
        # The id of the page, which is JSON already, is the first member of the object.
        text = f'{{"page": {page.id_as_json}, {json.dumps(values, ensure_ascii=False)[1:]}\n'
        # JSON may also contain half of a surrogate pair as an escape.
        yield one_line(text).encode("utf-8", "backslashreplace")


def _page_evidence(record: ReadResult, nameless: str) -> tuple[str, Evidence] | None:
    """The site of a page and the page's evidence; None if it is broken."""
    try:
        saved = page_of(record, nameless)
        page_evidence = Evidence()
        page_evidence.see(sightings(saved.page, NO_TEXT))
    except Exception:  # the second pass reports the page
        return None
    return saved.site, page_evidence


def _judge(record: ReadResult, judging: ImageJudging) -> JudgedPage | Broken | Skipped:
    """The verdicts on the images of a page; never raises an exception."""
    if not isinstance(record, Raw):
        return record
    try:
        saved = page_of(record, judging.nameless)
        if judging.page_ids is not None and saved.id not in judging.page_ids:
            return NOT_REQUESTED
        site_evidence = judging.evidence.get(saved.site) or Evidence()
        page_sightings = sightings(saved.page, judging.extract(saved.page)) if saved.page.images else ()
        verdicts_of_judges = [verdicts(page_sightings, judge, site_evidence) for judge in judging.judges]
        images = {url: tuple(by_url[url] for by_url in verdicts_of_judges) for url in verdicts_of_judges[0]}
    except BrokenError as error:
        return Broken(place=record.place, why=str(error))
    except Exception as error:  # an error in one page must not affect the other pages
        return Broken(place=record.place, why=f"it cannot be judged ({type(error).__name__}: {error})")

    return JudgedPage(
        id=saved.id,
        id_as_json=saved.id_as_json,
        file=record.head[FILE],
        site=saved.site,
        pages=site_evidence.pages,
        images=images,
    )


def page_of(saved_record: ReadResult, nameless: str) -> SavedPage:
    """The page in a line; raises a BrokenError if there is none."""
    if not isinstance(saved_record, Raw):
        raise BrokenError("there is no page")
    record = saved_record.decode(saved_record)
    if record.url == "null":
        raise BrokenError('there is no "url"')
    own_address = absolute("", record.page.url)
    if own_address is None and record.page.url and not nameless:
        raise BrokenError('"url" is no http address')
    address = own_address or nameless
    id_as_json = as_json(address) if record.id == "null" else record.id
    page_id = json.loads(id_as_json) if id_as_json.startswith('"') else id_as_json
    # Each page without an address is a site by itself, named by the place of its line.
    site = address_of(address).site if own_address else saved_record.place
    return SavedPage(id=page_id, id_as_json=id_as_json, site=site, page=replace(record.page, url=address))


def _lost(record: ReadResult) -> JudgedPage | Broken | Skipped:
    """The result for a record on which two processes died."""
    assert isinstance(record, Raw)  # noqa: S101 - other results cannot make a process die
    return Broken(place=record.place, why="the process that judges it dies")


@dataclass
class JudgingRun:
    """A file whose images are judged, and the counts so far."""

    path: Path
    output: AtomicFile
    jobs: int
    pages: int = 0
    images: int = 0
    noise: int = 0
    broken: int = 0

    def go(self, judge: Judge, extract: Extractor) -> None:
        """Judge the images of all pages; the output is not finished if there is no page."""
        judging = ImageJudging((judge,), extract, evidence(read(self.path), self.jobs, _died))
        for result in judged(read(self.path), judging, self.jobs, _died):
            if isinstance(result, Broken):
                self.broken += 1
                say(COMMAND, f"{result.place}: {result.why}")
            else:
                self.write(result)
        if self.pages:
            self.output.finish()

    def write(self, page: JudgedPage) -> None:
        """Write the verdicts on a page's images, and count them."""
        self.pages += 1
        self.images += len(page.images)
        self.noise += sum(verdict.is_noise for verdict, *_ in page.images.values())
        for line in lines(page, self.output.is_terminal):
            self.output.write(line)

    def closing(self) -> str:
        """The line with which a run ends."""
        noise = f"{self.noise:,} of {counted(self.images, 'image')} noise"
        parts = [f"{noise}, on {counted(self.pages, 'page')}"]
        if not self.pages:
            parts = ["there is no page with url and html"]
        if self.broken:
            parts.append(f"{counted(self.broken, 'line')} skipped, each named above")
        if self.output.part is not None:
            parts.append(f"what was judged so far is in {self.output.part}")
        return "; ".join(parts)


def judge(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Judge the images of a file's pages; returns the exit status."""
    image_judge = judge_of(settings)
    extract = extractor_of(settings)
    path = readable_file(opts.pages)
    check_apart(opts.output, [path])
    run = JudgingRun(path, AtomicFile(opts.output), opts.jobs or cores())
    status = 0
    stopped = ""
    try:
        run.go(image_judge, extract)
    except KeyboardInterrupt:
        status = INTERRUPTED
        stopped = "stopped before the end; "
    except (OutputError, WorkersError, OSError) as error:
        status = FAILED
        stopped = f"stopped: {error}; "
    run.output.close()
    say(COMMAND, stopped + run.closing())
    if not status and not run.pages:
        return FAILED
    return status


def _died() -> None:
    say(COMMAND, DIED)
