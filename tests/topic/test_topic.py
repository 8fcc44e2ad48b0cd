from crawler.topic.topic import Topic, is_meaningful


def test_words_that_tell() -> None:
    rows = [
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
    ]
    for given, words in rows:
        topic = Topic.of(given)
        assert topic == Topic(tuple((word, 1.0) for word in words), given)
        assert topic.given == bool(words)


def test_what_says_what_a_crawl_is_about() -> None:
    rows = [
        (Topic(), False),
        (Topic(words=(("bees", 2.0),)), True),
        (Topic(examples=("Bees dance.",)), True),
        (Topic(example_urls=("http://a.example/",)), True),
        (Topic(against=("Cars.",), against_urls=("http://a.example/",)), False),
        (Topic(prefer=("a.example",), avoid=("b.example",)), False),
    ]
    for topic, given in rows:
        assert topic.given is given


def test_any_text_is_a_topic() -> None:
    for text in ["", "bees " * 100_000, "绿茶" * 100_000, "\x00\ud800 ", "x" * 1_000_000]:
        assert len(Topic.of(text).words) <= 1


def test_words_of_pages_that_tell() -> None:
    rows = [
        ("bee", True),
        ("be", False),
        ("and", False),
        ("1999", False),
        ("b52", True),
        ("蜜蜂", True),
        ("的蜜", False),
    ]
    for word, does in rows:
        assert is_meaningful(word) is does
