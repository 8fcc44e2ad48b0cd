"""The help and the messages of argparse and Scrapy in the language of the user."""

import argparse
import gettext

from crawler.translation.message import LOCALE, N_, SOURCE, Message, localized, user_catalogue

LIBRARY_MESSAGES = (
    N_("argument %(argument_name)s: %(message)s"),
    N_("expected one argument"),
    N_("expected at least one argument"),
    N_("the following arguments are required: %s"),
    N_("unrecognized arguments: %s"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("not allowed with argument %s"),
    N_("Invalid -s value, use -s NAME=VALUE"),
    N_("Invalid -a value, use -a NAME=VALUE"),
    N_("usage: "),
    N_("options"),
    N_("positional arguments"),
    N_("Global Options"),
    N_("show this help message and exit"),
    N_("log file. if omitted stderr will be used"),
    N_("log level (default: INFO)"),
    N_("disable logging completely"),
    N_("write python cProfile stats to FILE"),
    N_("write process ID to FILE"),
    N_("set/override setting (may be repeated)"),
    N_("enable pdb on failure (uses ipdb if installed)"),
    N_("set spider argument (may be repeated)"),
    N_("Run a spider of the current project, by name"),
    N_(
        "append scraped items to the end of FILE (use - for stdout), to define format set a colon at the end of the "
        "output URI (i.e. -o FILE:FORMAT)"
    ),
    N_(
        "dump scraped items into FILE, overwriting any existing file, to define format set a colon at the end of the "
        "output URI (i.e. -O FILE:FORMAT)"
    ),
)
"""Messages and help texts of argparse and Scrapy, listed here so that the catalogues of translations have them."""


def translate_argparse() -> None:
    """Have argparse find its messages in our catalogue."""
    if user_catalogue().language != SOURCE:
        gettext.bindtextdomain("winnow", LOCALE)
        gettext.textdomain("winnow")


def translate_help(parser: argparse.ArgumentParser) -> None:
    """Translate the help of each option, and add its default."""
    for group in parser._action_groups:
        if group.title:
            group.title = localized(Message(group.title))
    for action in parser._actions:
        if action.help and action.help != argparse.SUPPRESS:
            action.help = localized(Message(action.help))
            if action.option_strings and action.default not in (None, "", False, argparse.SUPPRESS, [], {}):
                action.help += localized(Message(" (default: {value})", {"value": str(action.default)}))
