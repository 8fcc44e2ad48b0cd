"""`scrapy train`: weights of learned methods, from pages with gold text."""

import argparse
import gzip
import json
import lzma
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.extraction.template_svm import Svm, save
from crawler.extraction.training import TooFewError, Trained, samples, train
from crawler.page import Page
from crawler.urls import absolute
from crawler.wording import counted

if TYPE_CHECKING:
    from crawler.extraction.template_svm import Matrix

METHODS = ("template-svm",)
FILE = "template_svm.npz"
FEWEST_FOLDS, MOST_FOLDS = 2, 100


class GoldError(Exception):
    """Gold that cannot be read; the message is one sentence for the user."""


class Command(ScrapyCommand):
    """Trains a method and writes its weights; the report says what to expect of them."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "template-svm GOLD.jsonl[.xz] ... [-o FILE]"

    def short_desc(self) -> str:
        return "Train a learned extractor from pages with gold text"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("-o", dest="output", metavar="FILE", help=f"the weights (OUTPUT_DIR/{FILE} if not given)")
        parser.add_argument(
            "--folds", metavar="N", default="10", help="parts of the cross-validation, whole hosts each"
        )
        parser.add_argument("--seed", metavar="N", default="0", help="which blocks are drawn, and into which parts")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            super().process_options(args, opts)
        except UsageError as error:
            _refuse(str(error))
        unknown = [arg for arg in args if arg.startswith("-")]
        if unknown:
            _refuse(f"there is no option {unknown[0]!r}; there are -o FILE, --folds N and --seed N")
        if not args or args[0] not in METHODS:
            wanted = f"{args[0]!r} cannot be trained" if args else "what is to be trained is not said"
            _refuse(f"{wanted}; there is {', '.join(METHODS)}")
        if len(args) == 1:
            _refuse("no pages with gold text; give files of JSON lines with url, html and gold")
        for name in args[1:]:
            if not Path(name).is_file():
                _refuse(f"there is no file {name!r}")
        self.folds = _whole("--folds", opts.folds, FEWEST_FOLDS, MOST_FOLDS)
        self.seed = _whole("--seed", opts.seed, 0, 2**32 - 1)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        if find_spec("sklearn") is None:  # said before anything is read
            _refuse("scikit-learn must be installed: python -m pip install '.[train]'")
        path = Path(opts.output or Path(self.settings["OUTPUT_DIR"]) / FILE)
        if any(path.exists() and path.samefile(name) for name in args[1:]):
            _refuse(f"-o {str(path)!r} is a file of gold text")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            trained = train(
                samples(line for name in args[1:] for line in _gold(Path(name))), fit, self.folds, self.seed
            )
            save(trained.svm, path)
        except (GoldError, TooFewError) as error:
            _say(str(error))
            self.exitcode = 1
        except OSError as error:
            _say(f"{error.filename or path} cannot be read or written: {error.strerror or error}")
            self.exitcode = 1
        else:
            print(_report(trained, self.folds, path))


def fit(rows: "Matrix", main: list[bool], cost: float, gamma: float) -> Svm:
    """The SVM of scikit-learn, as numbers."""
    from sklearn.svm import SVC

    found = SVC(C=cost, gamma=gamma, kernel="rbf").fit(rows, main)
    return Svm(found.support_vectors_, found.dual_coef_[0], gamma, float(found.intercept_[0]))


OPEN: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open}


def _gold(path: Path) -> Iterator[tuple[Page, str]]:
    with OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        try:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                row = _row(line, f"line {number} of {path}")
                # A page without an address is a site by itself.
                url = absolute("", str(row.get("url"))) or f"http://{path.name}-{number}/"
                yield Page.from_html(row["html"], url), row["gold"]
        except (lzma.LZMAError, EOFError, UnicodeDecodeError) as error:
            raise GoldError(f"{path} cannot be read: {error}") from error


def _row(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise GoldError(f"{place} is no JSON: {error}") from error
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("html", "gold")):
        raise GoldError(f"{place} has no html and gold")
    return row


def _report(trained: Trained, folds: int, path: Path) -> str:
    svm, score, hosts = trained.svm, trained.score, counted(trained.hosts, "host")
    return (
        f"{trained.blocks:,} blocks of {hosts}, {trained.main:,} of main text; {trained.drawn:,} drawn of each kind.\n"
        f"C {trained.cost:g}, gamma {svm.gamma:g}: precision {score.precision:.3f}, recall {score.recall:.3f}, "
        f"F1 {score.f1:.3f} of the drawn blocks, by {folds} folds of whole hosts.\n"
        f"{len(svm.vectors):,} support vectors in {path} ({path.stat().st_size:,} bytes)."
    )


def _whole(name: str, text: str, least: int, most: int) -> int:
    """An option that is a whole number; if it is not, the program ends."""
    if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= most):
        _refuse(f"{name} {text[:100]} is wrong; allowed are whole numbers from {least} to {most}")
    return int(text)


def _say(message: str) -> None:
    print(f"scrapy train: {' '.join(message.split())}", file=sys.stderr)


def _refuse(message: str) -> NoReturn:
    _say(message)
    sys.exit(2)
