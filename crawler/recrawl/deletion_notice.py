"""Recognises the short notice that some systems show, with the status 200, in place of a page that was deleted."""

import re

from crawler.page.text import width

MOST_WIDTH = 400
"""Letters of a notice, Chinese characters counted twice; a longer text is about something."""
_SUBJECT = r"(?:page|article|post|topic|thread|entry|document|story|content|question)s?"
_DELETED = r"(?:deleted|removed|unpublished|taken down|withdrawn)"
_NOTICE = re.compile(
    rf"\b{_SUBJECT}\b[^.!?]{{0,80}}?(?:"
    rf"\b(?:has been|have been|was|were|is|are) (?:\w+ )?{_DELETED}\b"
    r"|\b(?:does not|doesn['’]t|no longer|do not) exist"
    r"|\bno longer available|\b(?:could not|cannot|can['’]t) be found|\bnot found"
    r")"
    r"|(?:页面|网页|文章|帖子|主题|内容|条目|文档|词条|本文|本帖|頁面|網頁|主題|內容|條目)[^。！？]{0,20}?"
    r"(?:[已被经經][^。！？]{0,10}?(?:删除|刪除|移除|下线|下線|撤下)|不存在|找不到|未找到)",
    re.IGNORECASE,
)


def is_deletion_notice(text: str) -> bool:
    """Whether the main text of a page that was stored before only says that the page is there no more.

    >>> is_deletion_notice("This page has been deleted."), is_deletion_notice("The old gate was removed in 1950.")
    (True, False)
    """
    return width(text) <= MOST_WIDTH and _NOTICE.search(text) is not None
