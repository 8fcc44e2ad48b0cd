"""The options of `winnow clean`, which cleans saved pages without a crawl, or the stored pages of a crawl again."""

import argparse
import re

from crawler.command_line.options import MOST_JOBS, CommandOptions, names, whole
from crawler.command_line.page_options import is_page_address
from crawler.doors import Door, load
from crawler.errors import WrongUseError
from crawler.translation.message import N_

SCHEDULER_ADDRESS = re.compile(r"(?:tcp|tls)://(?:[\w.-]+|\[[0-9A-Fa-f:.%\w]+\]):\d{1,5}", re.ASCII)


class CleanOptions(CommandOptions):
    """The options of `winnow clean`."""

    function = "crawler.contrib.bulk.clean_files:clean"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument

        # The pages.
        add("inputs", metavar="INPUT", nargs="*", help=N_("files and folders of saved pages; - reads standard input"))
        add(
            "--stored",
            metavar="NAME",
            help=N_("extract the texts of this crawl's pages again, in the database, from the stored responses"),
        )

        # The text and its fields.
        add("-o", "--output", metavar="OUT.jsonl", help=N_("the file to write; standard output if not given"))
        add("--method", metavar="NAME", help=N_("the extractor; the setting EXTRACTOR if not given"))
        favours = N_("what auto prefers in case of doubt: precision keeps less, recall keeps more")
        add("--favour", choices=("balance", "precision", "recall"), default="balance", help=favours)
        fields = N_(
            "more fields, of: language, comments, author, published, published_source, page_type, quality, "
            "text_fingerprint, rights, content_type, page_count, images"
        )
        more = names("crawler.contrib.bulk.cleaning:MORE_FIELDS")
        add("--with", metavar="FIELDS", dest="fields", type=more, default=[], help=fields)
        markdown = N_("add the text as Markdown; links adds the addresses of links, too")
        add("--markdown", choices=("no", "yes", "links"), nargs="?", const="yes", help=markdown)

        # The processes.
        jobs = N_("number of processes; one for each core if not given")
        add("--jobs", metavar="N", type=whole(1, MOST_JOBS), help=jobs)
        add("--into", metavar="FOLDER", help=N_("clean each INPUT into its own file in this folder"))
        add(
            "--engine",
            choices=("local", "dask"),
            help=N_("with --into: clean with processes on this machine, or with Dask"),
        )
        add(
            "--scheduler",
            metavar="ADDRESS",
            help=N_("with --engine dask: the address of its scheduler, tcp://HOST:PORT or tls://HOST:PORT"),
        )

    def check(self, opts: argparse.Namespace) -> None:
        if opts.stored is not None:
            _check_stored(opts)
            self.function = "crawler.contrib.bulk.clean_stored:clean_stored"
            return

        if not opts.inputs:
            raise WrongUseError("the following arguments are required: {names}", names="INPUT")
        address = next(filter(is_page_address, opts.inputs), None)
        if address:
            raise WrongUseError("{address} is no saved page; winnow page prints its text", address=repr(address))
        opts.markdown = opts.markdown or "no"
        if "quality" in opts.fields:
            load(Door.QUALITY, "measured")  # raises an error if it is not installed
        repeated = next((name for name in opts.inputs if opts.inputs.count(name) > 1), None)
        if repeated:
            raise WrongUseError("{name} is given more than once", name=repr(repeated))
        _check_into(opts)


def _check_into(opts: argparse.Namespace) -> None:
    """Raise a WrongUseError if options do not go with the output."""
    if opts.into is None:
        for name in ("engine", "scheduler"):
            if getattr(opts, name) is not None:
                raise WrongUseError("{option} goes with --into FOLDER", option=f"--{name}")
        return
    if not opts.into:
        raise WrongUseError("--into needs the name of a folder")
    if opts.output is not None:
        raise WrongUseError("-o OUT.jsonl and --into FOLDER exclude each other")
    if opts.scheduler is not None:
        _check_scheduler(opts)


def _check_stored(opts: argparse.Namespace) -> None:
    """Raise a WrongUseError if an option is only for saved pages."""
    if opts.inputs:
        raise WrongUseError("INPUT and --stored NAME exclude each other")
    for name, option in (("output", "-o"), ("fields", "--with"), ("into", "--into"), ("engine", "--engine")):
        if getattr(opts, name):
            raise WrongUseError("{option} does not go with --stored NAME", option=option)
    if opts.scheduler is not None:
        raise WrongUseError("{option} does not go with --stored NAME", option="--scheduler")


def _check_scheduler(opts: argparse.Namespace) -> None:
    """Raise a WrongUseError if the address of a scheduler is wrong, or options do not go with it."""
    if opts.engine != "dask":
        raise WrongUseError("--scheduler ADDRESS goes with --engine dask")
    if not SCHEDULER_ADDRESS.fullmatch(opts.scheduler):
        raise WrongUseError(
            "--scheduler {address} is wrong; allowed are tcp://HOST:PORT and tls://HOST:PORT",
            address=repr(opts.scheduler[:200]),
        )
    if opts.jobs is not None:
        raise WrongUseError("--jobs is for local processes; a scheduler has its own workers")
