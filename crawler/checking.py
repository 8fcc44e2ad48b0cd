"""Whether a command can start, by its settings and arguments alone."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from scrapy.settings import BaseSettings

from crawler import settings as our_settings
from crawler.arguments import ArgumentError, Arguments, parse
from crawler.extraction import EXTRACTORS, favouring
from crawler.judging import court_of
from crawler.urls.public_hosts import AllowList

MOST = 100_000_000  # with it databases still count, and multiply by ten
MOST_BYTES = 10**12
COUNT, AT_LEAST_ONE, SECONDS, SHARE = (0, MOST), (1, MOST), (0.0, 1e9), (0.0, 1.0)
BYTES = (1, MOST_BYTES)
NUMBERS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "DATABASE_RETRY_SECONDS": SECONDS,
        "STATE_KEEP_DAYS": COUNT,
        "RECRAWL_LEAST": SECONDS,
        "RECRAWL_MOST": SECONDS,
        "KEEP_VERSIONS": COUNT,
        "SCHEDULE_AT_ONCE": AT_LEAST_ONE,
        "STALL_LIMIT": SECONDS,
        "IMAGE_NOISE_MIN_PAGES": COUNT,
        "IMAGE_NOISE_AUDIT": SHARE,
        "IMAGE_MAX_BYTES": BYTES,
        "FOCUS_EXPLORATION": SHARE,
        "DOWNLOAD_DELAY": SECONDS,
        "CONCURRENT_REQUESTS_PER_DOMAIN": AT_LEAST_ONE,
        "CONCURRENT_REQUESTS": AT_LEAST_ONE,
        "CONCURRENT_ITEMS": AT_LEAST_ONE,
        "AUTOTHROTTLE_START_DELAY": SECONDS,
        "AUTOTHROTTLE_MAX_DELAY": SECONDS,
        "DOWNLOAD_TIMEOUT": SECONDS,
        "CRAWL_DELAY_LIMIT": SECONDS,
        "BACKOFF_LIMIT": SECONDS,
        "RETRY_TIMES": COUNT,
        "SITE_PAGE_LIMIT": AT_LEAST_ONE,
        "URLLENGTH_LIMIT": AT_LEAST_ONE,
        "REDIRECT_MAX_TIMES": COUNT,
        "DOWNLOAD_MAXSIZE": BYTES,
        "DOWNLOAD_WARNSIZE": (0, MOST_BYTES),
        "LOGSTATS_INTERVAL": SECONDS,
    }
)
"""The least and the most of each setting that is a number: a whole one where these are whole."""
CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"EXTRACTOR": tuple(EXTRACTORS), "LOG_LEVEL": ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")}
)
SWITCHES = tuple(name for name, usual in vars(our_settings).items() if isinstance(usual, bool))
WHOLE, NUMBER = re.compile(r"[0-9]{1,15}"), re.compile(r"[0-9]{1,10}(\.[0-9]{1,9})?")


def check(settings: BaseSettings, given: Mapping[str, str]) -> Arguments:
    """The arguments of a crawl; an ArgumentError when they or the settings cannot be right."""
    check_settings(settings)
    arguments = parse(given)
    court_of(settings)
    try:
        favouring(arguments.extractor or settings["EXTRACTOR"], arguments.favour)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    return arguments


def check_settings(settings: BaseSettings) -> None:
    """Raise an ArgumentError unless each setting alone is right."""
    for name, (least, most) in NUMBERS.items():
        text, is_whole = str(settings[name]), isinstance(least, int)
        if not (WHOLE if is_whole else NUMBER).fullmatch(text) or not least <= float(text) <= most:
            raise _wrong(name, text, f"is a {'whole ' * is_whole}number from {least:,.0f} to {most:,.0f}")
    for name, allowed in CHOICES.items():
        text = str(settings[name])
        if text not in allowed:
            raise _wrong(name, text, f"are {', '.join(allowed)}")
    for name in SWITCHES:
        text = str(settings[name])
        if text.lower() not in ("true", "false", "1", "0"):
            raise _wrong(name, text, "is True or False")
    if not all(str(code).strip().isdigit() for code in settings.getlist("RETRY_HTTP_CODES")):
        raise _wrong("RETRY_HTTP_CODES", str(settings["RETRY_HTTP_CODES"]), "are numbers, separated by commas")
    try:
        AllowList(settings.getlist("ALLOWED_PRIVATE_HOSTS"))
    except ValueError as error:
        raise ArgumentError(f"ALLOWED_PRIVATE_HOSTS: {error}") from None


def _wrong(name: str, value: str, allowed: str) -> ArgumentError:
    return ArgumentError(f"setting {name}={value[:100]!r} is wrong; allowed {allowed}")
