"""The `python` blocks of the documentation work: those of a page run in order, as in a notebook, in an empty folder."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest
from fork_server import ROOT, environment

from crawler import demo
from crawler.demo.site import pdf

PAGES = [
    page
    for page in [*ROOT.glob("README*.md"), *(ROOT / "docs" / "how-to").glob("*.md")]
    if "```python\n" in page.read_text(encoding="utf-8") and page.name != "login.md"  # test_middleware_pages.py runs it
]
SITE = "https://example.org/"
CRAWL = ["-m", "scrapy", "crawl", "topic", "-a", "seeds=demo", "-a", "topic=honey bees", "-a", "name=bees"]
# The files and the crawl that some pages say the reader has.
FILES = {
    "hive.pdf": pdf("Plan of our garden hive"),
    "dance.md": b"# The dance\n\nBees dance in the dark of the hive.\n",
}
# What the reader has already, and the event loop of a notebook.
NOTEBOOK = """
import asyncio

html = other_html = "<h1>Bees</h1><p>Bees dance in the dark of the hive.</p><img src=/bee.jpg width=640 height=480>"


async def notebook():
{blocks}

asyncio.run(notebook())
"""


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run(arguments: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """A program, run where the example site is the demo site."""
    with demo.serving(0) as site:
        line = [sys.executable, *(argument.replace(SITE, site) for argument in arguments)]
        variables = environment() | {"SCRAPY_SETTINGS_MODULE": "loopback_settings"}
        return subprocess.run(line, cwd=folder, env=variables, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.parent == ROOT else pytest.mark.long) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_blocks_of_a_page(page: Path, tmp_path: Path) -> None:
    code = "\n".join(blocks(page))
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    if '"bees"' in code:
        assert run(CRAWL, tmp_path).returncode == 0
    done = run(["-c", NOTEBOOK.format(blocks=indent(code, "    "))], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout or "print(" not in code
