"""Transactions that fail, and such that do not although the database seems to say so."""

import os
from collections.abc import Callable
from dataclasses import astuple, replace
from errno import EACCES, ENOSPC
from pathlib import Path
from threading import Timer
from typing import Any

import postgres
import pytest
from sqlalchemy import Engine, select
from sqlalchemy.exc import IntegrityError
from store_workers import EVERYTHING, Crew, Trouble, Worker, away, candidates, failed, lines, stored, urls, written

from crawler.errors import StateError
from crawler.frontier.batch import Batch, BatchReply, Redirect
from crawler.frontier.page_result import AddressKind, Candidate, LessonKind
from crawler.store import database
from crawler.store.crawl_tables import AddressState, host, output
from crawler.store.database import STATEMENT_SECONDS

A, B, C, D, E = (f"http://{letter}.example/" for letter in "abcde")
NEW = "http://new.example/"


def busy(worker: Worker) -> dict[str, Any]:
    """A batch in which something of every kind happens, when the worker holds all there is."""
    page, image, missing, redirected, returned = worker.hand.values()
    return {
        "ended": [
            stored(page, *candidates(NEW, A, "http://other.example/1"), text="a text"),
            stored(image),
            failed(missing, lessons=((LessonKind.HOME, C),)),
        ],
        "redirects": [Redirect(redirected, replace(redirected.candidate, url=D + "new", requested=D))],
        "returned": [returned],
        "rests_of_dropped_hosts": {missing.host_id: 5.0},
        "crawl_delays": {redirected.host_id: 3.0},
        "closed": {"closed.example": "closed"},
        "demand": EVERYTHING,
    }


def ready(crew: Crew, name: str = "crawl") -> Worker:
    """A worker that holds an address of every kind and has stored a page before."""
    worker = crew.join(*candidates("http://first.example/"), name=name)
    worker.end(*map(stored, worker.claim()))
    worker.seed(Candidate(A), Candidate(B, kind=AddressKind.IMAGE), *candidates(C, D, E))
    worker.claim()
    return worker


def outcome(crew: Crew, worker: Worker, answer: BatchReply) -> tuple[Any, ...]:
    """All that can be seen of what a batch did."""
    held = {(astuple(one.candidate), one.is_page) for one in worker.hand.values()}
    moved = [one and one.candidate for one in answer.redirected.values()]
    files = [[record["url"] for record in lines(path)] for path in worker.session.files.paths(1)]
    return (
        crew.addresses(worker.session.plan.name),
        held,
        moved,
        files,
        answer.pages,
        answer.waiting,
        worker.lessons,
    )


@pytest.mark.long
def test_a_failure_at_any_statement_changes_nothing(crew: Crew) -> None:
    """One try after the other fails, each a statement later than the one before."""
    worker = ready(crew, "untroubled")
    expected = outcome(crew, worker, worker.commit(**busy(worker)))
    worker = ready(crew)
    trouble = Trouble(worker.session.engine)
    trouble.fail_everywhere = True
    assert outcome(crew, worker, worker.commit(**busy(worker))) == expected
    assert trouble.failures > 20


def test_a_failed_commit_is_tried_again(crew: Crew) -> None:
    worker = ready(crew, "untroubled")
    expected = outcome(crew, worker, worker.commit(**busy(worker)))
    worker = ready(crew)
    trouble = Trouble(worker.session.engine)
    trouble.fail_commit = True
    assert outcome(crew, worker, worker.commit(**busy(worker))) == expected
    assert not trouble.fail_commit
    assert worker.session.committer.trouble == ""


def test_a_commit_whose_reply_was_lost_is_found_out(crew: Crew) -> None:
    """What it wrote stands; what the worker held is claimed again by the worker that it goes on as."""
    worker = ready(crew)
    trouble = Trouble(worker.session.engine)
    trouble.lose_reply = True
    answer = worker.session.committer.commit(Batch(**busy(worker)))
    assert (answer.lost, answer.committed, answer.leases) == (True, True, [])
    worker.rejoin()
    assert not trouble.lose_reply
    crew.change(host.update().values(next_at=0.0))  # its pause is over
    while leases := worker.claim():
        worker.end(*map(stored, leases))
    assert written(crew.folder)["http://first.example/"] == 1
    assert set(written(crew.folder).values()) == {1}
    states = crew.addresses()
    assert {state for state, _ in states.values()} == {AddressState.DONE}
    assert all(b"\x00" not in path.read_bytes() for path in worker.session.files.paths(1))


def test_two_replies_in_a_row_are_lost(crew: Crew) -> None:
    worker = crew.join(*candidates(A, B, C, D))
    trouble = Trouble(worker.session.engine)
    for _ in range(4):
        (lease,) = worker.claim(addresses=1)
        trouble.lose_reply = True
        answer = worker.session.committer.commit(Batch(ended=[stored(lease)], demand=EVERYTHING))
        assert (answer.lost, answer.committed) == (True, True)
        worker.rejoin()
    assert worker.claim() == []
    assert written(crew.folder) == {A: 1, B: 1, C: 1, D: 1}


def test_lines_of_a_transaction_that_failed_are_not_there(crew: Crew) -> None:
    worker = crew.join(*candidates(A, B))
    first, second = worker.claim()
    worker.end(stored(first))
    before = worker.session.pages.path.read_bytes()
    trouble = Trouble(worker.session.engine)
    trouble.fail_commit = True
    worker.session.committer.retry_seconds = -1.0
    with pytest.raises(StateError):
        worker.session.committer.commit(Batch(ended=[stored(second)]))
    worker.die()
    again = crew.join()
    assert again.session.pages.path.read_bytes() == before
    again.end(*map(stored, again.claim()))
    assert written(crew.folder) == {A: 1, B: 1}


def test_patience_has_an_end(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = crew.join(*candidates(A))
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(database.time, "monotonic", lambda: float(next(clock)))
    tries = count_tries(worker, away)
    worker.session.committer.retry_seconds = 45.0
    with pytest.raises(StateError):
        worker.session.committer.commit(Batch())
    assert 3 <= len(tries) <= 7


def test_a_server_that_never_answers_is_given_up(
    postgresql_engine: Engine, tmp_path: Path, postgres_server: postgres.Server
) -> None:
    crew = Crew(postgresql_engine, tmp_path)
    committer = ready(crew).session.committer
    committer.retry_seconds = 0.0
    assert committer.timeout_seconds == STATEMENT_SECONDS
    committer.stopping = True
    assert committer.timeout_seconds == 0.0
    postgres_server.freeze()
    too_late = Timer(0.3, committer.break_connection)
    too_late.start()
    try:
        with pytest.raises(StateError, match="cannot be written to"):
            committer.commit(Batch(demand=EVERYTHING))
    finally:
        too_late.join()
        postgres_server.thaw()
    committer.commit(Batch(demand=EVERYTHING))
    crew.close()


@pytest.mark.parametrize(
    ("error", "tried"),
    [
        (away, 3),
        (lambda: OSError(ENOSPC, "No space left on device"), 3),
        (lambda: OSError(EACCES, "Permission denied"), 1),
        (lambda: IntegrityError("INSERT", {}, Exception("violated")), 1),
    ],
)
def test_what_may_pass_is_tried_again(crew: Crew, error: Callable[[], Exception], tried: int) -> None:
    worker = crew.join(*candidates(A))
    tries = count_tries(worker, error, 2)
    if tried == 1:
        with pytest.raises(StateError):
            worker.session.committer.commit(Batch())
    else:
        assert urls(worker.claim()) == [A]
    assert len(tries) == tried


def count_tries(worker: Worker, error: Callable[[], Exception], failures: int = 1_000) -> list[None]:
    """Have so many batches of a worker fail; as many entries as there were tries."""
    tries: list[None] = []
    write = worker.session.committer._write

    def fail(*args: Any) -> BatchReply:
        tries.append(None)
        if len(tries) <= failures:
            raise error()
        return write(*args)

    worker.session.committer._write = fail  # type: ignore[method-assign]
    return tries


def test_a_full_disk_leaves_no_half_line(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = crew.join(*candidates(A, B))
    first, second = worker.claim()
    worker.end(stored(first))
    write, full = os.write, [True]

    def half(file: int, data: bytes) -> int:
        if full and data.startswith(b"{"):
            full.clear()
            write(file, data[: len(data) // 2])
            raise OSError(ENOSPC, "No space left on device")
        return write(file, data)

    monkeypatch.setattr("crawler.store.output_files.os.write", half)
    worker.end(stored(second))
    assert [record["url"] for record in worker.records()] == [A, B]


@pytest.mark.parametrize("ending", ["leave", "die"])
def test_a_file_that_was_taken_away_starts_anew(crew: Crew, ending: str) -> None:
    worker = crew.join(*candidates(A, B))
    first, _ = worker.claim()
    worker.end(stored(first, text="a long text " * 100))
    getattr(worker, ending)()
    worker.session.pages.path.unlink()
    again = crew.join()
    again.end(*map(stored, again.claim()))
    assert [record["url"] for record in again.records()] == [B]
    assert crew.value(select(output.c.pages_size)) == again.session.pages.path.stat().st_size


def test_what_a_crash_left_in_the_files_is_cut_off(crew: Crew) -> None:
    worker = crew.join(Candidate(A), Candidate(B, kind=AddressKind.IMAGE))
    worker.end(*map(stored, worker.claim()))
    before = [path.read_bytes() for path in worker.session.files.paths(1)]
    for path in worker.session.files.paths(1):
        with path.open("ab") as file:
            file.write(b'{"url": "half')
    worker.die()
    again = crew.join()
    assert [path.read_bytes() for path in again.session.files.paths(1)] == before
