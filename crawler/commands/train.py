"""`scrapy train`: weights of learned methods, from pages with gold text."""

import argparse
from collections import Counter
from importlib.util import find_spec

from crawler.command_line import command
from crawler.command_line.command import whole
from crawler.command_line.terminal import WrongUseError
from crawler.evaluation.gold import set_name
from crawler.files import readable_file

NEEDED = {"auto": ("scipy", "sklearn", "lightgbm"), "template-svm": ("sklearn",)}
CALLED = {"sklearn": "scikit-learn"}
MOST_SEED = 2**32 - 1


class Command(command.Command):
    """Train a learned extractor from pages with gold text."""

    function = "crawler.training.train_extractor:train"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("method", choices=tuple(NEEDED), help="what is trained")
        add("gold", metavar="GOLD.jsonl", nargs="+", help="pages with gold text: url, html and gold; also .gz and .xz")
        output = "the weights (OUTPUT_DIR/auto.npz or template_svm.npz if not given)"
        add("-o", dest="output", metavar="FILE", help=output)
        seed = "what chance decides: which parts, which copies, which blocks"
        add("--seed", metavar="N", type=whole(0, MOST_SEED), default=0, help=seed)
        judged = "auto: gold to judge only, not to learn from"
        add("--validate", metavar="FILE", nargs="+", action="extend", default=[], help=judged)

    def check(self, opts: argparse.Namespace) -> None:
        if opts.validate and opts.method != "auto":
            raise WrongUseError("--validate is for auto only")
        opts.gold, opts.validate = (tuple(map(readable_file, names)) for names in (opts.gold, opts.validate))
        names = Counter(set_name(path) for path in (*opts.gold, *opts.validate))
        if opts.method == "auto" and (twice := [name for name, count in names.items() if count > 1]):
            raise WrongUseError("two files are called {name}; sets are told apart by their names", name=repr(twice[0]))
        if missing := [CALLED.get(name, name) for name in NEEDED[opts.method] if find_spec(name) is None]:
            raise WrongUseError(
                "{names} must be installed: python -m pip install '.[{extra}]'", names=missing, extra="train"
            )
