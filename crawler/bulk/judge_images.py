"""`scrapy noise judge`: the image links of saved pages judged, without a crawl.

With -o the lines go to a file beside OUT, named OUT.TOKEN.part, which becomes OUT when all is done: OUT is never half
a run, and an earlier OUT stays until then.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.archives.records import Broken
from crawler.bulk.image_judging import ImageJudging, JudgedPage, evidence, judged, lines, read
from crawler.bulk.parallel import DIED, WorkersError, cores
from crawler.config import extractor_of, judge_of
from crawler.extraction import Extractor
from crawler.files import AtomicFile, OutputError, check_apart, readable_file
from crawler.noise.verdict import Judge
from crawler.terminal import FAILED, INTERRUPTED, WrongUseError, say
from crawler.translation.message import counted

CALLED = "scrapy noise judge"


@dataclass
class Run:
    """A file whose pictures are judged, and its lines counted so far."""

    path: Path
    output: AtomicFile
    jobs: int
    pages: int = 0
    pictures: int = 0
    noise: int = 0
    broken: int = 0

    def go(self, judge: Judge, extract: Extractor) -> None:
        """Judge everything; without a single page nothing is written."""
        panel = ImageJudging((judge,), extract, evidence(read(self.path), self.jobs, _died))
        for result in judged(read(self.path), panel, self.jobs, _died):
            if isinstance(result, Broken):
                self.broken += 1
                say(CALLED, f"{result.place}: {result.why}")
            else:
                self.write(result)
        if self.pages:
            self.output.finish()

    def write(self, page: JudgedPage) -> None:
        self.pages += 1
        self.pictures += len(page.pictures)
        self.noise += sum(verdict.is_noise for verdict, *_ in page.pictures.values())
        for line in lines(page, self.output.is_terminal):
            self.output.write(line)

    def closing(self) -> str:
        """What is said at the end."""
        noise = f"{self.noise:,} of {counted(self.pictures, 'picture')} noise"
        said = [f"{noise}, on {counted(self.pages, 'page')}"] if self.pages else ["there is no page with url and html"]
        if self.broken:
            said.append(f"{counted(self.broken, 'line')} skipped, each named above")
        if self.output.part is not None:
            said.append(f"what was judged so far is in {self.output.part}")
        return "; ".join(said)


def judge(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Judge the pictures of a file's pages; the exit status."""
    by, extract, path = judge_of(settings), extractor_of(settings), readable_file(opts.pages)
    check_apart(opts.output, [path])
    try:
        run = Run(path, AtomicFile(opts.output), opts.jobs or cores())
    except OutputError as error:
        raise WrongUseError(str(error)) from None
    status, stopped = 0, ""
    try:
        run.go(by, extract)
    except KeyboardInterrupt:
        status, stopped = INTERRUPTED, "stopped before the end; "
    except (OutputError, WorkersError, OSError) as error:
        status, stopped = FAILED, f"stopped: {error}; "
    run.output.close()
    say(CALLED, stopped + run.closing())
    return status or (0 if run.pages else FAILED)


def _died() -> None:
    say(CALLED, DIED)
