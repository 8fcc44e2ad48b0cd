"""The counts of address patterns add up over batches and workers; what was put off is queued again when it helps."""

import pytest
from sqlalchemy import select
from store_workers import EVERYTHING, Crew, Worker, also, candidates, failed, stored

from crawler.frontier.page_result import Candidate, Lease
from crawler.frontier.put_off_rule import PatternCounts, PatternUse, Trial, Usefulness
from crawler.outcomes import Code, Outcome
from crawler.reports.address_patterns import PatternRow, address_patterns
from crawler.store.batch.address_patterns import COUNT_COLUMNS
from crawler.store.crawl_tables import address_pattern, site
from crawler.store.deletion import delete_frontier

SITE = "http://a.example/"
PATTERN, OTHER = "/tag/*", "/post/*"
LIST = PatternUse(PATTERN, Usefulness.USELESS, is_list=True)
USED = {use: PatternUse(PATTERN, use) for use in Usefulness}


def put_off(one: Lease, pattern: str = PATTERN) -> object:
    return failed(one, Outcome(Code.UNPRODUCTIVE, pattern), pattern_use=PatternUse(pattern, Usefulness.PUT_OFF))


def counts(crew: Crew) -> dict[str, PatternCounts]:
    with crew.engine.connect() as connection:
        rows = connection.execute(select(address_pattern)).all()
    return {row.pattern: PatternCounts(**{name: getattr(row, name) for name in COUNT_COLUMNS}) for row in rows}


def several(crew: Crew, number: int) -> tuple[Worker, list[Lease]]:
    one = crew.join(*candidates(*(f"{SITE}tag/{n}" for n in range(number))))
    return one, one.claim()


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([[Usefulness.USELESS, Usefulness.USELESS]], PatternCounts(0, 2, 2)),
        ([[Usefulness.USELESS], [Usefulness.USELESS, Usefulness.OPEN]], PatternCounts(0, 2, 2, 1)),
        ([[Usefulness.USELESS, Usefulness.USEFUL, Usefulness.USELESS]], PatternCounts(1, 2, 1)),
        ([[Usefulness.USELESS, Usefulness.USELESS], [Usefulness.USEFUL, Usefulness.USELESS]], PatternCounts(1, 3, 1)),
        ([[Usefulness.USEFUL], [Usefulness.USELESS], [Usefulness.USELESS]], PatternCounts(1, 2, 2)),
    ],
)
def test_counts_of_batches_add_up(crew: Crew, batches: list[list[Usefulness]], expected: PatternCounts) -> None:
    one, leases = several(crew, 4)
    for batch in batches:
        ended = [also(failed(leases.pop()), pattern_use=USED[use]) for use in batch]
        reply = one.end(*ended)
    assert counts(crew) == {PATTERN: expected}
    assert list(reply.patterns.values()) == [{PATTERN: expected}]


def test_lists_add_up(crew: Crew) -> None:
    one, leases = several(crew, 4)
    one.end(
        also(failed(leases.pop()), pattern_use=LIST), also(failed(leases.pop()), pattern_use=USED[Usefulness.USELESS])
    )
    reply = one.end(also(failed(leases.pop()), pattern_use=LIST))
    assert list(reply.patterns.values()) == [{PATTERN: PatternCounts(0, 3, 3, lists=2)}]


def test_trials_of_rendering_add_up_with_what_the_pages_are_good_for(crew: Crew) -> None:
    one, leases = several(crew, 4)
    gained, vain = Trial(PATTERN, True), Trial(PATTERN, False)
    one.end(also(stored(leases.pop()), trial=gained), also(failed(leases.pop()), trial=vain))
    assert counts(crew) == {PATTERN: PatternCounts(rendered=2, gained=1)}
    used = also(failed(leases.pop()), pattern_use=USED[Usefulness.USELESS], trial=vain)
    reply = one.end(used, also(stored(leases.pop()), trial=Trial("", True)))
    expected = PatternCounts(0, 1, 1, rendered=3, gained=1)
    assert list(reply.patterns.values()) == [counts(crew)] == [{PATTERN: expected}]


def test_a_worker_is_told_the_counts_of_the_sites_that_it_leases(crew: Crew) -> None:
    one, two = crew.pair(*candidates(SITE + "tag/1", SITE + "tag/2"))
    first, second = one.claim()
    one.end(also(failed(first), pattern_use=USED[Usefulness.USELESS]))
    one.commit(returned=[second], rests_of_dropped_hosts={second.host_id: 0.0})
    reply = two.commit(demand=EVERYTHING)
    assert dict(reply.patterns) == {first.site_id: {PATTERN: PatternCounts(0, 1, 1)}}


@pytest.mark.parametrize(("of_copy", "useful"), [(Usefulness.USELESS, 1), (Usefulness.USEFUL, 2)])
def test_a_copy_is_as_useful_as_its_links(crew: Crew, of_copy: Usefulness, useful: int) -> None:
    one, leases = several(crew, 2)
    use = PatternUse(PATTERN, Usefulness.USEFUL, of_copy)
    one.end(*(also(stored(lease, text_fingerprint="0" * 16), pattern_use=use) for lease in leases))
    assert (counts(crew)[PATTERN].useful, counts(crew)[PATTERN].copies) == (useful, 1)


@pytest.mark.parametrize(
    ("useful", "released"), [((PATTERN,), [1, 2]), ((OTHER,), [3]), ((), []), ((PATTERN, OTHER), [1, 2, 3])]
)
def test_what_was_put_off_is_queued_again_when_its_pattern_helps(
    crew: Crew, useful: tuple[str, ...], released: list[int]
) -> None:
    one, leases = several(crew, 6)
    one.end(put_off(leases[1]), put_off(leases[2]), put_off(leases[3], OTHER))
    assert counts(crew) == {PATTERN: PatternCounts(put_off=2), OTHER: PatternCounts(put_off=1)}
    helping = zip((leases[4], leases[5]), useful, strict=False)
    reply = one.end(*(also(stored(lease), pattern_use=PatternUse(name, Usefulness.USEFUL)) for lease, name in helping))
    assert reply.waiting == len(released)
    again = sorted(lease.candidate.url for lease in one.claim())
    assert again == [leases[number].candidate.url for number in released]
    assert all(found.put_off == 0 for name, found in counts(crew).items() if name in useful)


def test_a_new_name_on_a_site_queues_again_what_was_put_off_there(crew: Crew) -> None:
    elsewhere = "http://b.example/tag/1"
    one = crew.join(*candidates(SITE + "tag/1", SITE + "tag/2", elsewhere))
    one.end(*map(put_off, one.claim()))
    assert one.commit(links_that_changed_patterns={SITE + "new"}).waiting == 2
    assert sorted(lease.candidate.url for lease in one.claim()) == [SITE + "tag/1", SITE + "tag/2"]


def test_what_is_put_off_costs_its_site_no_request(crew: Crew) -> None:
    one, leases = several(crew, 1)
    one.end(put_off(leases[0]))
    with crew.engine.connect() as connection:
        assert connection.execute(select(site.c.requests, site.c.pages, site.c.held)).all() == [(0, 0, 0)]


def test_counts_survive_a_crash_and_are_deleted_with_the_frontier(crew: Crew) -> None:
    one, leases = several(crew, 2)
    one.end(also(failed(leases[0]), pattern_use=USED[Usefulness.USELESS]), put_off(leases[1]))
    one.die()
    again = crew.join()
    crawl_id = again.session.crawl_id
    with crew.engine.begin() as connection:
        row = PatternRow("a.example", PATTERN, requests=1, useful=0, put_off=1)
        assert address_patterns(connection, crawl_id, 9) == (row,)
        delete_frontier(connection, crawl_id)
        assert address_patterns(connection, crawl_id, 9) == ()


@pytest.mark.parametrize(
    ("use", "is_for_label_only", "expected"),
    [
        (Usefulness.USELESS, False, {PATTERN: PatternCounts(0, 1, 1), '/tag/* "x"': PatternCounts(0, 1, 1)}),
        (Usefulness.USELESS, True, {'/tag/* "x"': PatternCounts(0, 1, 1)}),
        (Usefulness.USEFUL, True, {PATTERN: PatternCounts(1), '/tag/* "x"': PatternCounts(1)}),
    ],
)
def test_the_pattern_with_a_label_is_counted_as_well(
    crew: Crew, use: Usefulness, is_for_label_only: bool, expected: dict[str, PatternCounts]
) -> None:
    one, leases = several(crew, 1)
    said = PatternUse(PATTERN, use, labelled='/tag/* "x"', is_for_label_only=is_for_label_only)
    one.end(also(failed(leases[0]), pattern_use=said))
    assert counts(crew) == expected


BEES = f"{SITE}manual?id=bees"
ID, SHORTER = "*?id=*", f"{SITE}manual"


@pytest.mark.parametrize(
    ("original", "fingerprint", "expected"),
    [
        (SHORTER, "0" * 16, PatternCounts(0, 1, 1)),
        (f"{SHORTER}?id=wasps", "0" * 16, PatternCounts(0, 1, 1)),
        (f"{SITE}guide", "0" * 16, None),  # a copy, but not of this address
        (f"{SITE}guide?id=bees", "0" * 16, None),
        (SHORTER, "1" * 16, PatternCounts(1)),
    ],
)
def test_a_parameter_is_useless_if_the_page_is_a_copy_of_the_same_address_without_it(
    crew: Crew, original: str, fingerprint: str, expected: PatternCounts | None
) -> None:
    one = crew.join(*candidates(original, BEES))
    first, second = sorted(one.claim(), key=lambda lease: lease.candidate.url == BEES)
    one.end(stored(first, text_fingerprint="0" * 16))
    use = PatternUse(PATTERN, Usefulness.USEFUL, parameters=((ID, SHORTER),))
    one.end(also(stored(second, text_fingerprint=fingerprint), pattern_use=use))
    assert counts(crew).get(ID) == expected


def test_labels_wait_with_their_addresses(crew: Crew) -> None:
    one = crew.join(*candidates(SITE))
    one.end(stored(one.claim()[0], Candidate(SITE + "x", labels='"reply"\n.tool')))
    assert [lease.candidate.labels for lease in one.claim()] == ['"reply"\n.tool']
