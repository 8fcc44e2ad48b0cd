"""The process of `crawl()`: the command `crawl`, with arguments and settings that it reads from standard input.

It prints the path of its output file first. It stops when its parent process says so or has ended in any way.
"""

import argparse
import json
import os
import sys
from _thread import interrupt_main
from collections.abc import Mapping
from threading import Thread
from typing import Any

from scrapy import cmdline
from scrapy.utils.project import get_project_settings

from crawler.command_line.terminal import INTERRUPTED
from crawler.commands import crawl
from crawler.processes.child_process import ParentPipe


class Command(crawl.Command):
    """The command `crawl` for `CrawlRun`."""

    name = "crawl"
    """The name under which `crawler.command_line.command_table.COMMANDS` has the options of the command. Scrapy would
    name it after its module, `crawl_process`.
    """
    request: Mapping[str, dict[str, Any]]
    """The `arguments` and `settings` that the parent sent."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        parent = ParentPipe()
        task = parent.read_message()
        if task is None:  # the parent has ended
            sys.exit(INTERRUPTED)
        self.request = json.loads(task)
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        self.settings.setdict(self.request["settings"], priority="cmdline")
        Thread(target=_stop_when_told, args=(parent,), daemon=True).start()
        super().process_options(args, opts)

    def arguments(self, opts: argparse.Namespace) -> dict[str, Any]:
        return self.request["arguments"]

    def assigned_settings(self, opts: argparse.Namespace) -> set[str]:
        return set(self.request["settings"])

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        print(json.dumps({"path": str(self.crawl.session.pages.path.absolute())}), flush=True)
        os.dup2(2, 1)  # the parent reads one line of standard output; anything else that is printed goes to the log
        super().run(args, opts)


def _stop_when_told(parent: ParentPipe) -> None:
    """Stop as Ctrl-C does when the parent says so or has ended."""
    parent.wait_for_stop()
    interrupt_main()


if __name__ == "__main__":
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "crawler.settings")
    settings = get_project_settings()
    settings.set("COMMANDS_MODULE", "crawler.api.crawl_process", priority="cmdline")
    cmdline.execute(["scrapy", "crawl_process", "topic"], settings)
