"""What the settings say, as the parts of the crawler take it."""

from scrapy.settings import BaseSettings

from crawler.recrawl import Bounds
from crawler.state.database import StateError
from crawler.urls.canonical import Canonical


def canonical_of(settings: BaseSettings) -> Canonical:
    """The rule by which two addresses are one; on the command line, expressions are separated by spaces."""
    ignored = settings["IGNORED_PARAMETERS"]
    try:
        return Canonical(ignored.split() if isinstance(ignored, str) else ignored)
    except ValueError as error:
        raise StateError(f"setting IGNORED_PARAMETERS is wrong: {error}") from None


def bounds_of(settings: BaseSettings) -> Bounds:
    """Within which seconds pages come again; a StateError where that cannot be."""
    least, most = settings.getfloat("RECRAWL_LEAST"), settings.getfloat("RECRAWL_MOST")
    try:
        return Bounds(least, most)
    except ValueError:
        raise StateError(
            f"settings RECRAWL_LEAST={least} and RECRAWL_MOST={most} are wrong; allowed are seconds above 0, "
            "and no fewer for the second"
        ) from None
