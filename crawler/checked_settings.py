"""Reads and checks settings. `check_crawl` checks all settings before a crawl. Functions named like `judge_of` return
what a few settings describe, and raise an ArgumentError if one of these is wrong.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from crawler import settings as our_settings
from crawler.arguments import AUTO, Arguments, Render
from crawler.doors import RENDERER_INSTALLATION, Door, find, load
from crawler.errors import ArgumentError, MissingPartError, ModelFileError
from crawler.extraction import EXTRACTORS, Extractor, extractor_named
from crawler.extraction.extractor_fallback import ExtractorFallback, FallbackServer
from crawler.noise.verdict import MODELS, FilterLists, ImageFilter, Judge
from crawler.recrawl.revisit_interval import Bounds
from crawler.topic.topic import SimilarWords
from crawler.translation.message import N_, Message
from crawler.urls.canonical import Canonical
from crawler.urls.guarded_connection import NotAllowedError
from crawler.urls.public_hosts import AllowList

if TYPE_CHECKING:
    from crawler.noise.learned_model import NoiseModel


def canonical_of(settings: BaseSettings) -> Canonical:
    """The function that gives equal addresses one spelling; raises an ArgumentError if its setting is wrong."""
    ignored = settings["IGNORED_PARAMETERS"]
    if isinstance(ignored, str):  # from the command line
        ignored = ignored.split()
    try:
        return Canonical(ignored)
    except ValueError as error:
        raise ArgumentError("setting {name} is wrong: {why}", name="IGNORED_PARAMETERS", why=str(error)) from None


def bounds_of(settings: BaseSettings) -> Bounds:
    """The shortest and longest interval of revisits in seconds; raises an ArgumentError if they are wrong."""
    least = settings.getfloat("RECRAWL_LEAST")
    most = settings.getfloat("RECRAWL_MOST")
    try:
        return Bounds(least, most)
    except ValueError:
        raise ArgumentError(
            "settings RECRAWL_LEAST={least} and RECRAWL_MOST={most} are wrong; allowed are seconds above 0, and "
            "RECRAWL_MOST may not be smaller",
            least=least,
            most=most,
        ) from None


# A site may get ten times SITE_PAGE_LIMIT requests; this number must fit into an INTEGER of PostgreSQL.
MOST_COUNT = 100_000_000
MOST_BYTES = 10**12
COUNT = (0, MOST_COUNT)
AT_LEAST_ONE = (1, MOST_COUNT)
SECONDS = (0.0, 1e9)
SHARE = (0.0, 1.0)
BYTES = (1, MOST_BYTES)
NUMBERS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "DATABASE_RETRY_SECONDS": SECONDS,
        "KEEP_RESPONSES": (0, MOST_BYTES),
        "STATE_KEEP_DAYS": (0, 36_500),
        "RECRAWL_LEAST": SECONDS,
        "RECRAWL_MOST": SECONDS,
        "KEEP_VERSIONS": COUNT,
        "SCHEDULE_AT_ONCE": AT_LEAST_ONE,
        "AUTO_WORKERS_LIMIT": COUNT,
        "STALL_LIMIT": SECONDS,
        "IMAGE_NOISE_MIN_PAGES": COUNT,
        "IMAGE_NOISE_AUDIT": SHARE,
        "IMAGE_MAX_BYTES": BYTES,
        "IMAGE_PAGE_LIMIT": COUNT,
        "IMAGE_SITE_LIMIT": COUNT,
        "RENDER_TABS": (1, 100),
        "RENDER_SECONDS": SECONDS,
        "RENDER_SCROLLS": (0, 1_000),
        "FOCUS_EXPLORATION": SHARE,
        "DOWNLOAD_DELAY": SECONDS,
        "DOWNLOAD_DELAY_JITTER": SHARE,
        "CONCURRENT_REQUESTS_PER_DOMAIN": AT_LEAST_ONE,
        "CONCURRENT_REQUESTS": AT_LEAST_ONE,
        "CONCURRENT_ITEMS": AT_LEAST_ONE,
        "AUTOTHROTTLE_START_DELAY": SECONDS,
        "AUTOTHROTTLE_MAX_DELAY": SECONDS,
        "DOWNLOAD_TIMEOUT": SECONDS,
        "CRAWL_DELAY_LIMIT": SECONDS,
        "BACKOFF_LIMIT": SECONDS,
        "RETRY_TIMES": COUNT,
        "SITE_PAGE_LIMIT": AT_LEAST_ONE,
        "URLLENGTH_LIMIT": AT_LEAST_ONE,
        "REDIRECT_MAX_TIMES": COUNT,
        "DOWNLOAD_MAXSIZE": BYTES,
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": BYTES,
        "DOWNLOAD_WARNSIZE": (0, MOST_BYTES),
        "DOCUMENT_MAX_BYTES": BYTES,
        "LOGSTATS_INTERVAL": SECONDS,
    }
)
"""The smallest and the largest value of each numeric setting. If the smallest is an int, the value must be a whole
number.
"""
CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"EXTRACTOR": tuple(EXTRACTORS), "LOG_LEVEL": ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")}
)
"""The allowed values of settings that are one of several names."""
SWITCHES = tuple(name for name, default in vars(our_settings).items() if isinstance(default, bool))
"""The settings that are True or False."""
WHOLE = re.compile(r"[0-9]{1,15}")
NUMBER = re.compile(r"([0-9]{1,10}\.?[0-9]{0,20}|\.[0-9]{1,20})(e[+-]?[0-9]{1,2})?", re.IGNORECASE)

REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
"""The only reactor that a crawl supports."""
# Settings of Scrapy's scheduler and queues, which the frontier replaces.
SCHEDULER_SETTINGS = (
    "JOBDIR DUPEFILTER_CLASS SCHEDULER_DISK_QUEUE SCHEDULER_MEMORY_QUEUE SCHEDULER_PRIORITY_QUEUE "
    "SCHEDULER_START_DISK_QUEUE SCHEDULER_START_MEMORY_QUEUE"
).split()

COMPONENTS = (
    *("ADDONS", "DOWNLOADER_MIDDLEWARES", "DOWNLOAD_HANDLERS", "EXTENSIONS", "FEED_EXPORTERS", "FEED_STORAGES"),
    *("ITEM_PIPELINES", "SPIDER_MIDDLEWARES"),
)
"""Settings that name components."""
COUNTED_IN_ONE_PROCESS = (
    *("CLOSESPIDER_ERRORCOUNT", "CLOSESPIDER_ITEMCOUNT", "CLOSESPIDER_PAGECOUNT", "CLOSESPIDER_PAGECOUNT_NO_ITEM"),
    "CLOSESPIDER_TIMEOUT_NO_ITEM",
)
"""Limits of Scrapy that each process applies to its own pages and items."""


def check_crawl(settings: BaseSettings, arguments: Arguments) -> None:
    """Raise an ArgumentError unless each setting is right, and the settings can be combined with the arguments."""
    check_settings(settings)
    check_framework(settings)
    canonical_of(settings)
    bounds_of(settings)
    max_depth_of(settings, arguments)
    image_filter_of(settings)
    fallback_of(settings)
    similar_words_of(settings, arguments)
    check_parts(arguments)
    if arguments.workers not in (1, AUTO) and settings.getdict("FEEDS"):
        raise ArgumentError(
            "workers={number} cannot be given with -o, -O or FEEDS, which write the items of one worker; "
            "those of all are in OUTPUT_DIR",
            number=arguments.workers,
        )
    try:
        extractor_named(arguments.extractor or settings["EXTRACTOR"], arguments.favour)
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def needs_one_process(settings: BaseSettings) -> bool:
    """Whether a crawl must be one process: it writes feeds, counts pages or items, or has components of others."""
    counts_items = any(settings.getfloat(name) for name in COUNTED_IN_ONE_PROCESS)
    return bool(settings.getdict("FEEDS")) or counts_items or has_other_components(settings)


def has_other_components(settings: BaseSettings) -> bool:
    """Whether a setting names a component of a package other than Winnow and Scrapy."""
    # Some of these settings have components as keys, others as values.
    for name in COMPONENTS:
        for pair in settings.getdict(name).items():
            for component in pair:
                module = component if isinstance(component, str) else getattr(component, "__module__", "")
                if "." in module and module.partition(".")[0] not in ("crawler", "scrapy"):
                    return True
    return False


def check_parts(arguments: Arguments) -> None:
    """Raise an ArgumentError unless the parts that the arguments need are installed."""
    if arguments.documents:
        try:
            load(Door.DOCUMENTS, "file")
        except MissingPartError as error:
            raise ArgumentError("documents=yes cannot be given, as {why}", why=error.message) from None
    is_usable = find(Door.RENDERERS, "is_usable")
    if arguments.render is Render.ALWAYS and (is_usable is None or not is_usable()):
        raise ArgumentError(
            "render=always needs Playwright and a browser: {installation}", installation=Message(RENDERER_INSTALLATION)
        )


def check_framework(settings: BaseSettings) -> None:
    """Raise an ArgumentError if settings are about Scrapy's scheduler, or choose another reactor."""
    for name in SCHEDULER_SETTINGS:
        if settings.getpriority(name):  # 0 is Scrapy's default
            raise ArgumentError(
                "setting {name} is not allowed: the crawl keeps its requests and seen addresses in its database",
                name=name,
            )
    if settings["TWISTED_REACTOR"] != REACTOR:
        raise _wrong("TWISTED_REACTOR", str(settings["TWISTED_REACTOR"]), Message("are {names}", {"names": [REACTOR]}))
    if not settings.getbool("TWISTED_REACTOR_ENABLED", True):
        raise _wrong("TWISTED_REACTOR_ENABLED", "False", Message("are {names}", {"names": ["True"]}))


def max_depth_of(settings: BaseSettings, arguments: Arguments) -> int | None:
    """The largest distance from the seeds, in links: the smaller of max_depth and Scrapy's DEPTH_LIMIT.

    None without a limit, for which DEPTH_LIMIT is 0. Raises an ArgumentError if DEPTH_LIMIT is wrong.
    """
    limit = str(settings["DEPTH_LIMIT"])
    if not WHOLE.fullmatch(limit):
        values = {"least": "0", "most": f"{MOST_COUNT:,}"}
        raise _wrong("DEPTH_LIMIT", limit, Message("is a whole number from {least} to {most}", values))
    limits = [depth for depth in (arguments.max_depth, int(limit) or None) if depth is not None]
    return min(limits, default=None)


def number_of(settings: BaseSettings, name: str) -> float:
    """The value of a numeric setting; raises an ArgumentError if it is wrong."""
    least, most = NUMBERS[name]
    text = str(settings[name])
    if isinstance(least, int):
        notation = WHOLE
        allowed = N_("is a whole number from {least} to {most}")
    else:
        notation = NUMBER
        allowed = N_("is a number from {least} to {most}")
    if not notation.fullmatch(text) or not least <= float(text) <= most:
        values = {"least": f"{least:,.0f}", "most": f"{most:,.0f}"}
        raise _wrong(name, text, Message(allowed, values))
    return float(text)


def check_settings(settings: BaseSettings) -> None:
    """Raise an ArgumentError unless numbers, choices, switches, retried status codes and private hosts are right."""
    for name in NUMBERS:
        number_of(settings, name)
    for name, allowed in CHOICES.items():
        text = str(settings[name])
        if text not in allowed:
            raise _wrong(name, text, Message("are {names}", {"names": allowed}))
    for name in SWITCHES:
        text = str(settings[name])
        if text.lower() not in ("true", "false", "1", "0"):
            raise _wrong(name, text, Message("is True or False"))
    if not all(str(code).strip().isdigit() for code in settings.getlist("RETRY_HTTP_CODES")):
        raise _wrong("RETRY_HTTP_CODES", str(settings["RETRY_HTTP_CODES"]), Message("are numbers, separated by commas"))
    try:
        AllowList(settings.getlist("ALLOWED_PRIVATE_HOSTS"))
    except ValueError as error:
        raise ArgumentError("{name}: {why}", name="ALLOWED_PRIVATE_HOSTS", why=str(error)) from None


def _wrong(name: str, value: str, allowed: Message) -> ArgumentError:
    """An error about a setting; `allowed` ends a sentence that begins with "allowed", e.g. "is True or False"."""
    return ArgumentError(
        "setting {name}={value} is wrong; allowed {allowed}", name=name, value=repr(value[:100]), allowed=allowed
    )


def extractor_of(settings: BaseSettings) -> Extractor:
    """The extractor; raises an ArgumentError if the setting is wrong."""
    name = str(settings["EXTRACTOR"])
    if name not in EXTRACTORS:
        raise _wrong("EXTRACTOR", name, Message("are {names}", {"names": [*EXTRACTORS]}))
    return EXTRACTORS[name]


def fallback_of(settings: BaseSettings) -> ExtractorFallback | None:
    """The second extractor, if there is one; raises an ArgumentError if the setting is wrong."""
    name = str(settings["EXTRACTOR_FALLBACK"] or "")
    if not name:
        return None
    try:
        if "://" not in name:
            extract = load_object(name)
            if not callable(extract):
                raise TypeError(f"{name} cannot be called")
            return ExtractorFallback(name, extract)
        server = FallbackServer(name, AllowList(settings.getlist("ALLOWED_PRIVATE_HOSTS")))
        server.check()
        return ExtractorFallback(name, server)
    except NotAllowedError:
        raise ArgumentError(
            "setting EXTRACTOR_FALLBACK={value} is wrong: a server must be on this machine, or ALLOWED_PRIVATE_HOSTS "
            "must name it",
            value=repr(name[:100]),
        ) from None
    except Exception as error:  # importing a module may raise anything
        why = str(error) or type(error).__name__
        raise ArgumentError("setting {name} is wrong: {why}", name="EXTRACTOR_FALLBACK", why=why) from None


def similar_words_of(settings: BaseSettings, arguments: Arguments) -> SimilarWords:
    """The words similar to those of the topic; raises an ArgumentError if the file of vectors is wrong."""
    path = settings["FOCUS_VECTORS"]
    if not path:
        return {}
    from crawler.topic.word_vectors import similar_words  # imports numpy, which is slow

    try:
        return similar_words(Path(path), tuple(word for word, _ in arguments.topic.words))
    except ModelFileError as error:
        raise ArgumentError("setting {name} is wrong: {why}", name="FOCUS_VECTORS", why=str(error)) from None


MODEL_LIMIT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
"""A limit in IMAGE_NOISE_MODELS."""


def image_filter_of(settings: BaseSettings) -> ImageFilter:
    """The judge of images and the filter lists; raises an ArgumentError that says which setting is wrong."""
    judge = judge_of(settings)
    paths = [Path(path.strip()) for path in settings.getlist("IMAGE_NOISE_LISTS") if path.strip()]
    if not paths:
        return ImageFilter(judge, None)
    try:
        return ImageFilter(judge, FilterLists(paths))
    except ValueError as error:
        raise ArgumentError("setting {name} is wrong: {why}", name="IMAGE_NOISE_LISTS", why=str(error)) from None


def judge_of(settings: BaseSettings) -> Judge:
    """The judge of images; raises an ArgumentError that says which setting is wrong."""
    limit_of_model = dict(map(_model_and_limit, settings.getlist("IMAGE_NOISE_MODELS")))
    if not limit_of_model:
        raise _wrong_models(Message("it names no model"))
    # `Judge` has a parameter such as `redundancy_limit` for each model with a limit.
    given_limits = {f"{name}_limit": limit for name, limit in limit_of_model.items() if limit is not None}
    return Judge(
        tuple(limit_of_model),
        learned=_weights(settings["IMAGE_NOISE_WEIGHTS"], limit_of_model),
        **given_limits,  # type: ignore[arg-type]
    )


def _model_and_limit(text: str) -> tuple[str, float | None]:
    """The name of a model of IMAGE_NOISE_MODELS, and its limit if one is given."""
    name, colon, limit = (part.strip() for part in str(text).partition(":"))
    if name not in MODELS:
        raise _wrong_models(Message("{name} is not known", {"name": repr(name[:100])}))
    if not colon:
        return name, None
    if name == "size":
        raise _wrong_models(Message("'size' has no limit"))
    if not MODEL_LIMIT.fullmatch(limit) or (float(limit) > 1 and name != "keyword"):
        allowed = Message("a number from 0 to 1")
        if name == "keyword":
            allowed = Message("a number")
        values = {"name": repr(name), "limit": repr(limit[:100]), "allowed": allowed}
        raise _wrong_models(Message("the limit of {name} must be {allowed}, not {limit}", values))
    return name, float(limit)


def _wrong_models(why: Message) -> ArgumentError:
    return ArgumentError(
        "setting IMAGE_NOISE_MODELS is wrong, {why}; allowed are {names}, separated by commas, "
        "and limits such as redundancy:0.3",
        why=why,
        names=list(MODELS),
    )


def _weights(path: str, models: Collection[str]) -> "NoiseModel | None":
    """The learned model in the file of weights; None without a file.

    Without a file, a judge uses the model that comes with the crawler. If `models` contains "learned", this function
    checks that the model can be loaded.
    """
    if not path and "learned" not in models:
        return None
    from crawler.noise.learned_model import load, shipped  # imports numpy, which is slow

    try:
        if path:
            return load(Path(path))
        shipped()  # Load it now, so that an error appears before the first image.
    except ModelFileError as error:
        if path:
            raise ArgumentError("setting {name} is wrong: {why}", name="IMAGE_NOISE_WEIGHTS", why=str(error)) from None
        raise ArgumentError("the model 'learned' cannot judge images: {why}", why=str(error)) from None
    return None
