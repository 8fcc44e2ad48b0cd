"""Every setting of the crawler. Settings with a docstring are for users; the others connect the parts of the crawler.

The defaults are polite and safe; anything faster or wider is one `-s NAME=VALUE` away. The components below are listed
in the order in which a request and its response pass them.
"""

from scrapy.settings import default_settings

from crawler import __version__

BOT_NAME = "winnow"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"

# The crawler's identity.
CONTACT = ""
"""Your e-mail address or web page. The user agent shows it to every site, so that its owners can write to you."""
DEFAULT_REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5", "Accept-Language": "*"}

# Extraction and output.
EXTRACTOR = "auto"
"""The method that extracts the main text; `-a extractor=` overrides it for one crawl."""
EXTRACTOR_FALLBACK = ""
"""A second method for pages about whose text `auto` is in doubt: the dotted path of a function from a `Page` to an
`Extraction`, or the address of a server on this machine, such as `http://127.0.0.1:8000/`. Empty means none.
"""
OUTPUT_DIR = "output"
"""The folder that everything is written to."""
FEED_EXPORT_ENCODING = "utf-8"  # readable text in -O files too

# The state of a crawl.
STATE_URL = ""
"""The database: `sqlite:///FILE` or `postgresql+psycopg://USER:PASSWORD@HOST/DATABASE`. Empty means SQLite in
`OUTPUT_DIR/crawl.db`. Several workers on several machines need PostgreSQL.
"""
DATABASE_RETRY_SECONDS = 120.0
"""Seconds for which a crawl waits for a database that is locked, full or unreachable."""
KEEP_RESPONSES = 500_000_000
"""How many bytes the HTTP responses of a crawl may take in the database, compressed: those of its first pages are
stored, so that their texts can be extracted again, labelled and exported as WARC. 500 MB are some 10,000 pages; 0
stores none.
"""
STATE_KEEP_DAYS = 0
"""`winnow state --prune` deletes pages that were last fetched more than so many days ago; 0 keeps all."""

# The revisit interval of a page is halved if the page has changed, else multiplied by 1.5, within these bounds.
RECRAWL_LEAST = 3_600.0  # seconds: one hour
"""Seconds: the shortest interval after which a page is requested again."""
RECRAWL_MOST = 2_592_000.0  # 30 days
"""Seconds: the longest interval after which a page is requested again."""
KEEP_VERSIONS = 10
"""How many earlier texts of a page that changed are kept; 0 keeps none."""

AUTO_WORKERS_LIMIT = 0
"""How many processes a crawl with `workers=auto` has at most; 0 is one for each processor. A scheduled job has its part
of the processors: their number divided by `SCHEDULE_AT_ONCE`, and at least 1.
"""

# Scheduled crawls, by `winnow schedule`.
SCHEDULE_AT_ONCE = 4  # crawls of one scheduler; a fast crawl uses a whole core
"""How many crawls one scheduler runs at a time."""
SCHEDULE_NOTIFY_COMMAND = ""
"""A command that is run when a run of a job ends or fails, or when its harvest falls; it reads a JSON object from its
standard input. No shell is started; in a settings module, a list of words is possible, too.
"""

# The web interface, by `winnow dashboard`.
DASHBOARD_HOSTS = ""
"""Other host names under which the dashboard is served, separated by commas."""
DASHBOARD_PATH = ""
"""The path under which a reverse proxy serves the dashboard, such as `/crawls`."""
DASHBOARD_PROXIES = "127.0.0.1,::1"
"""Addresses or networks of reverse proxies whose X-Forwarded headers are trusted, separated by commas."""

STALL_LIMIT = 600.0
"""Seconds after which a request that hangs is given up; 0 waits for ever. The log names such requests much earlier."""

# Images are judged before the download. Menus and banners are recognized by appearing on many pages, so a few pages are
# needed first.
IMAGE_NOISE_ENABLED = True
"""Judge images before the download and skip noise; False downloads all images."""
# The learned model uses the scores of the others. Invisible images, and those on very many pages, are noise whatever
# its score is.
IMAGE_NOISE_MODELS = "learned,size,redundancy:0.3"
"""The models that judge images, separated by commas. A number after a colon is the score above which an image is noise:
a probability (`learned`), a mean weight (`keyword`), a share of the pages of a site (`redundancy`) or an evenness from
0 to 1 (`entropy`).
"""
IMAGE_NOISE_MIN_PAGES = 10
"""How many pages of a site are read before its images are judged."""
IMAGE_NOISE_WEIGHTS = ""
"""A file of weights written by `winnow noise train`, used instead of the learned model that comes with Winnow."""
IMAGE_NOISE_LISTS = ""
"""Files of filter rules in the syntax of EasyList, separated by commas; images that they block are noise."""
IMAGE_NOISE_AUDIT = 0.0
"""The share of noise images that are downloaded anyway, to measure how often the verdict is wrong."""
IMAGE_MAX_BYTES = 10 * 1024 * 1024
"""The largest image that is kept, in bytes."""
IMAGE_PAGE_LIMIT = 100
"""How many images of a page are requested at most, from its top on. An article seldom has more than 20; a page with
hundreds shows thumbnails."""
IMAGE_SITE_LIMIT = 2_000
"""The most images that one worker requests for the pages of one site in a run. At one request a second, the default
pace, 2,000 images take half an hour after the last page."""

# Pages whose text is created by scripts are rendered in a browser, if one is installed; `-a render=` selects the pages.
RENDER_TABS = 4
"""Pages that one worker renders at a time; each takes about 100 MB of memory, and up to 700 MB."""
RENDER_SECONDS = 30.0
"""Time limit of one page and what it loads, in seconds; after it, the page is read as far as it has been rendered."""
RENDER_SCROLLS = 0
"""How often a rendered page is scrolled to its end, for lists that grow."""
RENDER_CLICK_MORE = False
"""Click once on a button such as "Load more" on each rendered page."""

# Priorities of links are learned from the pages fetched so far.
FOCUS_EXPLORATION = 0.02
"""The share of pages that are chosen at random, because scores may be mistaken."""
FOCUS_VECTORS = ""
"""A file of word vectors in the text format of word2vec, plain or compressed with gzip, or the folder of a static model
as of model2vec; words similar to those of the topic count as well.
"""

# Limits for each host: one request at a time, one second apart, and longer pauses if the host is slow.
DOWNLOAD_DELAY = 1.0
"""Seconds between two requests to a host."""
# Scrapy draws a new delay after each wait, and waits again if that is longer: 0.5 makes a mean delay of 1.22 s.
DOWNLOAD_DELAY_JITTER = 0.0
"""By what share the pauses between requests vary; variation makes them longer on average."""
CONCURRENT_REQUESTS_PER_DOMAIN = 1
"""Concurrent requests to one host."""
CONCURRENT_REQUESTS = 64  # many hosts at once put no load on any one of them
"""Concurrent requests to all hosts."""
AUTOTHROTTLE_ENABLED = True
"""Increase the delay between requests to a host that answers slowly."""
AUTOTHROTTLE_START_DELAY = 1.0
"""Seconds: the initial delay between requests to a host."""
AUTOTHROTTLE_MAX_DELAY = 30.0
"""Seconds: the largest delay between requests to a slow host."""
DOWNLOAD_TIMEOUT = 30.0
"""Seconds after which a request without an answer fails."""

# What hosts ask of crawlers: robots.txt, its Crawl-delay, and Retry-After with 429 and 503.
ROBOTSTXT_OBEY = True
"""Obey robots.txt; no page is requested from a host whose robots.txt cannot be read."""
CRAWL_DELAY_LIMIT = 60.0  # a host that asks for longer delays is closed rather than requested too often
"""Seconds: the longest Crawl-delay that is obeyed. A host that asks for more is not crawled."""
BACKOFF_LIMIT = 600.0
"""Seconds: the longest pause after a 429, a 503 or a wall against robots. A host that asks for more, or refuses five
times in a row, is given up.
"""
RETRY_TIMES = 2
"""How often a failed request is sent again; after a 429, a 503 or a wall, `BACKOFF_LIMIT` applies instead."""
RETRY_HTTP_CODES = [500, 502, 504, 522, 524, 408]  # Scrapy's list without 429 and 503, which pause the host
"""The statuses after which a request is sent again."""

# Protection against hosts: traps, large responses, and addresses in the operator's own network.
SITE_PAGE_LIMIT = 10_000
"""The most pages that are stored from one site in a round. At most ten times as many requests are sent to it. Addresses
refused by this limit are requested in a later round if the site then has fewer pages."""
URLLENGTH_LIMIT = 2083
"""The longest address that is requested, in characters."""
REDIRECT_MAX_TIMES = 10
"""The most redirects that are followed in a row."""
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
"""The largest body of a page in bytes, compressed or not; one of more than 64,000 chunks, two content codings or 1,000
compressed parts counts as larger.
"""
# No request is sent while the responses in memory are larger than this: one of the largest pages may wait for the
# browser, and another one may be processed.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 2 * DOWNLOAD_MAXSIZE
DOWNLOAD_WARNSIZE = 0  # bodies over the limit itself are counted and reported
DOCUMENT_MAX_BYTES = 32 * 1024 * 1024
"""The largest document that `-a documents=yes` reads, in bytes, for addresses that end like one, such as `.pdf`;
documents with other addresses have the limit of pages.
"""
ALLOWED_PRIVATE_HOSTS = ""
"""Names, addresses or networks that may be requested although they are not public, separated by commas."""
DOWNLOAD_VERIFY_CERTIFICATES = True
"""Refuse invalid TLS certificates."""
HTTPPROXY_ENABLED = False  # a proxy resolves names itself, so that private addresses cannot be refused
"""Use the proxy of the environment, which then decides which addresses are reached."""
COOKIES_ENABLED = False
"""Keep cookies from one page to the next."""
METAREFRESH_ENABLED = False  # the spider finds it in the parsed page
"""Let Scrapy follow `<meta http-equiv=refresh>`; the spider does so itself."""
TELNETCONSOLE_ENABLED = False
"""Scrapy's telnet console."""
TWISTED_DNS_RESOLVER = "scrapy.resolver.CachingHostnameResolver"  # finds IPv6 addresses too

# Parameters of addresses that do not matter, as regular expressions that match a whole name, or `name=value` if they
# contain an equals sign (crawler/urls/canonical.py). Names with other meanings on other sites (ref, cid, source, scene)
# are not listed: fetching a page twice costs less than missing it.
IGNORED_PARAMETERS = (
    # Campaigns, by the tools that count them: Google, Matomo, AT Internet, comScore, Webtrends, Baidu.
    *r"(?:depth_\d-)?utm_.* _ga(?:_.*)? _gl mtm_.* pk_(?:campaign|kwd|keyword|source|medium|content|cid)".split(),
    *r"at_(?:campaign|campaign_type|medium|creation|format|link_\w+|ptr_name|bbc_team) xtor".split(),
    *r"ns_(?:campaign|mchannel|source|linkname|fee) wt_z?mc wt\..* hm(?:sr|pl|cu|kw|ci)".split(),
    # Clicks on advertisements: Google, Microsoft, X, TikTok, LinkedIn, Yandex, Adobe; Baidu, Tencent, 360, Taobao.
    *r"gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid msclkid twclid ttclid li_fat_id".split(),
    *r"yclid ysclid ymclid _openstat s_kwcid hsa_.* bd_vid qz_gdt gdt_vid qhclickid ali_(?:ref|track)id".split(),
    # Newsletters: Mailchimp, Marketo, HubSpot, Vero, Olytics, Klaviyo, Branch.
    *r"mc_[ce]id mkt_tok _hsenc _hsmi __hs(?:fp|sc|tc) hsctatracking vero_(?:id|conv) oly_(?:anon|enc)_id".split(),
    *r"_kx _branch_match_id".split(),
    # Shared links: Facebook, Instagram, X, Yahoo; WeChat, QQ, Bilibili.
    *r"fbclid fb_action_(?:ids|types) fb_(?:ref|source) mibextid igsh(?:id)? __twitter_impression".split(),
    *r"ref_src=twsrc.* guccounter guce_referrer(?:_sig)? isappinstalled nsukey qq-pf-to vd_source".split(),
    *r"from=(?:singlemessage|groupmessage|timeline) share_(?:source|medium|plat|session_id) wxshare_count".split(),
    # Where on the site the link was: Alibaba, CSDN, Sohu, Bilibili, Tencent, Baidu, ifeng.
    *r"spm=[\w-]+\.[\w-]*\..* scm=\d{4,}\..* spm_id_from from_spmid ops_request_misc _trans_ adtag pgv_ref".split(),
    *r"frommodule=lemma.* fr=aladdin wfr=spider _zbs_baidu_\w+".split(),
    # Sessions, by servers and shops; those of ASP.NET are in the path.
    *r"jsessionid phpsessid aspsessionid[a-z]* asp\.net_sessionid aspxautodetectcookiesupport cftoken".split(),
    *r"cfid=\d{7,9} oscsid xtcsid zenid sesskey".split(),
    r"\((?:[afx]\([\w-]+\))*s\([0-5a-z]{24}\)(?:[afx]\([\w-]+\))*\)",
    # Ambiguous names, which count only if the value is long, has letters and digits, and is not a record's key, as
    # MongoDB (24 hexadecimal digits) and UUIDs have them.
    r"s(?:id|ess(?:ion)?(?:_?id)?)?=(?![\da-f]{24}$|.{12}4.{3}[89ab].{15}$)(?=\d*[a-z])(?=[a-z]*\d)[\da-z]{24,}",
)
"""Regular expressions for parameters of addresses that do not matter. Each must match a whole name, or `name=value` if
it contains an equals sign. On the command line they are separated by spaces.
"""

# Components. For spiders other than `topic`, `FrontierScheduler` creates Scrapy's own scheduler, and the other
# components here are left out.
SCHEDULER = "crawler.spiders.request_scheduler.FrontierScheduler"
CONCURRENT_ITEMS = 1  # a page makes one item
DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawler.middlewares.http_handler.LimitedHandler")
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "crawler.middlewares.image_noise.ImageNoiseMiddleware": 50,  # noise costs no request, not even of robots.txt
    "crawler.middlewares.robots.RobotsMiddleware": 100,
    "crawler.middlewares.rights.RightsMiddleware": 110,
    "crawler.middlewares.redirect.ScopedRedirectMiddleware": 600,
    "crawler.middlewares.backoff.BackoffMiddleware": 650,  # sees responses before redirects and retries do
    "crawler.middlewares.compression.LimitedCompression": 660,  # BackoffMiddleware recognizes walls by their HTML
    "crawler.middlewares.private_addresses.PrivateAddressMiddleware": 800,
}
ITEM_PROCESSOR = "crawler.pipelines.LimitedPipelines"
ITEM_PIPELINES = {
    "crawler.pipelines.ExtractPipeline": 100,
    "crawler.pipelines.ImagesPipeline": 200,
    "crawler.pipelines.StorePipeline": 900,
}
# A crawl has no use for Scrapy's remote control, and importing it takes 0.1 s. None in EXTENSIONS would not prevent
# that: Scrapy imports an extension before it disables it.
EXTENSIONS_BASE = {
    path: order for path, order in default_settings.EXTENSIONS_BASE.items() if not path.endswith(".RemoteControl")
}
EXTENSIONS = {
    "crawler.extensions.host_latency.FixedSlots": 0,
    "crawler.extensions.progress.CrawlProgress": 0,
    "crawler.extensions.stall_watch.StallWatch": 0,
    "crawler.extensions.chart_samples.Sampler": 0,
    "crawler.extensions.host_latency.LatencyRecorder": 0,
    "crawler.extensions.closing_lines.ClosingLines": 0,
}

# Logging.
LOG_LEVEL = "INFO"
"""`DEBUG` logs every request."""
LOGSTATS_INTERVAL = 10.0
"""Seconds between two progress lines."""
LOG_VERSIONS: list[str] = []
STATS_DUMP = False
"""Print all statistics at the end of a crawl."""
DEFAULT_DROPITEM_LOG_LEVEL = "DEBUG"
RETRY_GIVE_UP_LOG_LEVEL = "DEBUG"


def user_agent(contact: str) -> str:
    """The user agent of the crawler, with its operator's contact if there is one.

    >>> user_agent("ops@example.org").partition("/")[2].partition(" ")[2]
    '(+ops@example.org)'
    """
    name = f"{BOT_NAME.capitalize()}/{__version__}"
    contact = "".join(character for character in contact if character.isprintable())
    if contact:
        return f"{name} (+{contact})"
    return name


USER_AGENT = user_agent(CONTACT)
"""The user agent of the crawler."""
