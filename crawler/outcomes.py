"""The possible outcomes of a request, or of a record in an archive or a folder. Each has a code, a sentence for people,
and at most one parameter.

Storage, statistics and conditions use the codes. An address that yielded a page or an image has no outcome.
"""

from collections import Counter
from enum import StrEnum
from http import HTTPStatus
from string import Formatter
from typing import NamedTuple, Self

from crawler.page.document import MAX_PAGES, MAX_TEXT, Fault
from crawler.page.html_tree import MAX_ATTRIBUTES, MAX_BLOCKS, MAX_BYTES, MAX_LEVELS, MAX_TAGS, Cut
from crawler.page.image_file import NonImage
from crawler.translation.message import N_, Message, plural


class Group(StrEnum):
    """A group of codes."""

    DONE = "done"
    """The address served its purpose, which is not to yield a page."""
    SKIPPED = "skipped"
    NOISE = "noise"
    """An image that was judged as noise."""
    PUT_OFF = "put_off"
    """Not requested, because addresses of the same pattern brought nothing."""
    FAILED = "failed"


class Code(StrEnum):
    """All outcomes; each member has its group and its sentence."""

    group: Group
    sentence: str
    parameter: str
    """The placeholder in the sentence, such as `why`; empty if the sentence has none."""

    def __new__(cls, code: str, group: Group = Group.DONE, sentence: str = "") -> Self:
        """A member that compares equal to its code and is stored as its code."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.group = group
        member.sentence = sentence
        member.parameter = next((name for _, name, _, _ in Formatter().parse(sentence) if name), "")
        return member

    LIST = "list", Group.DONE, N_("list of addresses")
    REDIRECTED = "redirected", Group.DONE, N_("redirect")
    EXAMPLE = "example", Group.DONE, N_("example of the topic")
    COUNTEREXAMPLE = "counterexample", Group.DONE, N_("counterexample")

    # Before the request.
    NOFOLLOW = "nofollow", Group.SKIPPED, N_("nofollow")
    OUTSIDE_SCOPE = "outside_scope", Group.SKIPPED, N_("outside the scope")
    OUTSIDE_ALLOW = "outside_allow", Group.SKIPPED, N_("outside allow")
    INSIDE_DENY = "inside_deny", Group.SKIPPED, N_("inside deny")
    AVOIDED_DOMAIN = "avoided_domain", Group.SKIPPED, N_("excluded domain")
    ADDRESS_TOO_LONG = "address_too_long", Group.SKIPPED, N_("address too long")
    SOURCE_OF_PAGE = "source_of_page", Group.SKIPPED, N_("text file that its page was made from")
    PATH_REPEATS = "path_repeats", Group.SKIPPED, N_("path repeats itself")
    ROUTE = (
        "route",
        Group.SKIPPED,
        N_("route of an application (after #/ or #!/), which only a rendered page shows"),
    )
    ROBOTS_FORBIDS = "robots_forbids", Group.SKIPPED, N_("refused by robots.txt")
    ROBOTS_UNREADABLE = "robots_unreadable", Group.SKIPPED, N_("robots.txt cannot be read: {why}")
    RIGHTS_RESERVED = "rights_reserved", Group.SKIPPED, N_("use is reserved: {signal}")
    CRAWL_DELAY_TOO_LONG = (
        "crawl_delay_too_long",
        Group.SKIPPED,
        N_("robots.txt asks for longer pauses than CRAWL_DELAY_LIMIT"),
    )
    HOST_CLOSED = "host_closed", Group.SKIPPED, N_("site asked to stop (429 or 503)")
    HOST_WALLED = "host_walled", Group.SKIPPED, N_("site is behind a wall against robots: {service}")
    SITE_BUDGET_SPENT = "site_budget_spent", Group.SKIPPED, N_("page budget of the site is spent")
    ERASED = "erased", Group.SKIPPED, N_("erased, and not to be requested again")
    NOT_PUBLIC = "not_public", Group.SKIPPED, N_("address is not public")
    REFUSED = "refused", Group.FAILED, "{message}"
    NOISE = "noise", Group.NOISE, "{model}"
    UNPRODUCTIVE = "unproductive", Group.PUT_OFF, "{pattern}"

    # After the answer.
    REDIRECT_REFUSED = "redirect_refused", Group.SKIPPED, N_("redirected: {why}")
    REDIRECT_TO_KNOWN = "redirect_to_known", Group.SKIPPED, N_("redirected to a page already known")
    REDIRECT_TO_NOTHING = "redirect_to_nothing", Group.SKIPPED, N_("redirected to something other than a web address")
    NOT_HTML = "not_html", Group.SKIPPED, N_("not HTML: {type}")
    UNREAD_DOCUMENT = "unread_document", Group.SKIPPED, "{fault}"
    NOT_WHOLE = "not_whole", Group.SKIPPED, N_("not a whole page: {status}")
    NOT_AN_IMAGE = "not_an_image", Group.SKIPPED, N_("not an image: {content}")
    IMAGE_TOO_SMALL = "image_too_small", Group.SKIPPED, N_("image smaller than the limit")
    EMPTY_LIST = "empty_list", Group.SKIPPED, N_("list without addresses")
    EMPTY_EXAMPLE = "empty_example", Group.SKIPPED, N_("example without text")
    NOINDEX = "noindex", Group.SKIPPED, N_("noindex")
    TEXT_WITHHELD = "text_withheld", Group.SKIPPED, N_("page whose owner marks its text as not to be used")
    MISSING = "missing", Group.SKIPPED, N_("notice that the page does not exist")
    LOGIN_FORM = "login_form", Group.SKIPPED, N_("login form")
    LISTING = "listing", Group.SKIPPED, N_("list of other pages")
    PHOTO_PAGE = "photo_page", Group.SKIPPED, N_("page of an image or a gallery, with next to no text")
    NO_TEXT = "no_text", Group.SKIPPED, N_("page without text")
    OFF_TOPIC = "off_topic", Group.SKIPPED, N_("off topic: relevance under min_relevance")
    LANGUAGE = "language", Group.SKIPPED, N_("language: {language}")
    DROPPED = "dropped", Group.SKIPPED, N_("dropped by a pipeline: {reason}")

    # Parts of a page or a list: they are counted, but no address has such an outcome.
    LINKS_CUT = "links_cut", Group.SKIPPED, N_("links beyond the limit of a page")
    FIELDS_CUT = "fields_cut", Group.SKIPPED, N_("values of own fields beyond the limit of a page")
    FIELD_FAILED = "field_failed", Group.SKIPPED, N_("own field that cannot be read, {reason}")
    IMAGES_CUT = "images_cut", Group.SKIPPED, N_("images beyond the limit of a page")
    SITE_IMAGES_CUT = "site_images_cut", Group.SKIPPED, N_("images beyond the limit of a site")
    PAGE_CUT = "page_cut", Group.SKIPPED, N_("rest of a page {at}")
    RESPONSE_LIMIT = "response_limit", Group.SKIPPED, N_("response of a stored page, beyond KEEP_RESPONSES={limit}")
    LIST_CUT = "list_cut", Group.SKIPPED, N_("rest of a sitemap larger than the limit")
    NOT_RENDERED = "not_rendered", Group.SKIPPED, N_("page that could not be rendered: {fault}")
    LISTS_CUT = "lists_cut", Group.SKIPPED, N_("sitemaps and feeds beyond the limit of a site or of levels")

    # Records of archives and folders.
    NO_RESPONSE = "no_response", Group.SKIPPED, N_("WARC record: {kind}")
    NO_HTML_NAME = "no_html_name", Group.SKIPPED, N_("file without the name of a page or a document")
    NOT_A_FILE = "not_a_file", Group.SKIPPED, N_("no file")
    LINK_NOT_FOLLOWED = "link_not_followed", Group.SKIPPED, N_("link out of the folder or to a folder")
    NOT_ASKED_FOR = "not_asked_for", Group.SKIPPED, N_("page not requested")

    # Failed requests.
    HTTP_STATUS = "http_status", Group.FAILED, "{status}"
    WALLED = "walled", Group.FAILED, N_("wall against robots: {service}")
    PAYMENT_REQUIRED = "payment_required", Group.FAILED, N_("payment required: {price}")
    HOST_NOT_FOUND = "host_not_found", Group.FAILED, N_("host name not found")
    BAD_HOST_NAME = "bad_host_name", Group.FAILED, N_("not a valid host name")
    CONNECTION_REFUSED = "connection_refused", Group.FAILED, N_("connection refused")
    CONNECTION_LOST = "connection_lost", Group.FAILED, N_("connection lost")
    TLS_REFUSED = "tls_refused", Group.FAILED, N_("TLS certificate or handshake refused")
    TIMEOUT = "timeout", Group.FAILED, N_("no response in time")
    ANSWER_CUT = "answer_cut", Group.FAILED, N_("response cut short")
    BODY_TOO_LARGE = "body_too_large", Group.FAILED, N_("body larger than the limit")
    HEADERS_TOO_LARGE = "headers_too_large", Group.FAILED, N_("headers larger than the limit")
    BAD_ENCODING = "bad_encoding", Group.FAILED, N_("body does not match its Content-Encoding")
    TOO_MANY_REDIRECTS = "too_many_redirects", Group.FAILED, N_("redirected too often")
    NEVER_ENDED = "never_ended", Group.FAILED, N_("given up, as it never ended")
    WORKERS_CRASHED = "workers_crashed", Group.FAILED, N_("workers crashed repeatedly")
    CRAWLER_ERROR = "crawler_error", Group.FAILED, N_("error in the crawler, see the log")
    ERROR = "error", Group.FAILED, "{type}"

    # Counts of several outcomes together, see UNNAMED.
    OTHER_REASONS = "other_reasons", Group.SKIPPED, N_("other reasons")
    OTHER_FAILURES = "other_failures", Group.FAILED, N_("other reasons")


class Outcome(NamedTuple):
    """A code with the value of its parameter.

    >>> str(Outcome(Code.NOT_HTML, "image/png")), Outcome.of("http_status/404")
    ('not_html/image/png', Outcome(code=<Code.HTTP_STATUS: 'http_status'>, detail='404'))
    """

    code: Code
    detail: str = ""

    @classmethod
    def of(cls, text: str) -> Self:
        """The outcome of a text such as "http_status/404", as `str` makes it."""
        code, _, detail = text.partition("/")
        return cls(Code(code), detail)

    def __str__(self) -> str:
        if self.detail:
            return f"{self.code}/{self.detail}"
        return str(self.code)

    @property
    def message(self) -> Message:
        """The sentence, with the value of the parameter.

        >>> str(Outcome(Code.NOT_HTML, "image/png").message), str(Outcome(Code.HTTP_STATUS, "404").message)
        ('not HTML: image/png', '404 Not Found')
        >>> str(Outcome(Code.ROBOTS_UNREADABLE, "http_status/503").message)
        'robots.txt cannot be read: 503 Service Unavailable'
        """
        parameter = self.code.parameter
        if not parameter:
            return Message(self.code.sentence)
        return Message(self.code.sentence, {parameter: _value(self.code, self.detail)})

    @property
    def key(self) -> str:
        """The key under which Scrapy's statistics count the outcome.

        >>> Outcome(Code.HTTP_STATUS, "404").key
        'failed/http_status/404'
        """
        return f"{self.code.group}/{self}"


NOTHING_GIVEN = {
    Code.NOT_HTML: N_("no type given"),
    Code.LANGUAGE: "unknown",
    Code.NO_RESPONSE: N_("no type"),
    Code.UNPRODUCTIVE: N_("other patterns"),
    Code.PAYMENT_REQUIRED: N_("no price given"),
}
"""The text for an empty parameter."""
CUTS = {
    Cut.BYTES: Message("after {megabytes} MB", {"megabytes": MAX_BYTES // 1_000_000}),
    Cut.TAGS: Message("after {tags} tags or {attributes} attributes", {"tags": MAX_TAGS, "attributes": MAX_ATTRIBUTES}),
    Cut.DEPTH: Message("after {levels} nested elements", {"levels": MAX_LEVELS}),
    Cut.BLOCKS: Message("after {blocks} lines", {"blocks": MAX_BLOCKS}),
    Cut.DOCUMENT: Message(
        "after {pages} pages or {letters} characters of a document", {"pages": MAX_PAGES, "letters": MAX_TEXT}
    ),
}
FAULTS: dict[str, str] = {
    Fault.BROKEN: N_("document that is damaged, or of another type than it says"),
    Fault.ENCRYPTED: N_("document that needs a password"),
    Fault.SCANNED: N_("document without text, such as a scan"),
    Fault.NO_SENTENCES: N_("text file that is no text for readers, such as code or data"),
    Fault.LIMIT: N_("document that takes more time or memory than the limit"),
    "endless": N_("its scripts never end"),
    "crashed": N_("its tab crashed or used too much memory"),
    "flood": N_("too many requests"),
    "no_browser": N_("the browser does not start"),
}
"""Why a document cannot be read, or a browser cannot render a page."""
CONTENTS = {
    NonImage.SVG: N_("SVG, which may contain scripts"),
    NonImage.HTML: N_("a web page"),
    NonImage.UNKNOWN: N_("of no known type"),
    NonImage.EMPTY: N_("empty"),
}
"""What a response contains in place of an image."""
SIGNALS = {
    "content_usage": "Content-Usage",
    "content_signal": "Content-Signal",
    "tdm_reservation": "TDMRep",
    "rsl": "RSL",
    "noai": "noai",
    "training_crawlers": N_("robots.txt refuses training crawlers"),
}
"""Names of the signals that may disallow a use."""
MODELS = {"learned": N_("learned model"), "filter_list": N_("filter list")}
"""Names of the models that judge images, for those whose name is not a plain word."""


def _value(code: Code, detail: str) -> object:
    """The value of a parameter as people read it; a message if it is translated."""
    if not detail:
        return Message(NOTHING_GIVEN.get(code, "unknown"))
    match code.parameter:
        case "status":
            return _status(detail)
        case "why":
            return Outcome.of(detail).message
        case "at":
            return CUTS[Cut(detail)]
        case "content":
            if detail.isdigit():
                return _status(detail)
            return Message(CONTENTS[NonImage(detail)])
        case "signal":
            return Message(SIGNALS.get(detail, detail))
        case "fault":
            return Message(FAULTS.get(detail, detail))
        case "model":
            return Message(MODELS.get(detail, detail))
    return detail


def _status(code: str) -> Message:
    """A status with its reason phrase, or as a number if it has none.

    >>> str(_status("404")), str(_status("2000"))
    ('404 Not Found', 'status 2000')
    """
    try:
        return Message("{code} {phrase}", {"code": code, "phrase": HTTPStatus(int(code)).phrase})
    except ValueError:
        return Message("status {code}", {"code": code})


Outcomes = Counter[Outcome]
READ = frozenset(
    (
        *(Code.LIST, Code.NOINDEX, Code.TEXT_WITHHELD, Code.LISTING, Code.PHOTO_PAGE, Code.NO_TEXT),
        *(Code.OFF_TOPIC, Code.LANGUAGE, Code.DROPPED),
    )
)
"""Outcomes of seeds that were read without a failure, although no page of them is stored."""
SEED_FAILURES = frozenset(
    code
    for code in Code
    if code.group in (Group.SKIPPED, Group.FAILED) and code not in READ and code is not Code.REDIRECT_TO_KNOWN
)
"""Outcomes of seeds that failed. A redirect to a page already known is no failure."""


def of_group(outcomes: Outcomes, group: Group) -> Outcomes:
    """The outcomes whose codes belong to one group."""
    return Outcomes({outcome: count for outcome, count in outcomes.items() if outcome.code.group is group})


def codes(group: Group) -> tuple[Code, ...]:
    """The codes of a group."""
    return tuple(code for code in Code if code.group is group)


UNNAMED = (Code.OTHER_REASONS, Code.OTHER_FAILURES)
"""The codes under which a crawl counts all further outcomes of a group, once it counts many different ones."""
MOST_NAMED = 10
"""The most outcomes that are named in one line."""


def ranked(outcomes: Outcomes, most: int = MOST_NAMED) -> list[Message]:
    """The most frequent outcomes with their counts, and how many others there are.

    >>> found = {Outcome(Code.NOINDEX): 2, Outcome(Code.NOT_HTML, "a/b"): 3_000, Outcome(Code.NOFOLLOW): 1}
    >>> print(*ranked(Outcomes({**found, Outcome(Code.DROPPED): 1}), 2), sep=", ")
    not HTML: a/b (3,000), noindex (2), 2 other reasons (2)
    >>> print(*ranked(Outcomes(found), 2), sep=", ")
    not HTML: a/b (3,000), noindex (2), nofollow (1)
    >>> print(*ranked(Outcomes({**found, Outcome(Code.OTHER_REASONS): 5}), 2), sep=", ")
    not HTML: a/b (3,000), noindex (2), other reasons (6)
    """
    unnamed = sum(count for outcome, count in outcomes.items() if outcome.code in UNNAMED)
    named = {outcome: count for outcome, count in outcomes.items() if outcome.code not in UNNAMED}
    ordered = sorted(named.items(), key=lambda entry: (-entry[1], entry[0]))
    if len(ordered) == most + 1 and not unnamed:  # the last one is named, instead of "1 other reason"
        most += 1
    reasons = [_with_count(outcome.message, count) for outcome, count in ordered[:most]]
    rest = sum(count for _, count in ordered[most:])
    if unnamed:  # it is unknown how many reasons these are
        reasons.append(_with_count(Outcome(Code.OTHER_REASONS).message, rest + unnamed))
    elif rest:
        others = plural("{n} other reason", "{n} other reasons", len(ordered) - most)
        reasons.append(_with_count(others, rest))
    return reasons


def _with_count(words: Message, count: int) -> Message:
    return Message("{words} ({count})", {"words": words, "count": f"{count:,}"})
