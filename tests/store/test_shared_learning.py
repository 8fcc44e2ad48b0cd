"""What workers learn of where the topic's pages are, and which of the links they know wait no more."""

import pytest
from sqlalchemy import select
from store_workers import Crew, Worker, candidates, failed, stored

from crawler.store.batch import shared_learning
from crawler.store.page_tables import focus
from crawler.urls.canonical import Canonical

A, B, C = (f"http://{letter}.example/" for letter in "abc")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have workers look at each commit what others have learned."""
    monkeypatch.setattr(shared_learning, "READ_SECONDS", 0.0)


def kept(crew: Crew) -> list[tuple[int, str, str]]:
    columns = focus.c.number, focus.c.summary, focus.c.learned
    with crew.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(select(*columns).order_by(focus.c.number))]


def test_each_seat_has_what_its_worker_learned_last(crew: Crew) -> None:
    one, two = crew.pair()
    one.commit(learned=("{}", "first"))
    two.commit(learned=("{}", "other"))
    one.commit(learned=('{"pages": 2}', "second"))
    one.commit()
    assert kept(crew) == [(1, '{"pages": 2}', "second"), (2, "{}", "other")]


def test_characters_that_a_database_refuses_are_left_out(crew: Crew) -> None:
    crew.join().commit(learned=("a\x00b", "c\ud800d"))
    assert kept(crew) == [(1, "ab", "c?d")]


@pytest.mark.usefixtures("at_once")
def test_others_learn_it_once_and_nobody_what_is_its_own(crew: Crew) -> None:
    one, two = crew.pair()
    assert (one.commit().shared_models, two.commit().shared_models) == ([], [])
    assert one.commit(learned=("{}", "first")).shared_models == []
    assert [two.commit().shared_models, two.commit().shared_models, one.commit().shared_models] == [["first"], [], []]
    one.commit(learned=("{}", "second"))
    assert two.commit(learned=("{}", "other")).shared_models == ["second"]
    assert (one.commit().shared_models, two.commit().shared_models) == (["other"], [])


def test_others_are_looked_at_now_and_then(crew: Crew) -> None:
    one, two = crew.pair()
    two.commit()
    one.commit(learned=("{}", "first"))
    assert two.commit().shared_models == []
    read_at = two.session.committer.shared_model.read_at
    assert read_at is not None
    two.session.committer.shared_model.read_at = read_at - shared_learning.READ_SECONDS
    assert two.commit().shared_models == ["first"]


def test_a_row_that_is_committed_late_is_read(crew: Crew, at_once: None) -> None:
    """Although one that was saved later has been read."""
    one, two = crew.pair()
    one.commit(learned=("{}", "first"))
    assert two.commit().shared_models == ["first"]
    late = {"crawl_id": one.session.crawl_id, "number": 3, "saved": 1.0, "summary": "", "learned": "late"}
    crew.change(focus.insert().values(**late))
    assert two.commit().shared_models == ["late"]


@pytest.mark.parametrize("ending", ["leave", "die"])
def test_a_later_run_goes_on_with_what_was_learned(crew: Crew, ending: str) -> None:
    one, two = crew.pair(*candidates(A))
    one.commit(learned=("{}", "mine"))
    two.commit(learned=("{}", "yours"))
    getattr(one, ending)()
    getattr(two, ending)()
    assert crew.join(folder="one").commit().shared_models == ["mine", "yours"]


def test_what_was_learned_is_of_one_crawl(crew: Crew) -> None:
    crew.join(name="one").commit(learned=("{}", "first"))
    assert crew.join(name="two").commit().shared_models == []


def test_a_fresh_crawl_has_learned_nothing(crew: Crew) -> None:
    one = crew.join()
    one.commit(learned=("{}", "first"))
    one.leave()
    assert crew.join(fresh=True).commit().shared_models == []
    assert kept(crew) == []


# What waits no more.


def mixed(crew: Crew) -> tuple[Worker, Worker]:
    """Two workers: one holds A and has ended A1 and A2, the other holds B; C waits."""
    one = crew.join(*candidates(A + "1", A + "2", A))
    first, second, _ = one.claim()
    one.end(stored(first), failed(second))
    two = crew.join(*candidates(B), folder="two")
    two.claim()
    one.seed(*candidates(C))
    return one, two


def test_what_waits_no_more(crew: Crew) -> None:
    one, two = mixed(crew)
    asked = (A, A + "1", A + "2", B, C, "http://unknown.example/")
    assert sorted(one.commit(asked_after=asked).no_longer_queued) == [A + "1", A + "2", B]
    assert sorted(two.commit(asked_after=asked).no_longer_queued) == [A, A + "1", A + "2"]
    assert one.commit(asked_after=(C,)).no_longer_queued == one.commit().no_longer_queued == []


def test_all_spellings_that_were_asked_after(crew: Crew) -> None:
    worker = crew.join(*candidates(A), canonical=Canonical(["utm_.*"]))
    worker.end(*map(stored, worker.claim()))
    asked = (A, A + "?utm_source=feed")
    assert sorted(worker.commit(asked_after=asked).no_longer_queued) == list(asked)
