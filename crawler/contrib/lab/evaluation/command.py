"""`winnow evaluate`: measures extractors and other programs on pages whose main text is known."""

import argparse
from importlib.util import find_spec
from pathlib import Path

from crawler.command_line.options import CommandOptions, names, whole
from crawler.contrib.lab.evaluation.gold import set_name
from crawler.errors import WrongUseError
from crawler.translation.message import N_

NEEDED = ("numpy", "scipy")
MOST_JOBS = 64


class EvaluateOptions(CommandOptions):
    function = "crawler.contrib.lab.evaluation.evaluate_extractors:evaluate"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add(
            "gold",
            metavar="GOLD.jsonl",
            nargs="+",
            type=Path,
            help=N_("pages with their main text, one JSON object with url, html and gold a line; also .gz and .xz"),
        )

        methods_help = N_(
            "the extractors to measure; all if not given. auto-site is auto with what pages of a host have in common"
        )
        methods = names("crawler.contrib.lab.evaluation.method_process:METHODS")
        add("--methods", metavar="A,B", type=methods, help=methods_help)

        peers = names("crawler.contrib.lab.evaluation.peers:PEERS", "all")
        against_help = N_(
            "other programs to measure, or all: trafilatura, trafilatura-fast, readability, resiliparse, justext, "
            "newspaper, goose3, boilerpy3, magic-html, html-text, inscriptis"
        )
        add("--against", metavar="A,B", type=peers, default=[], help=against_help)

        add("-o", "--output", metavar="FILE", help=N_("write a report to this HTML file"))
        add("--save", metavar="FILE", help=N_("write the figures to this file as JSON"))
        add(
            "--baseline",
            metavar="FILE",
            help=N_("figures that --save wrote before; end with status 1 if one of them fell"),
        )
        add(
            "--by",
            choices=("lang", "page_type"),
            default="",
            help=N_("also show the figures by language or by page type"),
        )

        metadata_help = N_(
            "judge title, author, published and comments instead; GOLD has these fields besides html and url"
        )
        structure_help = N_("judge Markdown instead; GOLD has gold_markdown besides html and url")
        quantities = parser.add_mutually_exclusive_group()
        quantities.add_argument("--metadata", action="store_true", help=metadata_help)
        quantities.add_argument("--structure", action="store_true", help=structure_help)

        jobs_help = N_("how many methods run at once; times are accurate only with 1")
        add("--jobs", metavar="N", type=whole(1, MOST_JOBS), default=1, help=jobs_help)

    def check(self, opts: argparse.Namespace) -> None:
        missing = [name for name in NEEDED if find_spec(name) is None]
        if missing:
            raise WrongUseError(
                "{names} must be installed: python -m pip install '.[{extra}]'", names=missing, extra="lab"
            )
        outputs = [name for name in (opts.output, opts.save) if name is not None]
        if len({Path(name).absolute() for name in outputs}) < len(outputs):
            raise WrongUseError("-o and --save name the same file")
        has_baseline = opts.baseline is not None and Path(opts.baseline).exists()
        other_inputs = [Path(opts.baseline)] if has_baseline else []
        _check_files(opts.gold, other_inputs, outputs)


def _check_files(gold_files: list[Path], other_inputs: list[Path], outputs: list[str]) -> None:
    """Raise a WrongUseError if a gold file cannot be read, two have the same name, or an output cannot be written."""
    for path in gold_files:
        try:
            path.open("rb").close()
        except OSError as error:
            raise WrongUseError("{path} cannot be read ({why})", path=repr(str(path)), why=error.strerror) from None
    names = [set_name(path) for path in gold_files]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WrongUseError(
            "two files would have the name {name} in the tables; rename one of them", name=repr(twice[0])
        )
    for name in outputs:
        if any(Path(name).exists() and path.samefile(name) for path in [*gold_files, *other_inputs]):
            raise WrongUseError("{path} is an input and cannot be the output", path=repr(name))
        if Path(name).is_dir() or not Path(name).absolute().parent.is_dir():
            raise WrongUseError(
                "{path} cannot be written: its folder does not exist, or it is a folder itself", path=repr(name)
            )
