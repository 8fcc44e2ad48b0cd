"""The house keeps its shape: imports point down, the core knows no framework, and rooms stay small."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

CRAWLER = Path(__file__).resolve().parent.parent / "crawler"

# The rooms from bottom to top: a module imports from its own room and from those before it.
ROOMS = (
    "outcomes settings files urls page translation metadata extraction noise topic recrawl frontier store labels "
    "reports archives bulk evaluation training export arguments config items demo spiders crawl spiders.topic schedule "
    "middlewares pipelines scheduler extensions subcommands dashboard commands"
).split()
# These compute: they know no framework, no database and no terminal.
PURE = frozenset("outcomes urls page translation metadata extraction noise topic recrawl".split())
FRAMEWORK = frozenset("scrapy twisted OpenSSL zope itemadapter rich".split())
LIBRARIES = frozenset("lxml parsel w3lib numpy tldextract py3langid rjieba adblock".split())  # of pure rooms
# The heavy libraries, each with the room that may use it.
KEPT_TO = {
    "adblock": ("noise",),
    "dask": ("bulk",),
    "distributed": ("bulk",),
    "jinja2": ("dashboard", "reports"),
    "lightgbm": ("training",),
    "markupsafe": ("dashboard", "evaluation", "reports"),
    "pyarrow": ("export",),
    "rjieba": ("page",),
    "scipy": ("evaluation", "training"),
    "sklearn": ("training", "commands"),
}
MOST_MODULES, MOST_AT_THE_TOP = 24, 8

FILES = sorted(CRAWLER.rglob("*.py"))
NAMES = {path: path.relative_to(CRAWLER.parent).with_suffix("").as_posix().replace("/", ".") for path in FILES}
MODULES = {path: name.removesuffix(".__init__") for path, name in NAMES.items()}


def room(module: str) -> str:
    """The room that a module lies in, or is; an empty string for the crawler itself."""
    name = module.partition(".")[2]
    return name if name in ROOMS else name.partition(".")[0]


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, wherever in the file, in full; what it takes from a package is one, too."""
    package = NAMES[path].split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join(above + (node.module or "").split(".") * bool(node.module))
            taken = [f"{module}.{alias.name}" for alias in node.names]
            yield from [name if name in MODULES.values() else module for name in taken]


@pytest.mark.parametrize("path", FILES, ids=MODULES.values())
def test_imports_point_down(path: Path) -> None:
    here = room(MODULES[path])
    for module in imported(path):
        there = room(module)
        if here and there and module.startswith("crawler."):
            assert ROOMS.index(there) <= ROOMS.index(here), f"{MODULES[path]} imports {module}, which is above it"


def test_imports_have_no_circle() -> None:
    below = {MODULES[path]: {name for name in imported(path) if name in MODULES.values()} for path in FILES}
    while free := [module for module, names in below.items() if not (names - {module}) & below.keys()]:
        for module in free:
            del below[module]
    assert not below


@pytest.mark.parametrize("path", FILES, ids=MODULES.values())
def test_libraries_stay_in_their_rooms(path: Path) -> None:
    here = room(MODULES[path])
    others = {module.partition(".")[0] for module in imported(path)} - sys.stdlib_module_names - {"crawler"}
    if here in PURE:
        assert others <= LIBRARIES, f"{MODULES[path]} is pure"
    if here in ("", "demo"):
        assert not others, f"{MODULES[path]} imports more than the standard library"
    for library in others & KEPT_TO.keys():
        assert here in KEPT_TO[library], f"{library} is kept to {', '.join(KEPT_TO[library])}"


def test_the_demo_stands_alone() -> None:
    for path in FILES:
        if room(MODULES[path]) == "demo":
            ours = {module for module in imported(path) if module.startswith("crawler")}
            assert {room(module) for module in ours} <= {"demo"}, f"{MODULES[path]} imports {sorted(ours)}"


def test_rooms_are_small() -> None:
    folders = Counter(path.parent for path in FILES if path.name != "__init__.py")
    assert folders.pop(CRAWLER) <= MOST_AT_THE_TOP
    assert {folder.name: count for folder, count in folders.items() if count > MOST_MODULES} == {}


def test_settings_import_the_version_only() -> None:
    tree = ast.parse((CRAWLER / "settings.py").read_text(encoding="utf-8"))
    imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports == ["from crawler import __version__"]


def test_the_crawler_itself_imports_next_to_nothing() -> None:
    assert list(imported(CRAWLER / "__init__.py")) == ["os"]
