"""What the focus says of pages and links as they come, odd ones among them."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
import pytest
from fork_server import environment

from crawler.topic import focus, link_table, word_statistics
from crawler.topic.focus import TopicFocus
from crawler.topic.link_scores import FOREFRONT, FocusOptions
from crawler.topic.link_table import REPORTED, LinkContext
from crawler.topic.priorities import HIGHEST
from crawler.topic.relevance import WORDLESS_WEIGHT
from crawler.topic.topic import Topic

BEES = "Honey bees make honey, and bees make wax in the hive of their colony."
CARS = "Cars run on roads, and their engines burn petrol in four strokes."
BEES_TOPIC = Topic.of("honey bees")
QUIET = FocusOptions(exploration=0.0)


def page(number: int) -> str:
    return f"http://a.example/{number}"


def begun(topic: Topic = BEES_TOPIC, manner: FocusOptions = QUIET, texts: Sequence[str] = (BEES, CARS)) -> TopicFocus:
    """What has fetched a page of bees, and one of cars."""
    made = TopicFocus(topic, manner)
    for number, text in enumerate(texts):
        made.learn_page(page(number), "", text)
    return made


LINK = LinkContext("http://b.example/hive", "honey bees", near="all of bees")
OTHER = LinkContext("http://c.example/road", "roads", near="all of cars")


def test_topics_in_words() -> None:
    rows = [
        ("bee", "Two bees", "A beekeeper"),
        ("bees", "One bee", "Beer"),
        ("honey bees", BEES, CARS),
        ("How do the bees make their honey?", BEES, CARS),
        ("蜜蜂", "蜜蜂在花丛中采蜜。", "汽车在公路上行驶。"),
        ("养蜂和蜂蜜", "蜂农养蜂,蜂蜜很甜。", "汽车在公路上行驶。"),
        ("茶", "他喝茶。", "汽车在公路上行驶。"),
        ("養蜂", "蜂农养蜂,蜂蜜很甜。", "汽车在公路上行驶。"),
        ("养蜂", "農民養蜂,蜂蜜很甜。", "汽車在公路上行駛。"),
        ("ミツバチ", "ミツバチは花の蜜を集める。", "車は道を走る。"),
        ("пчёлы", "Пчёлы собирают мёд.", "Машины едут."),
        ("пчёлы", "Мёд собирает пчела.", "Пчеловод идёт."),
        ("μέλισσα", "Οι μέλισσες μαζεύουν.", "Τα αυτοκίνητα."),
    ]
    for topic, good, bad in rows:
        made = TopicFocus(Topic.of(topic))
        assert made.relevance("", good) > 0.2
        assert made.relevance(good, "") > made.relevance("", good)
        assert made.relevance("", bad) == made.relevance(bad, "") == made.relevance("", "") == 0
        if topic != "茶":  # which links name in words of more characters
            many, few = made.queue_links("http://a.example/", [LinkContext(page(1), good), LinkContext(page(2), bad)])
            assert many > few


@pytest.mark.parametrize("topic", [BEES_TOPIC, Topic()])
def test_labels_are_learned_from_until_there_are_others(topic: Topic) -> None:
    made = begun(topic)
    if not topic.given:
        made.learn_example(BEES)
    before = [made.relevance("", text) for text in (BEES, CARS)]
    made.label([("", BEES, False), ("", CARS, True)])
    bees, cars = (made.relevance("", text) for text in (BEES, CARS))
    assert (bees < before[0], cars > before[1]) == (True, True)
    made.label([("", BEES, True), ("", CARS, False)])
    assert made.relevance("", BEES) > bees
    assert made.relevance("", CARS) < cars
    made.label([])
    assert [made.relevance("", text) for text in (BEES, CARS)] == pytest.approx(before, abs=0.01)


def test_links_go_where_labels_point() -> None:
    made = begun()
    (before,) = made.queue_links(page(0), [OTHER])
    made.label([("", "Roads for cars", True)] * 10)
    assert made.renew()[OTHER.url] > before


def test_a_topic_in_chinese_without_the_dictionary() -> None:
    code = (
        "import sys; sys.modules['rjieba'] = None; from crawler.topic.focus import TopicFocus; "
        "from crawler.topic.topic import Topic; made = TopicFocus(Topic.of('蜜蜂养殖')); "
        "print(*(made.relevance('', text) > .5 for text in ('蜜蜂养殖的蜜蜂', '蜜蜂養殖的蜜蜂')), "
        "made.relevance('', '汽车行驶'))"
    )
    line = [sys.executable, "-c", code]
    ended = subprocess.run(line, env=environment(), capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert ended.stdout.split() == ["True", "True", "0.0"]


@pytest.mark.parametrize("word", ["honey bee", "蜜蜂养殖"])
def test_a_keyword_of_several_words_speaks_for_links(word: str) -> None:
    made = begun(Topic(words=((word, 1.0),)), texts=[""])
    good, bad = made.queue_links(page(0), [LinkContext(page(1), word), LinkContext(page(2), "roads")])
    assert good > bad


@pytest.mark.parametrize("text", ["bees " * 10, "bees bees wax hive"])
def test_at_first_a_page_is_about_words_if_it_names_them_or_is_like_pages_that_do(text: str) -> None:
    made = begun(Topic.of("bees"))
    made.learn()
    named = made.keywords.score("", text)
    like = float(made.subject.relevance(made.subject.likeness(made.vocabulary.vector(text.split()))))
    assert made.relevance("", text) == pytest.approx(max(named, sqrt(named * like)), abs=0.02)
    unnamed = made.subject.relevance(made.subject.likeness(made.vocabulary.vector(["wax", "and", "hive"])))
    assert made.relevance("", "wax and hive") == pytest.approx(WORDLESS_WEIGHT * float(unnamed), abs=0.02)


@pytest.mark.parametrize(
    "topic", ["bees", "bees, apiary, nectar, propolis, drone, beekeeper", "bees and their keepers"]
)
def test_more_words_for_a_topic_leave_its_pages_on_topic(topic: str) -> None:
    made = TopicFocus(Topic.of(topic))
    filler = ("road", "wheel", "engine", "driver", "tyre")
    for number in range(300):
        about = "bees hive honey wax comb queen swarm" if number % 5 == 0 else f"cars {' '.join(filler)} oil"
        made.learn_page(page(number), "", f"{about} word{number % 7} thing{number % 11} {about}")
        made.renew_if_due()
    assert made.relevance("", "bees hive honey wax comb queen swarm word3 thing4") > 0.5
    assert made.relevance("", f"cars {' '.join(filler)} oil word3 thing4") < 0.2


def test_examples_and_counterexamples() -> None:
    made = TopicFocus(Topic(examples=(BEES,)))
    assert made.relevance("", BEES) > 0.9
    assert made.relevance("", CARS) < 0.3
    mixed, mustard = "Honey and mustard.", "Honey, mustard and vinegar make a sauce."
    before = made.relevance("", mixed)
    made.learn_example(mustard, is_on_topic=False)
    assert made.relevance("", mixed) < before - 0.05
    against = TopicFocus(Topic(examples=(BEES,), against=(mustard,)))
    assert against.relevance("", mixed) == pytest.approx(made.relevance("", mixed))


def test_a_page_that_is_an_example_teaches_once() -> None:
    made = begun(Topic(examples=(BEES,)), texts=(BEES, CARS))
    assert [known.is_example for known in made.subject.pages] == [True, False]
    cut = "a" * focus.MOST_TEXT
    made.learn_example(f"{cut}!")
    made.learn_page(page(2), "", f"{cut}?")
    assert made.subject.pages[-1].is_example


def test_nothing_is_known_of_the_topic() -> None:
    made = begun(Topic())
    assert made.relevance("", BEES) == 0
    assert made.queue_links(page(0), [LINK, OTHER]) == [33, 33]
    assert made.renew() == {}


def test_words_in_texts_off_the_topic_count_against_a_link() -> None:
    links = [LinkContext("http://b.example/1", "petrol"), LinkContext("http://b.example/2", "granite")]
    off_topic, unknown = begun().queue_links(page(0), links)
    assert off_topic < unknown


def test_so_much_of_a_page_is_read() -> None:
    for beyond, counts in [(0, True), (1, False)]:
        for where, most in [("title", focus.MOST_TITLE), ("text", focus.MOST_TEXT)]:
            given = {"title": "", "text": "", where: "." * (most - len("honey") + beyond) + "honey"}
            made = TopicFocus(Topic.of("honey"))
            assert (made.relevance(**given) > 0) is counts
            made.learn_page(page(0), **given)
            assert (made.vocabulary.place("honey") in made.subject.pages[0].vector.places) is counts


def test_so_much_of_a_link_is_read() -> None:
    for where in ["anchor", "near"]:
        for beyond, counts in [(0, True), (1, False)]:
            words = {
                "anchor": "",
                "near": "",
                where: "." * (link_table.MOST_LINK_TEXT - len("honey") + beyond) + "honey",
            }
            (plain,), (long,) = (
                begun().queue_links(page(0), [lead])
                for lead in (LinkContext(page(7), ""), LinkContext(page(7), **words))
            )
            assert (long > plain) is counts


def test_preferred_domains() -> None:
    rows = [
        (("b.example",), 1.25),
        (("hives.b.example",), 1.25),
        (("example",), 1.25),
        (("s.b.example", "bb.example"), 1.0),
    ]
    for prefer, factor in rows:
        leads = [LinkContext("http://hives.b.example:8000/1", "roads")]
        (plain,), (more,) = (
            begun(Topic(BEES_TOPIC.words, prefer=domains)).queue_links(page(0), leads) for domains in [(), prefer]
        )
        assert more == pytest.approx(plain * factor, abs=1)


def test_odd_addresses() -> None:
    rows = ["http://a.example", "http://a.example/%FF%00", "http://[::1]:8/", "http://a.example/" + "%E8%9C%82" * 5_000]
    for url in rows:
        made = begun()
        (priority,) = made.queue_links(page(0), [LinkContext(url, "\ud800\x00", near="\ud800")])
        assert 0 <= priority < HIGHEST
        made.learn_page(url, "\ud800", "\ud800\x00")
        assert made.queued_score(url) is None
        json.dumps(made.summary())
        assert TopicFocus(BEES_TOPIC).take_in(made.record().encode("utf-8", "replace").decode())


def test_new_links_have_the_priorities_that_they_keep_until_more_is_known() -> None:
    made = begun()
    good, bad = made.queue_links(page(0), [LINK, OTHER])
    assert HIGHEST > good > bad >= 0
    assert made.queued_score(LINK.url) == good / 1000
    assert made.queued_score("http://d.example/") is None
    assert made.queue_links(page(1), []) == []


def test_a_good_page_speaks_for_its_links() -> None:
    made = begun()
    (of_bees,), (of_cars,) = (made.queue_links(page(n), [LinkContext(page(10 + n), "more")]) for n in (0, 1))
    assert of_bees > of_cars


FOUND_TWICE: dict[str, Callable[[TopicFocus], list[int]]] = {
    "by another page": lambda made: [*made.queue_links(page(0), [LINK]), *made.queue_links(page(1), [LINK])],
    "by the same page": lambda made: [*made.queue_links(page(0), [LINK]), *made.queue_links(page(0), [LINK])],
    "at once": lambda made: made.queue_links(page(0), [LINK, LINK]),
    "among others": lambda made: [*made.queue_links(page(0), [LINK]), made.queue_links(page(1), [OTHER, LINK])[1]],
}


def test_a_link_that_is_found_twice_waits_once() -> None:
    for way in FOUND_TWICE:
        made = begun()
        first, second = FOUND_TWICE[way](made)
        assert first == second
        assert made.waiting.urls.count(LINK.url) == 1
        shown_by_both = way in ("by another page", "among others")
        assert made.waiting.shown[made.waiting.rows[LINK.url]] == ([0, 1] if shown_by_both else [0])
        made.learn_page(LINK.url, "", BEES)
        assert LINK.url not in made.waiting.urls
        assert LINK.url not in made.renew()


def test_pages_that_were_never_fetched() -> None:
    made = begun()
    (unknown,) = made.queue_links("http://z.example/", [LinkContext(page(9), "more")])
    (of_bees,) = made.queue_links(page(0), [LinkContext(page(10), "more")])
    (of_cars,) = made.queue_links(page(1), [LinkContext(page(11), "more")])
    assert of_bees > unknown > of_cars
    before = made.waiting.shown.copy()
    made.see_again("http://z.example/", [LinkContext(page(9), "more")])
    assert made.waiting.shown == before
    made.learn_page(page(9), "", BEES)
    assert made.renew().keys() <= {page(10), page(11)}


def test_a_page_that_is_fetched_twice() -> None:
    made = begun()
    made.queue_links(page(0), [LINK])
    for _ in range(2):
        assert made.learn_page(LINK.url, "", BEES) > 0.3
    assert (made.page_credits.pages, made.waiting.rows) == (4, {})
    made.see_again(LINK.url, [LinkContext(page(1), "")])
    assert made.page_credits.track([3])[0] < made.page_credits.worth([3])[0]
    assert made.page_credits.track([2])[0] == pytest.approx(made.page_credits.worth([2])[0])


def test_a_link_shown_again_is_worth_more_or_less() -> None:
    made = begun()
    (good,), (poor,) = (made.queue_links(page(n), [LinkContext(page(10 + n), "more")]) for n in (0, 1))
    made.see_again(page(0), [LinkContext(page(11), "honey bees"), LinkContext("http://d.example/", "")])
    made.see_again(page(1), [LinkContext(page(10), "more"), LinkContext(page(1), "")])
    assert made.waiting.shown == [[0, 1], [1, 0]]
    found = made.renew()
    assert found[page(10)] < good
    assert found[page(11)] > poor


def test_a_link_to_a_page_known_before_tells_where_a_page_leads() -> None:
    made = begun()
    made.see_again(page(1), [LinkContext(page(0), "")])
    assert made.page_credits.track([1])[0] == pytest.approx(made.page_credits.worth([0])[0] / 4)
    assert made.page_credits.worth([1])[0] == 0


def test_what_led_to_a_page_learns() -> None:
    made = begun()
    made.queue_links(page(1), [LINK, OTHER])
    relevance = made.learn_page(LINK.url, "", BEES)
    made.learn_page(OTHER.url, "", CARS)
    assert made.page_credits.track([1])[0] == pytest.approx(relevance / 5, abs=0.01)
    told = made.apprentice.shared()
    assert (told.good, told.bad) == (pytest.approx(relevance, abs=0.05), pytest.approx(2 - relevance, abs=0.05))
    names = {made.vocabulary.names[feature % word_statistics.PLACES] for feature in told.features}
    assert {"honey", "bees", "hive", "b.example", "roads", "road", "c.example", "all", "of", "cars"} == names


RENEWALS = [3, 6, 9, 13, 19, 28, 41, *range(61, 402, 20), 422, 444]


def test_when_it_is_time_for_new_priorities(monkeypatch: pytest.MonkeyPatch) -> None:
    made, found = TopicFocus(BEES_TOPIC), []
    renew = made.renew

    def renewing() -> dict[str, int]:
        found.append(made.page_credits.pages)
        return renew()

    monkeypatch.setattr(made, "renew", renewing)
    for number in range(450):
        made.learn_page(page(number), "", "")
        made.renew_if_due()
    assert found == RENEWALS


@pytest.mark.parametrize(("change", "is_told"), [(0, False), (9, False), (-9, False), (10, True), (-10, True)])
def test_what_changed_enough_is_told(change: int, is_told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = begun()
    made.queue_links(page(0), [LINK, OTHER])
    monkeypatch.setattr(focus, "STEP", 1)
    for _ in range(50):
        settled = made.renew()
    assert settled == {}
    monkeypatch.undo()
    told = int(made.waiting.all().table[REPORTED, 0])
    made.waiting.all().table[REPORTED, 0] += change
    assert made.renew() == ({LINK.url: told} if is_told else {})


def test_new_priorities_are_what_is_thought_of_a_link() -> None:
    made = begun()
    made.queue_links(page(1), [LINK, OTHER])
    for number in range(5):
        made.learn_page(page(20 + number), "", BEES)
    found = made.renew()
    assert found
    for url, priority in found.items():
        assert made.queued_score(url) == priority / 1000


def test_some_links_are_tried_although_others_promise_more() -> None:
    made = begun(manner=FocusOptions(exploration=1.0))
    links = [LinkContext(f"http://b.example/{n}", "bees" if n < FOREFRONT else "roads") for n in range(FOREFRONT + 5)]
    priorities = made.queue_links(page(0), links)
    tried = {url for url, priority in made.renew().items() if priority == HIGHEST}
    assert len(tried) == 2
    assert tried <= {lead.url for lead in links[FOREFRONT:]}
    for url in tried:
        assert made.queued_score(url) == pytest.approx(priorities[-1] / 1000, abs=0.1)
    assert not any(priority == HIGHEST for priority in made.renew().values())
    gone, other = sorted(tried)
    made.forget([gone])
    made.learn_page(other, "", CARS)
    assert made.queued_score(gone) is made.queued_score(other) is None
    (priority,) = made.queue_links(page(0), [LinkContext(gone, "roads")])
    assert made.queued_score(gone) == priority / 1000


def test_a_link_is_chosen_once_to_be_tried() -> None:
    """Links that were chosen before would use up the number that exploration may choose."""
    made = begun(manner=FocusOptions(exploration=1.0))
    links = [LinkContext(f"http://b.example/{n}", "bees" if n < FOREFRONT else "roads") for n in range(FOREFRONT + 5)]
    made.queue_links(page(0), links)
    tried = {url for url, priority in made.renew().items() if priority == HIGHEST}
    for number in range(3):
        made.learn_page(page(10 + number), "", CARS)
    tried |= {url for url, priority in made.renew().items() if priority == HIGHEST}
    assert tried == {link.url for link in links[FOREFRONT:]}


def test_what_other_workers_fetched_is_forgotten() -> None:
    made = begun()
    made.queue_links(page(0), [LINK, OTHER])
    assert made.waiting_sample(0) == []
    assert made.waiting_sample(1) == [LINK.url]
    assert made.waiting_sample(9) == [LINK.url, OTHER.url]
    told = made.apprentice.shared()
    made.forget([LINK.url, "http://d.example/"])
    assert made.waiting_sample(9) == [OTHER.url]
    assert (made.queued_score(LINK.url), made.apprentice.shared()) == (None, told)


@pytest.mark.parametrize(("remembered", "known"), [(2, True), (1, False)])
def test_so_many_addresses_are_remembered(remembered: int, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(focus, "REMEMBERED", remembered)
    made = begun()
    made.queue_links(page(1), [LINK])
    made.see_again(page(0), [LINK])
    assert made.waiting.shown == [[1, 0] if known else [1]]


def test_links_that_wait_are_no_more_than_so_many_and_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_table, "MOST_WAITING", 2_000)
    made = begun()
    for batch in range(10):
        leads = [LinkContext(f"http://b.example/{batch}/{n}", "bees") for n in range(1_500)]
        assert len(made.queue_links(page(0), leads)) == 1_500
        assert len(made.waiting.rows) <= 3_500
        assert len(made.waiting.urls) <= 7_000
    assert made.summary()["let_go"] == 15_000 - len(made.waiting.rows)
    made.queue_links(page(1), [LinkContext("http://b.example/0/0", "bees"), *leads])
    assert made.waiting.urls.count("http://b.example/0/0") == 1
    assert set(made.renew()) <= set(made.waiting.rows)


def test_thousands_of_links_on_one_page() -> None:
    made = begun()
    leads = [LinkContext(f"http://b.example/{n}", f"link {n}", near="bees " * 50) for n in range(5_000)]
    priorities = made.queue_links(page(0), leads)
    assert len(priorities) == 5_000
    assert all(0 <= priority < HIGHEST for priority in priorities)
    assert made.queue_links(page(1), leads) == priorities


def test_a_site_that_gives_too_much_waits_for_others() -> None:
    made = TopicFocus(BEES_TOPIC, QUIET)
    for number in range(20):
        made.learn_page(page(number), "", BEES)
    (alone,) = made.queue_links(page(0), [LinkContext(page(50), "bees")])
    (other,) = made.queue_links(page(0), [LinkContext("http://b.example/", "bees")])
    (less,) = made.queue_links(page(0), [LinkContext(page(51), "bees")])
    assert alone == other == pytest.approx(10 * less, abs=6)
    assert made.renew()[page(50)] == pytest.approx(less, abs=10)
    made.forget(["http://b.example/"])
    assert made.renew()[page(50)] > 5 * less


def test_pages_without_anything() -> None:
    made = begun(texts=["", "", ""])
    assert made.learn_page("http://b.example/", "", "") == 0
    (priority,) = made.queue_links("http://b.example/", [LinkContext(page(9), "")])
    assert 0 <= priority < 50
    made.renew()
    assert TopicFocus(BEES_TOPIC).take_in(made.record())


def test_the_summary() -> None:
    made = begun(texts=[BEES] * 3 + [CARS] * 3)
    made.queue_links(page(0), [LINK, OTHER])
    made.learn()
    found = made.summary()
    assert json.loads(json.dumps(found)) == found
    assert found["pages"] == 6
    assert {"honey", "bees"} <= {word for word, _ in found["topic"][:4]}
    assert found["let_go"] == 0


@pytest.mark.parametrize("learning", [True, False])
def test_pages_are_judged_anew_as_the_aim_moves(learning: bool) -> None:
    made = TopicFocus(Topic(examples=(BEES,)), FocusOptions(learning=learning))
    hives = "The hive of a colony holds wax, brood, a queen and her workers."
    first = made.learn_page(page(0), "", hives)
    for number in range(1, 30):
        made.learn_page(
            page(number), "", f"{hives} Number{number}. {BEES}" if number % 2 else f"{CARS} Number{number}."
        )
    made.renew()
    assert made.page_credits.worth([0])[0] > first + 0.05
    assert np.isfinite(made.page_credits.worth(range(30))).all()
