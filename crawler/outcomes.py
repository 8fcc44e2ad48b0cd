"""How a request or a record can end: one code each, with one parameter at most. And what else a crawl counts.

Storage, statistics and conditions use the codes; `outcome_words` says them to people. An address that brought a page or
a picture has no outcome.
"""

from collections import Counter
from enum import StrEnum
from typing import NamedTuple, Self


class Group(StrEnum):
    """What the codes have in common."""

    DONE = "done"
    """The address did its part, which was not to bring a page."""
    SKIPPED = "skipped"
    NOISE = "noise"
    FAILED = "failed"


class Code(StrEnum):
    """The ways to end; each member has its group and the name of its parameter."""

    group: Group
    parameter: str

    def __new__(cls, code: str, group: Group = Group.DONE, parameter: str = "") -> Self:
        """A member that compares and is stored as its code alone."""
        member = str.__new__(cls, code)
        member._value_, member.group, member.parameter = code, group, parameter
        return member

    LIST = "list", Group.DONE
    REDIRECTED = "redirected", Group.DONE
    EXAMPLE = "example", Group.DONE
    COUNTEREXAMPLE = "counterexample", Group.DONE

    # Before the request.
    NOFOLLOW = "nofollow", Group.SKIPPED
    OUTSIDE_SCOPE = "outside_scope", Group.SKIPPED
    OUTSIDE_ALLOW = "outside_allow", Group.SKIPPED
    INSIDE_DENY = "inside_deny", Group.SKIPPED
    AVOIDED_DOMAIN = "avoided_domain", Group.SKIPPED
    ADDRESS_TOO_LONG = "address_too_long", Group.SKIPPED
    PATH_REPEATS = "path_repeats", Group.SKIPPED
    ROBOTS_FORBIDS = "robots_forbids", Group.SKIPPED
    ROBOTS_UNREADABLE = "robots_unreadable", Group.SKIPPED, "why"
    CRAWL_DELAY_TOO_LONG = "crawl_delay_too_long", Group.SKIPPED
    HOST_CLOSED = "host_closed", Group.SKIPPED
    SITE_BUDGET_SPENT = "site_budget_spent", Group.SKIPPED
    NOT_PUBLIC = "not_public", Group.SKIPPED
    REFUSED = "refused", Group.FAILED, "message"
    NOISE = "noise", Group.NOISE, "model"

    # After the answer.
    REDIRECT_REFUSED = "redirect_refused", Group.SKIPPED, "why"
    REDIRECT_TO_KNOWN = "redirect_to_known", Group.SKIPPED
    REDIRECT_TO_NOTHING = "redirect_to_nothing", Group.SKIPPED
    REFRESHED = "refreshed", Group.SKIPPED
    NOT_HTML = "not_html", Group.SKIPPED, "type"
    NOT_WHOLE = "not_whole", Group.SKIPPED, "status"
    NOT_A_PICTURE = "not_a_picture", Group.SKIPPED, "content"
    PICTURE_TOO_SMALL = "picture_too_small", Group.SKIPPED
    EMPTY_LIST = "empty_list", Group.SKIPPED
    EMPTY_EXAMPLE = "empty_example", Group.SKIPPED
    NOINDEX = "noindex", Group.SKIPPED
    OFF_TOPIC = "off_topic", Group.SKIPPED
    LANGUAGE = "language", Group.SKIPPED, "language"
    DROPPED = "dropped", Group.SKIPPED

    # Parts of a page or a list, which are counted only.
    LINKS_CUT = "links_cut", Group.SKIPPED
    PICTURES_CUT = "pictures_cut", Group.SKIPPED
    PAGE_CUT = "page_cut", Group.SKIPPED, "at"
    LIST_CUT = "list_cut", Group.SKIPPED

    # Records of archives and folders.
    NO_RESPONSE = "no_response", Group.SKIPPED, "kind"
    NO_HTML_NAME = "no_html_name", Group.SKIPPED
    NOT_A_FILE = "not_a_file", Group.SKIPPED
    LINK_NOT_FOLLOWED = "link_not_followed", Group.SKIPPED
    NOT_ASKED_FOR = "not_asked_for", Group.SKIPPED

    HTTP_STATUS = "http_status", Group.FAILED, "status"
    HOST_NOT_FOUND = "host_not_found", Group.FAILED
    BAD_HOST_NAME = "bad_host_name", Group.FAILED
    CONNECTION_REFUSED = "connection_refused", Group.FAILED
    CONNECTION_LOST = "connection_lost", Group.FAILED
    TLS_REFUSED = "tls_refused", Group.FAILED
    TIMEOUT = "timeout", Group.FAILED
    ANSWER_CUT = "answer_cut", Group.FAILED
    BODY_TOO_LARGE = "body_too_large", Group.FAILED
    BAD_ENCODING = "bad_encoding", Group.FAILED
    TOO_MANY_REDIRECTS = "too_many_redirects", Group.FAILED
    NEVER_ENDED = "never_ended", Group.FAILED
    WORKERS_CRASHED = "workers_crashed", Group.FAILED
    CRAWLER_ERROR = "crawler_error", Group.FAILED
    ERROR = "error", Group.FAILED, "type"

    OTHER_REASONS = "other_reasons", Group.SKIPPED
    OTHER_FAILURES = "other_failures", Group.FAILED


class Outcome(NamedTuple):
    """A code with the value of its parameter.

    >>> str(Outcome(Code.NOT_HTML, "image/png")), Outcome.of("http_status/404")
    ('not_html/image/png', Outcome(code=<Code.HTTP_STATUS: 'http_status'>, detail='404'))
    """

    code: Code
    detail: str = ""

    @classmethod
    def of(cls, text: str) -> Self:
        """The outcome that `str` made this text of."""
        code, _, detail = text.partition("/")
        return cls(Code(code), detail)

    def __str__(self) -> str:
        return f"{self.code}/{self.detail}" if self.detail else str(self.code)

    @property
    def key(self) -> str:
        """The name under which Scrapy's statistics count it.

        >>> Outcome(Code.HTTP_STATUS, "404").key
        'failed/http_status/404'
        """
        return f"{self.code.group}/{self}"


Outcomes = Counter[Outcome]


def of_group(outcomes: Outcomes, group: Group) -> Outcomes:
    """Those outcomes whose codes are of one group."""
    return Outcomes({one: count for one, count in outcomes.items() if one.code.group is group})


def codes(group: Group) -> tuple[Code, ...]:
    """The codes of a group."""
    return tuple(code for code in Code if code.group is group)


STATISTICS = {
    "done/CODE": "Requests that did not bring a page and were not meant to, by outcome.",
    "skipped/CODE": "Addresses, pages and parts of pages that were left out, by outcome.",
    "noise/CODE": "Images that were noise, by the model that decided.",
    "failed/CODE": "Requests that failed, by outcome.",
    "images": "Images that were stored.",
    "images/bytes": "Their size.",
    "image_noise/kept": "Images that were judged and requested.",
    "image_noise/skipped": "Images that were judged noise, and pages behind them, that were not requested.",
    "image_noise/skipped/MODEL": "The same, by the model that decided.",
    "image_noise/links": "Pages among those that were skipped, because only an image that is noise leads there.",
    "image_noise/audited": "Noise that was requested all the same, as IMAGE_NOISE_AUDIT asks.",
    "image_noise/fetched": "Noise that was requested all the same and stored.",
    "backoff/STATUS": "Responses after which a host had a pause.",
    "recrawl/new": "Pages that were fetched for the first time.",
    "recrawl/changed": "Pages whose text had changed.",
    "recrawl/unchanged": "Pages that were the same, whether the server sent them or not.",
    "recrawl/not_modified": "Those of them that the server did not send, because they were the same.",
    "recrawl/gone": "Pages that are gone for good.",
    "focus/pages": "Pages that were read and judged by the topic.",
    "focus/on_topic": "Those of them that are on the topic.",
    "focus/harvest": "Their share.",
    "template/learned": "Templates of sites that were learned.",
    "template/copies": "Pages that told nothing new, so that no template was learned from them.",
    "template/site_full": "Templates that were not kept because their site has too many.",
    "template/sites_forgotten": "Sites whose templates were dropped from memory.",
}
"""What a crawl counts besides Scrapy's own statistics."""
