"""The card of a data set: a README.md with front matter for hubs and text for people.

Everything from the web or from the user is put into code spans and code blocks, where Markdown and HTML have no effect,
and into the front matter as JSON, which every YAML parser reads.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crawler.command_line.terminal import spelled
from crawler.contrib.corpus.manifest import UNKNOWN
from crawler.contrib.corpus.record_presets import PRESETS
from crawler.export.field_meanings import docstrings
from crawler.export.markdown import json_for_yaml
from crawler.items import PageRecord
from crawler.rights.statement import State
from crawler.translation.message import counted

HUB_LICENCES = frozenset(
    "agpl-3.0 apache-2.0 bsd-2-clause bsd-3-clause cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 "
    "cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 "
    "cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 gfdl gpl-2.0 gpl-3.0 lgpl-3.0 mit mpl-2.0 odbl odc-by pddl".split()
)
"""The licence identifiers that hubs know."""
SIZES = (("1K", 10**3), ("10K", 10**4), ("100K", 10**5), ("1M", 10**6), ("10M", 10**7), ("100M", 10**8), ("1B", 10**9))
"""The bounds between the size categories of hubs, in records."""
_LANGUAGE = re.compile(r"[a-z]{2,3}")
MOST_LISTED = 20
"""The most entries of a list; the others are in the manifest."""
LONGEST_TOPIC = 200
"""The most characters of a topic that are shown."""
NO_TOPIC = "what its seeds are about"
LEGAL = (
    "These are counts of the statements that sites and pages made when they were fetched. They are not legal advice: a "
    "statement may be wrong or out of date, and a page without one may still be protected."
)
PERSONAL = (
    "The pages are from the public web. They name people, and may have personal data that was not meant for a data "
    "set. Anyone who uses or redistributes the data set is responsible for complying with the law on data protection."
)


def dataset_card(manifest: Mapping[str, Any]) -> str:
    """The card of the data set that this manifest describes."""
    sections = (_summary, _making, _fields, _contents, _rights, _personal_data, _filters)
    parts = [_head(manifest), *("\n\n".join(section(manifest)) for section in sections)]
    return "\n\n".join(parts) + "\n"


def size_category(count: int) -> str:
    """The size category of hubs for this number of records.

    >>> size_category(999), size_category(1_000), size_category(2 * 10**9)
    ('n<1K', '1K<n<10K', 'n>1B')
    """
    lower_bound = ""
    for name, size in SIZES:
        if count < size:
            return f"{lower_bound}<n<{name}" if lower_bound else f"n<{name}"
        lower_bound = name
    return f"n>{lower_bound}"


def code(text: str) -> str:
    """A text as a code span on one line. Its fence has one backtick more than any run of backticks in the text.

    >>> print(code("honey` bees"), code("`"))
    `` honey` bees `` `` ` ``
    """
    line = spelled(" ".join(text.split())) or " "  # Markdown has no empty code span
    fence = "`" * (_longest_run(line) + 1)
    if "`" in line:
        return f"{fence} {line} {fence}"
    return f"`{line}`"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _block(text: str) -> str:
    """A text as a code block."""
    fence = "`" * max(3, _longest_run(text) + 1)
    lines = "\n".join(map(spelled, text.splitlines()))
    return f"{fence}sh\n{lines}\n{fence}"


def _head(manifest: Mapping[str, Any]) -> str:
    titles = [": ".join(_title_parts(crawl)) for crawl in manifest["crawls"]]
    lines = [f"pretty_name: {json_for_yaml('; '.join(titles))}", *_languages(manifest["languages"])]
    lines += _licence([*manifest["licences"]])
    lines += ["size_categories:", f"- {json_for_yaml(size_category(manifest['records']))}"]
    lines += ["task_categories:", "- text-generation"]
    # Without this, hubs read the manifest as data.
    data = f"part-*.{manifest['format']}"
    lines += ["configs:", "- config_name: default", f"  data_files: {json_for_yaml(data)}"]
    return "\n".join(["---", *lines, "---"])


def _title_parts(crawl: Mapping[str, Any]) -> list[str]:
    """The name of a crawl, and its topic if it has one."""
    return [part for part in (crawl["name"], _topic(crawl)) if part]


def _topic(crawl: Mapping[str, Any]) -> str:
    """The topic of a crawl on one line, of limited length; empty if the crawl was given only seeds."""
    beginning = str(crawl["topic"])[: 2 * LONGEST_TOPIC]  # so that a long topic is not split as a whole
    return " ".join(beginning.split())[:LONGEST_TOPIC]


def _languages(counts: Mapping[str, int]) -> list[str]:
    # Quoted, because YAML 1.1 reads a bare `no` (Norwegian) as false: https://yaml.org/type/bool.html
    lines = [f'- "{language}"' for language in counts if _LANGUAGE.fullmatch(language)]
    return ["language:", *lines] if lines else []


def _licence(names: Sequence[str]) -> list[str]:
    """The lines about the licence: `other`, unless all pages have one licence that hubs know."""
    if len(names) != 1 or names[0] == UNKNOWN:
        return ["license: other"]
    name = names[0].lower()
    if name in HUB_LICENCES:
        return [f"license: {name}"]
    return ["license: other", f"license_name: {json_for_yaml(name)}"]


def _summary(manifest: Mapping[str, Any]) -> Iterator[str]:
    from rich.filesize import decimal  # imported here, so that wrong arguments are refused without this delay

    crawls = manifest["crawls"]
    titles = [": ".join(map(code, _title_parts(crawl))) for crawl in crawls]
    yield f"# {'; '.join(titles)}"
    pages = counted(manifest["records"], "web page")
    shards = counted(len(manifest["shards"]), "shard")
    form = f"`{manifest['format']}`"
    size = decimal(manifest["bytes"])
    origins = [f"{code(crawl['name'])} on {_named_topic(crawl)}" for crawl in crawls]
    noun = "crawl" if len(crawls) == 1 else "crawls"
    yield (
        f"This data set has {pages}, each with its main text and its metadata, in {shards} "
        f"({form}, {size}). They are from the {noun} {', '.join(origins)}."
    )
    if manifest["records"]:
        first, last = (code(manifest[name]) for name in ("first_fetched_at", "last_fetched_at"))
        yield f"The pages were fetched from {first} to {last}."


def _named_topic(crawl: Mapping[str, Any]) -> str:
    topic = _topic(crawl)
    return f"the topic {code(topic)}" if topic else NO_TOPIC


def _making(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "## How it was made"
    yield (
        f"Winnow {manifest['winnow']} crawled the web from seeds, followed the most promising links first, and reduced "
        "each page to its main text while it crawled. The version of an extractor also identifies its weights."
    )
    yield from _listed(
        (f"{code(extractor['method'])}, version {code(extractor['version'])}", extractor["records"])
        for extractor in manifest["extractors"]
    )
    yield f"The data set was written at {code(manifest['made_at'])} by:"
    yield _block(manifest["command"])
    yield (
        "`manifest.json` has the records, bytes and SHA-256 of each shard, and the counts below in full. Each page is "
        "there in its latest version only."
    )


def _fields(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "## Fields"
    preset = manifest["preset"]
    meanings = docstrings(PageRecord)
    if preset:
        meanings = {name: meaning for name, (_, meaning) in PRESETS[preset].fields.items()}
        yield f"The records have the fields of {code(preset)}."
    rows = [("field", "meaning"), ("---", "---")]
    rows += [(f"`{name}`", meanings[name].replace("|", r"\|")) for name in manifest["fields"]]
    yield "\n".join(f"| {name} | {meaning} |" for name, meaning in rows)


def _contents(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "## Languages and domains"
    yield from _listed((code(name), count) for name, count in manifest["languages"].items())
    yield f"The pages are from {counted(manifest['domain_count'], 'domain')}. Those with the most pages:"
    yield from _listed((code(name), count) for name, count in manifest["main_domains"].items())


def _rights(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "## Rights"
    yield LEGAL
    yield f"Pages by the licence that they name; {code(UNKNOWN)} is for pages that name none:"
    yield from _listed((code(name), count) for name, count in manifest["licences"].items())
    yield "Pages by the permission that is stated for each use:"
    rows = [["use", *State], ["---"] * (len(State) + 1)]
    rows += [[use, *(f"{counts[state]:,}" for state in State)] for use, counts in manifest["uses"].items()]
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows)
    if "rights" in manifest["fields"]:
        yield "The field `rights` has the evidence for each page."


def _personal_data(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield "## Personal data"
    yield PERSONAL
    if "--mask" not in manifest["filters"]:
        yield "Nothing was masked."
        return
    kinds = manifest["filters"]["--mask"][0].split(",")
    yield (
        "In the texts, personal data of these kinds is replaced by `[EMAIL]` and the like. Other personal data, such "
        "as names and postal addresses, is not masked."
    )
    yield "\n".join(f"- {code(kind)}: {manifest['masked'].get(kind, 0):,} times" for kind in kinds)


def _filters(manifest: Mapping[str, Any]) -> Iterator[str]:
    filters = manifest["filters"]
    yield "## Filters"
    yield "Pages that were stored when the data set was made:"
    rows = [
        (code(crawl["name"]), counted(crawl["stored"], "page"), f"{crawl['gone']:,}") for crawl in manifest["crawls"]
    ]
    yield "\n".join(f"- {name}: {stored}, {gone} of them gone from the web" for name, stored, gone in rows)
    if not filters:
        yield "No filter was used."
        return
    yield "Options that chose or changed pages:"
    yield "\n".join(f"- {code(' '.join((name, *values)))}" for name, values in filters.items())
    if manifest["not_in"]:
        yield "Pages with exactly or nearly the same text as one of these were left out:"
        yield "\n".join(f"- {code(old['name'])}: {counted(old['texts'], 'text')}" for old in manifest["not_in"])
    if manifest["removed"]:
        yield "Pages that conditions and rules removed, by the first one that each page broke:"
        yield from _listed((code(name), count) for name, count in manifest["removed"].items())


def _listed(rows: Iterable[tuple[str, int]]) -> Iterator[str]:
    """A list of names with counts of pages; nothing if it would be empty."""
    lines = [f"- {name}: {counted(count, 'page')}" for name, count in rows]
    more = len(lines) - MOST_LISTED
    if more > 0:
        lines = [*lines[:MOST_LISTED], f"- {more:,} more in `manifest.json`"]
    if lines:
        yield "\n".join(lines)
