"""The date of publication of a page: each day that the page names is a candidate, with signs as evidence.

1. The days are read from JSON-LD, meta and time elements, attributes, the address and the visible lines; if the head
   names no day, also from the data of scripts. Signs say where a day was found: in which source, under which label, how
   far from the headline. A day found in several places has the signs of all of them: the sources agree on it. Only the
   head of a front page is read, as the dates in its body are dates of the pages that it lists.
2. The likeliest day is chosen, or none (crawler/metadata/choice.py). Pages of shops, services and manuals, for example,
   mostly have no date of publication, although their programs write one in the head.
3. If a source gives the time of that day with its zone, the date includes the time.

Each source has a limit of its own, so that a page of any size takes little time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import chain, islice
from math import log

from lxml.etree import _Element

from crawler.metadata.address_date import day_in, is_home, month_in
from crawler.metadata.choice import Candidates, chosen, new_candidates, shipped_weights
from crawler.metadata.date_notation import dates
from crawler.metadata.placement import (
    HEADINGS,
    distance_sign,
    headline_at,
    is_elsewhere,
    is_in_comments,
    is_in_footer,
    page_signs,
)
from crawler.metadata.structured_data import ARTICLE, structured
from crawler.page.blocks import INLINE, Block
from crawler.page.head import MAX_LINE
from crawler.page.page import Extraction, Page, PageType

MAX_STRUCTURED = 5  # dates of JSON-LD
MAX_SCRIPT = 5  # dates of other scripts
MAX_BLOCKS = 2_000  # blocks in which dates are looked for
MAX_TEXT = 1_500  # characters of a block in which dates are looked for
MAX_MENTIONS = 100  # dates in the text
MAX_ATTRIBUTES = 1_000  # elements whose attributes may hold a date
AROUND = 32  # characters before and after a year that may belong to its date
BEFORE = 40  # characters before a date that may say what date it is
SHORT = 40  # the most characters of a short line, with little beside the date
LINE = 120  # the most characters of a line that is not long
MAX_PIECES = 20  # pieces of text that are read in an element
LABELS = frozenset(("dt", "th", "td"))
"""Elements whose line is a label of the next line."""
BESIDE_HEADLINE = frozenset(("up to 5 lines before", *(f"up to {most} lines after" for most in (1, 5, 12))))
"""Signs of lines beside the headline."""
PROSE = 80  # a block with more characters is prose
# A byline begins above the first prose or at most this many lines below it, as the first prose may be a summary.
MAX_BYLINE = 4
NEAR_TEXT = 4  # the most lines between the first prose of the text and a date near the text
AFTER_TEXT = 10  # a date more lines below the first prose of the text comes after the text begins

_PUBLISHED_META = re.compile(
    r"publi(?:sh(?!er|ing)|cation)|pub[-_:]?(?:date|time)|date[-_]?pub|issued|sailthru\.date|article:create_at"
)
_OTHER_META = re.compile(r"(?:dc(?:terms)?[.:]|citation_(?:publication_)?)?(?:date(?:\.?created|posted)?|created)")
# "publishedAt": "2024-05-06", even with escaped quotes. The literal start makes the search fast.
_IN_SCRIPT = re.compile(
    rb"ub(?:li(?:sh|cation)|[-_]?[dD]ate|[-_]?[tT]ime)(?!er|ing)[\w-]{0,16}"
    rb"(?:\\*[\"']|&quot;)?\s*+[:=]\s*+(?:\\*[\"']|&quot;)([^\"'&\\]{8,40})"
)
_CHANGED = re.compile(
    r"updat|modif|revis|review|edited|geändert|änderung|aktualisier|\bstand\b|mis à jour|actualizado|aggiorn|обновл"
    r"|更新|修改",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"publi|posted|created|\bdate\b|veröffentlicht|erschienen|erstellt|\bdatum\b|\bvom\b|\bam\b|pubblicato|\bdata\b"
    r"|fecha|mise en ligne|опубл|дата|发布|發布|發佈|出版|公開|投稿|日期|时间|時間|来源|來源",
    re.IGNORECASE,
)
# Words before the day on which a program was released or wrote the page.
_OF_PROGRAM = re.compile(r"\brelease|\bbuil[dt]\b|generat|\bversion\b|powered by", re.IGNORECASE)
# Names of elements with a date.
_NAMED_AS_DATE = re.compile("date|time|pub|byline|meta|info|source|laiyuan|posted|author|header", re.IGNORECASE)
# A year beside another number, as in every date; or its last two digits after day and month. Each alternative begins
# after a digit, so that the search skips most of a text quickly.
_YEAR = re.compile(
    r"\d(?:(?:(?<=(?<!\d)1)9|(?<=(?<!\d)2)0)\d\d(?=\d{4}|[\s./年년-]{1,3}\d)|[^\d]{1,22}?((?:19|20)\d\d)(?!\d)"
    r"|(?<=(?<![\d.])\d)\d?\.\s?\d\d?\.\s?(\d\d)(?![\d.]))"
)
_DATE_ATTRIBUTE = re.compile("date|publi|creat|updated|time", re.IGNORECASE)


SOURCES = {
    "structured_data": ("JSON-LD of an article", "JSON-LD", "later in JSON-LD"),
    "meta": ("meta, published", "meta, date", "meta, changed"),
    "time_element": ("time",),
    "attribute": ("attribute", "attribute, changed"),
    "text": ("line",),
    "address": ("address",),
    "script": ("script",),
}
"""The codes of the sources of dates, each with its signs. If a date has several sources, the first is given."""
_IN_HEAD = {*SOURCES["structured_data"], "meta, published", "meta, date"}
"""Signs of days in the head of the page."""
_IN_BODY = {"time", "attribute", "line", "address"}
"""Signs of days in the body of the page or in its address."""
_ONLY_DAYS = {
    "only day in JSON-LD": {*SOURCES["structured_data"]},
    "only published meta": {"meta, published"},
    "only script": {"script"},
    "only line": {"line"},
    "only address": {"address"},
}
"""Each key is a sign of a day if no other day has any of the signs in the set."""


@dataclass(frozen=True, slots=True)
class PublicationDate:
    """The date of publication of a page, and its source."""

    _: KW_ONLY
    moment: str | None = None
    """YYYY-MM-DD, with the time if the page has it with its zone; None if unknown."""
    source: str = ""
    """One of SOURCES; empty if the date is unknown."""


@dataclass(frozen=True)
class _DateReader:
    """Reads the date of a page. `Page.once` caches the result for each extraction."""

    extraction: Extraction

    def __call__(self, page: Page) -> PublicationDate:
        days = _Days(page, self.extraction)
        day = chosen(days.candidates, shipped_weights()["published"])
        if not day:
            return PublicationDate()
        signs = days.candidates.signs[day]
        source = next(code for code, names in SOURCES.items() if any(name in signs for name in names))
        return PublicationDate(moment=days.moments.get(day, day), source=source)


def publication_date(page: Page, extraction: Extraction) -> PublicationDate:
    """The date of publication of a page, read once."""
    return page.once(_DateReader(extraction))


def date_candidates(page: Page, extraction: Extraction) -> Candidates:
    """The days that the page names, with their signs."""
    return _Days(page, extraction).candidates


@dataclass(frozen=True, slots=True)
class _Mention:
    """A date in the text of a block."""

    at: int
    """The index of the block."""
    block: Block
    day: str
    start: int
    """The index in the text at which the date begins."""
    label: str
    """The text before the date, or the line above if the date begins its line."""


class _Days:
    """The days that a page names, with their signs."""

    def __init__(self, page: Page, extraction: Extraction) -> None:
        self.page = page
        self.extraction = extraction
        self.day_first = not (page.root.get("lang") or "").lower().startswith("en")
        """Whether 3/4/2012 is in April: unless the page is in English."""
        self.moments: dict[str, str] = {}
        """For each day whose time is known, the day with its time and zone."""
        self.marked_day: str | None = None
        """The day that time elements mark as the day of publication; None if they mark none or several. If they mark
        one, other days in lines and in the address do not count.
        """
        self.candidates = new_candidates(page_signs(page, extraction))
        self._add_structured()
        self._add_metas()
        is_text = extraction.page_type in (PageType.ARTICLE, PageType.FORUM)
        if is_text and not self.candidates.signs:
            self._add_scripts()
        if is_text or not is_home(page.url):
            self._add_times()
            self._add_attributes()
            day = day_in(page.url)
            if day and self.marked_day in (None, day):
                self.candidates.add(day, "address")
            self._add_lines()
        self._compare()

    def _add(self, text: str, *signs: str, day_first: bool = True) -> str | None:
        """Add the first date in a text with signs; returns its day, or None if there is no date."""
        first = next(dates(text[:MAX_LINE], day_first), None)
        if first is None:
            return None
        self.candidates.add(first.day, *signs)
        if first.moment != first.day:
            self.moments.setdefault(first.day, first.moment)
        return first.day

    def _add_structured(self) -> None:
        """Add the dates in JSON-LD; the first one counts most."""
        structured_data = structured(self.page)
        is_article = ARTICLE.search(" ".join(structured_data.types))
        sign = "JSON-LD of an article" if is_article else "JSON-LD"
        for text in structured_data.dates[:MAX_STRUCTURED]:
            self._add(text, sign)
            sign = "later in JSON-LD"

    def _add_metas(self) -> None:
        """Add the dates in meta elements."""
        for name, text in self.page.head.metas.items():
            if _CHANGED.search(name):
                self._add(text, "meta, changed", day_first=self.day_first)
            elif _OTHER_META.fullmatch(name):
                self._add(text, "meta, date", day_first=self.day_first)
            elif _PUBLISHED_META.search(name):
                self._add(text, "meta, published", day_first=self.day_first)

    def _add_scripts(self) -> None:
        """Add the dates in the data of scripts, which often describe other pages, too."""
        for number, value in enumerate(islice(_IN_SCRIPT.finditer(self.page.body), MAX_SCRIPT)):
            signs = ["script"]
            if number == 0:
                signs.append("first in scripts")
            self._add(value[1].decode("ascii", "replace"), *signs, day_first=self.day_first)

    def _add_times(self) -> None:
        """Add the dates in time elements, and find out whether they mark one day."""
        own_times = (
            time for time in self.page.head.times if not self._is_of_readers(time) and not _is_change_in_footer(time)
        )
        times_and_days = [(time, self._add(time.get("datetime", ""), "time")) for time in own_times]
        dated = [(time, day) for time, day in times_and_days if day is not None]
        is_only = len({day for _, day in dated}) == 1
        marked_days = {day for time, day in dated if _is_marked(time) and not is_elsewhere(time)}
        if len(marked_days) == 1:
            self.marked_day = marked_days.pop()
        for number, (time, day) in enumerate(dated):
            has_sign = {
                "time, published": _is_marked(time),
                "time, changed": _is_of_change(time),
                "time in an article": next(time.iterancestors("article", "main"), None) is not None,
                "time elsewhere": is_elsewhere(time),
                "first time": number == 0,
                "only time": is_only,
            }
            self.candidates.add(day, *(sign for sign, is_present in has_sign.items() if is_present))

    def _is_of_readers(self, element: _Element) -> bool:
        """Whether an element is in the comments below an article. The posts of forums have the same class names."""
        return self.extraction.page_type == PageType.ARTICLE and is_in_comments(element)

    def _add_attributes(self) -> None:
        """Add the dates in attributes of inline elements."""
        for element in islice(self.page.root.iter("abbr", "span"), MAX_ATTRIBUTES):
            text = element.get("content") or element.get("title")
            name = element.get("itemprop") or element.get("property") or element.get("class") or ""
            if not text or not _DATE_ATTRIBUTE.search(name[:MAX_LINE]):
                continue
            is_changed = _CHANGED.search(name) and "publi" not in name
            self._add(text, "attribute, changed" if is_changed else "attribute", day_first=self.day_first)

    def _add_lines(self) -> None:
        """Add the dates in visible lines."""
        blocks = self.page.blocks[:MAX_BLOCKS]
        kept_ids = frozenset(map(id, self.extraction.blocks))
        headline = headline_at(blocks, self.extraction.title)
        kept_prose = (at for at, block in enumerate(blocks) if id(block) in kept_ids and len(block.text) > PROSE)
        text_at = next(kept_prose, None)
        end_of_byline = self._first_prose(blocks, kept_ids, headline) + MAX_BYLINE
        for number, mention in enumerate(islice(self._mentions(blocks), MAX_MENTIONS)):
            block = mention.block
            distance = distance_sign(mention.at, headline)
            signs = [*_signs_of_line(mention), distance]
            if self._is_of_another(mention):
                continue

            # The date of a change counts only in a byline between the headline and the text, if the page names no day.
            if "label, changed" in signs:
                is_byline = distance in BESIDE_HEADLINE and "elsewhere" not in signs and mention.at < end_of_byline
                if is_byline and not self.candidates.signs:
                    self.candidates.add(mention.day, "line", "label, changed", distance)
                continue

            # The place of the line among the lines with dates and in the text.
            if "line" in self.candidates.signs.get(mention.day, ()):
                signs.append("line twice")
            if number == 0:
                signs.append("first line")
            if id(block) in kept_ids:
                signs.append("in the text" if len(block.text) > LINE else "short line of the text")
            if text_at is not None and abs(mention.at - text_at) <= NEAR_TEXT:
                signs.append("near the text")
            if text_at is not None and mention.at > text_at + AFTER_TEXT:
                signs.append("after the text begins")
            self.candidates.add(mention.day, "line", *signs)

    def _first_prose(self, blocks: tuple[Block, ...], kept_ids: frozenset[int], headline: int | None) -> int:
        """The index of the first block of the text below the headline that is prose and not a heading; the number of
        blocks if there is none.
        """
        first = 0 if headline is None else headline + 1
        for at, block in enumerate(blocks[first:], first):
            if id(block) in kept_ids and block.tag not in HEADINGS and len(block.text) > PROSE:
                return at
        return len(blocks)

    def _is_of_another(self, mention: _Mention) -> bool:
        """Whether a date belongs to a reader's comment or to a program, or time elements mark another day."""
        if self._is_of_readers(mention.block.element) or _is_of_program(mention):
            return True
        return self.marked_day not in (None, mention.day)

    def _mentions(self, blocks: tuple[Block, ...]) -> Iterator[_Mention]:
        """The dates in the texts of blocks."""
        for at, block in enumerate(blocks):
            text = block.text
            # A year may have two digits, as in 1.2.24.
            may_have_year = "20" in text or "19" in text or (len(text) <= LINE and text.count(".") > 1)
            if not may_have_year or len(text) > MAX_TEXT:
                continue
            # A date is looked for only around a year: most texts have none.
            for match in _YEAR.finditer(text):
                # The group of the year, or the whole match if the year begins it.
                year = match.start(match.lastindex or 0)
                start = max(0, year - AROUND)
                for written_date in dates(text[start : year + AROUND], self.day_first):
                    if written_date.start <= year - start < written_date.end:
                        begin = start + written_date.start
                        label = text[max(0, begin - BEFORE) : begin] or _label_above(blocks, at)
                        yield _Mention(at=at, block=block, day=written_date.day, start=begin, label=label)
                        break

    def _compare(self) -> None:
        """Add the signs that compare the days with each other and with the address."""
        signs = self.candidates.signs
        if not signs:
            return
        month = month_in(self.page.url)
        for day in signs:
            if month and day.startswith(month):
                self.candidates.add(day, "month of the address")
        for day, signs_of_day in signs.items():
            if signs_of_day.keys() & _IN_HEAD and signs_of_day.keys() & _IN_BODY:
                self.candidates.add(day, "in head and body")
        for name, sources in _ONLY_DAYS.items():
            days = [day for day, signs_of_day in signs.items() if signs_of_day.keys() & sources]
            if len(days) == 1:
                self.candidates.add(days[0], name)
        self.candidates.add(min(signs), "earliest")
        self.candidates.add(max(signs), "latest")
        # Whether a page with many days is more or less likely to have no date, the weight of this sign decides.
        self.candidates.empty_signs["days"] = log(1 + len(signs))


def _label_above(blocks: tuple[Block, ...], at: int) -> str:
    """The line above the line `at` if that is its label: it is a cell or a term of a list, or ends with a colon."""
    if not at or len(blocks[at - 1].text) > BEFORE:
        return ""
    above = blocks[at - 1]
    if above.tag in LABELS or above.text.endswith((":", "：")):
        return above.text
    return ""


def _is_of_program(mention: _Mention) -> bool:
    """Whether a day is the day on which a program was released or wrote the page."""
    if _OF_PROGRAM.search(mention.label):
        return True
    before = mention.block.text[: mention.start]
    return is_in_footer(mention.block.element) and _OF_PROGRAM.search(before) is not None


def _is_marked(time: _Element) -> bool:
    """Whether a time element is marked as the date of publication."""
    is_named = time.get("itemprop") == "datePublished" or "publish" in time.get("class", "")
    return is_named or "pubdate" in time.attrib


def _is_of_change(time: _Element) -> bool:
    """Whether a time element is the time of the last change, according to its markup or the text before it."""
    if time.get("itemprop") == "dateModified" or _CHANGED.search(time.get("class", "")):
        return True
    return not _is_marked(time) and _CHANGED.search(_text_before(time)) is not None


def _text_before(element: _Element) -> str:
    """The last characters before an element in its line, at most BEFORE."""
    own = "".join(islice(map(str, element.itertext()), MAX_PIECES)).strip()
    line = next((ancestor for ancestor in element.iterancestors() if ancestor.tag not in INLINE), None)
    if not own or line is None:
        return ""
    before, _, _ = "".join(islice(map(str, line.itertext()), MAX_PIECES)).partition(own)
    return before[-BEFORE:]


def _is_change_in_footer(time: _Element) -> bool:
    """Whether a time element is the time of the last change, in a footer, as in manuals."""
    return _is_of_change(time) and not _is_marked(time) and is_in_footer(time)


def _signs_of_line(mention: _Mention) -> Iterator[str]:
    """The signs of the line of a date, and of the elements around it."""
    block = mention.block
    text = block.text
    if len(text) <= SHORT:
        yield "short line"
    elif len(text) <= LINE:
        yield "middle line"
    else:
        yield "long line"
    if _CHANGED.search(mention.label):
        yield "label, changed"
    elif _PUBLISHED.search(mention.label):
        yield "label, published"
    if mention.start == 0:
        yield "the line begins with it"
    if 2 * block.linked > len(text):
        yield "linked"

    # The names of the elements around it.
    around = islice(chain([block.element], block.element.iterancestors()), 3)
    names = " ".join(
        str(element.get(name, ""))[:MAX_LINE] for element in around for name in ("class", "id", "itemprop")
    )
    if _NAMED_AS_DATE.search(names):
        yield "named as a date"
    if _CHANGED.search(names):
        yield "named as a change"
    if is_elsewhere(block.element):
        yield "elsewhere"
