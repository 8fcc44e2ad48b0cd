"""`scrapy clean`: saved pages become clean text, without a crawl."""

import argparse
import re

from scrapy.settings import Settings

from crawler import command
from crawler.command import MOST_JOBS, names, one_of, whole
from crawler.terminal import WrongUseError

ADDRESS = re.compile(r"(?:tcp|tls)://(?:[\w.-]+|\[[0-9A-Fa-f:.%\w]+\]):\d{1,5}", re.ASCII)


class Command(command.Command):
    """Cleans HTML files and folders of them, JSON lines, WARC files and Tianwang's raw pages."""

    called = "scrapy clean"

    def syntax(self) -> str:
        return (
            "INPUT... [-o OUT.jsonl] [--method NAME] [--favour NAME] [--with FIELDS] [--markdown[=links]] [--jobs N] "
            "[--into FOLDER [--engine NAME] [--scheduler ADDRESS]]"
        )

    def short_desc(self) -> str:
        return "Clean saved pages without a crawl"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("-o", "--output", metavar="OUT.jsonl", help="where the lines go, if not to standard output")
        add("--method", metavar="NAME", help="the extractor, if not that of the setting EXTRACTOR")
        favour = one_of("crawler.extraction.auto:FAVOURS")
        add("--favour", metavar="NAME", type=favour, help="auto favours balance, precision or recall")
        fields = "add some of language, comments, author, published, page_type, text_fingerprint, images"
        more = names("crawler.bulk.cleaning:MORE")
        add("--with", metavar="FIELDS", dest="fields", type=more, default=[], help=fields)
        markdown = "add the text as Markdown, with its links if --markdown=links"
        add("--markdown", choices=["no", "yes", "links"], nargs="?", const="yes", default="no", help=markdown)
        jobs = "number of processes, if not one for each core"
        add("--jobs", metavar="N", type=whole(1, MOST_JOBS), help=jobs)
        add("--into", metavar="FOLDER", help="clean each INPUT into a file of its own in this folder")
        add("--engine", choices=("local", "dask"), help="who cleans into FOLDER")
        add("--scheduler", metavar="ADDRESS", help="Dask's scheduler, as tcp://HOST:PORT or tls://")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise WrongUseError("no INPUT is given: {usage}", usage=f"scrapy clean {self.syntax()}")
        if repeated := next((arg for arg in args if args.count(arg) > 1), None):
            raise WrongUseError("{name} is given more than once", name=repr(repeated))
        check_into(opts)

    def execute(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> int:
        from crawler.bulk.clean_files import clean

        return clean(args, opts, settings)


def check_into(opts: argparse.Namespace) -> None:
    """Raise a WrongUseError where the options of whole archives do not go together."""
    if opts.into is None:
        for name in ("engine", "scheduler"):
            if getattr(opts, name) is not None:
                raise WrongUseError("{option} goes with --into FOLDER", option=f"--{name}")
        return
    if not opts.into:
        raise WrongUseError("an --into FOLDER has no name")
    if opts.output is not None:
        raise WrongUseError("-o OUT.jsonl and --into FOLDER are two different things; give one of them")
    if opts.scheduler is not None and opts.engine != "dask":
        raise WrongUseError("--scheduler ADDRESS goes with --engine dask")
    if opts.scheduler is not None and not ADDRESS.fullmatch(opts.scheduler):
        raise WrongUseError(
            f"--scheduler {opts.scheduler[:200]!r} is wrong; allowed are tcp://HOST:PORT and tls://HOST:PORT"
        )
    if opts.scheduler is not None and opts.jobs is not None:
        raise WrongUseError("--jobs is for processes that are started here; a scheduler has its own workers")
