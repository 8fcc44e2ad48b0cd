"""`winnow clean --stored`: extracts the texts of a crawl's pages again from stored responses, in the database.

All fields of `READERS` are read again. If `quality` of a page has the numbers of published rules (text numbers), they
are computed again. Markdown is written again for pages that have it, or for all pages on request. Pages are saved in
batches, each in one transaction. The progress is in OUTPUT_DIR/.NAME.clean.json, so that the same command continues
however the run ended. Saving a page twice changes nothing.
"""

import argparse
import gc
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from scrapy.settings import Settings
from scrapy.utils.log import configure_logging
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

from crawler.api.saved_document import saved_document
from crawler.arguments import ItemMarkdown
from crawler.atomic_files import AtomicFile
from crawler.checked_settings import fallback_of
from crawler.command_line.terminal import FAILED, INTERRUPTED, byte_size, printable, spell_out_log
from crawler.contrib.bulk.archives.records import Broken
from crawler.contrib.bulk.clean_files import only_run
from crawler.contrib.bulk.clean_stored_rows import (
    MADE_ANEW,
    RESPONSE_COLUMNS,
    CleanedCrawl,
    all_crawls,
    check_idle,
    count_pages,
    group_again,
    pages_after,
    save_pages,
)
from crawler.contrib.bulk.cleaning import Cleaned, CleaningCounts
from crawler.contrib.bulk.progress_bar import CleaningProgress, outcome_lines
from crawler.contrib.bulk.resume_manifest import maker
from crawler.errors import OutputError, StateError, WrongUseError
from crawler.extraction import LEARNING, extractor_named, method_and_favour, with_library
from crawler.extraction.document_text import METHOD, with_documents
from crawler.extraction.extractor_fallback import ExtractorFallback, with_fallback
from crawler.extraction.methods.template import LeafLabel
from crawler.metadata.record_readers import READERS
from crawler.metadata.text_quality import has_text_numbers, text_quality
from crawler.noise.page_images import all_images, page_images
from crawler.noise.page_markdown import page_markdown
from crawler.page.html_tree import Cut
from crawler.page.page import MadeFrom, Page
from crawler.processes.function_pool import DIED, WorkersError, in_order
from crawler.processes.machine import GARBAGE_THRESHOLD, cores
from crawler.recrawl.change_check import ChangeDetector
from crawler.reports.crawls import check_name
from crawler.reports.search_file import forget_entries, search_file
from crawler.store.batch.responses import response_of
from crawler.store.batch.shared_learning import templates_of
from crawler.store.database import (
    column_value,
    database_errors,
    display_url,
    error_message,
    open_database,
    state_url,
    with_retries,
)
from crawler.store.page_changes import begin_epoch
from crawler.store.read_only import exists, reading
from crawler.translation.message import Message, localized, plural
from crawler.urls.parsing import host_of

# Waiting pages are saved as soon as they reach one of these numbers.
PAGES_AT_ONCE = 200
CHARACTERS_AT_ONCE = 8_000_000
LINK = re.compile(r"(?<!!)\[(?:[^\]\\]|\\.)*\]\(")
"""A link in Markdown; an image has ! before it."""


@dataclass(frozen=True)
class PageToClean:
    """A page with its response, on its way to the process that extracts its text."""

    id: int
    """The number by which pages are read in order."""
    key: int
    """The key of its address, by which it is saved."""
    url: str
    fetched_at: str
    fingerprint: str | None
    """The fingerprint of its current text."""
    response: Mapping[str, Any]
    """The values of RESPONSE_COLUMNS."""
    method: str
    favour: str
    markdown: str
    """`no`, `yes` or `links`."""
    templates: tuple[LeafLabel, ...] = ()
    """The templates that the crawl learned of its host, if its method learns them."""
    is_document: bool = False
    has_text_numbers: bool = False
    """Whether its `quality` has the numbers of published rules."""

    @property
    def data(self) -> bytes:
        """The largest part, by whose size pages are divided among processes."""
        body: bytes = self.response["body"]
        return body


@dataclass(frozen=True, slots=True)
class CleanedPage:
    """A page that was extracted again."""

    id: int
    row: dict[str, Any] | None
    """The values to save, by the names of the parameters of SAVE; None if the page cannot be extracted."""
    _: KW_ONLY
    before: int = 0
    """Bytes of the page."""
    has_changed: bool = False
    """Whether its text has changed."""
    ended: Cut | None = None
    """The limit that cut off the page."""
    broken: Broken | None = None

    @property
    def characters(self) -> int:
        """Characters of the values to save."""
        return sum(len(value) for value in (self.row or {}).values() if isinstance(value, str))


def extract_again(page: PageToClean, judges_images: bool, fallback: ExtractorFallback | None = None) -> CleanedPage:
    """The page with its new text; never raises an exception."""
    try:
        return _extract_again(page, judges_images, fallback)
    except Exception as error:  # an error in one page, or in a method, must not affect the other pages
        why = f"it cannot be cleaned ({type(error).__name__}: {error})"
        return CleanedPage(id=page.id, row=None, broken=Broken(place=page.url, why=why))


def _extract_again(stored: PageToClean, judges_images: bool, fallback: ExtractorFallback | None) -> CleanedPage:
    """The page with its new text; may raise any exception."""
    response = response_of(stored.response)
    content_type = _header(response.headers, "content-type", ", ")
    robots_header = _header(response.headers, "x-robots-tag", "\n")
    page: Page | None = None
    if stored.is_document:
        page = saved_document(response.body, stored.url, robots_header, content_type)
    if page is None:
        page = Page(url=stored.url, body=response.body, content_type=content_type, robots_header=robots_header)

    extract = extractor_named(stored.method, stored.favour)
    if stored.templates:
        extract = with_library(extract, LEARNING[stored.method](stored.templates))
    if fallback is not None:
        extract = with_fallback(extract, fallback)
    extract = with_documents(extract)
    extraction = page.once(extract)
    fallback_name = fallback.name if fallback is not None else ""
    # The values that the next visit compares, such as the signature. All are computed, because the history is None.
    check = ChangeDetector(stored.method, stored.favour, extract, fallback_name).check(page, extraction, None)

    values = {name: read(page, extraction) for name, read in READERS.items()}
    if stored.has_text_numbers:
        values["quality"] = text_quality(page, extraction)
    values["images"] = page_images(page, extraction) if judges_images else all_images(page)
    values["extractor"] = METHOD if stored.is_document else extraction.method or stored.method
    values["markdown"] = None
    if stored.markdown != ItemMarkdown.NO:
        values["markdown"] = page_markdown(page, extraction, stored.markdown == ItemMarkdown.LINKS, judges_images)
    values |= {name: getattr(check, name) for name in MADE_ANEW if name not in values}

    row = {f"to_{name}": column_value(values[name]) for name in MADE_ANEW}
    row |= {"page_key": stored.key, "fetched": stored.fetched_at}
    return CleanedPage(
        id=stored.id,
        row=row,
        before=len(page.body),
        has_changed=values["text_fingerprint"] != stored.fingerprint,
        ended=page.ended or extraction.ended,
    )


def _header(headers: Sequence[tuple[str, str]], header: str, between: str) -> str:
    """All values of a header as one text, with `between` between two of them, as in a crawl."""
    return between.join(value for name, value in headers if name.lower() == header)


def lost_page(page: PageToClean) -> CleanedPage:
    """The result for a page on which two processes died."""
    return CleanedPage(id=page.id, row=None, broken=Broken(place=page.url, why="the process that cleans it dies"))


@dataclass(frozen=True)
class StoredOptions:
    """The options of `winnow clean --stored` on which the texts depend."""

    method: str | None
    """None keeps the method of each page."""
    favour: str
    markdown: str | None
    """`no`, `yes` or `links`; None keeps the kind of Markdown of each page."""
    judges_images: bool


@dataclass
class Bookmark:
    """The progress of a run, in a file."""

    path: Path
    conditions: Mapping[str, Any]
    """The crawl, the options, and the versions of everything that texts depend on; with other conditions, a run starts
    anew.
    """
    last_page_id: int = 0
    """The id of the last page that was saved."""
    has_changed: bool = False
    """Whether any text has changed, so that near-duplicates must be grouped again."""

    def read(self) -> None:
        """Continue an earlier run with the same conditions, if there was one."""
        with suppress(OSError, ValueError, KeyError):
            saved = json.loads(self.path.read_bytes())
            if saved["of"] == self.conditions:
                self.last_page_id = int(saved["last"])
                self.has_changed = bool(saved["has_changed"])

    def write(self) -> None:
        with AtomicFile(str(self.path)) as file:
            state = {"of": self.conditions, "last": self.last_page_id, "has_changed": self.has_changed}
            file.write(json.dumps(state).encode())
            file.finish()


@dataclass
class StoredRun:
    """Pages that are extracted again, and the results so far."""

    engine: Engine
    crawl: CleanedCrawl
    options: StoredOptions
    bookmark: Bookmark
    total: int
    """Pages of the crawl."""
    retry_seconds: float
    tally: CleaningCounts = field(default_factory=CleaningCounts)
    pages_read: int = 0
    """Pages read from the database."""
    without_response: int = 0
    """Pages without a stored response."""
    rendered: int = 0
    """Pages that a browser rendered. They cannot be extracted again: only what the server sent is stored."""
    without_templates: int = 0
    """Pages whose method needs templates that their crawl did not learn."""
    changed: int = 0
    """Pages whose text has changed."""
    waiting: list[CleanedPage] = field(default_factory=list)
    """Pages to be saved with the next batch."""
    last_host: str | None = None
    """The host whose templates were read last."""
    last_templates: tuple[LeafLabel, ...] = ()
    fallback: ExtractorFallback | None = None
    """The second method, for pages in doubt."""

    def go(self, connection: Connection, jobs: int, progress: CleaningProgress) -> None:
        """Process all pages after the bookmark, then group near-duplicates again."""
        work = partial(extract_again, judges_images=self.options.judges_images, fallback=self.fallback)
        characters = 0
        for result in in_order(work, self.pages(connection), jobs, lost_page, partial(progress.say, DIED)):
            self.count(result, progress)
            self.waiting.append(result)
            characters += result.characters
            if len(self.waiting) >= PAGES_AT_ONCE or characters >= CHARACTERS_AT_ONCE:
                self.save()
                characters = 0
            progress.show()
        self.save()
        if self.bookmark.has_changed:
            progress.say(localized(Message("Looking for near-duplicates again.")))
            for _ in group_again(self.engine, self.crawl):
                progress.show()

    def pages(self, connection: Connection) -> Iterator[PageToClean]:
        """The pages that can be extracted again; the others are counted."""
        keeps_markdown = self.options.markdown is None
        for row in pages_after(connection, self.crawl, self.bookmark.last_page_id, markdown=keeps_markdown):
            self.pages_read += 1

            # The method: as requested, or else as before.
            own_method, own_favour = method_and_favour(row["extractor_version"] or "")
            own_method = own_method or row["extractor"]
            if self.options.method is None:
                method = own_method
                favour = own_favour
            else:
                method = self.options.method
                favour = self.options.favour

            # Templates: the crawl has them only if the page's own method learns the same kind of library. `auto` works
            # without them, too, and documents are extracted without them.
            is_document = row["extractor"] == METHOD
            library = LEARNING.get(method)
            needs_templates = library is not None and not is_document
            has_templates = needs_templates and library is LEARNING.get(own_method)

            if row["body"] is None:
                self.without_response += 1
                continue
            if row["made_from"] == MadeFrom.RENDERED:
                self.rendered += 1
                continue
            if needs_templates and not has_templates and method != "auto":
                self.without_templates += 1
                continue

            markdown = self.options.markdown
            if markdown is None:
                markdown = _markdown_of(row["markdown"])
            templates: tuple[LeafLabel, ...] = ()
            if has_templates:
                templates = self.templates(connection, host_of(row["url"]))
            yield PageToClean(
                id=row["id"],
                key=row["key"],
                url=row["url"],
                fetched_at=row["fetched_at"],
                fingerprint=row["text_fingerprint"],
                response={name: row[name] for name in RESPONSE_COLUMNS},
                method=method,
                favour=favour,
                markdown=markdown,
                templates=templates,
                is_document=is_document,
                has_text_numbers=has_text_numbers(json.loads(row["quality"] or "null")),
            )

    def templates(self, connection: Connection, host: str) -> tuple[LeafLabel, ...]:
        """The templates of a host; those of the last host are kept."""
        if self.last_host != host:
            templates_of_host = templates_of(connection, self.crawl.id, host)
            self.last_host = host
            self.last_templates = tuple(
                LeafLabel(tag=template.tag, text=template.text) for template in templates_of_host
            )
        return self.last_templates

    def count(self, result: CleanedPage, progress: CleaningProgress) -> None:
        """Count the result of a page, and report an error."""
        if result.broken is not None:
            self.tally.add(result.broken)
            progress.say(f"{result.broken.place}: {result.broken.why}")
        elif result.row is not None:
            size = len(result.row["to_text"].encode())
            # Only the sizes are counted, so the line is empty.
            self.tally.add(Cleaned(line=b"", before=result.before, after=size, ended=result.ended))
            self.changed += result.has_changed

    def save(self) -> None:
        """Save the waiting pages and the progress."""
        if not self.waiting:
            return
        rows = [cleaned_page.row for cleaned_page in self.waiting if cleaned_page.row is not None]
        if not self.bookmark.has_changed and any(cleaned_page.has_changed for cleaned_page in self.waiting):
            self.bookmark.has_changed = True
            self.bookmark.write()  # before the pages: once they are saved, a continued run finds them unchanged
        with_retries(lambda: save_pages(self.engine, self.crawl, rows), error_message, lambda: self.retry_seconds)
        self.bookmark.last_page_id = self.waiting[-1].id
        self.bookmark.write()
        self.waiting.clear()

    def closing(self, seconds: float, stopped: Message | None) -> Iterator[Message]:
        """The lines with which a run ends."""
        first = plural(
            "{n} page cleaned again in {seconds} s ({rate} a second), {before} of pages to {after} of text.",
            "{n} pages cleaned again in {seconds} s ({rate} a second), {before} of pages to {after} of text.",
            self.tally.pages,
            seconds=f"{seconds:.1f}",
            rate=f"{self.tally.pages / max(seconds, 0.001):.1f}",
            before=byte_size(self.tally.before),
            after=byte_size(self.tally.after),
        )
        yield Message("{stopped} {rest}", {"stopped": stopped, "rest": first}) if stopped else first

        yield plural("The text of {n} page has changed.", "The texts of {n} pages have changed.", self.changed)
        if self.without_response:
            yield plural(
                "Unchanged: {n} page without a stored response (setting KEEP_RESPONSES).",
                "Unchanged: {n} pages without a stored response (setting KEEP_RESPONSES).",
                self.without_response,
            )
        if self.rendered:
            yield plural(
                "Unchanged: {n} page that a browser rendered, as only what its server sent is stored.",
                "Unchanged: {n} pages that a browser rendered, as only what their servers sent is stored.",
                self.rendered,
            )
        if self.without_templates:
            yield plural(
                "Unchanged: {n} page, as their crawl did not learn what the method needs; --method chooses another.",
                "Unchanged: {n} pages, as their crawl did not learn what the method needs; --method chooses another.",
                self.without_templates,
            )

        yield from outcome_lines(self.tally)
        if self.tally.broken:
            yield plural(
                "Unchanged: {n} page that cannot be cleaned, named above.",
                "Unchanged: {n} pages that cannot be cleaned, each named above.",
                self.tally.broken,
            )
        if self.tally.pages:
            yield Message(
                "{path} has the earlier texts; winnow export --name {name} -o FILE writes the new ones.",
                {"path": self.bookmark.path.with_name(f"{self.crawl.name}.jsonl"), "name": self.crawl.name},
            )


def _markdown_of(text: str | None) -> str:
    """How a page's Markdown was made: no, yes or links.

    >>> _markdown_of(None), _markdown_of("![Bee](b.png)"), _markdown_of("[![Bee](b.png)](bee.html)")
    ('no', 'yes', 'links')
    """
    if text is None:
        return "no"
    return "links" if LINK.search(text) else "yes"


def clean_stored(opts: argparse.Namespace, settings: Settings) -> int:
    """Extract the texts of a crawl again; returns the exit status."""
    url = state_url(settings)
    folder = Path(settings["OUTPUT_DIR"])
    options = _options(opts, settings)
    fallback = fallback_of(settings)
    crawl, total = _find_crawl(url, opts.stored)
    configure_logging(settings)
    spell_out_log()
    with only_run(folder, f".{crawl.name}.clean.lock", str(folder)):
        engine = open_database(url)
        try:
            # By a new epoch, readers of changes notice if the database was restored from a backup. It needs a separate
            # transaction, because it blocks the changes of other crawls.
            with database_errors(url), engine.begin() as connection:
                begin_epoch(connection)
            with database_errors(url), engine.begin() as connection:
                check_idle(connection, crawl)

            conditions = {"crawl": [*crawl, display_url(url)], "options": vars(options), "maker": maker()}
            conditions["fallback"] = fallback.name if fallback is not None else ""
            bookmark = Bookmark(folder / f".{crawl.name}.clean.json", conditions)
            bookmark.read()
            retry_seconds = settings.getfloat("DATABASE_RETRY_SECONDS")
            run = StoredRun(
                engine=engine,
                crawl=crawl,
                options=options,
                bookmark=bookmark,
                total=total,
                retry_seconds=retry_seconds,
                fallback=fallback,
            )
            return _go(run, url, folder, opts.jobs or cores(), settings.getfloat("LOGSTATS_INTERVAL") or 10.0)
        finally:
            engine.dispose()


def _go(run: StoredRun, url: URL, folder: Path, jobs: int, interval: float) -> int:
    """Extract the texts again and print the results; returns the exit status."""
    gc.freeze()  # loaded modules are never collected
    gc.set_threshold(GARBAGE_THRESHOLD)
    started = monotonic()
    status = 0
    stopped = None
    progress = CleaningProgress(run.total, lambda: run.pages_read, run.tally, interval)
    if run.bookmark.last_page_id:
        progress.say(localized(Message("Continuing an earlier run.")))

    try:
        with progress, reading(url) as connection, database_errors(url):
            run.go(connection, jobs, progress)
        run.bookmark.path.unlink(missing_ok=True)
    except KeyboardInterrupt:
        status = INTERRUPTED
        stopped = Message("Stopped before the end; the same command continues.")
    except (StateError, OutputError, WorkersError) as error:
        why = error.message if isinstance(error, StateError | OutputError) else str(error)
        status = FAILED
        stopped = Message("Stopped: {why}; the same command continues.", {"why": why})

    forget_entries(search_file(url, folder), run.crawl.id)  # the next search indexes the new texts
    for line in run.closing(monotonic() - started, stopped):
        print(printable(localized(line)), file=sys.stderr)
    if not status and (run.tally.broken or not run.tally.pages):
        return FAILED
    return status


def _options(opts: argparse.Namespace, settings: Settings) -> StoredOptions:
    """The options of a run; --favour without --method is for the setting EXTRACTOR."""
    method = opts.method
    if not method and opts.favour != "balance":
        method = settings["EXTRACTOR"]
    if method is not None:
        try:
            extractor_named(method, opts.favour)
        except ValueError as error:
            raise WrongUseError(str(error)) from None
    return StoredOptions(method, opts.favour, opts.markdown, settings.getbool("IMAGE_NOISE_ENABLED"))


def _find_crawl(url: URL, name: str) -> tuple[CleanedCrawl, int]:
    """The crawl with this name, and how many pages it has; raises a WrongUseError if there is none."""
    if not exists(url):
        check_name([], name, url)
    with reading(url) as connection:
        crawls: Sequence[CleanedCrawl] = all_crawls(connection)
        check_name([known_crawl.name for known_crawl in crawls], name, url)
        chosen_crawl = next(known_crawl for known_crawl in crawls if known_crawl.name == name)
        return chosen_crawl, count_pages(connection, chosen_crawl)
