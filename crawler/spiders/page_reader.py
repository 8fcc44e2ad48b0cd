"""Reads a page into its result: text, relevance, links, images, comparison with its history, and response."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus

from scrapy.http import Headers, Response

from crawler.extraction import version
from crawler.extraction.extractor_fallback import is_doubtful
from crawler.extraction.site_libraries import SiteLibraries
from crawler.frontier import page_result
from crawler.frontier.frontier import Frontier
from crawler.frontier.page_result import AddressKind, Candidate, Lease, LessonKind, Template
from crawler.items import PageItem
from crawler.metadata.address_date import is_home
from crawler.metadata.page_purpose import has_only_names, is_listing, is_login
from crawler.metadata.photo_page import is_photo_page
from crawler.metadata.record_readers import READERS
from crawler.noise.page_images import page_images
from crawler.outcomes import Code, Outcome
from crawler.page.missing_notice import is_missing_notice
from crawler.page.page import Extraction, MadeFrom, Page
from crawler.page.script_signs import lacks_text
from crawler.recrawl.change_check import ChangeDetector
from crawler.recrawl.page_history import ChangeCheck, PageChange
from crawler.rights.page_rights import HEADERS, NO_FILES, SiteFiles, read_rights
from crawler.rights.purpose import LABEL_ONLY, Purpose
from crawler.rights.robots_meta import NOIMAGEAI
from crawler.rights.statement import Rights
from crawler.spiders.crawl_status import OutcomeCounts
from crawler.spiders.feed_texts import FeedTexts
from crawler.spiders.links_and_images import LinkSelector, PageImages, SelectedLinks
from crawler.spiders.named_lists import NamedLists
from crawler.spiders.request_outcomes import SITE_FILES, TRIAL, lease_of, result_of
from crawler.spiders.topic_tracker import PageJudgement, SharedLearning, TopicTracker, example_text
from crawler.topic.page_translations import named_translations
from crawler.urls.address import address_of
from crawler.urls.parsing import route

MAX_VALIDATOR = 1_000  # characters of an ETag or Last-Modified
NOT_TO_BE_KEPT = (Outcome(Code.NOINDEX), Outcome(Code.TEXT_WITHHELD))
"""Outcomes of pages whose owners no longer allow storing them."""
_HEADER_KEYS = {name.title().encode(): name for name in HEADERS}
"""The names of headers about rights, by the keys under which Scrapy keeps them: looking up each name takes longer."""


@dataclass(frozen=True)
class PageReader:
    """Reads pages; each step of `read` uses the results of the steps before."""

    extract: Callable[[Page], Extraction]
    topic: TopicTracker
    learning: SharedLearning
    links: LinkSelector
    frontier: Frontier
    images: PageImages
    comparison: ChangeDetector
    counts: OutcomeCounts
    count_statistic: Callable[[str, int], None]
    lists: NamedLists
    feeds: FeedTexts
    crawl_name: str
    round_number: Callable[[], int]
    """Returns the number of the crawl's round."""
    keeps_listings: bool = False
    """Whether lists of other pages are kept."""
    libraries: SiteLibraries | None = None
    """Templates of hosts, if the method learns them."""
    max_depth: int | None = None
    min_relevance: float = 0.0
    keeps_responses: bool = False
    purpose: Purpose = LABEL_ONLY
    has_fallback: bool = False
    """Whether a second method reads pages in doubt."""

    def read(self, page: Page, response: Response, *, has_browser: bool) -> PageItem:
        """The page as an item with its result; the topic learns from the page."""
        assert response.request is not None  # noqa: S101 - Scrapy has set it
        lease = lease_of(response.request)

        # The text: of the page, or of its entry in a feed. Rights and links are those of the page as served.
        # In place of a page from a feed, the server has sent a wall, a login or a summary, which is not stored.
        served = page
        page = self.feeds.in_place_of(page, lease.candidate) or page
        is_of_feed = page.made_from is MadeFrom.FEED
        extraction = page.once(self.extract)
        cut = page.ended or extraction.ended  # the limit that cut off the rest of the page
        if cut:
            self.counts.count(Outcome(Code.PAGE_CUT, cut))
        if extraction.method:  # the second method has read the page
            self.count_statistic("extractor_fallback/pages", 1)
        elif self.has_fallback and is_doubtful(extraction):
            self.count_statistic("extractor_fallback/failed", 1)
        lessons = self._lessons(page, lease.candidate, extraction)

        # Whether the page may be kept.
        site_files: SiteFiles = response.request.meta.get(SITE_FILES, NO_FILES)
        rights = read_rights(served, rights_headers(response), site_files)
        awaits_browser = not has_browser and lacks_text(page, extraction)
        refusal = self._refusal(page, extraction, lease, awaits_browser) or self._rights_refusal(rights)
        # After any other refusal, a browser would change nothing.
        awaits_browser = awaits_browser and refusal == Outcome(Code.NO_TEXT)
        if awaits_browser:
            self.count_statistic("render/missed", 1)

        # The relevance of the page, and the priorities of its links.
        self.topic.focus.name_translations(lease.candidate.requested or lease.candidate.url, named_translations(served))
        language = READERS["language"](page, extraction)
        judgement = self.topic.judge(lease.candidate, extraction, refusal is None, language)
        page_links = self._links(served, lease.candidate)
        links, priorities = self.topic.score(lease.candidate.requested or lease.candidate.url, page_links)

        # The comparison of the page with its history.
        outcome = refusal
        check = None
        digest = None
        if refusal is None:
            outcome, check = self._compare(page, extraction, lease, judgement.relevance)
            digest = None if is_of_feed else page_result.raw_digest(response.body)
        elif refusal in NOT_TO_BE_KEPT and lease.history is not None:
            check = ChangeCheck(PageChange.NOINDEX)
        is_stored = outcome is None and (check is None or check.change is not PageChange.SAME)

        # The item and the result of the request.
        item = _item(page, response, lease, judgement)
        item.crawl = self.crawl_name
        item.round = self.round_number()
        item.raw_digest = digest
        item.rights = rights.field(item.fetched_at)
        if check is not None:
            item.change = check.change.value
            item.extractor_version = check.extractor_version
            check = replace(check, has_same_bytes=bool(lease.history and digest and lease.history.raw_digest == digest))
        # A frame is the page of an application before its scripts fill it. Neither the validators (ETag and
        # Last-Modified) of a frame nor those of a wall tell whether the text has changed.
        is_frame = awaits_browser or TRIAL in response.request.meta
        request_result = result_of(response.request, outcome)
        item.result = replace(
            request_result,
            check=check,
            lessons=(*request_result.lessons, *lessons),
            links=(*self.lists.of(served), *links, *self._images(page, lease.candidate, rights)),
            priorities=priorities,
            image_counts=self.images.evidence_of(page) if self.images.are_judged and page.document is None else None,
            templates=self._templates(page) if outcome is None else (),
            validators={} if is_of_feed or is_frame else validators(response),
            response=stored_response(response) if is_stored and self.keeps_responses and not is_of_feed else None,
            rights=item.rights,
            robots=site_files.robots if is_stored or lease.history is not None else None,
            awaits_browser=awaits_browser,
        )
        return item

    def _rights_refusal(self, rights: Rights) -> Outcome | None:
        """Why a page must not be used for the purpose of the crawl, by its rights; None if it may be used."""
        signal = self.purpose.refusal(rights.evidence)
        if signal is not None:
            return Outcome(Code.RIGHTS_RESERVED, signal)
        return None

    def _refusal(self, page: Page, extraction: Extraction, lease: Lease, awaits_browser: bool) -> Outcome | None:
        """Why a page may not be kept, whatever its topic; None if it may.

        A seed is kept even if it is a list of pages. A page that awaits a browser is refused because it has no text:
        whether its owner withholds the text is not known yet.
        """
        if "noindex" in page.robots:
            return Outcome(Code.NOINDEX)
        if page.withheld.is_whole and not awaits_browser:
            return Outcome(Code.TEXT_WITHHELD)
        if is_login(page, extraction):
            return Outcome(Code.LOGIN_FORM)
        if lease.history is None and _is_missing(page, extraction):  # for a stored page, `_compare` decides
            return Outcome(Code.MISSING)
        shows_images = self.images.are_requested and bool(page.images)
        is_empty = not extraction.text.strip() and lease.history is None  # a stored page without text has changed
        if (is_empty or awaits_browser) and not shows_images:
            return Outcome(Code.NO_TEXT)
        if self.keeps_listings or lease.candidate.kind is AddressKind.SEED:
            return None
        if is_listing(page, extraction):
            return Outcome(Code.LISTING)
        if is_photo_page(page, extraction):
            return Outcome(Code.PHOTO_PAGE)
        if has_only_names(page, extraction) and not shows_images and lease.history is None:
            return Outcome(Code.NO_TEXT)
        return None

    def _lessons(self, page: Page, candidate: Candidate, extraction: Extraction) -> tuple[tuple[LessonKind, str], ...]:
        """The page as an example of the topic, if the topic needs examples; it is learned at once.

        If a topic is given, seeds are examples, except front pages, which may have many topics. If no topic is given,
        all seeds are examples, and so are the pages in lists that are seeds.
        """
        examples = self.topic.examples
        if candidate.depth > 0 or not examples.are_sought:
            return ()
        if examples.topic.given and (candidate.kind is not AddressKind.SEED or is_home(page.url)):
            return ()
        example = (LessonKind.SEED, example_text(page, extraction))
        self.learning.take_in(*example)
        return (example,)

    def _links(self, page: Page, candidate: Candidate) -> SelectedLinks:
        """The links of the page; none if it forbids following them, is at `max_depth`, or was the last page to read."""
        if "nofollow" in page.robots:
            for link in page.links:
                self.counts.mark_nofollow(link.url)
            return SelectedLinks()
        if self.frontier.full or (self.max_depth is not None and candidate.depth >= self.max_depth):
            return SelectedLinks()
        self.counts.count(Outcome(Code.LINKS_CUT), page.cut)
        return self.links.of(page, candidate.depth + 1)

    def _images(self, page: Page, candidate: Candidate, rights: Rights) -> tuple[Candidate, ...]:
        """The new images of the page, if images are requested and the page does not reserve them."""
        is_reserved = self.purpose.leaves_out_images and NOIMAGEAI in page.robots
        if not self.images.are_requested or is_reserved or self.purpose.refusal(rights.evidence) is not None:
            return ()
        self.counts.count(Outcome(Code.IMAGES_CUT), self.images.cut_count(page))
        images = self.images.candidates(page, candidate.depth, self.frontier.seen)
        images_within_limit = self.images.within_site_limit(images, page)
        self.counts.count(Outcome(Code.SITE_IMAGES_CUT), len(images) - len(images_within_limit))
        return tuple(images_within_limit)

    def _compare(
        self, page: Page, extraction: Extraction, lease: Lease, relevance: float
    ) -> tuple[Outcome | None, ChangeCheck | None]:
        """Why the page is not stored, or None; and the comparison with its history, if it was compared.

        A stored page whose text is the same stays stored even if it is off topic now.
        """
        is_off_topic = relevance < self.min_relevance
        if is_off_topic and lease.history is None:
            return Outcome(Code.OFF_TOPIC), None
        check = self.comparison.check(page, extraction, lease.compared_history)
        has_other_text = lease.history is not None and check.change in (PageChange.NEW, PageChange.CHANGED)
        if has_other_text and _is_missing(page, extraction, was_there=True):
            return Outcome(Code.MISSING), ChangeCheck(PageChange.MISSING)
        if is_off_topic and check.change is not PageChange.SAME:
            return Outcome(Code.OFF_TOPIC), None
        return None, check

    def _templates(self, page: Page) -> tuple[Template, ...]:
        """The templates that are learned from this page and the pages of its host before it."""
        if self.libraries is None or page.document is not None:
            return ()
        host = address_of(page.url).host
        return tuple(Template(host, label.tag, label.text) for label in self.libraries.learn(page))


def _is_missing(page: Page, extraction: Extraction, *, was_there: bool = False) -> bool:
    """Whether a web page only says that it does not exist."""
    titles = (page.title, extraction.title)
    return page.document is None and is_missing_notice(extraction.text, titles, was_there=was_there)


def read_alone(response: Response, method: str, extract: Callable[[Page], Extraction]) -> PageItem:
    """The item of a page outside any crawl: its text and metadata, without relevance and links."""
    assert response.request is not None  # noqa: S101 - Scrapy has set it
    page = page_of(response)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    item = PageItem(response.url, response.request.url, now, response.status, depth=0, parent=None, extractor=method)
    item.extractor_version = version(method)
    item.raw_digest = page_result.raw_digest(response.body)
    extraction = page.once(extract)
    for name, read in READERS.items():
        setattr(item, name, read(page, extraction))
    item.images = page_images(page, extraction)
    item.rights = read_rights(page, rights_headers(response)).field(now)
    return item


def page_of(response: Response) -> Page:
    """The page in a response. The fragment of the leased address, which was not sent, is added again if it is a route
    of an application.
    """
    lease: Lease | None = response.request.meta.get("lease") if response.request is not None else None
    url = response.url + (route(lease.candidate.url) if lease is not None else "")
    content_type = header(response.headers, "Content-Type")
    return Page(
        url=url,
        body=response.body,
        content_type=content_type,
        robots_header=header(response.headers, "X-Robots-Tag", "\n"),
    )


def _item(page: Page, response: Response, lease: Lease, judgement: PageJudgement) -> PageItem:
    """The page as an item, which the pipelines complete."""
    candidate = lease.candidate
    item = PageItem(
        url=response.url + route(candidate.url),
        requested_url=candidate.requested or candidate.url,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        status=response.status,
        depth=candidate.depth,
        parent=candidate.parent,
    )
    item.page = page
    item.lease = lease
    item.made_from = page.made_from
    item.relevance = judgement.relevance
    item.link_score = judgement.link_score
    item.via = judgement.via.value  # a plain text, as not all of Scrapy's exporters write enumerations
    if lease.history:
        item.link_score = lease.history.link_score  # the priority of a known page is its relevance
        item.first_seen = lease.history.first_seen
    return item


def rights_headers(response: Response) -> dict[str, str]:
    """The headers of a response that declare how it may be used, by their names in `HEADERS`."""
    sent_keys = _HEADER_KEYS.keys() & response.headers.keys()
    return {_HEADER_KEYS[key]: header(response.headers, _HEADER_KEYS[key]) for key in sent_keys}


def validators(response: Response) -> dict[str, str]:
    """ETag and Last-Modified of a response."""
    sent_values = {name.lower().replace("-", "_"): header(response.headers, name) for name in ("ETag", "Last-Modified")}
    return {name: value[:MAX_VALIDATOR] for name, value in sent_values.items() if value}


def header(headers: Headers, name: str, separator: str = ", ") -> str:
    """All values of a header as one text."""
    return separator.join(value.decode("latin-1") for value in headers.getlist(name))


REASON_PHRASES = {status.value: status.phrase for status in HTTPStatus}
"""The standard reason phrases, by status."""
SECRET_HEADERS = frozenset(("authorization", "cookie", "proxy-authorization", "set-cookie"))
"""Headers that are not stored: whoever reads them could act as the operator of the crawl."""


def stored_response(response: Response) -> page_result.StoredResponse:
    """The response to store, with its request. Its reason phrase is the standard one, as Scrapy drops the server's."""
    assert response.request is not None  # noqa: S101 - Scrapy has set it
    request = response.request
    protocol = response.protocol or "HTTP/1.1"
    return page_result.StoredResponse(
        status_line=f"{protocol} {response.status} {REASON_PHRASES.get(response.status, '')}",
        headers=tuple(_pairs(response.headers)),
        body=response.body,
        request_line=f"{request.method} {request_target(request.url)} {protocol}",
        request_headers=tuple(_pairs(request.headers)),
    )


def request_target(url: str) -> str:
    """The path and the query of an address, as a request line has them.

    >>> request_target("http://a.example"), request_target("http://a.example/b?c#d")
    ('/', '/b?c')
    """
    address = address_of(url)
    if address.query:
        return f"{address.path}?{address.query}"
    return address.path


def _pairs(headers: Headers) -> Iterator[tuple[str, str]]:
    """The names and values of the headers that may be stored."""
    for name, values in headers.items():
        if name.decode("latin-1").lower() not in SECRET_HEADERS:
            for value in values:
                yield name.decode("latin-1"), value.decode("latin-1")
