"""`scrapy noise`: what the judge of pictures says, and what there is to do with it."""

import argparse

from crawler.command_line.command import MOST_JOBS, CommandGroup, Subcommand, whole

MOST_SEED = 2**31 - 1  # of LightGBM


def judge_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `scrapy noise judge`."""
    parser.add_argument("pages", metavar="PAGES.jsonl[.gz|.xz]")
    parser.add_argument("-o", "--output", metavar="OUT.jsonl")
    parser.add_argument("--jobs", metavar="N", type=whole(1, MOST_JOBS))


def evaluate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `scrapy noise evaluate`."""
    parser.add_argument("labels", metavar="LABELS.jsonl")
    parser.add_argument("--pages", metavar="FILE", nargs="+", action="extend")
    parser.add_argument("--lists", metavar="FILE", nargs="+", action="extend", default=[])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--jobs", metavar="N", type=whole(1, MOST_JOBS))


def report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `scrapy noise report`."""
    parser.add_argument("name", metavar="NAME", nargs="?")


def train_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `scrapy noise train`."""
    parser.add_argument("file", metavar="LABELS.jsonl", nargs="?")
    parser.add_argument("--pages", metavar="FILE", nargs="+", action="extend", default=[])
    parser.add_argument("--labels", choices=("state",))
    parser.add_argument("--crawl", metavar="NAME")
    parser.add_argument("--validate", metavar="LABELS.jsonl", nargs="+", action="extend", default=[])
    parser.add_argument("-o", "--output", metavar="FILE")
    parser.add_argument("--seed", metavar="N", type=whole(0, MOST_SEED), default=0)
    parser.add_argument("--jobs", metavar="N", type=whole(1, MOST_JOBS))


class Command(CommandGroup):
    """Tell pictures that are noise from content, and say what was skipped and how well that is done."""

    subcommands = {  # noqa: RUF012
        "judge": Subcommand("crawler.bulk.judge_images:judge", judge_options),
        "evaluate": Subcommand("crawler.evaluation.evaluate_images:evaluate", evaluate_options),
        "report": Subcommand("crawler.reports.report_noise:report", report_options),
        "train": Subcommand("crawler.training.train_image_model:train", train_options),
    }
