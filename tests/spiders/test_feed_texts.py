"""When the text of a feed stands in for a page, and what is kept of it until then."""

from collections import Counter

from crawler.extraction import EXTRACTORS
from crawler.extraction.document_text import with_documents
from crawler.frontier.page_result import Candidate
from crawler.page.feed_entries import EntryText
from crawler.page.page import Page
from crawler.spiders.feed_texts import FULLER_FACTOR, LEAST_LENGTH, OVERHEAD_BYTES, FeedTexts

FEED, URL = "http://example.com/feed", "http://example.com/bees"
SENTENCE = "The keeper of the hive wrote down what the bees brought home. "


def letters(count: int) -> str:
    return (SENTENCE * (count // len(SENTENCE) + 1))[: count - 1] + "."


def texts(counts: Counter[str], most: int = 1_000_000) -> FeedTexts:
    def count(name: str, by: int) -> None:
        counts[name] += by

    return FeedTexts(with_documents(EXTRACTORS["max-text"]), hash, count, most)


def page_of(count: int, head: str = "", url: str = URL) -> Page:
    return Page.from_html(f"<html><head>{head}</head><body><p>{letters(count)}</p></body></html>", url)


def test_when_an_entry_is_taken() -> None:
    rows = [
        (300, FULLER_FACTOR * 300 + 1, False, True),
        (300, FULLER_FACTOR * 300, False, False),
        (300, LEAST_LENGTH, True, True),
        (300, LEAST_LENGTH - 1, True, False),
        (10, LEAST_LENGTH, False, True),
        (10, LEAST_LENGTH - 1, False, False),
    ]
    for own, entry, is_refused, is_taken in rows:
        counts = Counter[str]()
        feeds = texts(counts)
        feeds.keep(FEED, {URL: EntryText(f"<p>{letters(entry)}</p>")})
        made = feeds.in_place_of(page_of(own), Candidate(URL, 0), is_refused=is_refused)
        assert (made is not None) is is_taken
        assert counts["feed/pages"] == is_taken
        assert feeds.in_place_of(page_of(own), Candidate(URL, 0), is_refused=True) is None  # it is used once


def test_of_which_pages_entries_are() -> None:
    rows = [
        (FEED, URL, URL, True),
        ("http://example.net/feed", URL, URL, False),
        ("http://feeds.example.com/feed", URL, URL, True),
        (FEED, URL + "?from=feed", "https://example.com/bees", True),
        (FEED, URL, "http://example.com/login", False),
        (FEED, URL + "s", URL + "s", False),
    ]
    for feed, asked, answered, is_taken in rows:
        feeds = texts(Counter())
        feeds.keep(feed, {asked if "?" in asked else URL: EntryText(f"<p>{letters(400)}</p>")})
        candidate = Candidate(answered, 0, requested=asked if asked != answered else None)
        assert (feeds.in_place_of(page_of(9, url=answered), candidate, is_refused=True) is not None) is is_taken


def test_what_a_page_asks_of_robots_holds_for_its_text() -> None:
    feeds = texts(Counter())
    feeds.keep(FEED, {URL: EntryText(f"<p>{letters(400)}</p>")})
    made = feeds.in_place_of(page_of(9, "<meta name=robots content='noindex, noai'>"), Candidate(URL, 0))
    assert made is not None
    assert made.robots == {"noindex", "noai"}


def test_a_page_that_moves_to_its_address_with_a_slash_has_its_text() -> None:
    feeds = texts(Counter())
    feeds.keep(FEED, {URL: EntryText(letters(400))})
    assert feeds.in_place_of(page_of(9, url=f"{URL}/"), Candidate(URL, 0), is_refused=True) is not None


def test_all_that_an_entry_says_counts() -> None:
    counts = Counter[str]()
    feeds = texts(counts, 3 * (OVERHEAD_BYTES + 800))
    for name in "abc":
        feeds.keep(FEED, {f"{URL}/{name}": EntryText(letters(400), title="\N{HONEYBEE}" * 300)})
    assert counts["feed/dropped"] == 2


def test_the_oldest_texts_are_dropped() -> None:
    counts = Counter[str]()
    feeds = texts(counts, 3 * (OVERHEAD_BYTES + 800))
    for name in "abca":  # the first comes again, and is the latest then
        feeds.keep(FEED, {f"{URL}/{name}": EntryText(letters(400))})
    feeds.keep(FEED, {f"{URL}/d": EntryText(letters(400))})
    left = [
        name
        for name in "abcd"
        if feeds.in_place_of(page_of(9, url=f"{URL}/{name}"), Candidate(f"{URL}/{name}", 0), is_refused=True)
    ]
    assert left == ["a", "c", "d"]
    assert counts["feed/dropped"] == 1
