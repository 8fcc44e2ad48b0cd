"""`scrapy noise evaluate`: how well pictures are told apart that people have told apart."""

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.archives.records import Broken
from crawler.evaluation.gold import set_name
from crawler.evaluation.picture_labels import Label, Labels, read_labels, read_regions
from crawler.evaluation.picture_models import models
from crawler.parallel import WorkersError
from crawler.saved_pictures import Judging, Panel, evidence, judged, read
from crawler.subcommands import Subcommand, WrongUseError
from crawler.subcommands.pages import check_apart, jobs, method, readable, say
from crawler.wording import counted

NAME = "evaluate"
BROKEN, INTERRUPTED = 1, 130  # the last is what shells make of Ctrl-C
NAMELESS = "http://page.example/"
"""The address of pages that have none, in labels too."""
DATA, FOLDER, ENDING = "WINNOW_DATA", "extraction", ".jsonl.xz"

Found = dict[str, list[tuple[Label, str, int, tuple[float, ...], tuple[bool, ...]]]]


def files(opts: argparse.Namespace, labels: Labels) -> list[Path]:
    """The files of pages: those that are given, else those of the labels' sets; all sets where regions are asked for."""
    if opts.pages:
        return [readable(name) for name in dict.fromkeys(opts.pages)]
    if not os.environ.get(DATA):
        raise WrongUseError(f"no --pages FILE is given, and {DATA} names no folder")
    folder = Path(os.environ[DATA]) / FOLDER
    if opts.region is not None:
        return sorted(folder.glob(f"*{ENDING}"))
    return [readable(str(folder / f"{name}{ENDING}")) for name in sorted({label.set for label in labels.found})]
