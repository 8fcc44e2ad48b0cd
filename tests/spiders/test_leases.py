"""The end of a request, counted and noted in one place."""

from crawler.frontier.batch import BatchReply
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.frontier.page_result import AddressKind, Candidate, Lease, LessonKind, PageResult
from crawler.outcomes import Code, Outcome
from crawler.spiders.crawl_status import CrawlStatus, OutcomeCounts
from crawler.spiders.request_outcomes import Leases
from crawler.store.batch.addresses import AddressKeys
from crawler.urls.canonical import Canonical

SEED, TARGET = "http://a.example/", "http://b.example/"


def test_a_redirected_seed_fails_under_the_address_that_was_given() -> None:
    frontier, status = Frontier(AddressKeys(1, Canonical(())), LimitSettings()), CrawlStatus(None)  # type: ignore[arg-type]
    lease = Lease(1, Candidate(TARGET, kind=AddressKind.SEED, requested=SEED), 1, 1)
    frontier.apply_reply(BatchReply([lease]), 0.0)
    assert frontier.take(0.0) == lease
    counts = OutcomeCounts(lambda name, by: None)
    leases = Leases(frontier, counts, status, lambda name, by: None, is_later_round=lambda: False)
    outcome = Outcome(Code.HTTP_STATUS, "404")
    leases.finish(lease, PageResult(outcome))
    leases.finish(lease, PageResult(outcome))  # it was ended before
    assert (status.seeds_failed, counts.outcomes) == ({SEED: outcome}, {outcome: 1})


def test_what_may_have_passed_is_requested_again_at_the_next_start() -> None:
    rows = [
        (AddressKind.SEED, Code.HTTP_STATUS, LessonKind.SEED_AGAIN),
        (AddressKind.SEED, Code.LOGIN_FORM, LessonKind.SEED_AGAIN),
        (AddressKind.SEED, Code.HOST_CLOSED, LessonKind.SEED_AGAIN),
        (AddressKind.SEED, Code.HOST_WALLED, LessonKind.SEED_AGAIN),
        (AddressKind.SEED, Code.ROBOTS_FORBIDS, None),
        (AddressKind.SEED, Code.NOT_HTML, None),
        (AddressKind.EXAMPLE, Code.TIMEOUT, LessonKind.EXAMPLE_AGAIN),
        (AddressKind.COUNTEREXAMPLE, Code.LOGIN_FORM, LessonKind.EXAMPLE_AGAIN),
        (AddressKind.LINK, Code.TIMEOUT, None),
    ]
    for kind, code, lesson in rows:
        frontier, status = Frontier(AddressKeys(1, Canonical(())), LimitSettings()), CrawlStatus(None)  # type: ignore[arg-type]
        lease = Lease(1, Candidate(SEED, kind=kind), 1, 1)
        frontier.apply_reply(BatchReply([lease]), 0.0)
        assert frontier.take(0.0) == lease
        counts = OutcomeCounts(lambda name, by: None)
        leases = Leases(frontier, counts, status, lambda name, by: None, is_later_round=lambda: False)
        leases.finish(lease, PageResult(Outcome(code)))
        (ended,) = frontier.batch(0.0).ended
        assert ended.result.lessons == (() if lesson is None else ((lesson, SEED),))
