"""The manifest of a data set: where its records come from, how they were chosen, and counts of them."""

import argparse
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from crawler import __version__
from crawler.reports.condition import Condition
from crawler.rights.statement import State, Use
from crawler.urls.address import address_of

COUNTED_COLUMNS = ("url", "language", "rights", "round", "fetched_at", "extractor", "extractor_version")
"""The columns of pages from which `Contents` is counted."""
MOST_DOMAINS = 20
"""The most domains that are listed: those with the most pages."""
UNKNOWN = "unknown"
"""The key of pages whose language, licence or version of the extractor is unknown."""
NOT_FILTERS = frozenset(("--name", "--into", "--format", "--fields", "--preset", "--shard-size", "--signatures"))
"""Options that neither exclude pages nor change texts."""
WITH_OUTPUT_PATHS = frozenset(("--into", "--signatures"))
"""Options whose values are paths of outputs."""


@dataclass(frozen=True)
class CrawlOrigin:
    """A crawl whose pages are in the data set."""

    name: str
    topic: str
    stored: int
    """Its pages in the database."""
    gone: int
    """How many of these no longer exist on the web."""
    erased: Sequence[str] = ()
    """The digests of its erased pages and hosts. The digest of a page is its `page_id`, by which users of an earlier
    export can remove it.
    """


@dataclass(frozen=True)
class KnownOrigin:
    """A source that `--not-in` names."""

    name: str
    texts: int
    """Texts that the pages were compared with."""
    unread: int
    """Texts that could not be read."""
    removed: int
    """Pages that were left out as copies of its texts."""


@dataclass(frozen=True)
class Origin:
    """Where the records of a data set come from, and how they were chosen."""

    crawls: Sequence[CrawlOrigin]
    fields: Sequence[str]
    options: Mapping[str, Sequence[str]]
    """The values of the options of the command, by option."""
    removed: Mapping[str, int]
    """Pages that were removed, by rule."""
    masked: Mapping[str, int]
    """Personal data that was masked, by kind."""
    made_at: str
    known_sources: Sequence[KnownOrigin] = ()
    """The sources of --not-in, whose copies were left out."""


@dataclass
class Contents:
    """Counts of the records of a data set."""

    languages: Counter[str] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)
    uses: dict[Use, Counter[str]] = field(default_factory=lambda: {use: Counter() for use in Use})
    """Records by the permission (`State`) that is stated for each use."""
    domains: Counter[str] = field(default_factory=Counter)
    rounds: Counter[int] = field(default_factory=Counter)
    extractors: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Records by method and version; new weights are a new version of the method."""
    first_fetched_at: str | None = None
    last_fetched_at: str | None = None

    def add(self, values: Mapping[str, Any]) -> None:
        """Count a page."""
        rights = values["rights"] or {}
        time = values["fetched_at"]
        self.languages[values["language"] or UNKNOWN] += 1
        self.licences[rights.get("licence") or UNKNOWN] += 1
        for use, counts in self.uses.items():
            counts[rights.get("uses", {}).get(use, State.UNKNOWN)] += 1
        self.domains[address_of(values["url"]).site] += 1
        self.rounds[values["round"]] += 1
        self.extractors[values["extractor"], values["extractor_version"] or UNKNOWN] += 1
        self.first_fetched_at = min(self.first_fetched_at or time, time)
        self.last_fetched_at = max(self.last_fetched_at or time, time)


def manifest(origin: Origin, contents: Contents, format: str, shards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The manifest, with its keys and the entries of its counts in a fixed order."""
    preset = None
    if "--preset" in origin.options:
        [preset] = origin.options["--preset"]
    return {
        "format": format,
        "records": sum(shard["records"] for shard in shards),
        "bytes": sum(shard["bytes"] for shard in shards),
        "shards": [*shards],
        "fields": [*origin.fields],
        "preset": preset,
        "crawls": [asdict(crawl) for crawl in origin.crawls],
        "winnow": __version__,
        "extractors": [
            {"method": method, "version": version, "records": count}
            for (method, version), count in _most_first(contents.extractors)
        ],
        "made_at": origin.made_at,
        "command": _command(origin.options),
        "filters": {name: [*values] for name, values in origin.options.items() if name not in NOT_FILTERS},
        "removed": dict(_most_first(origin.removed)),
        "not_in": [asdict(old) for old in origin.known_sources],
        "masked": {kind: origin.masked[kind] for kind in sorted(origin.masked)},
        "languages": dict(_most_first(contents.languages)),
        "licences": dict(_most_first(contents.licences)),
        "uses": {use.value: {state.value: counts[state] for state in State} for use, counts in contents.uses.items()},
        "domain_count": len(contents.domains),
        "main_domains": dict(_most_first(contents.domains)[:MOST_DOMAINS]),
        "rounds": {str(number): contents.rounds[number] for number in sorted(contents.rounds)},
        "first_fetched_at": contents.first_fetched_at,
        "last_fetched_at": contents.last_fetched_at,
    }


def options_given(actions: Iterable[argparse.Action], opts: argparse.Namespace) -> dict[str, list[str]]:
    """The options of a command that were given, each with its values as texts.

    `actions` are the command's own options, without Scrapy's: a setting may be a password. Paths of outputs are cut to
    their names.
    """
    options = {}
    for action in actions:
        value: Any = getattr(opts, action.dest, None)
        is_given = value is not None and value is not False and value != action.default
        if not action.option_strings or not is_given:
            continue
        if isinstance(action, argparse._AppendAction):  # an option that may be repeated
            values = value
        elif value is True:  # a switch
            values = []
        else:
            values = [value]
        long_name = action.option_strings[-1]
        options[long_name] = [_text(value) for value in values]
    for option in WITH_OUTPUT_PATHS.intersection(options):
        options[option] = [Path(path).name for path in options[option]]
    return options


def _text(value: Any) -> str:
    """The value of an option as a user would type it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, Condition):
        return value.source
    return str(value)


def _command(options: Mapping[str, Sequence[str]]) -> str:
    words = ["winnow", "export"]
    for name, values in options.items():
        if not values:  # a switch
            words.append(name)
        for value in values:
            words += [name, value]
    return shlex.join(words)


def _most_first(counts: Mapping[Any, int]) -> list[tuple[Any, int]]:
    """Keys and counts, the largest count first, equal counts in the order of their keys."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
