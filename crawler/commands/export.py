"""`scrapy export`: the pages that a crawl stored, from the database into a file or a folder of files."""

import argparse

from scrapy.settings import BaseSettings

from crawler import command
from crawler.command import names, parsed, share
from crawler.export.formats import COMPRESSORS, FORMATS, compression_of, format_of
from crawler.terminal import WrongUseError

# What does not go with --labels: these choose among the pages that a crawl stored.
OF_PAGES = ("since", "only", "min_relevance", "fields", "where", "spreadsheet")


class Command(command.Command):
    """Writes stored pages as JSON lines, CSV, Parquet, Markdown or WARC, and those that people labelled as gold."""

    called = "scrapy export"

    def syntax(self) -> str:
        return (
            "[-o FILE] [--format NAME] [--name NAME] [--since ROUND|DATE] [--only new|changed|gone] "
            "[--min-relevance X] [--fields NAMES] [--where LANGUAGE/SITE] [--spreadsheet] | --labels [-o FILE] "
            "[--name NAME]"
        )

    def short_desc(self) -> str:
        return f"Write the pages that a crawl stored as {', '.join(FORMATS)}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("-o", "--output", metavar="FILE", help="where to, if not to standard output")
        add("--format", choices=[*FORMATS], help="if FILE does not say which")
        add("--name", metavar="NAME", help="the crawl, if there are several")
        since, place = (parsed(f"crawler.reports.stored_pages:{name}") for name in ("since_of", "place_of"))
        changed = "what became new or changed in this round or later, or since"
        add("--since", metavar="WHEN", type=since, help=changed)
        add("--only", choices=("new", "changed", "gone"), help="in the last round, or since --since")
        relevant = "pages of this relevance or more, 0 to 1"
        add("--min-relevance", metavar="X", type=share, default=0.0, help=relevant)
        fields = names("crawler.metadata.page_record:TYPES")
        add("--fields", metavar="NAMES", type=fields, help="these fields, commas between them, in this order")
        where = "pages of a language (zh), a site (example.org) or both (zh/example.org); several are added up"
        add("--where", metavar="PLACE", type=place, action="append", default=[], help=where)
        add("--spreadsheet", action="store_true", help="CSV in which no cell is taken for a formula")
        labels = "pages whose main text people labelled, as scrapy evaluate reads them"
        add("--labels", action="store_true", help=labels)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise WrongUseError(f"{args[0][:200]!r} is too much; it is scrapy export {self.syntax()}")
        opts.format = _format(opts)
        _check_labels(opts)
        if opts.fields is not None and not FORMATS[opts.format].chooses:
            raise WrongUseError(f"--fields does not go with {opts.format}, whose records have what they have")
        if opts.spreadsheet and opts.format != "csv":
            raise WrongUseError(f"--spreadsheet goes with csv alone, and this is {opts.format}")

    def execute(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
        from crawler.export.export_pages import export

        return export(opts, settings)


def _format(opts: argparse.Namespace) -> str:
    """The format that is asked for, or that the output's name says; a WrongUseError if it is none."""
    name: str | None = opts.output
    if name == "":
        raise WrongUseError("-o names no file")
    found = opts.format or ("jsonl" if name is None else format_of(name))
    if found is None:
        endings = ", ".join(ending for one in FORMATS.values() for ending in one.endings)
        raise WrongUseError(
            f"{name!r} does not say which format it is to have; --format does, or one of the endings {endings}"
        )
    kind = FORMATS[found]
    if name is None and not kind.is_text:
        raise WrongUseError(f"{found} does not go to standard output; -o says where to")
    if name is not None and compression_of(name) and not kind.packs:
        raise WrongUseError(f"{found} goes without {' and '.join(COMPRESSORS)}")
    return str(found)


def _check_labels(opts: argparse.Namespace) -> None:
    """Raise a WrongUseError where --labels is given with what does not go with it."""
    others = [name for name, value in vars(opts).items() if name in OF_PAGES and value]
    if opts.labels and others:
        raise WrongUseError(
            f"--{others[0].replace('_', '-')} does not go with --labels, which writes all pages that were labelled"
        )
    if opts.labels and (opts.format != "jsonl" or compression_of(opts.output or "") not in ("", ".gz")):
        raise WrongUseError("--labels writes JSON lines, as they are or as .gz, which is what scrapy evaluate reads")
