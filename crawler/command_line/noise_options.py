"""The options of `winnow noise`: judge the images of saved pages; report on, evaluate and train the models."""

import argparse

from crawler.command_line.options import MOST_JOBS, GroupOptions, Subcommand, whole
from crawler.translation.message import N_

MOST_SEED = 2**31 - 1  # the largest seed that LightGBM takes
JOBS = N_("number of processes; one for each core if not given")


def judge_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("pages", metavar="PAGES.jsonl[.gz|.xz]", help=N_("saved pages, one JSON object with url and html a line"))
    add("-o", "--output", metavar="OUT.jsonl", help=N_("the file of verdicts; standard output if not given"))
    add("--jobs", metavar="N", type=whole(1, MOST_JOBS), help=JOBS)


def evaluate_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("labels", metavar="LABELS.jsonl", help=N_("labelled images, with their features or with --pages"))
    add(
        "--pages",
        metavar="FILE",
        nargs="+",
        action="extend",
        help=N_("the saved pages that contain the labelled images"),
    )
    lists = N_("filter lists such as EasyList, to compare with")
    add("--lists", metavar="FILE", nargs="+", action="extend", default=[], help=lists)
    add("--json", metavar="FILE", help=N_("write the figures to this file as JSON"))
    add("--jobs", metavar="N", type=whole(1, MOST_JOBS), help=JOBS)


def report_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help=N_("the crawl; needed only if there are several"))


def train_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="LABELS.jsonl", nargs="?", help=N_("labelled images, with their features or with --pages"))
    pages = N_("the saved pages that contain the labelled images")
    add("--pages", metavar="FILE", nargs="+", action="extend", default=[], help=pages)
    source = N_("where the labels come from: state means those given in the dashboard")
    add("--labels", choices=("state",), help=source)
    add("--crawl", metavar="NAME", help=N_("the crawl whose labels are used; all crawls if not given"))
    validation_labels = N_("labelled images for validation, not used for training")
    add("--validate", metavar="LABELS.jsonl", nargs="+", action="extend", default=[], help=validation_labels)
    add("-o", "--output", metavar="FILE", help=N_("the file of weights; OUTPUT_DIR/images.npz if not given"))
    seed = N_("a number that decides all random choices; the same number gives the same weights")
    add("--seed", metavar="N", type=whole(0, MOST_SEED), default=0, help=seed)
    add("--jobs", metavar="N", type=whole(1, MOST_JOBS), help=JOBS)


class NoiseOptions(GroupOptions):
    subcommands = {  # noqa: RUF012
        "judge": Subcommand("crawler.contrib.bulk.judge_images:judge", judge_options),
        "evaluate": Subcommand("crawler.contrib.lab.evaluation.evaluate_images:evaluate", evaluate_options),
        "report": Subcommand("crawler.reports.report_noise:report", report_options),
        "train": Subcommand("crawler.contrib.lab.training.train_image_model:train", train_options),
    }
