"""Which worker of a crawl a process is: its number, its files, its lock, and what it finds there."""

import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from sqlalchemy import Engine, func, select
from store_workers import SEEDS, Crew, candidates, failed, lines, stored, urls

from crawler.errors import StateError
from crawler.frontier.page_result import AddressKind, Candidate, LessonKind
from crawler.outcomes import Code
from crawler.store import database
from crawler.store.crawl_tables import AddressState, crawl, host, output, worker
from crawler.store.database import open_database
from crawler.store.output_files import FileOffset, JsonLines
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.topic.priorities import BEHIND_IMAGE, UNLIKELY
from crawler.urls.canonical import Canonical

A, B, C = (f"http://{letter}.example/" for letter in "abc")


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """Files, numbers and messages are the same with each database."""
    return sqlite_engine


@pytest.fixture
def many(postgresql_engine: Engine, tmp_path: Path) -> Iterator[Crew]:
    """Workers in a database that allows many of them in one folder."""
    crew = Crew(postgresql_engine, tmp_path)
    yield crew
    crew.close()


def files(crew: Crew, folder: str = "one") -> list[str]:
    """What lies in a folder and is not hidden."""
    return sorted(path.name for path in (crew.folder / folder).iterdir() if not path.name.startswith("."))


# Numbers and files.


def test_workers_in_one_folder_have_files_of_their_own(many: Crew) -> None:
    workers = [many.join(*candidates(A)), many.join(), many.join()]
    assert [one.session.number for one in workers] == [1, 2, 3]
    assert files(many) == ["crawl-2.jsonl", "crawl-3.jsonl", "crawl.jsonl"]
    workers[1].end(*map(stored, workers[1].claim()))
    assert [len(one.records()) for one in workers] == [0, 1, 0]


def test_images_have_a_file_when_there_are_some(crew: Crew) -> None:
    one = crew.join(*candidates(A, kind=AddressKind.IMAGE))
    assert files(crew) == ["crawl.jsonl"]
    one.end(*map(stored, one.claim()))
    assert files(crew) == ["crawl.images.jsonl", "crawl.jsonl"]
    assert [record["url"] for record in lines(one.session.files.paths(1)[1])] == [A]


@pytest.mark.parametrize("name", ["a", "a.b", "a-1", "ü"])
def test_files_are_named_after_the_crawl(crew: Crew, name: str) -> None:
    session = crew.join(name=name).session
    folder = crew.folder / "one"
    assert session.files.paths(1) == (folder / f"{name}.jsonl", folder / f"{name}.images.jsonl")
    assert session.files.paths(2) == (folder / f"{name}-2.jsonl", folder / f"{name}-2.images.jsonl")


def test_a_number_belongs_to_a_folder(crew: Crew) -> None:
    one, two = crew.pair()
    assert [one.session.number, two.session.number] == [1, 2]
    for each in (one, two):
        each.leave()
    assert crew.join(folder="two").session.number == 2
    assert crew.join(folder="three").session.number == 3
    assert crew.join(folder="one").session.number == 1


def test_a_free_seat_is_taken_first(many: Crew) -> None:
    workers = [many.join() for _ in range(3)]
    workers[1].leave()
    assert many.join().session.number == 2
    workers[2].die()
    workers[0].die()
    assert [many.join().session.number, many.join().session.number, many.join().session.number] == [1, 3, 4]


def test_a_folder_is_the_same_wherever_it_is(crew: Crew) -> None:
    one = crew.join(*candidates(A))
    one.end(*map(stored, one.claim()))
    one.leave()
    (crew.folder / "one").rename(crew.folder / "elsewhere")
    again = crew.join(folder="elsewhere")
    assert (again.session.number, len(again.records())) == (1, 1)


def test_a_copied_folder_is_taken_for_the_first(many: Crew) -> None:
    one = many.join(*candidates(A))
    shutil.copytree(many.folder / "one", many.folder / "copy")
    copy = many.join(folder="copy")
    assert one.claim() == []
    with pytest.raises(StateError, match="another worker has taken over"):
        one.session.rejoin(expired=True)
    one.die()
    copy.leave()


def test_a_moved_folder_goes_on(many: Crew) -> None:
    one = many.join(*candidates(A))
    one.end(*map(stored, one.claim()))
    one.leave()
    shutil.copytree(many.folder / "one", many.folder / "moved")
    shutil.rmtree(many.folder / "one")
    moved = many.join(folder="moved")
    assert (moved.session.number, len(moved.records())) == (1, 1)


def test_a_number_under_which_nothing_was_written_is_given_up(many: Crew) -> None:
    one, two = many.join(*candidates(A)), many.join(folder="two")
    two.leave()
    assert list((many.folder / "two").glob("*.jsonl")) == []
    assert many.value(select(func.count()).select_from(output)) == 1
    one.end(*map(stored, one.claim()))
    one.leave()
    with pytest.raises(StateError, match="has other seeds"):
        many.join(folder="three", seeds=(B,))
    assert many.value(select(func.count()).select_from(output)) == 1


def test_another_crawl_s_file_is_neither_cut_nor_gone_on_with(crew: Crew, caplog: pytest.LogCaptureFixture) -> None:
    """As when a crawl of the same name ran here with another database meanwhile."""
    one = crew.join(*candidates(A, B))
    one.end(*map(stored, one.claim(addresses=1)))
    one.leave()
    theirs = b'{"url": "http://theirs.example/"}\n' * 90
    one.session.pages.path.write_bytes(theirs)
    again = crew.join()
    assert ["crawl.previous.jsonl" in record.message for record in caplog.records] == [True]
    again.end(*map(stored, again.claim()))
    assert len(again.records()) == 1
    assert (crew.folder / "one" / "crawl.previous.jsonl").read_bytes() == theirs


# Locks.


def test_a_second_worker_in_one_folder_wants_postgresql(sqlite_engine: Engine, tmp_path: Path) -> None:
    crew = Crew(sqlite_engine, tmp_path)
    one = crew.join(*candidates(A))
    one.claim()
    with pytest.raises(StateError, match=r"'crawl'.*workers=NUMBER.*PostgreSQL"):
        crew.join()
    one.end(*map(stored, list(one.hand.values())))
    other = crew.join(name="other")
    assert other.session.number == 1
    one.leave()
    assert crew.join().session.number == 1
    crew.close()


def test_what_is_refused_changes_nothing(sqlite_engine: Engine, tmp_path: Path) -> None:
    crew = Crew(sqlite_engine, tmp_path)
    one = crew.join()
    with pytest.raises(StateError, match="is running here"):
        crew.join(seeds=(B,), fresh=True)
    one.leave()
    assert crew.value(select(crawl.c.seeds)) == f'["{SEEDS[0]}"]'
    crew.join()
    crew.close()


@pytest.mark.parametrize(
    ("before", "now", "names"),
    [
        ((A, B), (A, B), set()),
        ((A, B), (B, A), set()),
        ((A,), (A, B), {"added"}),
        ((A, B), (A,), {"missing"}),
        ((A, C), (A, B), {"added", "missing"}),
    ],
)
def test_seeds_that_differ_are_named(
    crew: Crew, before: tuple[str, ...], now: tuple[str, ...], names: set[str]
) -> None:
    first = crew.join(seeds=before)
    assert first.session.other_seeds_message() is None
    first.leave()
    message = crew.join(seeds=now).session.other_seeds_message()
    placeholders = {name for _, name, _, _ in Formatter().parse(message.sentence if message else "")}
    assert placeholders & {"added", "missing"} == names
    if message is not None:
        assert message.values["added"] == [seed for seed in now if seed not in before]
        assert message.values["missing"] == [seed for seed in before if seed not in now]


def test_a_seat_that_cannot_be_taken_leaves_no_lock(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(lines: JsonLines, committed: FileOffset) -> None:
        raise PermissionError("no")

    with monkeypatch.context() as broken:
        broken.setattr(JsonLines, "open", fail)
        with pytest.raises(PermissionError):
            crew.join()
    assert crew.join().session.number == 1


def test_workers_may_start_at_once(postgresql_engine: Engine, tmp_path: Path) -> None:
    start = threading.Barrier(4)
    numbers: list[int] = []

    def take() -> None:
        engine = open_database(postgresql_engine.url)
        try:
            start.wait(10)
            session = WorkerSession(engine, CrawlPlan("crawl", SEEDS, tmp_path, Canonical(()), 9))
            numbers.append(session.number)
            start.wait(10)
            session.leave()
        finally:
            engine.dispose()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(numbers)) == 4


# What an earlier crawl left.


def test_a_file_from_before_is_kept_aside(crew: Crew) -> None:
    (crew.folder / "one").mkdir()
    for name in ("crawl.jsonl", "crawl.images.jsonl"):
        (crew.folder / "one" / name).write_text("{}\n")
    assert crew.join().records() == []
    assert files(crew) == ["crawl.images.previous.jsonl", "crawl.jsonl", "crawl.previous.jsonl"]


def test_a_worker_s_file_is_not_that_of_a_crawl_so_named(many: Crew) -> None:
    other = many.join(*candidates(A), name="crawl-2")
    other.end(*map(stored, other.claim()))
    numbers = [many.join().session.number, many.join().session.number]
    for one in many.workers:
        one.leave()
    numbers += [many.join().session.number, many.join().session.number]
    assert len(other.records()) == 1
    assert numbers == [1, 3, 1, 3]


def test_a_dead_worker_s_seat_is_cleared_even_if_another_is_taken(many: Crew) -> None:
    """The first free seat is taken, and what the dead held on the others returns, too."""
    one, two = many.join(*candidates(A)), many.join(*candidates(B))
    two.claim()
    with two.session.pages.path.open("ab") as file:
        file.write(b"half")
    one.die()
    two.die()
    assert sorted(urls(many.join().claim())) == [A, B]
    assert two.session.pages.path.read_bytes() == b""


# Seeds.


@pytest.mark.parametrize(
    ("before", "after", "fits"),
    [((A,), (A,), True), ((A, B), (B,), True), ((A,), (A, B), True), ((A,), (B,), False), (("demo",), (A,), False)],
)
def test_a_crawl_is_known_by_its_seeds(crew: Crew, before: tuple[str, ...], after: tuple[str, ...], fits: bool) -> None:
    crew.join(seeds=before).leave()
    if fits:
        crew.join(seeds=after).leave()
        crew.join(seeds=before[:1])
    else:
        with pytest.raises(StateError, match=f"'crawl'.*seeds .{before[0]}.*fresh=yes"):
            crew.join(seeds=after)
        crew.join(seeds=before)


# Starting anew.


def test_fresh_forgets_the_frontier_and_keeps_the_file_aside(crew: Crew) -> None:
    one = crew.join(*candidates(A, B), *candidates(A, kind=AddressKind.IMAGE))
    one.end(*map(stored, one.claim()), closed={"b.example": Code.HOST_CLOSED})
    one.leave()
    fresh = crew.join(*candidates(A), seeds=(A,), fresh=True)
    assert crew.addresses() == {A: (AddressState.WAITING, None)}
    assert crew.value(select(host.c.name).where(host.c.closed.is_not(None)).exists().select()) is False
    assert files(crew) == ["crawl.images.previous.jsonl", "crawl.jsonl", "crawl.previous.jsonl"]
    fresh.end(*map(stored, fresh.claim()))
    assert [record["url"] for record in fresh.records()] == [A]
    fresh.leave()
    again = crew.join(seeds=(A,))
    assert crew.addresses() == {A: (AddressState.DONE, None)}
    assert len(again.records()) == 1


def test_fresh_wants_other_workers_to_end_first(crew: Crew) -> None:
    one, two = crew.pair(*candidates(A))
    two.leave()
    with pytest.raises(StateError, match="has other workers"):
        crew.join(folder="two", seeds=(B,), fresh=True)
    assert urls(one.claim()) == [A]
    one.leave()
    assert crew.value(select(crawl.c.seeds)) == f'["{SEEDS[0]}"]'
    crew.join(folder="two", fresh=True)
    assert crew.addresses() == {}


def test_fresh_keeps_all_files_of_its_folder_aside(many: Crew) -> None:
    workers = [many.join(*candidates(A, B)), many.join()]
    for one in workers:
        one.end(*map(stored, one.claim(addresses=1)))
    for one in workers:
        one.leave()
    many.join(fresh=True)
    assert "crawl-2.jsonl" not in files(many)


def test_more_seeds_than_a_statement_can_name(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PARAMETERS_AT_ONCE", 3)
    urls = [f"http://{n}.example/" for n in range(8)]
    one = crew.join(*candidates(*urls, kind=AddressKind.SEED))
    one.end(*(failed(lease, lessons=((LessonKind.SEED_AGAIN, lease.candidate.url),)) for lease in one.claim()))
    assert one.session.begin(urls)
    one.leave()
    again = crew.join(*candidates(*urls, kind=AddressKind.SEED))
    assert len(again.claim()) == 8


def test_the_last_words(crew: Crew) -> None:
    one = crew.join(*candidates(A))
    one.end(*map(stored, one.claim()))
    words = str(one.session.finished_message())
    assert re.search(f"'crawl'.* 1 page, in {one.session.pages.path}. .* 21 h; .*refresh=all.*fresh=yes", words)


@pytest.mark.parametrize(
    ("priorities", "how"),
    [
        ([BEHIND_IMAGE + 1, BEHIND_IMAGE], "max_pages continues"),
        ([BEHIND_IMAGE], "max_pages judges"),
        ([UNLIKELY, BEHIND_IMAGE], "min_chance=0"),
    ],
)
def test_the_last_words_tell_what_waits(crew: Crew, priorities: list[int], how: str) -> None:
    one = crew.join(*candidates(A), max_pages=1, limits_tries=True)
    one.end(*map(stored, one.claim()))
    one.session.seed(Candidate(f"{B}{n}", priority) for n, priority in enumerate(priorities))
    assert re.search(f"; [^;]*{how}.* -a refresh=all", str(one.session.finished_message()))


def test_the_last_words_when_the_crawl_has_all_its_pages(many: Crew) -> None:
    one, two = many.join(*candidates(A, B, A + "2"), max_pages=2), many.join(folder="two", max_pages=2)
    one.end(*map(stored, one.claim(addresses=1)))
    two.end(*map(stored, two.claim(addresses=1)))
    words = str(one.session.finished_message())
    assert re.search(f" 2 pages, in {one.session.pages.path} and .*; a larger max_pages continues it, .*refresh", words)


def test_a_worker_that_left_is_no_worker(crew: Crew) -> None:
    one, two = crew.pair()
    one.leave()
    assert crew.value(select(worker.c.id)) == two.session.worker_id


def test_a_crawl_keeps_its_topic(crew: Crew) -> None:
    crew.join(*candidates(A), topic="bees", topic_digest="1").leave()
    with pytest.raises(StateError, match=r"'bees'.* name=NAME, .* retopic=yes .* fresh=yes"):
        crew.join(folder="two", topic="wasps", topic_digest="2")
    crew.join(topic="bees", topic_digest="1").leave()
    crew.join(topic="wasps", topic_digest="2", fresh=True).leave()
    assert crew.value(select(crawl.c.topic)) == "wasps"


def test_another_topic_is_left_to_be_scored_by(crew: Crew) -> None:
    one = crew.join(*candidates(A), topic="bees", topic_digest="1", retopic=True)
    with pytest.raises(StateError, match=r"other workers.*retopic=yes"):
        crew.join(folder="two", topic="wasps", topic_digest="2", retopic=True)
    assert not one.session.changes_topic
    one.leave()
    two = crew.join(topic="wasps", topic_digest="2", retopic=True)
    assert (two.session.changes_topic, crew.value(select(crawl.c.topic))) == (True, "bees")


def test_a_crawl_without_a_topic_keeps_that_of_its_seeds(crew: Crew) -> None:
    crew.join(*candidates(A), topic_digest="1").leave()
    with pytest.raises(StateError, match="another topic"):
        crew.join(topic="wasps", topic_digest="2")


def test_leases_that_are_returned_are_counted_as_queued(crew: Crew) -> None:
    """At the end of a crawl, responses may be cut off whose addresses are leased."""
    worker = crew.join(*candidates("http://a.example/1", "http://a.example/2", "http://b.example/3"))
    assert len(worker.claim()) == 3
    assert worker.session.return_leases() == 3
