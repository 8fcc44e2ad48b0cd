"""Which texts only say that a page is not there."""

import pytest

from crawler.page.missing_notice import LITTLE_WIDTH, MOST_WIDTH, is_missing_notice

NOTICES = (
    "This page has been deleted.",
    "This topic does not exist yet. You've followed a link to a topic that doesn't exist yet.",
    "The article you are looking for was removed by its author.",
    "This post is no longer available.",
    "Page not found",
    "Sorry, this content has been permanently removed.",
    "该页面已被删除",
    "您访问的文章不存在，请返回首页。",
    "本帖已被作者删除。",
    "此主題已經刪除",
)
TEXTS = (
    "",
    "The old gate was removed in 1950 to make room for a wider road.",
    "Remove the pages of the manual that you have read.",
    "A page about bees. The wasps were deleted from the list.",
    "蜜蜂在黑暗的蜂房里跳舞。",
    "删除文件的方法：选择文件，然后按删除键。",
)


HEADLINES = (
    "404",
    "404 - Not Found",
    "Bee manual\n404 - Not found",
    "Error 404: Page Not Found",
    "404 | This page could not be found.",
    "Oops! That page can’t be found.\nIt looks like nothing was found at this location. Maybe try a search?",
    "Sorry, the page you are looking for could not be found.",
    "We couldn't find that page.",
    "Page Not Found\nPlease contact the owner of the site that linked you here.",
    "The requested URL was not found on this server.",
    "The post is no longer available.",
    "404 找不到页面",
    "404 页面未找到",
    "抱歉，您访问的页面不存在",
    "页面未找到 - 蜜蜂网",
    "页面走丢了",
    "出错了，找不到您要的页面",
    "对不起，頁面不存在",
)
SHORT_TEXTS = (
    "404 was a leap year.",
    "How to fix 404 Not Found errors in nginx",
    "The document was found in a drawer.",
    "The file was deleted by mistake, so we wrote it again.",
    "Files that were deleted can be restored.",
    "The page was removed in 1950.",
    "Lost and found",
    "Bus 404 runs to the harbour every hour.",
    "The story of a page that was not found for years is told here, and it ends well for all who read it.",
    "如何处理页面不存在的错误：先检查路由，再检查服务器。",
    "文件已被删除，我们重新写了一遍。",
)


def test_a_page_that_was_there_may_say_it_in_any_sentence() -> None:
    for text in NOTICES:
        assert is_missing_notice(text, was_there=True)


def test_other_texts_of_a_page_that_was_there() -> None:
    for text in TEXTS:
        assert not is_missing_notice(text, was_there=True)


def test_a_new_page_says_it_in_its_headline() -> None:
    for text in HEADLINES:
        assert is_missing_notice(text)


def test_other_short_texts() -> None:
    for text in [*TEXTS, *SHORT_TEXTS]:
        assert not is_missing_notice(text)


def test_the_title_says_it_above_a_short_text() -> None:
    rows = [
        ("Page not found – Bees", MOST_WIDTH, True),
        ("Page not found – Bees", MOST_WIDTH + 1, False),
        ("页面不存在_蜜蜂网", MOST_WIDTH, True),
        ("404 | Bees", LITTLE_WIDTH, True),
        ("404 | Bees", LITTLE_WIDTH + 1, False),
        ("Bees", LITTLE_WIDTH, False),
    ]
    for title, width, expected in rows:
        assert is_missing_notice("Search the site.".ljust(width, "x"), [title]) is expected


@pytest.mark.parametrize(("width", "expected"), [(MOST_WIDTH, True), (MOST_WIDTH + 1, False)])
def test_a_long_text_is_no_notice(width: int, expected: bool) -> None:
    assert is_missing_notice("This page has been deleted. ".ljust(width, "x"), was_there=True) is expected
