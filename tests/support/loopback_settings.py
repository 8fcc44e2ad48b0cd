"""Settings of the documentation's commands: Winnow's, for a site on loopback that needs no patience."""

from crawler.settings import *  # noqa: F403 - all of them

ALLOWED_PRIVATE_HOSTS = "127.0.0.1"
DOWNLOAD_DELAY = 0.0
AUTOTHROTTLE_ENABLED = False
