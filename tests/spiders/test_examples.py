from crawler.frontier.page_result import AddressKind, Candidate, FoundBy, LessonKind
from crawler.page.page import Extraction, Page
from crawler.spiders.topic_tracker import EXAMPLE_LENGTH, MOST_SEEDS, Examples, TopicExample, example_text
from crawler.topic.topic import Topic

GOOD, BAD = "http://a.example/good", "http://a.example/bad"
NAMED = Topic(example_urls=(GOOD,), against_urls=(BAD,))


def test_addresses_come_with_what_they_are() -> None:
    assert list(Examples(NAMED).candidates(7)) == [
        Candidate(GOOD, 7, kind=AddressKind.EXAMPLE, via=FoundBy.EXAMPLE),
        Candidate(BAD, 7, kind=AddressKind.COUNTEREXAMPLE, via=FoundBy.EXAMPLE),
    ]
    assert list(Examples(Topic.of("bees")).candidates(7)) == []


def test_lessons() -> None:
    rows = [
        (Topic(), LessonKind.SEED, "Bees.", TopicExample("Bees.", True)),
        (Topic.of("bees"), LessonKind.SEED, "Bees.", TopicExample("Bees.", True)),
        (NAMED, LessonKind.SEED, "Bees.", None),
        (NAMED, LessonKind.EXAMPLE, f"{GOOD}\nBees.\nMore.", TopicExample("Bees.\nMore.", True)),
        (NAMED, LessonKind.COUNTEREXAMPLE, f"{BAD}\nCars.", TopicExample("Cars.", False)),
        (NAMED, LessonKind.EXAMPLE, f"{BAD}\nCars.", None),
        (NAMED, LessonKind.EXAMPLE, "http://a.example/no-longer\nBees.", None),
        (NAMED, LessonKind.EXAMPLE, GOOD, None),
        (Topic(), LessonKind.EXAMPLE, f"{GOOD}\nBees.", None),
        (NAMED, LessonKind.SEED_AGAIN, GOOD, None),
        (NAMED, "again example", GOOD, None),
    ]
    for topic, kind, text, example in rows:
        assert Examples(topic).accept(kind, text) == example


def test_the_seeds_teach_until_enough_is_known() -> None:
    examples = Examples(Topic())
    assert not examples.has_topic
    for number in range(MOST_SEEDS):
        assert examples.are_sought
        assert examples.accept(LessonKind.SEED, f"Bees {number}.") is not None
    assert examples.has_topic
    assert not examples.are_sought
    assert examples.accept(LessonKind.SEED, "More bees.") is None


def test_a_seed_without_words_says_nothing() -> None:
    examples = Examples(Topic())
    examples.accept(LessonKind.SEED, " \n")
    assert not examples.has_topic


def test_what_a_page_teaches() -> None:
    page = Page.from_html("<p>One</p><p>Two</p>")
    assert example_text(page, Extraction("The text.", "Title")) == "The text."
    assert example_text(page, Extraction("", "Title")) == "One Two"
    assert len(example_text(page, Extraction("x" * (EXAMPLE_LENGTH + 1), ""))) == EXAMPLE_LENGTH
    assert example_text(Page.from_html(""), Extraction("", "")) == ""
