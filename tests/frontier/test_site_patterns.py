"""Which addresses are put off because others of their pattern brought nothing."""

from collections.abc import Mapping
from dataclasses import replace
from string import ascii_letters

import pytest

from crawler.frontier.page_result import AddressKind, Candidate, Completion, FoundBy, Lease, PageResult
from crawler.frontier.put_off_rule import (
    AUDIT_FACTOR,
    AUDITED,
    AUDITED_WITHOUT_SIGN,
    ENOUGH,
    ENOUGH_EQUAL,
    ENOUGH_LISTS,
    ENOUGH_UNNAMED,
    FIRST_AUDIT,
    LEAST_OF_ENDLESS,
    MOST_BORROWED,
    MOST_OPEN,
    MOST_QUERIES,
    NOTHING_KNOWN,
    SITE_TRIALS,
    TRIALS,
    PatternCounts,
    PatternUse,
    RenderingState,
    Trial,
    Usefulness,
    is_unproductive,
    rendering_of,
    use_of,
)
from crawler.frontier.site_patterns import MOST_PATTERNS, MOST_SITES, PatternMemory, SitePatterns
from crawler.outcomes import Code, Outcome
from crawler.recrawl.page_history import ChangeCheck, PageChange, PageHistory
from crawler.topic.priorities import HIGHEST

SITE = "http://a.example"
KEPT = PageResult(record={"text": "Bees dance."})
NOINDEX = PageResult(Outcome(Code.NOINDEX))
LISTING = PageResult(Outcome(Code.LISTING))
MISSING = PageResult(Outcome(Code.HTTP_STATUS, "404"))
NAMED, UNNAMED = "/tag/*", "/*/*"
GOOD = PatternCounts(useful=2)


def test_when_a_pattern_brings_nothing() -> None:
    rows = [
        (NAMED, PatternCounts(0, ENOUGH - 1, ENOUGH - 1), 0, False),
        (NAMED, PatternCounts(0, ENOUGH, ENOUGH), 0, True),
        ("/#/#", PatternCounts(0, ENOUGH, ENOUGH), 0, True),
        (UNNAMED, PatternCounts(0, ENOUGH_UNNAMED - 1, ENOUGH_UNNAMED - 1), 0, False),
        (UNNAMED, PatternCounts(0, ENOUGH_UNNAMED, ENOUGH_UNNAMED), 0, True),
        (NAMED, PatternCounts(0, 1, 1), 1_000, False),
        (NAMED, PatternCounts(0, 2, 2), MOST_BORROWED, True),
        (NAMED, PatternCounts(0, 2, 2), MOST_BORROWED - 1, False),
        (NAMED, PatternCounts(1, 6, 6), 1_000, False),
        ("/*/#", PatternCounts(0, ENOUGH_UNNAMED - 1, ENOUGH_UNNAMED - 1), 0, False),
        (NAMED, PatternCounts(1, ENOUGH, ENOUGH), 0, False),
        (NAMED, PatternCounts(1, ENOUGH + 1, ENOUGH + 1), 0, True),  # (1/3)^8 after one that was useful
        (NAMED, PatternCounts(1, 107, 7), 1_000, False),  # one of a hundred was useful: seven say nothing
        (NAMED, PatternCounts(1, 400, 300), 0, True),
        (NAMED, PatternCounts(1, 400, 200), 0, False),
        (NAMED, PatternCounts(20, 26, 26), 0, False),
        (NAMED, PatternCounts(20, 27, 27), 0, True),
        (UNNAMED, PatternCounts(20, 39, 39), 0, False),
        (UNNAMED, PatternCounts(20, 40, 40), 0, True),
        ("*?id=*", PatternCounts(0, ENOUGH_EQUAL - 1, ENOUGH_EQUAL - 1), 0, False),
        ("*?id=*", PatternCounts(0, ENOUGH_EQUAL, ENOUGH_EQUAL), 0, True),
    ]
    for pattern, counts, lent, expected in rows:
        assert is_unproductive(pattern, counts, lent) is expected


def lists(useful: int, useless: int, others: int = 0) -> PatternCounts:
    """The counts of a pattern that has brought lists, useless ones last, and a few other pages."""
    return PatternCounts(useful + others, useless, useless, lists=useful + useless)


def test_when_lists_bring_nothing() -> None:
    rows = [
        (NAMED, lists(0, ENOUGH_LISTS - 1), 0, False),
        (NAMED, lists(0, ENOUGH_LISTS), 0, True),
        (NAMED, PatternCounts(open=1, lists=1), ENOUGH_LISTS, False),
        (UNNAMED, lists(0, ENOUGH_LISTS), 0, False),
        (NAMED, lists(0, 1), ENOUGH_LISTS - 2, False),
        (NAMED, lists(0, 1), ENOUGH_LISTS - 1, True),
        (NAMED, lists(0, 0), 100, False),
        (NAMED, PatternCounts(0, ENOUGH_LISTS, ENOUGH_LISTS), 100, False),
        (NAMED, lists(1, 6), 100, False),
        (NAMED, lists(9, 6), 0, False),
        (NAMED, lists(9, 7), 0, True),
        (NAMED, lists(9, 7, others=2), 0, False),
        (NAMED, lists(9, 30, others=2), 0, True),
    ]
    for pattern, counts, lists_lent, expected in rows:
        assert is_unproductive(pattern, counts, 0, lists_lent) is expected


def test_patterns_of_lists() -> None:
    rows = [
        (NOTHING_KNOWN, False),
        (lists(0, 1), True),
        (lists(1, 0), True),
        (lists(9, 0, others=1), True),
        (lists(8, 0, others=1), False),
        (PatternCounts(0, 5, 5), False),
        (PatternCounts(open=1, lists=1), True),
    ]
    for counts, expected in rows:
        assert counts.is_of_lists is expected


def trials(rendered: int, gained: int = 0) -> PatternCounts:
    return PatternCounts(rendered=rendered, gained=gained)


DUE, NOT_DUE, UNDECIDED = RenderingState.DUE, RenderingState.NOT_DUE, RenderingState.UNDECIDED


def test_when_a_page_is_rendered() -> None:
    rows = [
        (NOTHING_KNOWN, NOTHING_KNOWN, True, 0.9, 0, DUE),
        (NOTHING_KNOWN, NOTHING_KNOWN, False, 0.9, 0, NOT_DUE),
        (NOTHING_KNOWN, NOTHING_KNOWN, False, 0.9, TRIALS, NOT_DUE),
        (NOTHING_KNOWN, NOTHING_KNOWN, False, AUDITED_WITHOUT_SIGN, 0, NOT_DUE),
        (trials(9, 9), trials(9, 9), False, AUDITED_WITHOUT_SIGN / 2, 0, DUE),
        (trials(TRIALS - 1), NOTHING_KNOWN, True, 0.9, 0, DUE),
        (trials(TRIALS - 1), NOTHING_KNOWN, True, 0.9, 1, UNDECIDED),
        (trials(TRIALS - 2), NOTHING_KNOWN, True, 0.9, 1, DUE),
        (trials(TRIALS - 1), NOTHING_KNOWN, True, AUDITED / 2, 1, DUE),
        (trials(1, 1), NOTHING_KNOWN, True, 0.9, TRIALS, DUE),
        (trials(TRIALS), NOTHING_KNOWN, True, 0.9, 0, NOT_DUE),
        (trials(TRIALS), NOTHING_KNOWN, True, 0.9, 1, NOT_DUE),
        (trials(TRIALS), NOTHING_KNOWN, True, AUDITED, 0, NOT_DUE),
        (trials(TRIALS), NOTHING_KNOWN, True, AUDITED / 2, 0, DUE),
        (trials(8, 4), NOTHING_KNOWN, True, 0.9, 0, DUE),
        (trials(8, 3), NOTHING_KNOWN, True, 0.9, 0, NOT_DUE),
        (NOTHING_KNOWN, trials(SITE_TRIALS - 1), True, 0.9, 0, DUE),
        (NOTHING_KNOWN, trials(SITE_TRIALS), True, 0.9, 0, NOT_DUE),
        (NOTHING_KNOWN, trials(SITE_TRIALS, 1), True, 0.9, 0, DUE),
    ]
    for of_pattern, of_site, has_sign, draw, under_way, expected in rows:
        assert rendering_of(of_pattern, of_site, has_sign, draw, under_way) is expected


def test_pages_wait_for_the_trials_of_their_pattern() -> None:
    rows = [
        (True, NOTHING_KNOWN, DUE),
        (False, NOTHING_KNOWN, UNDECIDED),  # two are under way still
        (None, NOTHING_KNOWN, DUE),  # the browser did not start, so that one more may be tried
        (False, trials(TRIALS), NOT_DUE),
        (False, trials(4, 2), DUE),
    ]
    for has_gained, of_database, expected in rows:
        known = SitePatterns()
        urls = [f"{SITE}/story/{number}" for number in range(9)]
        for url in urls[:TRIALS]:
            assert known.rendering_of(url, True, 0.9) is DUE
            pattern = known.begin_trial(url)
        assert known.rendering_of(urls[-1], True, 0.9) is UNDECIDED
        known.end_trial(pattern, None if has_gained is None else Trial(pattern, has_gained))
        known.update({pattern: of_database})
        assert known.rendering_of(urls[-1], True, 0.9) is expected


def test_the_use_of_a_request() -> None:
    rows = [
        (KEPT, Usefulness.USEFUL),
        (PageResult(record={"text": " "}), Usefulness.OPEN),
        (PageResult(record={"text": "Bees."}, check=ChangeCheck(PageChange.NEW)), Usefulness.USEFUL),
        (PageResult(record={"text": "Bees."}, check=ChangeCheck(PageChange.CHANGED)), None),
        (PageResult(check=ChangeCheck(PageChange.SAME)), None),
        (NOINDEX, Usefulness.OPEN),
        (PageResult(Outcome(Code.LOGIN_FORM)), Usefulness.OPEN),
        (PageResult(Outcome(Code.MISSING)), Usefulness.OPEN),
        (PageResult(Outcome(Code.REDIRECT_TO_KNOWN)), Usefulness.OPEN),
        (PageResult(Outcome(Code.HTTP_STATUS, "404")), Usefulness.OPEN),
        (PageResult(Outcome(Code.HTTP_STATUS, "500")), None),
        (PageResult(Outcome(Code.TIMEOUT)), None),
        (PageResult(Outcome(Code.OFF_TOPIC)), None),
        (PageResult(Outcome(Code.LANGUAGE, "de")), None),
        (PageResult(Outcome(Code.NO_TEXT)), Usefulness.OPEN),
        (PageResult(Outcome(Code.NO_TEXT), awaits_browser=True), None),
    ]
    for result, use in rows:
        assert use_of(result, Usefulness.OPEN) is use


def known(**counts: PatternCounts) -> SitePatterns:
    found = SitePatterns()
    found.update({f"/{name}/*": one for name, one in counts.items()})
    return found


def test_the_use_of_new_links() -> None:
    rows = [
        ([], Usefulness.USELESS),
        (["/post/b"], Usefulness.USEFUL),
        (["/tag/b"], Usefulness.USELESS),
        (["/new/b"], Usefulness.OPEN),
        (["/old/b", "/new/b", "/post/b"], Usefulness.USEFUL),
        (["/old/b"], Usefulness.USELESS),
    ]
    for paths, use in rows:
        site = known(post=GOOD, old=PatternCounts(0, 9, 9), new=PatternCounts(1), tag=PatternCounts(0, 3, 3))
        assert site.use_of_links(NAMED, [SITE + path for path in paths]) is use


@pytest.mark.parametrize(("asked", "use"), [(MOST_OPEN - 1, Usefulness.OPEN), (MOST_OPEN, Usefulness.USELESS)])
def test_links_of_which_nothing_is_known_do_not_help_for_ever(asked: int, use: Usefulness) -> None:
    site = known(tag=PatternCounts(open=asked), new=PatternCounts())
    assert site.use_of_links(NAMED, [SITE + "/new/b"]) is use


@pytest.mark.parametrize(("other", "expected"), [(PatternCounts(0, 5, 5), True), (PatternCounts(1, 5, 5), False)])
def test_patterns_with_a_common_name_are_alike(other: PatternCounts, expected: bool) -> None:
    site = SitePatterns()
    site.update({"/*?do=edit&id=*": other, "/*?do=log&id=*": PatternCounts(0, 2, 2), "/*": GOOD})
    assert site.is_unproductive("/*?do=log&id=*") is expected


def test_lists_of_a_site_are_alike() -> None:
    rows = [
        ({"/category/*": lists(0, ENOUGH_LISTS - 1)}, True),
        ({"/category/*": lists(0, ENOUGH_LISTS - 2)}, False),
        ({"/category/*": lists(0, 1), "/author/*": lists(0, ENOUGH_LISTS - 2)}, True),
        ({"/category/*": lists(1, ENOUGH_LISTS - 1)}, False),
        ({"/category/*": PatternCounts(0, ENOUGH_LISTS - 1, ENOUGH_LISTS - 1)}, False),
        ({"/category/* .more": lists(0, ENOUGH_LISTS - 1)}, False),
    ]
    for other, expected in rows:
        site = SitePatterns()
        site.update({NAMED: lists(0, 1), **other})
        assert site.is_unproductive(NAMED) is expected


@pytest.mark.parametrize("useless", [ENOUGH_LISTS - 1, ENOUGH_LISTS])
def test_lists_of_a_labelled_pattern_bring_nothing(useless: int) -> None:
    site = SitePatterns()
    site.update({f"{NAMED} .more": lists(0, useless), NAMED: GOOD})
    assert site.is_unproductive(f"{NAMED} .more") is (useless == ENOUGH_LISTS)


LISTED = {"/post/*": GOOD}
ARCHIVES = {"/#/#": PatternCounts(0, 5, 5)}
PART = PatternCounts(0, 2, 2)


def test_what_a_useful_sitemap_does_not_list_is_alike() -> None:
    rows = [
        ("/post/b", LISTED | ARCHIVES, "/part/#", True),
        ("/post/b", LISTED | ARCHIVES, "/part/# .next", True),
        ("/post/b", LISTED | {"/#/#": PatternCounts(0, 4, 4)}, "/part/#", False),
        ("/post/b", LISTED | ARCHIVES | {"/guide/*": PatternCounts(1)}, "/part/#", False),
        ("/post/b", {"/post/*": PatternCounts(1)} | ARCHIVES, "/part/#", False),
        ("/part/7", LISTED | ARCHIVES, "/part/#", False),
        ("", LISTED | ARCHIVES, "/part/#", False),
    ]
    for listed, counts, pattern, expected in rows:
        found = PatternMemory()
        found.update([lease(SITE)], {7: counts | {pattern: PART}})
        if listed:
            found.learn_names([Candidate(SITE + listed, via=FoundBy.SITEMAP)])
        assert found.of(SITE).is_unproductive(pattern) is expected


def test_a_sitemap_may_list_any_number_of_patterns() -> None:
    found = PatternMemory()
    names = (f"{first}{second}" for first in ascii_letters for second in ascii_letters)
    found.learn_names([Candidate(f"{SITE}/?{name}=1", via=FoundBy.SITEMAP) for name in names])
    assert len(found.of(SITE).in_sitemaps) == MOST_PATTERNS


def test_what_a_sitemap_lists_is_known_from_its_leases() -> None:
    found = memory(LISTED | ARCHIVES | {"/part/#": PART})
    assert not found.of(SITE).is_unproductive("/part/#")
    found.pattern_to_put_off(lease(SITE + "/post/b", via=FoundBy.SITEMAP))
    assert found.of(SITE).is_unproductive("/part/#")


def test_some_addresses_are_requested_as_an_audit() -> None:
    site = known(tag=PatternCounts(0, ENOUGH, ENOUGH))
    found = [site.put_off_next(NAMED) for _ in range(FIRST_AUDIT * AUDIT_FACTOR + 1)]
    assert [at + 1 for at, one in enumerate(found) if not one] == [FIRST_AUDIT, FIRST_AUDIT * AUDIT_FACTOR]


def lease(url: str, known: PageHistory | None = None, **fields: object) -> Lease:
    return Lease(1, Candidate(url, **fields), 1, 7, history=known)  # type: ignore[arg-type]


TAGS_AND_POSTS = {NAMED: PatternCounts(0, ENOUGH, ENOUGH), "/post/*": GOOD}


def memory(counts: Mapping[str, PatternCounts] = TAGS_AND_POSTS) -> PatternMemory:
    found = PatternMemory()
    found.update([lease(SITE)], {7: counts, 8: {NAMED: GOOD}})
    return found


def test_only_links_that_are_new_are_put_off() -> None:
    rows = [
        (lease(SITE + "/tag/b"), NAMED),
        (lease(SITE + "/post/b"), ""),
        (lease(SITE + "/new/b"), ""),
        (lease("http://b.example/tag/b"), ""),
        (lease(SITE + "/tag/b", via=FoundBy.SITEMAP), NAMED),
        (lease(SITE + "/tag/b", via=FoundBy.SITEMAP, priority=9_999), ""),
        (lease(SITE + "/tag/b", via=FoundBy.IMAGE, sight="a picture"), NAMED),
        (lease(SITE + "/tag/b", via=FoundBy.FEED, priority=HIGHEST), NAMED),
        (lease(SITE + "/tag/b", via=FoundBy.FEED, priority=9_999), ""),
        (lease(SITE + "/tag/b", kind=AddressKind.SEED, via=FoundBy.SEED), ""),
        (lease(SITE + "/tag/b", kind=AddressKind.IMAGE), ""),
        (lease(SITE + "/tag/b", requested=SITE + "/post/b"), ""),
        (lease(SITE + "/tag/b", known=PageHistory()), ""),
        (replace(lease(SITE + "/tag/b"), request=object()), ""),
    ]
    for one, pattern in rows:
        assert memory().pattern_to_put_off(one) == pattern


POST, TAG, ELSEWHERE = (Candidate(url) for url in (SITE + "/post/c", SITE + "/tag/c", "http://b.example/"))
NEW = Candidate(SITE + "/new/c")
USELESS_LIST = PatternUse(NAMED, Usefulness.USELESS, Usefulness.USELESS, is_list=True)


def test_what_a_request_says_about_its_pattern() -> None:
    rows = [
        (lease(SITE + "/tag/b"), MISSING, [], PatternUse(NAMED, Usefulness.USELESS, Usefulness.USELESS)),
        (lease(SITE + "/tag/b"), MISSING, [POST], PatternUse(NAMED, Usefulness.USEFUL, Usefulness.USEFUL)),
        (lease(SITE + "/tag/b"), MISSING, [TAG], PatternUse(NAMED, Usefulness.USELESS, Usefulness.USELESS)),
        (lease(SITE + "/tag/b"), MISSING, [ELSEWHERE], PatternUse(NAMED, Usefulness.USEFUL, Usefulness.USEFUL)),
        (lease(SITE + "/tag/b"), NOINDEX, [], USELESS_LIST),
        (
            lease(SITE + "/tag/b"),
            LISTING,
            [POST],
            replace(USELESS_LIST, use=Usefulness.USEFUL, of_copy=Usefulness.USEFUL),
        ),
        (lease(SITE + "/tag/b"), LISTING, [TAG], USELESS_LIST),
        (lease(SITE + "/new/b"), LISTING, [NEW], PatternUse("/*/*", Usefulness.OPEN, Usefulness.OPEN, is_list=True)),
        (lease(SITE + "/new/b"), MISSING, [NEW], PatternUse("/*/*", Usefulness.USELESS, Usefulness.USELESS)),
        (lease(SITE + "/tag/b"), KEPT, [], PatternUse(NAMED, Usefulness.USEFUL, Usefulness.USELESS)),
        (
            lease(SITE + "/x", requested=SITE + "/tag/b"),
            MISSING,
            [],
            PatternUse(NAMED, Usefulness.USELESS, Usefulness.USELESS),
        ),
        (lease(SITE + "/tag/b", kind=AddressKind.SEED), KEPT, [], None),
        (lease(SITE + "/tag/b", known=PageHistory()), NOINDEX, [], None),
        (lease(SITE + "/tag/b"), PageResult(Outcome(Code.TIMEOUT)), [], None),
    ]
    for one, result, links, use in rows:
        assert memory().use(one, result, links) == use


REPLY = '"reply"'
LABELLED = f"/x/* {REPLY}"


def of_alike_addresses(plain: PatternCounts, labelled: PatternCounts) -> PatternMemory:
    found = PatternMemory()
    found.update([lease(SITE)], {7: {"/x/*": plain, LABELLED: labelled}})
    return found


def test_the_label_of_a_link_tells_where_addresses_are_alike() -> None:
    rows = [
        (GOOD, PatternCounts(0, ENOUGH, ENOUGH), REPLY, LABELLED),
        (GOOD, PatternCounts(0, ENOUGH, ENOUGH), ".title", ""),
        (GOOD, PatternCounts(0, ENOUGH - 1, ENOUGH - 1), REPLY, ""),
        (PatternCounts(0, ENOUGH, ENOUGH), PatternCounts(), REPLY, "/x/*"),
        # The same requests, which do not count twice.
        (*[PatternCounts(0, ENOUGH - 1, ENOUGH - 1)] * 2, REPLY, ""),
        (*[PatternCounts(0, ENOUGH, ENOUGH)] * 2, REPLY, "/x/*"),
        (PatternCounts(2, 30, 30), PatternCounts(2), REPLY, ""),
        (PatternCounts(2, 30, 30), PatternCounts(2), "", "/x/*"),
    ]
    for plain, labelled, labels, pattern in rows:
        assert of_alike_addresses(plain, labelled).pattern_to_put_off(lease(SITE + "/x/b", labels=labels)) == pattern


@pytest.mark.parametrize(
    ("plain", "labels", "use"),
    [
        (GOOD, REPLY, PatternUse("/x/*", Usefulness.USELESS, Usefulness.USELESS, LABELLED, True)),
        (PatternCounts(0, 1, 1), REPLY, PatternUse("/x/*", Usefulness.USELESS, Usefulness.USELESS, LABELLED)),
        (GOOD, ".title", PatternUse("/x/*", Usefulness.USELESS, Usefulness.USELESS)),
    ],
)
def test_a_request_from_a_link_with_a_label_is_counted_apart(
    plain: PatternCounts, labels: str, use: PatternUse
) -> None:
    found = of_alike_addresses(plain, PatternCounts())
    assert found.use(lease(SITE + "/x/b", labels=labels), MISSING, []) == use


def test_lists_wait() -> None:
    rows = [
        (lists(0, 1), NOTHING_KNOWN, "", 80),
        (lists(9, 0), NOTHING_KNOWN, REPLY, 80),
        (GOOD, NOTHING_KNOWN, REPLY, 800),
        (GOOD, lists(1, 0), REPLY, 80),
        (lists(9, 0), GOOD, REPLY, 800),
        (lists(9, 0), PatternCounts(1), REPLY, 80),
    ]
    for of_pattern, of_label, labels, priority in rows:
        patterns = of_alike_addresses(of_pattern, of_label)
        assert patterns.priority(lease(SITE + "/x/b", priority=800, labels=labels)) == priority


def test_only_lists_that_were_found_wait() -> None:
    rows = [
        (lease(SITE + "/tag/b", priority=500), 50),
        (lease(SITE + "/tag/b", priority=100), 10),
        (lease(SITE + "/tag/b", priority=99), 99),
        (lease(SITE + "/tag/b", priority=500, via=FoundBy.FEED), 50),
        (lease(SITE + "/tag/b", priority=500, via=FoundBy.SITEMAP), 50),
        (lease(SITE + "/tag/b", priority=9_999, via=FoundBy.SITEMAP), 9_999),
        (lease(SITE + "/tag/b", priority=500, sight="{}"), 500),
        (lease(SITE + "/tag/b", priority=9_999, via=FoundBy.FEED), 9_999),
        (lease(SITE + "/tag/b", priority=500, kind=AddressKind.SEED, via=FoundBy.SEED), 500),
        (lease(SITE + "/tag/b", known=PageHistory(), priority=500), 500),
        (lease(SITE + "/post/b", priority=500), 500),
    ]
    for waiting, priority in rows:
        assert memory({NAMED: lists(1, 0), "/post/*": GOOD}).priority(waiting) == priority


def test_requests_count_before_the_database_has_counted_them() -> None:
    patterns = memory({NAMED: PatternCounts(0, ENOUGH - 1, ENOUGH - 1)})
    tag = lease(SITE + "/tag/b")
    use = PatternUse(NAMED, Usefulness.USELESS)
    assert patterns.pattern_to_put_off(tag) == ""
    patterns.count(tag, use)
    assert patterns.pattern_to_put_off(tag) == NAMED
    earlier = PatternCounts(0, ENOUGH - 2, ENOUGH - 2)
    ended = Completion(tag, PageResult(pattern_use=use))
    for since, pattern in [([ended], ""), ([ended, ended], NAMED)]:
        patterns.update([], {7: {NAMED: earlier}}, since)
        assert patterns.pattern_to_put_off(tag) == pattern
    patterns.update([], {}, [ended])
    assert patterns.of(SITE).counts[NAMED].useless == ENOUGH


@pytest.mark.parametrize(("asked", "use"), [(MOST_OPEN - 1, Usefulness.OPEN), (MOST_OPEN, Usefulness.USELESS)])
def test_links_of_which_nothing_is_known_count_for_the_labelled_pattern(asked: int, use: Usefulness) -> None:
    found = of_alike_addresses(GOOD, PatternCounts(open=asked))
    one = lease(SITE + "/x/b", labels=REPLY)
    assert found.use(one, MISSING, [Candidate(SITE + "/new/b")]) == PatternUse("/x/*", use, use, LABELLED, True)


ID = "*?id=*"
PLACE = f"{SITE}/manual?page=2&id=bees"
IDLE = PatternCounts(0, ENOUGH_EQUAL, ENOUGH_EQUAL)


PLACES = "/manual?id=*&page=*"
TRIED = {PLACES: PatternCounts(0, 1, 1)}


@pytest.mark.parametrize(
    ("counts", "known", "expected"),
    [
        (TRIED | {ID: IDLE}, {f"{SITE}/manual?page=2"}, ID),
        (TRIED | {ID: IDLE}, {f"{SITE}/manual"}, ""),
        (TRIED | {ID: PatternCounts(0, ENOUGH_EQUAL - 1, ENOUGH_EQUAL - 1)}, {f"{SITE}/manual?page=2"}, ""),
        (TRIED | {ID: PatternCounts(1, ENOUGH_EQUAL, ENOUGH_EQUAL)}, {f"{SITE}/manual?page=2"}, ""),
        ({ID: IDLE}, {f"{SITE}/manual?page=2"}, ""),
        ({PLACES: PatternCounts(put_off=1), ID: IDLE}, {f"{SITE}/manual?page=2"}, ""),
    ],
)
def test_an_address_is_put_off_that_a_parameter_alone_sets_apart_from_a_known_one(
    counts: dict[str, PatternCounts], known: set[str], expected: str
) -> None:
    """One address of each path is requested, as the parameter may decide what is shown there."""
    found = PatternMemory()
    found.update([lease(SITE)], {7: counts})
    assert found.pattern_to_put_off(lease(PLACE), lambda urls: known.intersection(urls)) == expected


def test_the_parameters_of_a_stored_page_are_counted() -> None:
    use = PatternMemory().use(lease(PLACE), PageResult(record={"text": "Bees dance.", "url": PLACE}), [])
    assert use is not None
    assert dict(use.parameters) == {ID: f"{SITE}/manual?page=2", "*?page=*": f"{SITE}/manual?id=bees"}


def test_a_new_name_is_told_where_addresses_are_put_off() -> None:
    found = memory()
    links = [Candidate(f"{SITE}/news/{letter}") for letter in "abcdefghijklm"]
    assert found.learn_names(links) == set()
    found.of(SITE).counts[NAMED] = PatternCounts(0, 7, 7, put_off=1)
    links = [Candidate(f"{SITE}/blog/{letter}") for letter in "abcdefghijklm"]
    assert found.learn_names(links) == {f"{SITE}/blog/l"}


MANY = {f"/timeline?{letter}=*": NOTHING_KNOWN for letter in ascii_letters[:MOST_QUERIES]}
FEW = dict(list(MANY.items())[1:])
FURTHER = f"{SITE}/timeline?Z=c"
HALF = LEAST_OF_ENDLESS // 2


def test_further_queries_of_a_path_are_one_pattern() -> None:
    rows = [
        (MANY, FURTHER, "/timeline?*"),
        (MANY, f"{SITE}/timeline?b=c", "/timeline?b=*"),
        (MANY, f"{SITE}/timeline", "/timeline"),
        (MANY, f"{SITE}/tree?b=c", "/*?b=*"),
        (FEW, FURTHER, "/timeline?Z=*"),
        (FEW | {"/timeline?Y=* .label": PatternCounts()}, FURTHER, "/timeline?Z=*"),
    ]
    for counts, url, pattern in rows:
        site = SitePatterns()
        site.update(counts)
        assert site.pattern(url) == pattern


def test_a_path_without_an_end_is_left() -> None:
    rows = [
        (PatternCounts(HALF, HALF), NOTHING_KNOWN, "/timeline?*"),
        (PatternCounts(HALF, HALF), PatternCounts(1, 2), "/timeline?*"),
        (PatternCounts(HALF, HALF), GOOD, ""),
        (PatternCounts(HALF + 1, HALF), NOTHING_KNOWN, ""),
        (PatternCounts(HALF - 1, HALF), NOTHING_KNOWN, ""),
    ]
    for of_further, of_own, expected in rows:
        found = memory(MANY | {"/timeline?*": of_further, "/timeline?Z=*": of_own})
        assert found.pattern_to_put_off(lease(FURTHER)) == expected


@pytest.mark.parametrize(
    ("of_days", "expected"),
    [
        (PatternCounts(HALF - 1, HALF + 1), "/timeline?*"),
        (PatternCounts(HALF - 2, HALF + 1), ""),
        (PatternCounts(HALF + 1, HALF), ""),
    ],
)
def test_a_path_without_an_end_is_judged_by_all_its_queries(of_days: PatternCounts, expected: str) -> None:
    found = memory(MANY | {"/timeline?a=*": of_days, "/timeline?b=*": PatternCounts(200, 100)})
    assert found.pattern_to_put_off(lease(f"{SITE}/timeline?a=c")) == expected
    assert found.pattern_to_put_off(lease(f"{SITE}/timeline?b=c")) == ""


FILES = "/file?ci=*&name=*"


def test_queries_whose_pages_are_copies_are_left() -> None:
    rows = [
        (FILES, PatternCounts(LEAST_OF_ENDLESS, copies=24), True),
        (f'{FILES} "file"', PatternCounts(30, 6, open=4, copies=24), True),
        (FILES, PatternCounts(LEAST_OF_ENDLESS, copies=23), False),
        (FILES, PatternCounts(LEAST_OF_ENDLESS - 1, copies=39), False),
        ("/file?ci=*&view=raw", PatternCounts(LEAST_OF_ENDLESS, copies=36), True),
        ("/file?ci=*&view=raw", PatternCounts(LEAST_OF_ENDLESS, copies=35), False),
        ("/file/*/*", PatternCounts(LEAST_OF_ENDLESS, copies=40), False),
    ]
    for pattern, counts, expected in rows:
        site = SitePatterns()
        site.update({pattern: counts})
        assert site.is_unproductive(pattern) is expected


def test_combined_parameters_are_judged_whole() -> None:
    found = memory({FILES: GOOD, f"{FILES} {REPLY}": NOTHING_KNOWN})
    use = found.use(lease(f"{SITE}/file?ci=a&name=b", labels=REPLY), MISSING, [])
    assert use == PatternUse(FILES, Usefulness.USELESS, Usefulness.USELESS, f"{FILES} {REPLY}")


@pytest.mark.parametrize(("copies", "use"), [(10, Usefulness.USEFUL), (11, Usefulness.OPEN)])
def test_links_to_copies_do_not_make_a_page_useful(copies: int, use: Usefulness) -> None:
    site = known(file=PatternCounts(20, copies=copies))
    assert site.use_of_links(NAMED, [SITE + "/file/b"]) is use


def test_copies_of_a_path_with_many_queries_are_useless_wherever_they_lead() -> None:
    found = memory(MANY | {"/tag/*": GOOD})
    lead = [Candidate(f"{SITE}/tag/b")]
    assert found.use(lease(FURTHER), KEPT, lead) == PatternUse("/timeline?*", Usefulness.USEFUL, Usefulness.USELESS)
    few = memory(FEW | {"/tag/*": GOOD})
    assert few.use(lease(FURTHER), KEPT, lead) == PatternUse("/timeline?Z=*", Usefulness.USEFUL, Usefulness.USEFUL)


def test_memory_is_bounded() -> None:
    found = PatternMemory()
    first = found.of("http://a0.example/")
    for number in range(MOST_SITES):
        assert found.of("http://a0.example/") is first
        found.of(f"http://b{number}.example/")
    for number in range(MOST_SITES):
        found.of(f"http://c{number}.example/")
    assert found.of("http://a0.example/") is not first
    site = SitePatterns()
    site.update({f"/{number}": GOOD for number in range(MOST_PATTERNS)})
    assert site.pattern(SITE + "/a/b/c") == ""
