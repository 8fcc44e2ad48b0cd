"""What the state promises on every kind of database: nothing is lost, nothing is doubled, whoever dies."""

import pytest
from sqlalchemy import func, select, update
from store_workers import EVERYTHING, SEEDS, Crew, also, candidates, check_budgets, failed, lines, stored, urls, written

from crawler.frontier.batch import BatchReply, Redirect
from crawler.frontier.page_result import AddressKind, Candidate, LessonKind
from crawler.outcomes import Code, Outcome
from crawler.store import heartbeats
from crawler.store.crawl_tables import AddressState, address, crawl, host, worker
from crawler.store.heartbeats import LEASE_SECONDS
from crawler.store.page_tables import page, shared_example
from crawler.urls.canonical import Canonical

A, B, C, D = (f"http://{letter}.example/" for letter in "abcd")


# One address is one page.


@pytest.mark.parametrize("when", ["one batch", "later batch", "other worker", "restart", "after a crash"])
def test_an_address_found_again_is_one_page(crew: Crew, when: str) -> None:
    plan = {"canonical": Canonical(["utm_.*"])}
    one = crew.join(*candidates(A, B), **plan)
    first, second = one.claim()
    found, again = candidates(C + "?utm_source=1", D), candidates(D + "?utm_source=2", C)
    if when == "one batch":
        one.end(stored(first, *found), stored(second, *again))
    else:
        one.end(stored(first, *found))
        if when == "later batch":
            one.end(stored(second, *again))
        else:
            if when == "restart":
                one.leave()
            elif when == "after a crash":
                one.die()
            other = crew.join(folder="two" if when == "other worker" else "one", **plan)
            other.seed(*again)
    assert set(crew.addresses()) == {A, B, C + "?utm_source=1", D}


def test_one_address_is_an_image_here_and_a_page_there(crew: Crew) -> None:
    one = crew.join(Candidate(A), Candidate(A, -1, kind=AddressKind.IMAGE), Candidate(A, -2, kind=AddressKind.IMAGE))
    leases = one.claim()
    assert [held.candidate.kind for held in leases] == ["link", "image"]
    one.end(*map(stored, leases))
    assert (len(one.records()), len(lines(one.session.images.path))) == (1, 1)


def test_a_link_back_to_a_page_that_is_done_lets_nothing_wait(crew: Crew) -> None:
    one = crew.join(*candidates(A))
    (held,) = one.claim()
    answer = one.end(stored(held, *candidates(A)), idle=True, demand=EVERYTHING)
    assert (answer.leases, answer.waiting, answer.over) == ([], 0, True)


# What is stored of a page.


@pytest.mark.parametrize(("score", "via"), [(None, "seed"), (0.0, "sitemap"), (0.75, "link")])
def test_what_was_thought_of_a_link_is_kept_with_its_page(crew: Crew, score: float | None, via: str) -> None:
    one = crew.join(*candidates(A))
    (held,) = one.claim()
    one.end(stored(held, link_score=score, via=via))
    with crew.engine.connect() as connection:
        assert tuple(connection.execute(select(page.c.link_score, page.c.via)).one()) == (score, via)
    assert [(line["link_score"], line["via"]) for line in one.records()] == [(score, via)]


def test_a_page_is_kept_in_the_database_and_in_the_file(crew: Crew) -> None:
    one = crew.join(*candidates(A))
    (held,) = one.claim()
    fields = {"title": "T", "text": "one\ntwo", "relevance": 0.5, "images": [{"url": "i"}], "language": "en"}
    fields |= {"author": "A", "comments": "C", "page_type": "article"}
    validators = {"etag": '"1"', "last_modified": "now"}
    one.end(also(stored(held, **fields), validators=validators))
    assert one.records()[0] | fields == one.records()[0]
    with crew.engine.connect() as connection:
        row = connection.execute(select(page)).one()._mapping
    kept = {name: row[name] for name in (*fields, *validators, "url", "fetched_at")}
    assert kept == fields | validators | {
        "images": '[{"url": "i"}]',
        "url": A,
        "fetched_at": one.records()[0]["fetched_at"],
    }


def test_odd_characters_are_stored(crew: Crew) -> None:
    texts = ["a\x00b", "a\ud800b", "a\udfff", "\x00", "\U0001f600"]
    fields = ["text", "title", "comments", "author", "published", "images"]
    rows = {f"{A}{field}{number}": (field, text) for field in fields for number, text in enumerate(texts)}
    worker = crew.join(*candidates(*rows))
    for lease in worker.claim():
        field, text = rows[lease.candidate.url]
        worker.end(stored(lease, **{field: [{"alt": text}] if field == "images" else text}))
    assert len(worker.records()) == crew.value(select(func.count()).select_from(page)) == len(rows)


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
def test_odd_characters_from_servers_are_stored(crew: Crew, text: str) -> None:
    one = crew.join(*candidates(A, B, C))
    first, second, third = one.claim()
    taught = failed(second, Outcome(Code.ERROR, text), lessons=((LessonKind.SEED, text),))
    one.end(also(stored(first), validators={"etag": text}), taught, closed={"c.example": Code.HOST_CLOSED})
    assert crew.addresses()[B][0] == AddressState.DONE
    one.end(failed(third))
    assert len(one.records()) == 1


# Workers that end.


@pytest.mark.parametrize("ending", ["leave", "die"])
def test_what_a_worker_held_waits_again_when_it_has_ended(crew: Crew, ending: str) -> None:
    one = crew.join(*candidates(A, B, C))
    held = one.claim()
    one.end(stored(held[0]))
    getattr(one, ending)()
    again = crew.join()
    assert urls(again.claim()) == [B, C]
    crashes = crew.value(select(func.sum(address.c.crashes)))
    assert crashes == (2 if ending == "die" else 0)
    again.end(*map(stored, again.hand.values()))
    assert written(crew.folder) == {A: 1, B: 1, C: 1}


@pytest.mark.parametrize("deaths", [2, 3])
def test_what_killed_so_many_workers_is_given_up(crew: Crew, monkeypatch: pytest.MonkeyPatch, deaths: int) -> None:
    monkeypatch.setattr(heartbeats, "MOST_CRASHES", 3)
    one = crew.join(*candidates(A))
    for _ in range(deaths):
        assert urls(one.claim()) == [A]
        one.die()
        one = crew.join()
    expected = (AddressState.WAITING, None) if deaths < 3 else (AddressState.DONE, Outcome(Code.WORKERS_CRASHED))
    assert crew.addresses()[A] == expected
    assert one.commit(idle=True).over == (deaths == 3)


def test_who_ends_well_never_gives_an_address_up(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "MOST_CRASHES", 1)
    for _ in range(3):
        one = crew.join(*candidates(A))
        assert urls(one.claim()) == [A]
        one.leave()


@pytest.mark.parametrize(("silent", "buried"), [(LEASE_SECONDS - 5, 0), (LEASE_SECONDS + 5, 1)])
def test_a_silent_worker_is_taken_for_dead(crew: Crew, silent: float, buried: int) -> None:
    one, two = crew.pair(*candidates(A, B))
    held = one.claim()
    two.commit()
    crew.change(
        update(worker).where(worker.c.id == one.session.worker_id).values(heartbeat=worker.c.heartbeat - silent)
    )
    two.commit()
    assert two.session.committer.expire_silent_workers() == buried
    assert urls(two.claim()) == (urls(held) if buried else [])


def test_ends_of_a_worker_taken_for_dead_change_nothing(crew: Crew) -> None:
    one, two = crew.pair(*candidates(A, B, C))
    held = one.claim()
    crew.change(update(worker).where(worker.c.id == one.session.worker_id).values(heartbeat=0.0))
    two.commit()
    assert two.session.committer.expire_silent_workers() == 1
    two.claim(addresses=1)
    before = crew.dump()
    redirects = [Redirect(held[2], Candidate(D))]
    happened = {"redirects": redirects, "returned": held[1:2], "demand": EVERYTHING, "closed": {"a.example": "why"}}
    assert one.end(stored(held[0], *candidates(D)), **happened) == BatchReply(lost=True)
    assert crew.dump() == before
    assert one.records() == []
    one.session.rejoin(expired=True)
    assert urls(one.claim()) == [B, C]
    assert one.session.committer.expire_silent_workers() == 0


def test_a_worker_that_looks_dead_after_an_outage_is_not(crew: Crew) -> None:
    """Both were silent for as long, and this one is heard first."""
    one, two = crew.pair(*candidates(A))
    crew.change(update(worker).values(heartbeat=worker.c.heartbeat - LEASE_SECONDS - 5))
    assert one.session.committer.expire_silent_workers() == two.session.committer.expire_silent_workers() == 0


def test_a_worker_of_another_crawl_is_not_buried(crew: Crew) -> None:
    one, two = crew.join(*candidates(A)), crew.join(name="other", folder="two")
    one.claim()
    crew.change(update(worker).where(worker.c.id == one.session.worker_id).values(heartbeat=0.0))
    two.commit()
    assert two.session.committer.expire_silent_workers() == 0


# Crawls and workers beside each other.


def test_two_crawls_in_one_database_do_not_see_each_other(crew: Crew) -> None:
    one, two = (crew.join(*candidates(A, B), name=name, site_limit=1, max_pages=2) for name in ("one", "two"))
    held = one.claim()
    assert urls(held) == [A, B]
    one.end(*map(stored, held), closed={"a.example": Code.HOST_CLOSED})
    assert one.commit(idle=True).over
    assert urls(two.claim()) == [A, B]
    two.end(*map(stored, two.hand.values()))
    check_budgets(crew.engine, 1)
    assert written(crew.folder) == {A: 2, B: 2}
    assert crew.value(select(func.count()).select_from(page)) == 4


def test_lessons_reach_every_worker_once(crew: Crew) -> None:
    one, two = crew.pair(*candidates(A, B))
    first, second = one.claim()
    one.end(also(stored(first), lessons=((LessonKind.HOME, A), (LessonKind.SEED, "a text"))))
    one.end(also(stored(second), lessons=((LessonKind.HOME, B),)))
    two.commit()
    two.commit()
    late = crew.join(folder="three")
    late.commit()
    expected = [("home", A), (LessonKind.SEED, "a text"), (LessonKind.HOME, B)]
    assert one.lessons == two.lessons == late.lessons == expected


def test_a_lesson_that_is_committed_late_is_learned(crew: Crew) -> None:
    """PostgreSQL gives numbers in the order in which they are asked for, not in that of the commits."""
    one = crew.join()
    ids = {"id": 2, "crawl_id": one.session.crawl_id, "kind": "home"}
    crew.change(shared_example.insert().values(ids | {"text": B}))
    one.commit()
    crew.change(shared_example.insert().values(ids | {"id": 1, "text": A}))
    one.commit()
    assert sorted(one.lessons) == [("home", A), (LessonKind.HOME, B)]


def test_it_is_over_when_nothing_waits_and_nobody_holds_anything(crew: Crew) -> None:
    one, two = crew.pair(*candidates(A))
    (held,) = one.claim()
    answer = two.commit(idle=True, demand=EVERYTHING)
    assert (answer.over, answer.held_by_others, answer.workers) == (False, 1, 2)
    one.end(stored(held, *candidates(B)))
    answer = two.commit(idle=True)
    assert (answer.over, answer.held_by_others, answer.waiting) == (False, 0, 1)
    (last,) = two.claim()
    assert not one.commit(idle=True, demand=EVERYTHING).over
    assert not two.end(stored(last)).over  # it is not asked
    assert [each.commit(idle=True).over for each in (one, two, one)] == [True, True, True]
    assert crew.value(select(crawl.c.ended_at)) is not None


def test_it_is_not_over_while_a_host_rests(crew: Crew) -> None:
    one = crew.join(*candidates(A))
    held = one.claim()
    one.commit(returned=held, rests_of_dropped_hosts={held[0].host_id: 100.0})
    answer = one.commit(idle=True, demand=EVERYTHING)
    assert (answer.leases, answer.over) == ([], False)


def test_a_crawl_that_is_over_goes_on_with_more_seeds(crew: Crew) -> None:
    one = crew.join(Candidate(A, kind=AddressKind.SEED))
    one.end(*map(stored, one.claim()))
    assert one.commit(idle=True).over
    one.leave()
    again = crew.join(seeds=(*SEEDS, B))
    assert not again.session.begin([A])
    assert again.session.begin([A, B])
    again.seed(*candidates(A, B, kind=AddressKind.SEED))
    assert crew.value(select(crawl.c.ended_at)) is None
    assert urls(again.claim()) == [B]


def test_a_seed_that_failed_is_asked_again(crew: Crew) -> None:
    one = crew.join(*candidates(A, B, kind=AddressKind.SEED))
    first, second = one.claim()
    one.end(
        failed(first, Outcome(Code.HTTP_STATUS, "503"), lessons=((LessonKind.SEED_AGAIN, A),)),
        failed(second),
        closed={"a.example": Code.HOST_CLOSED},
    )
    assert one.commit(idle=True, demand=EVERYTHING).over
    one.leave()
    again = crew.join()
    assert again.session.begin([A, B])
    again.seed(*candidates(A, B, kind=AddressKind.SEED))
    assert urls(again.claim()) == [A]
    again.end(stored(again.hand.popitem()[1]))
    again.leave()
    assert not crew.join().session.begin([A, B])


@pytest.mark.parametrize(("pause", "left"), [(500.0, 20.0), (5.0, 5.0)])
def test_the_host_of_a_seed_that_failed_rests_for_its_usual_pause(crew: Crew, pause: float, left: float) -> None:
    one = crew.join(*candidates(A, kind=AddressKind.SEED))
    (first,) = one.claim()
    one.end(failed(first, Outcome(Code.HTTP_STATUS, "503"), lessons=((LessonKind.SEED_AGAIN, A),)))
    assert one.commit(idle=True, demand=EVERYTHING).over
    one.leave()
    now = crew.value(select(func.max(host.c.next_at)))
    crew.change(host.update().values(delay=20.0, next_at=now + pause))
    again = crew.join()
    assert again.session.begin([A])
    again.seed(*candidates(A, kind=AddressKind.SEED))
    assert crew.value(select(host.c.next_at)) - now == pytest.approx(left, abs=3.0)


@pytest.mark.parametrize("folders", [("one", "two"), ("one", "one")])
def test_a_host_returns_from_a_worker_that_ended(crew: Crew, folders: tuple[str, str]) -> None:
    one = crew.join(*candidates(A, A + "1"), folder=folders[0])
    one.claim(each_host=1)
    if folders == ("one", "two"):
        two = crew.join(folder="two")
        assert two.claim() == []
        one.leave()
    else:
        one.die()
        two = crew.join()
    assert urls(two.claim()) == [A, A + "1"]


def test_a_worker_that_died_elsewhere_does_not_keep_a_crawl_from_starting_anew(crew: Crew) -> None:
    one, two = crew.pair(*candidates(A))
    one.claim()
    one.die()
    two.leave()
    crew.change(update(worker).values(heartbeat=0.0))
    fresh = crew.join(*candidates(A), folder="two", fresh=True)
    assert urls(fresh.claim()) == [A]
