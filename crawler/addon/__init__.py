"""The add-on for any Scrapy project: `ADDONS = {"crawler.addon.Winnow": 100}`.

Every item that a callback yields from a page gets the field `clean`. Settings of the project switch on the rest:

    WINNOW_JUDGE_IMAGES      images that are adverts or navigation are not downloaded
    WINNOW_GUARD_ADDRESSES   only public addresses are connected to, and those of ALLOWED_PRIVATE_HOSTS
    WINNOW_FIND_NEAR_DUPLICATES
                             `clean["duplicate_of"]` is the address of an earlier page of nearly the same text
    WINNOW_DURABLE_QUEUE     a folder: requests are kept in it, and survive a crash
"""

from scrapy.settings import BaseSettings

from crawler.addon.address_guard import LoggingAddressGuard
from crawler.addon.clean_items import CleanItems
from crawler.addon.durable_queue import DurableQueue, StartRequests
from crawler.addon.image_noise import ImageNoiseFilter

OF_SHELL = "scrapy.dupefilters.BaseDupeFilter"  # set by `scrapy shell`, in which no crawl should be continued


class Winnow:
    """Adds the components that the settings enable."""

    def update_settings(self, settings: BaseSettings) -> None:
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", CleanItems, 1000)  # closest to the spider
        if settings.getbool("WINNOW_JUDGE_IMAGES"):
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", ImageNoiseFilter, 60)
        if settings.getbool("WINNOW_GUARD_ADDRESSES"):
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", LoggingAddressGuard, 800)
        if settings["WINNOW_DURABLE_QUEUE"] and settings["DUPEFILTER_CLASS"] != OF_SHELL:
            settings.set("SCHEDULER", DurableQueue, "project")
            settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", StartRequests, 0)
