"""What a report reads of the pages that crawls stored."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, delete, insert, update
from sqlalchemy.engine import URL
from store_workers import LOST, Crew, candidates, failed, stored

from crawler.outcomes import Code, Outcome
from crawler.reports import pages as reading
from crawler.reports.pages import FetchedPage, TitledPage, WaitingCounts, crawls_with_pages
from crawler.store.crawl_tables import version
from crawler.store.database import StateError
from crawler.store.page_tables import focus


@pytest.fixture
def where(engine: Engine) -> URL:
    """The address of the database that the workers of `crew` are at."""
    return engine.url


def store(crew: Crew, times: dict[str, str], name: str = "crawl", **fields: Any) -> None:
    """Have a crawl store pages that were fetched at these times."""
    urls = [f"http://{path}.example/" for path in times]
    one = crew.join(*candidates(*urls, kind="seed"), name=name, folder=name)
    at = dict(zip(urls, times.values(), strict=True))
    one.end(*(stored(lease, fetched_at=at[lease.candidate.url], **fields) for lease in one.claim()))
    one.leave()


def paths(url: URL) -> list[str]:
    with crawls_with_pages(url) as crawls:
        return [one.url[7:-9] for one in crawls[0].pages()]


def test_pages_come_in_the_order_in_which_they_were_fetched(crew: Crew, where: URL) -> None:
    day = "2026-11-22T00:00:{:02}+00:00"
    store(crew, {name: day.format(second) for name, second in zip("cabfed", (30, 10, 20, 59, 50, 40), strict=True)})
    assert paths(where) == list("abcdef"[:3]) + list("def")


def test_pages_fetched_in_the_same_second_come_by_number(
    crew: Crew, where: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGES_AT_ONCE", 3)
    store(crew, dict.fromkeys("abcdefgh", "2026-11-22T00:00:00+00:00"))
    with crawls_with_pages(where) as (crawl,):
        numbers = [one.id for one in crawl.pages()]
    assert numbers == sorted(numbers)
    assert len(numbers) == 8


def test_what_is_known_of_a_page_and_no_text(crew: Crew, where: URL) -> None:
    store(crew, {"a": "2026"}, relevance=0.75, link_score=0.25, via="feed", title="Bees", requested_url="http://old/")
    with crawls_with_pages(where) as (crawl,):
        (found,) = crawl.pages()
        assert found == FetchedPage(found.id, "http://a.example/", "http://old/", 0.75, 0.25, "feed")
        assert crawl.told([found.id]) == [TitledPage("http://a.example/", "Bees", 0.75, 0.25)]


def test_pages_are_told_in_the_order_asked_for(crew: Crew, where: URL) -> None:
    store(crew, dict.fromkeys("abc", "2026"))
    with crawls_with_pages(where) as (crawl,):
        numbers = [one.id for one in crawl.pages()][::-1]
        pages = {one.id: one.url for one in crawl.pages()}
        assert [one.url for one in crawl.told(numbers)] == [pages[number] for number in numbers]
        assert crawl.told([]) == []


def test_each_crawl_has_its_own(crew: Crew, where: URL) -> None:
    store(crew, {"a": "2026"}, "one")
    store(crew, {"b": "2026", "c": "2027"}, "two")
    store(crew, {}, "three")
    with crawls_with_pages(where) as crawls:
        found = {one.name: (crawl_pages := len(list(one.pages())), one.summaries()) for one in crawls}
    assert found == {"one": (1, []), "two": (2, []), "three": (0, [])}
    assert crawl_pages == 0


def test_what_each_worker_learned(crew: Crew, where: URL) -> None:
    store(crew, {"a": "2026"}, "one")
    store(crew, {"b": "2026"}, "two")
    with crawls_with_pages(where) as (one, two):
        numbers = one.number, two.number
    rows = [(numbers[0], 2, "second"), (numbers[0], 1, "first"), (numbers[1], 1, "other")]
    names = ("crawl_id", "number", "summary")
    crew.change(insert(focus).values([dict(zip(names, row, strict=True), saved=0.0, learned="{}") for row in rows]))
    with crawls_with_pages(where) as (one, two):
        assert one.summaries() == ["first", "second"]
        assert two.summaries() == ["other"]
    crew.change(delete(focus))


def test_pages_that_were_read_and_not_kept(crew: Crew, where: URL) -> None:
    reasons = [Outcome(Code.OFF_TOPIC), Outcome(Code.NOINDEX), Outcome(Code.OFF_TOPIC), LOST]
    urls = [f"http://{number}.example/" for number in range(len(reasons) + 2)]
    one = crew.join(*candidates(*urls), name="one", folder="one")
    kept, waits, *others = one.claim()
    one.end(stored(kept), *(failed(lease, why) for lease, why in zip(others, reasons, strict=True)))
    crew.join(*candidates(*urls), name="two", folder="two")
    with crawls_with_pages(where) as (first, second):
        assert (first.off_topic(), second.off_topic()) == (2, 0)
    one.end(failed(waits, reasons[0]))
    with crawls_with_pages(where) as (first, second):
        assert (first.off_topic(), second.off_topic()) == (3, 0)


def test_what_still_waits_and_what_it_promises(crew: Crew, where: URL) -> None:
    promising = [*candidates("http://a.example/1", priority=500), *candidates("http://b.example/", priority=999)]
    others = [*candidates("http://a.example/2", priority=499), *candidates("http://c.example/", priority=-1)]
    one = crew.join(*promising, *others, name="one", folder="one")
    crew.join(*candidates("http://a.example/1", priority=900), name="two", folder="two")
    with crawls_with_pages(where) as (first, second):
        assert first.waiting(0.5) == WaitingCounts(4, 2)
        assert first.waiting(0.501) == WaitingCounts(4, 1)
        assert second.waiting(0.5) == WaitingCounts(1, 1)
    one.claim()
    with crawls_with_pages(where) as (first, _):
        assert first.waiting(0.5) == WaitingCounts(0, 0)


def test_where_no_crawl_was_ever_run_there_is_none(tmp_path: Path, url: URL) -> None:
    with crawls_with_pages(url) as crawls:
        assert crawls == []
    assert not list(tmp_path.glob("*.db"))


def test_a_database_of_another_release_says_so(crew: Crew, where: URL) -> None:
    before = crew.value(version.select())
    crew.change(update(version).values(version=99))
    with pytest.raises(StateError, match="made by another release"), crawls_with_pages(where):
        pass
    crew.change(update(version).values(version=before))
