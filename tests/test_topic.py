import pytest

from crawler.topic import LEARNED_PAGES, LEARNED_WORDS, TITLE_COUNTS, Topic

BEES = "Honey bees dance for each other. The dance tells where the flowers are."
TEA = "绿茶是中国的茶叶，春天采摘的绿茶最好。"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", []),
        ("honey bees", ["honey", "bees"]),
        ("The BEES, of a 42 to", ["bees", "42"]),
        ("bee", ["bee"]),
        ("ox", ["ox"]),
        ("AI", ["ai"]),
        ("the of", ["the", "of"]),
        ("绿茶", ["绿茶"]),
        ("绿茶的 honey", ["绿茶", "茶的", "honey"]),
        ("茶", ["茶"]),
        ("  ", []),
    ],
)
def test_words_that_tell(given: str, words: list[str]) -> None:
    assert list(Topic(given).weights) == words


@pytest.mark.parametrize(
    ("given", "title", "text"),
    [
        ("honey bees", "", BEES),
        ("bee", "", BEES),
        ("dances", "Dance", ""),
        ("绿茶", "", TEA),
        ("绿茶 bees", "绿茶", BEES),
    ],
)
def test_relevant(given: str, title: str, text: str) -> None:
    assert 0 < Topic(given).relevance(title, text) < 1


@pytest.mark.parametrize(
    ("given", "title", "text"),
    [
        ("railways", "", BEES),
        ("", "Bees", BEES),
        ("绿茶", "", BEES),
        ("bees", "", TEA),
        ("bees", "", ""),
    ],
)
def test_irrelevant(given: str, title: str, text: str) -> None:
    assert Topic(given).relevance(title, text) == 0


@pytest.mark.parametrize(("more", "less"), [("tea", "coffee"), ("绿茶 ", "咖啡 ")])
def test_more_mentions_are_more_relevant_and_longer_texts_less(more: str, less: str) -> None:
    topic = Topic(more)
    once, twice = topic.relevance("", f"{more} "), topic.relevance("", f"{more} {more} ")
    diluted = topic.relevance("", f"{more} " + f"{less} " * 400)
    assert 0 < diluted < once < twice < 1
    assert topic.relevance(more, "") == pytest.approx(TITLE_COUNTS / (TITLE_COUNTS + 1))


@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        ("honey bees", "", 0),
        ("honey bees", "Steam engines", 0),
        ("honey bees", "A bee", 1 / 2),
        ("honey bees", "Bees make honey", 1),
        ("绿茶 honey", "喝绿茶", 1 / 2),
        ("", "Bees", 0),
    ],
)
def test_mentioned(given: str, text: str, expected: float) -> None:
    assert Topic(given).mentioned(text) == expected


@pytest.mark.parametrize("text", [BEES, TEA])
def test_a_topic_is_learned_from_pages_unless_given(text: str) -> None:
    learned, given = Topic(), Topic("railways")
    for topic in (learned, given):
        topic.learn(text)
    assert learned.relevance("", text) > 0
    assert learned.relevance("", "Steam engines need water.") == 0
    assert given.weights == {"railways": 1.0}


def test_learning_keeps_the_commonest_words_of_the_first_pages() -> None:
    topic = Topic()
    words = [chr(ord("a") + i // 26) * 2 + chr(ord("a") + i % 26) for i in range(LEARNED_WORDS + 5)]
    for page in range(LEARNED_PAGES + 1):
        topic.learn(" ".join(words[: LEARNED_WORDS + 5 - page // 2] * 2) if page < LEARNED_PAGES else "late " * 1000)
    assert list(topic.weights) == words[:LEARNED_WORDS]
    assert topic.weights[words[0]] == max(topic.weights.values())


@pytest.mark.parametrize("text", ["", "bees " * 100_000, "绿茶" * 100_000, "\x00\ud800 ", "x" * 1_000_000])
def test_scores_stay_between_0_and_1(text: str) -> None:
    for topic in (Topic("bees 绿茶"), Topic(), Topic(text)):
        topic.learn(text)
        assert 0 <= topic.relevance(text, text) <= 1
        assert 0 <= topic.mentioned(text) <= 1
