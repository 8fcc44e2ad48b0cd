"""`scrapy export`: exports the stored pages of a crawl from the database into a file or folder."""

from crawler.command_line.command import command_of_part
from crawler.export.command import ExportCommand


class Command(command_of_part("export", ExportCommand)):  # type: ignore[misc]
    """The command of contrib/corpus, or that of the core, which has fewer options."""
