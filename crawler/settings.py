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
EXTRACTOR = "auto"
OUTPUT_DIR = "output"
FEED_EXPORT_ENCODING = "utf-8"  # readable text in -O files too

# What a crawl must not forget, and how long it waits for a database that is locked, full or away.
STATE_URL = ""  # SQLite in OUTPUT_DIR/crawl.db; postgresql+psycopg://USER:PASSWORD@HOST/DATABASE for many workers
DATABASE_RETRY_SECONDS = 120.0
KEEP_RESPONSES = False  # True keeps the response that each page came in, for `scrapy export --format warc`
STATE_KEEP_DAYS = 0  # pages older than this are dropped by `scrapy state --prune`; 0 keeps all

# When a page is asked for again: half its interval later where it had changed, else one and a half, between these.
RECRAWL_LEAST = 3_600.0  # seconds: one hour
RECRAWL_MOST = 2_592_000.0  # 30 days
KEEP_VERSIONS = 10  # texts that a page had before it changed, the newest; 0 keeps none

# Crawls that come again and again, by `scrapy schedule`.
SCHEDULE_AT_ONCE = 4  # crawls of one scheduler; each takes a core while it is quick

# The web page over the state, by `scrapy dashboard`.
DASHBOARD_PASSWORD = ""  # what it wants of visitors, of Prometheus as a bearer token; without it nobody else gets in
DASHBOARD_HOSTS = ""  # other names that it is served under, commas between them

# Seconds after which a request that hangs is given up, 0 for never. The crawl says what it waits for much earlier.
STALL_LIMIT = 600.0

# Pictures are judged before the download, by these models. Behind a colon stands the score above which a model calls a
# picture noise, if it is not the model's own. Menus and banners show by being on many pages, so the first pages of a
# site are waited for.
IMAGE_NOISE_ENABLED = True
# The learned model knows what the others say; what nobody sees, or so many pages show, is noise whatever it thinks.
IMAGE_NOISE_MODELS = "learned,size,redundancy:0.3"
IMAGE_NOISE_MIN_PAGES = 10
IMAGE_NOISE_WEIGHTS = ""  # a file of `scrapy noise train`; empty: the learned model that comes with the crawler
IMAGE_NOISE_LISTS = ""  # files of rules as EasyList has them, commas between them; what they block is noise
IMAGE_NOISE_AUDIT = 0.0  # the share of the noise that is fetched all the same, to see how often the judge is wrong
IMAGE_MAX_BYTES = 10 * 1024 * 1024

# Which page comes next: links are scored by what was learned from the pages fetched so far.
FOCUS_EXPLORATION = 0.02  # the share of the pages asked for that are chosen by chance: scores may be mistaken

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
BACKOFF_LIMIT = 600.0  # a host that wants a longer pause is left alone
RETRY_TIMES = 2
RETRY_HTTP_CODES = [500, 502, 504, 522, 524, 408]  # Scrapy's, without 429 and 503, which wait

# What a host may not do: lead in circles, send too much, or send the crawler into the operator's own network.
SITE_PAGE_LIMIT = 10_000  # pages of one site; and ten times as many requests, whatever comes of them
URLLENGTH_LIMIT = 2083
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

# How the crawl runs: no per-item tasks (one page makes one item), no component without use.
SCHEDULER = "crawler.scheduler.FrontierScheduler"
CONCURRENT_ITEMS = 1
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,  # the scope is checked before a request is built
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "crawler.middlewares.image_noise.ImageNoiseMiddleware": 50,  # before anything is asked, robots.txt too
    "crawler.middlewares.robots.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": 550,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "crawler.middlewares.redirect.ScopedRedirectMiddleware": 600,
    "crawler.middlewares.backoff.BackoffMiddleware": 650,  # hears every answer, before it is made into a request
    "crawler.middlewares.guard.GuardMiddleware": 800,
}
SPIDER_MIDDLEWARES = {
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,  # candidates carry their depth; the scope checks addresses
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
    "scrapy.spidermiddlewares.start.StartSpiderMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
}
ITEM_PROCESSOR = "crawler.pipelines.store.LimitedPipelines"
ITEM_PIPELINES = {
    "crawler.pipelines.extract.ExtractPipeline": 100,
    "crawler.pipelines.images.ImagesPipeline": 200,
    "crawler.pipelines.store.StorePipeline": 900,
}
EXTENSIONS = {
    "scrapy.extensions.logstats.LogStats": None,
    "crawler.extensions.host_latency.FixedSlots": 0,
    "crawler.extensions.progress.CrawlProgress": 0,
    "crawler.extensions.watch.StallWatch": 0,
    "crawler.extensions.samples.Sampler": 0,
    "crawler.extensions.host_latency.LatencyRecorder": 0,
    "crawler.extensions.closing_lines.ClosingLines": 0,
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
