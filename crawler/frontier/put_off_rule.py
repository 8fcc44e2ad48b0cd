"""Decides by pattern which addresses are put off, because earlier addresses of the pattern brought nothing.

A pattern is what addresses have in common, with `*` or `#` for each part that varies, as in `/tag/*` or `/*/#?page=*`.
The parts that do not vary, such as `tag`, are its names (crawler/urls/patterns.py).

A request is useful if it brings a page that is kept and is no copy of another page, or new links to addresses of
patterns that bring such pages. With n useless requests in a row and none useful, the next one is useful with
probability 1 / (n + 2) (Laplace's rule of succession): after `ENOUGH` of them, with probability 1 / 9.

A pattern with few outcomes of its own is expected to resemble the patterns of its site that share a name with it. They
lend it their useless requests, up to `MOST_BORROWED`: after the first action of a wiki, each further one costs two
requests and not seven.

Where a sitemap lists addresses of a pattern that brings pages, the patterns that it does not list resemble each other
as well: archives and pages of comments repeat known pages. As soon as one of these patterns is useful, they lend each
other nothing any more.

A pattern without a name, such as `/*/#`, may have all sorts of addresses and needs more evidence. So does a pattern
that was useful: useless pages come in runs, such as a list of copies, and a missed page costs more than a request.

Lists of other pages only lead to pages. Addresses of a pattern that has brought almost only lists wait until other
pages of the site were requested, as these may link to each other. A list that brings nothing after this wait is
stronger evidence than an error, because all pages in it were found already: `ENOUGH_LISTS` such lists of a site are
enough to put off the pattern of one of them.

Where the addresses of one pattern serve many purposes, the labels of links tell them apart: requests from links with a
label are also counted for the pattern with the label. So links called "Reply" are put off even where all addresses look
alike, and they are no evidence against the other addresses of a pattern that was useful.

A path with ever new queries, such as a calendar or a timeline with many filters, is endless, and each of its pages may
differ a little from the others. After `MOST_QUERIES` patterns of one path, its further queries are one pattern, and
near-duplicates count as useless wherever they lead. The path is endless if at most half of the requests to it are
useful, not counting its proven patterns (`PROVEN`): then all its addresses are put off, except those of the proven
patterns. A pattern that combines parameters, such as each file with each version, is put off when three of five of its
pages are copies; a pattern with any other query, when nine of ten are. Links to a pattern whose pages are mostly copies
do not make a page useful.

A parameter may say nothing about the page, but only where on the page the reader is, or where the reader came from. Its
pattern is useless where a page is a copy of the same address without it, or with another value of it, and useful where
the page is no copy. After `ENOUGH_EQUAL` such copies, addresses with the parameter are put off if the crawl also knows
the same address without it, and has requested an address of the same pattern.

Whether pages are rendered in a browser is learned by pattern as well. A page with a sign that it needs a browser is
rendered while its pattern has few trials, that is, rendered pages, and later if at least half of the trials have gained
text or links. While so
many trials are under way that their results decide, further pages wait for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from crawler.outcomes import Code
from crawler.recrawl.page_history import PageChange
from crawler.topic.priorities import HIGHEST
from crawler.urls.patterns import ANY_PATH, ANY_QUERY

if TYPE_CHECKING:
    from crawler.frontier.page_result import PageResult

ENOUGH = 7
"""Useless requests in a row after which a pattern that was never useful is put off."""
ENOUGH_UNNAMED = 20
"""Useless requests after which a pattern without a name is put off."""
ENOUGH_EQUAL = 3
"""Useless requests after which the pattern of a parameter is put off: copies of the same address are surer evidence."""
MOST_BORROWED = 5
"""The most useless requests of related patterns that count for a pattern."""
ENOUGH_LISTS = 4
"""Useless requests to lists of a site after which a pattern of lists that was never useful is put off."""
LEAST_SHARE_OF_LISTS = 0.9
"""If at least this share of a pattern's requests brought a list, its addresses are taken for lists."""
LIST_FACTOR = 10
"""The priority of a list is divided by this. Links have priorities below 1,000, most links to pages above 100."""
CHANCE = 0.01
"""A pattern that was useful is put off when a run of useless requests is less probable than this, and is longer than
the number of useful requests by at least `ENOUGH`.
"""
MOST_OPEN = 5
"""The most requests of a pattern that count as `open`, because they bring only links of unknown use; further such
requests count as useless.
"""
PROVEN = 2
"""Useful requests after which a pattern is proven to bring pages, if they are at least as many as the useless ones and
its pages are not mostly copies.
"""
FIRST_AUDIT = 50
AUDIT_FACTOR = 5
"""The 50th address that would be put off is requested all the same, as an audit of the rule, then the 250th, the
1,250th and so on.
"""
FIRST_AUDIT_OF_PARAMETER = 5
"""The number of the first audit among addresses that a parameter would put off: three copies are little evidence."""
TRIALS = 3
"""The first pages of a pattern with a sign that they need a browser: they are rendered without further evidence."""
SITE_TRIALS = 12
"""Trials of a site after which no more pages are rendered, except audits, if none has gained text or links."""
AUDITED = 1 / 100
"""Share of the pages with a sign that are rendered as an audit though the trials of their pattern gained too little."""
AUDITED_WITHOUT_SIGN = 1 / 1000
"""Share of the pages without a sign that are rendered as an audit."""
MOST_QUERIES = 20
"""After this many patterns of one path with different queries, its further queries are counted together. A wiki has
some 15 patterns of a path, for actions and special pages.
"""
LEAST_OF_ENDLESS = 40
"""Requests after which it is judged whether a path, or a pattern with a query, is endless."""
MOST_COPIES = 9 / 10
"""The share of copies among the pages of a pattern with a query from which the pattern is endless."""
MOST_COPIES_COMBINED = 3 / 5
"""The share of copies for a pattern that combines parameters: over half, as two addresses may lead to each page."""
DEAD_STATUSES = frozenset(("400", "401", "403", "404", "405", "410"))
"""Statuses of pages that do not exist or are closed to readers."""
BRINGS_NOTHING = frozenset(
    (
        *(Code.NOINDEX, Code.LOGIN_FORM, Code.LISTING, Code.NO_TEXT, Code.NOT_HTML, Code.NOT_WHOLE, Code.EMPTY_LIST),
        *(Code.PHOTO_PAGE, Code.UNREAD_DOCUMENT, Code.MISSING, Code.TEXT_WITHHELD),
        *(Code.REDIRECT_TO_KNOWN, Code.REDIRECT_TO_NOTHING, Code.REDIRECT_REFUSED),
    )
)
"""Outcomes of requests that bring no page that any crawl would keep: these are useful only if they bring links."""
LISTS = frozenset((Code.LISTING, Code.NOINDEX))
"""Outcomes of lists. A page with noindex is usually a list: search engines do not index it, but follow its links."""


class Usefulness(Enum):
    """The use of a request."""

    USEFUL = "useful"
    USELESS = "useless"
    OPEN = "open"
    """It brought only links to patterns of unknown use."""
    PUT_OFF = "put_off"
    """It was not sent."""


class RenderingState(Enum):
    """Whether a page is to be rendered."""

    DUE = "due"
    NOT_DUE = "not_due"
    UNDECIDED = "undecided"
    """The trials that are under way decide."""


@dataclass(frozen=True, slots=True)
class PatternUse:
    """The use of one request, for the counts of its pattern."""

    pattern: str
    use: Usefulness
    of_copy: Usefulness = Usefulness.USELESS
    """The use if its page turns out to be a copy."""
    labelled: str = ""
    """The pattern with the label of the link, if it has one: the request is counted for it as well."""
    is_for_label_only: bool = False
    """Whether the request counts only for the pattern with the label, unless it is useful: then it counts for both."""
    is_list: bool = False
    """Whether it brought a list of other pages."""
    parameters: tuple[tuple[str, str], ...] = ()
    """The patterns of the parameters of its address, each with the address without the parameter."""

    def counted_for(self, use: Usefulness) -> Iterator[str]:
        """The patterns for which the request counts, given its use: `of_copy` if the page is a copy, else `use`."""
        if not self.is_for_label_only or use is Usefulness.USEFUL:
            yield self.pattern
        if self.labelled:
            yield self.labelled


@dataclass(frozen=True, slots=True)
class Trial:
    """A page that was rendered in a browser, for the counts of its pattern."""

    pattern: str
    has_gained: bool
    """Whether it had more text or links then."""


@dataclass(frozen=True, slots=True)
class PatternCounts:
    """Counts of the requests to the addresses of a pattern, by their use."""

    useful: int = 0
    useless: int = 0
    in_a_row: int = 0
    """Useless requests since the last useful one."""
    open: int = 0
    """Requests that brought only links of unknown use."""
    put_off: int = 0
    """Addresses that were not requested."""
    rendered: int = 0
    """Pages that were rendered in a browser."""
    gained: int = 0
    """How many of them had more text or links then."""
    lists: int = 0
    """Requests that brought a list of other pages, whatever its use."""
    copies: int = 0
    """Pages that were copies of others, whatever the use of their links."""

    def after(self, use: Usefulness, is_list: bool = False, is_copy: bool = False) -> PatternCounts:
        """The counts with one more request.

        >>> PatternCounts(useful=1, useless=1).after(Usefulness.USELESS, is_list=True).after(Usefulness.OPEN)
        PatternCounts(useful=1, useless=2, in_a_row=1, open=1, put_off=0, rendered=0, gained=0, lists=1, copies=0)
        """
        count = {use.value: getattr(self, use.value) + 1}
        counts = replace(self, **count, lists=self.lists + is_list, copies=self.copies + is_copy)
        if use is Usefulness.USEFUL:
            return replace(counts, in_a_row=0)
        return replace(counts, in_a_row=self.in_a_row + (use is Usefulness.USELESS))

    @property
    def is_of_lists(self) -> bool:
        """Whether addresses of the pattern bring lists of other pages, and are not pages to keep themselves.

        >>> PatternCounts(useful=9, useless=1, lists=9).is_of_lists, PatternCounts(useful=9, lists=8).is_of_lists
        (True, False)
        """
        return self.lists > 0 and self.lists >= LEAST_SHARE_OF_LISTS * self.requests

    @property
    def is_proven(self) -> bool:
        """Whether the pattern is known to bring pages, or links to them."""
        is_mostly_copies = 2 * self.copies > self.requests
        return self.useful >= PROVEN and self.useful >= self.useless and not is_mostly_copies

    @property
    def requests(self) -> int:
        """The requests that were sent and have a use."""
        return self.useful + self.useless + self.open


NOTHING_KNOWN = PatternCounts()


def is_unproductive(pattern: str, counts: PatternCounts, lent: int = 0, lists_lent: int = 0) -> bool:
    """Whether addresses of a pattern are put off.

    `lent` counts the useless requests of related patterns, `lists_lent` those to other lists of the site.

    >>> is_unproductive("/tag/*", PatternCounts(0, 6, 6)), is_unproductive("/tag/*", PatternCounts(0, 7, 7))
    (False, True)
    """
    is_unnamed = "*" in pattern and not set(pattern) - set("/*#")  # such as /*/#
    enough = ENOUGH_UNNAMED if is_unnamed else ENOUGH
    if pattern.startswith(ANY_PATH):  # the pattern of a parameter
        enough = ENOUGH_EQUAL
        lent = 0

    if not counts.useful:
        brings_empty_lists = counts.is_of_lists and counts.useless > 0 and not is_unnamed
        if brings_empty_lists and counts.in_a_row + lists_lent >= ENOUGH_LISTS:
            return True
        return counts.in_a_row + min(lent, MOST_BORROWED) >= enough

    # The run of useless requests must be improbable, given the share of useful requests before it.
    requests_before_run = counts.useful + counts.useless - counts.in_a_row
    share_of_useful = (counts.useful + 1) / (requests_before_run + 2)
    # Earlier use of lists says little: when they were requested, most of the pages in them were new.
    useful_pages = 0 if counts.is_of_lists else counts.useful
    return counts.in_a_row >= useful_pages + enough and (1 - share_of_useful) ** counts.in_a_row < CHANCE


def is_endless(pattern: str, counts: PatternCounts) -> bool:
    """Whether a pattern is an endless part of a site.

    A path with any query is endless if at most half of its requests are useful. A pattern with a query of its own is
    endless if its pages are mostly copies.

    >>> [is_endless("/timeline?*", PatternCounts(useful=useful, useless=40 - useful)) for useful in (15, 25)]
    [True, False]
    >>> [is_endless("/file?ci=*&name=*", PatternCounts(useful=40, copies=copies)) for copies in (24, 23)]
    [True, False]
    """
    if pattern.endswith(ANY_QUERY):
        return counts.useful + counts.useless >= LEAST_OF_ENDLESS and counts.useless >= counts.useful
    if "?" not in pattern or counts.requests < LEAST_OF_ENDLESS:
        return False
    most_copies = MOST_COPIES_COMBINED if is_combined(pattern) else MOST_COPIES
    return counts.copies >= most_copies * counts.requests


def is_combined(pattern: str) -> bool:
    """Whether addresses of a pattern combine parameters with each other.

    >>> is_combined("/file?ci=*&name=*"), is_combined("/timeline?c=*&y=ci")
    (True, False)
    """
    return pattern.partition(" ")[0].count("=*") > 1


def rendering_of(
    counts: PatternCounts, of_site: PatternCounts, has_sign: bool, draw: float, under_way: int = 0
) -> RenderingState:
    """Whether a page is to be rendered, given the counts of its pattern and of its site.

    A page `has_sign` if something in it says that it needs a browser. `draw` is a random number from 0 to 1, and
    `under_way` is how many trials of the pattern are under way.

    >>> few, gaining, vain = PatternCounts(rendered=2), PatternCounts(rendered=4, gained=2), PatternCounts(rendered=3)
    >>> [rendering_of(counts, NOTHING_KNOWN, True, 0.5).value for counts in (few, gaining, vain)]
    ['due', 'due', 'not_due']
    >>> rendering_of(few, NOTHING_KNOWN, True, 0.5, under_way=1).value
    'undecided'
    """
    if not has_sign:
        if draw < AUDITED_WITHOUT_SIGN:
            return RenderingState.DUE
        return RenderingState.NOT_DUE
    is_gaining = counts.rendered > 0 and 2 * counts.gained >= counts.rendered
    if is_gaining or draw < AUDITED:
        return RenderingState.DUE
    is_vain_site = of_site.rendered >= SITE_TRIALS and not of_site.gained
    if is_vain_site or counts.rendered >= TRIALS:
        return RenderingState.NOT_DUE
    if counts.rendered + under_way >= TRIALS:
        return RenderingState.UNDECIDED
    return RenderingState.DUE


def useless_by_name(patterns: Mapping[str, PatternCounts], names: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """For each name, the useless requests of the patterns that have it; without names of patterns that were useful."""
    sums: dict[str, int] = {}
    useful_names: set[str] = set()
    for pattern, counts in patterns.items():
        if counts.useful:
            useful_names.update(names[pattern])
    for pattern, counts in patterns.items():
        is_labelled = " " in pattern  # its requests are also counted for the pattern without the label
        if is_labelled:
            continue
        for name in names[pattern]:
            if name not in useful_names:
                sums[name] = sums.get(name, 0) + counts.useless
    return sums


def useless_lists(patterns: Mapping[str, PatternCounts]) -> int:
    """The useless requests of the patterns of a site that bring lists and were never useful."""
    useless = 0
    for pattern, counts in patterns.items():
        is_labelled = " " in pattern  # its requests are also counted for the pattern without the label
        if counts.is_of_lists and not counts.useful and not is_labelled:
            useless += counts.useless
    return useless


def priority_of_list(priority: int) -> int:
    """The priority of an address that waits because its pattern brings lists; a low priority stays the same.

    >>> priority_of_list(800), priority_of_list(80)
    (80, 80)
    """
    if priority > HIGHEST // LIST_FACTOR:
        return priority // LIST_FACTOR
    return priority


def next_audit(pattern: str, put_off: int) -> int:
    """Which of the addresses of a pattern that would be put off is requested next as an audit: its number.

    >>> [next_audit("/tag/*", put_off) for put_off in (0, 50, 249, 250)], next_audit("*?id=*", 0)
    ([50, 250, 250, 1250], 5)
    """
    number = FIRST_AUDIT_OF_PARAMETER if pattern.startswith(ANY_PATH) else FIRST_AUDIT
    while number <= put_off:
        number *= AUDIT_FACTOR
    return number


def use_of(result: PageResult, of_links: Usefulness) -> Usefulness | None:
    """The use of a request, given the use of its page's new links; None if the result says nothing about the pattern.

    A page that is off topic, or in another language, could have been kept: its pattern is as good as any. A page that
    awaits a browser may be kept by a later crawl that has one.
    """
    outcome = result.outcome
    check = result.check
    if result.awaits_browser:
        return None
    if outcome is None:  # a page that is stored, or stored already and unchanged
        if result.record is None or (check is not None and check.change is not PageChange.NEW):
            return None
        if str(result.record.get("text") or "").strip():
            return Usefulness.USEFUL
        return of_links
    if outcome.code in BRINGS_NOTHING or (outcome.code is Code.HTTP_STATUS and outcome.detail in DEAD_STATUSES):
        return of_links
    return None
