"""`winnow train`: trains a method, writes its weights, and prints its scores."""

import argparse
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.atomic_files import check_apart
from crawler.command_line.terminal import FAILED, one_line, say
from crawler.contrib.lab.training.auto_weights import (
    COLUMNS,
    AutoTraining,
    TrainingPlan,
    cells,
    tables,
    write_auto_weights,
)
from crawler.contrib.lab.training.examples import GoldError, TooFewError, read_pages
from crawler.contrib.lab.training.metadata_weights import write_metadata_weights
from crawler.contrib.lab.training.template_svm import fit, samples
from crawler.contrib.lab.training.template_svm import train as train_svm
from crawler.errors import WrongUseError
from crawler.extraction.methods.template_svm import save
from crawler.reports.html_page import aligned
from crawler.translation.message import counted

CALLED = "train"
FILES = {"auto": "auto.npz", "template-svm": "template_svm.npz", "metadata": "metadata.json"}
"""The default names of the files of weights."""
FOLDS = 10
"""Parts of the cross-validation of template-svm, each with whole hosts."""


def train(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Train a method and print the result; returns the exit status."""
    path = Path(opts.output or Path(settings["OUTPUT_DIR"]) / FILES[opts.method])
    if path.is_dir():
        raise WrongUseError("{path} is a folder", path=repr(str(path)))
    check_apart(str(path), (*opts.gold, *opts.validate))
    try:
        if opts.method == "auto":
            print(_auto(opts.gold, opts.validate, path, opts.seed))
        elif opts.method == "metadata":
            print(_metadata(opts.gold, path, opts.seed))
        else:
            print(_template_svm(opts.gold, path, opts.seed))
    except (GoldError, TooFewError) as error:
        say(CALLED, str(error))
    except OSError as error:
        say(CALLED, f"{error.filename or path} cannot be read or written: {error.strerror or error}")
    except KeyboardInterrupt:
        say(CALLED, "interrupted; nothing was written")
    else:
        return 0
    return FAILED


def _auto(gold: tuple[Path, ...], validate: tuple[Path, ...], path: Path, seed: int) -> str:
    """Train auto; returns the report."""
    plan = TrainingPlan(paths=gold, validate=validate, output=path, seed=seed)
    return auto_report(write_auto_weights(plan, lambda line: say(CALLED, line)), path)


def _metadata(gold: tuple[Path, ...], path: Path, seed: int) -> str:
    """Train the weights for author and date; returns the report."""
    trainings = write_metadata_weights(gold, path, seed, lambda line: say(CALLED, line))
    head = ("on pages of other sites", "pages", "given", "right", "wrong", "missing", "absent", "invented")
    rows: list[tuple[str, ...]] = [head]
    for field, training in trainings.items():
        judged = training.held_out
        numbers = (judged.present, judged.right, judged.wrong, judged.missing, judged.absent, judged.invented)
        rows.append((field, *(f"{number:,}" for number in (training.pages, *numbers))))
    weights = sum(len(training.weights) for training in trainings.values())
    return "\n".join([*aligned(rows, {0}), "", f"{weights:,} weights in {one_line(str(path))}."])


def _template_svm(gold: tuple[Path, ...], path: Path, seed: int) -> str:
    """Train template-svm; returns the report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pages = ((row.page, row.gold or "") for gold_path in gold for row in read_pages(gold_path))
    trained = train_svm(samples(pages), fit, FOLDS, seed)
    save(trained.svm, path)
    svm = trained.svm
    score = trained.score
    hosts = counted(trained.hosts, "host")
    return (
        f"{trained.blocks:,} blocks of {hosts}, {trained.main:,} of main text; {trained.drawn:,} drawn of each kind.\n"
        f"C {trained.cost:g}, gamma {svm.gamma:g}: precision {score.precision:.3f}, recall {score.recall:.3f}, "
        f"F1 {score.f1:.3f} of the drawn blocks, by {FOLDS} folds of whole hosts.\n"
        f"{len(svm.vectors):,} support vectors in {one_line(str(path))} ({path.stat().st_size:,} bytes)."
    )


def auto_report(training: AutoTraining, path: Path) -> str:
    """The tables of the training of auto, and the size of its weights."""
    lines: list[str] = []
    for title, figures_of_name in tables(training):
        rows = [(title, *COLUMNS), *((one_line(name), *cells(figures)) for name, figures in figures_of_name.items())]
        lines += [*aligned(rows, {0}), ""]
    weights = f"{training.size:,} bytes of weights in {one_line(str(path))}"
    return "\n".join([*lines, f"{weights}; CARD.md beside them says how they were made."])
