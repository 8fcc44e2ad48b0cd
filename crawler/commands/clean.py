"""`scrapy clean`: saved pages become clean text, without a crawl."""

import argparse
import re

from crawler.command_line import command
from crawler.command_line.command import MOST_JOBS, names, whole
from crawler.command_line.terminal import WrongUseError

ADDRESS = re.compile(r"(?:tcp|tls)://(?:[\w.-]+|\[[0-9A-Fa-f:.%\w]+\]):\d{1,5}", re.ASCII)


class Command(command.Command):
    """Clean saved pages without a crawl."""

    function = "crawler.bulk.clean_files:clean"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("inputs", metavar="INPUT", nargs="+", help="files and folders of pages; - is standard input")
        add("-o", "--output", metavar="OUT.jsonl", help="where the lines go, if not to standard output")
        add("--method", metavar="NAME", help="the extractor, if not that of the setting EXTRACTOR")
        favours = "what auto favours"
        add("--favour", choices=("balance", "precision", "recall"), default="balance", help=favours)
        fields = "add some of language, comments, author, published, page_type, text_fingerprint, images"
        more = names("crawler.bulk.cleaning:MORE")
        add("--with", metavar="FIELDS", dest="fields", type=more, default=[], help=fields)
        markdown = "add the text as Markdown, with its links if --markdown=links"
        add("--markdown", choices=("no", "yes", "links"), nargs="?", const="yes", default="no", help=markdown)
        jobs = "number of processes, if not one for each core"
        add("--jobs", metavar="N", type=whole(1, MOST_JOBS), help=jobs)
        add("--into", metavar="FOLDER", help="clean each INPUT into a file of its own in this folder")
        add("--engine", choices=("local", "dask"), help="who cleans into FOLDER")
        add("--scheduler", metavar="ADDRESS", help="Dask's scheduler, as tcp://HOST:PORT or tls://")

    def check(self, opts: argparse.Namespace) -> None:
        if repeated := next((name for name in opts.inputs if opts.inputs.count(name) > 1), None):
            raise WrongUseError("{name} is given more than once", name=repr(repeated))
        if opts.into is None:
            for name in ("engine", "scheduler"):
                if getattr(opts, name) is not None:
                    raise WrongUseError("{option} goes with --into FOLDER", option=f"--{name}")
            return
        if not opts.into:
            raise WrongUseError("an --into FOLDER has no name")
        if opts.output is not None:
            raise WrongUseError("-o OUT.jsonl and --into FOLDER are two different things; give one of them")
        if opts.scheduler is not None:
            _check_scheduler(opts)


def _check_scheduler(opts: argparse.Namespace) -> None:
    if opts.engine != "dask":
        raise WrongUseError("--scheduler ADDRESS goes with --engine dask")
    if not ADDRESS.fullmatch(opts.scheduler):
        raise WrongUseError(
            "--scheduler {address} is wrong; allowed are tcp://HOST:PORT and tls://HOST:PORT",
            address=repr(opts.scheduler[:200]),
        )
    if opts.jobs is not None:
        raise WrongUseError("--jobs is for processes that are started here; a scheduler has its own workers")
