"""Forms of the topic's words in languages with endings."""

import subprocess
import sys

from fork_server import environment

from crawler.topic.focus import TopicFocus
from crawler.topic.stems import LEAST_LETTERS, STEMMERS_BY_SCRIPT, Stems
from crawler.topic.topic import Topic


def test_forms() -> None:
    rows = [
        ("пчёлы", (), ("пчела", "пчелами", "пчёл"), ("пчеловод", "пчёлка", "паук")),
        ("железная", ("en", "ru"), ("железной", "железные"), ("железо",)),
        ("bienen", ("de",), ("biene", "bienen"), ("bienenstock", "bier")),
        ("bienen", ("en", "de"), ("biene",), ()),
        ("abeilles", ("fr",), ("abeille",), ("abbé",)),
        ("talo", ("fi",), ("talossa",), ("talvi",)),
        ("bienen", ("fr", "de"), ("biene",), ("bier",)),
        ("bienen", (), (), ("biene",)),
        ("birds", ("en",), (), ("birding",)),
        ("蜜蜂", ("zh",), (), ("蜜蜂们",)),
        ("мёд", (), (), ("мёда",)),
    ]
    for word, languages, forms, others in rows:
        stems = Stems([word], languages)
        assert {one: stems.folded(one) for one in (word, *forms)} == dict.fromkeys((word, *forms), word)
        assert [stems.folded(one) for one in others] == list(others)
        assert bool(stems) == bool(forms)
        counts = dict.fromkeys((word, *forms, *others), 2)
        assert stems.counts_with_forms(counts) == ({word: 2 * len({word, *forms})} if forms else {})


def test_the_language_of_latin_letters_is_that_of_the_crawl() -> None:
    topic, text = Topic.of("Bienen"), "Eine Biene fliegt."
    assert TopicFocus(topic, languages=("de",)).relevance("", text) > 0.2
    assert TopicFocus(topic).relevance("", text) == 0


def test_all_languages_are_known() -> None:
    for script in STEMMERS_BY_SCRIPT:
        import snowballstemmer

        usual, others = STEMMERS_BY_SCRIPT[script]
        assert {usual, *others.values()} - {""} <= set(snowballstemmer.algorithms())


def test_odd_words_are_themselves() -> None:
    stems, odd = Stems(["пчёлы", "", "1234", "a" * (LEAST_LETTERS - 1)], ("de",)), ["", "п", "пч", "12", "养", "\ud800"]
    assert [stems.folded(word) for word in odd] == odd


def test_stemmers_are_loaded_only_for_those_who_need_them() -> None:
    code = (
        "import sys; from crawler.topic.focus import TopicFocus; from crawler.topic.topic import Topic; "
        "TopicFocus(Topic.of('honey bees')); print('snowballstemmer' in sys.modules)"
    )
    line = [sys.executable, "-c", code]
    ended = subprocess.run(line, env=environment(), capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert ended.stdout == "False\n"
