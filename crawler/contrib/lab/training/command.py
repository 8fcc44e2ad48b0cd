"""`winnow train`: trains weights on pages whose main text, or whose author and date, is known."""

import argparse
from collections import Counter
from importlib.util import find_spec

from crawler.atomic_files import readable_file
from crawler.command_line.options import CommandOptions, whole
from crawler.contrib.lab.evaluation.gold import set_name
from crawler.errors import WrongUseError
from crawler.translation.message import N_

NEEDED = {"auto": ("scipy", "sklearn", "lightgbm"), "template-svm": ("sklearn",), "metadata": ("scipy",)}
"""The modules that each method needs."""
PACKAGES = {"sklearn": "scikit-learn"}
"""The names of packages that differ from their modules'."""
MOST_SEED = 2**32 - 1


class TrainOptions(CommandOptions):
    function = "crawler.contrib.lab.training.train_extractor:train"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("method", choices=tuple(NEEDED), help=N_("the extractor to train, or metadata for author and date"))
        add(
            "gold",
            metavar="GOLD.jsonl",
            nargs="+",
            help=N_(
                "pages with their main text, one JSON object with url, html and gold a line; also .gz and .xz; "
                "what the first file calls main text, auto extracts. For metadata: html and url with author or "
                "published, empty where the page has none"
            ),
        )
        output_help = N_("the file of weights; OUTPUT_DIR/auto.npz, template_svm.npz or metadata.json if not given")
        add("-o", dest="output", metavar="FILE", help=output_help)
        seed_help = N_("a number that decides all random choices; the same number gives the same weights")
        add("--seed", metavar="N", type=whole(0, MOST_SEED), default=0, help=seed_help)
        validate_help = N_("auto only: pages for validation, not used for training")
        add("--validate", metavar="FILE", nargs="+", action="extend", default=[], help=validate_help)

    def check(self, opts: argparse.Namespace) -> None:
        if opts.validate and opts.method != "auto":
            raise WrongUseError("--validate is for auto only")
        opts.gold = tuple(map(readable_file, opts.gold))
        opts.validate = tuple(map(readable_file, opts.validate))
        names = Counter(set_name(path) for path in (*opts.gold, *opts.validate))
        repeated = [name for name, count in names.items() if count > 1]
        if opts.method == "auto" and repeated:
            raise WrongUseError("two files are named {name}; names must be unique", name=repr(repeated[0]))
        missing = [PACKAGES.get(name, name) for name in NEEDED[opts.method] if find_spec(name) is None]
        if missing:
            raise WrongUseError(
                "{names} must be installed: python -m pip install '.[{extra}]'", names=missing, extra="lab"
            )
