"""The author of a page, from what the page says about itself; in doubt nobody rather than a wrong name.

The sources are used in the order of their reliability: JSON-LD, meta elements, elements marked as the author, elements
with a byline class, and last a visible line such as "By Ann Lee" or 作者：李明. Values for machines are accepted unless
they are an address, the site's own name or a word such as admin; from visible text only what looks like a person's name
is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from lxml.etree import _Element

from crawler.metadata.structured_data import letters, site_keys, structured
from crawler.page.text import fold_space

if TYPE_CHECKING:
    from crawler.page.page import Page

MAX_NAME = 60  # characters
MAX_AUTHORS = 10
MAX_ELEMENTS = 5_000  # elements whose markup is checked
MAX_MARKED = 30  # of those marked as the author
MAX_TEXTS = 20  # pieces of text in one of them
MAX_BYLINE = 200  # characters of such a text
MAX_ABOVE = 12  # elements around it that may show that it belongs to something else
MAX_LINE = 120  # characters of a visible line
MAX_LINES = 300  # lines that are checked

META = (
    "author og:article:author article:author article:author_name og:author parsely-author sailthru.author byl"
    " dc.creator dc:creator dcterms.creator citation_author cxenseparse:author content_author articleauthor dtk:author"
).split()

_ADDRESS = re.compile(r"https?:|www\.|//|@|\.(?:com|org|net|de|cn|tr)\b", re.IGNORECASE)
_NOBODY = frozenset(
    letters(word)
    for word in (
        "admin administrator anonymous author authors editor editors guest info moderator null none news newsroom owner"
        " redaktion redaction redacción redakcja root staff support system team undefined unknown user webmaster writer"
        " publisher publishing by byline name 佚名 匿名 未知 小编 编辑 管理员 网友 原创 转载 作者 记者 本站 本网 网络"
        " 互联网 发布 发布于 资料 简体 繁体 报道 摄影 通讯员 实习 来源 楼主 本报 综合 整理 转发 关注 点击 阅读"
        " discuzteam 评论 收藏 网易 新浪 腾讯 搜狐 凤凰 百度 新华 澎湃"
    ).split()
)
# Words for occupations, which bylines have beside the name.
_ROLE = re.compile(
    r"\b(?:reporter|editors?|correspondent|writers?|staff|contributors?|columnist|journalist|photo(?:s|graph\w*)?|"
    r"freelance|news\w*|team|desk|editorial|updated?|published|posted|follow|share|comments?|read|min|minutes?|ago|more|"
    r"senior|chief|special|redaktion|redaktor|redakteur\w*|autor\w*|korrespondent\w*|am|um|uhr|in|at|on|founder|ceo|"
    r"director|manager|university|times|press|agency|agencies|media|magazine|about|contact|home|login|subscribe|menu|"
    r"head|anonymous|the|author|owner|bild|foto|rezept|topic|members?|users?|case|size|type|role|industry|gmbh|inc|llc|ltd|co|ag)\b",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\s*(?:(?:written|posted|reported|story|words|text|published|article|commentary|erstellt|publié|escrito|publicado)"
    r"\s+)?(?:by|von|par|por|di|da|door|av|af|autor(?:in|e|es)?|auteur|author|автор|текст)\b[\s:：]*",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\s*(?:[;|•、]|,(?!\s*(?:jr|sr|ph\.?d|m\.?d)\b)|\s[&+]\s|\s(?:and|und|et|y|e|i|og|och|en)\s|\s[/·—–-]\s)\s*",
    re.IGNORECASE,
)
_DEGREE = re.compile(r"[A-Z][A-Z.]{1,5}|Ph\.?D\.?|M\.?Sc\.?")
_PARTICLE = frozenset(
    "de da di do dos das del della den der des du el al la le van von zu zur ten ter bin ibn y e af".split()
)
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_NO_HAN_END = "报網网社台局部院会讯版号者"  # last words of names of papers, offices and firms
_HAN_NAME = re.compile(rf"[{_HAN}]{{1,3}}(?![{_NO_HAN_END}])[{_HAN}]|[{_HAN}]{{1,8}}[·•・][{_HAN}·•・]{{1,12}}")
_ALL_HAN = re.compile(rf"[{_HAN}]+")
_LATIN_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['’.-](?=[^\W\d_])){0,30}\.?")

_HOLDERS = ("a", "span", "p", "div", "address", "li", "h3", "h4", "h5", "b", "strong", "cite", "td")
_BYLINE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:author|byline|by-?author|post-?author|article-?author|entry-?author)s?(?:[\s_-]+(?:names?|link|by|text"
    r"|list|title|info|wrapper|vcard))*(?:\s|$)",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"comment|reply|replies|related|recommend|sidebar|footer|widget|teaser|popular|trending|\bnav|menu|reviews?\b|quote",
    re.IGNORECASE,
)
_ELSEWHERE_TAGS = frozenset(("nav", "footer", "aside", "form", "blockquote"))

# In Chinese lines the name follows its label, and ends at the first character that is not a letter.
_HAN_NAMES = (
    rf"([{_HAN}]{{2,4}}(?:[·・][{_HAN}]{{1,8}})?(?:[\s、，,]{{1,2}}[{_HAN}]{{2,3}}(?![{_HAN}])){{0,4}})(?![{_HAN}])"
)
_HAN_LABELS = (
    re.compile(rf"(?:作\s?者|撰文|撰稿|文)\s?[：:/／]\s*{_HAN_NAMES}"),
    re.compile(rf"[（(【][^（）()【】]{{0,12}}记者\s?[：:]?\s*{_HAN_NAMES}[^（）()【】]{{0,20}}[)）】]"),
    re.compile(rf"^(?:\S{{0,6}}报|本网|新华社|中新社)?记者\s?[：:\s]\s*{_HAN_NAMES}"),
)
_LABELLED = re.compile(r"(?:author|autor|auteur|автор|written by|posted by)\s?[:：]\s*([^|•\n]{2,60})", re.IGNORECASE)
_BYS = ("By ", "BY ", "by ", "By: ", "Von ", "von ", "Par ", "Por ", "Di ")
MAX_AFTER = 12  # lines after a heading in which a byline needs no label


def author(page: Page) -> str:
    """The names of a page's authors, joined by "; ", or an empty string."""
    sites = site_keys(page)
    for names in _evidence(page):
        kept = [name for name in names if letters(name).rstrip("0123456789") not in sites | _NOBODY]
        if kept:
            return "; ".join(dict.fromkeys(kept[:MAX_AUTHORS]))
    return ""


def _evidence(page: Page) -> Iterator[list[str]]:
    """The names by source, the most reliable first."""
    yield _written(structured(page).authors)
    metas = page.head.metas
    written = [_written((metas[name],)) for name in META if name in metas]
    # Meta elements often name the publisher as well.
    yield from (names for names in written if any(map(_is_name, names)))
    yield from _marked(page.root)
    yield from written
    yield _in_sight(page)


def _written(values: tuple[str, ...]) -> list[str]:
    """The names in values for machines."""
    names: list[str] = []
    for value in values:
        text = fold_space(value[: MAX_NAME * MAX_AUTHORS])
        if by := _BY.match(text):
            text = text[by.end() :]
        # A single comma between two words is that of "Lee, Ann".
        parts = [text] if re.fullmatch(r"[^\s,;]{1,30}, [^\s,;]{1,30}(?: \w\.)?", text) else _JOINED.split(text)
        for part in parts:
            if names and (_ROLE.search(part) or _DEGREE.fullmatch(part)):
                continue
            if _ALL_HAN.fullmatch(part) and not _HAN_NAME.fullmatch(part):
                continue
            if not _ADDRESS.search(part) and len(part) <= MAX_NAME and any(map(str.isalpha, part)):
                names.append(part.strip(" ,:"))
    return names


def _marked(root: _Element) -> Iterator[list[str]]:
    """The names in elements marked as the author, then in those with such a class; none if they differ."""
    found: tuple[list[list[str]], list[list[str]]] = [], []
    for element, is_marked in islice(_marks(root), MAX_MARKED):
        if not _is_elsewhere(element) and (names := _named(element, is_marked)):
            found[not is_marked].append(names)
    for alike in found:
        # Several separate authors are those of other articles.
        if alike and len({letters(" ".join(names)) for names in alike}) <= 2:
            yield alike[0]


def _marks(root: _Element) -> Iterator[tuple[_Element, bool]]:
    """The elements that may hold an author, and whether they are marked as that."""
    for element in islice(root.iter(_HOLDERS), MAX_ELEMENTS):
        if element.get("rel") == "author" or "author" in element.get("itemprop", ""):
            yield element, True
        elif _is_byline(element.get("class", "")):
            yield element, False


def _is_byline(given: str) -> bool:
    return ("uthor" in given or "yline" in given) and bool(_BYLINE_CLASS.search(given[:MAX_BYLINE]))


def _named(element: _Element, is_marked: bool) -> list[str]:
    """The names at the start of an element's text, up to the first text that is not a name."""
    found = (fold_space(str(piece)[: MAX_BYLINE + 1]) for piece in islice(element.itertext(), MAX_TEXTS))
    pieces = [piece for piece in found if piece]
    names: list[str] = []
    if sum(map(len, pieces)) > MAX_BYLINE:
        return []
    for number, piece in enumerate(pieces):
        by = _BY.match(piece)
        for part in _JOINED.split(piece[by.end() :] if by else piece):
            if _is_name(part) or (is_marked and not number and len(pieces) == 1 and _is_handle(part)):
                names.append(part)
            elif names and part.strip(" .,") and part.lower() not in ("and", "und", "et", "y", "&"):
                return names[:MAX_AUTHORS]
    return names[:MAX_AUTHORS]


def _is_elsewhere(element: _Element) -> bool:
    """Whether an element belongs to comments, to other articles or to the page's frame."""
    for number, each in enumerate((element, *islice(element.iterancestors(), MAX_ABOVE))):
        if each.tag in _ELSEWHERE_TAGS:
            return True
        if each.tag in ("body", "html") or (each.tag in ("article", "main") and number):
            return False
        if _ELSEWHERE.search(f"{each.get('class', '')[:MAX_BYLINE]} {each.get('id', '')[:MAX_BYLINE]}"):
            return True
    return False


def _is_name(text: str) -> bool:
    """Whether a text looks like a person's name.

    >>> [_is_name(text) for text in ("Ann Lee", "Ludwig van Beethoven", "李明", "Senior Editor", "Ann")]
    [True, True, True, False, False]
    """
    if len(text) > MAX_NAME:
        return False
    if _HAN_NAME.fullmatch(text):
        return letters(text) not in _NOBODY
    given = text.split()
    if not 2 <= len(given) <= 5 or _ROLE.search(text):
        return False
    return all(
        word in _PARTICLE or (_LATIN_WORD.fullmatch(word) and (word[0].isupper() or not word[0].islower()))
        for word in given
    ) and given[0] not in _PARTICLE | {given[0].lower()}


def _is_handle(text: str) -> bool:
    """Whether a text can be a user name."""
    return (
        2 <= len(text) <= 30
        and ":" not in text
        and len(text.split()) <= 3
        and not _ADDRESS.search(text)
        and not _ROLE.search(text)
    )


def _in_sight(page: Page) -> list[str]:
    """The names in the first visible line that is a byline."""
    headed = -MAX_AFTER - 1
    bylines: list[list[str]] = []
    for number, block in enumerate(page.blocks[:MAX_LINES]):
        text = block.text[:MAX_LINE]
        headed = number if block.tag in ("h1", "h2") else headed
        if not text.isascii() and (names := _after_han_label(text)):
            return names
        if len(block.text) > MAX_LINE:
            continue
        if (":" in text or "：" in text) and (names := _after_label(text)):
            return names
        if number - headed <= MAX_AFTER and text.startswith(_BYS) and (names := _after_by(text)):
            bylines.append(names)
    # Several bylines are those of a list.
    return bylines[0] if len({tuple(names) for names in bylines}) == 1 else []


def _after_han_label(line: str) -> list[str]:
    if not ("记者" in line or "作" in line or "文" in line or "撰" in line):
        return []
    for label in _HAN_LABELS:
        if found := label.search(line):
            names = re.split(r"[\s、，,]+", found[1])
            return [name for name in names if _HAN_NAME.fullmatch(name) and name not in _NOBODY]
    return []


def _after_label(line: str) -> list[str]:
    found = _LABELLED.search(line)
    return [name for name in _JOINED.split(found[1].strip()) if _is_name(name)] if found else []


def _after_by(line: str) -> list[str]:
    names: list[str] = []
    for part in _JOINED.split(line.split(None, 1)[1] if " " in line else ""):
        if not _is_name(part):
            break
        names.append(part)
    return names
