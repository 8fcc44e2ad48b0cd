"""Which texts are only notices that a page was deleted."""

import pytest

from crawler.recrawl.deletion_notice import MOST_WIDTH, is_deletion_notice

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


@pytest.mark.parametrize("text", NOTICES)
def test_notices(text: str) -> None:
    assert is_deletion_notice(text)


@pytest.mark.parametrize("text", TEXTS)
def test_other_texts(text: str) -> None:
    assert not is_deletion_notice(text)


@pytest.mark.parametrize(("width", "expected"), [(MOST_WIDTH, True), (MOST_WIDTH + 1, False)])
def test_a_long_text_is_no_notice(width: int, expected: bool) -> None:
    assert is_deletion_notice("This page has been deleted. ".ljust(width, "x")) is expected
