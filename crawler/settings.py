"""Every setting of the crawler, with its reason.

Scrapy reads the names in capitals. Polite and safe first: what is faster or wider is one `-s NAME=VALUE` away. The
order of the components below is the way a request and its answer take.
"""

from crawler import __version__

BOT_NAME = "winnow"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"

# Who asks. Site owners who see something wrong write to CONTACT, an e-mail address or a page.
CONTACT = ""
DEFAULT_REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5", "Accept-Language": "*"}

# How clean text is made, and where it goes.
EXTRACTOR = "leaf-tags"
OUTPUT_DIR = "output"
FEED_EXPORT_ENCODING = "utf-8"  # readable text in -O files too

# How often a host is asked: one request at a time, a second apart or more, slower when the host is slow.
DOWNLOAD_DELAY = 1.0
CONCURRENT_REQUESTS_PER_DOMAIN = 1
CONCURRENT_REQUESTS = 64  # many hosts at once cost none of them anything
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 1.0
AUTOTHROTTLE_MAX_DELAY = 30.0
DOWNLOAD_TIMEOUT = 30.0  # a host that has not answered by then holds a place that others could use

# What a host may ask for: robots.txt, its Crawl-delay, Retry-After with 429 and 503.
ROBOTSTXT_OBEY = True
CRAWL_DELAY_LIMIT = 60.0  # a host that wants longer pauses is left alone rather than asked too often
BACKOFF_DELAY = 5.0  # first pause after a 429 or 503 without Retry-After, doubled every time
BACKOFF_LIMIT = 600.0  # a host that wants a longer pause is left alone
BACKOFF_TIMES = 5  # as is one that still answers 429 or 503 after so many pauses
RETRY_TIMES = 2
RETRY_HTTP_CODES = [500, 502, 504, 522, 524, 408]  # Scrapy's, without 429 and 503, which wait

# What a host may not do: lead in circles, send too much, or send the crawler into the operator's own network.
SITE_PAGE_LIMIT = 10_000  # pages of one site; and ten times as many requests, whatever comes of them
URLLENGTH_LIMIT = 2083
PATH_REPEAT_LIMIT = 3  # /a/b/a/b/a/b/a/b is a link that grows in circles
REDIRECT_MAX_TIMES = 10
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024  # compressed or not
DOWNLOAD_WARNSIZE = 0  # the limit itself is counted and said
ALLOWED_PRIVATE_HOSTS = ""  # names, addresses or networks that are open although they are not public
DOWNLOAD_VERIFY_CERTIFICATES = True
HTTPPROXY_ENABLED = False  # a proxy finds addresses itself, where nobody checks that they are public
COOKIES_ENABLED = False  # no session follows the crawler from page to page
METAREFRESH_ENABLED = False  # the spider reads it from the tree it has anyway
DOWNLOAD_HANDLERS = {"file": None, "ftp": None, "s3": None, "data": None}  # http and https only
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
TWISTED_DNS_RESOLVER = "scrapy.resolver.CachingHostnameResolver"  # finds IPv6 addresses too

# The demo site is ours: it is asked without pauses.
DEMO_SLOT = {"concurrency": 8, "delay": 0.0, "jitter": 0.0}

# How the crawl runs: no per-item tasks (one page makes one item), no component without use.
SCHEDULER = "crawler.scheduler.FrontierScheduler"
CONCURRENT_ITEMS = 1
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,  # the scope is checked before a request is built
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "crawler.middlewares.robots.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    "crawler.middlewares.backoff.BackoffMiddleware": 540,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": 550,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "crawler.middlewares.redirect.ScopedRedirectMiddleware": 600,
    "crawler.middlewares.guard.GuardMiddleware": 800,
}
SPIDER_MIDDLEWARES = {
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,  # candidates carry their depth; the scope checks addresses
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
    "scrapy.spidermiddlewares.start.StartSpiderMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
}
ITEM_PIPELINES = {
    "crawler.pipelines.extract.ExtractPipeline": 100,
    "crawler.pipelines.images.ImagesPipeline": 200,
    "crawler.pipelines.store.StorePipeline": 900,
}
EXTENSIONS = {
    "scrapy.extensions.logstats.LogStats": None,
    "crawler.extensions.fixed_slots.FixedSlots": 0,
    "crawler.extensions.progress.CrawlProgress": 0,
    "crawler.extensions.closing.ClosingLines": 0,
}

# What is said while it runs.
LOG_LEVEL = "INFO"
LOGSTATS_INTERVAL = 10.0
LOG_VERSIONS: list[str] = []
STATS_DUMP = False  # the closing lines say it in words; -s STATS_DUMP=True prints all counts
DEFAULT_DROPITEM_LOG_LEVEL = "DEBUG"
RETRY_GIVE_UP_LOG_LEVEL = "DEBUG"


def user_agent(contact: str) -> str:
    """The name the crawler gives itself, with its operator's contact if there is one.

    >>> user_agent("ops@example.org").partition("/")[2].partition(" ")[2]
    '(+ops@example.org)'
    """
    contact = "".join(character for character in contact if character.isprintable())
    return f"{BOT_NAME.capitalize()}/{__version__}" + (f" (+{contact})" if contact else "")


USER_AGENT = user_agent(CONTACT)
