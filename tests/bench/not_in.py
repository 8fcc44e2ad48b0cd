"""What `scrapy export --not-in` leaves out of sites whose pages share much of their text, and its time and memory.

`python tests/bench/not_in.py [--data FOLDER] [--show]` takes the pages of FOLDER/sites and the articles of FOLDER/wiki,
by default of WINNOW_DATA. The file OLD has half of the pages of each site, edited in one of these ways:

- same: nothing is edited
- date: other dates above and below the text
- paragraph: a paragraph of another page of the site is in the middle
- menu: up to ten lines of the page outside its main text are above it, as another extractor may leave them
- cut: the last tenth is missing

All pages are exported. The half in OLD should be left out, the others should stay. A page whose letters OLD has under
another address is not counted; a page that is nearly the same counts as wrong. The last two columns are only about
texts of 500 characters or more. Then the same is done with all text of the pages, as if nothing had been cleaned.
`--show` names the pages that are wrongly left out.

`python tests/bench/not_in.py --texts N` compares 10,000 pages with a file of N signatures, and prints memory and time,
and how long it takes to read texts in place of signatures.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import json
import lzma
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

from export_copies import MadePages, peak_of
from throughput import machine

from crawler.contrib.corpus.known_texts import KnownCounts, KnownSource
from crawler.contrib.corpus.not_in import KnownTexts
from crawler.contrib.corpus.signature_file import SignatureFile
from crawler.contrib.corpus.text_files import KnownText
from crawler.export.where_conditions import RemovalReason
from crawler.extraction import extract
from crawler.page.page import Page
from crawler.page.text import fingerprint
from crawler.recrawl.near_duplicates import signature
from crawler.reports.stored_pages import StoredPage

SITES = "cx_news wuchong_zh_blog flink_web daniel".split()
EDITS = "same date paragraph menu cut".split()
FEWEST = 15
"""Pages of a host, so that it is a site."""
LONGEST_MENU = 10
SHORTEST_PARAGRAPH, LONGEST_PARAGRAPH = 40, 600
LONG = 500
"""Characters of a text that is more than a list of a few titles."""
PAGES = 10_000


@dataclass(frozen=True)
class SitePage:
    """A page of a site."""

    host: str
    url: str
    text: str
    whole: str
    """All text of the page."""

    @property
    def menu(self) -> str:
        """Lines of the page that are no main text."""
        lines = set(self.text.splitlines())
        others = [line for line in self.whole.splitlines() if line not in lines]
        return "\n".join(others[:LONGEST_MENU])


@dataclass
class Pages:
    """Stands for the pages of a database."""

    stored: Sequence[StoredPage]

    def pages(self, *_: Any, **__: Any) -> Iterator[StoredPage]:
        return iter(self.stored)


@dataclass
class Noted:
    """What is left out."""

    reasons: dict[str, RemovalReason] = field(default_factory=dict)

    def add(self, url: str, reason: RemovalReason) -> None:
        self.reasons[url] = reason


def site_pages(data: Path) -> Iterator[tuple[str, list[SitePage]]]:
    """The sets, and the pages of each that are of a site and have text."""
    for name in SITES:
        with lzma.open(data / "sites" / f"{name}.jsonl.xz") as lines:
            every = [site_page(row) for row in map(json.loads, lines)]
        pages = {page.url: page for page in every}
        hosts = [page.host for page in pages.values()]
        yield name, [page for page in pages.values() if page.text and hosts.count(page.host) >= FEWEST]
    with lzma.open(data / "wiki" / "articles.jsonl.xz") as lines:
        rows = [json.loads(line) for line in lines]
    yield "wiki", [SitePage("wiki", f"http://wiki.example/{row['name']}", row["text"], row["text"]) for row in rows]


def site_page(row: Mapping[str, str]) -> SitePage:
    url = row["url"] or f"http://{row['host']}/{row['id']}"
    whole = "\n".join(block.text for block in Page.from_html(row["html"], url).blocks)
    return SitePage(row["host"], url, extract(row["html"], url).text, whole)


def edited(text: str, page: SitePage, other: str, edit: str) -> str:
    """A text as somebody may have it."""
    lines = text.splitlines()
    if edit == "date":
        return f"Published 3 March 2024, 10:03\n{text}\nLast updated on 4 March 2024"
    if edit == "paragraph":
        paragraphs = [line for line in other.splitlines() if len(line) >= SHORTEST_PARAGRAPH] or [other]
        middle = len(lines) // 2
        return "\n".join([*lines[:middle], paragraphs[len(paragraphs) // 2][:LONGEST_PARAGRAPH], *lines[middle:]])
    if edit == "menu":
        return f"{page.menu}\n{text}"
    return text[: len(text) * 9 // 10] if edit == "cut" else text


@dataclass
class Result:
    """How many pages were left out."""

    in_old: int = 0
    """Pages that OLD has."""
    right: int = 0
    """How many of them were left out."""
    others: int = 0
    wrong: int = 0
    """How many of the others were left out."""

    def count(self, is_in_old: bool, is_left_out: bool) -> None:
        if is_in_old:
            self.in_old += 1
            self.right += is_left_out
        else:
            self.others += 1
            self.wrong += is_left_out

    def add(self, other: "Result") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def __str__(self) -> str:
        recall = self.right / self.in_old if self.in_old else 1.0
        precision = self.right / (self.right + self.wrong) if self.right else 1.0
        counts = f"{self.right:5,} of {self.in_old:5,} {self.wrong:5,} of {self.others:5,}"
        return f"{counts}, recall {recall:.4f}, precision {precision:.4f}"


@dataclass
class Results:
    """Of all texts, and of those that are long."""

    every: Result = field(default_factory=Result)
    long: Result = field(default_factory=Result)

    def add(self, other: "Results") -> None:
        self.every.add(other.every)
        self.long.add(other.long)

    def __str__(self) -> str:
        return f"{self.every}; long: {self.long}"


@cache
def compared(text: str) -> dict[str, Any]:
    """What a text is compared by."""
    return {"text_fingerprint": fingerprint(text), "signature": signature(text)}


def measured(pages: Sequence[SitePage], edit: str, is_whole: bool, folder: Path, is_shown: bool) -> Results:
    """What is left out of pages if OLD has half of them."""
    chance = random.Random(f"{edit}")
    texts = {page.url: page.whole if is_whole else page.text for page in pages}
    of_host: dict[str, list[SitePage]] = {}
    for page in pages:
        of_host.setdefault(page.host, []).append(page)
    had = {page.url for some in of_host.values() for page in chance.sample(some, len(some) // 2)}
    rows = []
    for page in pages:
        if page.url in had:
            other = chance.choice(of_host[page.host])
            text = edited(texts[page.url], page, texts[other.url], edit)
            rows.append({"url": page.url, "text": text})
    old = folder / "old.jsonl"
    old.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    stored = [StoredPage(number, {"url": url, **compared(text)}) for number, (url, text) in enumerate(texts.items())]
    noted: Any = Noted()
    source: Any = Pages(stored)
    KnownTexts(counts=[KnownCounts(KnownSource(str(old)))], folder=folder).remaining(source, noted)
    letters = {compared(texts[url])["text_fingerprint"] for url in had}
    results = Results()
    for url, text in texts.items():
        is_left_out = url in noted.reasons
        if url not in had and compared(text)["text_fingerprint"] in letters:
            continue
        results.every.count(url in had, is_left_out)
        if len(text) >= LONG:
            results.long.count(url in had, is_left_out)
        if is_left_out and url not in had and is_shown:
            reason = noted.reasons[url]
            print(f"    {reason.value} {len(text):,} characters: {url} is left out for {reason.copy_of}")
    return results


def measure_sites(data: Path, is_shown: bool) -> None:
    sets = list(site_pages(data))
    for set_name, pages in sets:
        print(f"{set_name}: {len(pages):,} pages of {len({page.host for page in pages})} hosts")
    with TemporaryDirectory() as name:
        for is_whole in (False, True):
            print(f"\n{'all text' if is_whole else 'main text'}: left out of those that OLD has, and of others")
            for edit in EDITS:
                total = Results()
                for set_name, pages in sets:
                    if is_whole and (set_name == "wiki" or edit == "menu"):
                        continue
                    results = measured(pages, edit, is_whole, Path(name), is_shown)
                    print(f"  {edit:10} {set_name:16} {results}", flush=True)
                    total.add(results)
                if total.every.in_old:
                    print(f"  {edit:10} {'all':16} {total}", flush=True)


def measure_memory(count: int, data: Path | None) -> None:
    with TemporaryDirectory() as name:
        old = Path(name) / "old.signatures.zst"
        old_pages = MadePages(count)
        signed = SignatureFile(str(old))
        signed.open()
        for page in old_pages.pages():
            values = page.values
            signed.add(
                KnownText(address=values["url"], fingerprint=values["text_fingerprint"], signature=values["signature"])
            )
        signed.finish()
        source: Any = MadePages(PAGES)
        noted: Any = Noted()
        known_texts = KnownTexts(counts=[KnownCounts(KnownSource(str(old)))], folder=Path(name))
        started = time.process_time()
        peak = peak_of(lambda: known_texts.remaining(source, noted))
        cpu_seconds = time.process_time() - started
        print(
            f"{count:,} signatures, {old.stat().st_size / 1e6:,.0f} MB as a file: memory {peak / 1e6:,.0f} MB, "
            f"{peak / count:.0f} bytes a text; "
            f"{cpu_seconds:,.0f} s of the processor, {1e6 * cpu_seconds / count:.0f} µs a text; "
            f"{len(noted.reasons):,} of {PAGES:,} pages left out"
        )
        if data is None:
            return
        texts = Path(name) / "old.jsonl"
        with lzma.open(data / "wiki" / "articles.jsonl.xz") as lines:
            rows = [json.loads(line)["text"] for line in lines]
        texts.write_text("".join(json.dumps({"text": text}) + "\n" for text in rows), encoding="utf-8")
        started = time.process_time()
        known_texts = KnownTexts(counts=[KnownCounts(KnownSource(str(texts)))], folder=Path(name))
        known_texts.remaining(source, noted)
        cpu_seconds = time.process_time() - started
        size = sum(map(len, rows)) / len(rows)
        print(f"texts of {size:,.0f} characters: {1e3 * cpu_seconds / len(rows):.1f} ms of the processor a text")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("WINNOW_DATA"), help="a folder with sites/ and wiki/"
    )
    parser.add_argument("--show", action="store_true", help="name the pages that are wrongly left out")
    parser.add_argument("--texts", type=int, help="measure what so many texts take")
    options = parser.parse_args()
    print(machine())
    data = Path(options.data) if options.data is not None else None
    if options.texts is not None:
        measure_memory(options.texts, data)
    elif data is None:
        parser.error("Say where the pages are: --data FOLDER or WINNOW_DATA.")
    else:
        measure_sites(data, options.show)


if __name__ == "__main__":
    main()
