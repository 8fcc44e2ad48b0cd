"""How well pages are cut into chunks.

`python chunks.py [--manuals MANUALS.jsonl] [--markdown FOLDER] [--node-modules FOLDER]` cuts pages whose sources are
known: manuals that structure_gold.py wrote, and pages that markdown-it makes of the Markdown files below a folder. It
prints

- the share of chunks whose nearest heading, or all of whose headings, are those above their text in the source;
- how many code blocks and tables, as markdown-it reads them, are cut although they fit into a chunk;
- the sizes of chunks;
- what changes in the chunks if a paragraph of a page is edited.

Chinese pages of WINNOW_DATA (by default shared/data beside this checkout) are cut, too, without sources. With a folder
in which npm has installed js-tiktoken, the estimated tokens are compared with those of two models.
"""

import argparse
import json
import lzma
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from statistics import quantiles

from lxml import html as lxml_html
from markdown_it import MarkdownIt

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from crawler import Document, clean
from crawler.contrib.index.chunk_size import TOKENS, estimated_tokens
from crawler.contrib.index.chunks import Chunk, chunk_changes
from crawler.contrib.index.cut_text import sentences
from crawler.contrib.index.page_sections import heading_text, page_sections
from crawler.page.text import letters

DATA = Path(os.environ.get("WINNOW_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
SEED = 5
CHINESE = ("zh_handcrafted", "magic_article", "magic_forum", "fundus")
LEAST_LETTERS = 25
"""Letters of a chunk by which it is looked for in the source."""
MOST_LETTERS = 80
EDITS_OF_PAGE = 20
EDITED_PAGES = 20
MOST_PAGES = 400
IMAGE_OR_FENCE = re.compile(r"!\[[^\]]*\]\([^)]*\)|^\s*(?:[-*+]\s+|\d+\.\s+|>\s*)*```.*$|\[\^[^\]]+\]:?", re.MULTILINE)
NUMBER = re.compile(r"(?:\d+\.)+\s+")
"""The number of a section, which a program may add to its heading."""
PAGE = """<!DOCTYPE html><html lang="en"><head><title>{title} | Manual</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/guide">Guide</a></li><li><a href="/api">API</a></li></ul></nav>
<main>{main}</main><footer><p>All rights reserved. <a href="/imprint">Imprint</a></p></footer></body></html>"""
PARSER = MarkdownIt("commonmark").enable("table")
COUNTER = """
const {getEncoding} = require("js-tiktoken");
const texts = JSON.parse(require("fs").readFileSync(0));
const counts = ["o200k_base", "cl100k_base"].map(getEncoding).map(
    encoding => texts.map(text => encoding.encode(text, [], []).length));
console.log(JSON.stringify(counts));
"""


@dataclass(frozen=True, kw_only=True)
class ManualPage:
    """A page, and the Markdown of its source if it is known."""

    url: str
    html: str
    source: str = ""


@dataclass(kw_only=True)
class Tally:
    """What was counted."""

    pages: int = 0
    chunks: list[Chunk] = field(default_factory=list)
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)


def plain_letters(markdown: str) -> bytes:
    """The letters of a text without images, fences and the labels of footnotes."""
    return letters(IMAGE_OR_FENCE.sub("", markdown))


class Source:
    """The headings above each place of a source."""

    def __init__(self, markdown: str) -> None:
        self.letters = b""
        self.starts: list[tuple[int, list[bytes]]] = []
        for section in page_sections(markdown):
            headings = [letters(NUMBER.sub("", heading)) for heading in section.headings]
            self.starts.append((len(self.letters), headings))
            self.letters += b"".join(plain_letters(block.text) for block in section.blocks)

    def headings(self, chunk: Chunk) -> list[bytes] | None:
        """The headings above the text of a chunk; None if it is not found, or found twice."""
        text = plain_letters(chunk.text)[:MOST_LETTERS]
        if len(text) < LEAST_LETTERS or self.letters.count(text) != 1:
            return None
        at = self.letters.index(text)
        return next((headings for start, headings in reversed(self.starts) if start <= at), [])


def judge_headings(page: ManualPage, chunks: Iterable[Chunk], outcomes: Counter[str]) -> None:
    source = Source(page.source)
    for chunk in chunks:
        expected = source.headings(chunk)
        if expected is None:
            outcomes["not found in the source"] += 1
            continue
        own = [letters(NUMBER.sub("", heading)) for heading in chunk.headings]
        outcomes["found in the source"] += 1
        outcomes["nearest heading right"] += own[-1:] == expected[-1:]
        # A page's title stands above further headings of the first level, too.
        are_all_right = expected in (own, own[1:])
        outcomes["all headings right"] += are_all_right
        if not are_all_right and "-v" in sys.argv:
            print(page.url, chunk.headings, expected, chunk.text[:80].replace("\n", " "), sep="\n    ")


def code_and_rows(markdown: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """The contents of code blocks, and the rows of each table, as markdown-it reads them."""
    code = []
    tables = []
    rows: list[str] = []
    cells: list[str] = []
    tokens = PARSER.parse(markdown)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "fence":
            code.append(token.content)
        elif token.type in ("td_open", "th_open") and following is not None:
            cells.append(following.content)
        elif token.type == "tr_close":
            rows.append("|".join(cells))
            cells = []
        elif token.type == "table_close":
            tables.append(tuple(rows))
            rows = []
    return code, tables


def judge_blocks(markdown: str, chunks: Iterable[Chunk], limit: int, outcomes: Counter[str]) -> None:
    whole_code: Counter[str] = Counter()
    whole_tables: Counter[tuple[str, ...]] = Counter()
    all_rows: set[str] = set()
    for chunk in chunks:
        code, tables = code_and_rows(chunk.text)
        whole_code.update(code)
        whole_tables.update(tables)
        all_rows.update(row for table in tables for row in table)
    code, tables = code_and_rows(markdown)
    for block in code:
        is_over = estimated_tokens(f"```python\n{block}```") > limit
        kind = "code over the size" if is_over else "code"
        outcomes[kind] += 1
        outcomes[f"{kind}, cut"] += not whole_code[block]
    for table in tables:
        is_over = estimated_tokens("\n".join(f"| {row.replace('|', ' | ')} |" for row in table)) + 10 > limit
        kind = "tables over the size" if is_over else "tables"
        outcomes[kind] += 1
        outcomes[f"{kind}, cut"] += not whole_tables[table]
        outcomes["rows"] += len(table)
        outcomes["rows, cut"] += sum(
            row not in all_rows and estimated_tokens(f"| {row.replace('|', ' | ')} |") < limit / 2 for row in table
        )


def cleaned(root: lxml_html.HtmlElement, url: str) -> Document:
    return clean(lxml_html.tostring(root, encoding="unicode"), url)


def sections(document: Document) -> set[tuple[tuple[str, ...], str]]:
    """The sections of a page with their Markdown."""
    page_parts = page_sections(document.markdown, document.title)
    return {(section.headings, "\n\n".join(block.text for block in section.blocks)) for section in page_parts}


def edit(page: ManualPage, chance: random.Random, outcomes: Counter[str], limit: int) -> None:
    """Edit paragraphs of the main text one by one, and see what changes."""
    root = lxml_html.document_fromstring(page.html)
    old = cleaned(root, page.url)
    chunks = old.chunks(tokens=limit)
    by_text = {plain_letters(chunk.text): chunk for chunk in chunks}
    paragraphs = [
        (paragraph, letters(paragraph.text_content()))
        for paragraph in root.iter("p")
        if len(paragraph.text_content()) > 40
    ]
    letters_of_page = b"\n".join(by_text)
    places = [
        (paragraph, chunk)
        for paragraph, text in paragraphs
        for own, chunk in by_text.items()
        if text in own and letters_of_page.count(text) == 1
    ]
    for paragraph, chunk in chance.sample(places, min(EDITS_OF_PAGE, len(places))):
        before = paragraph.text
        paragraph.text = f"{chance.choice(['Edited', 'Changed', '改过了'])} {chance.random():.6f}. {before or ''}"
        new = cleaned(root, page.url)
        changes = chunk_changes([chunk.id for chunk in chunks], new.chunks(tokens=limit))
        paragraph.text = before
        old_headings = {chunk.id: chunk.headings for chunk in chunks}
        changed = [one.headings for one in changes.add] + [old_headings[one] for one in changes.delete]
        outcomes["edits"] += 1
        other_headings = {headings for headings in changed if headings != chunk.headings}
        extracted = {headings for headings, _ in sections(old) ^ sections(new)}
        outcomes["edits after which auto keeps other lines elsewhere"] += extracted != {chunk.headings}
        outcomes["edits that change chunks of unchanged sections"] += not other_headings <= extracted
        outcomes["chunks added by edits"] += len(changes.add)
        outcomes["chunks of edited sections"] += sum(old_chunk.headings == chunk.headings for old_chunk in chunks)


def judge(pages: Iterable[ManualPage], limit: int) -> Tally:
    tally = Tally()
    chance = random.Random(SEED)
    for page in pages:
        document = clean(page.html, page.url)
        markdown = document.markdown
        began = time.perf_counter()
        chunks = document.chunks(tokens=limit)
        tally.seconds += time.perf_counter() - began
        tally.pages += 1
        tally.chunks += chunks
        if page.source:
            judge_headings(page, chunks, tally.outcomes)
        judge_blocks(markdown, chunks, limit, tally.outcomes)
        if tally.pages <= EDITED_PAGES:
            edit(page, chance, tally.outcomes, limit)
    return tally


def manual_pages(path: Path) -> Iterator[ManualPage]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    random.Random(SEED).shuffle(rows)
    for row in rows[:MOST_PAGES]:
        yield ManualPage(url=row["url"], html=row["html"], source=row["gold_markdown"])


def markdown_pages(folder: Path) -> Iterator[ManualPage]:
    """Markdown files with headings as pages."""
    paths = sorted(path for path in folder.rglob("*.md") if "/docs/" in path.as_posix())
    random.Random(SEED).shuffle(paths)
    for path in paths[:MOST_PAGES]:
        source = path.read_text(encoding="utf-8")
        if source.count("\n#") > 1 and "<h" not in source:
            title = heading_text(next(line for line in source.split("\n") if line.startswith("#")))
            page = PAGE.format(title=escape(title), main=PARSER.render(source))
            yield ManualPage(url=f"https://manual.example/{path.stem}", html=page, source=source)


def chinese_pages() -> Iterator[ManualPage]:
    for name in CHINESE:
        with lzma.open(DATA / "extraction" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        for row in rows:
            if str(row["lang"]).startswith("zh"):
                yield ManualPage(url=row["url"], html=row["html"])


def sentence_ends(chunks: Iterable[Chunk], outcomes: Counter[str]) -> None:
    """How many of the chunks that are cut paragraphs end with a sentence."""
    for chunk in chunks:
        if "\n" not in chunk.text and chunk.tokens > TOKENS / 2:
            outcomes["one long paragraph or a part of it"] += 1
            outcomes["of these not at the end of a sentence"] += len([*sentences(chunk.text + "a")]) == 1


def show(name: str, tally: Tally) -> None:
    sizes = sorted(chunk.tokens for chunk in tally.chunks)
    tenths = quantiles(sizes, n=10)
    print(f"\n{name}: {tally.pages} pages, {len(sizes)} chunks, {1000 * tally.seconds / tally.pages:.1f} ms a page")
    print(f"  tokens: tenths {' '.join(f'{tenth:.0f}' for tenth in tenths)}, largest {sizes[-1]}")
    print(f"  with an anchor: {sum('#' in chunk.url for chunk in tally.chunks) / len(sizes):.3f}")
    for outcome, count in sorted(tally.outcomes.items()):
        print(f"  {outcome}: {count}")
    if judged := tally.outcomes["found in the source"]:
        for outcome in ("nearest heading right", "all headings right"):
            print(f"  share with {outcome}: {tally.outcomes[outcome] / judged:.4f}")


def compare_tokens(name: str, chunks: Iterable[Chunk], node_modules: Path) -> None:
    """Print the estimated tokens as a share of those of two models."""
    texts = [chunk.text for chunk in chunks if chunk.tokens > TOKENS / 4]
    line = ["node", "-e", COUNTER]
    ended = subprocess.run(line, cwd=node_modules, input=json.dumps(texts), capture_output=True, text=True, check=True)
    for encoding, counts in zip(("o200k_base", "cl100k_base"), json.loads(ended.stdout), strict=True):
        shares = sorted(estimated_tokens(text) / count for text, count in zip(texts, counts, strict=True))
        whole = sum(map(estimated_tokens, texts)) / sum(counts)
        low, high = shares[len(shares) // 20], shares[-len(shares) // 20]
        print(f"  {name}: estimate / {encoding} {whole:.2f}, of nine tenths of the chunks {low:.2f} to {high:.2f}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--manuals", type=Path, help="what structure_gold.py wrote")
    parser.add_argument("--markdown", type=Path, help="a folder with Markdown files below folders named docs")
    parser.add_argument("--node-modules", type=Path, help="the folder in which npm has installed js-tiktoken")
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("-v", action="store_true", help="print the chunks of which a heading is wrong")
    options = parser.parse_args()
    sources = {
        "manuals": manual_pages(options.manuals) if options.manuals else (),
        "Markdown": markdown_pages(options.markdown) if options.markdown else (),
        "Chinese": chinese_pages(),
    }
    for name, pages in sources.items():
        tally = judge(pages, options.tokens)
        if not tally.pages:
            continue
        sentence_ends(tally.chunks, tally.outcomes)
        show(name, tally)
        if options.node_modules:
            compare_tokens(name, tally.chunks, options.node_modules)


if __name__ == "__main__":
    main()
