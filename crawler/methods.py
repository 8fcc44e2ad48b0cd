"""The extractor that is asked for by its name, with what the settings say of it; and whether settings are right."""

import re
from functools import partial

from scrapy.settings import BaseSettings

from crawler import settings as our_settings
from crawler.arguments import ArgumentError
from crawler.extraction import Extractor, favouring
from crawler.extraction.auto import BALANCE
from crawler.extraction.framework import Limits, framework

# Whole numbers that stop everything when they are 0.
AT_LEAST_ONE = frozenset(
    "CONCURRENT_REQUESTS CONCURRENT_REQUESTS_PER_DOMAIN CONCURRENT_ITEMS SITE_PAGE_LIMIT URLLENGTH_LIMIT "
    "PATH_REPEAT_LIMIT DOWNLOAD_MAXSIZE IMAGE_MAX_BYTES FOCUS_WINDOW SCHEDULE_AT_ONCE SCHEDULE_KEEP_RUNS".split()
)
MOST = 100_000_000  # of a whole number: with it databases still count, and multiply by ten
MOST_BYTES = 10**12
MOST_DIGITS = 100  # Python reads no more than some thousand
BYTES = ("_BYTES", "SIZE")  # how the names of such settings end
NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?")
SHARES = frozenset(
    "FRAMEWORK_TIE IMAGE_NOISE_LIMIT IMAGE_NOISE_REDUNDANCY_LIMIT IMAGE_NOISE_ENTROPY_LIMIT IMAGE_NOISE_AUDIT "
    "FOCUS_EXPLORATION FOCUS_SITE_SHARE".split()
)


def extractor(name: str, settings: BaseSettings, favour: str = BALANCE) -> Extractor:
    """The method of this name; that of Shi, Lin and Yang with the limits their paper leaves open, if they are right."""
    if name != "framework" or favour != BALANCE:
        try:
            return favouring(name, favour)
        except ValueError as error:
            raise ArgumentError(f"{error}; the method is {name}") from None
    for setting, default in vars(our_settings).items():
        if setting.startswith("FRAMEWORK_"):
            check_number(setting, settings[setting], default)
    limits = Limits(
        settings.getint("FRAMEWORK_WIDTH"),
        settings.getint("FRAMEWORK_HEIGHT"),
        settings.getint("FRAMEWORK_WIDTH_PERCENT"),
        settings.getint("FRAMEWORK_HEIGHT_PERCENT"),
        settings.getfloat("FRAMEWORK_ASPECT"),
        settings.getfloat("FRAMEWORK_TIE"),
        settings.getbool("FRAMEWORK_DIVS"),
    )
    return partial(framework, limits=limits)


def check_number(name: str, value: object, default: float) -> None:
    """Raise an ArgumentError unless the value is of the default's kind and within what makes sense."""
    text = str(value)
    if isinstance(default, bool):
        right, allowed = text.lower() in ("true", "false", "1", "0"), "True or False"
    elif isinstance(default, int):
        least = 1 if name in AT_LEAST_ONE else 0
        most = MOST_BYTES if name.endswith(BYTES) else MOST
        right = text.isascii() and text.isdigit() and len(text) < MOST_DIGITS and least <= int(text) <= most
        allowed = f"a whole number from {least} to {most:,}"
    else:
        right, allowed = NUMBER.fullmatch(text) is not None, f"a number such as {default}"
        if name in SHARES:
            right, allowed = right and float(text) <= 1, "a number from 0 to 1"
    if not right:
        raise ArgumentError(f"setting {name}={text[:100]!r} is wrong; allowed is {allowed}")
