"""The extractor that is asked for by its name, with what the settings say of it."""

from functools import partial

from scrapy.settings import BaseSettings

from crawler.extraction import EXTRACTORS, Extractor
from crawler.extraction.framework import Limits, framework


def extractor(name: str, settings: BaseSettings) -> Extractor:
    """The method of this name; that of Shi, Lin and Yang with the limits their paper leaves open."""
    if name != "framework":
        return EXTRACTORS[name]
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
