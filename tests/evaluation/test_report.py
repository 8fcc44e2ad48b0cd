from datetime import date
from html.parser import HTMLParser

import pytest

from crawler.evaluation.gold import GoldPage, GoldSet
from crawler.evaluation.judgement import EvaluationPlan, SetResult, judge
from crawler.evaluation.peers import PEERS, Peer
from crawler.evaluation.report import BEFORE, EXCERPT, HEADS, cells, excerpt, probability, report, where_it_starts
from crawler.reports.html_page import shown

EVIL = "</pre></div><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\x1b\u202e\ud800<!--"
# What may stand in the report; nothing among them loads or runs anything.
HARMLESS = frozenset(
    "html head meta title style body h1 h2 h3 h4 p dl dt dd em b small br bdi ul li details summary div table thead "
    "tbody tr th td figure figcaption pre svg g line rect circle polyline text".split()
)


class Reader(HTMLParser):
    """What is in a page: tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def verdicts() -> list[SetResult]:
    hostile = GoldPage(
        f"1{EVIL}", f"http://x/{EVIL}", EVIL, "", f"<p>{EVIL}</p><p>Bees dance.</p>", f"Bees dance.{EVIL}"
    )
    large = GoldPage("2", "http://large.example/", "", "", "<p>" + "<b>Bees</b> &amp; " * 60_000, "蜂蜜。" * 60_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PEERS, "nobody", Peer("nobody-here", "nobody_here", lambda peer, page: ""))
        return judge(
            GoldSet(f"set{EVIL}", (hostile, large), ()),
            EvaluationPlan(("leaf-tags", "auto", "nobody"), by="lang"),
            lambda *_: None,
        )


@pytest.fixture(scope="module")
def text(verdicts: list[SetResult]) -> str:
    return report(verdicts, [f"file:1: {EVIL}"], "1.2", date(2026, 5, 4))


def test_nothing_that_was_crawled_becomes_markup(text: str) -> None:
    read = Reader(text)
    assert set(read.tags) <= HARMLESS
    assert not [
        name for name, _ in read.attributes if name.startswith("on") or name in ("src", "href", "srcset", "action")
    ]
    assert "alert(1)" in read.text  # as text
    assert read.text.count("<script>") == text.count("&lt;script&gt;") > 5
    text.replace("\ud800", "").encode()
    assert "\x1b" not in text


def test_nothing_is_loaded(text: str) -> None:
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in text
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style


def test_it_says_what_there_is(text: str) -> None:
    read = Reader(text).text
    for words in (
        "Winnow 1.2, 2026-05-04. 1 set.",
        "1 fault in the gold files",
        "absent: not installed",
        "1 comparison",
    ):
        assert words in read
    assert "nan" not in read.lower()
    assert "$" not in read


def test_it_stays_small_and_says_what_is_cut(text: str) -> None:
    assert len(text.encode("utf-8", "replace")) < 300_000
    assert "characters more]" in text


@pytest.mark.parametrize(
    ("given", "limit", "start", "expected"),
    [
        ("bees", 4, 0, (0, "bees", 0)),
        ("bees!", 4, 0, (0, "bees", 1)),
        ("bees!", 9, 3, (3, "s!", 0)),
        ("", 9, 0, (0, "", 0)),
        ("<<<<", 8, 0, (0, "<<", 2)),
    ],
)
def test_excerpts(given: str, limit: int, start: int, expected: tuple[int, str, int]) -> None:
    assert excerpt(given, limit, start) == expected


def test_excerpts_of_any_script_are_within_their_limit() -> None:
    for character in 'a"<蜂\U00020000':
        assert len(shown(excerpt(character * EXCERPT, EXCERPT).text).encode()) <= EXCERPT


@pytest.mark.parametrize(
    ("html", "gold", "start"),
    [
        ("x" * 1000 + "Bees dance.", "Bees dance.", 1000 - BEFORE),
        ("Bees dance.", "Bees dance.", 0),
        ("x" * 1000 + "<body>", "Bees dance.", 1000 - BEFORE),
        ("x" * 1000 + "Wasps too.", "Bees dance.\n\n Wasps too.", 1000 - BEFORE),
        ("x" * 1000, "", 0),
    ],
)
def test_the_source_is_shown_from_the_gold_on(html: str, gold: str, start: int) -> None:
    assert where_it_starts(html, gold) == start


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (1.0, "1.000"), (0.0011, ".001"), (0.00042, "4e-04"), (0.0, "<1e-99")]
)
def test_probabilities(value: float | None, said: str) -> None:
    assert probability(value) == said


def test_a_cell_for_each_head(verdicts: list[SetResult]) -> None:
    figures = verdicts[0].judged[0].figures
    assert figures is not None
    assert len(cells(figures)) == len(HEADS) - 1
