"""Whether a crawl can be, by its settings and arguments alone."""

from collections.abc import Iterable, Mapping

from scrapy.settings import BaseSettings

from crawler import settings as our_settings
from crawler.addresses import AllowList
from crawler.arguments import ArgumentError, Arguments, parse
from crawler.extraction import EXTRACTORS
from crawler.judging import court_of
from crawler.methods import check_number, extractor

LOG_LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")


def check(settings: BaseSettings, given: Mapping[str, str]) -> Arguments:
    """The arguments of a crawl; an ArgumentError when they or the settings cannot be right."""
    for name, default in vars(our_settings).items():
        if name.isupper() and isinstance(default, int | float):
            check_number(name, settings[name], default)
    if not all(str(code).strip().isdigit() for code in settings.getlist("RETRY_HTTP_CODES")):
        raise ArgumentError("setting RETRY_HTTP_CODES is wrong; allowed are numbers, separated by commas")
    _check_choice("KEEP_RAW", settings["KEEP_RAW"], ("no", "yes"))
    _check_choice("EXTRACTOR", settings["EXTRACTOR"], EXTRACTORS)
    _check_choice("LOG_LEVEL", settings["LOG_LEVEL"], LOG_LEVELS)
    try:
        AllowList(settings.getlist("ALLOWED_PRIVATE_HOSTS"))
    except ValueError as error:
        raise ArgumentError(f"ALLOWED_PRIVATE_HOSTS: {error}") from None
    arguments = parse(given)
    court_of(settings)
    extractor(arguments.extractor or settings["EXTRACTOR"], settings, arguments.favour)
    return arguments


def _check_choice(name: str, value: str, allowed: Iterable[str]) -> None:
    if value not in allowed:
        raise ArgumentError(f"setting {name}={value!r} is wrong; allowed are {', '.join(allowed)}")
