"""Rounds, as workers keep books of them, in both databases."""

import time
from dataclasses import replace
from email.utils import formatdate
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import Engine, delete, func, insert, select, update
from store_workers import LOST, Crew, Worker, also, candidates, failed, lines, stored, urls

from crawler.frontier.page_result import AddressKind, Candidate, Completion, Lease, PageResult
from crawler.metadata.text_owner import TextOwner
from crawler.outcomes import Code, Outcome
from crawler.recrawl import near_duplicates as likeness_module
from crawler.recrawl.near_duplicates import signature
from crawler.recrawl.page_history import DUE, NEVER, ChangeCheck, PageChange
from crawler.recrawl.revisit_interval import Bounds
from crawler.store.batch.addresses import Addresses
from crawler.store.batch.rounds import RoundCounts, RoundLimits, begin_round, next_due, pages_known, round_counts
from crawler.store.crawl_tables import AddressState, address, crawl, host, site
from crawler.store.database import dialect_insert
from crawler.store.page_tables import near_duplicate_band, page, page_change, page_version
from crawler.topic.priorities import HIGHEST

A, B, C = (f"http://a.example/{name}" for name in "abc")
HOUR, DAY = 3_600.0, 86_400.0
SOON = Bounds(1e-6, 1e-6)
LONG = "Bees dance in the dark of the hive, and the others follow the dancer to learn the way. " + " ".join(
    f"word{number}" for number in range(400)
)
LIST = Outcome(Code.LIST)


def checked(one: Lease, found: PageChange, *links: Candidate, text: str = "text", **more: Any) -> Completion:
    """A page that was found to be so, whose text is this."""
    owner = more.pop("text_owner", TextOwner.UNKNOWN)
    check = ChangeCheck(found, f"print of {text}", "1:auto", signature(text), text_owner=owner)
    fields = {"text": text, "text_fingerprint": f"{abs(hash(text)):016x}"} | more
    if found in (PageChange.NEW, PageChange.CHANGED, PageChange.RENEWED):
        return also(stored(one, *links, **fields, change=found.value), check=check, validators={"etag": '"1"'})
    outcome = {PageChange.MISSING: LOST, PageChange.NOINDEX: Outcome(Code.NOINDEX)}.get(found)
    return Completion(one, PageResult(outcome, links=links, check=check))


def again(crew: Crew, everything: bool = False, **plan: Any) -> Worker:
    """A worker at the next round, if there is one."""
    worker = crew.join(**{"bounds": SOON} | plan)
    assert worker.session.begin(["http://seed.example/"] * 0, everything)
    return worker


def first_round(crew: Crew, *seeds: Candidate, **plan: Any) -> None:
    """A crawl that has had its first round."""
    worker = crew.join(*(seeds or candidates(A, B)), **{"bounds": SOON} | plan)
    while leases := worker.claim():
        worker.end(*(checked(one, PageChange.NEW, text=one.candidate.url) for one in leases))
    worker.commit(idle=True)
    worker.leave()


def of(crew: Crew, url: str, *columns: str) -> tuple[Any, ...]:
    """What the row of a page says."""
    with crew.engine.connect() as connection:
        return tuple(connection.execute(select(*(page.c[name] for name in columns)).where(page.c.url == url)).one())


def test_what_is_due_waits_again(crew: Crew) -> None:
    first_round(crew)
    crew.change(update(page).where(page.c.url == B).values(due_at=4e9))
    worker = again(crew)
    (lease,) = worker.claim()
    assert lease.candidate.url == A
    assert lease.history is not None
    assert (lease.history.etag, lease.history.source_fingerprint, lease.history.last_round) == (
        '"1"',
        f"print of {A}",
        1,
    )
    assert crew.value(select(crawl.c.round)) == 2
    worker.end(checked(lease, PageChange.SAME))
    assert not worker.claim()
    assert worker.session.round_counts() == RoundCounts(0, 0, 0, 1, 0)


def test_nothing_is_due(crew: Crew) -> None:
    first_round(crew, bounds=Bounds())
    worker = crew.join()
    before = crew.dump()
    assert not worker.session.begin([])
    assert crew.dump() == before
    assert worker.session.begin([], everything=True)
    assert len(worker.claim()) == 2


@pytest.mark.parametrize(("outcome", "begins"), [(Code.WORKERS_CRASHED, False), (Code.TIMEOUT, True)])
def test_no_round_begins_for_what_workers_crashed_at(crew: Crew, outcome: Code, begins: bool) -> None:
    first_round(crew)
    crew.change(update(page).where(page.c.url == B).values(due_at=4e9))
    crew.change(update(address).where(address.c.url == A).values(outcome=outcome))
    assert crew.join(bounds=SOON).session.begin([]) is begins
    assert (of(crew, A, "due_at") == (NEVER,)) is not begins


def test_what_was_broken_off_goes_on(crew: Crew) -> None:
    """No round begins while something waits, or is held."""
    one = crew.join(*candidates(A, B), bounds=SOON)
    one.end(*(checked(each, PageChange.NEW) for each in one.claim(addresses=1)))
    assert one.session.begin([], everything=True)
    held = one.claim()
    assert one.session.begin([], everything=True)
    assert crew.value(select(crawl.c.round)) == 1
    one.end(*(checked(each, PageChange.NEW) for each in held))
    assert one.session.begin([])
    assert crew.value(select(crawl.c.round)) == 2


def test_the_books_of_a_round_begin_anew(crew: Crew) -> None:
    first_round(crew)
    crew.change(update(host).values(closed=Code.HOST_CLOSED))
    crew.change(update(site).values(requests=9_999))
    worker = again(crew, max_pages=2)
    assert crew.value(select(crawl.c.pages)) == 0
    assert crew.value(select(func.sum(site.c.pages))) == crew.value(select(func.sum(site.c.requests))) == 0
    leases = worker.claim()
    assert sorted(urls(leases)) == [A, B]
    answer = worker.end(*(checked(one, PageChange.NOT_MODIFIED) for one in leases))
    assert answer.pages == 2
    assert crew.value(select(func.sum(site.c.pages))) == 2


@pytest.mark.parametrize("found", [PageChange.SAME, PageChange.NOT_MODIFIED])
def test_a_page_that_is_as_it_was(crew: Crew, found: PageChange) -> None:
    first_round(crew, *candidates(A))
    said = of(crew, A, "text", "title", "fetched_at", "first_seen", "first_round", "changed_round", "etag")
    worker = again(crew, bounds=Bounds(1e-6, DAY * 30))
    worker.end(*(checked(one, found) for one in worker.claim()))
    assert of(crew, A, "text", "title", "fetched_at", "first_seen", "first_round", "changed_round") == said[:-1]
    assert of(crew, A, "last_round", "checks", "changes") == (2, 1, 0)
    assert of(crew, A, "not_modified_round") == (2 if found is PageChange.NOT_MODIFIED else None,)
    assert of(crew, A, "etag") == ('"1"' if found is PageChange.NOT_MODIFIED else None,)
    assert len(worker.records()) == 1
    assert crew.addresses()[A][1] is None
    assert worker.session.round_counts() == RoundCounts(0, 0, 0, 1, int(found is PageChange.NOT_MODIFIED))


def test_a_page_that_changed(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    worker = again(crew)
    worker.end(*(checked(one, PageChange.CHANGED, text="new", fetched_at="2030-01-01") for one in worker.claim()))
    assert of(crew, A, "text", "changed_round", "changed_at", "changes", "first_round") == (
        "new",
        2,
        "2030-01-01",
        1,
        1,
    )
    assert of(crew, A, "first_seen") == ("2024-05-06T07:08:09+00:00",)
    assert [one["text"] for one in worker.records()] == [A, "new"]
    assert worker.session.round_counts() == RoundCounts(1, 0, 0, 0, 0)


@pytest.mark.parametrize(("keep", "expected"), [(0, []), (1, ["2"]), (2, ["1", "2"]), (9, ["0", "1", "2"])])
def test_versions(crew: Crew, keep: int, expected: list[str]) -> None:
    first_round(crew, *candidates(A))
    crew.change(update(page).values(text="0"))
    for number in range(1, 4):
        worker = again(crew, versions=keep)
        worker.end(*(checked(one, PageChange.CHANGED, text=str(number)) for one in worker.claim()))
        worker.leave()
    with crew.engine.connect() as connection:
        said = connection.execute(select(page_version.c.text).order_by(page_version.c.id)).scalars().all()
    assert said == expected


def test_another_version_of_the_extraction_changes_nothing(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    worker = again(crew)
    worker.end(*(checked(one, PageChange.RENEWED, text="renewed") for one in worker.claim()))
    assert of(crew, A, "text", "source_fingerprint", "changes", "changed_round") == (
        "renewed",
        "print of renewed",
        0,
        None,
    )
    assert len(worker.records()) == 1
    assert crew.value(select(func.count()).select_from(page_version)) == 0
    assert worker.session.round_counts() == RoundCounts(0, 0, 0, 1, 0)


def test_gone_twice_is_gone_and_comes_again_ever_later(crew: Crew) -> None:
    first_round(crew)
    for number in (2, 3):
        worker = again(crew)
        leases = {one.candidate.url: one for one in worker.claim()}
        assert sorted(leases) == [A, B]
        worker.end(checked(leases[A], PageChange.MISSING), checked(leases[B], PageChange.SAME))
        assert of(crew, A, "gone_count", "gone_round", "text") == (number - 1, None if number == 2 else 3, A)
        assert worker.session.round_counts() == RoundCounts(0, 0, number - 2, 1, 0)
        worker.leave()
    for pause in (DAY, 2 * DAY, 4 * DAY):
        worker = again(crew, everything=True, bounds=Bounds(HOUR, DAY))
        leases = {one.candidate.url: one for one in worker.claim()}
        worker.end(checked(leases[A], PageChange.MISSING), checked(leases[B], PageChange.SAME))
        due_at, checked_at = of(crew, A, "due_at", "checked_at")
        assert due_at - checked_at == pytest.approx(2 * pause)
        assert of(crew, A, "gone_round") == (3,)
        worker.leave()


def visit_again(crew: Crew, *found: PageChange) -> None:
    """One more round for each of these results of the page A."""
    for result in found:
        worker = again(crew, everything=True)
        worker.end(*(checked(one, result) for one in worker.claim()))
        worker.leave()


def test_a_page_with_noindex_has_left_at_once_and_comes_again(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    worker = again(crew)
    worker.end(*(checked(one, PageChange.NOINDEX) for one in worker.claim()))
    assert of(crew, A, "noindex", "gone_round", "gone_count", "text") == (True, 2, 0, A)
    assert worker.session.round_counts() == RoundCounts(0, 0, 0, 0, 0, noindex=1)
    worker.leave()
    since = of(crew, A, "gone_at")
    worker = again(crew)
    worker.end(*(checked(one, PageChange.NOINDEX) for one in worker.claim()))
    assert of(crew, A, "noindex", "gone_round") == (True, 2)
    assert of(crew, A, "gone_at") == since
    assert worker.session.round_counts() == RoundCounts(0, 0, 0, 0, 0)


def test_what_a_page_with_noindex_becomes(crew: Crew) -> None:
    rows = {
        "http://a.example/same": ((PageChange.NOINDEX, PageChange.SAME), (None, False)),
        "http://a.example/changed": ((PageChange.NOINDEX, PageChange.CHANGED), (None, False)),
        "http://a.example/missing": ((PageChange.NOINDEX, PageChange.MISSING), (2, True)),
        "http://a.example/gone": ((PageChange.NOINDEX, PageChange.MISSING, PageChange.MISSING), (4, False)),
        "http://a.example/last": ((PageChange.MISSING, PageChange.MISSING, PageChange.NOINDEX), (4, True)),
    }
    first_round(crew, *candidates(*rows))
    for number in range(3):
        worker = again(crew, everything=True)
        for lease in worker.claim():
            visits, _ = rows[lease.candidate.url]
            if number < len(visits):
                worker.end(checked(lease, visits[number]))
        worker.leave()
    for url, (_, expected) in rows.items():
        assert of(crew, url, "gone_round", "noindex") == expected, url


def test_readers_of_changes_learn_of_noindex_once(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    offsets = []
    for found in (PageChange.NOINDEX, PageChange.NOINDEX, PageChange.MISSING, PageChange.MISSING, PageChange.SAME):
        visit_again(crew, found)
        offsets.append(crew.value(select(page_change.c.offset)))
    assert [later > earlier for earlier, later in pairwise(offsets)] == [False, False, True, True]


def test_a_page_that_is_back_is_gone_no_more(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    for _ in range(2):
        worker = again(crew)
        worker.end(*(checked(one, PageChange.MISSING) for one in worker.claim()))
        worker.leave()
    worker = again(crew, everything=True)
    worker.end(*(checked(one, PageChange.SAME) for one in worker.claim()))
    assert of(crew, A, "gone_count", "gone_round", "gone_at") == (0, None, None)
    assert of(crew, A, "due_at")[0] < 4e9


def test_a_redirect_to_a_known_page_is_missing_once_in_a_round(crew: Crew) -> None:
    """Also if its worker is killed after it was told that the target is known, and another worker requests it again."""
    first_round(crew)
    worker = again(crew)
    [lease] = [one for one in worker.claim() if one.candidate.url == A]
    assert worker.move(lease, B) is None
    assert of(crew, A, "gone_count") == (0,)
    worker.end(failed(lease, Outcome(Code.REDIRECT_TO_KNOWN)))
    assert of(crew, A, "gone_count") == (1,)


def test_a_redirect_to_a_new_page_is_missing(crew: Crew) -> None:
    first_round(crew)
    worker = again(crew)
    [lease] = [one for one in worker.claim() if one.candidate.url == A]
    assert worker.move(lease, C) is not None
    assert of(crew, A, "gone_count") == (1,)


def test_which_of_those_that_brought_nothing_are_asked_for_again(crew: Crew) -> None:
    rows = [
        (Outcome(Code.TIMEOUT), True, True),
        (Outcome(Code.HTTP_STATUS, "404"), False, True),
        (Outcome(Code.HTTP_STATUS, "410"), False, True),
        (Outcome(Code.WORKERS_CRASHED), False, False),
        (Outcome(Code.SITE_BUDGET_SPENT), True, True),
        (Outcome(Code.ROBOTS_UNREADABLE, "connection_refused"), True, True),
        (Outcome(Code.ROBOTS_FORBIDS), False, True),
        (Outcome(Code.NOINDEX), False, True),
        (Outcome(Code.NOISE, "learned"), False, False),
        (Outcome(Code.REDIRECTED), False, True),
    ]
    addresses = [f"http://b.example/{number}" for number in range(len(rows))]
    for name in ("due", "all"):
        worker = crew.join(*candidates(A, *addresses), name=name, bounds=SOON)
        leases = {lease.candidate.url: lease for lease in worker.claim()}
        ended = [failed(lease, Outcome(Code.ANSWER_CUT)) for url, lease in leases.items() if url != A]
        worker.end(checked(leases[A], PageChange.NEW), *ended)
        worker.leave()
        for url, (outcome, _, _) in zip(addresses, rows, strict=True):
            of_this = address.c.url == url, address.c.outcome == Code.ANSWER_CUT
            crew.change(update(address).where(*of_this).values(outcome=outcome.code, outcome_detail=outcome.detail))
        worker = again(crew, name == "all", name=name)
        requested = urls(worker.claim())
        worker.leave()
        assert A in requested
        for url, (outcome, is_due, is_of_all) in zip(addresses, rows, strict=True):
            assert (url in requested) == (is_due if name == "due" else is_of_all), outcome


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize(("limit", "gone_at", "comes"), [(2, None, False), (3, None, True), (2, "2026-01-01", True)])
def test_what_a_budget_refused_comes_again_while_its_site_has_room(
    crew: Crew, limit: int, gone_at: str | None, comes: bool, everything: bool
) -> None:
    """A site without end does not grow in each round."""
    first_round(crew, *candidates(A, B, C), site_limit=2)
    assert crew.addresses()[C] == (AddressState.DONE, Outcome(Code.SITE_BUDGET_SPENT))
    crew.change(update(page).where(page.c.url == A).values(gone_at=gone_at, gone_round=gone_at and 1))
    again(crew, everything, site_limit=limit)
    assert (crew.addresses()[C] == (AddressState.WAITING, None)) is comes


def test_the_pages_of_a_round_are_counted_without_reading_them(sqlite_engine: Engine) -> None:
    """Plans of SQLite: reading a million rows, which hold the texts, takes a minute."""
    statements: list[str] = []
    with sqlite_engine.connect() as connection:
        connection.execute(insert(crawl).values(id=1, name="bees", seeds="[]", started_at=0.0))
        connection.connection.driver_connection.set_trace_callback(statements.append)  # type: ignore[union-attr]
        round_counts(connection, 1)
        pages_known(connection, 1)
        addresses = Addresses(1, dialect_insert(sqlite_engine))
        begin_round(connection, addresses, [], everything=True, limits=RoundLimits(0.0, site_pages=1_000))
        connection.connection.driver_connection.set_trace_callback(None)  # type: ignore[union-attr]
        of_pages = [
            step.detail
            for statement in statements
            if "last_round" in statement
            for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")
            if "page" in step.detail
        ]
    assert of_pages == ["SEARCH page USING COVERING INDEX page_list (crawl_id=?)"] * 3


def test_seeds_and_lists_come_in_every_round(crew: Crew) -> None:
    first_round(
        crew,
        *candidates(A),
        *candidates(B, kind=AddressKind.SEED, priority=10_000),
        *candidates(C, kind=AddressKind.LIST),
    )
    crew.change(update(page).where(page.c.url != A).values(due_at=4e9))
    crew.change(update(page).where(page.c.url == A).values(relevance=0.25))
    crew.change(update(address).where(address.c.url == C).values(outcome=Code.LIST))
    leases = again(crew).claim()
    assert {one.candidate.url: one.candidate.priority for one in leases} == {B: 10_000, A: 250, C: 0}


def test_a_lastmod_that_cannot_be_hides_no_header(crew: Crew) -> None:
    """The first interval is a tenth of the page's age."""
    now = time.time()
    ages = {-6e10: 50 * DAY, 631_151_999.0: 50 * DAY, 9e9: 50 * DAY, None: 50 * DAY, now - 20 * DAY: 20 * DAY}
    pages = {f"http://a.example/{number}": lastmod for number, lastmod in enumerate(ages)}
    worker = crew.join(*(Candidate(url, lastmod=lastmod) for url, lastmod in pages.items()), bounds=Bounds())
    headers = {"last_modified": formatdate(now - 50 * DAY, usegmt=True)}
    worker.end(*(also(checked(lease, PageChange.NEW), validators=headers) for lease in worker.claim()))
    for url, lastmod in pages.items():
        assert of(crew, url, "interval") == (pytest.approx(ages[lastmod] / 10, rel=1e-3),), lastmod


def test_a_sitemap_is_due_by_itself(crew: Crew) -> None:
    worker = crew.join(*candidates(C, kind=AddressKind.SEED), bounds=Bounds(HOUR, DAY))
    worker.end(*(failed(one, LIST) for one in worker.claim()))
    assert not worker.session.begin([C])
    crew.change(update(crawl).values(round_started=crawl.c.round_started - HOUR))
    assert worker.session.begin([C])
    assert urls(worker.claim()) == [C]


@pytest.mark.parametrize(
    ("lastmod", "found", "expected"),
    [
        (1.0, PageChange.SAME, False),
        (1e9, PageChange.SAME, True),
        (1e9, PageChange.MISSING, True),
        (4e9, PageChange.SAME, False),
    ],
)
def test_what_a_sitemap_says_is_changed(crew: Crew, lastmod: float, found: PageChange, expected: bool) -> None:
    """It is asked for once a round, if it was looked at before that; a time to come is none."""
    first_round(crew, *candidates(A, B))
    crew.change(update(page).values(checked_at=1e8))
    crew.change(update(page).where(page.c.url == A).values(due_at=4e9))
    worker = again(crew)
    (lent_b,) = worker.claim()
    worker.end(checked(lent_b, PageChange.SAME))
    crew.change(update(page).where(page.c.url == B).values(checked_at=1e8))
    listed = Candidate(A, 5, lastmod=lastmod), Candidate(B, 5, lastmod=lastmod)
    worker.seed(Candidate(C))
    (lent_c,) = worker.claim()
    worker.end(failed(lent_c, LIST, links=listed))
    woken = worker.claim()
    assert urls(woken) == [A] * expected
    worker.end(*(checked(one, found) for one in woken))
    worker.seed(Candidate(C + "2"))
    worker.end(*(failed(one, LIST, links=listed) for one in worker.claim()))
    assert worker.claim() == []


def test_a_page_that_a_sitemap_says_is_new_is_missed_once_a_round(crew: Crew) -> None:
    """A sitemap that is made anew each time gives the time at which it is asked for."""
    first_round(crew, *candidates(A))
    worker = again(crew)
    worker.end(*(checked(one, PageChange.MISSING) for one in worker.claim()))
    crew.change(update(page).values(checked_at=select(crawl.c.round_started).scalar_subquery()))
    worker.seed(Candidate(C))
    (lease,) = worker.claim()
    told = Candidate(A, 5, lastmod=crew.value(select(page.c.checked_at)) + 1e-5)
    worker.end(failed(lease, LIST, links=(told,)))
    assert urls(worker.claim()) == []
    assert of(crew, A, "gone_count") == (1,)


def test_new_links_bring_a_page_back_sooner(crew: Crew) -> None:
    first_round(crew)
    crew.change(update(page).values(interval=DAY))
    worker = again(crew, bounds=Bounds(HOUR, 30 * DAY))
    leases = {one.candidate.url: one for one in worker.claim()}
    worker.end(
        checked(leases[A], PageChange.SAME, *candidates(B, C, C + "2")),
        checked(leases[B], PageChange.SAME, *candidates(A, B)),
    )
    assert of(crew, A, "interval") == (0.75 * DAY,)
    assert of(crew, B, "interval") == (1.5 * DAY,)


@pytest.mark.parametrize("why", [Outcome(Code.TIMEOUT), Outcome(Code.ROBOTS_UNREADABLE, "timeout")])
def test_what_failed_is_due_soon_and_keeps_its_interval(crew: Crew, why: str) -> None:
    first_round(crew)
    crew.change(update(page).values(interval=DAY))
    worker = again(crew, bounds=Bounds(HOUR, 30 * DAY))
    leases = {one.candidate.url: one for one in worker.claim()}
    worker.end(failed(leases[A], why), failed(leases[B], Outcome(Code.NOINDEX)))
    for url, pause in ((A, HOUR), (B, DUE * DAY)):
        interval, due, at, checks, text = of(crew, url, "interval", "due_at", "checked_at", "checks", "text")
        assert (interval, due - at, checks, text) == (DAY, pause, 0, url)


def test_a_page_that_leads_elsewhere_is_due_again_later(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    crew.change(update(page).values(interval=DAY))
    worker = again(crew, bounds=Bounds(HOUR, 30 * DAY))
    (lease,) = worker.claim()
    moved = worker.move(lease, C)
    worker.end(checked(moved, PageChange.NEW))
    assert of(crew, C, "first_round") == (2,)
    due, at = of(crew, A, "due_at", "checked_at")
    assert due - at == DUE * DAY
    assert not worker.session.begin([])


def test_a_fresh_crawl_of_a_new_name_is_in_its_first_round(crew: Crew) -> None:
    assert crew.join(*candidates(A), fresh=True).session.committer.round.number == 1
    assert crew.join(*candidates(A), name="other").session.committer.round.number == 1


def test_a_fresh_crawl_knows_no_page(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    first_round(crew, *candidates(A), fresh=True)
    assert of(crew, A, "first_round", "last_round", "checks") == (2, 2, 0)
    assert crew.value(select(crawl.c.first_round)) == 2
    assert again(crew).claim()[0].history is not None


def test_after_a_fresh_crawl_a_page_without_links_is_visited_until_it_is_gone(crew: Crew) -> None:
    first_round(crew, *candidates(A, B))
    first_round(crew, *candidates(B), fresh=True, bounds=Bounds(HOUR, DAY))
    worker = crew.join(bounds=Bounds(HOUR, DAY))
    assert A not in crew.addresses()
    with crew.engine.connect() as connection:
        assert next_due(connection, worker.session.crawl_id) == 0
    for visit in (1, 2):
        crew.change(update(page).where(page.c.url == A).values(due_at=0))
        assert worker.session.begin([])
        (lease,) = worker.claim()
        assert lease.candidate.url == A
        worker.end(checked(lease, PageChange.MISSING))
        assert not worker.claim()
        assert of(crew, A, "gone_count") == (visit,)
    assert of(crew, A, "gone_round") == (4,)
    assert not worker.session.begin([])


def test_after_a_fresh_crawl_a_page_without_links_is_read_anew(crew: Crew) -> None:
    first_round(crew, *candidates(A, B))
    first_round(crew, *candidates(B), fresh=True)
    worker = again(crew)
    leases = {lease.candidate.url: lease for lease in worker.claim()}
    assert {url: (lease.history is None, lease.compared_history is None) for url, lease in leases.items()} == {
        A: (False, True),
        B: (False, False),
    }
    worker.end(checked(leases[A], PageChange.NEW, text="again"), checked(leases[B], PageChange.SAME))
    assert of(crew, A, "text", "first_round", "first_seen") == ("again", 3, "2024-05-06T07:08:09+00:00")
    assert [record["text"] for record in worker.records()] == [B, "again"]
    assert worker.session.round_counts() == RoundCounts(0, 1, 0, 1, 0)


def test_after_a_fresh_crawl_a_failed_visit_leaves_the_version_of_the_text(crew: Crew) -> None:
    first_round(crew, *candidates(A, B))
    first_round(crew, *candidates(B), fresh=True)
    worker = again(crew)
    worker.end(*(failed(lease) for lease in worker.claim()))
    assert of(crew, A, "extractor_version") == ("1:auto",)


def test_after_a_fresh_crawl_an_erased_page_is_not_visited(crew: Crew) -> None:
    first_round(crew, *candidates(A, B))
    first_round(crew, *candidates(B), fresh=True, bounds=Bounds(HOUR, DAY))
    crew.change(delete(page).where(page.c.url == A))
    assert not crew.join().session.begin([])


def test_after_a_fresh_crawl_a_page_that_is_linked_and_missing_becomes_gone(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    worker = crew.join(*candidates(A), fresh=True, bounds=SOON)
    worker.end(checked(*worker.claim(), PageChange.MISSING))
    worker.commit(idle=True)
    worker.leave()
    for _ in range(2):
        worker = again(crew)
        worker.end(checked(*worker.claim(), PageChange.MISSING))
        worker.commit(idle=True)
        worker.leave()
    assert of(crew, A, "gone_count") == (2,)


@pytest.mark.parametrize("is_fresh", [False, True])
def test_the_most_relevant_page_is_not_taken_for_one_of_exploration(crew: Crew, is_fresh: bool) -> None:
    first_round(crew, *candidates(A, B))
    crew.change(update(page).values(relevance=1.0))
    if is_fresh:
        first_round(crew, *candidates(B), fresh=True)
    priorities = {lease.candidate.url: lease.candidate.priority for lease in again(crew).claim()}
    assert priorities[A] == HIGHEST - 1


def test_crawls_know_nothing_of_each_other(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    first_round(crew, *candidates(A), name="other")
    again(crew, name="other").leave()
    rounds = {name: crew.value(select(crawl.c.round).where(crawl.c.name == name)) for name in ("crawl", "other")}
    assert rounds == {"crawl": 1, "other": 2}


def copies(crew: Crew) -> dict[str, str | None]:
    with crew.engine.connect() as connection:
        rows = connection.execute(select(page.c.url, page.c.duplicate_of).order_by(page.c.id)).all()
    return {row.url: row.duplicate_of for row in rows}


@pytest.mark.parametrize("at_once", [True, False])
def test_near_duplicates(crew: Crew, at_once: bool) -> None:
    """The first is the original, whether it comes in the same batch or long before."""
    worker = crew.join(*candidates(A, B, C))
    leases = worker.claim()
    texts = {A: LONG, B: f"{LONG} Printed in May.", C: LONG.replace("word", "other ")}
    ended = [checked(one, PageChange.NEW, text=texts[one.candidate.url]) for one in leases]
    if at_once:
        worker.end(*ended)
    else:
        for one in ended:
            worker.end(one)
    assert copies(crew) == {A: None, B: A, C: None}
    assert [one["duplicate_of"] for one in lines(worker.session.pages.path)] == [None, A, None]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        ((TextOwner.ANOTHER, TextOwner.ITSELF, TextOwner.UNKNOWN), [B, None, B]),
        ((TextOwner.ANOTHER, TextOwner.UNKNOWN, TextOwner.UNKNOWN), [B, None, B]),
        ((TextOwner.UNKNOWN, TextOwner.ANOTHER, TextOwner.UNKNOWN), [None, A, A]),
        ((TextOwner.ANOTHER, TextOwner.ANOTHER, TextOwner.ANOTHER), [None, A, A]),
    ],
)
def test_the_original_is_the_page_whose_text_it_is(
    crew: Crew, owners: tuple[TextOwner, ...], expected: list[str | None], at_once: bool
) -> None:
    """It may come later than a page that repeats it, which is its copy from then on."""
    worker = crew.join(*candidates(A, B, C))
    texts = (LONG, f"{LONG} Printed in May.", f"{LONG} Shared.")
    ended = [
        checked(one, PageChange.NEW, text=text, text_owner=owner)
        for one, text, owner in zip(worker.claim(), texts, owners, strict=True)
    ]
    for batch in [ended] if at_once else [[one] for one in ended]:
        worker.end(*batch)
    assert copies(crew) == dict(zip((A, B, C), expected, strict=True))
    if at_once:
        assert [one["duplicate_of"] for one in lines(worker.session.pages.path)] == expected


@pytest.mark.parametrize("at_once", [True, False])
def test_another_site_takes_no_text_from_the_page_that_came_first(crew: Crew, at_once: bool) -> None:
    elsewhere = "http://b.example/a"
    worker = crew.join(*candidates(A, elsewhere))
    owners = {A: TextOwner.ANOTHER, elsewhere: TextOwner.ITSELF}
    leases = sorted(worker.claim(), key=lambda lease: lease.candidate.url)
    ended = [checked(lease, PageChange.NEW, text=LONG, text_owner=owners[lease.candidate.url]) for lease in leases]
    for batch in [ended] if at_once else [[completion] for completion in ended]:
        worker.end(*batch)
    assert copies(crew) == {A: None, elsewhere: A}


def test_short_texts_are_copies_when_they_are_equal(crew: Crew) -> None:
    fingerprints = {"http://a.example/": "00" * 8, "http://b.example/": "ff" * 8, "http://c.example/": None}
    worker = crew.join(*candidates(*(f"{start}{number}" for start in fingerprints for number in (1, 2))))
    for lease in worker.claim():
        print_of_text = fingerprints[lease.candidate.url[:-1]]
        worker.end(checked(lease, PageChange.NEW, text="short", text_fingerprint=print_of_text))
    for start, print_of_text in fingerprints.items():
        assert copies(crew)[f"{start}1"] is None
        assert copies(crew)[f"{start}2"] == (f"{start}1" if print_of_text else None)


def test_a_page_that_changed_is_no_copy_any_more(crew: Crew) -> None:
    worker = crew.join(*candidates(A, B), bounds=SOON)
    worker.end(*(checked(one, PageChange.NEW, text=LONG) for one in worker.claim()))
    worker.leave()
    assert copies(crew) == {A: None, B: A}
    worker = again(crew)
    leases = {one.candidate.url: one for one in worker.claim()}
    other = LONG.replace("word", "thing")
    worker.end(checked(leases[A], PageChange.CHANGED, text=other), checked(leases[B], PageChange.SAME))
    worker.leave()
    worker = again(crew)
    leases = {one.candidate.url: one for one in worker.claim()}
    worker.end(checked(leases[A], PageChange.SAME), checked(leases[B], PageChange.CHANGED, text=f"{other} and more"))
    assert copies(crew) == {A: None, B: A}


@pytest.mark.parametrize("became", [PageChange.CHANGED, PageChange.MISSING])
def test_what_was_a_copy_of_a_page_that_changed_or_went_is_none(crew: Crew, became: PageChange) -> None:
    """It is the original from the next look on, also of what comes later; a copy it stays while the first is there."""
    first_round(crew, *candidates(A))
    crew.change(update(page).values(signature=signature(LONG)))
    worker = again(crew)
    worker.seed(Candidate(B))
    leases = {one.candidate.url: one for one in worker.claim()}
    worker.end(checked(leases[A], PageChange.CHANGED, text=LONG), checked(leases[B], PageChange.NEW, text=LONG))
    worker.leave()
    for found in (PageChange.SAME, became, became):
        assert copies(crew)[B] == A
        worker = again(crew, everything=True)
        leases = {one.candidate.url: one for one in worker.claim()}
        worker.end(checked(leases[B], PageChange.SAME))
        worker.end(checked(leases[A], found, text=LONG.replace("word", "thing")))
        worker.leave()
    worker = again(crew, everything=True)
    leases = {one.candidate.url: one for one in worker.claim()}
    worker.end(checked(leases[B], PageChange.NOT_MODIFIED))
    worker.seed(Candidate(C))
    worker.end(*(checked(one, PageChange.NEW, text=LONG) for one in worker.claim()))
    assert copies(crew) == {A: None, B: None, C: B}


def test_equal_pages_cost_no_more_the_more_they_are(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likeness_module, "MOST_UNDER_A_KEY", 2)
    urls = [f"http://a.example/{number}" for number in range(9)]
    worker = crew.join(*candidates(*urls))
    for one in worker.claim():
        number = int(one.candidate.url.rpartition("/")[2])
        text = LONG if number < 6 else LONG.replace("word", "word " * (number - 4))
        worker.end(checked(one, PageChange.NEW, text=text))
    with crew.engine.connect() as connection:
        bands = connection.execute(
            select(near_duplicate_band.c.band, func.count()).group_by(near_duplicate_band.c.band)
        ).all()
    assert max(count for _, count in bands) <= 2
    assert list(copies(crew).values())[:6] == [None, *[urls[0]] * 5]


def test_due_at_is_by_the_database_s_clock(crew: Crew) -> None:
    first_round(crew, *candidates(A), bounds=Bounds(HOUR, 30 * DAY))
    checked_at, due, interval = of(crew, A, "checked_at", "due_at", "interval")
    assert interval == DAY
    assert due - checked_at == DUE * DAY


def test_known_survives_a_lease_that_is_given_back(crew: Crew) -> None:
    first_round(crew, *candidates(A))
    worker = again(crew)
    (lease,) = worker.claim()
    worker.commit(returned=[lease])
    (lease,) = worker.claim()
    assert lease.history is not None
    assert replace(lease.history, due_at=0.0, checked_at=None).checks == 0
