"""`scrapy noise evaluate`: how well pictures are told apart that people have told apart."""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.archives.records import Broken
from crawler.bulk.image_judging import NAMELESS, ImageJudging, JudgedPage, evidence, judged, read_all
from crawler.bulk.parallel import DIED, WorkersError, cores
from crawler.config import extractor_of
from crawler.evaluation.gold import KINDS, ImageLabel, ImageLabels, PendingLabels, ScoredImage, files_of, read_labels
from crawler.evaluation.image_models import models
from crawler.files import AtomicFile, OutputError, check_apart, readable_file
from crawler.terminal import FAILED, INTERRUPTED, WrongUseError, say
from crawler.translation.message import counted

CALLED = "scrapy noise evaluate"
DIGITS = 9  # of scores that are compared


class JudgedLabels(PendingLabels):
    """ImageLabels by page, and what is said of the pictures that were met."""

    def __init__(self, labels: Iterable[ImageLabel], files: Iterable[Path]) -> None:
        super().__init__(labels, files)
        self.met: list[ScoredImage] = []

    def meet(self, page: JudgedPage) -> None:
        """Take what is said of the page's pictures that are labelled."""
        for label in self.take(page.file, page.id, page.pictures):
            said = page.pictures[label.img]
            scores = tuple(round(one.probability, DIGITS) for one in said)  # sums in any order are alike
            skipped = tuple(one.is_noise for one in said)
            self.met.append(ScoredImage(label, page.site, page.pages, scores, skipped))


def evaluate(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print how well all models do on the labels of a file; the exit status."""
    extract, at_once = extractor_of(settings), opts.jobs or cores()
    given = [readable_file(name) for name in (opts.labels, *opts.lists)]
    try:
        judges = models(tuple(map(Path, opts.lists)))
    except ValueError as error:
        raise WrongUseError(str(error)) from None
    labels = _read(read_labels(given[0]))
    if not labels:
        say(CALLED, f"{opts.labels!r} has no label")
        return FAILED
    files = files_of({label.set for label in labels}, opts.pages)
    check_apart(opts.json, [*given, *files])
    if opts.json is not None and (Path(opts.json).is_dir() or not Path(opts.json).absolute().parent.is_dir()):
        raise WrongUseError(f"{opts.json!r} cannot be written: its folder is not there, or it is a folder")
    wanted = JudgedLabels(labels, files)
    try:
        _judge(files, ImageJudging(tuple(judges.values()), extract, {}, NAMELESS), at_once, wanted)
    except KeyboardInterrupt:
        say(CALLED, "broken off; nothing was written")
        return INTERRUPTED
    except (WorkersError, OSError) as error:
        say(CALLED, f"stopped: {error}")
        return FAILED
    return _report(wanted, len(labels), list(judges), opts.json)


def _judge(files: Iterable[Path], panel: ImageJudging, jobs: int, wanted: JudgedLabels) -> None:
    """Have all labelled pictures judged, beside what all pages of their sites show."""
    counts = evidence(read_all(files), jobs, _died, panel.nameless)
    for result in judged(read_all(files), replace(panel, evidence=counts, asked=wanted.pages), jobs, _died):
        if isinstance(result, Broken):
            say(CALLED, f"{result.place}: {result.why}")
        else:
            wanted.meet(result)


def _report(wanted: JudgedLabels, given: int, names: Sequence[str], path: str | None) -> int:
    """Print the tables, and write the figures where that is the wish."""
    # It wants numpy, which takes its time, and all commands are loaded with each of them.
    from crawler.evaluation.image_metrics import by_hand, record, text

    counts = {"given": given, "not found": wanted.missed}
    counts |= Counter(one.label.kind for one in wanted.met)
    print(f"{counted(given, 'label')} by hand, {wanted.missed:,} of them not found on their page.")
    print(f"Kinds: {', '.join(f'{kind} {counts[kind]:,}' for kind in KINDS if kind in counts)}.")
    if not wanted.met:
        say(CALLED, "none of the labels was found, and nothing can be said")
        return FAILED
    tables = by_hand(wanted.met, names)
    print(f"\n{text(tables)}")
    if path is not None:
        try:
            with AtomicFile(path) as output:
                output.write(record(tables, counts).encode())
                output.finish()
        except OutputError as error:
            say(CALLED, str(error))
            return FAILED
    return 0


def _read(labels: ImageLabels) -> tuple[ImageLabel, ...]:
    """The labels of a file; what of it could not be read is said."""
    for fault in labels.faults:
        say(CALLED, fault)
    return labels.found


def _died() -> None:
    say(CALLED, DIED)
