"""The add-on for any Scrapy project: `ADDONS = {"crawler.addon.Winnow": 100}`.

Every item that a callback yields from a page gets the field `clean`. Settings of the project switch on the rest:

    WINNOW_JUDGE_IMAGES      images that are adverts or navigation are not downloaded
    WINNOW_GUARD_ADDRESSES   connections are allowed only to public addresses and to those of ALLOWED_PRIVATE_HOSTS
    WINNOW_FIND_NEAR_DUPLICATES
                             `clean["duplicate_of"]` is the address of an earlier page with nearly the same text
    WINNOW_DURABLE_QUEUE     names a folder in which requests are stored, so that they survive a crash
"""

from scrapy.settings import BaseSettings

from crawler.addon.address_guard import LoggingAddressGuard
from crawler.addon.clean_items import CleanItems
from crawler.addon.durable_queue import DurableQueue, StartRequests
from crawler.addon.image_noise import ImageNoiseFilter

SHELL_FILTER = "scrapy.dupefilters.BaseDupeFilter"
"""The duplicate filter that `scrapy shell` sets. A shell must not continue a crawl, so it gets no durable queue."""


class Winnow:
    """Adds the components that the settings enable."""

    def update_settings(self, settings: BaseSettings) -> None:
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", CleanItems, 1000)  # closest to the spider
        if settings.getbool("WINNOW_JUDGE_IMAGES"):
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", ImageNoiseFilter, 60)
        if settings.getbool("WINNOW_GUARD_ADDRESSES"):
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", LoggingAddressGuard, 800)
        if settings["WINNOW_DURABLE_QUEUE"] and settings["DUPEFILTER_CLASS"] != SHELL_FILTER:
            settings.set("SCHEDULER", DurableQueue, "project")
            settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", StartRequests, 0)
