"""The console command `winnow`, which works in any folder.

winnow crawl SEEDS...    `scrapy crawl topic`, with its arguments as options
winnow clean PAGE        the text of one page
winnow clean-files       `scrapy clean`, as is `winnow clean --stored NAME`
winnow COMMAND           any other command of Scrapy or of the crawler
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import scrapy.commands
from scrapy import cmdline

from crawler import commands
from crawler.arguments import ARGUMENTS
from crawler.command_line.command import translate_argparse, translate_help
from crawler.command_line.terminal import FAILED, printable, refuse, standard_output
from crawler.translation.message import N_, Message, MessageError, localized
from crawler.translation.nearest import nearest

if TYPE_CHECKING:
    from crawler.extraction import Extractor
    from crawler.page.page import Page

OURS = {
    "crawl": N_("Crawl for pages on a topic."),
    "clean": N_("Print the main text of one page."),
    "completion": N_("Print the shell completion of this command."),
}
OTHER_NAMES = {"clean-files": "clean"}
"""Commands of `scrapy` with another name here."""


def main() -> None:
    """Run a command line, and exit with its status."""
    # The folder may contain a project of the user; this command uses the crawler's settings all the same.
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "crawler.settings")
    translate_argparse()
    name, given = (sys.argv[1:2] or ["--help"])[0], sys.argv[2:]
    if name == "crawl":
        crawl(given)
    elif name == "clean" and not any(word.partition("=")[0] == "--stored" for word in given):
        sys.exit(clean(given))
    elif name == "completion":
        print(completion())
    elif name in ("-h", "--help"):
        print(overview())
    elif name in all_commands():
        cmdline.execute(["scrapy", OTHER_NAMES.get(name, name), *given])
    else:
        near = nearest(name, all_commands())
        refuse(Message("there is no command {name}; {near}", {"name": repr(name[:100]), "near": near}), "winnow")


def all_commands() -> list[str]:
    """The names of all commands, ours first."""
    modules = [*pkgutil.iter_modules(commands.__path__), *pkgutil.iter_modules(scrapy.commands.__path__)]
    return list(dict.fromkeys([*OURS, *OTHER_NAMES, *(module.name for module in modules)]))


def overview() -> str:
    """Our commands, each with its summary."""
    modules = {module.name: module.name for module in pkgutil.iter_modules(commands.__path__)} | OTHER_NAMES
    summaries = {
        name: OURS.get(name) or pkgutil.resolve_name(f"crawler.commands.{module}:Command").summary
        for name, module in ({name: name for name in OURS} | modules).items()
    }
    lines = [f"  {name:12} {localized(Message(summary))}" for name, summary in summaries.items()]
    head, end = N_("usage: "), N_("winnow COMMAND --help lists the arguments of a command.")
    return "\n".join([localized(Message(head)) + "winnow COMMAND ...", "", *lines, "", localized(Message(end))])


class _OptionParser(argparse.ArgumentParser):
    """Reads the options of a command; wrong use is reported in one line that names the option."""

    def parse(self, given: Sequence[str]) -> argparse.Namespace:
        options, others = self.parse_known_intermixed_args(given)
        if others:
            names = [name for action in self._actions for name in action.option_strings]
            near = nearest(others[0].partition("=")[0], names)
            self.refuse(Message("there is no argument {name}; {near}", {"name": repr(others[0][:100]), "near": near}))
        return options

    def refuse(self, message: Message) -> NoReturn:
        refuse(message, self.prog)

    def error(self, message: str) -> NoReturn:
        self.refuse(Message(message))


def _parser(name: str) -> _OptionParser:
    summary = OURS[name]
    return _OptionParser(f"winnow {name}", description=localized(Message(summary)), allow_abbrev=False)


def _crawl_parser() -> _OptionParser:
    parser = _parser("crawl")
    add = parser.add_argument
    add("seeds", metavar="SEED", nargs="+", help=N_("an address, a file of addresses, a sitemap, a feed, or demo"))
    for name, argument in ARGUMENTS.items():
        if name != "seeds":
            add(f"--{name.replace('_', '-')}", dest=name, metavar="VALUE", help=argument.help())
    add("-s", "--set", metavar="NAME=VALUE", action="append", default=[], help=N_("set a setting; may be repeated"))
    add("-L", "--loglevel", metavar="LEVEL", help=N_("log level (default: INFO)"))
    add("-O", metavar="FILE", action="append", default=[], dest="feeds", help=N_("also write the items to this file"))
    translate_help(parser)
    return parser


def crawl(given: Sequence[str]) -> None:
    options = _crawl_parser().parse(given)
    arguments = {name: getattr(options, name) for name in ARGUMENTS if name != "seeds"}
    arguments["seeds"] = ",".join(options.seeds)
    line = ["scrapy", "crawl", "topic"]
    line += [part for name, value in arguments.items() if value is not None for part in ("-a", f"{name}={value}")]
    line += [part for setting in options.set for part in ("-s", setting)]
    line += [part for feed in options.feeds for part in ("-O", feed)]
    line += ["-L", options.loglevel] if options.loglevel else []
    cmdline.execute(line)


def _clean_parser() -> _OptionParser:
    parser = _parser("clean")
    add = parser.add_argument
    add(
        "page",
        metavar="PAGE",
        help=N_("the address of a page or document (robots.txt is not checked), a file, or - for standard input"),
    )
    add("--markdown", action="store_true", help=N_("print Markdown, with the addresses of links"))
    add("--json", action="store_true", help=N_("print a JSON object with the text, title, author, date and more"))
    add(
        "--render",
        action="store_true",
        help=N_("render the page at an address in a browser, whose scripts make its text"),
    )
    add("--url", metavar="URL", default="", help=N_("the address from which the file or standard input was fetched"))
    add("-s", "--set", metavar="NAME=VALUE", action="append", default=[], help=N_("set a setting; may be repeated"))
    translate_help(parser)
    return parser


def clean(given: Sequence[str]) -> int:
    """Print the text of one page; returns the exit status."""
    parser = _clean_parser()
    options = parser.parse(given)
    is_address = options.page.lower().startswith(("http://", "https://"))
    if options.render and not is_address:
        parser.refuse(Message("--render goes with the address of a page"))
    changed = dict(setting.partition("=")[::2] for setting in options.set)
    from crawler.api.document import Document
    from crawler.api.fetch_page import fetch_page

    try:
        extract = _extractor(changed)
    except MessageError as error:
        parser.refuse(error.message)
    try:
        page = fetch_page(options.page, changed, options.render) if is_address else _file_page(options)
    except MessageError as error:
        refuse(error.message, parser.prog, FAILED)
    except IsADirectoryError:
        sentence = N_("{name} is a folder; winnow clean-files cleans the files in it")
        parser.refuse(Message(sentence, {"name": repr(options.page)}))
    except OSError as error:
        values = {"name": repr(options.page), "why": error.strerror}
        parser.refuse(Message("{name} cannot be read ({why})", values))
    document = Document(page, extract, link_addresses=options.markdown)
    with standard_output():
        if options.json:
            print(json.dumps({"url": document.url, **document.fields()}, ensure_ascii=False))
        else:
            text = document.markdown if options.markdown else document.text
            print(printable(text) if sys.stdout.isatty() else text)
    if not document.text:
        refuse(_without_text(page, options), parser.prog, FAILED)
    return 0


def _without_text(page: Page, options: argparse.Namespace) -> Message:
    """The sentence about a page that has no text."""
    from crawler.api.fetch_page import NO_TEXT
    from crawler.outcomes import Code, Outcome
    from crawler.page.script_signs import has_programs

    if page.withheld.is_whole:
        return Message(NO_TEXT, {"page": options.page, "why": Outcome(Code.TEXT_WITHHELD).message})
    needs_browser = not options.render and has_programs(page)
    hint = N_("{page} has no text without its scripts; --render runs them in a browser")
    return Message(hint if needs_browser else N_("{page} has no text"), {"page": options.page})


def _extractor(changed: Mapping[str, str]) -> Extractor:
    """The method `auto`, with the second method of the settings; raises a MessageError if they are wrong."""
    from scrapy.utils.project import get_project_settings

    from crawler.checked_settings import fallback_of
    from crawler.extraction import favouring
    from crawler.extraction.extractor_fallback import with_fallback

    settings = get_project_settings()
    settings.setdict(changed, "cmdline")
    fallback = fallback_of(settings)
    extract = favouring("auto")
    return with_fallback(extract, fallback) if fallback is not None else extract


def _file_page(options: argparse.Namespace) -> Page:
    """The page in a file or standard input; raises a MessageError if it is a document that cannot be read.

    Its type is that of the file's name. Without one it is read like a response without a type, by its address.
    """
    from crawler.api.document import read_page
    from crawler.api.fetch_page import NO_TEXT
    from crawler.page.document_type import file_name, text_type_of_file
    from crawler.page.page import Page, is_html

    data = sys.stdin.buffer.read() if options.page == "-" else Path(options.page).read_bytes()
    content_type = text_type_of_file(options.page)
    if not content_type and not is_html("", data):
        content_type = text_type_of_file(file_name(options.url))
    page = read_page(data, options.url, content_type)
    if isinstance(page, Page):
        return page
    raise MessageError(NO_TEXT, page=options.page, why=page.message)


def completion() -> str:
    """A script for bash, and for zsh after `bashcompinit`: `source <(winnow completion)`."""
    words = dict.fromkeys(all_commands(), "")
    for name, parser in (("crawl", _crawl_parser()), ("clean", _clean_parser())):
        words[name] = " ".join(option for action in parser._actions for option in action.option_strings)
    cases = "\n".join(f"        {name}) words='{options}' ;;" for name, options in words.items() if options)
    return f"""_winnow() {{
    local words='{" ".join(words)}'
    [ "$COMP_CWORD" -gt 1 ] && case "${{COMP_WORDS[1]}}" in
{cases}
        *) words='' ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _winnow winnow"""
