"""Pages that were read once are not read again, however many ask at once, and no more of them are kept than fit."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest

from crawler.dashboard.views import page as view
from crawler.dashboard.views.page import Sources
from crawler.page.page import Page

HTML = f"<h1>Bees</h1>{'<p>Bees dance in the dark of the hive, and others follow them out to the flowers.</p>' * 300}"


def page(url: str = "http://a.example/", html: str = HTML) -> Page:
    return Page.from_html(html, url)


def test_who_asks_for_the_same_is_given_the_same() -> None:
    known = Sources()
    first = known.get(page(), "auto")
    assert known.get(page(), "auto") is first
    assert first.extraction.text.startswith("Bees")


@pytest.mark.parametrize(
    ("other", "method"),
    [
        (page("http://b.example/"), "auto"),
        (page(html=HTML + "<p>More."), "auto"),
        (Page("http://a.example/", HTML.encode(), "text/plain"), "auto"),
        (Page("http://a.example/", HTML.encode(), "text/html; charset=utf-8", "noindex"), "auto"),
        (page(), "boilerpipe"),
    ],
)
def test_what_differs_is_another(other: Page, method: str) -> None:
    known = Sources()
    assert known.get(other, method) is not known.get(page(), "auto")


def test_readers_of_one_page_do_not_wait_for_each_other_for_good() -> None:
    found, has_turn = Sources().get(page(), "auto"), Event()

    def one() -> None:
        with found.lock:
            has_turn.set()
            time.sleep(0.3)
            _ = found.extraction

    def other() -> None:
        has_turn.wait(20)
        _ = found.page

    threads = [Thread(target=each, daemon=True) for each in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


def test_several_who_ask_at_once_wait_for_one() -> None:
    known, together, count = Sources(), Barrier(4), []

    def compute(found: Page) -> str:
        count.append(found)
        time.sleep(0.05)
        return found.html

    def ask(n: int) -> tuple[frozenset[int], str]:
        found = known.get(page(), "auto")
        together.wait(20)
        return found.kept, found.once(compute)

    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(ask, range(4)))
    assert len(count) == 1
    assert len(set(said)) == 1
    assert said[0][0]


@pytest.mark.parametrize(("most", "stays"), [(2, True), (1.9, False)])
def test_no_more_are_kept_than_fit(monkeypatch: pytest.MonkeyPatch, most: float, stays: bool) -> None:
    monkeypatch.setattr(view, "MOST_KEPT", int(most * len(HTML)))
    known = Sources()
    first = known.get(page("http://a.example/"), "auto")
    known.get(page("http://b.example/"), "auto")
    assert (known.get(page("http://a.example/"), "auto") is first) is stays


@pytest.mark.parametrize(("others", "stays"), [(view.MOST_SOURCES - 1, True), (view.MOST_SOURCES, False)])
def test_of_pages_without_a_source_only_some_are_kept(others: int, stays: bool) -> None:
    known = Sources()
    first = known.get(page("http://a.example/", ""), "auto")
    for n in range(others):
        known.get(page(f"http://b.example/{n}", ""), "auto")
    assert (known.get(page("http://a.example/", ""), "auto") is first) is stays


def test_one_that_is_too_large_is_read_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST_KEPT", 10)
    known = Sources()
    small, found = known.get(page(html="<p>"), "auto"), known.get(page(), "auto")
    assert found.kept
    assert known.get(page(), "auto") is not found
    assert known.get(page(html="<p>"), "auto") is small
