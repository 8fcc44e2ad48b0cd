"""The options of `winnow page`, which prints the main text of one page."""

import argparse

from crawler.command_line.options import CommandOptions
from crawler.errors import WrongUseError
from crawler.translation.message import N_


def is_page_address(word: str) -> bool:
    """Whether a word is the address of a page rather than a file.

    >>> is_page_address("HTTPS://example.com/"), is_page_address("page.html")
    (True, False)
    """
    return word.lower().startswith(("http://", "https://"))


class PageOptions(CommandOptions):
    function = "crawler.api.print_page:print_page"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        page = N_("the address of a page or document (robots.txt is not checked), a file, or - for standard input")
        add("page", metavar="PAGE", help=page)
        add("--markdown", action="store_true", help=N_("print Markdown, with the addresses of links"))
        add("--json", action="store_true", help=N_("print a JSON object with the text, title, author, date and more"))
        rendered = N_("render the page at an address in a browser, whose scripts make its text")
        add("--render", action="store_true", help=rendered)
        url = N_("the address from which the file or standard input was fetched")
        add("--url", metavar="URL", default="", help=url)

    def check(self, opts: argparse.Namespace) -> None:
        opts.is_address = is_page_address(opts.page)
        if opts.render and not opts.is_address:
            raise WrongUseError("--render goes with the address of a page")
