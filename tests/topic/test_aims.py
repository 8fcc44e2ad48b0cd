"""Pages in two languages: each is compared with pages of its own, and a topic is learned in the other one."""

from collections.abc import Sequence

import numpy as np
import pytest

from crawler.topic import aims, relevance
from crawler.topic.aims import LEAST_PAGES, MOST_LANGUAGES, log_likelihood
from crawler.topic.focus import TopicFocus
from crawler.topic.link_table import LinkContext
from crawler.topic.page_translations import NamedTranslations
from crawler.topic.relevance import PageStack
from crawler.topic.topic import Topic
from crawler.topic.word_statistics import KnownPage, Values

HOME = "http://a.example"
BEES = ("Honey bees dance in the hive, and bees make honey and wax.", "蜜蜂在蜂箱里跳舞,蜜蜂酿蜂蜜,养蜂人收蜂蜡。")
CARS = ("Cars run on roads, and the engines of cars burn petrol.", "汽车在公路上行驶,汽车发动机燃烧汽油,司机加油。")
QUEEN = ("The queen of the hive flies once, and the wax cells wait.", "蜂箱里的蜂王飞一次,蜂蜡做的蜂房在等待。")
OIL = ("Petrol is pumped at stations, and engines need oil.", "汽油在加油站出售,发动机需要机油。")
EN, ZH = range(2)
LANGUAGES = "en", "zh"


def read(focus: TopicFocus, path: str, text: str, language: str) -> float:
    relevance = focus.learn_page(f"{HOME}{path}", "", text, language)
    focus.renew_if_due()
    return relevance


def bilingual(topic: str, pairs: int = 12, *, zh: bool = True) -> TopicFocus:
    """What has read pages of bees and cars, each in English and, at the same address below /zh/, in Chinese."""
    focus = TopicFocus(Topic.of(topic))
    for number in range(pairs):
        text = CARS if number % 2 else BEES
        read(focus, f"/{number}/", f"{text[EN]} Number{number} stands here.", "en")
        if zh:
            read(focus, f"/zh/{number}/", f"{text[ZH]}这是{number}号。", "zh")
    return focus


def relevances(focus: TopicFocus, language: int) -> list[float]:
    texts = (BEES, QUEEN, CARS, OIL)
    return [focus.relevance("", text[language], f"{HOME}/new/{language}", LANGUAGES[language]) for text in texts]


@pytest.mark.parametrize(("topic", "language"), [("honey bees", ZH), ("蜜蜂", EN)])
def test_a_topic_is_learned_in_the_other_language(topic: str, language: int) -> None:
    bees, queen, cars, oil = relevances(bilingual(topic), language)
    assert min(bees, queen) > 0.4 > 0.2 > max(cars, oil)


@pytest.mark.parametrize("language", [EN, ZH])
def test_what_is_told_in_both_loses_nothing(language: int) -> None:
    alone = relevances(bilingual(("honey bees", "蜜蜂")[language]), language)
    both = relevances(bilingual("honey bees 蜜蜂"), language)
    assert both == pytest.approx(alone, abs=0.1)
    assert both[0] > 0.5 > both[2]


def test_without_translations_nothing_is_learned() -> None:
    focus = TopicFocus(Topic.of("honey bees"))
    for number in range(12):
        text = CARS if number % 2 else BEES
        read(focus, f"/en{number}/x", f"{text[EN]} Number{number}.", "en")
        read(focus, f"/cn{number}/x", f"{text[ZH]}{number}。", "zh")
    assert max(relevances(focus, ZH)) < 0.1


def test_one_language_is_as_without_languages() -> None:
    named, unnamed = bilingual("honey bees", zh=False), TopicFocus(Topic.of("honey bees"))
    for number in range(12):
        read(unnamed, f"/{number}/", f"{(CARS if number % 2 else BEES)[EN]} Number{number} stands here.", "")
    assert relevances(named, EN) == relevances(unnamed, EN)
    assert not named.aims.others


@pytest.mark.parametrize(("pages", "languages"), [(LEAST_PAGES - 1, []), (LEAST_PAGES, ["zh"])])
def test_how_many_pages_a_language_needs(pages: int, languages: list[str]) -> None:
    focus = TopicFocus(Topic.of("bees"))
    for number in range(4):
        read(focus, f"/{number}", BEES[EN], "en")
    for number in range(pages):
        read(focus, f"/zh/{number}", BEES[ZH], "zh")
    assert list(focus.aims.others) == languages
    assert len(focus.subject.pages) == 4 + pages * (not languages)


def test_no_more_languages_than_there_is_memory_for() -> None:
    focus = TopicFocus(Topic.of("bees"))
    for language in ("en", "zh", "de", "fr", "es", "it", "nl"):
        for number in range(LEAST_PAGES):
            read(focus, f"/{language}/{number}", BEES[EN], language)
    assert list(focus.aims.others) == ["zh", "de", "fr", "es"][:MOST_LANGUAGES]


def test_a_page_is_as_relevant_as_its_translation() -> None:
    focus = bilingual("honey bees", pairs=6)
    focus.name_translations(f"{HOME}/zh/mifeng", NamedTranslations(declared=(f"{HOME}/0/",)))
    assert focus.relevance("", "无关的一页。", f"{HOME}/zh/mifeng", "zh") > 0.5
    assert focus.relevance("", "无关的一页。", f"{HOME}/zh/qiche", "zh") < 0.2


def test_a_first_page_is_judged_by_the_folder_that_it_shares() -> None:
    focus = TopicFocus(Topic.of("honey bees"))
    for number in range(4):
        read(focus, f"/bees/{number}", BEES[EN], "en")
        read(focus, f"/cars/{number}", CARS[EN], "en")
    bees, cars = (focus.relevance("", BEES[ZH], f"{HOME}/zh/{folder}/x", "zh") for folder in ("bees", "cars"))
    assert bees > 0.4 > 0.1 > cars


@pytest.mark.parametrize(("topic", "words"), [("honey bees", ("蜂蜜", "汽车")), ("蜜蜂", ("honey", "petrol"))])
def test_links_score_in_the_other_language(topic: str, words: tuple[str, str]) -> None:
    focus = bilingual(topic)
    links = [LinkContext(f"http://b.example/{number}", word) for number, word in enumerate(words)]
    good, bad = focus.queue_links(f"{HOME}/0/", links)
    assert good > bad + 100


def test_the_learned_words_are_among_those_of_the_topic() -> None:
    words = [word for word, _ in bilingual("honey bees").summary()["topic"]]
    assert "蜂蜜" in words
    assert "汽车" not in words


@pytest.mark.parametrize("worker_number", [1, 2])
def test_another_run_or_worker_goes_on(worker_number: int) -> None:
    first = bilingual("honey bees")
    second = TopicFocus(Topic.of("honey bees"), worker_number=worker_number)
    assert second.take_in(first.record())
    bees, queen, cars, oil = relevances(second, ZH)
    assert min(bees, queen) > 0.4 > 0.2 > max(cars, oil)
    assert list(second.aims.others) == ["zh"]
    pages = [focus.translations.shared() for focus in (first, second)]
    assert [(key, language) for key, language, _ in pages[1][0]] == [
        (key, language) for key, language, _ in pages[0][0]
    ]


@pytest.mark.parametrize("topic", ["honey bees", ""])
def test_the_pages_of_a_language_are_stacked_once(topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    focus = bilingual(topic)
    focus.learn_example(BEES[EN])
    stacked: list[int] = []

    class CountedStack(PageStack):
        def __init__(self, pages: Sequence[KnownPage], weights: Values) -> None:
            super().__init__(pages, weights)
            stacked.append(len(pages))

    for module in (aims, relevance):
        monkeypatch.setattr(module, "PageStack", CountedStack)
    focus.learn()
    assert stacked == [12, 12]


def test_it_is_the_same_each_time() -> None:
    assert bilingual("honey bees").record() == bilingual("honey bees").record()


def test_the_log_likelihood_ratio() -> None:
    good, bad = np.array([10.0, 5.0, 0.0, 10.0]), np.array([0.0, 5.0, 10.0, 10.0])
    ratios = log_likelihood(good, bad, 10.0, 10.0)
    assert ratios == pytest.approx([40 * np.log(2), 0, 40 * np.log(2), 0])
