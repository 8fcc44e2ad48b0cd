"""The console command `winnow`: the commands of `scrapy` in this project, in any folder."""

import os
import pkgutil
import sys
from importlib.util import find_spec
from pathlib import Path

from crawler import __version__
from crawler.command_line.command_table import COMMANDS
from crawler.command_line.terminal import refuse
from crawler.translation.message import N_, Message, localized
from crawler.translation.nearest import nearest


def main() -> None:
    """Run a command line, and exit with its status."""
    # The folder may contain another Scrapy project; this command uses the settings of the crawler anyway.
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "crawler.settings")
    name, *words = sys.argv[1:] or ["--help"]
    if name in ("-h", "--help"):
        print(overview())
    elif name in ("-V", "--version"):
        print(f"Winnow {__version__}")
    elif name in all_commands():
        pkgutil.resolve_name("scrapy.cmdline:execute")(["winnow", name, *words])  # Scrapy is slow to import
    else:
        near = nearest(name, all_commands())
        refuse(Message("there is no command {name}; {near}", {"name": repr(name[:100]), "near": near}), "winnow")


def all_commands() -> list[str]:
    """The names of all commands, those of Winnow before those of Scrapy."""
    scrapy = find_spec("scrapy")  # not imported, as that is slow
    locations = scrapy.submodule_search_locations if scrapy is not None else None
    folders = [str(Path(location, "commands")) for location in locations or ()]
    return list(dict.fromkeys([*COMMANDS, *(module.name for module in pkgutil.iter_modules(folders))]))


def overview() -> str:
    """The commands of Winnow, each with its summary."""
    lines = [f"  {name:12} {localized(Message(entry.summary))}" for name, entry in COMMANDS.items()]
    head = N_("usage: ")
    end = N_("winnow COMMAND --help lists the arguments of a command.")
    return "\n".join([localized(Message(head)) + "winnow COMMAND ...", "", *lines, "", localized(Message(end))])
