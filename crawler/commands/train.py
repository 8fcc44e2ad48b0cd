"""`scrapy train`: weights of learned methods, from pages with gold text."""

import argparse
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler import command
from crawler.command import whole
from crawler.evaluation.gold import set_name
from crawler.terminal import WrongUseError

METHODS = ("auto", "template-svm")
FILES = {"auto": "auto.npz", "template-svm": "template_svm.npz"}
NEEDED = {"auto": ("scipy", "sklearn", "lightgbm"), "template-svm": ("sklearn",)}
CALLED = {"sklearn": "scikit-learn"}
MOST_SEED = 2**32 - 1


class Command(command.Command):
    """Trains a method and writes its weights; the report says what to expect of them."""

    called = "scrapy train"

    def syntax(self) -> str:
        return "auto|template-svm GOLD.jsonl[.gz|.xz] ... [options]"

    def short_desc(self) -> str:
        return "Train a learned extractor from pages with gold text"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        file_names = " or ".join(FILES.values())
        add("-o", dest="output", metavar="FILE", help=f"the weights (OUTPUT_DIR/{file_names} if not given)")
        seed = "what chance decides: which parts, which copies, which blocks"
        add("--seed", metavar="N", type=whole(0, MOST_SEED), default=0, help=seed)
        judged = "auto: gold to judge only, not to learn from"
        add("--validate", metavar="FILE", nargs="+", action="extend", default=[], help=judged)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or args[0] not in METHODS:
            wanted = f"{args[0]!r} cannot be trained" if args else "what is to be trained is not said"
            raise WrongUseError(f"{wanted}; there is {', '.join(METHODS)}")
        if opts.validate and args[0] != "auto":
            raise WrongUseError("--validate is for auto only")
        if len(args) == 1:
            raise WrongUseError("no pages with gold text; give files of JSON lines with url, html and gold")
        _check_files(args[0], args[1:], opts.validate)
        if missing := [CALLED.get(name, name) for name in NEEDED[args[0]] if find_spec(name) is None]:
            raise WrongUseError(f"{' and '.join(missing)} must be installed: python -m pip install '.[train]'")

    def execute(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
        from crawler.training.train_extractor import train

        path = Path(opts.output or Path(settings["OUTPUT_DIR"]) / FILES[args[0]])
        gold, validate = tuple(map(Path, args[1:])), tuple(map(Path, opts.validate))
        if path.is_dir():
            raise WrongUseError(f"-o {str(path)!r} is a folder")
        if any(path.exists() and path.samefile(one) for one in (*gold, *validate)):
            raise WrongUseError(f"-o {str(path)!r} is a file of gold text")
        return train(args[0], gold, validate, path, opts.seed)


def _check_files(method: str, gold: list[str], validate: list[str]) -> None:
    """Raise a WrongUseError where a file is missing or given twice."""
    for name in (*gold, *validate):
        if not Path(name).is_file():
            raise WrongUseError(f"there is no file {name!r}")
    names = Counter(set_name(Path(name)) for name in (*gold, *validate))
    if method == "auto" and (twice := [name for name, count in names.items() if count > 1]):
        raise WrongUseError(f"two files are called {twice[0]!r}; sets are told apart by their names")
