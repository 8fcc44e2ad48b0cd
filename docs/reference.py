"""Writes docs/reference/ from the code: `python docs/reference.py`.

What these pages name is public: it changes only with a new major version and an entry in CHANGELOG.md. Every other name
is private and may change at any time.
"""

import argparse
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import fields
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


import crawler  # noqa: E402 - found by the path that is set first
from crawler import arguments, items, outcomes, settings  # noqa: E402 - found by the path that is set first
from crawler.command_line.command_table import COMMANDS  # noqa: E402
from crawler.command_line.options import GroupOptions, Subcommand  # noqa: E402
from crawler.contrib.corpus import quality  # noqa: E402 - as above
from crawler.doors import resolve  # noqa: E402
from crawler.export.field_meanings import docstrings  # noqa: E402
from crawler.extensions.statistics import STATISTICS  # noqa: E402
from crawler.store import crawl_tables, page_tables  # noqa: E402

COMPONENTS = {
    "crawler.addon.Winnow": "`ADDONS`",
    settings.SCHEDULER: "`SCHEDULER`",
    **dict.fromkeys(settings.DOWNLOADER_MIDDLEWARES, "`DOWNLOADER_MIDDLEWARES`"),
    settings.ITEM_PROCESSOR: "`ITEM_PROCESSOR`",
    **dict.fromkeys(settings.ITEM_PIPELINES, "`ITEM_PIPELINES`"),
    **dict.fromkeys(settings.EXTENSIONS, "`EXTENSIONS`"),
}
PUBLIC_TABLES = ("crawl", "page", "page_version", "robots_file", "verdict", "label", "job", "run")
LINE_LENGTH = 120
INSIDE = re.compile(r"(?<![,\]]) ")
"""A space inside an option or a parameter, where no line breaks."""
JOINED = "\0"
FIELD_TYPES = {str: "text", int: "number", float: "number", bool: "true or false", list: "list", dict: "mapping"}


def table(heads: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown; the heads are separated by commas."""
    lines = [heads.split(","), ["---"] * len(heads.split(",")), *rows]
    return "".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |\n" for line in lines)


def code(value: object) -> str:
    return f"`{value}`" if str(value) else ""


def shown(value: object) -> str:
    """A default, if it is short."""
    if isinstance(value, str):
        return code(value)
    text = json.dumps(value).replace("true", "True").replace("false", "False")
    return code(text) if len(text) < 50 else "a list"


def argument_page() -> str:
    rows = [
        (code(name), one.default if " " in one.default else code(one.default), one.meaning)
        for name, one in arguments.ARGUMENTS.items()
    ]
    head = (
        "`winnow crawl SEED ... --NAME VALUE`, or `scrapy crawl topic -a NAME=VALUE`, once for each argument. Both "
        "programs take both forms; after two dashes, names have dashes in place of underscores: `--max-pages 5`.\n\n"
    )
    return head + table("argument,default,meaning", rows)


def setting_page() -> str:
    meanings = docstrings(settings)
    rows = [(code(name), shown(getattr(settings, name)), meaning) for name, meaning in meanings.items()]
    wiring = sorted(name for name in vars(settings) if name.isupper() and name not in meanings)
    return (
        "`-s NAME=VALUE`, or a settings module of your own that begins with `from crawler.settings import *`. The "
        "settings are Winnow's own, and those of [Scrapy](https://docs.scrapy.org/en/latest/topics/settings.html) for "
        "which Winnow has another default.\n\n"
        + table("setting,default,meaning", rows)
        + "\nWinnow also sets these, to connect its parts: "
        + ", ".join(map(code, wiring))
        + ".\n"
    )


def item_page() -> str:
    pages = [
        (
            code(name),
            FIELD_TYPES[kind] + (" or null" if items.IS_OPTIONAL[name] else ""),
            docstrings(items.PageRecord)[name],
        )
        for name, kind in items.TYPES.items()
    ]
    classes = (*quality.SETS, quality.MaskedCounts)
    numbers = [(code(name), meaning) for numbers in classes for name, meaning in docstrings(numbers).items()]
    images = [(code(one.name), docstrings(items.ImageItem)[one.name]) for one in fields(items.ImageItem)]
    return (
        "`output/NAME.jsonl` has one line for each page, a JSON object in UTF-8, in the order in which pages were "
        "stored.\n\n" + table("field,type,meaning", pages) + "\n"
        "`output/NAME.images.jsonl` has one line for each image. The image files are in `output/images/`.\n\n"
        + table("field,meaning", images)
        + "\n`quality` is an object of these numbers. Shares (`_frac`) are from 0 to 1. Of a text of more than a "
        "million characters the beginning is read. "
        "[Choose by quality](../how-to/export.md#choose-by-quality) says which published text each is from.\n\n"
        + table("number,meaning", numbers)
    )


def outcome_page() -> str:
    rows = [
        (code(one.value), str(one.group), code(one.parameter), "" if one.sentence.startswith("{") else one.sentence)
        for one in outcomes.Code
    ]
    return (
        "How a request or a record of an archive ended. The statistics, the database and the API use the codes; "
        "messages use the words. Some codes have a parameter: `not_html/image/png`.\n\n"
        + table("code,group,parameter,words", rows)
    )


def statistic_page() -> str:
    return (
        "What a crawl counts besides [Scrapy's own statistics](https://docs.scrapy.org/en/latest/topics/stats.html); "
        "`-s STATS_DUMP=True` prints all of them at the end. The codes are those of [outcomes](outcomes.md).\n\n"
        + table("statistic,meaning", ((code(name), meaning) for name, meaning in STATISTICS.items()))
    )


def option_table(parser: argparse.ArgumentParser) -> str:
    rows = []
    for action in parser._actions:
        choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
        value = "" if action.nargs == 0 else str(action.metavar or choices or action.dest.upper())
        name = ", ".join(f"`{option} {value}`" if value else f"`{option}`" for option in action.option_strings)
        default = "" if action.default in (None, "", False, []) or not action.option_strings else code(action.default)
        rows.append((name or code(value), default, str(action.help)))
    return table("argument,default,meaning", rows) if rows else "It has no arguments.\n"


def command_page() -> str:
    head = (
        "`winnow COMMAND` works in any folder. In a checkout `scrapy COMMAND` is the same. All commands take "
        "[Scrapy's options](https://docs.scrapy.org/en/latest/topics/commands.html), too, such as "
        "`-s NAME=VALUE` and `-L LEVEL`. `winnow COMMAND --help` shows the same, in Chinese if the locale is "
        "Chinese. `winnow crawl` has a [page of its own](arguments.md).\n"
    )
    parts = [head]
    for name in sorted(COMMANDS.keys() - {"crawl"}):
        entry, called = COMMANDS[name], f"winnow {name}"
        options = resolve(entry.options)(name)
        parts.append(f"## {called}\n\n{entry.summary}\n")
        if isinstance(options, GroupOptions):
            for subname, one in options.subcommands.items():
                called = f"winnow {name} {subname}"
                parts += [f"### {called}\n\n```text\n{one.usage(called)}\n```\n", option_table(one.parser(called))]
        else:
            one = Subcommand("", options.add_arguments)
            parts += [f"```text\n{one.usage(called)}\n```\n", option_table(one.parser(called))]
    return "\n".join(parts)


def table_page() -> str:
    fields = docstrings(items.PageRecord)
    tables_of_fields = ("page", "page_version")
    head = (
        "The database of crawls: the setting `STATE_URL`. Other programs may read these tables while crawls run; only "
        "Winnow writes them. All other tables are private. Times with the type text are in ISO 8601, others are "
        "seconds since 1970, both in UTC.\n"
    )
    parts = [head]
    for module in (crawl_tables, page_tables):
        source, heads = inspect.getsource(module), inspect.getdoc(module) or ""
        for name in PUBLIC_TABLES:
            if not isinstance(one := vars(module).get(name), crawl_tables.Table):
                continue
            body = re.search(rf"^{name} = Table\((.*?)^\)", source, re.MULTILINE | re.DOTALL)
            comments = dict(re.findall(r'Column\("(\w+)".*?  # (.*)', body[1])) if body else {}
            meaning = re.search(rf"^ *{name}  +(.*)", heads, re.MULTILINE)
            meanings = fields | comments if name in tables_of_fields else comments
            rows = [
                (code(column.name), str(column.type).lower(), meanings.get(column.name, "")) for column in one.columns
            ]
            parts += [f"## {name}\n\n{meaning[1] if meaning else ''}\n", table("column,type,meaning", rows)]
    return "\n".join(parts)


def component_page() -> str:
    rows = [(code(path), setting) for path, setting in COMPONENTS.items() if path.startswith("crawler.")]
    return "The classes that settings name.\n\n" + table("path,setting", rows)


def api_page() -> str:
    head = (
        "Import these names from `crawler`. How to use them: [one page](../how-to/one-page.md), "
        "[a crawl](../how-to/crawl-in-python.md), [its changes](../how-to/search-index.md), "
        "[the next page](../how-to/own-frontier.md).\n"
    )
    parts = [head]
    for name in sorted(set(crawler.__all__) - {"__version__"}, key=str.lower):
        one = getattr(crawler, name)
        text, _, example = (inspect.getdoc(one) or "").partition("\n>>> ")
        parts.append(f"## {name}\n\n{text.strip()}\n")
        if example or not inspect.isclass(one):
            signature = re.sub(r"\b[a-z_.]+\.(?=[A-Z])", "", str(inspect.signature(one, eval_str=True)))
            parts.append(f"```python\n{name}{signature.removesuffix(' -> None')}\n```\n")
        if example:
            parts.append(f"```python\n>>> {example}\n```\n")
        if inspect.isclass(one):
            meanings = {
                part: inspect.getdoc(getattr(value, "func", value)) or ""
                for part, value in vars(one).items()
                if isinstance(value, property | cached_property) or inspect.isfunction(value)
            } | docstrings(one)
            listed = [*getattr(one, "_fields", [part for part in meanings if not part.startswith("_")])]
            rows = [(code(part), " ".join(meanings[part].split())) for part in listed]
            parts += [table("name,meaning", rows)] if rows else []
    return "\n".join(parts)


PAGES = {
    "arguments": ("Arguments", argument_page),
    "settings": ("Settings", setting_page),
    "commands": ("Commands", command_page),
    "items": ("Items", item_page),
    "outcomes": ("Outcomes", outcome_page),
    "statistics": ("Statistics", statistic_page),
    "tables": ("Tables", table_page),
    "api": ("Python API", api_page),
    "components": ("Components", component_page),
}


def index_page() -> str:
    return (
        "These pages name everything that is public: it changes only with a new major version and an entry in the "
        "list of changes. Every other name is private and may change at any time.\n\n"
        + "".join(f"- [{title}]({name}.md)\n" for name, (title, _) in PAGES.items())
    )


def wrapped(page: str) -> str:
    """A page whose lines are not longer than those of the other documentation, except in tables."""
    lines: list[str] = []
    is_code = False
    for line in page.split("\n"):
        is_code ^= line.startswith("```")
        if line.startswith("|") or len(line) <= LINE_LENGTH:
            lines.append(line)
        elif is_code:
            lines += [part.replace(JOINED, " ") for part in short_lines(INSIDE.sub(JOINED, line), indent="    ")]
        else:
            lines += short_lines(line)
    return "\n".join(lines)


def short_lines(line: str, indent: str = "") -> list[str]:
    return textwrap.wrap(line, LINE_LENGTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def write(folder: Path) -> None:
    """Write all pages to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, page) in {"index": ("Reference", index_page), **PAGES}.items():
        (folder / f"{name}.md").write_text(wrapped(f"# {title}\n\n{page()}"), encoding="utf-8")


if __name__ == "__main__":
    write(ROOT / "docs" / "reference")
