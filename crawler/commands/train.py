"""`scrapy train`: weights of learned methods, from pages with gold text."""

import argparse
import sys
from collections import Counter
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.cli.options import OneSentence, refuse, whole
from crawler.evaluation.gold import set_name
from crawler.extraction.template_svm import save
from crawler.translation.message import counted, printable

if TYPE_CHECKING:  # they want numpy and more
    from crawler.training.auto_release import AutoRelease
    from crawler.training.template_svm import TrainedSvm

METHODS = ("auto", "template-svm")
FILES = {"auto": "auto.npz", "template-svm": "template_svm.npz"}
NEEDED = {"auto": ("scipy", "sklearn", "lightgbm"), "template-svm": ("sklearn",)}
CALLED = {"sklearn": "scikit-learn"}
FOLDS = 10  # of the cross-validation of template-svm, whole hosts each
MOST_SEED = 2**32 - 1


class Command(OneSentence):
    """Trains a method and writes its weights; the report says what to expect of them."""

    called = "scrapy train"

    def syntax(self) -> str:
        return "auto|template-svm GOLD.jsonl[.gz|.xz] ... [options]"

    def short_desc(self) -> str:
        return "Train a learned extractor from pages with gold text"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        names = " or ".join(FILES.values())
        add("-o", dest="output", metavar="FILE", help=f"the weights (OUTPUT_DIR/{names} if not given)")
        seed = "what chance decides: which parts, which copies, which blocks"
        add("--seed", metavar="N", type=whole(0, MOST_SEED), default=0, help=seed)
        add(
            "--validate", metavar="FILE", nargs="+", action="extend", help="auto: gold to judge only, not to learn from"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if not args or args[0] not in METHODS:
            wanted = f"{args[0]!r} cannot be trained" if args else "what is to be trained is not said"
            _refuse(f"{wanted}; there is {', '.join(METHODS)}")
        if opts.validate is not None and args[0] != "auto":
            _refuse("--validate is for auto only")
        if len(args) == 1:
            _refuse("no pages with gold text; give files of JSON lines with url, html and gold")
        _check_files(args[0], args[1:], opts.validate or [])
        self.seed = opts.seed

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from crawler.training.examples import GoldError, TooFewError

        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        method, paths = args[0], tuple(map(Path, args[1:]))
        if missing := [CALLED.get(name, name) for name in NEEDED[method] if find_spec(name) is None]:
            _refuse(f"{' and '.join(missing)} must be installed: python -m pip install '.[train]'")
        path = Path(opts.output or Path(self.settings["OUTPUT_DIR"]) / FILES[method])
        validate = tuple(map(Path, opts.validate or ()))
        if path.is_dir():
            _refuse(f"-o {str(path)!r} is a folder")
        if any(path.exists() and path.samefile(one) for one in (*paths, *validate)):
            _refuse(f"-o {str(path)!r} is a file of gold text")
        try:
            print(self.auto(paths, validate, path) if method == "auto" else self.template_svm(paths, path))
        except (GoldError, TooFewError) as error:
            self.fail(str(error))
        except OSError as error:
            self.fail(f"{error.filename or path} cannot be read or written: {error.strerror or error}")
        except KeyboardInterrupt:
            self.fail("broken off; nothing was written")

    def auto(self, paths: tuple[Path, ...], validate: tuple[Path, ...], path: Path) -> str:
        """What is to be said of new weights of auto."""
        from crawler.training.auto_release import TrainingPlan, release

        made = release(TrainingPlan(paths, validate, path, self.seed), _say)
        return _report_auto(made, path)

    def template_svm(self, paths: tuple[Path, ...], path: Path) -> str:
        """What is to be said of a new SVM."""
        from crawler.training.examples import rows
        from crawler.training.template_svm import fit, samples, train

        path.parent.mkdir(parents=True, exist_ok=True)
        pages = ((row.page, row.gold or "") for one in paths for row in rows(one))
        trained = train(samples(pages), fit, FOLDS, self.seed)
        save(trained.svm, path)
        return _report(trained, path)

    def fail(self, message: str) -> None:
        """Say why nothing came out."""
        _say(message)
        self.exitcode = 1


def _report(trained: "TrainedSvm", path: Path) -> str:
    svm, score, hosts = trained.svm, trained.score, counted(trained.hosts, "host")
    return (
        f"{trained.blocks:,} blocks of {hosts}, {trained.main:,} of main text; {trained.drawn:,} drawn of each kind.\n"
        f"C {trained.cost:g}, gamma {svm.gamma:g}: precision {score.precision:.3f}, recall {score.recall:.3f}, "
        f"F1 {score.f1:.3f} of the drawn blocks, by {FOLDS} folds of whole hosts.\n"
        f"{len(svm.vectors):,} support vectors in {_line(str(path))} ({path.stat().st_size:,} bytes)."
    )


def _report_auto(made: "AutoRelease", path: Path) -> str:
    from crawler.training.auto_release import COLUMNS, cells, tables

    lines = []
    for title, found in tables(made):
        cut = [(title, *COLUMNS), *((_line(name), *cells(one)) for name, one in found.items())]
        widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
        for first, *others in cut:
            row = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
            lines.append("  ".join((first.ljust(widths[0]), *row)).rstrip())
        lines.append("")
    return "\n".join(
        [*lines, f"{made.size:,} bytes of weights in {_line(str(path))}; CARD.md beside them says how they were made."]
    )


def _check_files(method: str, gold: list[str], validate: list[str]) -> None:
    """End the program where a file is missing or given twice."""
    for name in (*gold, *validate):
        if not Path(name).is_file():
            _refuse(f"there is no file {name!r}")
    names = Counter(set_name(Path(name)) for name in (*gold, *validate))
    if method == "auto" and (twice := [name for name, count in names.items() if count > 1]):
        _refuse(f"two files are called {twice[0]!r}; sets are told apart by their names")


def _say(message: str) -> None:
    print(f"scrapy train: {_line(message)}", file=sys.stderr)


def _line(text: str) -> str:
    """A text as one line of a terminal: names of files may hold anything."""
    return " ".join(printable(text).split())


_refuse = partial(refuse, "scrapy train")
