"""`scrapy clean`: clean saved pages, without a crawl; or the stored pages of a crawl, again."""

from crawler.command_line.command import command_of_part


class Command(command_of_part("clean")):  # type: ignore[misc]
    """The command of contrib/bulk, or why there is none."""
