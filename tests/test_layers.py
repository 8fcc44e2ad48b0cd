"""The house keeps its shape: imports point down, the core knows no framework, and rooms stay small."""

import ast
import sys
from collections import Counter
from functools import cache
from pathlib import Path

CRAWLER = Path(__file__).resolve().parent.parent / "crawler"

# The rooms from bottom to top: a module imports from its own room and from those before it.
ROOMS = (
    "settings urls page translation errors doors outcomes command_line atomic_files processes rights metadata "
    "extraction noise topic recrawl frontier items arguments command_line.crawl_options checked_settings store "
    "reports export demo spiders workers.worker_report build_crawl command_line.start_crawl workers spiders.topic "
    "spiders.request_scheduler middlewares pipelines extensions commands api addon contrib.corpus contrib.index "
    "contrib.documents contrib.browser contrib.bulk contrib.lab contrib.schedule contrib.dashboard "
    "contrib.corpus.views contrib.index.views contrib.lab.views contrib.schedule.views contrib.mcp"
).split()
# These compute: they know no framework, no database and no terminal; and these are their libraries.
PURE = frozenset("outcomes urls page translation errors rights metadata extraction noise topic recrawl".split())
LIBRARIES = frozenset(
    "cssselect lxml parsel w3lib numpy tldextract rapidfuzz py3langid rjieba adblock pypdfium2 markdown_it "
    "snowballstemmer".split()
)
# The heavy libraries, each with the room that may use it.
DASHBOARD = (
    *("contrib.dashboard", "contrib.corpus.views", "contrib.index.views", "contrib.lab.views"),
    "contrib.schedule.views",
)
KEPT_TO = {
    "adblock": ("noise",),
    "dask": ("contrib.bulk",),
    "distributed": ("contrib.bulk",),
    "anyio": DASHBOARD,
    "fastapi": DASHBOARD,
    "playwright": ("contrib.browser",),
    "jinja2": ("contrib.dashboard", "demo", "reports", "contrib.lab"),
    "prometheus_client": ("contrib.dashboard",),
    "mcp": ("contrib.mcp",),
    "pydantic": (*DASHBOARD, "contrib.mcp"),
    "uvicorn": ("contrib.dashboard",),
    "langchain_core": ("contrib.index",),
    "lightgbm": ("contrib.lab",),
    "llama_index": ("contrib.index",),
    "markupsafe": ("contrib.dashboard", "demo", "contrib.lab", "reports"),
    "pyarrow": ("contrib.corpus",),
    "pypdfium2": ("contrib.documents",),
    "rjieba": ("page",),
    "scipy": ("contrib.lab",),
    "sklearn": ("contrib.lab",),
}
MOST_MODULES, MOST_AT_THE_TOP = 24, 10

FILES = sorted(CRAWLER.rglob("*.py"))
NAMES = {path: path.relative_to(CRAWLER.parent).with_suffix("").as_posix().replace("/", ".") for path in FILES}
MODULES = {path: name.removesuffix(".__init__") for path, name in NAMES.items()}


def room(module: str) -> str:
    """The room that a module of ours lies in, or is; an empty string for others and for the crawler itself."""
    name = module.partition(".")[2] if module.startswith("crawler.") else ""
    parts = name.split(".")
    beginnings = (".".join(parts[:count]) for count in range(len(parts), 1, -1))
    return next((beginning for beginning in beginnings if beginning in ROOMS), parts[0])


@cache
def imported(path: Path, annotations: bool = True) -> frozenset[str]:
    """The modules that a file imports, wherever in the file, in full; what it takes from a package is one, too.

    Without annotations, those are left out that only type checkers import.
    """
    package = NAMES[path].split(".")[:-1]
    tree, found, ours = ast.parse(path.read_text(encoding="utf-8")), set[str](), set(MODULES.values())
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.If) and not annotations and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join(above + (node.module or "").split(".") * bool(node.module))
            taken = [f"{module}.{alias.name}" for alias in node.names]
            found.update(name if name in ours else module for name in taken)
    return frozenset(found)


def is_below(there: str, here: str) -> bool:
    """Whether a room may be imported from another."""
    return ROOMS.index(there) <= ROOMS.index(here)


def test_imports_point_down() -> None:
    pairs = [(module, other) for path, module in MODULES.items() for other in imported(path) if room(other)]
    assert [pair for pair in pairs if room(pair[0]) and not is_below(room(pair[1]), room(pair[0]))] == []


def test_the_core_imports_no_part_that_may_be_missing() -> None:
    core = [(module, path) for path, module in MODULES.items() if not module.startswith("crawler.contrib")]
    pairs = [(module, other) for module, path in core for other in imported(path, annotations=False)]
    assert [pair for pair in pairs if pair[1].startswith("crawler.contrib")] == []


def test_imports_have_no_circle() -> None:
    ours = set(MODULES.values())
    below = {MODULES[path]: ours.intersection(imported(path, annotations=False)) for path in FILES}
    while free := [module for module, names in below.items() if not (names - {module}) & below.keys()]:
        for module in free:
            del below[module]
    assert not below


def test_libraries_stay_in_their_rooms() -> None:
    wrong = []
    for path, module in MODULES.items():
        here = room(module)
        others = {name.partition(".")[0] for name in imported(path)} - sys.stdlib_module_names - {"crawler"}
        allowed = LIBRARIES if here in PURE else frozenset() if here == "" else others
        kept = {library for library in others & KEPT_TO.keys() if here not in KEPT_TO[library]}
        wrong += [(module, library) for library in sorted(others - allowed | kept)]
    assert wrong == []


def test_the_demo_stands_alone() -> None:
    demo = [path for path, module in MODULES.items() if room(module) == "demo"]
    assert {room(name) for path in demo for name in imported(path) if name.startswith("crawler.")} <= {"demo"}


def test_rooms_are_small() -> None:
    folders = Counter(path.parent for path in FILES if path.name != "__init__.py")
    assert folders.pop(CRAWLER) <= MOST_AT_THE_TOP
    assert {folder.name: count for folder, count in folders.items() if count > MOST_MODULES} == {}


def test_settings_import_the_version_and_those_of_scrapy_only() -> None:
    tree = ast.parse((CRAWLER / "settings.py").read_text(encoding="utf-8"))
    imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports == ["from scrapy.settings import default_settings", "from crawler import __version__"]


def test_the_crawler_itself_imports_next_to_nothing() -> None:
    own = imported(CRAWLER / "__init__.py", annotations=False)
    assert {name.partition(".")[0] for name in own} == {"importlib", "os", "typing"}
