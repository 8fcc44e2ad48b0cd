"""`from crawler import Focus`: the frontier of a crawler that is not ours."""

import subprocess
import sys
from pathlib import Path

import pytest
from sites import page

from crawler import Focus, clean

START = "https://example.org/"
BEES = "Honey bees dance in the dark of the hive to tell the others where the flowers are. Bee number"
CARS = "The engine of a car burns petrol, and its wheels turn on the road. Car number"


def web(count: int = 8) -> dict[str, str]:
    """Pages about bees and about cars, each linked from the start, and the next page from each."""
    pages = {}
    for number in range(count):
        for kind, text in (("cars", CARS), ("bees", BEES)):
            following = {f"/{kind}/{number + 1}/": f"Next {kind}"}
            pages[f"{START}{kind}/{number}/"] = page(f"{text} {number}.", links=following)
    links = {url.removeprefix("https://example.org"): f"Number {at}" for at, url in enumerate(pages)}
    return {START: page("Honey bees and cars.", links=links)} | pages


def test_the_promising_come_first_and_each_once() -> None:
    focus, pages, order, relevance = Focus("honey bees"), web(), [], {}
    focus.add([START, START])
    while urls := focus.take():
        order += urls
        for url in urls:
            if url in pages:
                relevance[url] = focus.read(url, pages[url])
    assert order[0] == START
    assert sorted(order) == sorted({*pages, f"{START}bees/8/", f"{START}cars/8/"})
    assert all(f"{START}bees/" in url for url in order[5:10])  # after a car or two
    assert (
        min(relevance[url] for url in pages if "bees" in url)
        > 0.5
        > max(relevance[url] for url in pages if "cars" in url)
    )


def test_scores_change_with_what_is_read() -> None:
    focus, pages = Focus(["honey", "bees"]), web()
    focus.read(START, pages[START])
    links = f"{START}bees/7/", f"{START}cars/7/#top"
    before = [*map(focus.score, links)]
    for url in [url for url in pages if "7" not in url]:
        focus.read(url, pages[url])
    bees, cars = map(focus.score, links)
    assert before[0] == before[1]  # their anchors tell nothing
    assert bees > cars
    assert focus.score(START) is None


def test_links_that_are_not_to_be_followed_do_not_wait() -> None:
    links = (
        "<a href=/bees>Bees</a> <a rel=nofollow href=/advert>Bees</a> <a href=/bees.pdf>Bees</a>"
        "<a href=/alone><img src=/bee.jpg></a> <a href=https://example.com/>Bees</a>"
    )
    focus = Focus("bees", follow=lambda url: url.startswith(START))
    focus.read(START, links)
    assert focus.take(10) == [f"{START}bees"]
    focus.read(f"{START}bees", f"<meta name=robots content=nofollow>{links.replace('/bees', '/wasps')}")
    assert focus.take(10) == []


def test_after_a_redirect_neither_address_comes_again() -> None:
    focus = Focus("bees")
    focus.add([f"{START}old", f"{START}new"])
    focus.read(f"{START}old", clean("<a href=/old>Old</a> <a href=/new>New</a> <a href=more>More</a>", f"{START}new/"))
    assert focus.take(10) == [f"{START}new", f"{START}new/more"]


def test_examples_of_a_file_come_first_and_teach(tmp_path: Path) -> None:
    path = tmp_path / "bees.toml"
    path.write_text(
        'words = ["insects"]\nexamples = ["https://example.org/bees/0/"]\nagainst = ["https://example.org/cars/0/"]\n'
        '[domains]\navoid = ["example.com"]\n'
    )
    pages, told, untold = web(), Focus(path), Focus("insects")
    told.add([START])
    assert told.take(3) == [f"{START}bees/0/", f"{START}cars/0/", START]
    for focus in (told, untold):
        for url in (f"{START}bees/0/", f"{START}cars/0/"):
            focus.read(url, pages[url])
    bees = f"{START}bees/5/"
    assert told.read(bees, pages[bees]) > untold.read(bees, pages[bees]) + 0.2
    told.read(START, "<a href=https://example.com/>Insects</a>")
    assert not any("example.com" in url for url in told.take(100))


def test_a_wrong_topic_is_a_value_error() -> None:
    for topic in ["", "!!", "notes.txt", "none.toml"]:
        with pytest.raises(ValueError, match=r"^topic="):
            Focus(topic)


def test_it_needs_neither_scrapy_nor_a_database() -> None:
    line = (
        "import sys; from crawler import Focus; Focus('bees').read('https://example.org/', '<p>Bees');"
        "print({'scrapy', 'twisted', 'sqlalchemy'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_topic_is_learned_in_the_language_of_translations() -> None:
    focus = Focus("honey bees")
    bees = (
        "Honey bees dance in the dark of the hive, and honey bees make wax.",
        "蜜蜂在黑暗的蜂箱里跳舞,蜜蜂酿蜂蜜、造蜂蜡。",
    )
    cars = (
        "Cars run on the roads, and their engines burn a lot of petrol.",
        "汽车在公路上行驶,汽车的发动机燃烧大量汽油。",
    )
    for number in range(8):
        english, chinese = cars if number % 2 else bees
        focus.read(f"{START}{number}", f"<html lang=en><p>{english} Number {number}.</p>")
        focus.read(f"{START}zh/{number}", f"<html lang=zh><p>{chinese}这是第{number}页。</p>")
    about, other = (focus.read(f"{START}zh/new/{text[1][:2]}", f"<p>{text[1]}</p>") for text in (bees, cars))
    assert about > 0.4 > 0.2 > other
