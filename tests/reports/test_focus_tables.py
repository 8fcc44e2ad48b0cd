"""The report of how crawls kept to their topics: its numbers, its tables, and the file in which nothing acts."""

import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from report_reader import EVIL, HARMLESS, Reader
from rich.cells import cell_len

from crawler.contrib.lab.focus_data import FetchedPage, LearnedWord, ReportedWords, TitledPage, WaitingCounts, truth_of
from crawler.contrib.lab.focus_figures import MOST_SITES, FocusCounter
from crawler.contrib.lab.focus_report import (
    ALL_READ,
    WIDTH,
    CrawlFocus,
    course_table,
    extremes,
    headline,
    html_report,
    learned_notes,
    scores_table,
    sites_table,
    text_report,
    ways_table,
    word_lists,
)
from crawler.translation.message import Message, catalogue_of

ENGLISH, CHINESE = map(catalogue_of, ("en", "zh"))
BEST, WORST = (
    TitledPage("http://a.org/best", "Honey bees", 1.0, 0.875),
    TitledPage("http://a.org/worst", "Shop", 0.0, None),
)
WORDS = ReportedWords(
    2, (LearnedWord("honey", 0.5),), (LearnedWord("bees", 1.25, place="near"),), (LearnedWord("shop", -0.75),)
)


def kept(count: int = 4, truth: tuple[str, ...] | None = None, **changes: Any) -> CrawlFocus:
    """A crawl in which the first of two pages is on topic each time."""
    known = truth_of(truth, str) if truth is not None else None
    taken = FocusCounter(0.5, known)
    for number in range(1, count + 1):
        url, relevance = f"http://site{number}.org/", float(number % 2)
        taken.take(FetchedPage(number, url, url, relevance, relevance if number > 2 else None, "link"))
    return replace(CrawlFocus("bees", taken.figures(), WORDS, (BEST,), (WORST,), WaitingCounts(3, 1)), **changes)


def evil() -> CrawlFocus:
    taken = FocusCounter()
    taken.take(FetchedPage(1, f"http://x/{EVIL}", f"http://x/{EVIL}", 1.0, 0.5, EVIL))
    words = (LearnedWord(EVIL, 1.0),)
    told = (TitledPage(f"http://x/{EVIL}", EVIL, 1.0, 0.5),)
    return CrawlFocus(EVIL, taken.figures(), ReportedWords(1, words, words, words), told, told, WaitingCounts(0, 0))


@pytest.fixture(scope="module")
def hostile() -> str:
    return html_report([evil(), kept()], 0.5, "1.2", date(2026, 5, 4), ENGLISH)


def test_nothing_that_was_crawled_becomes_markup(hostile: str) -> None:
    read = Reader(hostile)
    assert set(read.tags) <= HARMLESS | {"polyline", "ul", "h3"}
    assert {name for name, _ in read.attributes if name.startswith("on")} == set()
    assert {"src", "href", "srcset", "action"}.isdisjoint(name for name, _ in read.attributes)
    # Its name, how its page was found, its site and best page, words of three kinds, title and address twice.
    assert read.text.count("<script>alert(1)</script>") == 1 + 1 + 1 + 3 + 4
    hostile.encode()
    assert "\x1b" not in hostile


def test_nothing_is_loaded(hostile: str) -> None:
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in hostile
    style = hostile[hostile.index("<style>") : hostile.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style


def test_what_could_turn_the_line_around_stays_in_its_cell() -> None:
    found = html_report(
        [replace(kept(), best=(TitledPage("http://a.org/", "\u202eeb", 1.0, None),))],
        0.5,
        "1",
        date(2026, 5, 4),
        ENGLISH,
    )
    assert '<td class="left"><bdi>\u202eeb</bdi></td>' in found


def test_the_file_says_what_there_is(hostile: str) -> None:
    read = Reader(hostile).text
    for words in (
        "Winnow 1.2, 2026-05-04",
        "its relevance reaches 0.5",
        "bees",
        "honey",
        "shop",
        "Best pages",
        "Honey bees",
    ):
        assert words in read
    assert "$" not in read
    assert "nan" not in read.replace("nanny", "").lower()


def test_crawls_of_any_size_have_a_report() -> None:
    for count in [1, 2, 3, 1_000]:
        one = kept(count)
        assert f"{count:,} page" in html_report([one], 0.5, "1", date(2026, 5, 4), ENGLISH)
        assert "\n".join(text_report(one, ENGLISH)).startswith(f"bees: {count:,} page")


def test_a_crawl_with_nothing_on_topic_has_a_report() -> None:
    taken = FocusCounter()
    taken.take(FetchedPage(1, "http://a.org/", "http://a.org/", 0.0, None, None))
    one = replace(kept(), figures=taken.figures(), learned=ReportedWords(0))
    assert "0 on topic" in "\n".join(text_report(one, ENGLISH))
    assert course_table(one.figures).rows == [("1", "0.0%", "0.0%", "–")]
    assert "harvest 0.0%" in html_report([one], 0.5, "1", date(2026, 5, 4), ENGLISH)


def numbers(sentence: object) -> list[float]:
    """The numbers of a sentence."""
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", str(sentence))]


def test_the_numbers_that_come_first() -> None:
    """Stored, on topic, the limit, harvest, the last pages and their harvest; then recall, and what is queued."""
    known = "http://site1.org/", "http://site2.org/", "http://site9.org/"
    rows = [
        (kept(4), [[4, 2, 0.5, 50, 4, 50], [3, 1, 0.5]]),
        (kept(400, waiting=WaitingCounts(0, 0)), [[400, 200, 0.5, 50, 200, 50], []]),
        (
            kept(1, known[:1], waiting=WaitingCounts(1, 1)),
            [[1, 1, 0.5, 100, 1, 100], [1, 1, 100], [1, 1, 100], [0, 0, 0.5, 0.25], [1, 1, 0.5]],
        ),
        (
            kept(4, known),
            [
                [4, 2, 0.5, 50, 4, 50],
                [3, 2, 66.7],  # recall
                [2, 1, 50],  # on topic by relevance, and also in the file
                [1],
                [0.5, 0, 0.5, 0.25],  # Brier score
                [50, 0.5, 50],  # AUC
                [3, 1, 0.5],
            ],
        ),
        (kept(1, waiting=WaitingCounts(0, 0), off_topic=1), [[1, 1, 0.5, 100, 1, 100], [1], []]),
    ]
    for one, expected in rows:
        assert list(map(numbers, headline(one))) == expected


def test_the_course_has_ten_rows_and_says_what_its_share_is_of() -> None:
    table = course_table(kept(100).figures)
    assert [row[0] for row in table.rows] == [str(count) for count in range(10, 101, 10)]
    assert table.rows[4] == ("50", "50.0%", "50.0%", "50.0%")
    assert (len(table.notes), table.notes[1]) == (2, ALL_READ)
    known = course_table(kept(100, ("http://site60.org/", "http://nowhere.org/")).figures)
    assert [row[3] for row in known.rows] == ["0.0%"] * 5 + ["50.0%"] * 5
    assert known.heads[3] != table.heads[3]
    assert known.notes == (ALL_READ,)


def test_ways_and_sites() -> None:
    assert ways_table(kept(4).figures).rows == [(Message("link"), "4", "2", "50.0%", "0.50", "0.50")]
    rows = sites_table(kept(4).figures).rows
    assert rows[0] == ("site1.org", "1", "1", "100.0%", "1.00", "–", "http://site1.org/")
    assert rows[3] == ("site4.org", "1", "0", "0.0%", "0.00", "0.00", "http://site4.org/")


def test_sites_without_a_row_are_counted() -> None:
    for more in (1, MOST_SITES):
        (note,) = sites_table(kept(MOST_SITES + more).figures).notes
        assert numbers(note) == [more, MOST_SITES + more, more, 0, 0]
    assert sites_table(kept(MOST_SITES).figures).notes == ()


def test_scores_say_whether_they_told() -> None:
    table = scores_table(kept(6).figures)
    assert [(str(row[0]), *row[1:3]) for row in table.rows] == [("0.0 to 0.1", "2", "0"), ("0.9 to 1.0", "2", "2")]
    assert list(map(numbers, table.notes)) == [[100, 50], [2]]
    assert scores_table(kept(2).figures).rows == []


def test_what_is_said_of_what_was_learned() -> None:
    for learned, expected in (
        (ReportedWords(0), [[]]),
        (ReportedWords(1), [[]]),
        (ReportedWords(1, let_go=7), [[], [7]]),
        (replace(WORDS, workers=1), []),
        (replace(WORDS, workers=2), [[2]]),  # the weights are means
    ):
        notes = list(map(str, learned_notes(learned)))
        assert list(map(numbers, notes)) == expected
        assert set(notes) <= set(text_report(kept(learned=learned), ENGLISH))
        html = html_report([kept(learned=learned)], 0.5, "1", date(2026, 5, 4), ENGLISH)
        assert all(note in html for note in notes)
    assert list(learned_notes(ReportedWords(0))) != list(learned_notes(ReportedWords(1)))


def test_words_are_told_with_their_weights() -> None:
    lines = "\n".join(text_report(kept(), ENGLISH))
    titles = list(word_lists(WORDS))
    for title, word in zip(titles, ("honey 0.5", "bees (near the link) 1.25", "shop -0.75"), strict=True):
        assert f"{title}: {word}\n" in lines
    assert "<li><bdi>shop</bdi> <small>-0.75</small></li>" in html_report([kept()], 0.5, "1", date(2026, 5, 4), ENGLISH)


def test_the_best_pages_and_the_worst() -> None:
    best, worst = extremes(kept())
    assert best.rows == [("1.00", "0.88", "http://a.org/best", "Honey bees")]
    assert worst.rows == [("0.00", "–", "http://a.org/worst", "Shop")]


def test_addresses_are_as_people_read_them() -> None:
    told = TitledPage("http://a.org/%E8%9C%9C%2F", "", 1.0, None)
    assert extremes(kept(best=(told,)))[0].rows == [("1.00", "–", "http://a.org/蜜%2F", "")]


def test_titles_are_one_line_and_have_an_end() -> None:
    for title, shown in (
        ("Honey\r\n\tbees ", "Honey bees"),
        ("b" * WIDTH, "b" * WIDTH),
        ("b" * (WIDTH + 1), "b" * (WIDTH - 1) + "…"),
    ):
        lines = list(text_report(kept(best=(TitledPage("http://a.org/", title, 1.0, 0.5),)), ENGLISH))
        assert f"       1.00        0.50  http://a.org/  {shown}" in lines


# In another language.

LATIN = re.compile("[A-Za-z_]{2,}")
DATA = {"AUC", "Brier", "Winnow", "http", "org", "site", "bees", "honey", "shop", "wax", "Schedule", "min_relevance"}
"""What is no sentence, and stays as it is."""
WHOLE = {
    "off_topic": 7,
    "learned": ReportedWords(
        2,
        (LearnedWord("honey", 0.5),),
        (LearnedWord("bees", 1.25, place="near"), LearnedWord("wax", 0.5, place="address")),
        (LearnedWord("site1.org", -0.75, place="host"), LearnedWord("shop", -0.5)),
        let_go=3,
    ),
    "best": (TitledPage("http://site1.org/", "Schedule", 1.0, 0.875),),
    "worst": (TitledPage("http://site2.org/", "蜜蜂", 0.0, None),),
}
"""A crawl of which everything is said that a report may say."""


def test_a_chinese_report_has_no_english_sentence() -> None:
    rows = [
        kept(MOST_SITES + 3, ("http://site1.org/", "http://site2.org/"), **WHOLE),
        kept(3, waiting=WaitingCounts(0, 0), **WHOLE),
        kept(1, **(WHOLE | {"learned": ReportedWords(1)})),
        kept(1, **(WHOLE | {"learned": ReportedWords(0)})),
    ]
    for one in rows:
        html = html_report([one], 0.5, "1.2", date(2026, 5, 4), CHINESE)
        read = Reader(re.sub("<style>.*</style>", "", html, flags=re.DOTALL))
        labels = [value or "" for name, value in read.attributes if name == "aria-label"]
        assert '<html lang="zh">' in html
        assert len(labels) == 2
        for said in (read.text, *labels, *text_report(one, CHINESE)):
            assert set(LATIN.findall(said)) <= DATA


def test_the_web_is_not_translated() -> None:
    one = kept(3, **WHOLE)
    assert "<bdi>Schedule</bdi>" in html_report([one], 0.5, "1.2", date(2026, 5, 4), CHINESE)
    assert any(line.endswith("  Schedule") for line in text_report(one, CHINESE))


def test_chinese_columns_are_aligned_in_a_terminal() -> None:
    lines = list(text_report(kept(3), CHINESE))
    head, row = lines[lines.index("页面的发现方式：") + 1 :][:2]
    assert cell_len(head) == cell_len(row)
