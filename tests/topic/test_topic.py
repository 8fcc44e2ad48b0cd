import pytest

from crawler.topic.topic import Topic, tells


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", []),
        ("honey bees", ["honey", "bees"]),
        ("The BEES, of a 42 to", ["bees", "42"]),
        ("bees and bees", ["bees"]),
        ("ox", ["ox"]),
        ("AI", ["ai"]),
        ("the of", ["the", "of"]),
        ("绿茶", ["绿茶"]),
        ("蜜蜂养殖 honey", ["蜜蜂", "养殖", "honey"]),
        ("茶", ["茶"]),
        ("我爱", ["我爱"]),
        ("ミツバチ", ["ミツ", "ツバ", "バチ"]),
        ("  ", []),
    ],
)
def test_words_that_tell(given: str, words: list[str]) -> None:
    topic = Topic.of(given)
    assert topic == Topic(tuple((word, 1.0) for word in words), given)
    assert topic.given == bool(words)


@pytest.mark.parametrize(
    ("topic", "given"),
    [
        (Topic(), False),
        (Topic(words=(("bees", 2.0),)), True),
        (Topic(examples=("Bees dance.",)), True),
        (Topic(example_urls=("http://a.example/",)), True),
        (Topic(against=("Cars.",), against_urls=("http://a.example/",)), False),
        (Topic(prefer=("a.example",), avoid=("b.example",)), False),
    ],
)
def test_what_says_what_a_crawl_is_about(topic: Topic, given: bool) -> None:
    assert topic.given is given


@pytest.mark.parametrize("text", ["", "bees " * 100_000, "绿茶" * 100_000, "\x00\ud800 ", "x" * 1_000_000])
def test_any_text_is_a_topic(text: str) -> None:
    assert len(Topic.of(text).words) <= 1


@pytest.mark.parametrize(
    ("word", "does"),
    [("bee", True), ("be", False), ("and", False), ("1999", False), ("b52", True), ("蜜蜂", True), ("的蜜", False)],
)
def test_words_of_pages_that_tell(word: str, does: bool) -> None:
    assert tells(word) is does
