"""Builds a crawl: reads arguments and settings once, creates the parts, and passes each part what it needs.

The first worker of a crawl is the one that the user has started; it may start others, which share its files.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import inf
from operator import itemgetter
from pathlib import Path
from time import monotonic, sleep
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler import demo
from crawler.arguments import AUTO, Arguments, Refresh, Render
from crawler.checked_settings import (
    bounds_of,
    canonical_of,
    fallback_of,
    max_depth_of,
    needs_one_process,
    similar_words_of,
)
from crawler.doors import Door, find, load
from crawler.errors import DatabaseUnavailableError
from crawler.extraction import LEARNING, Extractor, extractor_named
from crawler.extraction.document_text import with_documents
from crawler.extraction.extractor_fallback import with_fallback
from crawler.extraction.site_libraries import SiteLibraries
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy
from crawler.frontier.scope import Scope
from crawler.outcomes import Group
from crawler.page.document_type import ENDINGS
from crawler.processes.machine import GARBAGE_THRESHOLD
from crawler.recrawl.change_check import ChangeDetector
from crawler.settings import LOG_LEVEL, user_agent
from crawler.spiders.crawl_status import CrawlStatus, EndReason, OutcomeCounts
from crawler.spiders.demo_site import serve_demo
from crawler.spiders.document_and_browser_interfaces import Documents, Rendering
from crawler.spiders.fallback_threads import FallbackThreads
from crawler.spiders.feed_texts import FeedTexts
from crawler.spiders.links_and_images import EvidenceCache, LinkSelector, PageImages
from crawler.spiders.named_lists import NamedLists
from crawler.spiders.new_topic import score_again
from crawler.spiders.page_reader import PageReader
from crawler.spiders.redirect_targets import Redirects
from crawler.spiders.request_outcomes import Leases
from crawler.spiders.topic_tracker import Examples, SharedLearning, TopicTracker
from crawler.store.database import database_errors, database_url, open_database
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.topic.focus import TopicFocus
from crawler.topic.link_scores import FocusOptions
from crawler.topic.stop_rule import ON_TOPIC, Harvest, HarvestCounts
from crawler.topic.topic import SimilarWords
from crawler.urls.address import without_port
from crawler.workers.worker_report import WorkerReport

logger = logging.getLogger(__name__)

SEED_PRIORITY = 10_000
"""The priority of seeds, above the priorities of all links."""
MIN_CHANCE = 0.01
"""The default of the argument `min_chance` for a topic that the user gives: less likely links wait. The chance to lead
to the topic is calibrated (topic/link_chances.py).
"""
MOST_SIMILAR_NAMED = 10
"""How many of the words that the user's vectors add to the topic are named in the log."""
NUDGE = Request("data:,", dont_filter=True)
"""A request that is never sent: it makes the engine ask the scheduler for the next request."""
RESTS = ("BACKOFF_LIMIT", "CRAWL_DELAY_LIMIT", "AUTOTHROTTLE_MAX_DELAY", "DOWNLOAD_DELAY")
"""The settings that limit the rest of a host: a longer rest in the database can only come from a wrong clock."""
# Loggers of Scrapy that list its components at every start; -L DEBUG shows their lines.
NOISY_LOGGERS = ("scrapy.addons", "scrapy.middleware", "scrapy.crawler")
# Components of Scrapy that a crawl does not use, by setting; other spiders of the project keep them.
UNUSED_COMPONENTS = {
    "DOWNLOAD_HANDLERS_BASE": ("file", "ftp", "s3", "data"),  # all schemes except http and https
    "DOWNLOADER_MIDDLEWARES_BASE": (
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",  # the scope is checked before a request is built
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware",
    ),
    "SPIDER_MIDDLEWARES_BASE": (
        "scrapy.spidermiddlewares.depth.DepthMiddleware",  # candidates have their depth; the scope checks addresses
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
    ),
    "EXTENSIONS_BASE": ("scrapy.extensions.logstats.LogStats",),
}


@dataclass(frozen=True)
class Crawl:
    """The parts of one crawl."""

    arguments: Arguments
    settings: BaseSettings
    session: WorkerSession
    frontier: Frontier
    status: CrawlStatus
    counts: OutcomeCounts
    leases: Leases
    scope: Scope
    topic: TopicTracker
    images: PageImages
    evidence: EvidenceCache
    learning: SharedLearning
    redirects: Redirects
    method: str
    """The name of the extractor."""
    reader: PageReader
    documents: Documents | None
    """None if no reader of documents and text files is installed."""
    rendering: Rendering | None = None
    """None if no page is rendered in a browser."""
    fallback: FallbackThreads | None = None
    """None if there is no second extractor."""
    reports: dict[int, WorkerReport] = field(default_factory=dict)
    """The last report of each further worker that this one has started, even if it died, by the key of the worker."""

    @property
    def has_browser(self) -> bool:
        """Whether pages can be rendered: one is installed and starts, and the crawl may use it."""
        return self.rendering is not None and self.rendering.has_browser

    @property
    def pages(self) -> int:
        """How many pages this worker and the workers that it has started have stored."""
        return self.frontier.pages + sum(report.pages for report in self.reports.values())

    @property
    def items(self) -> int:
        """How many of these pages are new or changed, and so became lines of the item files."""
        return self.frontier.items + sum(report.items for report in self.reports.values())

    @property
    def harvest(self) -> HarvestCounts:
        """How many pages these workers read, and how many of them are on the topic."""
        harvest = self.topic.harvest.counts
        for report in self.reports.values():
            harvest = harvest.plus(report.harvest)
        return harvest

    def statistic_of_others(self, name: str) -> int:
        """A statistic, summed over the workers that this one has started."""
        return sum(report.statistics.get(name, 0) for report in self.reports.values())

    def outcomes_of_others(self, group: Group) -> int:
        """How many outcomes of a group were counted by the workers that this one has started."""
        counts_of_workers = (report.statistics for report in self.reports.values())
        return sum(
            count for counts in counts_of_workers for name, count in counts.items() if name.startswith(f"{group}/")
        )

    def follow_harvest(self) -> None:
        """Set the statistics of the harvest, and end the crawl if too few of the last pages are on the topic."""
        stats = self.status.crawler.stats
        harvest = self.harvest
        stats.set_value("focus/pages", harvest.pages)
        stats.set_value("focus/on_topic", harvest.on_topic)
        stats.set_value("focus/harvest", round(harvest.share, 4))
        if harvest.ends(self.arguments.stop_when) and self.status.exhausted_at is None:
            self.status.exhausted_at = harvest
            self.status.end(EndReason.HARVEST)

    @property
    def is_fruitless(self) -> bool:
        """Whether all seeds failed and no page was stored in this round."""
        pages = self.pages or self.frontier.all_pages
        return bool(self.status.seeds_failed) and not self.status.seeds_answered and not pages


_crawls: WeakKeyDictionary[Crawler, Crawl] = WeakKeyDictionary()


def crawl_of(crawler: Crawler) -> Crawl:
    """The crawl that a Scrapy crawler runs; components take their arguments from it.

    Raises NotConfigured for other spiders than topic, so that Scrapy leaves the component out.
    """
    if crawler not in _crawls:
        raise NotConfigured  # without a message, as nothing is wrong
    return _crawls[crawler]


def wake_engine(crawler: Crawler) -> None:
    """Have the engine look for requests that it may send; it looks itself only every 5 seconds."""
    engine = crawler.engine
    if engine is not None and engine.spider is not None:
        engine.crawl(NUDGE)


def has_failed(crawler: Crawler) -> bool:
    """Whether a crawl stored nothing, or its state could not be saved."""
    if crawler.spider is None:
        return False
    crawl = crawl_of(crawler)
    return bool(crawl.status.broken) or crawl.is_fruitless


def prepare_process(settings: BaseSettings, quiet_loggers: Iterable[str] = ()) -> None:
    """Set the log levels of a crawl's process, and how rarely Python looks for cyclic garbage.

    The process of a further worker does not show the lines of the `quiet_loggers`: the first worker has the same lines.
    """
    level = settings["LOG_LEVEL"]
    logging.getLogger().setLevel(level)  # records that are not shown are not formatted either
    if level == LOG_LEVEL:
        for name in (*NOISY_LOGGERS, *quiet_loggers):
            logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # the committer reports lost connections
    gc.freeze()  # loaded modules are never collected
    gc.set_threshold(GARBAGE_THRESHOLD)


def build(crawler: Crawler, arguments: Arguments, session: WorkerSession | None = None) -> Crawl:
    """Build the crawl with these arguments. Without a session, join the crawl, and begin a round if one is due."""
    settings = crawler.settings
    # A script, which builds a crawl without a session, gets the items and signals of its own process only.
    if arguments.workers == AUTO and (session is None or needs_one_process(settings)):
        arguments = replace(arguments, workers=1)
    if session is None:
        session = join_crawl(arguments, settings)
        begin_round(session, arguments)

    # Only the first worker serves the demo site and queues the seeds.
    is_first = session.plan.shared_files is None
    seeds = arguments.seeds
    if arguments.demo and is_first:
        seeds = (serve_demo(crawler, session),)
    elif arguments.demo:
        seeds = (session.known_seed() or demo.ADDRESS,)
    _remove_unused_components(settings)
    _set_headers(settings, arguments)

    def count_statistic(name: str, by: int) -> None:
        crawler.stats.inc_value(name, by)  # the stats are created after the crawl

    # The extractor, with the learning of templates, the fallback and the reader of documents around it.
    method = arguments.extractor or settings["EXTRACTOR"]
    extract = extractor_named(method, arguments.favour)
    libraries = None
    if method in LEARNING:
        libraries = SiteLibraries(extract, LEARNING[method], count_statistic)
        extract = libraries.extract
    extract_without_fallback = extract
    fallback = fallback_of(settings)
    fallback_name = ""
    if fallback is not None:
        fallback_name = fallback.name
        extract = with_fallback(extract, fallback)
    extract = with_documents(extract)

    # The parts. Each gets the earlier parts that it needs.
    documents = _documents(crawler, reads_files=arguments.documents)
    counts = OutcomeCounts(count_statistic)
    frontier = Frontier(session.committer.keys, _limits(crawler), arguments.max_pages, counts.count)
    status = CrawlStatus(crawler)
    scope = _scope(settings, arguments, seeds)
    topic = _topic(settings, arguments, session)
    evidence = EvidenceCache()
    images = _images(settings, arguments, extract)
    learning = SharedLearning(scope, topic, evidence, libraries)
    reader = PageReader(
        extract=extract,
        topic=topic,
        learning=learning,
        links=LinkSelector(scope, images, counts, frontier, arguments.lang or arguments.topic.languages),
        frontier=frontier,
        images=images,
        comparison=ChangeDetector(method, arguments.favour, extract, fallback_name),
        counts=counts,
        count_statistic=count_statistic,
        lists=NamedLists(scope, topic, counts, are_followed=max_depth_of(settings, arguments) is None),
        feeds=FeedTexts(extract, session.committer.keys, count_statistic),
        keeps_listings=arguments.listings,
        crawl_name=arguments.name,
        round_number=lambda: session.committer.round.number,
        libraries=libraries,
        max_depth=max_depth_of(settings, arguments),
        min_relevance=arguments.min_relevance or 0.0,
        keeps_responses=settings.getint("KEEP_RESPONSES") > 0,
        purpose=arguments.purpose,
        has_fallback=fallback is not None,
    )
    fallback_threads = None
    if fallback is not None:
        fallback_threads = FallbackThreads(extract_without_fallback, extract)

    committer = session.committer
    _configure_committer(session, reader, settings)
    if is_first:
        seed_candidates = [Candidate(seed, SEED_PRIORITY, kind=AddressKind.SEED, via=FoundBy.SEED) for seed in seeds]
        session.seed([*topic.examples.candidates(SEED_PRIORITY + 1), *seed_candidates])
    _crawls[crawler] = Crawl(
        arguments=arguments,
        settings=settings,
        session=session,
        frontier=frontier,
        status=status,
        counts=counts,
        leases=Leases(frontier, counts, status, count_statistic, lambda: not committer.round.is_first),
        scope=scope,
        topic=topic,
        images=images,
        evidence=evidence,
        learning=learning,
        redirects=Redirects(scope, frontier, settings.getint("REDIRECT_MAX_TIMES")),
        method=method,
        reader=reader,
        documents=documents,
        rendering=_rendering(crawler, arguments, reader),
        fallback=fallback_threads,
    )
    return _crawls[crawler]


def _documents(crawler: Crawler, *, reads_files: bool) -> Documents | None:
    if reads_files:
        reader_class = load(Door.DOCUMENTS, "crawl")
    else:
        reader_class = find(Door.DOCUMENTS, "crawl")
    if reader_class is None:
        return None

    def widen_limit(by: int) -> None:
        """Let Scrapy hold `by` more bytes of responses at the same time, and have it look for further requests."""
        slot = None
        if crawler.engine is not None:
            slot = crawler.engine.scraper.slot
        if slot is not None:  # otherwise the crawl has ended
            slot.max_active_size += by
            wake_engine(crawler)

    documents: Documents = reader_class(
        crawler.settings.getint("DOCUMENT_MAX_BYTES"), widen_limit, reads_files=reads_files
    )
    return documents


def _configure_committer(session: WorkerSession, reader: PageReader, settings: BaseSettings) -> None:
    session.committer.responses.limit = settings.getint("KEEP_RESPONSES")
    session.committer.reads_templates = reader.libraries is not None
    session.committer.enough_pages = 0
    if reader.images.are_judged:
        session.committer.enough_pages = settings.getint("IMAGE_NOISE_MIN_PAGES")


def _remove_unused_components(settings: BaseSettings) -> None:
    """Remove Scrapy's components that a crawl does not use."""
    for base, components in UNUSED_COMPONENTS.items():
        settings[base].update(dict.fromkeys(components))  # Scrapy leaves out a component whose value is None


def _set_headers(settings: BaseSettings, arguments: Arguments) -> None:
    """Set the headers that tell sites who sends the requests, and which languages are preferred."""
    settings.set("USER_AGENT", user_agent(settings["CONTACT"]), priority="project")
    if arguments.lang:
        headers = settings.getdict("DEFAULT_REQUEST_HEADERS")
        headers["Accept-Language"] = ", ".join(sorted(arguments.lang))
        settings.set("DEFAULT_REQUEST_HEADERS", headers, priority="spider")


def _scope(settings: BaseSettings, arguments: Arguments, seeds: tuple[str, ...]) -> Scope:
    documents: frozenset[str] = frozenset()
    if arguments.documents:
        documents = frozenset(ENDINGS)
    scope = Scope(
        kind=arguments.scope,
        allow=arguments.allow,
        deny=arguments.deny,
        max_length=settings.getint("URLLENGTH_LIMIT"),
        avoid=arguments.topic.avoid,
        documents=documents,
    )
    for seed in seeds:
        scope.add_home(seed)
    return scope


def _topic(settings: BaseSettings, arguments: Arguments, session: WorkerSession) -> TopicTracker:
    options = FocusOptions(exploration=settings.getfloat("FOCUS_EXPLORATION"), min_chance=_min_chance(arguments))
    similar = similar_words_of(settings, arguments)
    if settings["FOCUS_VECTORS"] and arguments.topic.words and session.plan.shared_files is None:
        _log_similar_words(similar)  # only the first worker logs them
    focus = TopicFocus(
        arguments.topic,
        options,
        worker_number=session.number,
        similar=similar,
        languages=arguments.lang,
        on_topic=_on_topic(arguments),
    )
    return TopicTracker(focus, Examples(arguments.topic), Harvest(bound=_on_topic(arguments)))


def _log_similar_words(similar: SimilarWords) -> None:
    """Log how many words the vectors add to the topic, and the most similar of them."""
    pairs = [pair for similar_words in similar.values() for pair in similar_words]
    pairs.sort(key=itemgetter(1), reverse=True)
    words = list(dict.fromkeys(word for word, _ in pairs))
    if not similar:
        logger.warning("FOCUS_VECTORS has none of the words of the topic")
    elif not words:
        logger.warning("FOCUS_VECTORS has no words similar to those of the topic")
    else:
        logger.info("FOCUS_VECTORS adds words to the topic: %d; %s", len(words), ", ".join(words[:MOST_SIMILAR_NAMED]))


def _on_topic(arguments: Arguments) -> float:
    """The relevance from which a page is on the topic."""
    if arguments.min_relevance is None:
        return ON_TOPIC
    return arguments.min_relevance


def _min_chance(arguments: Arguments) -> float:
    """The chance to lead to the topic below which links wait."""
    if arguments.min_chance is not None:
        return arguments.min_chance
    if arguments.topic.given:
        return MIN_CHANCE
    return 0.0


def _images(settings: BaseSettings, arguments: Arguments, extract: Extractor) -> PageImages:
    return PageImages(
        extract=lambda page: page.once(extract),
        are_requested=arguments.images,
        are_judged=settings.getbool("IMAGE_NOISE_ENABLED"),
        max_bytes=settings.getint("IMAGE_MAX_BYTES"),
        page_limit=settings.getint("IMAGE_PAGE_LIMIT"),
        site_limit=settings.getint("IMAGE_SITE_LIMIT"),
    )


def _rendering(crawler: Crawler, arguments: Arguments, reader: PageReader) -> Rendering | None:
    if arguments.render is Render.NEVER:
        return None
    crawl_rendering = find(Door.RENDERERS, "crawl")
    if crawl_rendering is None:
        return None
    rendering: Rendering | None = crawl_rendering(crawler, reader, is_always=arguments.render is Render.ALWAYS)
    return rendering


def slot_of(crawler: Crawler, name: str) -> Slot | None:
    """The downloader's slot for a host, by name with or without port, if it has one."""
    if crawler.engine:
        # Scrapy names slots by host, without the port and without the brackets of an IPv6 address.
        return crawler.engine.downloader.slots.get(without_port(name).strip("[]"))
    return None


def may_share_hosts(settings: BaseSettings) -> bool:
    """Whether several workers may request one host: not if it has an interval, which only a single worker can keep.

    >>> from scrapy.settings import Settings
    >>> may_share_hosts(Settings({"CONCURRENT_REQUESTS_PER_DOMAIN": 8}))
    True
    >>> may_share_hosts(Settings({"DOWNLOAD_SLOTS": {"a.example": {"delay": 2}}, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}))
    False
    """
    slots = settings.getdict("DOWNLOAD_SLOTS").values()
    if settings.getfloat("DOWNLOAD_DELAY") or any(slot.get("delay") for slot in slots):
        return False
    return not settings.getbool("AUTOTHROTTLE_ENABLED") and settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") > 1


def _limits(crawler: Crawler) -> LimitSettings:
    """The limits on requests to hosts, by the settings and the current delays of AutoThrottle."""
    settings = crawler.settings
    at_once = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    first_interval = settings.getfloat("DOWNLOAD_DELAY")

    def interval(name: str) -> float:
        slot = slot_of(crawler, name)
        if slot is None:
            return first_interval
        return slot.delay

    def sent_at(name: str) -> float:
        slot = slot_of(crawler, name)
        if slot is None:
            return -inf
        return slot.lastseen

    slots = settings.getdict("DOWNLOAD_SLOTS")
    return LimitSettings(
        usual_at_once=at_once,
        of_hosts={name: slot.get("concurrency", at_once) for name, slot in slots.items()},
        interval=interval,
        sent_at=sent_at,
        requests=settings.getint("CONCURRENT_REQUESTS"),
        shared=may_share_hosts(settings),
    )


def join_crawl(arguments: Arguments, settings: BaseSettings, shared_files: int | None = None) -> WorkerSession:
    """Join the crawl of this name; raises a StateError if that fails. `shared_files` is explained in `CrawlPlan`."""
    folder = Path(settings["OUTPUT_DIR"])
    plan = CrawlPlan(
        name=arguments.name,
        seeds=arguments.seeds or ("demo",),  # without seeds, the demo site is crawled
        folder=folder,
        canonical=canonical_of(settings),
        site_limit=settings.getint("SITE_PAGE_LIMIT"),
        max_pages=arguments.max_pages,
        longest_rest=max(map(settings.getfloat, RESTS)),
        fresh=arguments.fresh,
        images=arguments.images,
        first_interval=_first_interval(settings),
        bounds=bounds_of(settings),
        versions=settings.getint("KEEP_VERSIONS"),
        on_topic=_on_topic(arguments),
        limits_tries=_min_chance(arguments) > 0,
        shared_files=shared_files,
        topic=arguments.topic.text,
        topic_digest=arguments.topic.digest,
        retopic=arguments.retopic,
    )

    # The session. Its constructor joins the crawl.
    url = database_url(settings["STATE_URL"], folder)
    retry_seconds = settings.getfloat("DATABASE_RETRY_SECONDS")
    session = _with_retries(lambda: _join(url, plan), retry_seconds)
    session.committer.retry_seconds = retry_seconds

    if session.changes_topic:
        try:
            pages = score_again(session, arguments, similar_words_of(settings, arguments))
            logger.info("%d stored pages were scored by the new topic", pages)
        except BaseException:
            session.leave()
            raise
    return session


def _first_interval(settings: BaseSettings) -> float:
    """The seconds between two requests to a host that has not answered yet."""
    interval = settings.getfloat("DOWNLOAD_DELAY")
    if settings.getbool("AUTOTHROTTLE_ENABLED"):
        return max(interval, settings.getfloat("AUTOTHROTTLE_START_DELAY"))
    return interval


def _join(url: URL, plan: CrawlPlan) -> WorkerSession:
    engine = open_database(url)
    try:
        with database_errors(url):
            return WorkerSession(engine, plan)
    except BaseException:
        engine.dispose()
        raise


def _with_retries(join: Callable[[], WorkerSession], retry_seconds: float) -> WorkerSession:
    """Open the session, retrying while the database is locked, full or unreachable."""
    ends_at = monotonic() + retry_seconds
    has_warned = False
    while True:
        try:
            return join()
        except DatabaseUnavailableError as error:
            if monotonic() > ends_at:
                raise
            if not has_warned:
                logger.warning("Waiting: %s", error)
            has_warned = True
            sleep(min(1.0, retry_seconds))


def begin_round(session: WorkerSession, arguments: Arguments) -> bool:
    """Begin the next round if the current one is done and pages are due; returns whether the crawl has work."""
    seeds = arguments.seeds or (session.known_seed() or demo.ADDRESS,)
    return session.begin(seeds, arguments.refresh is Refresh.ALL)
