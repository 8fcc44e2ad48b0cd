"""Prints the main text of one page, for `winnow page`."""

import argparse
import json
import sys
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.api.document import Document, read_page
from crawler.api.fetch_page import NO_TEXT, fetch_page
from crawler.checked_settings import fallback_of
from crawler.command_line.terminal import printable
from crawler.errors import MessageError, WrongUseError
from crawler.extraction import EXTRACTORS, Extractor
from crawler.extraction.extractor_fallback import with_fallback
from crawler.outcomes import Code, Outcome
from crawler.page.document_type import file_name, text_type_of_file
from crawler.page.page import Page, is_html
from crawler.page.script_signs import has_programs
from crawler.translation.message import Message


def print_page(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the text of one page; raises a MessageError if it has none."""
    extract = _extractor(settings)
    if opts.is_address:
        page = fetch_page(opts.page, settings, opts.set, opts.render)
    else:
        page = _file_page(opts)
    document = Document(page, extract, link_addresses=opts.markdown)

    if opts.json:
        text = json.dumps({"url": document.url, **document.fields()}, ensure_ascii=False)
    else:
        text = document.markdown if opts.markdown else document.text
        if sys.stdout.isatty():
            text = printable(text)
    print(text)
    if not document.text:
        raise MessageError(_without_text(page, opts))
    return 0


def _without_text(page: Page, opts: argparse.Namespace) -> Message:
    """The sentence about a page that has no text."""
    if page.withheld.is_whole:
        return Message(NO_TEXT, {"page": opts.page, "why": Outcome(Code.TEXT_WITHHELD).message})
    if not opts.render and has_programs(page):
        return Message("{page} has no text without its scripts; --render runs them in a browser", {"page": opts.page})
    return Message("{page} has no text", {"page": opts.page})


def _extractor(settings: BaseSettings) -> Extractor:
    """The method `auto`, with the fallback of EXTRACTOR_FALLBACK; raises a MessageError if the setting is wrong."""
    fallback = fallback_of(settings)
    extract = EXTRACTORS["auto"]
    if fallback is not None:
        return with_fallback(extract, fallback)
    return extract


def _file_page(opts: argparse.Namespace) -> Page:
    """The page in a file or standard input; raises a MessageError if it is a document that cannot be read.

    The ending of the file's name tells the type of a text file. If it does not, and the data is not HTML, the ending of
    `opts.url` does, which is the address that the user gives for the file.
    """
    if opts.page == "-":
        data = sys.stdin.buffer.read()
    else:
        data = _bytes_of(opts.page)
    content_type = text_type_of_file(opts.page)
    if not content_type and not is_html("", data):
        content_type = text_type_of_file(file_name(opts.url))
    page = read_page(data, opts.url, content_type)
    if isinstance(page, Page):
        return page
    raise MessageError(NO_TEXT, page=opts.page, why=page.message)


def _bytes_of(name: str) -> bytes:
    """The bytes of a file; raises a WrongUseError if it cannot be read."""
    try:
        return Path(name).read_bytes()
    except IsADirectoryError:
        raise WrongUseError("{name} is a folder; winnow clean cleans the files in it", name=repr(name)) from None
    except OSError as error:
        raise WrongUseError("{name} cannot be read ({why})", name=repr(name), why=error.strerror) from None
