"""The responses that are kept beside pages: the last one of each, as long as the page's crawl wants them."""

import json
from collections.abc import Sequence
from random import Random

import pytest
from sqlalchemy import Engine, delete, func, select, update
from store_workers import Crew, Worker, also, candidates, failed, stored

from crawler.frontier.page_result import AddressKind, Completion, Lease, StoredResponse
from crawler.outcomes import Code, Outcome
from crawler.store.batch.responses import Responses, record_id, response_of, zstd
from crawler.store.deletion import delete_crawl, delete_old_pages
from crawler.store.page_tables import page, stored_response

ASKED = "GET /?a HTTP/1.1", (("Accept", "text/html"), ("X", "caf\xe9"))
HEADERS = (("Content-Type", "text/html"), ("X", "caf\xe9\x00"))
FIRST = StoredResponse("HTTP/1.1 200 OK", HEADERS, bytes(range(256)) * 9, *ASKED)
SECOND = StoredResponse("HTTP/1.0 200 OK", (), b"")
OLD, NEW = "2024-05-06T07:08:09+00:00", "2999-01-01T00:00:00+00:00"
SEEDS = ("http://a.example/", "http://b.example/")


def kept(engine: Engine) -> list[tuple[str, StoredResponse | None]]:
    """The addresses of the pages with the responses that are kept of them."""
    same = stored_response.c.key == page.c.key
    found = select(page.c.url, *stored_response.c).join_from(page, stored_response, same)
    with engine.connect() as connection:
        rows = connection.execute(found.order_by(page.c.url)).mappings().all()
    return [(row["url"], response_of(row)) for row in rows]


def came(one: Lease, response: StoredResponse | None, fetched_at: str = OLD) -> Completion:
    return also(stored(one, fetched_at=fetched_at), response=response)


def store(crew: Crew, responses: Sequence[StoredResponse | None], times: Sequence[str] = (OLD, OLD)) -> Worker:
    """Have the seeds stored as pages that came in these responses."""
    one = crew.join(*candidates(*SEEDS, kind=AddressKind.SEED), seeds=SEEDS)
    held = sorted(one.claim(), key=lambda lease: lease.candidate.url)
    one.end(*(came(*each) for each in zip(held, responses, times, strict=True)))
    return one


@pytest.mark.parametrize("response", [FIRST, SECOND])
def test_a_response_is_kept_as_it_came(crew: Crew, response: StoredResponse) -> None:
    store(crew, [response, None])
    assert kept(crew.engine) == [(SEEDS[0], response)]


def test_what_brought_no_page_is_not_kept(crew: Crew) -> None:
    one = crew.join(*candidates(*SEEDS, kind=AddressKind.SEED), seeds=SEEDS)
    one.end(*(failed(lease, Outcome(Code.NOINDEX), response=FIRST) for lease in one.claim()))
    assert kept(crew.engine) == []


def test_of_a_page_that_is_fetched_again_the_last_one_is_kept(crew: Crew) -> None:
    one = crew.join(*candidates(*SEEDS, kind=AddressKind.SEED), seeds=SEEDS)
    first, second = sorted(one.claim(), key=lambda lease: lease.candidate.url)
    one.end(came(first, FIRST), came(second, FIRST))
    responses = Responses(one.session.crawl_id, one.session.committer.keys)
    with crew.engine.begin() as connection:
        responses.save(connection, responses.pack(connection, [came(first, FIRST), came(first, SECOND)]))
    assert kept(crew.engine) == [(SEEDS[0], SECOND), (SEEDS[1], FIRST)]


def noise(number: int) -> StoredResponse:
    """A response of 1,000 bytes that cannot be compressed."""
    return StoredResponse("HTTP/1.1 200 OK", (), Random(number).randbytes(1_000))


def test_responses_are_kept_until_they_take_what_they_may(crew: Crew) -> None:
    urls = tuple(f"http://{letter}.example/" for letter in "abcde")
    one = crew.join(*candidates(*urls, kind=AddressKind.SEED), seeds=urls)
    leases = sorted(one.claim(), key=lambda lease: lease.candidate.url)
    responses = Responses(one.session.crawl_id, one.session.committer.keys)
    responses.limit = 2_500  # the one that exceeds it is still stored

    def store(*pages: tuple[Lease, int]) -> tuple[int, int]:
        """How many of these responses were stored, and how many were not."""
        with crew.engine.begin() as connection:
            packed = responses.pack(connection, [came(lease, noise(number)) for lease, number in pages])
            responses.save(connection, packed)
        responses.committed()
        named = [ended.result.record["warc_record_id"] for ended in packed.ended if ended.result.record is not None]
        assert len([name for name in named if name is not None]) == len(packed.rows)
        return len(packed.rows), len(packed.left_out)

    assert store(*zip(leases[:2], range(2), strict=True)) == (2, 0)
    assert store((leases[1], 7)) == (1, 0)  # it takes the place of another, which is not counted
    assert store(*zip(leases[2:], range(2, 5), strict=True)) == (1, 2)
    assert store((leases[0], 9)) == (0, 1)  # whose first response is dropped, as it is no longer that of the page
    assert store((leases[3], 3), (leases[4], 4)) == (1, 1)
    other = Responses(one.session.crawl_id, one.session.committer.keys)
    other.limit = responses.limit
    responses = other  # another worker, or the next run
    assert store((leases[4], 4)) == (0, 1)


def test_a_page_and_its_line_name_the_record_of_their_response(crew: Crew) -> None:
    one = store(crew, [FIRST, None])
    with crew.engine.connect() as connection:
        rows = connection.execute(select(page.c.key, page.c.warc_record_id).order_by(page.c.url)).all()
    assert [row.warc_record_id for row in rows] == [record_id("response", rows[0].key, OLD), None]
    lines = [json.loads(line) for line in one.session.pages.path.read_bytes().splitlines()]
    assert {line["warc_record_id"] for line in lines} == {row.warc_record_id for row in rows}


def test_a_worker_says_what_it_left_out(crew: Crew) -> None:
    one = crew.join(*candidates(*SEEDS, kind=AddressKind.SEED), seeds=SEEDS)
    one.session.committer.responses.limit = 1
    reply = one.end(*(came(lease, FIRST) for lease in one.claim()))
    assert reply.left_out == {Outcome(Code.RESPONSE_LIMIT, "1"): 1}
    assert len(kept(crew.engine)) == 1


def test_a_fresh_crawl_forgets_them(crew: Crew) -> None:
    store(crew, [FIRST, SECOND]).leave()
    crew.join(*candidates(*SEEDS, kind=AddressKind.SEED), seeds=SEEDS, fresh=True)
    assert crew.value(select(func.count()).select_from(stored_response)) == 0
    assert crew.value(select(func.count()).select_from(page)) == 2


def test_pruning_drops_the_old(crew: Crew) -> None:
    store(crew, [FIRST, SECOND], [OLD, NEW])
    crew.change(update(page).values(checked_at=1.0))
    assert delete_old_pages(crew.engine.url, "2025-01-01T00:00:00+00:00") == 1
    assert kept(crew.engine) == [(SEEDS[1], SECOND)]
    assert crew.value(select(func.count()).select_from(stored_response)) == 1


def test_a_crawl_that_is_reset_leaves_none(crew: Crew) -> None:
    store(crew, [FIRST, SECOND]).leave()
    delete_crawl(crew.engine.url, "crawl")
    assert crew.value(select(func.count()).select_from(stored_response)) == 0


@pytest.mark.parametrize(("most", "is_too_large"), [(100, False), (99, True)])
def test_a_response_that_is_too_large_is_an_error(most: int, is_too_large: bool) -> None:
    row = {"status_line": "", "headers": "[]", "body": zstd.compress(b"a" * 100)}
    if is_too_large:
        with pytest.raises(ValueError, match="too large"):
            response_of(row, most)
    else:
        assert response_of(row, most) == StoredResponse("", (), b"a" * 100)


def test_a_page_goes_on_without_one(crew: Crew) -> None:
    store(crew, [FIRST, SECOND])
    crew.change(delete(stored_response))
    assert kept(crew.engine) == []
