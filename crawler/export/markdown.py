"""Markdown: a file for each page, with its fields as front matter and its text below.

Each value of the front matter is JSON, which is valid YAML. So a parser of YAML reads a text of a page as a text, even
if it looks like a date or a number. The body is the page's Markdown if the crawl stored it, otherwise its text with
escaped Markdown characters. File names are valid on every system: the path of the address in lower-case Latin letters
and digits, and the page's key as 16 hex digits, which makes them unique.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from crawler.extraction.output.markdown_inline import escaped
from crawler.reports.stored_pages import StoredPage
from crawler.urls.address import address_of

BODY_FIELDS = ("text", "markdown")
"""The fields that are the body, not the front matter."""
MOST_NAME_CHARACTERS = 80
"""Characters of a folder or a name. With the digits and the extension, a name is far below the 255 of file systems."""
NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
NOT_IN_HOST = re.compile(r"[^a-z0-9.-]+")
# Device names on Windows, with any extension.
DEVICE_NAME = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")
# Characters that YAML requires to be escaped, and JSON does not: https://yaml.org/spec/1.2.2/#51-character-set
ESCAPED_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff\ufdd0-\ufdef]")
# YAML 1.1 reads a number with an exponent and no point as a text: https://yaml.org/type/float.html
EXPONENT = re.compile(r"^(-?\d+)e")
ITEM_MARK = "- "  # as `auto` writes it in texts


def markdown(pages: Iterable[StoredPage], fields: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """For each page the path of its file, as `folder/name`, and the content."""
    for page in pages:
        front = [f"{name}: {json_for_yaml(page.values[name])}" for name in fields if name not in BODY_FIELDS]
        body = page.values["markdown"] or text_as_markdown(page.values["text"])
        lines = ["---", *front, "---", "", body]
        if body:
            lines.append("")
        yield path_of(page.values["url"], page.key), "\n".join(lines).encode("utf-8", "replace")


def path_of(url: str, key: int) -> str:
    """A folder for the host and a file name that is unique on any file system.

    >>> path_of("https://Example.org/Bees/Honey%20bee?a=1#b", 255)
    'example.org/bees-honey-bee-a-1-b-00000000000000ff.md'
    >>> path_of("http://con.example/..", -1)
    '_con.example/index-ffffffffffffffff.md'
    """
    folder = NOT_IN_HOST.sub("-", address_of(url).host.lower())[:MOST_NAME_CHARACTERS].strip(".-") or "host"
    if DEVICE_NAME.match(folder):
        folder = f"_{folder}"
    path = url.partition("://")[2].partition("/")[2]
    name = NOT_IN_NAME.sub("-", unquote(path).lower())[:MOST_NAME_CHARACTERS].strip("-") or "index"
    unsigned_key = key % 2**64
    return f"{folder}/{name}-{unsigned_key:016x}.md"


def json_for_yaml(value: Any) -> str:
    r"""A value as JSON that YAML reads as the same value.

    >>> json_for_yaml("a\x85\u2028b"), json_for_yaml(1e-07), json_for_yaml([{"url": "a"}]), json_for_yaml(None)
    ('"a\\u0085\\u2028b"', '1.0e-07', '[{"url": "a"}]', 'null')
    """
    text = ESCAPED_IN_YAML.sub(lambda letter: f"\\u{ord(letter[0]):04x}", json.dumps(value, ensure_ascii=False))
    if isinstance(value, float):
        return EXPONENT.sub(r"\1.0e", text)
    return text


def text_as_markdown(text: str) -> str:
    """The lines of a text as paragraphs and list items, with everything else escaped.

    >>> text_as_markdown("# Bees\\n- <b>dance</b>")
    '\\\\# Bees\\n\\n- \\\\<b>dance\\\\</b>'
    """
    lines = (line.strip() for line in text.splitlines())
    return "\n\n".join(_line(line) for line in lines if line)


def _line(line: str) -> str:
    if line.startswith(ITEM_MARK):
        return f"{ITEM_MARK}{escaped(line[len(ITEM_MARK) :].lstrip())}"
    return escaped(line)
