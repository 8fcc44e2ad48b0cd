"""The address patterns of sites in the memory of a worker: which bring pages, and which are put off.

The rule itself is in put_off_rule.py. The database adds up the counts of all workers; the reply to a batch brings the
sums. A pattern may be combined with a label of the links to its addresses: `PATTERN LABEL`, for example `/x/* "reply"`,
is counted like a pattern.

Patterns with a common name lend each other their useless requests: those of the others count for a pattern, too. The
counts of the lender stay as they are. A list is a page that mainly links to other pages, such as an archive; sitemaps
and feeds are called by these names.

The frontier asks `pattern_to_put_off` and `priority` before each request, and `use` after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from crawler.frontier.page_result import AddressKind, Candidate, Completion, FoundBy, Lease, PageResult
from crawler.frontier.put_off_rule import (
    LISTS,
    MOST_OPEN,
    MOST_QUERIES,
    NOTHING_KNOWN,
    PatternCounts,
    PatternUse,
    RenderingState,
    Trial,
    Usefulness,
    is_combined,
    is_endless,
    is_unproductive,
    next_audit,
    priority_of_list,
    rendering_of,
    use_of,
    useless_by_name,
    useless_lists,
)
from crawler.topic.priorities import HIGHEST
from crawler.urls.address import address_of
from crawler.urls.lru_dict import LruDict
from crawler.urls.patterns import ANY_QUERY, Patterns, names_of, shorter_addresses, with_any_query

UNLISTED = "not in a sitemap"
"""A name of all patterns whose addresses are in no sitemap of a site that has one; no address contains it."""
MAY_BE_PUT_OFF = frozenset((FoundBy.LINK, FoundBy.IMAGE, FoundBy.FEED, FoundBy.SITEMAP))
"""Addresses may be put off if they were found in these ways. Feeds and sitemaps also have useless addresses: the feed
of a wiki has edits, and the sitemap of a blog has tags.
"""
MOST_SITES = 200
"""Sites that are remembered; the least recently used are forgotten."""
MOST_PATTERNS = 200
"""The most patterns of a site that are counted; addresses of further patterns are always requested. Also the most
patterns that are remembered of the addresses in its sitemaps.
"""
MOST_LINKS = 20
"""How many new links decide the use of a page that is not kept."""
FEW_LINKS = 6
"""For a page that is kept: how many of its new links decide its use if it turns out to be a copy."""


@dataclass
class SitePatterns:
    """The patterns of one site with their counts."""

    patterns: Patterns = field(default_factory=Patterns)
    """Computes the pattern of an address by the names that the site's addresses have shown."""
    counts: dict[str, PatternCounts] = field(default_factory=dict)
    audits: dict[str, int] = field(default_factory=dict)
    """For patterns that are put off, the number of the next address that is requested as an audit."""
    under_way: Counter[str] = field(default_factory=Counter)
    """How many pages of a pattern this worker is rendering."""
    trials: dict[str, PatternCounts] = field(default_factory=dict)
    """The trials of this worker by pattern; the database learns of their results later."""
    in_sitemaps: set[str] = field(default_factory=set)
    """Patterns of the addresses in sitemaps of the site."""
    _queries: dict[str, list[str]] = field(default_factory=dict)
    """For each path with any query, such as `/timeline?*`, the patterns with this path and a query of their own."""
    _names: dict[str, frozenset[str]] = field(default_factory=dict)
    """The names in each pattern."""
    _useless_by_name: dict[str, int] | None = None
    """For each name, the useless requests that its patterns lend to each other; None if all these sums are outdated."""
    _useless_lists: int = 0
    """The useless requests that patterns of lists lend to each other; outdated together with `_useless_by_name`."""
    _has_useful_sitemap: bool = False
    """Whether a sitemap lists addresses of a pattern that brings pages."""

    def update(self, counts: Mapping[str, PatternCounts]) -> None:
        """Replace all counts by those of the database."""
        self._learn(counts)
        self.counts = dict(counts)
        self._useless_by_name = None

    def _learn(self, patterns: Iterable[str]) -> None:
        """Learn the names of patterns that are not counted yet."""
        new = [pattern for pattern in patterns if pattern not in self.counts]
        self.patterns.learn(new)
        self._names.update((pattern, names_of(pattern)) for pattern in new)
        for pattern in new:
            if " " not in pattern:  # without a label
                self._queries.setdefault(with_any_query(pattern), []).append(pattern)

    def count(self, use: PatternUse) -> None:
        """Count a request of this worker until the database has counted it."""
        if use.use is Usefulness.PUT_OFF:
            return  # `put_off_next` has counted it
        for pattern in use.counted_for(use.use):
            self._learn([pattern])
            self.counts[pattern] = self.counts.get(pattern, NOTHING_KNOWN).after(use.use, use.is_list)
        self._useless_by_name = None

    def remember_in_sitemap(self, url: str) -> None:
        """Remember the pattern of an address in a sitemap."""
        pattern = self.pattern(url)
        if pattern and pattern not in self.in_sitemaps and len(self.in_sitemaps) < MOST_PATTERNS:
            self.in_sitemaps.add(pattern)
            self._useless_by_name = None

    def pattern(self, url: str) -> str:
        """The pattern of an address; empty if the site has too many."""
        pattern = self.patterns.of(url)
        if pattern in self.counts:
            return pattern
        if self.has_many_queries(pattern):
            return with_any_query(pattern)
        if len(self.counts) < MOST_PATTERNS:
            return pattern
        return ""

    def has_many_queries(self, pattern: str) -> bool:
        """Whether the path of a pattern has so many queries that further ones are counted together."""
        path = with_any_query(pattern)
        return bool(path) and len(self._queries.get(path, ())) >= MOST_QUERIES

    def labelled(self, pattern: str, labels: str) -> str:
        """A pattern with the label of a link; empty without a label, or if the site has too many patterns."""
        label = self.patterns.label(labels)
        labelled = f"{pattern} {label}" if pattern and label else ""
        if labelled in self.counts or len(self.counts) < MOST_PATTERNS:
            return labelled
        return ""

    def is_unproductive(self, pattern: str) -> bool:
        """Whether addresses of the pattern bring nothing."""
        if self.is_endless(pattern):
            return True
        counts = self.counts.get(pattern, NOTHING_KNOWN)
        if counts.useful:
            return is_unproductive(pattern, counts)
        if self._useless_by_name is None:
            # First the sitemap, on which the names of patterns depend: `_names_of` reads this.
            self._has_useful_sitemap = any(
                self.counts.get(in_sitemap, NOTHING_KNOWN).is_proven for in_sitemap in self.in_sitemaps
            )
            self._useless_by_name = useless_by_name(
                self.counts, {counted: self._names_of(counted) for counted in self.counts}
            )
            self._useless_lists = useless_lists(self.counts)
        # A pattern of lists borrows the useless requests to lists of all other patterns. `_useless_lists` leaves out
        # patterns with a label, which may have more useless requests than it.
        lists_lent = max(0, self._useless_lists - counts.useless) if counts.is_of_lists else 0
        return is_unproductive(pattern, counts, self._lent(pattern), lists_lent)

    def judged_by(self, pattern: str) -> str:
        """The pattern by which addresses of a pattern are judged: the path with any query, if it is endless."""
        path = with_any_query(pattern)
        if path and not self.counts.get(pattern, NOTHING_KNOWN).is_proven and self.is_endless(path):
            return path
        return pattern

    def is_endless(self, pattern: str) -> bool:
        """Whether the addresses of a pattern are an endless part of the site, and are put off.

        A path with many queries is judged by its unproven patterns together: a few proven ones may bring most of its
        pages, and would hide that the rest are useless.
        """
        counts = self.counts.get(pattern, NOTHING_KNOWN)
        if not (pattern.endswith(ANY_QUERY) and self.has_many_queries(pattern)):
            return is_endless(pattern, counts)
        counts_of_queries = (
            self.counts.get(query, NOTHING_KNOWN) for query in self._queries[pattern] if query != pattern
        )
        unproven = [counts, *(of_query for of_query in counts_of_queries if not of_query.is_proven)]
        useful = sum(each.useful for each in unproven)
        useless = sum(each.useless for each in unproven)
        return is_endless(pattern, PatternCounts(useful=useful, useless=useless))

    def put_off_next(self, pattern: str) -> bool:
        """Count one more address of a pattern, if the pattern brings nothing; returns whether the address is put off.

        An address that would be put off is sometimes requested all the same, as an audit of the rule.
        """
        if not pattern or not self.is_unproductive(pattern):
            return False
        counts = self.counts.get(pattern, NOTHING_KNOWN)
        self.counts[pattern] = replace(counts, put_off=counts.put_off + 1)
        due = self.audits.setdefault(pattern, next_audit(pattern, counts.put_off))
        if counts.put_off + 1 >= due:
            self.audits[pattern] = next_audit(pattern, counts.put_off + 1)
            return False
        return True

    def awaits_other_pages(self, pattern: str, labelled: str) -> bool:
        """Whether an address waits for other pages because its pattern brings lists, which only lead to pages.

        The counts of the pattern with the label of the link, `labelled`, prevail if they say enough.
        """
        of_label = self.counts.get(labelled, NOTHING_KNOWN)
        if of_label.is_proven or of_label.is_of_lists:
            return of_label.is_of_lists
        return self.counts.get(pattern, NOTHING_KNOWN).is_of_lists

    def rendering_of(self, url: str, has_sign: bool, draw: float) -> RenderingState:
        """Whether the page at an address is to be rendered in a browser."""
        pattern = self.pattern(url)
        under_way = self.under_way[pattern] if pattern else 0
        return rendering_of(self._trials_of(pattern), self._trials_of_site(), has_sign, draw, under_way)

    def begin_trial(self, url: str) -> str:
        """Count a page that is being rendered; returns its pattern."""
        pattern = self.pattern(url)
        self.under_way[pattern] += 1
        return pattern

    def end_trial(self, pattern: str, trial: Trial | None) -> None:
        """Count the result of a page that was to be rendered, if there is one."""
        self.under_way[pattern] -= 1
        if trial is not None and pattern:
            counts = self.trials.get(pattern, NOTHING_KNOWN)
            gained = counts.gained + trial.has_gained
            self.trials[pattern] = replace(counts, rendered=counts.rendered + 1, gained=gained)

    def _trials_of(self, pattern: str) -> PatternCounts:
        """The trials of a pattern, including those that the database has not counted yet."""
        of_database = self.counts.get(pattern, NOTHING_KNOWN)
        of_worker = self.trials.get(pattern, NOTHING_KNOWN)
        # Not the sum: sooner or later the database has the trials of this worker, too.
        rendered = max(of_database.rendered, of_worker.rendered)
        return PatternCounts(rendered=rendered, gained=max(of_database.gained, of_worker.gained))

    def _trials_of_site(self) -> PatternCounts:
        """The trials of all patterns."""
        trials = [self._trials_of(pattern) for pattern in self.counts.keys() | self.trials.keys()]
        return PatternCounts(
            rendered=sum(counts.rendered for counts in trials), gained=sum(counts.gained for counts in trials)
        )

    def parameters(self, url: str) -> dict[str, str]:
        """The patterns of the parameters of an address, each with the address without the parameter.

        If the site has too many patterns, only the parameters whose patterns are counted already are returned.
        """
        has_room = len(self.counts) < MOST_PATTERNS
        shorter = shorter_addresses(url)
        return {pattern: address for pattern, address in shorter.items() if has_room or pattern in self.counts}

    def useless_parameters(self, url: str) -> Iterator[tuple[str, str]]:
        """The patterns of the useless parameters of an address, each with the address without the parameter."""
        for pattern, shorter in self.parameters(url).items():
            if self.is_unproductive(pattern):
                yield pattern, shorter

    def use_of_links(self, own: str, urls: Iterable[str], counted_as: str = "", is_list: bool = False) -> Usefulness:
        """The use of the new links of a page, by their patterns.

        Links of the page's `own` pattern do not count, unless the page is a list: all pages of a site may have
        addresses of one pattern. `counted_as` is the pattern for which the page is counted, if that is not `own`.
        """
        patterns = {self.pattern(url) for url in urls}
        if not is_list:
            patterns.discard(own)
        may_be_open = self.counts.get(counted_as or own, NOTHING_KNOWN).open < MOST_OPEN
        use = Usefulness.USELESS  # or OPEN, if it is not known yet whether the links are useful
        for pattern in patterns:
            if self.counts.get(pattern, NOTHING_KNOWN).is_proven:
                return Usefulness.USEFUL
            if may_be_open and not self.is_unproductive(self.judged_by(pattern)):
                use = Usefulness.OPEN
        return use

    def _lent(self, pattern: str) -> int:
        """The useless requests that other patterns lend to this one: the most that those with one of its names lend."""
        useless = self._useless_by_name or {}
        names = self._names_of(pattern)
        # Its own requests are not lent. For a pattern with a label, these are the requests of the pattern without it.
        own = self.counts.get(pattern.partition(" ")[0], NOTHING_KNOWN).useless
        return max((useless[name] - own for name in names if name in useless), default=0)

    def _names_of(self, pattern: str) -> frozenset[str]:
        """The names that the pattern may share with others, including UNLISTED if no sitemap lists its addresses."""
        names = self._names.get(pattern) or names_of(pattern)
        is_in_sitemap = pattern.partition(" ")[0] in self.in_sitemaps
        if is_in_sitemap or not self._has_useful_sitemap:
            return names
        return names | {UNLISTED}


class PatternMemory:
    """The patterns of the sites used last."""

    def __init__(self) -> None:
        self._sites: LruDict[str, SitePatterns] = LruDict(MOST_SITES)
        self._addresses: LruDict[int, str] = LruDict(2 * MOST_SITES)
        """An address on each of the sites whose leases came last, by the id of the site: the database gives the counts
        by these ids, which links do not have.
        """

    def of(self, url: str) -> SitePatterns:
        """The patterns of the site of an address."""
        name = address_of(url).site
        site_patterns = self._sites.use(name)
        if site_patterns is not None:
            return site_patterns
        self._sites.set(name, SitePatterns())
        return self._sites[name]

    def count(self, lease: Lease, use: PatternUse) -> None:
        """Count a request of this worker until the counts of the database have it."""
        self.of(lease.candidate.requested or lease.candidate.url).count(use)

    def update(
        self,
        leases: Iterable[Lease],
        counts: Mapping[int, Mapping[str, PatternCounts]],
        since: Iterable[Completion] = (),
    ) -> None:
        """Take over the counts of sites, by their ids, and count the requests that have ended `since` the last batch.

        The sites are those of the new leases and of earlier ones. The counts do not contain the requests `since`.
        """
        for lease in leases:
            self._addresses.set(lease.site_id, lease.candidate.url)
        for site_id, of_site in counts.items():
            if site_id in self._addresses:
                self.of(self._addresses[site_id]).update(of_site)
        for completion in since:
            pattern_use = completion.result.pattern_use
            if pattern_use is not None and completion.lease.site_id in counts:
                self.count(completion.lease, pattern_use)

    def learn_names(self, links: Iterable[Candidate]) -> set[str]:
        """Learn the names of patterns from new links.

        Returns the links that changed the patterns of sites with put-off addresses, because these addresses may have
        other patterns now.
        """
        links_that_changed_patterns = set()
        pages = [link for link in links if link.kind is AddressKind.LINK]
        for link in pages:
            site_patterns = self.of(link.url)
            has_new_name = site_patterns.patterns.see(link.url, link.labels)
            if has_new_name and any(counts.put_off for counts in site_patterns.counts.values()):
                links_that_changed_patterns.add(link.url)
        for link in pages:
            if link.via is FoundBy.SITEMAP:
                self.of(link.url).remember_in_sitemap(link.url)
        return links_that_changed_patterns

    def pattern_to_put_off(
        self, lease: Lease, seen: Callable[[Iterable[str]], Collection[str]] = lambda urls: ()
    ) -> str:
        """The pattern because of which an address is put off; empty if it is to be requested.

        Pages in a sitemap, feed or similar list that the user gave as a seed are not put off, nor are retries and
        stored pages. `seen` returns those of the given addresses that the crawl knows.
        """
        candidate = lease.candidate
        if candidate.via is FoundBy.SITEMAP:
            self.of(candidate.url).remember_in_sitemap(candidate.url)
        if not _may_be_put_off(lease):
            return ""
        site_patterns = self.of(candidate.url)
        pattern = site_patterns.pattern(candidate.url)
        labelled = site_patterns.labelled(pattern, candidate.labels)
        if site_patterns.counts.get(labelled, NOTHING_KNOWN).is_proven:
            return ""
        # A parameter may matter for one path and not for another: one address of each path is requested.
        useless_parameters: list[str] = []
        if site_patterns.counts.get(pattern, NOTHING_KNOWN).requests > 0:
            useless_parameters = [
                parameter for parameter, shorter in site_patterns.useless_parameters(candidate.url) if seen((shorter,))
            ]
        for put_off_by in (*useless_parameters, site_patterns.judged_by(pattern), labelled):
            if site_patterns.put_off_next(put_off_by):
                return put_off_by
        return ""

    def priority(self, lease: Lease) -> int:
        """The priority of a leased address: a lower one if its pattern brings lists."""
        candidate = lease.candidate
        if not (_may_be_put_off(lease) and candidate.has_learned_priority):
            return candidate.priority
        site_patterns = self.of(candidate.url)
        pattern = site_patterns.pattern(candidate.url)
        labelled = site_patterns.labelled(pattern, candidate.labels)
        if site_patterns.awaits_other_pages(pattern, labelled):
            return priority_of_list(candidate.priority)
        return candidate.priority

    def use(self, lease: Lease, result: PageResult, links: Iterable[Candidate]) -> PatternUse | None:
        """The use of a request, for the counts of its pattern; None if the request says nothing about the pattern."""
        candidate = lease.candidate
        if candidate.kind is not AddressKind.LINK or lease.history is not None:
            return None
        use = use_of(result, Usefulness.USELESS)  # for now without its links
        if use is None:
            return None

        # The pattern of the address, and the pattern with the label of its link.
        url = candidate.requested or candidate.url
        site_patterns = self.of(url)
        pattern = site_patterns.pattern(url)
        labelled = site_patterns.labelled(pattern, candidate.labels)
        has_many_queries = site_patterns.has_many_queries(pattern)
        # Useless pages behind links with one label do not count against a pattern that was useful, unless the pattern
        # may be endless: then all its pages count.
        may_be_endless = has_many_queries or is_combined(pattern)
        was_useful = site_patterns.counts.get(pattern, NOTHING_KNOWN).useful > 0
        is_for_label_only = bool(labelled) and was_useful and not may_be_endless
        is_list = result.outcome is not None and result.outcome.code in LISTS

        # The use of its new links.
        most = FEW_LINKS if use is Usefulness.USEFUL else MOST_LINKS
        urls = [link.url for link in islice(links, most) if link.kind is AddressKind.LINK and link.sight is None]
        of_links = Usefulness.USEFUL  # a link to another site may lead to pages
        if all(address_of(link).site == address_of(url).site for link in urls):
            of_links = site_patterns.use_of_links(pattern, urls, labelled if is_for_label_only else pattern, is_list)
        if not pattern:
            return None

        parameters: dict[str, str] = {}
        if result.record is not None:
            parameters = site_patterns.parameters(str(result.record.get("url") or ""))
        return PatternUse(
            pattern=pattern,
            use=use if use is Usefulness.USEFUL else of_links,
            of_copy=Usefulness.USELESS if has_many_queries else of_links,
            labelled=labelled,
            is_for_label_only=is_for_label_only,
            is_list=is_list,
            parameters=tuple(parameters.items()),
        )


def _may_be_put_off(lease: Lease) -> bool:
    """Whether an address was found by the crawl itself, and is neither a retry nor the address of a stored page."""
    candidate = lease.candidate
    # Pages in such lists that the user gave as seeds have a priority above that of all links.
    is_found = candidate.kind is AddressKind.LINK and candidate.via in MAY_BE_PUT_OFF and candidate.priority <= HIGHEST
    return is_found and not (candidate.requested or lease.history or lease.request)
