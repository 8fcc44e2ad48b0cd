"""The author of a page: every name where an author may be named is a candidate, with signs as evidence.

1. The names are read from JSON-LD, meta elements, elements named as the author, and visible lines such as "By Ann Lee"
   or 作者：李明. Signs say where a name was found, and what it looks like: a person's name, one word, the site's own
   name. A name found in several places has the signs of all these places.
2. The likeliest name is chosen, or none (crawler/metadata/choice.py). Several authors are one candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, zip_longest
from operator import itemgetter

from lxml.etree import _Element

from crawler.metadata.address_date import is_home
from crawler.metadata.choice import Candidates, chosen, new_candidates, shipped_weights
from crawler.metadata.date_notation import dates
from crawler.metadata.placement import distance_sign, headline_at, is_elsewhere, is_in_comments, page_signs
from crawler.metadata.structured_data import letters, site_keys, structured
from crawler.page.element_names import Name, element_names
from crawler.page.page import Extraction, Page
from crawler.page.text import fold_space, has_full_stop

MAX_NAME = 60  # characters
MAX_AUTHORS = 10
MAX_LINKS = 5_000  # links that are checked
MAX_MARKED = 30  # elements marked as the author
MAX_TEXTS = 20  # pieces of text that are read in an element
MAX_BYLINE = 200  # characters of a class, or of the text or line in which a name without a Chinese label is looked for
MAX_LINE = 120  # characters of a line in which a Chinese label is looked for; longer lines with a full stop are prose
MAX_LINES = 300  # lines that are checked

META = (
    "author og:article:author article:author article:author_name og:author parsely-author sailthru.author byl"
    " dc.creator dc:creator dcterms.creator citation_author cxenseparse:author content_author articleauthor dtk:author"
).split()
"""Names of meta elements that contain authors."""

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
"""Words found in place of a name that name nobody."""
# Words of occupations and of other parts of bylines: a text with one of these is not a name.
_ROLE = re.compile(
    r"\b(?:reporter|editors?|correspondent|writers?|staff|contributors?|columnist|journalist|photo(?:s|graph\w*)?|"
    r"freelance|news\w*|team|desk|editorial|updated?|published|posted|follow|share|comments?|read|min|minutes?|ago|more|"
    r"senior|chief|special|redaktion|redaktor|redakteur\w*|autor\w*|korrespondent\w*|am|um|uhr|in|at|on|founder|ceo|"
    r"director|manager|university|times|press|agency|agencies|media|magazine|about|contact|home|login|subscribe|menu|"
    r"head|anonymous|the|author|owner|bild|foto|rezept|topic|members?|users?|case|size|type|role|industry|gmbh|inc|llc|ltd|co|ag)\b",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\s*(?:(?:written|posted|reported|started|story|words|text|published|article|commentary|erstellt|publié|escrito"
    r"|publicado)\s+)?(?:by|von|par|por|di|da|door|av|af|przez|autor(?:in|e|es)?|auteur|author|автор|текст)\b[\s:：]*",
    re.IGNORECASE,
)
# What stands between the names of several authors; a comma before a degree does not end a name.
_JOINED = re.compile(
    r"\s*(?:[;|•、]|,(?!\s*(?:jr|sr|ph\.?d|m\.?d)\b)|\s[&+]\s|\s(?:and|und|et|y|e|i|og|och|en)\s|\s[/·—–-]\s)\s*",
    re.IGNORECASE,
)
_SURNAME_FIRST = re.compile(r"[^\s,;]{1,30}, [^\s,;]{1,30}(?: \w\.)?")
"""A single comma between two words, as in "Lee, Ann"."""
_DEGREE = re.compile(r"[A-Z][A-Z.]{1,5}|Ph\.?D\.?|M\.?Sc\.?")
_PARTICLE = frozenset(
    "de da di do dos das del della den der des du el al la le van von zu zur ten ter bin ibn y e af".split()
)
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_NO_HAN_END = "报網网社台局部院会讯版号者"  # last words of names of papers, offices and firms
_HAN_NAME = re.compile(rf"[{_HAN}]{{1,3}}(?![{_NO_HAN_END}])[{_HAN}]|[{_HAN}]{{1,8}}[·•・][{_HAN}·•・]{{1,12}}")
_ALL_HAN = re.compile(rf"[{_HAN}]+")
_LATIN_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['’.-](?=[^\W\d_])){0,30}\.?")

_AUTHOR_CLASS = re.compile(
    r"author|byline|(?<![a-z])(?<!sort.)(?<!order.)(?<!filter.)by(?![a-z])|attribution|contributor|creator",
    re.IGNORECASE,
)
_USER_CLASS = re.compile(
    r"user-?_?(?:name|details|text|info|link)?(?![a-z])|nick|poster|postleft|crawler-post-meta|hnuser|message-name",
    re.IGNORECASE,
)
_IN_CLASSES = "author by attribution contributor creator user nick poster postleft crawler-post message-name".split()
"""Each class that matches _AUTHOR_CLASS or _USER_CLASS has one of these: searching for them takes a fifth of the
patterns' time.
"""
# In Chinese lines the names follow a label.
_HAN_NAMES = (
    rf"([{_HAN}]{{2,4}}(?:[·・][{_HAN}]{{1,8}})?(?:[\s、，,]{{1,2}}[{_HAN}]{{2,3}}(?![{_HAN}])){{0,4}})(?![{_HAN}])"
)
_HAN_LABELS = (
    re.compile(rf"(?:作\s?者|撰文|撰稿|文)\s?[：:/／]\s*{_HAN_NAMES}"),
    re.compile(rf"[（(【][^（）()【】]{{0,12}}记者\s?[：:]?\s*{_HAN_NAMES}[^（）()【】]{{0,20}}[)）】]"),
    re.compile(rf"^(?:\S{{0,6}}报|本网|新华社|中新社)?记者\s?[：:\s]\s*{_HAN_NAMES}"),
)
_LABELLED = re.compile(
    r"(?:\bauthors?|autor|auteur|автор|written by|posted by|started by|contributors?|thread starter)\s?[:：]?\s+"
    r"([^|•\n]{2,80})",
    re.IGNORECASE,
)
_BY_IN_LINE = re.compile(r"(?:^|[^\w])(?:by|von|par|por|BY|By|Von|Par|Por)[:：]?\s+([^|•\n]{2,80})")
_IN_LABELS = ("autho", "autor", "auteur", "автор", "contribut", "starter", "by ", "by:", "von ", "par ", "por ")
"""Parts of the labels in _LABELLED and _BY_IN_LINE, in small letters: lines without any of them have no such label."""
# What follows the names in a line: a separator, a number, the end of a sentence, or a word such as "on".
_END_OF_NAME = re.compile(
    r"\s*(?:[|•·(\[<@]|(?<!\w)\d|[.](?=\s|$)(?<!\b[A-Z]\.)(?<!\b[DMS]r\.)(?<!\bMrs\.)(?<!\bProf\.)|\s[-–—/]\s"
    r"|\s(?:on|in|at|am|um|for|from|is|to|the|published|updated|posted|reviewed|edited|last|with|who|has)\s|,\s*(?=[a-z])|\s(?:on|in|at)$).*",
    re.DOTALL,
)
_AND = frozenset(("and", "und", "et", "y", "&", ","))
_MARKS_BETWEEN = re.compile(r"\s*[·•|]\s*|\s+[–—-]\s+")
"""Separators between a name and a date."""

_PAGE_OF_AUTHOR = re.compile(r"(?:^|/)(?:authors?|by)/[^/?#]+/?(?:$|[?#])", re.IGNORECASE)
"""The address of a page about an author."""
MAX_HREF = 500  # characters of an address that are read
MAX_WORDS = 8  # words of a name
MANY_WORDS = 4  # a name with more words has a sign of its own
SHORT = 3  # letters: a site's name with at most this many is not compared with parts of names
MAX_BARE = 5  # lines after the headline in which a name may stand by itself


def author(page: Page, extraction: Extraction) -> str:
    """The names of a page's authors, joined by "; ", or an empty string."""
    return chosen(author_candidates(page, extraction), shipped_weights()["author"])


def author_candidates(page: Page, extraction: Extraction) -> Candidates:
    """The names in the places of authors, with their signs."""
    return _Names(page, extraction).candidates


class _Names:
    """The names of a page that may be its authors."""

    def __init__(self, page: Page, extraction: Extraction) -> None:
        self.page = page
        self.extraction = extraction
        self.sites = site_keys(page)
        """The names of the site, reduced to their letters."""
        self.value_of: dict[str, str] = {}
        """The candidates, each in its first spelling, by their letters."""
        self.candidates = new_candidates(page_signs(page, extraction))
        self._add(_names_in_values(structured(page).authors), "JSON-LD")
        self._add_metas()
        self._add_marked()
        self._add_lines()

    def _add(self, names: Iterable[str], *signs: str) -> None:
        """Add names, which together are one candidate, with signs."""
        distinct_names = [name for name in dict.fromkeys(names) if name][:MAX_AUTHORS]
        value = "; ".join(distinct_names)
        key = letters(value)
        if not key or len(value) > MAX_NAME * MAX_AUTHORS:
            return
        if key not in self.value_of:
            self.value_of[key] = value
            self.candidates.add(value, *self._signs_of_looks(distinct_names))
        self.candidates.add(self.value_of[key], *signs)

    def _signs_of_looks(self, names: list[str]) -> Iterator[str]:
        """The signs of how names look; of several names, mostly the first one counts."""
        first = names[0]
        key = letters(first)
        count = len(first.split())
        has_sign = {
            "names of people": all(map(_is_name, names)),
            "several names": len(names) > 1,
            "one word": count == 1,
            "many words": count > MANY_WORDS,
            "the site's name": key.rstrip("0123456789") in self.sites,
            # Also the other way round, if the site's name is part of the author's.
            "part of the site's name": any(key in site or site in key for site in self.sites if len(site) > SHORT),
            "nobody": key.rstrip("0123456789") in _NOBODY,
            "a role": _ROLE.search(first),
            "digits": any(map(str.isdigit, first)),
            "small letters": first.islower(),
        }
        return (sign for sign, is_present in has_sign.items() if is_present)

    def _add_metas(self) -> None:
        """Add the names in meta elements."""
        metas = self.page.head.metas
        for name in META:
            if name in metas:
                self._add(_names_in_values((metas[name],)), "meta, author" if name == "author" else "another meta")
        if "by" in metas.get("twitter:label1", "").lower().split():
            self._add(_names_in_values((metas.get("twitter:data1", ""),)), "another meta")

    def _add_marked(self) -> None:
        """Add the names in elements that are marked as the author."""
        count_of_sign: dict[str, int] = {}
        for element, sign in _marks(self.page):
            names = _names_at_start(element)
            # Comments have authors of their own; but elements around the posts of a forum have similar names.
            if not names or (sign != "named as a user" and is_in_comments(element)):
                continue
            key = letters("".join(names))
            signs = [sign]
            if sign not in count_of_sign:
                signs.append(f"first {sign}")
            if is_elsewhere(element):
                signs.append(f"{sign} elsewhere")
            count_of_sign[sign] = count_of_sign.get(sign, 0) + 1
            # The names occurred before, anywhere on the page, and so did an element with this sign.
            if key in self.value_of and count_of_sign[sign] > 1:
                signs.append("marked twice")
            self._add(names, *signs)

    def _add_lines(self) -> None:
        """Add the names in visible lines: after a label or "by", or by themselves below the headline."""
        blocks = self.page.blocks[:MAX_LINES]
        headline = headline_at(blocks, self.extraction.title)
        starts = [block.text[:MAX_BYLINE].lower() for block in blocks]
        whole = "\n".join(starts)
        parts_of_labels = [part for part in _IN_LABELS if part in whole]
        for at, (block, start) in enumerate(zip(blocks, starts, strict=True)):
            # Most lines are skipped at once.
            text = block.text
            is_near = headline is not None and 0 < at - headline <= MAX_BARE
            may_have_label = any(map(start.__contains__, parts_of_labels))
            if not is_near and not may_have_label and text.isascii():
                continue

            # After a label, in Chinese or another language.
            distance = distance_sign(at, headline)
            han_names = [] if text.isascii() else _after_han_label(text[:MAX_LINE])
            if han_names:
                self._add(han_names, "label", f"label, {distance}")
                continue
            if len(text) > MAX_BYLINE:
                continue
            is_labelled = may_have_label and self._add_labelled(text, distance)

            # Without a label. A name beside a date counts as much as a name after "by".
            if is_near and not is_labelled:
                if _is_name(text):
                    self._add([text], f"a line by itself, {distance}")
                else:
                    self._add([_beside_a_date(text)], f"by, {distance}")

    def _add_labelled(self, text: str, distance: str) -> bool:
        """Add the names after a label or "by" in a line; returns whether the line has a label or "by"."""
        labelled = _LABELLED.search(text)
        if labelled:
            self._add(_names_in_byline(text, labelled), "label", f"label, {distance}")
            return True
        by = _BY_IN_LINE.search(text)
        if by:
            position = "line begins with by" if by.start() == 0 else "by in a line"
            self._add(_names_in_byline(text, by), position, f"by, {distance}")
            return True
        return False


def _beside_a_date(line: str) -> str:
    """The name in a line that consists of a name and a date, e.g. "Ann Lee | May 6, 2024"; empty for other lines."""
    pieces = _MARKS_BETWEEN.split(line)
    if len(pieces) != 2:
        return ""
    for name, rest in (pieces, reversed(pieces)):
        if _is_name(name):
            is_date = any(written_date.end - written_date.start == len(rest) for written_date in dates(rest))
            return name if is_date else ""
    return ""


def _names_in_byline(line: str, label: re.Match[str]) -> list[str]:
    """The names after a label or "by"; none if the line is a sentence that happens to have such a word.

    More than half of the words of the first name must begin with a capital, or be in a script without capitals. But the
    name of a user may be one word in small letters if the label begins the line and the name ends it, or only a text
    with digits, such as a date, follows the name.
    """
    names = _until_end(label[1])
    if not names or (label.start() > 0 and has_full_stop(line) and len(line) > MAX_LINE):
        return []
    words = [word for word in names[0].split() if word not in _PARTICLE]
    small_words = sum(word[0].islower() for word in words)
    rest = label[1].strip().removeprefix(names[0])
    is_user = label.start() == 0 and len(words) == 1 and (not rest or any(map(str.isdigit, rest)))
    if 2 * small_words < len(words) or is_user:
        return names
    return []


def _until_end(text: str) -> list[str]:
    """The first part of a text, and the parts after it that are names, up to the first that is not."""
    names = [name.strip(" ,:;.") for name in _JOINED.split(_END_OF_NAME.sub("", text))]
    names_until_end: list[str] = []
    for name in names:
        if not name or len(name.split()) > MAX_WORDS or (names_until_end and not _is_name(name)):
            break
        names_until_end.append(name)
    return names_until_end


def _names_in_values(values: tuple[str, ...]) -> list[str]:
    """The names in values of JSON-LD and meta elements. Left out are addresses, Chinese words that are not names, and
    roles or degrees after the first name.
    """
    names: list[str] = []
    for value in values:
        text = fold_space(value[: MAX_NAME * MAX_AUTHORS])
        by = _BY.match(text)
        if by:
            text = text[by.end() :]
        parts = _JOINED.split(text)
        if _SURNAME_FIRST.fullmatch(text):
            parts = [text]
        for part in parts:
            if names and (_ROLE.search(part) or _DEGREE.fullmatch(part)):
                continue
            if _ALL_HAN.fullmatch(part) and not _HAN_NAME.fullmatch(part):
                continue
            if not _ADDRESS.search(part) and len(part) <= MAX_NAME and any(map(str.isalpha, part)):
                names.append(part.strip(" ,:"))
    return names


def _marks(page: Page) -> list[tuple[_Element, str]]:
    """The elements that may contain an author, in page order, each with the sign of its mark.

    These are elements around blocks, the first inline element of each block, address elements, and links to the author
    or to a page about an author. On a front page, links to pages about authors do not count: they name the authors of
    the articles that it lists.
    """
    elements_by_name = element_names(page)
    signs = enumerate(map(_sign_of, elements_by_name.names))
    sign_of_name = {number: sign for number, sign in signs if sign}

    # Elements with a class or property. All elements are kept by their `id`, so that each counts once, and with the
    # index of their first block.
    containers = page.containers
    around = zip(containers.elements, containers.starts, containers.ends, elements_by_name.containers, strict=True)
    marked_elements = {
        id(element): (start, element, sign_of_name[name])
        for element, start, end, name in around
        if name in sign_of_name and start < end
    }
    for at, (element, name) in enumerate(zip(page.wraps, elements_by_name.wraps, strict=True)):
        if element is not None and name in sign_of_name:
            marked_elements[id(element)] = at, element, sign_of_name[name]

    # Addresses: https://html.spec.whatwg.org/multipage/sections.html#the-address-element
    for element, start, tag in zip(containers.elements, containers.starts, containers.tags, strict=True):
        if tag == "address" and _is_byline_of_article(element):
            marked_elements.setdefault(id(element), (start, element, "marked as the author"))

    # Links.
    is_front = is_home(page.url)
    for link in page.link_elements[:MAX_LINKS]:
        if "author" in link.element.get("rel", "").split():
            marked_elements[id(link.element)] = link.at, link.element, "marked as the author"
        elif not is_front and _PAGE_OF_AUTHOR.search(link.element.get("href", "")[:MAX_HREF]):
            marked_elements.setdefault(id(link.element), (link.at, link.element, "marked as the author"))
    first = sorted(marked_elements.values(), key=itemgetter(0))[:MAX_MARKED]
    return [(element, sign) for _, element, sign in first]


def _is_byline_of_article(address: _Element) -> bool:
    """Whether an address element begins with "by" and is in an article: it then names the author of the article."""
    text = "".join(islice(map(str, address.itertext()), MAX_TEXTS))
    return _BY.match(text[:MAX_BYLINE]) is not None and next(address.iterancestors("article"), None) is not None


def _sign_of(name: Name) -> str:
    """The sign of an element that is marked as the author or a user, by its class and properties; empty for others."""
    _, its_class, _, _, itemprop = name
    if "author" in (itemprop or ""):
        return "marked as the author"
    if its_class:
        return _sign_of_class(its_class[:MAX_BYLINE])
    return ""


@lru_cache(10_000)
def _sign_of_class(its_class: str) -> str:
    if not any(map(its_class.lower().__contains__, _IN_CLASSES)):
        return ""
    if _AUTHOR_CLASS.search(its_class):
        return "named as the author"
    if _USER_CLASS.search(its_class):
        return "named as a user"
    return ""


def _names_at_start(element: _Element) -> list[str]:
    """The names at the start of an element, or after "by" in it, up to the first text that is not a name.

    None if the element has more than MAX_BYLINE characters.
    """
    texts = (fold_space(str(piece)[: MAX_BYLINE + 1]) for piece in islice(element.itertext(), MAX_TEXTS))
    pieces = [piece for piece in texts if piece]
    if sum(map(len, pieces)) > MAX_BYLINE:
        return []
    by_at = next((at for at, piece in enumerate(pieces) if _BY.fullmatch(piece)), 0)
    pieces = pieces[by_at:]

    names: list[str] = []
    for piece, next_piece in zip_longest(pieces, pieces[1:], fillvalue=""):
        by = _BY.match(piece)
        text = piece[by.end() :] if by else piece
        if not text or text.lower() in _AND:
            continue
        parts = _until_end(text)
        names += [part for part in parts if _is_name(part) or not names]
        if names and (len(parts) == 0 or next_piece.lower() not in _AND):
            break
    return names[:MAX_AUTHORS]


def _is_name(text: str) -> bool:
    """Whether a text looks like a person's name.

    >>> [_is_name(text) for text in ("Ann Lee", "Ludwig van Beethoven", "李明", "Senior Editor", "Ann")]
    [True, True, True, False, False]
    """
    if len(text) > MAX_NAME:
        return False
    if _HAN_NAME.fullmatch(text):
        return letters(text) not in _NOBODY
    name_words = text.split()
    if not 2 <= len(name_words) <= 5 or _ROLE.search(text):
        return False
    first = name_words[0]
    if first in _PARTICLE or first == first.lower():
        return False
    return all(word in _PARTICLE or (_LATIN_WORD.fullmatch(word) and not word[0].islower()) for word in name_words)


def _after_han_label(line: str) -> list[str]:
    """The names after a Chinese label in a line."""
    if not ("记者" in line or "作" in line or "文" in line or "撰" in line):  # each label has one of these
        return []
    for label in _HAN_LABELS:
        match = label.search(line)
        if match:
            names = re.split(r"[\s、，,]+", match[1])
            return [name for name in names if _HAN_NAME.fullmatch(name) and name not in _NOBODY]
    return []
