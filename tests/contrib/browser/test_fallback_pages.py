"""What applications show for addresses that do not exist: which sources are frames, and what is rendered again."""

import asyncio

from crawler.contrib.browser.fallback_pages import MADE_UP, MOST_MADE_UP, FallbackPages
from crawler.extraction import EXTRACTORS
from crawler.page.missing_notice import MOST_WIDTH
from crawler.page.page import Page

SITE = "http://a.example"
FRAME, OTHER = (f"<div id=app></div><script src=/{name}.js></script>" for name in ("program", "other"))


def fallback_pages() -> FallbackPages:
    return FallbackPages(EXTRACTORS["max-text"])


def shown(text: str, url: str = f"{SITE}/post/lost") -> Page:
    return Page.from_html(f"<p>{text}</p>", url)


def test_a_source_that_is_sent_for_two_paths_is_a_frame() -> None:
    rows = [
        ([], f"{SITE}/post/one", FRAME, False),
        ([f"{SITE}/"], f"{SITE}/post/one", FRAME, True),
        ([f"{SITE}/post/one?v=2"], f"{SITE}/post/one", FRAME, False),  # its own data may be in it
        ([f"{SITE}/"], f"{SITE}/post/one", OTHER, False),
        (["http://b.example/"], f"{SITE}/post/one", FRAME, False),
        ([], f"{SITE}/#/post/one", FRAME, True),
    ]
    for before, url, source, expected in rows:
        fallbacks = fallback_pages()
        for other in before:
            fallbacks.note_frame(Page.from_html(FRAME, other))
        assert fallbacks.note_frame(Page.from_html(source, url)) is expected


def has(fallbacks: FallbackPages, page: Page, of_made_up: Page | None) -> tuple[bool, list[str]]:
    """Whether a page is judged to be a fallback, and the addresses for which its frame is rendered."""
    rendered = []

    async def render(url: str) -> Page | None:
        rendered.append(url)
        return of_made_up

    return asyncio.run(fallbacks.has(page, render)), rendered


BESIDE = f"{SITE}/post/{MADE_UP}"


def test_a_page_with_the_text_of_a_made_up_address_is_not_there() -> None:
    rows = [
        (shown("Bee manual"), shown("Bee manual"), (True, [BESIDE])),
        (shown("Bee manual"), shown("Bee guide"), (False, [BESIDE])),
        (shown("Bee manual<a href='/a'>"), shown("Bee manual<a href='/a'>", BESIDE), (True, [BESIDE])),
        (shown("Bee manual<a href='/a'>"), shown("Bee manual", BESIDE), (False, [BESIDE])),
        (shown("Bee manual"), shown("Bee manual<a href='lost'>", BESIDE), (True, [BESIDE])),  # in a menu
        (shown("Bee manual<a href=''>"), shown("Bee manual<a href=''>", BESIDE), (True, [BESIDE])),
        (shown("Bee manual<img src='/a.jpg'>"), shown("Bee manual", BESIDE), (False, [BESIDE])),
        (shown("Bee manual"), None, (False, [BESIDE])),
        (shown("b" * MOST_WIDTH), shown("b" * MOST_WIDTH), (True, [BESIDE])),
        (shown("b" * (MOST_WIDTH + 1)), shown("b" * (MOST_WIDTH + 1)), (False, [])),
        (shown("Bee manual", f"{SITE}/"), shown("Bee manual"), (False, [])),
        (shown("Bee manual", f"{SITE}/#/lost"), shown("Bee manual"), (True, [f"{SITE}/#/{MADE_UP}"])),
    ]
    for page, of_made_up, expected in rows:
        assert has(fallback_pages(), page, of_made_up) == expected


def test_a_made_up_address_is_rendered_once_and_few_of_a_site_are() -> None:
    fallbacks, made_up = fallback_pages(), shown("Bee manual")
    for number in range(MOST_MADE_UP):
        page = shown("Bee manual", f"{SITE}/{number}/lost")
        assert has(fallbacks, page, made_up) == (True, [f"{SITE}/{number}/{MADE_UP}"])
        assert has(fallbacks, page, made_up) == (True, [])
    assert has(fallbacks, shown("Bee manual", f"{SITE}/x/lost"), made_up) == (False, [])
    assert has(fallbacks, shown("Bee manual", "http://b.example/x/lost"), made_up)[0] is True
