"""An export as a form: the choices of a visitor, the equivalent command, and how many pages would be left.

Whatever a visitor or a link puts into the form, the displayed command has one option for each field and is quoted for a
shell. Invisible characters are refused, because a terminal may interpret them when the command is pasted.
"""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType

from sqlalchemy import Connection, select

from crawler.contrib.corpus.copies import Preference, preference_of
from crawler.contrib.corpus.corpus_selection import QUALITY_COLUMNS, CorpusSelection
from crawler.contrib.corpus.deduplication import KINDS, PARAGRAPHS
from crawler.contrib.corpus.quality import PUBLISHED, complete_quality
from crawler.contrib.corpus.quality.personal_data import FORMS
from crawler.errors import WrongUseError
from crawler.export.where_conditions import check_size, where_of
from crawler.reports.condition import Condition
from crawler.reports.stored_pages import LanguageOrSite
from crawler.store.batch.page_writer import field_values
from crawler.store.database import in_chunks
from crawler.store.page_tables import page
from crawler.translation.message import N_
from crawler.urls.parsing import host_of

SAMPLED = 1_000
"""The most pages of the sample."""
MEASURED = 300
"""The most pages of the sample if numbers about their texts are needed: to compute these takes 1 s."""
MOST_LINES = 20
"""The most conditions and places in a form."""
MOST_RULES = 5
"""The number of rules that are listed: those that remove the most pages."""


@dataclass(frozen=True, slots=True)
class Output:
    """A kind of output of an export."""

    title: str
    format: str
    ending: str
    """The file name extension; empty for a data set."""
    _: KW_ONLY
    is_file: bool = True
    """Whether it is a single file, which can be downloaded."""


OUTPUTS: Mapping[str, Output] = MappingProxyType(
    {
        "jsonl": Output(title=N_("JSON lines"), format="jsonl", ending=".jsonl"),
        "jsonl.zst": Output(title=N_("JSON lines, compressed"), format="jsonl", ending=".jsonl.zst"),
        "csv": Output(title=N_("CSV for spreadsheets"), format="csv", ending=".csv"),
        "parquet": Output(title=N_("a Parquet file"), format="parquet", ending=".parquet"),
        "warc": Output(title=N_("WARC, compressed"), format="warc", ending=".warc.gz"),
        "markdown": Output(title=N_("a folder of Markdown files"), format="markdown", ending="/", is_file=False),
        "set": Output(title=N_("a data set: Parquet, manifest and card"), format="parquet", ending="", is_file=False),
        "set.jsonl": Output(
            title=N_("a data set: JSON lines, manifest and card"), format="jsonl.zst", ending="", is_file=False
        ),
    }
)
GROUPS: Mapping[str, Sequence[str]] = MappingProxyType(
    {"keep": (*PUBLISHED,), "dedupe": KINDS, "mask": (*FORMS,)},
)
"""The fields with several choices, each of which is a checkbox named `field-value`."""


@dataclass(frozen=True)
class ExportForm:
    """The choices of a visitor; properties raise a WrongUseError if a choice they read is wrong."""

    crawl: str
    output: str = "jsonl"
    where: str = ""
    """Conditions and places, one on each line."""
    prefer: str = ""
    keep: tuple[str, ...] = ()
    dedupe: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()

    @classmethod
    def of(cls, crawl: str, query: Mapping[str, str]) -> "ExportForm":
        """The form with the values of the parameters of an address; unknown parameters and values are ignored."""
        ticked_values = {
            name: tuple(value for value in values if query.get(f"{name}-{value}")) for name, values in GROUPS.items()
        }
        output = query.get("output", "")
        return cls(
            crawl=crawl,
            output=output if output in OUTPUTS else cls.output,
            where=query.get("where", ""),
            prefer=query.get("prefer", "").strip(),
            **ticked_values,
        )

    @property
    def chosen(self) -> frozenset[str]:
        """The names of the checkboxes that are ticked."""
        return frozenset(f"{name}-{value}" for name in GROUPS for value in getattr(self, name))

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of an address that fill in the form."""
        texts = {name: getattr(self, name) for name in ("output", "where", "prefer")}
        return {name: text for name, text in texts.items() if text} | dict.fromkeys(sorted(self.chosen), "yes")

    @cached_property
    def lines(self) -> list[str]:
        """The conditions and places (languages and sites), as they were typed; spaces are replaced by ordinary ones."""
        lines = [_printable(line.strip()) for line in self.where.splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            raise WrongUseError("at most {most} conditions are allowed here", most=MOST_LINES)
        return lines

    @cached_property
    def wheres(self) -> list[Condition | LanguageOrSite]:
        """The lines, parsed."""
        return [where_of(line) for line in self.lines]

    @property
    def selection(self) -> CorpusSelection:
        conditions = [where for where in self.wheres if not isinstance(where, LanguageOrSite)]
        return CorpusSelection.of(conditions, sets=self.keep)

    @property
    def places(self) -> tuple[LanguageOrSite, ...]:
        return tuple(where for where in self.wheres if isinstance(where, LanguageOrSite))

    @property
    def has_copies(self) -> bool:
        """Whether copies are removed, so that a preferred one can be chosen."""
        return bool({*self.dedupe} - {PARAGRAPHS})

    @cached_property
    def preference(self) -> Preference | None:
        if not self.prefer:
            return None
        if not self.has_copies:
            raise WrongUseError("--prefer works only with --dedupe exact or near")
        return preference_of(_printable(self.prefer))

    def check(self) -> None:
        """Raise a WrongUseError if a choice is wrong, like the command."""
        _ = self.preference  # raises the error
        check_size(self.wheres)
        if self.output == "warc" and self.mask:
            raise WrongUseError(
                "--mask cannot be combined with {format}, which has the original responses", format="warc"
            )
        if self.output == "warc" and PARAGRAPHS in self.dedupe:
            message = "--dedupe paragraphs cannot be combined with {format}, which has the original responses"
            raise WrongUseError(message, format="warc")

    def options(self) -> Iterator[str]:
        """The options of the command, each joined to its value, so that no value is read as an option."""
        output = OUTPUTS[self.output]
        yield f"--name={self.crawl}"
        if output.ending:
            yield f"--output={self.crawl}-export{output.ending}"
        else:
            yield f"--into={self.crawl}-corpus"
            yield f"--format={output.format}"
        yield from (f"--where={line}" for line in self.lines)
        for name in GROUPS:
            values = getattr(self, name)
            if values:
                yield f"--{name}={','.join(values)}"
        if self.prefer:
            yield f"--prefer={_printable(self.prefer)}"
        if self.output == "csv":
            yield "--spreadsheet"

    @property
    def command(self) -> str:
        """The command, quoted for a shell."""
        return f"winnow export {shlex.join(self.options())}"


def _printable(text: str) -> str:
    """The text with ordinary spaces; raises a WrongUseError if it has invisible characters.

    >>> _printable("title == '蜜蜂'")
    "title == '蜜蜂'"
    """
    text = "".join(" " if letter.isspace() else letter for letter in text)
    if not text.isprintable():
        raise WrongUseError("{value} has characters that cannot be seen", value=ascii(text[:100]))
    return text


@dataclass(frozen=True, slots=True)
class PagesLeft:
    """How many pages of a sample an export keeps, before it removes copies."""

    left: int
    sampled: int
    is_sample: bool
    """Whether the corpus has more pages than the sample."""
    rules: tuple[tuple[str, int], ...]
    """The rules that remove the most pages of the sample."""


def pages_left(connection: Connection, ids: Sequence[int], form: ExportForm) -> PagesLeft:
    """How many pages the conditions and rules of a form keep, of a sample: the first of these pages."""
    selection = form.selection
    places = form.places

    # Which columns of which pages are read.
    needs_numbers = selection.compares_text_numbers
    columns = ["url", "language", *selection.needs]
    sampled = ids[:SAMPLED]
    if needs_numbers:
        columns += QUALITY_COLUMNS
        sampled = ids[:MEASURED]
    columns = [*dict.fromkeys(columns)]

    removed: Counter[str] = Counter()
    left = 0
    pages_read = 0
    for chunk in in_chunks(sampled):
        query = select(*(page.c[name] for name in columns)).where(page.c.id.in_(chunk))
        for row in connection.execute(query).mappings():
            pages_read += 1
            values = field_values(row, columns)
            host = host_of(values["url"]).lower()
            language = str(values["language"]).lower()
            if places and not any(place.holds(host, language) for place in places):
                removed[" | ".join(map(str, places))] += 1
                continue
            if needs_numbers:
                values = complete_quality(values)
            reason = selection.refusal(selection.conditions, values)
            if reason is None:
                left += 1
            else:
                removed[reason.rule] += 1
    return PagesLeft(
        left=left,
        sampled=pages_read,
        is_sample=len(ids) > len(sampled),
        rules=tuple(removed.most_common(MOST_RULES)),
    )
