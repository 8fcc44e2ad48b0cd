"""What a report reads of the pages that crawls stored."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, delete, insert, update
from sqlalchemy.engine import URL
from store_workers import LOST, Crew, candidates, failed, stored

from crawler.contrib.lab import focus_data as reading
from crawler.contrib.lab.focus_data import (
    MOST_CHARACTERS,
    MOST_WORDS,
    FetchedPage,
    LearnedWord,
    Recall,
    TitledPage,
    TruthCounter,
    WaitingCounts,
    learned_words,
    readable_crawls,
    truth_of,
)
from crawler.errors import StateError
from crawler.frontier.page_result import AddressKind, FoundBy
from crawler.outcomes import Code, Outcome
from crawler.store.crawl_tables import version
from crawler.store.page_tables import focus
from crawler.topic.priorities import UNLIKELY
from crawler.urls.canonical import Canonical


@pytest.fixture
def where(engine: Engine) -> URL:
    """The address of the database that the workers of `crew` are at."""
    return engine.url


def store(crew: Crew, times: dict[str, str], name: str = "crawl", **fields: Any) -> None:
    """Have a crawl store pages that were fetched at these times."""
    urls = [f"http://{path}.example/" for path in times]
    one = crew.join(*candidates(*urls, kind=AddressKind.SEED), name=name, folder=name)
    at = dict(zip(urls, times.values(), strict=True))
    one.end(*(stored(lease, fetched_at=at[lease.candidate.url], **fields) for lease in one.claim()))
    one.leave()


def paths(url: URL) -> list[str]:
    with readable_crawls(url) as crawls:
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
    with readable_crawls(where) as (crawl,):
        numbers = [one.id for one in crawl.pages()]
    assert numbers == sorted(numbers)
    assert len(numbers) == 8


def test_what_is_known_of_a_page_and_no_text(crew: Crew, where: URL) -> None:
    store(
        crew,
        {"a": "2026"},
        relevance=0.75,
        link_score=0.25,
        via=FoundBy.FEED,
        title="Bees",
        requested_url="http://old/",
    )
    with readable_crawls(where) as (crawl,):
        (found,) = crawl.pages()
        assert found == FetchedPage(found.id, "http://a.example/", "http://old/", 0.75, 0.25, "feed")
        assert crawl.titled([found.id]) == [TitledPage("http://a.example/", "Bees", 0.75, 0.25)]


def test_pages_are_told_in_the_order_asked_for(crew: Crew, where: URL) -> None:
    store(crew, dict.fromkeys("abc", "2026"))
    with readable_crawls(where) as (crawl,):
        numbers = [one.id for one in crawl.pages()][::-1]
        pages = {one.id: one.url for one in crawl.pages()}
        assert [one.url for one in crawl.titled(numbers)] == [pages[number] for number in numbers]
        assert crawl.titled([]) == []


def test_each_crawl_has_its_own(crew: Crew, where: URL) -> None:
    store(crew, {"a": "2026"}, "one")
    store(crew, {"b": "2026", "c": "2027"}, "two")
    store(crew, {}, "three")
    with readable_crawls(where) as crawls:
        found = {one.name: (crawl_pages := len(list(one.pages())), one.summaries()) for one in crawls}
    assert found == {"one": (1, []), "two": (2, []), "three": (0, [])}
    assert crawl_pages == 0


def test_what_each_worker_learned(crew: Crew, where: URL) -> None:
    store(crew, {"a": "2026"}, "one")
    store(crew, {"b": "2026"}, "two")
    with readable_crawls(where) as (one, two):
        numbers = one.number, two.number
    rows = [(numbers[0], 2, "second"), (numbers[0], 1, "first"), (numbers[1], 1, "other")]
    names = ("crawl_id", "number", "summary")
    crew.change(insert(focus).values([dict(zip(names, row, strict=True), saved=0.0, learned="{}") for row in rows]))
    with readable_crawls(where) as (one, two):
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
    with readable_crawls(where) as (first, second):
        assert (first.off_topic(), second.off_topic()) == (2, 0)
    one.end(failed(waits, reasons[0]))
    with readable_crawls(where) as (first, second):
        assert (first.off_topic(), second.off_topic()) == (3, 0)


def test_what_still_waits_and_what_it_promises(crew: Crew, where: URL) -> None:
    promising = [*candidates("http://a.example/1", priority=500), *candidates("http://b.example/", priority=999)]
    others = [*candidates("http://a.example/2", priority=499), *candidates("http://c.example/", priority=-1)]
    one = crew.join(*promising, *others, name="one", folder="one")
    crew.join(*candidates("http://a.example/1", priority=900), name="two", folder="two")
    with readable_crawls(where) as (first, second):
        assert first.waiting(0.5) == WaitingCounts(4, 2)
        assert first.waiting(0.501) == WaitingCounts(4, 1)
        assert second.waiting(0.5) == WaitingCounts(1, 1)
    one.claim()
    with readable_crawls(where) as (first, _):
        assert first.waiting(0.5) == WaitingCounts(0, 0)


def test_unlikely_links_are_counted_apart(crew: Crew, where: URL) -> None:
    unlikely = candidates("http://a.example/1", "http://a.example/2", priority=UNLIKELY + 400)
    crew.join(*unlikely, *candidates("http://b.example/", priority=500))
    with readable_crawls(where) as (only,):
        assert only.waiting(0.5) == WaitingCounts(1, 1, 2)


def test_where_no_crawl_was_ever_run_there_is_none(tmp_path: Path, url: URL) -> None:
    with readable_crawls(url) as crawls:
        assert crawls == []
    assert not list(tmp_path.glob("*.db"))


def test_a_database_of_another_release_says_so(crew: Crew, where: URL) -> None:
    before = crew.value(version.select())
    crew.change(update(version).values(version=99))
    with pytest.raises(StateError, match=r"\b99\b"), readable_crawls(where):
        pass
    crew.change(update(version).values(version=before))


def summary(pages: int = 1, **lists: object) -> str:
    return json.dumps({"pages": pages} | lists)


def test_a_word_weighs_the_mean_by_pages() -> None:
    rows = [
        ([], ()),
        ([summary()], ()),
        ([summary(topic=[["honey", 0.5], ["bee", 0.75]])], (("bee", 0.75), ("honey", 0.5))),
        ([summary(3, topic=[["bee", 1]]), summary(1, topic=[["bee", 0], ["wax", 1]])], (("bee", 0.75), ("wax", 0.25))),
        ([summary(0, topic=[["bee", 1]]), summary(0, topic=[["wax", 0.5]])], (("bee", 0.5), ("wax", 0.25))),
        ([summary(topic=[["b", 0.5], ["a", 0.5]])], (("a", 0.5), ("b", 0.5))),
    ]
    for summaries, topic in rows:
        assert tuple((word, weight) for word, weight, _ in learned_words(summaries).topic) == topic


def test_a_word_has_a_weight_for_each_place() -> None:
    lists = [["bees", 2, ""], ["bees", 1, "address"]], [["bees", 4, "address"]]
    words = learned_words([summary(good=one) for one in lists]).good
    assert words == (LearnedWord("bees", 2.5, place="address"), LearnedWord("bees", 1.0))


def test_words_that_led_away_are_ranked_by_their_size() -> None:
    words = learned_words([summary(bad=[["a", -0.1], ["b", -3]], good=[["c", 2.0]])])
    assert (words.bad, words.good, words.workers) == (
        (LearnedWord("b", -3.0), LearnedWord("a", -0.1)),
        (LearnedWord("c", 2.0),),
        1,
    )


@pytest.mark.parametrize("count", [MOST_WORDS - 1, MOST_WORDS, MOST_WORDS + 1])
def test_there_is_an_end_of_words(count: int) -> None:
    words = learned_words([summary(topic=[[f"word{number}", 1 + number] for number in range(count)])]).topic
    assert len(words) == min(count, MOST_WORDS)
    assert words[0] == LearnedWord(f"word{count - 1}", float(count))


def test_a_long_word_is_cut() -> None:
    words = learned_words([summary(topic=[["a" * (MOST_CHARACTERS + 1), 1], ["b" * MOST_CHARACTERS, 2]])]).topic
    assert [one.word for one in words] == ["b" * MOST_CHARACTERS, "a" * MOST_CHARACTERS]


def test_links_that_were_let_go_add_up() -> None:
    assert learned_words([summary(let_go=3), summary(let_go=4), summary()]).let_go == 7


def test_an_address_in_any_spelling_and_lines_without() -> None:
    rows = [
        ("http://a.example/b", {"http://a.example/b"}),
        ("  http://a.example/b#top  \n", {"http://a.example/b"}),
        ("HTTP://A.example:80/b?utm_source=x", {"http://a.example/b"}),
        ("http://例え.example/é", {"http://xn--r8jz45g.example/%C3%A9"}),
        ("", set()),
        ("   \n", set()),
        ("# http://a.example/b", set()),
    ]
    for line, addresses in rows:
        truth = truth_of([line], Canonical(["utm_.*"]))
        assert (truth.addresses, truth.faults) == (addresses, ())


def test_lines_that_hold_no_address_are_named() -> None:
    for line in ["a.example", "/b", "ftp://a.example/", "http://a.example:99999/", "javascript://a"]:
        assert truth_of(["http://a.example/", line], str).faults == (2,)


def test_the_same_address_twice_is_one() -> None:
    assert len(truth_of(["http://a.example", "http://a.example/#b"], str).addresses) == 1


def test_pages_are_known_by_what_was_asked_for_too() -> None:
    rows = [
        ("http://a.example/1", "http://a.example/1", 1),
        ("http://a.example/new", "http://a.example/1", 1),
        ("http://a.example/2", "http://a.example/old", 1),
        ("http://a.example/2", "http://a.example/1", 2),
        ("http://a.example/1?utm_id=3", "http://a.example/old", 1),
        ("http://a.example/3", "http://a.example/3", 0),
    ]
    for url, requested, met in rows:
        counter = TruthCounter(truth_of(["http://a.example/1", "http://a.example/2"], Canonical(["utm_.*"])))
        for _ in range(2):  # one that comes again is met once
            counter.take(FetchedPage(1, url, requested, 0.9, None, None), on_topic=True)
        assert counter.count == met
        assert counter.recall(2) == Recall(2, met, 2 * bool(met), 0, 2, pytest.approx(0.01 if met else 0.81), None)


def test_two_searches_do_not_share_what_they_met() -> None:
    truth = truth_of(["http://a.example/1"], str)
    first = TruthCounter(truth)
    first.take(FetchedPage(1, "http://a.example/1", "http://a.example/1", 0.1, None, None), on_topic=False)
    assert (first.count, TruthCounter(truth).count) == (1, 0)
    assert first.recall(0) == Recall(1, 1, 0, 1, 0, pytest.approx(0.81), None)


def test_relevance_is_compared_with_the_list() -> None:
    rows = [
        ([1.0, 1.0], [0.0], 0.0, 1.0),
        ([0.0], [1.0], 1.0, 0.0),
        ([0.5, 0.5], [0.5], 0.25, 0.5),
        ([0.9, 0.2], [0.4, 0.1], (0.01 + 0.64 + 0.16 + 0.01) / 4, 0.75),
        ([0.7], [], 0.09, None),
    ]
    for in_list, others, brier, ranking in rows:
        counter = TruthCounter(truth_of([f"http://a.example/{place}" for place in range(len(in_list))], str))
        for place, relevance in enumerate([*in_list, *others]):
            url = f"http://a.example/{place}"
            counter.take(FetchedPage(place, url, url, relevance, None, ""), on_topic=relevance >= 0.5)
        found = counter.recall(0)
        assert (found.brier, found.ranking) == (pytest.approx(brier), ranking)
