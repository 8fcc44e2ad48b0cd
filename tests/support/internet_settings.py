"""Settings of crawls of the small internet: Winnow's, with shorter pauses and smaller limits."""

from crawler.settings import *  # noqa: F403 - all of them

ALLOWED_PRIVATE_HOSTS = "127.0.0.0/8"
TWISTED_DNS_RESOLVER = "stub_resolver.StubResolver"
DOWNLOAD_DELAY = AUTOTHROTTLE_START_DELAY = 0.5
AUTOTHROTTLE_MAX_DELAY = 1.0
DOWNLOAD_TIMEOUT = 3.0
RETRY_TIMES = 1
SITE_PAGE_LIMIT = 25
DOWNLOAD_MAXSIZE = 2_000_000
RECRAWL_MOST = 86_400.0
STATS_DUMP = True
