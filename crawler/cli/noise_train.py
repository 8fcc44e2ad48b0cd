"""`scrapy noise train`: weights of the learned model of pictures, from links that readers labelled."""

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from crawler.bulk.parallel import WorkersError, cores
from crawler.cli import Subcommand, WrongUseError
from crawler.cli.options import state_url, whole
from crawler.cli.saved_pages import MOST_JOBS, check_apart, files_of, readable, say
from crawler.evaluation.gold import ImageLabel, read_labels
from crawler.store.database import StateError, display_url
from crawler.store.read_only import exists
from crawler.translation.message import counted, printable

if TYPE_CHECKING:  # they want numpy and more
    from crawler.training.image_model import ImageExample
    from crawler.training.image_release import ImageRelease, ImageTrainingPlan

NAME = "train"
FILE, STATE = "pictures.npz", "state"
BROKEN, INTERRUPTED = 1, 130  # the last is what shells make of Ctrl-C
MOST_SEED = 2**31 - 1  # of LightGBM


def train(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Train the model, print what is to be expected of it, and write its weights and their card; the exit status."""
    from_state = _asks_state(opts)
    if len(args) > 1 or not (args or from_state):
        what = f"{args[1][:200]!r} is too much" if args else "no LABELS.jsonl is given"
        raise WrongUseError(f"{what}; it is scrapy noise train {TRAIN.syntax}")
    if opts.pages and not args:
        raise WrongUseError("--pages FILE are those of LABELS.jsonl, which is not given")
    seed, at_once = opts.seed, opts.jobs or cores()
    if find_spec("lightgbm") is None:
        raise WrongUseError("lightgbm must be installed: python -m pip install '.[train]'")
    # They want numpy, which takes its time, and all commands are loaded with each of them.
    from crawler.training.examples import TooFewError
    from crawler.training.image_release import ImageTrainingPlan, LabelFiles, release

    inputs = [readable(name) for name in (*args, *opts.validate)]
    labels, validation = _labels(inputs[: len(args)]), _labels(inputs[len(args) :])
    files = files_of({label.set for label in labels}, opts.pages) if labels else []
    others = files_of({label.set for label in validation}, opts.pages) if validation else []
    output = Path(opts.output or Path(settings["OUTPUT_DIR"]) / FILE)
    of_state = _of_state(opts.crawl, settings) if from_state else None
    plan = ImageTrainingPlan(LabelFiles(labels, files), LabelFiles(validation, others), output, seed, at_once, of_state)
    _check_output(plan, [*inputs, *files, *others])
    try:
        print(_report(release(plan, _say), plan))
    except KeyboardInterrupt:
        say(NAME, "broken off; nothing was written")
        return INTERRUPTED
    except TooFewError as error:
        say(NAME, str(error))
        return BROKEN
    except (WorkersError, OSError) as error:
        say(NAME, f"stopped: {error}")
        return BROKEN
    return 0


def _labels(paths: list[Path]) -> tuple[ImageLabel, ...]:
    """The labels of all files; what of them could not be read is said, and none at all is wrong."""
    found: list[ImageLabel] = []
    for path in paths:
        labels = read_labels(path)
        for fault in labels.faults:
            say(NAME, fault)
        if not labels.found:
            raise WrongUseError(f"{str(path)!r} has no label")
        found += labels.found
    return tuple(found)


def _asks_state(opts: argparse.Namespace) -> bool:
    """Whether what people said of the pictures of crawls is to be learned from."""
    if opts.crawl is not None and opts.labels is None:
        raise WrongUseError(f"--crawl says of which crawl the labels of --labels {STATE} are, which is not given")
    return opts.labels is not None


def _of_state(crawl: str | None, settings: BaseSettings) -> "list[ImageExample]":
    """What people said of the pictures of a crawl, or of all."""
    from crawler.training.image_model import labelled_pictures

    url = state_url(settings)
    try:
        if not exists(url):
            raise WrongUseError(f"no crawl was ever run here ({display_url(url)})")
        return labelled_pictures(url, crawl, _say)
    except StateError as error:
        raise WrongUseError(error.message) from None


def _check_output(plan: "ImageTrainingPlan", inputs: list[Path]) -> None:
    """Raise a WrongUseError where the weights or their card would take the place of something else."""
    if plan.output.is_dir():
        raise WrongUseError(f"{str(plan.output)!r} is a folder")
    if plan.card == plan.output:
        raise WrongUseError(f"-o {str(plan.output)!r} is how the card beside the weights is called")
    if plan.card.is_dir():
        raise WrongUseError(f"{str(plan.card)!r} is a folder")
    for path in (plan.output, plan.card):
        check_apart(str(path), inputs)


def _report(made: "ImageRelease", plan: "ImageTrainingPlan") -> str:
    from crawler.evaluation.image_metrics import text
    from crawler.training.image_release import BIN_HEAD, bin_cells, calibrations, tables

    lines = [text(tables(made))]
    for name, bins in calibrations(made).items():
        rows = [BIN_HEAD, *map(bin_cells, bins)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines += ["", f"Calibration, {name}"]
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    found, given = len(made.training.found), counted(made.training.labels, "link")
    return "\n".join(
        [
            *lines,
            "",
            f"Trained on {found:,} of {given}; noise is what is more likely so than {made.model.limit:.4f}.",
            f"{made.size:,} bytes of weights in {_line(plan.output)}; {_line(plan.card)} says how they were made.",
        ]
    )


def _line(path: Path) -> str:
    return " ".join(printable(str(path)).split())


def _say(message: str) -> None:
    say(NAME, message)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what may stand behind `scrapy noise train`."""
    parser.add_argument("--pages", metavar="FILE", nargs="+", action="extend")
    parser.add_argument("--labels", choices=(STATE,))
    parser.add_argument("--crawl", metavar="NAME")
    parser.add_argument("--validate", metavar="LABELS.jsonl", nargs="+", action="extend", default=[])
    parser.add_argument("-o", "--output", metavar="FILE")
    parser.add_argument("--seed", metavar="N", type=whole(0, MOST_SEED), default=0)
    parser.add_argument("--jobs", metavar="N", type=whole(1, MOST_JOBS))


TRAIN = Subcommand(
    "LABELS.jsonl [--pages FILE ...] [--labels state] [--crawl NAME] [--validate LABELS.jsonl ...] [-o FILE] "
    "[--seed N] [--jobs N]",
    train,
    add_options,
)
