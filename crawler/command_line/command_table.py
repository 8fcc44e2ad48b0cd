"""The table of the commands of `winnow`, which `scrapy` also has in this project. The classes of their options are
named here, not imported, so that no command imports the modules of the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from crawler.doors import Part
from crawler.translation.message import N_


@dataclass(frozen=True)
class CommandEntry:
    """A command. Scrapy finds it by the module of the same name in crawler/commands."""

    summary: str
    options: Part
    """The class of its options."""
    fewer_options: Part | None = None
    """The class of its options where the part `options` is not installed. None if the command cannot run then."""


COMMANDS: Mapping[str, CommandEntry] = MappingProxyType(
    {
        "crawl": CommandEntry(
            N_("Crawl for pages on a topic."), Part("crawler.command_line.crawl_options:CrawlOptions")
        ),
        "page": CommandEntry(
            N_("Print the main text of one page."), Part("crawler.command_line.page_options:PageOptions")
        ),
        "clean": CommandEntry(
            N_("Clean saved pages, without a crawl."), Part("crawler.contrib.bulk.command:CleanOptions")
        ),
        "export": CommandEntry(
            N_("Export the pages of a crawl as jsonl, csv, parquet, markdown, warc, wacz or chunks."),
            Part("crawler.contrib.corpus.command:DataSetOptions"),
            Part("crawler.export.command:ExportOptions"),
        ),
        "state": CommandEntry(
            N_("Show the crawls in the database, or delete from it."),
            Part("crawler.contrib.index.command:StateAndForgetOptions"),
            Part("crawler.reports.command:StateOptions"),
        ),
        "dashboard": CommandEntry(
            N_("Show all crawls on a web page."),
            Part("crawler.contrib.dashboard.command:DashboardOptions", ("fastapi", "uvicorn")),
        ),
        "mcp": CommandEntry(
            N_("Serve tools for agents: clean pages, search and read crawls, start small ones."),
            Part("crawler.contrib.mcp.command:McpOptions", ("mcp",)),
        ),
        "schedule": CommandEntry(
            N_("Run crawls on a schedule: add, list, pause and remove jobs, and run the scheduler."),
            Part("crawler.contrib.schedule.command:ScheduleOptions"),
        ),
        "noise": CommandEntry(
            N_("Tell noise images from content: judge, evaluate, report and train."),
            Part("crawler.command_line.noise_options:NoiseOptions"),
        ),
        "focus": CommandEntry(
            N_("Report how well a crawl kept to its topic."),
            Part("crawler.contrib.lab.focus_command:FocusCommandOptions"),
        ),
        "evaluate": CommandEntry(
            N_("Measure extractors, and other programs, on pages whose main text is known."),
            Part("crawler.contrib.lab.evaluation.command:EvaluateOptions"),
        ),
        "train": CommandEntry(
            N_("Train a learned extractor on pages whose main text is known."),
            Part("crawler.contrib.lab.training.command:TrainOptions"),
        ),
        "completion": CommandEntry(
            N_("Print the shell completion of this command."),
            Part("crawler.command_line.completion:CompletionOptions"),
        ),
    }
)
