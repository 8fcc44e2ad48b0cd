"""The command `winnow export`, without the options of contrib/corpus."""

import argparse
from collections.abc import Sequence

from crawler.command_line.options import CommandOptions, names, parsed, share
from crawler.errors import WrongUseError
from crawler.export.formats import COMPRESSORS, FORMATS, compression_of, endings_of, format_of
from crawler.translation.message import N_

NOT_WITH_LABELS = ("since", "only", "min_relevance", "fields", "where", "spreadsheet")
"""Options that cannot be given with --labels, which writes all labelled pages, always in the same form."""
NOT_WITH_CHANGES = ("labels", "since", "only", "min_relevance", "where")
"""Options that cannot be given with --changes-after, because they leave out pages."""


class ExportOptions(CommandOptions):
    """The options of `winnow export`, with the formats that are installed."""

    function = "crawler.export.export_pages:export"
    not_with_labels: Sequence[str] = NOT_WITH_LABELS
    not_with_changes: Sequence[str] = NOT_WITH_CHANGES

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("-o", "--output", metavar="FILE", help=N_("the file or folder to write; standard output if not given"))
        add("--format", choices=self.formats(), help=N_("the format, if the file name extension of FILE does not tell"))

        # Which pages.
        name = N_("the crawl, or several separated by commas; needed only if there are several")
        add("--name", metavar="NAMES", help=name)
        since = parsed("crawler.reports.stored_pages:since_of")
        where = parsed("crawler.export.where_conditions:where_of")
        changed = N_("only pages that were new or changed in this round or later, or since this day")
        add("--since", metavar="ROUND|DATE", type=since, help=changed)
        add(
            "--only",
            choices=("new", "changed", "gone", "noindex"),
            help=N_("only pages that were new, changed or gone, or got noindex, in the last round or since --since"),
        )
        after = N_("the changes after this offset, one line for each page with its offset; 0 for all pages")
        add("--changes-after", metavar="OFFSET", type=parsed("crawler.reports.stored_pages:offset_of"), help=after)
        relevant = N_("only pages with at least this relevance, from 0 to 1")
        add("--min-relevance", metavar="X", type=share, default=0.0, help=relevant)
        which = N_(
            "only pages of a language (zh), a site (example.org) or both (zh/example.org); or on which a condition "
            'holds ("quality.words > 100 and relevance > 0.5"); repeat it for several places, or more conditions'
        )
        add("--where", metavar="PLACE|CONDITION", type=where, action="append", default=[], help=which)

        # What is written of them.
        fields = names("crawler.items:TYPES")
        add(
            "--fields",
            metavar="NAMES",
            type=fields,
            help=N_("only these fields, in this order, separated by commas"),
        )
        add("--spreadsheet", action="store_true", help=N_("write CSV so that no cell is read as a formula"))
        labels = N_("only the labelled pages, in the form that winnow evaluate reads")
        add("--labels", action="store_true", help=labels)

    def formats(self) -> list[str]:
        """The names that --format takes."""
        return [*FORMATS]

    def check(self, opts: argparse.Namespace) -> None:
        self.check_format(opts)
        self._check_changes(opts)
        self._check_labels(opts)
        if opts.fields is not None and not FORMATS[opts.format].chooses:
            raise WrongUseError("--fields does not go with {format}, whose fields are fixed", format=opts.format)
        if opts.where:
            from crawler.export.where_conditions import check_size  # imports what the other commands do not need

            check_size(opts.where)
        if opts.spreadsheet and opts.format != "csv":
            raise WrongUseError("--spreadsheet goes with csv alone, and this is {format}", format=opts.format)

    def check_format(self, opts: argparse.Namespace) -> None:
        """Set `opts.format` to the requested format, or to the format that the output's name implies.

        Raises a WrongUseError if there is no format, or if the format cannot be written to this output.
        """
        name: str | None = opts.output
        format_name = opts.format or "jsonl"
        if opts.format is None and name is not None:
            format_name = format_of(name)
        if format_name is None:
            raise WrongUseError(
                "the name {path} does not tell the format; give --format, or one of the extensions {endings}",
                path=repr(name),
                endings=[ending for format in FORMATS for ending in endings_of(format)],
            )
        format = FORMATS[format_name]
        if name is None and not format.is_text:
            raise WrongUseError("{format} cannot be written to standard output; use -o", format=format_name)
        if name is not None and compression_of(name) and not format.packs:
            endings = list(COMPRESSORS)
            raise WrongUseError("{format} cannot be compressed with {endings}", format=format_name, endings=endings)
        opts.format = format_name

    def _check_changes(self, opts: argparse.Namespace) -> None:
        """Raise a WrongUseError if --changes-after is given with an option that does not go with it."""
        if opts.changes_after is None:
            return
        others = [name for name in self.not_with_changes if getattr(opts, name)]
        if others:
            raise WrongUseError(
                "{option} does not go with --changes-after, which writes all changes", option=_option(others[0])
            )
        if "," in (opts.name or ""):
            raise WrongUseError("{option} takes one crawl", option="--changes-after")
        if opts.format != "jsonl":
            raise WrongUseError("--changes-after writes JSON lines, and this is {format}", format=opts.format)

    def _check_labels(self, opts: argparse.Namespace) -> None:
        """Raise a WrongUseError if --labels is given with an option that does not go with it."""
        if not opts.labels:
            return
        others = [name for name in self.not_with_labels if getattr(opts, name)]
        if others:
            raise WrongUseError(
                "{option} does not go with --labels, which writes all labelled pages", option=_option(others[0])
            )
        if "," in (opts.name or ""):
            raise WrongUseError("{option} takes one crawl", option="--labels")
        if opts.format != "jsonl" or compression_of(opts.output or "") not in ("", ".gz"):
            raise WrongUseError("--labels writes JSON lines, plain or as .gz, for winnow evaluate")


def _option(name: str) -> str:
    """The option whose value has this name."""
    return f"--{name.replace('_', '-')}"
