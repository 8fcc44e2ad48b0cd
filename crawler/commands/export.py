"""`scrapy export`: exports the stored pages of a crawl from the database into a file or folder."""

import argparse

from crawler.command_line import command
from crawler.command_line.command import Subcommand, names, parsed, share, whole
from crawler.command_line.terminal import WrongUseError
from crawler.export.formats import COMPRESSORS, FORMATS, compression_of, format_of
from crawler.translation.message import N_

# Options that do not go with --labels, as they choose among stored pages.
OF_PAGES = ("since", "only", "min_relevance", "fields", "preset", "where", "keep", "dedupe", "mask", "spreadsheet")
# Options that do not go with --changes-after, as they leave out pages.
OF_STATE = ("labels", "since", "only", "min_relevance", "preset", "where", "keep", "dedupe")
MOST_OFFSET = 10**18
# Options that do not go with --into.
OF_FILES = ("output", "labels", "changes_after", "spreadsheet")
PACKED_LINES = "jsonl.zst"
OF_SHARDS = {None: "parquet", "parquet": "parquet", PACKED_LINES: "jsonl"}
"""The format of the pages in shards, by what is asked for."""
OF_PRESETS = ("jsonl", "parquet")


class Command(command.Command):
    summary = N_("Export the pages of a crawl as jsonl, csv, parquet, markdown, warc or wacz.")

    function = "crawler.export.export_pages:export"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("-o", "--output", metavar="FILE", help=N_("the file or folder to write; standard output if not given"))
        told = N_("the format, if the file name extension of FILE does not tell; of a data set parquet or jsonl.zst")
        add("--format", choices=(*FORMATS, PACKED_LINES), help=told)
        folder = N_("write a data set into this folder: shards, a manifest and a dataset card")
        add("--into", metavar="FOLDER", help=folder)
        large = N_("with --into: the size at which a shard is closed, such as 500MB or 2GB; 100MB if not given")
        add("--shard-size", metavar="SIZE", type=parsed("crawler.contrib.corpus.data_set:size_of"), help=large)
        name = N_("the crawl, or several separated by commas; needed only if there are several")
        add("--name", metavar="NAMES", help=name)
        since, where = parsed("crawler.reports.stored_pages:since_of"), parsed("crawler.export.selection:where_of")
        changed = N_("only pages that were new or changed in this round or later, or since this day")
        add("--since", metavar="ROUND|DATE", type=since, help=changed)
        add(
            "--only",
            choices=("new", "changed", "gone", "noindex"),
            help=N_("only pages that were new, changed or gone, or got noindex, in the last round or since --since"),
        )
        after = N_("the changes after this offset, one line for each page with its offset; 0 for all pages")
        add("--changes-after", metavar="OFFSET", type=whole(0, MOST_OFFSET), help=after)
        relevant = N_("only pages with at least this relevance, from 0 to 1")
        add("--min-relevance", metavar="X", type=share, default=0.0, help=relevant)
        fields = names("crawler.items:TYPES")
        add(
            "--fields",
            metavar="NAMES",
            type=fields,
            help=N_("only these fields, in this order, separated by commas"),
        )
        records = N_("write the fields of another pipeline: datatrove, chinesewebtext, or mnbvc")
        add("--preset", metavar="NAME", type=parsed("crawler.contrib.corpus.presets:preset_of"), help=records)
        which = N_(
            "only pages of a language (zh), a site (example.org) or both (zh/example.org); or on which a condition "
            'holds ("quality.words > 100 and relevance > 0.5"); repeat it for several places, or more conditions'
        )
        add("--where", metavar="PLACE|CONDITION", type=where, action="append", default=[], help=which)
        rules = N_("only pages that keep to these published rules: gopher, fineweb, c4; separated by commas")
        add("--keep", metavar="RULES", type=names("crawler.contrib.corpus.quality:PUBLISHED"), default=[], help=rules)
        copies = N_(
            "leave out copies: exact (same letters), near (nearly the same text), paragraphs (that a site repeats); "
            "separated by commas"
        )
        known = names("crawler.contrib.corpus.deduplication:KINDS")
        add("--dedupe", metavar="KINDS", type=known, default=[], help=copies)
        kept = N_(
            "which of several copies stays: oldest (the default: first crawled), best (longest text), or that of a "
            "site (example.org)"
        )
        add("--prefer", metavar="PAGE", type=parsed("crawler.contrib.corpus.copies:preference_of"), help=kept)
        kinds = N_("write [EMAIL] and the like in place of this personal data: email, phone, ip, id, card")
        add(
            "--mask",
            metavar="KINDS",
            type=names("crawler.contrib.corpus.quality.personal_data:FORMS"),
            default=[],
            help=kinds,
        )
        add("--spreadsheet", action="store_true", help=N_("write CSV so that no cell is read as a formula"))
        labels = N_("only the labelled pages, in the form that scrapy evaluate reads")
        add("--labels", action="store_true", help=labels)

    def check(self, opts: argparse.Namespace) -> None:
        if opts.into is None:
            opts.format = _format(opts)
        else:
            self._check_into(opts)
        _check_changes(opts)
        _check_labels(opts)
        if opts.fields is not None and not FORMATS[opts.format].chooses:
            raise WrongUseError("--fields does not go with {format}, whose fields are fixed", format=opts.format)
        if opts.preset and opts.fields is not None:
            raise WrongUseError("--fields does not go with {format}, whose fields are fixed", format="--preset")
        if opts.preset and opts.format not in OF_PRESETS:
            raise WrongUseError("--preset writes jsonl or parquet, and this is {format}", format=opts.format)
        if opts.mask and FORMATS[opts.format].has_responses:
            raise WrongUseError(
                "--mask does not go with {format}, which has the responses as they came", format=opts.format
            )
        if opts.prefer is not None and not {"exact", "near"}.intersection(opts.dedupe):
            raise WrongUseError("--prefer goes with --dedupe exact or near alone")
        if "paragraphs" in opts.dedupe and FORMATS[opts.format].has_responses:
            raise WrongUseError(
                "--dedupe paragraphs does not go with {format}, which has the responses as they came",
                format=opts.format,
            )
        if opts.where:
            from crawler.export.selection import check_size  # imports what the other commands do not need

            check_size(opts.where)
        if opts.spreadsheet and opts.format != "csv":
            raise WrongUseError("--spreadsheet goes with csv alone, and this is {format}", format=opts.format)

    def _check_into(self, opts: argparse.Namespace) -> None:
        """Raise a WrongUseError where --into is given with what does not go with it."""
        from crawler.contrib.corpus.manifest import options_given

        if others := [
            name for name in OF_FILES if getattr(opts, name) is not None and getattr(opts, name) is not False
        ]:
            option = f"--{others[0].replace('_', '-')}"
            raise WrongUseError("{option} does not go with --into, which writes a data set", option=option)
        if opts.format not in OF_SHARDS:
            raise WrongUseError("--into writes parquet or jsonl.zst, and this is {format}", format=opts.format)
        if not opts.into:
            raise WrongUseError("--into needs the name of a folder")
        opts.options_given = options_given(Subcommand("", self.add_arguments).parser("")._actions, opts)
        opts.output, opts.format = opts.into, OF_SHARDS[opts.format]


def _format(opts: argparse.Namespace) -> str:
    """The format that is asked for, or that the output's name says; a WrongUseError if it is none."""
    name: str | None = opts.output
    if opts.shard_size is not None:
        raise WrongUseError("{option} goes with --into FOLDER", option="--shard-size")
    if opts.format == PACKED_LINES:
        raise WrongUseError("{option} goes with --into FOLDER", option=f"--format {PACKED_LINES}")
    found = opts.format or ("jsonl" if name is None else format_of(name))
    if found is None:
        raise WrongUseError(
            "the name {path} does not tell the format; give --format, or one of the extensions {endings}",
            path=repr(name),
            endings=[ending for one in FORMATS.values() for ending in one.endings],
        )
    if name is None and not FORMATS[found].is_text:
        raise WrongUseError("{format} cannot be written to standard output; use -o", format=found)
    if name is not None and compression_of(name) and not FORMATS[found].packs:
        raise WrongUseError("{format} cannot be compressed with {endings}", format=found, endings=list(COMPRESSORS))
    return str(found)


def _check_changes(opts: argparse.Namespace) -> None:
    """Raise a WrongUseError where --changes-after is given with what does not go with it."""
    if opts.changes_after is None:
        return
    if others := [name for name in OF_STATE if getattr(opts, name)]:
        option = f"--{others[0].replace('_', '-')}"
        raise WrongUseError("{option} does not go with --changes-after, which writes all changes", option=option)
    if "," in (opts.name or ""):
        raise WrongUseError("{option} takes one crawl", option="--changes-after")
    if opts.format != "jsonl":
        raise WrongUseError("--changes-after writes JSON lines, and this is {format}", format=opts.format)


def _check_labels(opts: argparse.Namespace) -> None:
    """Raise a WrongUseError where --labels is given with what does not go with it."""
    others = [name for name, value in vars(opts).items() if name in OF_PAGES and value]
    if opts.labels and others:
        option = f"--{others[0].replace('_', '-')}"
        raise WrongUseError("{option} does not go with --labels, which writes all labelled pages", option=option)
    if opts.labels and "," in (opts.name or ""):
        raise WrongUseError("{option} takes one crawl", option="--labels")
    if opts.labels and (opts.format != "jsonl" or compression_of(opts.output or "") not in ("", ".gz")):
        raise WrongUseError("--labels writes JSON lines, plain or as .gz, for scrapy evaluate")
