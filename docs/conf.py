"""How Sphinx builds these pages: `sphinx-build -W -b html docs BUILD`."""

import re
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent

project = "Winnow"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Winnow"
html_show_copyright = False
myst_heading_anchors = 3

SECTIONS = {
    "tutorial": "Tutorial",
    "how-to": "How to",
    "reference": "Reference",
    "explanation": "Explanation",
    ".": "Measurements",
    "zh/tutorial": "中文教程",
}
"""Folders with the captions of the sidebar."""
TOCTREE = """
```{{toctree}}
:hidden:
:caption: {caption}

{pages}
```
"""


def sidebar(text: str) -> str:
    """The toctrees of all pages: those that the first page links to come first and in its order, then the others."""
    linked = re.findall(r"\]\(([\w/-]+)\.md\)", text)
    found = sorted(path.relative_to(HERE).with_suffix("").as_posix() for path in HERE.rglob("*.md"))
    pages = [name for name in dict.fromkeys([*linked, *found]) if name in found and name != "index"]
    trees = []
    for folder, caption in SECTIONS.items():
        names = [name for name in pages if Path(name).parent == Path(folder)]
        if names:
            trees.append(TOCTREE.format(caption=caption, pages="\n".join(names)))
    return "".join(trees)


def add_sidebar(app: Sphinx, name: str, source: list[str]) -> None:
    """Add the toctrees when the first page is read: in the file itself GitHub would show them as code."""
    if name == "index":
        source[0] += sidebar(source[0])


def renewed(app: Sphinx, *changes: object) -> list[str]:
    """The pages to be read again although they did not change: the first one, as pages may be new or gone."""
    return ["index"]


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_sidebar)
    app.connect("env-get-outdated", renewed)
