"""Pages of a built site, kept for the suite: what a theme draws is left out, what it says stays."""

import json
import lzma
import re
from collections.abc import Mapping
from pathlib import Path

ENDINGS = (".html", ".xml", ".txt")
HERE = "http://site.example"
"""Stands for the address that a site is served at."""
DRAWN = re.compile(
    r"<script(?![^>]*ld\+json)[^>]*>.*?</script>|<style[^>]*>.*?</style>|(<svg)[^>]*(>).*?(</svg>)"
    r"|<link[^>]+stylesheet[^>]*>|<!--.*?-->",
    re.DOTALL | re.IGNORECASE,
)
"""Scripts, styles and comments go, drawings are emptied; JSON-LD says what a page is and stays."""


def without_drawings(page: str) -> str:
    """The page without the code of its theme.

    >>> without_drawings('<p>A <svg id="b"><path/></svg><script>c</script></p>')
    '<p>A <svg></svg></p>'
    """
    return DRAWN.sub(lambda part: "".join(filter(None, part.groups())), page)


def keep_pages(folder: Path, url: str, file: Path) -> None:
    """Write the pages, feeds and site maps of a built site into one compressed file."""
    pages = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDINGS and path.is_file():
            content = path.read_text(encoding="utf-8").replace(url, HERE)
            name = path.relative_to(folder).as_posix()
            pages[name] = without_drawings(content) if path.suffix == ".html" else content
    file.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(file, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps([name, page], ensure_ascii=False) + "\n" for name, page in pages.items())


def kept_pages(file: Path) -> Mapping[str, str]:
    """The pages of such a file, by their paths."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return dict(map(json.loads, lines))
