"""Evaluates methods on gold sets: runs each method, scores its output for each page, and averages the scores.

A method is an extractor or another program. The scores of a page, such as word F1, are explained in `text_metrics`.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, dataclass, replace
from time import sleep

from crawler.contrib.lab.evaluation.gold import GoldPage, GoldSet
from crawler.contrib.lab.evaluation.method_process import PAGE_LIMIT, MethodOutput, MethodProcess, MethodRun, run
from crawler.contrib.lab.evaluation.significance import Interval, MethodComparison, compare, intervals
from crawler.contrib.lab.evaluation.text_metrics import GRADES, PageScorer, TextScore, f1, mean, size

WORST = 3
"""How many of the worst pages of each method are shown, for each set."""
POLL_SECONDS = 0.5
Tick = Callable[[str, str, int, int], None]
"""Called with the set, the method, the number of pages done and the total."""


@dataclass(frozen=True, slots=True)
class MethodFigures:
    """The figures of a method on some pages; see `text_metrics` for the scores of a page."""

    pages: int
    failed: int
    f1: float
    """The F1 of the average shingle precision and the average shingle recall."""
    f1_interval: Interval | None
    precision: float
    """The average shingle precision."""
    recall: float
    """The average shingle recall."""
    word_f1: float
    """The average word F1."""
    word_f1_interval: Interval | None
    right: float
    """Share of pages that are right."""
    grades: dict[str, float]
    """Share of pages with each grade."""
    rate: float | None
    """The average of Shao's P; None if no gold has a token."""
    leaf_precision: float | None
    leaf_recall: float | None
    reduction: float
    """The share of the pages' bytes that was removed."""
    speed: float | None
    """Pages per second of CPU time; failures add their time, but are not counted as pages."""


@dataclass(frozen=True, slots=True)
class ScoredPage:
    """A page, the output of a method and its score."""

    page: GoldPage
    output: MethodOutput
    score: TextScore


@dataclass(frozen=True, slots=True)
class JudgedMethod:
    """A method, its outputs and its figures on a set."""

    name: str
    run: MethodRun
    figures: MethodFigures | None
    """None if the method could not be run."""
    f1s: tuple[float, ...]
    """The word F1 of each page."""
    worst: tuple[ScoredPage, ...]
    """The pages with the lowest word F1."""


@dataclass(frozen=True, slots=True)
class SetResult:
    """All methods on a set, or on a group of its pages, such as those in one language."""

    name: str
    fingerprint: str
    judged: tuple[JudgedMethod, ...]
    _: KW_ONLY
    comparisons: tuple[MethodComparison, ...] = ()
    """Empty for a group."""
    is_group: bool = False
    """Whether this is the result of a group; the result of its set precedes it."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """The methods to run, and how."""

    methods: tuple[str, ...]
    _: KW_ONLY
    by: str = ""
    """`lang` or `page_type`: also judge the pages of each language or type; empty for neither."""
    limit: float = PAGE_LIMIT
    """Time limit of a page, in seconds."""
    jobs: int = 1
    """How many methods run at once."""


def judge(gold: GoldSet, plan: EvaluationPlan, tick: Tick) -> list[SetResult]:
    """The result of the methods on a set, followed by those on its groups of pages."""
    runs = run_methods(gold, plan, tick)
    scores = scores_of_methods(gold.pages, runs)
    whole_set = range(len(gold.pages))
    results = [replace(_result(gold, gold.name, whole_set, runs, scores), comparisons=tuple(compare(scores)))]
    if plan.by:
        values = sorted({getattr(page, plan.by) for page in gold.pages})
        for value in values:
            indexes = [index for index in whole_set if getattr(gold.pages[index], plan.by) == value]
            group = _result(gold, f"{gold.name} {plan.by}={value or '?'}", indexes, runs, scores)
            results.append(replace(group, is_group=True))
    return results


def run_methods(gold: GoldSet, plan: EvaluationPlan, tick: Tick) -> dict[str, MethodRun]:
    """Run the methods on a set, each in a thread with a process; Ctrl-C ends all of them."""
    is_interrupted = threading.Event()
    processes: list[MethodProcess] = []
    futures: list[Future[MethodRun]] = []

    def run_method(method: str) -> MethodRun:
        process = MethodProcess(method, plan.limit)
        processes.append(process)

        def report(done: int) -> None:
            if is_interrupted.is_set():
                raise InterruptedError  # ends this thread, which nothing else can end
            tick(gold.name, method, done, len(gold.pages))

        return run(process, gold.pages, report)

    with ThreadPoolExecutor(plan.jobs) as threads:
        try:
            for method in plan.methods:
                futures.append(threads.submit(run_method, method))
            while wait(futures, timeout=POLL_SECONDS).not_done:
                pass  # a thread that waits without a timeout does not notice a Ctrl-C that another thread received
            return {method: future.result() for method, future in zip(plan.methods, futures, strict=True)}
        except KeyboardInterrupt:
            is_interrupted.set()
            threads.shutdown(wait=False, cancel_futures=True)
            # Ctrl-C does not reach the processes. A thread may start its process again, so processes are killed until
            # no thread runs.
            while any(future.running() for future in futures):
                for process in processes:
                    process.kill()
                sleep(POLL_SECONDS)
            raise


def scores_of_methods(pages: Sequence[GoldPage], runs: dict[str, MethodRun]) -> dict[str, Sequence[TextScore]]:
    """The scores of the methods that were run; each gold text is parsed once for all methods."""
    scores: dict[str, list[TextScore]] = {name: [] for name, ran in runs.items() if not ran.absent}
    for index, page in enumerate(pages):
        scorer = PageScorer(page)
        for name, method_scores in scores.items():
            method_scores.append(scorer.score(runs[name].outputs[index].text))
    return dict(scores)


def figures(samples: Sequence[ScoredPage]) -> MethodFigures:
    """The figures of a method on at least one page. Precision and recall of leaves are of all pages together."""
    scores = [sample.score for sample in samples]
    f1_interval, word_interval = intervals(scores, [sample.page.host for sample in samples])
    precision = mean(score.shingle_precision for score in scores) or 0.0
    recall = mean(score.shingle_recall for score in scores) or 0.0
    grades = Counter(score.grade for score in scores)
    right_leaves = sum(score.leaves.both for score in scores)
    extracted_leaves = sum(score.leaves.extracted for score in scores)
    main_leaves = sum(score.leaves.main for score in scores)
    failed = sum(bool(sample.output.failure) for sample in samples)
    seconds = sum(sample.output.seconds for sample in samples)
    source_bytes = sum(size(sample.page.html) for sample in samples)

    return MethodFigures(
        pages=len(samples),
        failed=failed,
        f1=f1(precision, recall),
        f1_interval=f1_interval,
        precision=precision,
        recall=recall,
        word_f1=mean(score.f1 for score in scores) or 0.0,
        word_f1_interval=word_interval,
        right=sum(score.right for score in scores) / len(scores),
        grades={grade: grades[grade] / len(scores) for grade in GRADES},
        rate=mean(score.rate for score in scores),
        leaf_precision=right_leaves / extracted_leaves if extracted_leaves else None,
        leaf_recall=right_leaves / main_leaves if main_leaves else None,
        reduction=1 - sum(score.size for score in scores) / source_bytes if source_bytes else 0.0,
        speed=(len(samples) - failed) / seconds if seconds else None,
    )


def _result(
    gold: GoldSet, name: str, indexes: Sequence[int], runs: dict[str, MethodRun], scores: dict[str, Sequence[TextScore]]
) -> SetResult:
    """The result of the methods on the pages of the set with these indexes."""
    judged = []
    for method, ran in runs.items():
        if ran.absent:
            judged.append(JudgedMethod(name=method, run=ran, figures=None, f1s=(), worst=()))
            continue
        samples = [
            ScoredPage(page=gold.pages[index], output=ran.outputs[index], score=scores[method][index])
            for index in indexes
        ]
        worst = sorted(samples, key=lambda sample: sample.score.f1)[:WORST]
        f1s = tuple(sample.score.f1 for sample in samples)
        judged.append(JudgedMethod(name=method, run=ran, figures=figures(samples), f1s=f1s, worst=tuple(worst)))
    return SetResult(
        name=name,
        fingerprint=replace(gold, pages=tuple(gold.pages[index] for index in indexes)).fingerprint,
        judged=tuple(judged),
    )
