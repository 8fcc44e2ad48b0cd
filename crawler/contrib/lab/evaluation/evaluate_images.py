"""`winnow noise evaluate`: measures how well models tell noise from content, on images that people labelled.

The compared models are the verdict that crawls use by default, each of the three models of Li 2006, all three together,
filter lists, and a baseline that calls everything content.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.atomic_files import AtomicFile, check_apart, readable_file
from crawler.checked_settings import extractor_of
from crawler.command_line.terminal import FAILED, INTERRUPTED, say
from crawler.contrib.bulk.archives.records import Broken
from crawler.contrib.bulk.judge_images import NAMELESS, ImageJudging, evidence, judged, read_all
from crawler.contrib.lab.evaluation.gold import KINDS, PendingLabels, ScoredImage, files_of, read_labels
from crawler.contrib.lab.evaluation.image_metrics import model_tables, record, text
from crawler.errors import OutputError, WrongUseError
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.verdict import FilterLists, ImageJudge, Judge, Verdict
from crawler.processes.function_pool import DIED, WorkersError
from crawler.processes.machine import cores
from crawler.translation.message import counted

CALLED = "noise evaluate"
DIGITS = 9
"""Decimal places of scores; smaller differences are rounding errors."""
PAPER_MODELS = ("keyword", "redundancy", "entropy")
"""The models of Li 2006. A verdict has the score of each in the field of the same name."""
# The names of the other models in tables.
JOINT = "joint verdict"
ALL_OF_PAPER = "the three joined"
LISTS = "filter lists"
ALL_CONTENT = "everything is content"


@dataclass(frozen=True)
class SingleModel:
    """One of PAPER_MODELS by itself."""

    name: str
    paper_judge: Judge
    """The judge that uses only this model."""

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict of the model, with its score in place of the probability, by which links are ranked.

        Without a score, it is -1, which is below all scores.
        """
        verdict = self.paper_judge.judge(sighting, evidence)
        score = getattr(verdict, self.name)
        return replace(verdict, probability=-1.0 if score is None else score)


@dataclass(frozen=True)
class FilterListModel:
    """Filter lists: an image is noise if they block it or its target."""

    paths: tuple[Path, ...]

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        lists = _loaded_lists(self.paths)
        url = sighting.url
        target = sighting.target
        page = sighting.page
        is_blocked = lists.hit(url, page) or (bool(target) and lists.hit(target, page, "document"))
        return Verdict(is_noise=is_blocked, probability=float(is_blocked))


class AllContent:
    """A model that judges everything as content."""

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        return Verdict(is_noise=False, probability=0.0)


def models(lists: tuple[Path, ...]) -> dict[str, ImageJudge]:
    """The models to compare, by their names in tables; raises a ValueError if a filter list cannot be read."""
    judges: dict[str, ImageJudge] = {JOINT: Judge()}
    judges |= {name: SingleModel(name, Judge(models=(name,))) for name in PAPER_MODELS}
    judges[ALL_OF_PAPER] = Judge(models=PAPER_MODELS)
    if lists:
        _loaded_lists(lists)  # raises the error before any process starts
        judges[LISTS] = FilterListModel(lists)
    return judges | {ALL_CONTENT: AllContent()}


@cache  # lists are large, so only their paths are sent to a process, which reads them once
def _loaded_lists(paths: tuple[Path, ...]) -> FilterLists:
    return FilterLists(paths)


def evaluate(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Evaluate all models on the labels of a file, and print the figures; returns the exit status."""
    extract = extractor_of(settings)
    jobs = opts.jobs or cores()

    # Read the inputs, and check them and the output.
    input_files = [readable_file(name) for name in (opts.labels, *opts.lists)]
    try:
        judges = models(tuple(map(Path, opts.lists)))
    except ValueError as error:
        raise WrongUseError("{name}: {why}", name="--lists", why=str(error)) from None
    labels, faults = read_labels(input_files[0])
    for fault in faults:
        say(CALLED, fault)
    if not labels:
        say(CALLED, f"{opts.labels!r} contains no label")
        return FAILED
    files = files_of({label.set for label in labels}, opts.pages)
    check_apart(opts.json, [*input_files, *files])
    if opts.json is not None and (Path(opts.json).is_dir() or not Path(opts.json).absolute().parent.is_dir()):
        raise WrongUseError(
            "{path} cannot be written: its folder does not exist, or it is a folder itself", path=repr(opts.json)
        )

    pending = PendingLabels(labels, files)
    try:
        judging = ImageJudging(
            judges=tuple(judges.values()), extract=extract, evidence={}, nameless=NAMELESS, page_ids=pending.pages
        )
        images = list(_judge_labels(files, judging, jobs, pending))
    except KeyboardInterrupt:
        say(CALLED, "interrupted; nothing was written")
        return INTERRUPTED
    except (WorkersError, OSError) as error:
        say(CALLED, f"stopped: {error}")
        return FAILED
    return _report(images, pending.missed, list(judges), opts.json)


def _judge_labels(
    files: Iterable[Path], judging: ImageJudging, jobs: int, pending: PendingLabels
) -> Iterator[ScoredImage]:
    """The scores of the labelled images that are found on their pages, with the evidence of their sites.

    The files are read twice: for the evidence of all pages of a site, and to judge the labelled pages.
    """
    evidence_by_site = evidence(read_all(files), jobs, _say_died, judging.nameless)
    for result in judged(read_all(files), replace(judging, evidence=evidence_by_site), jobs, _say_died):
        if isinstance(result, Broken):
            say(CALLED, f"{result.place}: {result.why}")
            continue
        for label in pending.take(result.file, result.id, result.images):
            verdicts = result.images[label.img]
            scores = tuple(round(verdict.probability, DIGITS) for verdict in verdicts)
            yield ScoredImage(
                label=label,
                site=result.site,
                pages=result.pages,
                scores=scores,
                skipped=tuple(verdict.is_noise for verdict in verdicts),
            )


def _report(images: Sequence[ScoredImage], missed: int, names: Sequence[str], path: str | None) -> int:
    """Print the tables, and write the figures if requested."""
    label_count = len(images) + missed
    counts = {"given": label_count, "not found": missed}
    counts |= Counter(image.label.kind for image in images)  # how many images of each kind were found
    print(f"{counted(label_count, 'label')} by hand, {missed:,} of them not found on their page.")
    print(f"Kinds: {', '.join(f'{kind} {counts[kind]:,}' for kind in KINDS if kind in counts)}.")
    if not images:
        say(CALLED, "none of the labels was found, so there are no figures")
        return FAILED
    tables = model_tables(images, names)
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


def _say_died() -> None:
    say(CALLED, DIED)
