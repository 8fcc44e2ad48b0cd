"""Recognises the short notice that some systems show, with the status 200, in place of a page that does not exist.

If a page was stored before, any sentence of a short text may be the notice. A page that is seen for the first time may
be a short text about something else that was lost or deleted. So its title or one of its first lines must be the notice
and nothing else, apart from the name of the site: "404 - Not found | Bees of the town".
"""

import re
from collections.abc import Iterable, Iterator

from crawler.page.text import width

MOST_WIDTH = 400
"""A text with more columns than this is not a notice."""
LITTLE_WIDTH = 100
"""A text of at most this many columns is a notice if a headline is only the number 404 or 410. A longer text must also
say that something is missing, because these numbers are years, too.
"""
FIRST_LINES = 3
"""Lines at the beginning of a text that may be its headline: the name of the site may come first."""
_SUBJECT = r"(?:page|article|post|topic|thread|entry|document|story|content|question|file|resource|address|url)s?"
_DELETED = r"(?:deleted|removed|unpublished|taken down|withdrawn)"
_NOT = r"(?: not|n['’]t)"
_GONE = (
    rf"(?:(?:has been|have been|was|were|is|are) (?:\w+ )?{_DELETED}"
    rf"|(?:does{_NOT}|no longer|do{_NOT}|did{_NOT}) (?:\w+ )?exists?"
    rf"|(?:is )?no longer available|(?:is|are){_NOT} available"
    rf"|(?:could{_NOT}|can(?:not|['’]t| not)) be found|(?:(?:is|was|were|are){_NOT}|not) found)"
)
_SUBJECT_ZH = "(?:页面|网页|文章|帖子|主题|内容|条目|文档|词条|本文|本帖|頁面|網頁|主題|內容|條目|文件)"
_DELETED_ZH = "(?:删除|刪除|移除|下线|下線|撤下)"
_GONE_ZH = f"(?:[已被经經][^。！？]{{0,10}}?{_DELETED_ZH}|不存在|找不到|未找到|没有找到|沒有找到|走丢了)"
# A notice within a sentence.
_NOTICE = re.compile(
    rf"\b{_SUBJECT}\b[^.!?]{{0,80}}?\b{_GONE}\b|{_SUBJECT_ZH}[^。！？]{{0,20}}?{_GONE_ZH}", re.IGNORECASE
)
_STATUS = r"(?:(?:http|error|status|错误|錯誤)[ :：]*)*(?:404|410)(?: error)?"
_APOLOGY = (
    r"(?:(?:o+ps|whoops|uh[- ]oh|sorry|error|hmm|we(?:['’]re| are) sorry|unfortunately"
    r"|很?抱歉|对不起|對不起|糟糕|哎呀|错误|出错了)[\s,.!:…，！：。-]*)*"
)
_PLACE = r"(?: (?:yet|any ?more|here|now|by its \w+|(?:on|at) (?:this|the|our) \w+))?"
_SUBJECT_FIRST = rf"(?:(?:the|this|that|your|requested) )*{_SUBJECT}(?: [^.!?]{{1,60}}?)? {_GONE}{_PLACE}"
_VERB_FIRST = (
    rf"(?:we|i) (?:could{_NOT}|can(?:not|['’]t| not)|(?:are|were) unable to) (?:find|locate) [^.!?]{{0,40}}"
    rf"\b{_SUBJECT}\b[^.!?]{{0,60}}|(?:there is )?no such {_SUBJECT}|(?:nothing|not) (?:was )?found(?: here)?"
)
_CHINESE = (
    rf"[^。！？，]{{0,12}}?{_SUBJECT_ZH}[^。！？，]{{0,8}}?{_GONE_ZH}了?"
    rf"|(?:找不到|未找到|没有找到|沒有找到|无法找到|無法找到)[^。！？，]{{0,12}}?{_SUBJECT_ZH}"
)
# A notice that is a whole headline.
_HEADLINE = re.compile(
    rf"{_APOLOGY}(?:{_STATUS}[\s,.:：，-]*)?(?:{_SUBJECT_FIRST}|{_VERB_FIRST}|{_CHINESE})"
    rf"(?:[\s(:（-]*{_STATUS}[)）]?)?[\s.!。！…]*(?:，(?:请|請|可能|返回|系统|系統).*)?",
    re.IGNORECASE,
)
_STATUS_HEADLINE = re.compile(rf"{_APOLOGY}{_STATUS}[\s.!]*", re.IGNORECASE)
_BETWEEN = re.compile(r"\s+[-–—|·•:»›]\s+|[|_]")
"""A separator between a title and the name of the site."""


def is_missing_notice(text: str, titles: Iterable[str] = (), *, was_there: bool = False) -> bool:
    """Whether the main text and the titles of a page only say that the page does not exist.

    `was_there` says whether the page was stored before.

    >>> is_missing_notice("404 - Not Found"), is_missing_notice("The old gate was not found.")
    (True, False)
    >>> gone = "We are sorry to say that this page has been deleted by its author."
    >>> is_missing_notice(gone), is_missing_notice(gone, was_there=True)
    (False, True)
    """
    if is_longer_than_notices(text):
        return False
    if was_there and _NOTICE.search(text):
        return True
    headlines = list(_headlines(text, titles))
    if any(_HEADLINE.fullmatch(headline) for headline in headlines):
        return True
    has_status = any(_STATUS_HEADLINE.fullmatch(headline) for headline in headlines)
    return has_status and (width(text) <= LITTLE_WIDTH or _NOTICE.search(text) is not None)


def is_longer_than_notices(text: str) -> bool:
    """Whether a text is too long for a notice."""
    return width(text[: MOST_WIDTH + 1]) > MOST_WIDTH


def _headlines(text: str, titles: Iterable[str]) -> Iterator[str]:
    """The titles and the first lines of a text, each as a whole and cut at the separators of site names."""
    lines = [line for line in text.splitlines() if line.strip()][:FIRST_LINES]
    for line in (*titles, *lines):
        if len(line) > MOST_WIDTH:
            continue
        yield line.strip()
        for piece in _BETWEEN.split(line):
            yield piece.strip()
