"""Every setting of the crawler.

The settings with a docstring are for users; the others join the parts of the crawler. Polite and safe values come
first: what is faster or wider is one `-s NAME=VALUE` away. The order of the components below is the way that a request
and its response take.
"""

from crawler import __version__

BOT_NAME = "winnow"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"

# Who asks.
CONTACT = ""
"""Your e-mail address or page. The user agent tells it to every site, so that owners can write to you."""
DEFAULT_REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5", "Accept-Language": "*"}

# How clean text is made, and where it goes.
EXTRACTOR = "auto"
"""The method that extracts the main text; `-a extractor=` chooses it for one crawl."""
OUTPUT_DIR = "output"
"""The folder that everything is written to."""
FEED_EXPORT_ENCODING = "utf-8"  # readable text in -O files too

# What a crawl must not forget.
STATE_URL = ""
"""The database: `sqlite:///FILE` or `postgresql+psycopg://USER:PASSWORD@HOST/DATABASE`. Empty means SQLite in
`OUTPUT_DIR/crawl.db`. Several workers on several machines need PostgreSQL.
"""
DATABASE_RETRY_SECONDS = 120.0
"""How long a crawl waits for a database that is locked, full or unreachable."""
KEEP_RESPONSES = False
"""Also store the HTTP response of each page, for `scrapy export --format warc`."""
STATE_KEEP_DAYS = 0
"""`scrapy state --prune` deletes pages that were last fetched longer ago; 0 keeps all."""

# When a page is asked for again: half its interval later where it had changed, else one and a half, between these.
RECRAWL_LEAST = 3_600.0  # seconds: one hour
"""Seconds: the shortest time after which a page is requested again."""
RECRAWL_MOST = 2_592_000.0  # 30 days
"""Seconds: the longest time after which a page is requested again."""
KEEP_VERSIONS = 10
"""How many earlier texts of a page that changed are kept; 0 keeps none."""

# Crawls that come again and again, by `scrapy schedule`.
SCHEDULE_AT_ONCE = 4  # crawls of one scheduler; each takes a core while it is quick
"""How many crawls one scheduler runs at a time."""

# The web page over the state, by `scrapy dashboard`.
DASHBOARD_PASSWORD = ""
"""The password of the dashboard, for Prometheus the bearer token. Without one, only this machine is let in."""
DASHBOARD_HOSTS = ""
"""Other host names that the dashboard is served under, with commas between them."""

STALL_LIMIT = 600.0
"""Seconds after which a request that hangs is given up; 0 waits for ever. The log names it much earlier."""

# Images are judged before the download. Menus and banners show by being on many pages, so a few pages come first.
IMAGE_NOISE_ENABLED = True
"""Judge images before the download and skip noise; False downloads all images."""
# The learned model knows what the others say; what nobody sees, or so many pages show, is noise whatever it thinks.
IMAGE_NOISE_MODELS = "learned,size,redundancy:0.3"
"""The models that judge images, with commas between them. A number after a colon is the score above which an image is
noise: a probability (`learned`), a mean weight (`keyword`), a share of the pages of a site (`redundancy`) or an
evenness from 0 to 1 (`entropy`).
"""
IMAGE_NOISE_MIN_PAGES = 10
"""How many pages of a site are read before its images are judged."""
IMAGE_NOISE_WEIGHTS = ""
"""A file of weights that `scrapy noise train` wrote, in place of the learned model that comes with Winnow."""
IMAGE_NOISE_LISTS = ""
"""Files of filter rules in the syntax of EasyList, with commas between them; the images they block are noise."""
IMAGE_NOISE_AUDIT = 0.0
"""The share of noise images that are downloaded all the same, to measure how often the verdict is wrong."""
IMAGE_MAX_BYTES = 10 * 1024 * 1024
"""The largest image that is kept, in bytes."""

# Which page comes next: links are scored by what was learned from the pages fetched so far.
FOCUS_EXPLORATION = 0.02
"""The share of pages that are chosen by chance, because scores may be mistaken."""

# How often a host is asked: one request at a time, a second apart, and more when the host is slow.
DOWNLOAD_DELAY = 1.0
"""Seconds between two requests to a host."""
DOWNLOAD_DELAY_JITTER = 0.0  # Scrapy draws again after each wait, so that its half makes a mean pause of 1.22 s
"""The share by which the pauses between requests vary; any makes them longer on average."""
CONCURRENT_REQUESTS_PER_DOMAIN = 1
"""How many requests one host gets at a time."""
CONCURRENT_REQUESTS = 64  # many hosts at once cost none of them anything
"""How many requests are under way at a time, to all hosts."""
AUTOTHROTTLE_ENABLED = True
"""Wait longer between requests to a host that answers slowly."""
AUTOTHROTTLE_START_DELAY = 1.0
"""Seconds between the first requests to a host."""
AUTOTHROTTLE_MAX_DELAY = 30.0
"""Seconds: the longest such delay."""
DOWNLOAD_TIMEOUT = 30.0
"""Seconds after which a host that does not answer is given up."""

# What a host may ask for: robots.txt, its Crawl-delay, Retry-After with 429 and 503.
ROBOTSTXT_OBEY = True
"""Obey robots.txt; a host whose robots.txt cannot be read is left alone."""
CRAWL_DELAY_LIMIT = 60.0  # a host that wants longer pauses is left alone rather than asked too often
"""Seconds: the longest Crawl-delay that is honoured. A host that asks for more is left alone."""
BACKOFF_LIMIT = 600.0
"""Seconds: the longest pause after a 429 or 503. A host that asks for more, or refuses five times in a row, is left
alone.
"""
RETRY_TIMES = 2
"""How often a request that failed otherwise is sent again."""
RETRY_HTTP_CODES = [500, 502, 504, 522, 524, 408]  # Scrapy's, without 429 and 503, after which the host has a pause
"""The statuses after which a request is sent again."""

# What a host may not do: lead in circles, send too much, or send the crawler into the operator's own network.
SITE_PAGE_LIMIT = 10_000
"""The most pages that are stored of one site. It gets at most ten times as many requests."""
URLLENGTH_LIMIT = 2083
"""The longest address that is requested."""
REDIRECT_MAX_TIMES = 10
"""The most redirects in a row."""
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
"""The largest body of a page in bytes, compressed or not."""
DOWNLOAD_WARNSIZE = 0  # the limit itself is counted and said
ALLOWED_PRIVATE_HOSTS = ""
"""Names, addresses or networks that may be requested although they are not public, with commas between them."""
DOWNLOAD_VERIFY_CERTIFICATES = True
"""Refuse invalid TLS certificates."""
HTTPPROXY_ENABLED = False  # a proxy finds addresses itself, where nobody checks that they are public
"""Use the proxy of the environment, which then decides which addresses are reached."""
COOKIES_ENABLED = False
"""Keep cookies from one page to the next."""
METAREFRESH_ENABLED = False  # the spider reads it from the tree it has anyway
"""Let Scrapy follow `<meta http-equiv=refresh>`, which the spider does by itself."""
TELNETCONSOLE_ENABLED = False
"""Scrapy's telnet console."""
REMOTE_CONTROL_ENABLED = False
"""Scrapy's remote control."""
TWISTED_DNS_RESOLVER = "scrapy.resolver.CachingHostnameResolver"  # finds IPv6 addresses too

# What tells nothing of a page: parameters of addresses, by expressions that match a name in full, or `name=value` when
# they hold an equals sign (crawler/urls/parsing.py). Names that other sites give to other things (ref, cid, source,
# scene) are left out: a page fetched twice costs less than a page never seen.
IGNORED_PARAMETERS = (
    # Campaigns, in the names of the tools that count them: Google, Matomo, AT Internet, comScore, Webtrends, Baidu.
    *r"(?:depth_\d-)?utm_.* _ga(?:_.*)? _gl mtm_.* pk_(?:campaign|kwd|keyword|source|medium|content|cid)".split(),
    *r"at_(?:campaign|campaign_type|medium|creation|format|link_\w+|ptr_name|bbc_team) xtor".split(),
    *r"ns_(?:campaign|mchannel|source|linkname|fee) wt_z?mc wt\..* hm(?:sr|pl|cu|kw|ci)".split(),
    # Clicks on advertisements: Google, Microsoft, X, TikTok, LinkedIn, Yandex, Adobe; Baidu, Tencent, 360, Taobao.
    *r"gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid msclkid twclid ttclid li_fat_id".split(),
    *r"yclid ysclid ymclid _openstat s_kwcid hsa_.* bd_vid qz_gdt gdt_vid qhclickid ali_(?:ref|track)id".split(),
    # Letters to subscribers: Mailchimp, Marketo, HubSpot, Vero, Olytics, Klaviyo, Branch.
    *r"mc_[ce]id mkt_tok _hsenc _hsmi __hs(?:fp|sc|tc) hsctatracking vero_(?:id|conv) oly_(?:anon|enc)_id".split(),
    *r"_kx _branch_match_id".split(),
    # Links that readers passed on: Facebook, Instagram, X, Yahoo; WeChat, QQ, Bilibili.
    *r"fbclid fb_action_(?:ids|types) fb_(?:ref|source) mibextid igsh(?:id)? __twitter_impression".split(),
    *r"ref_src=twsrc.* guccounter guce_referrer(?:_sig)? isappinstalled nsukey qq-pf-to vd_source".split(),
    *r"from=(?:singlemessage|groupmessage|timeline) share_(?:source|medium|plat|session_id) wxshare_count".split(),
    # The place on the site that held the link: Alibaba, CSDN, Sohu, Bilibili, Tencent, Baidu, ifeng.
    *r"spm=[\w-]+\.[\w-]*\..* scm=\d{4,}\..* spm_id_from from_spmid ops_request_misc _trans_ adtag pgv_ref".split(),
    *r"frommodule=lemma.* fr=aladdin wfr=spider _zbs_baidu_\w+".split(),
    # Sessions, in the names that servers and shops give them; those of ASP.NET stand in the path.
    *r"jsessionid phpsessid aspsessionid[a-z]* asp\.net_sessionid aspxautodetectcookiesupport cftoken".split(),
    *r"cfid=\d{7,9} oscsid xtcsid zenid sesskey".split(),
    r"\((?:[afx]\([\w-]+\))*s\([0-5a-z]{24}\)(?:[afx]\([\w-]+\))*\)",
    # Names that mean other things too, when the value is long, of letters and digits, and not the key of a record, as
    # MongoDB (24 hexadecimal digits) and UUIDs have them.
    r"s(?:id|ess(?:ion)?(?:_?id)?)?=(?![\da-f]{24}$|.{12}4.{3}[89ab].{15}$)(?=\d*[a-z])(?=[a-z]*\d)[\da-z]{24,}",
)
"""Regular expressions for parameters of addresses that do not matter, matched in full against a name, or against
`name=value` where they hold an equals sign. On the command line they are separated by spaces.
"""

# How the crawl runs: no per-item tasks (one page makes one item). For other spiders than topic, Scrapy's own scheduler
# takes the place of ours, and our other components are left out.
SCHEDULER = "crawler.spiders.request_scheduler.FrontierScheduler"
CONCURRENT_ITEMS = 1
DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawler.middlewares.http_handler.CountedRequestsHandler")
DOWNLOADER_MIDDLEWARES = {
    "crawler.middlewares.image_noise.ImageNoiseMiddleware": 50,  # before anything is asked, robots.txt too
    "crawler.middlewares.robots.RobotsMiddleware": 100,
    "crawler.middlewares.redirect.ScopedRedirectMiddleware": 600,
    "crawler.middlewares.backoff.BackoffMiddleware": 650,  # hears every answer, before it is made into a request
    "crawler.middlewares.private_addresses.PrivateAddressMiddleware": 800,
}
ITEM_PROCESSOR = "crawler.pipelines.LimitedPipelines"
ITEM_PIPELINES = {
    "crawler.pipelines.ExtractPipeline": 100,
    "crawler.pipelines.ImagesPipeline": 200,
    "crawler.pipelines.StorePipeline": 900,
}
EXTENSIONS = {
    "crawler.extensions.host_latency.FixedSlots": 0,
    "crawler.extensions.progress.CrawlProgress": 0,
    "crawler.extensions.stall_watch.StallWatch": 0,
    "crawler.extensions.chart_samples.Sampler": 0,
    "crawler.extensions.host_latency.LatencyRecorder": 0,
    "crawler.extensions.closing_lines.ClosingLines": 0,
}

# What is said while it runs.
LOG_LEVEL = "INFO"
"""`DEBUG` logs every request."""
LOGSTATS_INTERVAL = 10.0
"""Seconds between two lines of progress."""
LOG_VERSIONS: list[str] = []
STATS_DUMP = False
"""Print all statistics at the end of a crawl."""
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
"""The name that the crawler gives itself."""
