"""`winnow noise train`: trains the weights of the learned model of images on links that people labelled."""

import argparse
from importlib.util import find_spec
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.atomic_files import check_apart, readable_file
from crawler.command_line.terminal import FAILED, INTERRUPTED, one_line, say
from crawler.contrib.lab.evaluation.gold import ImageLabel, files_of, read_labels
from crawler.contrib.lab.evaluation.image_metrics import BIN_HEAD, bin_cells, text
from crawler.contrib.lab.training.examples import TooFewError
from crawler.contrib.lab.training.image_examples import ImageExample, labelled_images
from crawler.contrib.lab.training.image_weights import (
    ImageTraining,
    ImageTrainingPlan,
    LabelFiles,
    calibrations,
    tables,
    write_image_weights,
)
from crawler.errors import StateError, WrongUseError
from crawler.processes.function_pool import WorkersError
from crawler.processes.machine import cores
from crawler.reports.html_page import aligned
from crawler.store.database import display_url, state_url
from crawler.store.read_only import exists
from crawler.translation.message import counted

CALLED = "noise train"
FILE = "images.npz"
"""The default name of the file of weights."""


def train(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Train the model, write its weights and their card, and print its figures; returns the exit status."""
    # Check the options.
    label_files = [opts.file] if opts.file is not None else []
    if opts.crawl is not None and opts.labels is None:
        raise WrongUseError("--crawl goes with --labels state")
    if not label_files and opts.labels is None:
        raise WrongUseError("neither LABELS.jsonl nor --labels state is given")
    if opts.pages and not label_files:
        raise WrongUseError("--pages FILE goes with LABELS.jsonl")
    if find_spec("lightgbm") is None:
        raise WrongUseError(
            "{names} must be installed: python -m pip install '.[{extra}]'", names="lightgbm", extra="lab"
        )

    # Read the labels.
    training_inputs = [readable_file(name) for name in label_files]
    validation_inputs = [readable_file(name) for name in opts.validate]
    labels = _labels(training_inputs)
    validation = _labels(validation_inputs)
    files = files_of({label.set for label in labels}, opts.pages) if labels else []
    validation_files = files_of({label.set for label in validation}, opts.pages) if validation else []
    output = Path(opts.output or Path(settings["OUTPUT_DIR"]) / FILE)
    crawl_images = _crawl_images(opts.crawl, settings) if opts.labels is not None else None
    plan = ImageTrainingPlan(
        training=LabelFiles(labels=labels, files=files),
        validation=LabelFiles(labels=validation, files=validation_files),
        output=output,
        seed=opts.seed,
        jobs=opts.jobs or cores(),
        crawl_images=crawl_images,
    )

    _check_output(plan, [*training_inputs, *validation_inputs, *files, *validation_files])
    try:
        print(_report(write_image_weights(plan, _say), plan))
    except KeyboardInterrupt:
        say(CALLED, "interrupted; nothing was written")
        return INTERRUPTED
    except TooFewError as error:
        say(CALLED, str(error))
        return FAILED
    except (WorkersError, OSError) as error:
        say(CALLED, f"stopped: {error}")
        return FAILED
    return 0


def _labels(paths: list[Path]) -> tuple[ImageLabel, ...]:
    """The labels of all files; reports broken lines, and raises a WrongUseError if a file has no label."""
    all_labels: list[ImageLabel] = []
    for path in paths:
        labels, faults = read_labels(path)
        for fault in faults:
            say(CALLED, fault)
        if not labels:
            raise WrongUseError("{path} contains no label", path=repr(str(path)))
        all_labels += labels
    return tuple(all_labels)


def _crawl_images(crawl: str | None, settings: BaseSettings) -> list[ImageExample]:
    """The labelled images of a crawl, or of all crawls."""
    url = state_url(settings)
    if not exists(url):
        raise WrongUseError("no crawl was ever run here ({path})", path=display_url(url))
    try:
        return labelled_images(url, crawl, _say)
    except StateError as error:
        raise WrongUseError(error.message) from None


def _check_output(plan: ImageTrainingPlan, inputs: list[Path]) -> None:
    """Raise a WrongUseError if the weights or their card would replace a folder, an input or each other."""
    if plan.output.is_dir() or plan.card.is_dir():
        folder = plan.output if plan.output.is_dir() else plan.card
        raise WrongUseError("{path} is a folder", path=repr(str(folder)))
    if plan.card == plan.output:
        raise WrongUseError(
            "-o {path} is the name of the card that is written beside the weights", path=repr(str(plan.output))
        )
    for path in (plan.output, plan.card):
        check_apart(str(path), inputs)


def _report(training: ImageTraining, plan: ImageTrainingPlan) -> str:
    lines = [text(tables(training))]
    for name, bins in calibrations(training).items():
        rows = [BIN_HEAD, *map(bin_cells, bins)]
        lines += ["", f"Calibration, {name}", *aligned(rows, range(len(BIN_HEAD)))]
    limit = training.model.limit
    link_count = len(training.training.links)
    labelled_links = counted(training.training.label_count, "link")
    weights = one_line(str(plan.output))
    card = one_line(str(plan.card))
    return "\n".join(
        [
            *lines,
            "",
            f"Trained on {link_count:,} of {labelled_links}; an image is noise above a probability of {limit:.4f}.",
            f"{training.size:,} bytes of weights in {weights}; {card} describes how they were made.",
        ]
    )


def _say(message: str) -> None:
    say(CALLED, message)
