"""The command `winnow export` with the options that build data sets."""

import argparse
from pathlib import Path

from crawler.command_line.options import Subcommand, names, parsed, whole
from crawler.errors import WrongUseError
from crawler.export.command import NOT_WITH_CHANGES, NOT_WITH_LABELS, ExportOptions
from crawler.export.formats import FORMATS
from crawler.translation.message import N_

EXCLUDED_BY_INTO = ("output", "labels", "changes_after", "spreadsheet")
"""Options that cannot be combined with --into."""
PACKED_LINES = "jsonl.zst"
"""A value of --format for --into: JSON lines that are compressed with zstd."""
SHARD_FORMATS = {None: "parquet", "parquet": "parquet", PACKED_LINES: "jsonl"}
"""The format of the shards for each value of --format, which is None if it was not given. `DataSet` compresses
`jsonl`.
"""
PRESET_FORMATS = ("jsonl", "parquet")
"""The formats that --preset can write."""
CHUNKS = "chunks"
LEAST_TOKENS = 20
MOST_TOKENS = 8_000
"""The limits of --tokens, as in contrib/index/chunk_size.py; repeated because contrib/index need not be installed."""


class DataSetOptions(ExportOptions):
    """Exports pages, and data sets of them."""

    function = "crawler.contrib.corpus.corpus_export:export"
    not_with_labels = (*NOT_WITH_LABELS, "preset", "keep", "dedupe", "not_in", "signatures", "mask", "tokens")
    not_with_changes = (*NOT_WITH_CHANGES, "preset", "keep", "dedupe", "not_in", "signatures")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        add = parser.add_argument
        into_help = N_("write a data set into this folder: shards as parquet or jsonl.zst, a manifest and a card")
        add("--into", metavar="FOLDER", help=into_help)

        shard_size = parsed("crawler.contrib.corpus.data_set:size_of")
        shard_size_help = N_(
            "with --into: the size at which a shard is closed, such as 500MB or 2GB; 100MB if not given"
        )
        add("--shard-size", metavar="SIZE", type=shard_size, help=shard_size_help)

        preset_help = N_("write the fields of another pipeline: datatrove, chinesewebtext, or mnbvc")
        preset = parsed("crawler.contrib.corpus.record_presets:preset_of")
        add("--preset", metavar="NAME", type=preset, help=preset_help)

        rules = names("crawler.contrib.corpus.quality:PUBLISHED")
        keep_help = N_("only pages that keep to these published rules: gopher, fineweb, c4; separated by commas")
        add("--keep", metavar="RULES", type=rules, default=[], help=keep_help)

        kinds_of_copies = names("crawler.contrib.corpus.deduplication:KINDS")
        dedupe_help = N_(
            "leave out copies: exact (same letters), near (nearly the same text), paragraphs (that a site repeats); "
            "separated by commas"
        )
        add("--dedupe", metavar="KINDS", type=kinds_of_copies, default=[], help=dedupe_help)

        prefer_help = N_(
            "which of several copies stays: oldest (the default: first crawled), best (longest text), or that of a "
            "site (example.org)"
        )
        add("--prefer", metavar="PAGE", type=parsed("crawler.contrib.corpus.copies:preference_of"), help=prefer_help)

        known_source = parsed("crawler.contrib.corpus.known_texts:known_source_of")
        not_in_help = N_(
            "leave out what OLD has, exact copies and near ones: a folder of a data set, a file of an export (.jsonl, "
            ".csv, .parquet), a .txt file or a folder of these, a file of --signatures, or crawl:NAME; may be repeated"
        )
        add("--not-in", metavar="OLD", type=known_source, action="append", default=[], help=not_in_help)

        signatures_help = N_(
            "write signatures of what OLD has and of the written pages into this file, such as old.signatures.zst, for "
            "--not-in of a later export"
        )
        add("--signatures", metavar="FILE", help=signatures_help)

        kinds_of_data = names("crawler.contrib.corpus.quality.personal_data:FORMS")
        mask_help = N_("write [EMAIL] and the like in place of this personal data: email, phone, ip, id, card")
        add("--mask", metavar="KINDS", type=kinds_of_data, default=[], help=mask_help)

        tokens_help = N_("with --format chunks: the most tokens of a chunk, from 20 to 8000; 400 if not given")
        add("--tokens", metavar="N", type=whole(LEAST_TOKENS, MOST_TOKENS), help=tokens_help)

    def formats(self) -> list[str]:
        return [*super().formats(), PACKED_LINES]

    def check(self, opts: argparse.Namespace) -> None:
        super().check(opts)
        if opts.preset and opts.fields is not None:
            raise WrongUseError("--fields does not go with {format}, whose fields are fixed", format="--preset")
        if opts.preset and opts.format not in PRESET_FORMATS:
            raise WrongUseError("--preset writes jsonl or parquet, not {format}", format=opts.format)
        if opts.mask and FORMATS[opts.format].has_responses:
            raise WrongUseError(
                "--mask cannot be combined with {format}, which has the original responses", format=opts.format
            )
        if opts.tokens is not None and opts.format != CHUNKS:
            raise WrongUseError("--tokens works only with --format chunks, not {format}", format=opts.format)
        if opts.prefer is not None and not {"exact", "near"}.intersection(opts.dedupe):
            raise WrongUseError("--prefer works only with --dedupe exact or near")
        if opts.output is not None and any(old.overlaps(opts.output) for old in opts.not_in):
            raise WrongUseError("{path} is an input and cannot be the output", path=repr(opts.output))
        if opts.signatures is not None:
            self._check_signatures(opts)
        if "paragraphs" in opts.dedupe and FORMATS[opts.format].has_responses:
            raise WrongUseError(
                "--dedupe paragraphs cannot be combined with {format}, which has the original responses",
                format=opts.format,
            )

    def check_format(self, opts: argparse.Namespace) -> None:
        if opts.into is not None:
            self._set_shard_format(opts)
            return
        if opts.shard_size is not None:
            raise WrongUseError("{option} goes with --into FOLDER", option="--shard-size")
        if opts.format == PACKED_LINES:
            raise WrongUseError("{option} goes with --into FOLDER", option=f"--format {PACKED_LINES}")
        super().check_format(opts)

    def _check_signatures(self, opts: argparse.Namespace) -> None:
        """Raise a WrongUseError if the file of signatures is also another output, or if --not-in could not read it by
        its name.
        """
        # Imported here, so that other commands start without this delay.
        from crawler.contrib.corpus.text_files import SIGNATURES, reader_name
        from crawler.export.where_conditions import removed_list_path

        outputs = [] if opts.output is None else [opts.output, removed_list_path(opts.output)]
        if Path(opts.signatures).resolve() in [Path(output).resolve() for output in outputs]:
            raise WrongUseError("{path} is another output of this export", path=repr(opts.signatures))
        if reader_name(opts.signatures) != SIGNATURES:
            raise WrongUseError(
                "the name of a file of signatures ends in {ending}, and this is {path}",
                ending=SIGNATURES,
                path=repr(opts.signatures[:200]),
            )

    def _set_shard_format(self, opts: argparse.Namespace) -> None:
        """Set `output` and `format` to those of the data set that --into names. First save the options that the user
        gave in `options_given`, for the manifest.

        Raises a WrongUseError if --into is combined with an option or a format that it excludes.
        """
        from crawler.contrib.corpus.manifest import options_given

        for name in EXCLUDED_BY_INTO:
            value = getattr(opts, name)
            if value is not None and value is not False:
                option = f"--{name.replace('_', '-')}"
                raise WrongUseError("{option} cannot be combined with --into, which writes a data set", option=option)
        if opts.format not in SHARD_FORMATS:
            raise WrongUseError("--into writes parquet or jsonl.zst, not {format}", format=opts.format)
        if not opts.into:
            raise WrongUseError("--into needs the name of a folder")

        parser_without_scrapy_options = Subcommand("", self.add_arguments).parser("")
        opts.options_given = options_given(parser_without_scrapy_options._actions, opts)
        opts.output = opts.into
        opts.format = SHARD_FORMATS[opts.format]
        _ = FORMATS[opts.format]  # raises an error if the format is not installed
