"""Imports point down: from adapters that know Scrapy to a core that does not."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CRAWLER = Path(__file__).resolve().parent.parent / "crawler"

# A module's place is that of the longest of these names that it is or lies in; low numbers are below high ones. Modules
# of one place may import each other only where that is a package of its own, or pure.
PURE, MIDDLE, STATE, ABOVE, TOP, ADAPTER = range(6)
LAYERS = {
    **dict.fromkeys("urls page metadata topic topic_file wording seeds parallel near_duplicates files".split(), PURE),
    **dict.fromkeys("moments recrawl explanation outcomes outcome_words page_record".split(), PURE),
    **dict.fromkeys("focus noise extraction archives".split(), MIDDLE),
    "state": STATE,
    **dict.fromkeys("conditional evaluation arguments cleaning saved_pictures export".split(), ABOVE),
    "training": TOP,  # it judges what it made
    "bulk": TOP,  # it cleans
    "schedule": TOP,
    **dict.fromkeys("settings config crawl items scheduler demonstration failures spiders".split(), ADAPTER),
    **dict.fromkeys(
        "middlewares pipelines extensions commands subcommands judging checking scheduled dashboard".split(), ADAPTER
    ),
}
ADAPTERS_ONLY = frozenset("scrapy twisted OpenSSL zope itemadapter rich".split())
# What the core may use besides the standard library.
CORE = frozenset("lxml parsel w3lib numpy tldextract py3langid sqlalchemy psycopg filelock cronsim".split())
CORE |= frozenset("brotli backports compression".split())  # of the last two there is one, by Python's version
TEMPLATES = frozenset(("jinja2", "markupsafe"))
APART = "demo"

FILES = sorted(CRAWLER.rglob("*.py"))
NAMES = {path: path.relative_to(CRAWLER.parent).with_suffix("").as_posix().replace("/", ".") for path in FILES}
MODULES = {path: name.removesuffix(".__init__") for path, name in NAMES.items()}

# What one part alone may use, with an extra of its own.
EXTRA = {
    "bulk": frozenset(("dask", "distributed")),
    "evaluation": frozenset(("scipy",)) | TEMPLATES,
    "export": frozenset(("pyarrow",)),
    "noise": frozenset(("adblock",)),
    "page": frozenset(("rjieba",)),
    "training": frozenset(("scipy", "sklearn", "lightgbm")),
}


def place(module: str) -> str:
    """The part of the crawler that a module belongs to; an empty string for the crawler itself."""
    return module.partition(".")[2].partition(".")[0]


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


def test_every_module_has_a_layer() -> None:
    places = {place(module) for module in MODULES.values()} - {"", APART}
    assert places <= LAYERS.keys(), (
        f"{sorted(places - LAYERS.keys())}: say in LAYERS of {Path(__file__).name} to which layer they belong"
    )


@pytest.mark.parametrize("path", FILES, ids=MODULES.values())
def test_imports_point_down(path: Path) -> None:
    here = place(MODULES[path])
    for module in imported(path):
        there = place(module)
        if module.partition(".")[0] != "crawler" or there in ("", here):
            continue
        if APART in (here, there):
            assert LAYERS.get(here) == ADAPTER, f"{MODULES[path]} imports {module}: only adapters serve the demo"
            continue
        ours, theirs = LAYERS[here], LAYERS[there]
        beside = ours == theirs and ours in (PURE, ADAPTER)
        assert theirs < ours or beside, f"{MODULES[path]} imports {module}, which is not below it"


@pytest.mark.parametrize("path", FILES, ids=MODULES.values())
def test_only_adapters_know_the_framework(path: Path) -> None:
    here = place(MODULES[path])
    others = {module.partition(".")[0] for module in imported(path)} - sys.stdlib_module_names - {"crawler"}
    if here in ("", APART):
        assert not others, f"{MODULES[path]} imports more than the standard library"
    elif LAYERS[here] != ADAPTER:
        assert not others & ADAPTERS_ONLY, f"{MODULES[path]} is no adapter"
        allowed = CORE | EXTRA.get(here, frozenset())
        assert others <= allowed, (
            f"{sorted(others - allowed)}: say in CORE of {Path(__file__).name} that the core may use them"
        )


@pytest.mark.parametrize("path", FILES, ids=MODULES.values())
def test_only_the_dashboard_and_reports_are_made_of_templates(path: Path) -> None:
    if place(MODULES[path]) not in ("dashboard", "evaluation"):
        others = {module.partition(".")[0] for module in imported(path)}
        assert not others & TEMPLATES, f"{MODULES[path]} makes no pages"


def test_the_demo_stands_alone() -> None:
    files = [path for path in FILES if place(MODULES[path]) == APART]
    assert files
    for path in files:
        ours = {module for module in imported(path) if module.startswith("crawler")}
        assert {place(module) for module in ours} <= {APART}, f"{MODULES[path]} imports {sorted(ours)}"


def test_settings_import_the_version_only() -> None:
    tree = ast.parse((CRAWLER / "settings.py").read_text(encoding="utf-8"))
    imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports == ["from crawler import __version__"]


def test_the_crawler_itself_imports_next_to_nothing() -> None:
    assert list(imported(CRAWLER / "__init__.py")) == ["os"]
