"""What stops a reader: `python tests/bench/readability.py [FOLDER]`, usually of `crawler`.

vague names         the share of assigned names and parameters that say nothing of what they hold
tuple assignments   statements that assign several names at once, which are not the parts of one value
conditionals        conditional expressions
walrus              assignment expressions
fragments           docstrings of attributes that begin with a word that needs the name above them

The last four are counted for 1,000 lines of code. The most frequent names are listed, and with `--places` each place.
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VAGUE_NAMES = frozenset("found one said given told known there mine asked made wanted taken".split())
FRAGMENT_BEGINNINGS = ("That ", "Of ", "In ", "The same", "Those ", "With ")
MOST_NAMED = 12


@dataclass
class Readability:
    """Counts of some modules."""

    lines: int = 0
    names: Counter[str] = field(default_factory=Counter)
    tuple_assignments: int = 0
    conditionals: int = 0
    walruses: int = 0
    fragments: int = 0
    places: list[tuple[str, str]] = field(default_factory=list)
    """Of each vague name: the module with the line, and the name."""

    def read(self, path: Path) -> None:
        """Count a module."""
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        self.lines += source.count("\n")
        for name, line in assigned_names(tree):
            self.names[name] += 1
            if name in VAGUE_NAMES:
                self.places.append((f"{path.relative_to(ROOT)}:{line}", name))
        for node in ast.walk(tree):
            self.tuple_assignments += is_tuple_assignment(node)
            self.conditionals += isinstance(node, ast.IfExp)
            self.walruses += isinstance(node, ast.NamedExpr)
        self.fragments += sum(map(is_fragment, attribute_docstrings(tree)))


def assigned_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Each name that is assigned, and each parameter, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def is_tuple_assignment(node: ast.AST) -> bool:
    """Whether a statement assigns several values to several names, rather than the parts of one."""
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def attribute_docstrings(tree: ast.AST) -> Iterator[str]:
    """The texts that stand below an assignment."""
    for parent in ast.walk(tree):
        body = getattr(parent, "body", None)
        if not isinstance(body, list):
            continue
        for statement, following in pairwise(body):
            is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            if isinstance(statement, ast.Assign | ast.AnnAssign) and is_text and isinstance(following.value.value, str):
                yield following.value.value


def is_fragment(docstring: str) -> bool:
    """Whether a docstring is not a sentence or a noun of its own."""
    return docstring.startswith(FRAGMENT_BEGINNINGS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "crawler")
    parser.add_argument("--places", action="store_true", help="list each vague name")
    options = parser.parse_args()
    counts = Readability()
    for path in sorted(options.folder.resolve().rglob("*.py")):
        counts.read(path)
    vague = {name: count for name, count in counts.names.most_common() if name in VAGUE_NAMES}
    print(
        f"vague names        {sum(vague.values()) / counts.names.total():6.2%}  of {counts.names.total():,} (aim 0.5%)"
    )
    for title, count, aim in (
        ("tuple assignments", counts.tuple_assignments, "4"),
        ("conditionals", counts.conditionals, "12"),
        ("walrus", counts.walruses, "2"),
        ("fragments", counts.fragments, "0"),
    ):
        print(f"{title:18} {1000 * count / counts.lines:6.1f}  for 1,000 lines, {count:,} in all (aim {aim})")
    print("  ".join(f"{name} {count}" for name, count in list(vague.items())[:MOST_NAMED]))
    if options.places:
        for place, name in counts.places:
            print(f"{place} {name}")


if __name__ == "__main__":
    main()
