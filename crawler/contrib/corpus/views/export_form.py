"""An export as a form: what a visitor chose, the same as a command, and how many pages would be left.

Whatever a visitor or a link puts into the form, the command shown has one option for each field and is quoted for a
shell. Characters that cannot be seen are refused, because a terminal may obey them when the command is pasted.
"""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType

from sqlalchemy import Connection, select

from crawler.contrib.corpus.copies import Preference, preference_of
from crawler.contrib.corpus.corpus_selection import QUALITY_IS_OF, CorpusSelection
from crawler.contrib.corpus.deduplication import KINDS, PARAGRAPHS
from crawler.contrib.corpus.quality import PUBLISHED, complete_quality
from crawler.contrib.corpus.quality.personal_data import FORMS
from crawler.errors import WrongUseError
from crawler.export.selection import check_size, where_of
from crawler.reports.condition import Condition
from crawler.reports.stored_pages import LanguageOrSite
from crawler.store.batch.page_writer import field_values
from crawler.store.database import in_chunks
from crawler.store.page_tables import page
from crawler.translation.message import N_
from crawler.urls.parsing import host_of

SAMPLED = 1_000
MEASURED = 300
"""Pages of the sample if numbers of their texts may have to be computed, which takes 1 s."""
MOST_LINES = 20
MOST_RULES = 5
"""Rules that are named, those that remove the most pages."""


@dataclass(frozen=True, slots=True)
class Output:
    """What an export writes."""

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
"""The fields of which several values may be chosen, each a box named `field-value`."""


@dataclass(frozen=True)
class ExportForm:
    """What a visitor chose; a WrongUseError is raised by what is wrong when it is looked at."""

    crawl: str
    output: str = "jsonl"
    where: str = ""
    """Conditions and places, one a line."""
    prefer: str = ""
    keep: tuple[str, ...] = ()
    dedupe: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()

    @classmethod
    def of(cls, crawl: str, query: Mapping[str, str]) -> "ExportForm":
        """The form that the parameters of an address fill in; what is not known there is ignored."""
        chosen = {
            name: tuple(value for value in values if query.get(f"{name}-{value}")) for name, values in GROUPS.items()
        }
        output = query.get("output", "")
        return cls(
            crawl,
            output if output in OUTPUTS else cls.output,
            query.get("where", ""),
            query.get("prefer", "").strip(),
            **chosen,
        )

    @property
    def chosen(self) -> frozenset[str]:
        """The names of the boxes that are ticked."""
        return frozenset(f"{name}-{value}" for name in GROUPS for value in getattr(self, name))

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of an address that fill in the form."""
        texts = {name: getattr(self, name) for name in ("output", "where", "prefer")}
        return {name: text for name, text in texts.items() if text} | dict.fromkeys(sorted(self.chosen), "yes")

    @cached_property
    def lines(self) -> list[str]:
        """The conditions and places."""
        found = [_seen(line.strip()) for line in self.where.splitlines() if line.strip()]
        if len(found) > MOST_LINES:
            raise WrongUseError("at most {most} conditions are allowed here", most=MOST_LINES)
        return found

    @cached_property
    def wheres(self) -> list[Condition | LanguageOrSite]:
        return [where_of(line) for line in self.lines]

    @property
    def selection(self) -> CorpusSelection:
        conditions = [where for where in self.wheres if not isinstance(where, LanguageOrSite)]
        return CorpusSelection.of(conditions, sets=self.keep)

    @property
    def places(self) -> tuple[LanguageOrSite, ...]:
        return tuple(one for one in self.wheres if isinstance(one, LanguageOrSite))

    @property
    def has_copies(self) -> bool:
        """Whether of several copies one is chosen."""
        return bool({*self.dedupe} - {PARAGRAPHS})

    @cached_property
    def preference(self) -> Preference | None:
        if not self.prefer:
            return None
        if not self.has_copies:
            raise WrongUseError("--prefer goes with --dedupe exact or near alone")
        return preference_of(_seen(self.prefer))

    def check(self) -> None:
        """Raise a WrongUseError if something is wrong, as the command does."""
        _ = self.preference
        check_size(self.wheres)
        if self.output == "warc" and self.mask:
            raise WrongUseError("--mask does not go with {format}, which has the responses as they came", format="warc")
        if self.output == "warc" and PARAGRAPHS in self.dedupe:
            message = "--dedupe paragraphs does not go with {format}, which has the responses as they came"
            raise WrongUseError(message, format="warc")

    def options(self) -> Iterator[str]:
        """The options of the command, each one word with its value, so that no value is read as an option."""
        out = OUTPUTS[self.output]
        yield f"--name={self.crawl}"
        if out.ending:
            yield f"--output={self.crawl}-export{out.ending}"
        else:
            yield f"--into={self.crawl}-corpus"
            yield f"--format={out.format}"
        yield from (f"--where={line}" for line in self.lines)
        for name in GROUPS:
            values = getattr(self, name)
            if values:
                yield f"--{name}={','.join(values)}"
        if self.prefer:
            yield f"--prefer={_seen(self.prefer)}"
        if self.output == "csv":
            yield "--spreadsheet"

    @property
    def command(self) -> str:
        """The command, quoted for a shell."""
        return f"winnow export {shlex.join(self.options())}"


def _seen(text: str) -> str:
    """The text with ordinary spaces; raises a WrongUseError if it has characters that cannot be seen.

    >>> _seen("title == '蜜蜂'")
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
    """Whether there are more pages than those."""
    rules: tuple[tuple[str, int], ...]
    """The rules that remove the most pages of the sample."""


def pages_left(connection: Connection, ids: Sequence[int], form: ExportForm) -> PagesLeft:
    """How many of the first of these pages, as many as a sample has, the conditions and rules of a form keep."""
    selection = form.selection
    places = form.places
    measures = selection.compares_text_numbers
    columns = [*dict.fromkeys(("url", "language", *selection.needs, *(QUALITY_IS_OF if measures else ())))]
    sampled = ids[: MEASURED if measures else SAMPLED]
    removed: Counter[str] = Counter()
    left = looked = 0
    for some in in_chunks(sampled):
        for row in connection.execute(
            select(*(page.c[name] for name in columns)).where(page.c.id.in_(some))
        ).mappings():
            values = field_values(row, columns)
            looked += 1
            host = host_of(values["url"]).lower()
            language = str(values["language"]).lower()
            if places and not any(one.holds(host, language) for one in places):
                removed[" | ".join(map(str, places))] += 1
                continue
            if measures:
                values = complete_quality(values)
            reason = selection.refusal(selection.conditions, values)
            if reason is None:
                left += 1
            else:
                removed[reason.rule] += 1
    return PagesLeft(left, looked, len(ids) > len(sampled), tuple(removed.most_common(MOST_RULES)))
