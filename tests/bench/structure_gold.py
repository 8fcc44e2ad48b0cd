"""Writes manual pages with the Markdown of their sources, for `scrapy evaluate --structure`.

`python structure_gold.py PACKAGES OUT.jsonl`, with the folder of unpacked Debian packages that manuals.py leaves.
Sphinx ships the reStructuredText of its pages in _sources. It is read by docutils and written as Markdown. Pages are
left out whose source does not hold all that they show (autodoc, includes, substitutions of the project), or that have
neither code, nor a table, nor a formula.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles

SEED = 3
PAGES_OF_PACKAGE = 25
MOST_LETTERS = 60_000
UNKNOWN = (
    "automodule autoclass autofunction automethod autosummary autoexception include literalinclude graphviz".split()
)
SHOWN = (
    "note warning tip important caution danger hint attention seealso versionadded versionchanged deprecated".split()
)
HIDDEN = "toctree index highlight contents module currentmodule sectionauthor codeauthor meta tabularcolumns".split()


class UnknownError(Exception):
    """The source does not hold what the page shows."""


class Code(Directive):
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = dict.fromkeys(
        ("linenos", "caption", "name", "emphasize-lines", "lineno-start", "dedent", "force", "class"), str
    )

    def run(self) -> list[Any]:
        text = "\n".join(self.content)
        language = self.arguments[0] if self.arguments else ""
        shown = [nodes.paragraph("", self.options["caption"])] if "caption" in self.options else []
        return [*shown, nodes.literal_block(text, text, language=language)]


class Hidden(Directive):
    has_content = True
    optional_arguments = 9
    final_argument_whitespace = True
    option_spec = directives.unchanged  # type: ignore[assignment]

    def run(self) -> list[Any]:
        return []


class Refused(Hidden):
    def run(self) -> list[Any]:
        raise UnknownError(self.name)


class Admonition(Directive):
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[Any]:
        box = nodes.container()
        text = " ".join(self.arguments)
        if text:
            box += nodes.paragraph("", text)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


def _role(name: str, raw: str, text: str, line: int, inliner: Any, *_: Any, **__: Any) -> tuple[list[Any], list[Any]]:
    shown = text.rpartition("<")[0].strip() if text.endswith(">") and "<" in text else text
    if shown.startswith("~"):
        shown = shown.rpartition(".")[2]
    return [nodes.literal(raw, shown.lstrip("!"))], []


def prepare() -> None:
    """Tell docutils of Sphinx's directives and roles."""
    for name in ("code-block", "sourcecode", "code", "prompt", "parsed-literal"):
        directives.register_directive(name, Code)
    for name in HIDDEN:
        directives.register_directive(name, Hidden)
    for name in UNKNOWN:
        directives.register_directive(name, Refused)
    for name in SHOWN:
        directives.register_directive(name, Admonition)
    for name in (
        "ref doc class func meth mod attr data exc obj option envvar file command program term keyword setting abbr"
        " py:class py:func py:meth py:mod py:attr py:data py:exc py:obj c:func c:type c:macro cpp:class kbd guilabel"
        " menuselection download numref manpage samp dfn token any const macro type var issue bug pull user"
    ).split():
        roles.register_local_role(name, _role)


TITLES = frozenset(("title", "subtitle", "rubric"))
LINES = frozenset(("paragraph", "term", "caption", "attribution", "line", "field_name"))
CODE = frozenset(("literal_block", "doctest_block"))
LISTS = frozenset(("bullet_list", "enumerated_list"))
NOT_SHOWN = frozenset(("comment", "target", "image", "substitution_definition", "pending", "docinfo", "meta"))


class Writer:
    """Writes a tree of docutils as Markdown."""

    def blocks(self, node: Any, level: int = 1) -> Iterator[str]:
        for child in node.children:
            yield from self.block(child, level)

    def block(self, node: Any, level: int) -> Iterator[str]:
        kind = type(node).__name__
        if kind == "system_message":
            raise UnknownError(node.astext())
        if kind == "section":
            yield from self.blocks(node, level + 1)
        elif kind in TITLES:
            yield f"{'#' * min(max(level - (kind == 'title'), 1), 6)} {self.inline(node)}"
        elif kind in LINES:
            yield self.inline(node)
        elif kind in CODE:
            yield f"```{node.get('language', '')}\n{node.astext()}\n```"
        elif kind == "math_block":
            yield f"$${' '.join(node.astext().split())}$$"
        elif kind in LISTS:
            yield "\n".join(self.items(node, kind == "enumerated_list"))
        elif kind == "table":
            yield from self.table(node)
        elif kind not in NOT_SHOWN:
            yield from self.blocks(node, level)

    def items(self, node: Any, is_numbered: bool) -> Iterator[str]:
        number = node.get("start", 1)
        for item in node.children:
            mark = f"{number}. " if is_numbered else "- "
            yield mark + "\n\n".join(self.blocks(item)).replace("\n", "\n" + " " * len(mark))
            number += 1

    def table(self, node: Any) -> Iterator[str]:
        for title in node.findall(nodes.title):
            yield self.inline(title)
        rows = [[self.cell(entry) for entry in row.findall(nodes.entry)] for row in node.findall(nodes.row)]
        if any("morerows" in entry or "morecols" in entry for entry in node.findall(nodes.entry)):
            raise UnknownError("spans")
        lines = [f"| {' | '.join(row)} |" for row in rows]
        yield "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])

    def cell(self, entry: Any) -> str:
        return " ".join(" ".join(self.blocks(entry)).split()).replace("|", "\\|")

    def inline(self, node: Any) -> str:
        pieces = []
        for child in node.children:
            kind = type(child).__name__
            if kind == "math":
                pieces.append(f"${' '.join(child.astext().split())}$")
            elif kind == "literal":
                pieces.append(f"`{child.astext()}`")
            elif kind in ("problematic", "substitution_reference", "title_reference"):
                raise UnknownError(child.astext())
            elif kind in ("strong", "emphasis"):
                pieces.append(f"*{child.astext()}*")
            elif kind not in ("target", "image", "footnote_reference", "citation_reference"):
                pieces.append(child.astext().replace("$", "\\$"))
        return " ".join("".join(pieces).split())


def markdown_of(source: str) -> str:
    """The Markdown of reStructuredText; raises an UnknownError if it cannot be known."""
    settings = {"report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
    tree = publish_doctree(source, settings_overrides={**settings, "doctitle_xform": False})
    return "\n\n".join(Writer().blocks(tree, 1))


def main() -> None:
    """Write the file and say how many pages are in it."""
    folder, output = map(Path, sys.argv[1:])
    prepare()
    chance, count, packages = random.Random(SEED), 0, set()
    with output.open("w", encoding="utf-8") as file:
        for package in sorted(folder.iterdir()):
            sources = sorted(package.rglob("_sources/**/*.rst.txt")) + sorted(package.rglob("_sources/*.rst.txt"))
            sources = list(dict.fromkeys(sources))
            chance.shuffle(sources)
            kept = 0
            for source in sources[:400]:
                root, _, name = str(source).rpartition("/_sources/")
                page = Path(root, name.removesuffix(".rst.txt") + ".html")
                if kept >= PAGES_OF_PACKAGE or not page.exists() or page.stat().st_size > 8 * MOST_LETTERS:
                    continue
                try:
                    markdown = markdown_of(source.read_text(encoding="utf-8"))
                except (UnknownError, Exception):
                    continue
                if len(markdown) > MOST_LETTERS or not any(sign in markdown for sign in ("```", "\n| ", "$")):
                    continue
                where = page.relative_to(folder).as_posix()
                row = {"id": where, "url": f"http://{package.name}.example/{name}", "gold_markdown": markdown}
                file.write(json.dumps({**row, "html": page.read_text(encoding="utf-8", errors="replace")}) + "\n")
                kept, count = kept + 1, count + 1
                packages.add(package.name)
    print(f"{count} pages of {len(packages)} packages")


if __name__ == "__main__":
    main()
