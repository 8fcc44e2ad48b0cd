import numpy as np

from crawler.topic.focus import TopicFocus
from crawler.topic.link_scores import FOREFRONT, SITE_FACTOR, WINDOW, FocusOptions, Prioritizer
from crawler.topic.link_table import LinkContext
from crawler.topic.priorities import HIGHEST, is_unlikely, score_of
from crawler.topic.topic import Topic

A, B, C = 1, 2, 3


def chooser(fetched: list[int], **manner: float) -> Prioritizer:
    made = Prioritizer(FocusOptions(**manner), worker_number=1)
    for site in fetched:
        made.count_page(site)
    return made


def priorities(made: Prioritizer, scores: list[float], sites: list[int], waiting: set[int]) -> list[int]:
    return made.priorities(np.array(scores), np.array(sites, float), waiting).tolist()


def test_thousandths_below_the_highest() -> None:
    rows = [(0, 0), (0.0004, 0), (0.0006, 1), (0.5, 500), (0.998, 998), (0.9984, 998), (0.999, 998), (1, HIGHEST - 1)]
    for score, priority in rows:
        assert priorities(chooser([]), [score], [A], {A}) == [priority]


def test_the_share_of_a_site() -> None:
    rows = [
        ([A] * (WINDOW // 10 - 1), 0.5, {A, B}, (1, 1)),
        ([A] * (WINDOW // 10), 0.5, {A, B}, (SITE_FACTOR, 1)),
        ([A, B] * 50, 0.5, {A, B}, (1, 1)),
        ([A, B] * 50 + [A], 0.5, {A, B}, (SITE_FACTOR, 1)),
        ([A] * 100, 0.5, {A}, (1, 1)),
        ([A] * 100, 0.5, {A, C}, (SITE_FACTOR, 1)),
        ([A] * 100, 0.5, {B}, (SITE_FACTOR, 1)),
        ([A] * 100, 1.0, {A, B}, (1, 1)),
        ([A, B, C, A, B] * 20, 0.3, {A, B, C}, (SITE_FACTOR, SITE_FACTOR)),
        ([A, B, C, A, B] * 20, 0.3, {A, B}, (1, 1)),
        ([A] * WINDOW + [B] * 99, 0.5, {A, B}, (SITE_FACTOR, 1)),
        ([A] * WINDOW + [B] * 100, 0.5, {A, B}, (1, 1)),
        ([A] * WINDOW + [B] * 101, 0.5, {A, B}, (1, SITE_FACTOR)),
    ]
    for fetched, share, waiting, counts in rows:
        found = priorities(chooser(fetched, site_share=share), [0.6, 0.6], [A, B], waiting)
        assert found == [round(600 * count) for count in counts]


def tries(made: Prioritizer, links: int, priority: int = 5) -> list[int]:
    given = np.arange(links, 0, -1).astype(np.int32) + priority
    return made.choose_explored(np.minimum(given, HIGHEST), np.ones(links, bool))


def test_what_is_tried_lies_behind_what_comes_next_anyway() -> None:
    rows = [
        (0, 0.02, 500, 0),
        (49, 0.02, 500, 0),
        (51, 0.02, 500, 1),
        (151, 0.02, 500, 3),
        (500, 0.0, 500, 0),
        (151, 0.02, FOREFRONT, 0),
        (151, 0.02, FOREFRONT + 1, 1),
        (151, 0.02, FOREFRONT + 2, 2),
    ]
    for pages, share, links, tried in rows:
        made = chooser([A] * pages, exploration=share)
        rows = tries(made, links)
        assert len(rows) == len(set(rows)) == tried
        assert all(FOREFRONT <= row < links for row in rows)


def test_what_was_tried_is_owed_no_more() -> None:
    made = chooser([A] * 151)
    assert [len(tries(made, 500)), len(tries(made, 500))] == [3, 0]
    for _ in range(51):
        made.count_page(A)
    assert len(tries(made, 500)) == 1


def test_what_is_gone_or_asked_for_first_is_not_tried() -> None:
    made, links = chooser([A] * 5_000), 400
    waits = np.arange(links) % 2 == 0
    assert made.choose_explored(np.full(links, 5, np.int32), waits) == []
    highest = np.where(np.arange(links) < 100, HIGHEST, 5).astype(np.int32)
    assert made.choose_explored(highest, np.ones(links, bool)) == []
    highest[0] = 5
    (row,) = made.choose_explored(highest, np.ones(links, bool))
    assert row == links - 1


def test_the_choice_is_a_workers_own_and_the_same_each_time() -> None:
    found = []
    for worker_number in (1, 1, 2):
        made = Prioritizer(FocusOptions(exploration=1.0), worker_number)
        for _ in range(20):
            made.count_page(A)
        found.append(tries(made, 2_000))
    assert found[0] == found[1] != found[2]


CARS = "Cars run on roads, and their engines burn petrol in four strokes."
BEES = "Honey bees make honey, and bees make wax in the hive of their colony."


def priorities_on_cars(min_chance: float, anchors: dict[str, str]) -> dict[str, int]:
    """The priorities of links on a page about cars, after its links to eighty others led to nothing else."""
    focus = TopicFocus(Topic.of("honey bees"), FocusOptions(exploration=0.0, min_chance=min_chance))
    focus.learn_page("http://bees.example/", "", BEES)
    home = "http://cars.example/"
    focus.learn_page(home, "", CARS)
    roads = [LinkContext(f"{home}{number}", "roads") for number in range(80)]
    focus.queue_links(home, roads)
    for link in roads:
        focus.learn_page(link.url, "", CARS)
        focus.renew_if_due()
    links = [LinkContext(url, anchor) for url, anchor in anchors.items()]
    return dict(zip(anchors, focus.queue_links(home, links), strict=True))


LINKS = {"http://cars.example/road": "roads", "http://cars.example/hive": "honey bees"}


def test_unlikely_links_come_last() -> None:
    road, hive = priorities_on_cars(0.03, LINKS).values()
    assert is_unlikely(road)
    assert not is_unlikely(hive)
    assert list(priorities_on_cars(0.0, LINKS).values()) == [round(1_000 * (score_of(road) or 0.0)), hive]


def test_links_are_let_through_when_no_better_ones_are_left() -> None:
    """On a good site the best of them wait no longer, down to the least chance."""
    focus = TopicFocus(Topic.of("honey bees"), FocusOptions(exploration=0.0, min_chance=0.03))
    home = "http://bees.example/"
    focus.learn_page(home, "", BEES)
    better = [LinkContext(f"{home}bees/{number}", "honey bees") for number in range(60)]
    worse = [LinkContext(f"{home}{number}", "more", near=CARS) for number in range(9)]
    focus.queue_links(home, better)
    for link in better:
        focus.learn_page(link.url, "", BEES)
    first = focus.queue_links(f"{home}bees/0", worse)
    later = focus.renew_if_due()
    assert sum(not is_unlikely(later.get(link.url, number)) for link, number in zip(worse, first, strict=True)) >= 4
