"""The date of publication of a page, from what the page says about itself.

The sources are used in the order of their reliability: JSON-LD, meta elements, time elements, the address, and last a
visible date near the title. Each source has its own limit, so that a page of any size costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING

from lxml.etree import Element, _Element

from crawler.metadata.structured_data import structured
from crawler.page.head import MAX_LINE

if TYPE_CHECKING:
    from crawler.page.page import Page

EARLIEST = date(1990, 1, 1)
MAX_NODES, MAX_DATES = 2_500, 100  # checked: elements for their text; texts with digits like those of a year
MAX_URL = 2_000
NEAR = 12  # lines after the headline in which a date needs no label
SHORT = 40  # characters of a line with only a date and a source
MIN_TITLE = 6  # characters of a line that may be the page's title

_MONTHS = (  # the first letters of month names, four if three are not enough
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "janv fév mars avr mai juin juil août sept oct nov déc",
    "ene feb mär abr mei giu lug ago set out nov dic",
    "gen fev maa apr mag jun jul ago set okt nov dez",
    "sty lut mar kwi maj cze lip sie wrz paź lis gru",
    "янв фев мар апр мая июн июл авг сен окт ноя дек",
    "ιαν φεβ μαρ απρ μαΐ ιουν ιουλ αυγ σεπ οκτ νοε δεκ",
    "ιαν φεβ μάρ απρ μαϊ ιούν ιούλ αύγ σεπ οκτ νοέ δεκ",
)
_MONTH_OF = {name: month for names in _MONTHS for month, name in enumerate(names.split(), 1)}
_CLOCK = r"(?:T|\s)\s*(?P<time>\d{1,2}:\d\d(?::\d\d)?)(?:[.,]\d+)?\s*(?P<zone>Z|[+-]\d\d:?\d\d)?"
_NUMERIC = re.compile(
    rf"(?<!\d)(?P<y>\d{{4}})\s?[-/.年년]\s?(?P<m>\d{{1,2}})\s?[-/.月월]\s?(?P<d>\d{{1,2}})(?!\d)[日일]?(?:{_CLOCK})?"
)
_COMPACT = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(?P<d>\d{1,2})(?P<sep>[./-])(?P<m>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)")
_HALF_DAY = re.compile(r"\d\s?[AP]M\b", re.IGNORECASE)  # American time formats come with American date formats
_NAMED = re.compile(
    r"(?<!\w)(?:(?P<d>\d{1,2})(?:st|nd|rd|th|er|\.|º)?[\s-](?:de\s)?(?P<name>[^\W\d_]{3,12})\.?,?[\s-](?:de\s)?"
    r"|(?P<name2>[^\W\d_]{3,12})\.?\s(?P<d2>\d{1,2})(?:st|nd|rd|th)?,?\s)(?P<y>\d{4})(?!\d)"
)


def _checked(year: int, month: int, day: int) -> str | None:
    """Return the date in ISO form if it exists and is a possible date of publication."""
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    latest = datetime.now(UTC).date() + timedelta(days=2)
    return found.isoformat() if EARLIEST <= found <= latest else None


def _with_time(day: str, clock: str | None, zone: str | None) -> str:
    """Return the date with its time, if the source has a valid time with a zone."""
    if not clock or not zone:
        return day
    hours, minutes, *seconds = clock.split(":")
    offset = "+00:00" if zone == "Z" else f"{zone[:3]}:{zone[-2:]}"
    try:
        return datetime.fromisoformat(f"{day}T{hours:0>2}:{minutes}:{''.join(seconds) or '00'}{offset}").isoformat()
    except ValueError:
        return day


def _numbers(text: str, day_first: bool) -> Iterator[tuple[int, int, int, re.Match[str]]]:
    """Yield year, month and day of everything in a text that looks like a date, the surest notation first."""
    for found in _NUMERIC.finditer(text):
        yield int(found["y"]), int(found["m"]), int(found["d"]), found
    for found in _NAMED.finditer(text):
        name = (found["name"] or found["name2"]).lower()
        month = _MONTH_OF.get(name[:4]) or _MONTH_OF.get(name[:3], 0)
        yield int(found["y"]), month, int(found["d"] or found["d2"]), found
    day_first = day_first and not _HALF_DAY.search(text)
    for found in _DAY_FIRST.finditer(text):
        day, month = int(found["d"]), int(found["m"])
        if month > 12:
            yield int(found["y"]), day, month, found
        elif found["sep"] == "." or day_first or day > 12 or day == month:
            yield int(found["y"]), month, day, found
    for found in _COMPACT.finditer(text):
        yield int(found["y"]), int(found["m"]), int(found["d"]), found


def parse(text: str, day_first: bool = True) -> str | None:
    """Return the first date in a text; 3/4/2012 is in April if `day_first` and not beside AM or PM, else no date.

    >>> parse("2024-05-06T10:15:00Z"), parse("发布时间：2012/3/4 10:20"), parse("March 4, 2012"), parse("2012-13-45")
    ('2024-05-06T10:15:00+00:00', '2012-03-04', '2012-03-04', None)
    """
    for year, month, day, found in _numbers(text, day_first):
        if checked := _checked(year, month, day):
            groups = found.groupdict()
            return _with_time(checked, groups.get("time"), groups.get("zone"))
    return None


_META_IN_ORDER = (
    "article:published_time og:article:published_time og:published_time datepublished article:published pubdate"
    " publishdate publish_date publish-date published_date publishtime pub_date date.issued dc.date.issued dc.date"
    " dcterms.issued dcterms.date dcterms.created dc.created sailthru.date parsely-pub-date weibo:article:create_at"
    " bytedance:published_time citation_publication_date citation_date article:create_at datecreated date"
)
META = _META_IN_ORDER.split()


def _from_times(times: tuple[_Element, ...]) -> str | None:
    """Return the date of a time element marked as publication, else the article's first, else the page's only one."""
    dated = [(time, parsed) for time in times if (parsed := parse(time.get("datetime", "")[:MAX_LINE]))]
    for time, parsed in dated:
        if "pubdate" in time.attrib or time.get("itemprop") == "datePublished" or "publish" in time.get("class", ""):
            return parsed
    for time, parsed in dated:
        if next(time.iterancestors("article", "main"), None) is not None:
            return parsed
    return dated[0][1] if len({parsed[:10] for _, parsed in dated}) == 1 else None


_NOT_PATH = re.compile(r"^[^/]*//[^/]*|[?#].*")
_IN_PATH = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:(?P<s>[-/_.])(\d{1,2})(?P=s)(\d{1,2})|[-/_]?(\d\d)[-/_]?(\d\d))(?!\d)")


def _from_address(url: str) -> str | None:
    """Return the date in the path of an address, such as /2024/05/06/, /2024/0506/ or t20240506_1.html."""
    path = _NOT_PATH.sub("", url[:MAX_URL])
    for year, _, month, day, compact_month, compact_day in _IN_PATH.findall(path):
        if checked := _checked(int(year), int(month or compact_month), int(day or compact_day)):
            return checked
    return None


_HINT = re.compile("date|time|pub|byline|meta|info|source|laiyuan", re.IGNORECASE)
_LABEL = re.compile("发布|發布|發佈|来源|來源|时间|時間|日期|编辑|公開|投稿|Published|Posted|Updated", re.IGNORECASE)
_NO_TEXT = frozenset(["script", "style", "option", "title", "textarea"])


def _lines(root: _Element) -> Iterator[tuple[str, _Element]]:
    """Yield the visible texts near the top of the page, each with its element."""
    for element in islice(root.iter(Element), MAX_NODES):
        if element.tag not in _NO_TEXT and (text := element.text):
            yield text, element
        if (tail := element.tail) and (parent := element.getparent()) is not None:
            yield tail, parent


def _says_date(line: str, holder: _Element) -> bool:
    """Return whether a line is labelled as a date by its words, or by the class or id of its element."""
    holders = islice(chain([holder], holder.iterancestors()), 3)
    return bool(_LABEL.search(line)) or any(
        _HINT.search(str(each.get(name))[:MAX_LINE]) for each in holders for name in ("class", "id", "itemprop")
    )


def _from_lines(root: _Element, day_first: bool) -> str | None:
    """Return the first visible date after the line that is in the page's title, else after an h1, else before."""
    title = (root.findtext(".//title") or "")[:MAX_LINE]
    shortest = max(MIN_TITLE, len(title) // 3)  # a shorter line may be the name of the site
    headline, heading, lines_since = False, False, NEAR
    before = after = None
    looked_at = 0
    for text, holder in _lines(root):
        if not (line := text.strip()):
            continue
        lines_since += 1
        if not headline:
            headline = len(line) >= shortest and line in title
            heading = heading or holder.tag == "h1"
            lines_since = 0 if headline or holder.tag == "h1" else lines_since
        if len(line) > MAX_LINE or not ("20" in line or "19" in line):
            continue
        if (looked_at := looked_at + 1) > MAX_DATES:
            break
        if not (found := parse(line, day_first)):
            continue
        if _says_date(line, holder) or (lines_since <= NEAR and len(line) <= SHORT):
            if headline:
                return found
            before, after = (before, after or found) if heading else (found, after)
    return after or before


def _evidence(page: Page) -> Iterator[str | None]:
    """Yield the value of each source, the most reliable first."""
    _, metas, times = page.head
    day_first = not (page.root.get("lang") or "").lower().startswith("en")
    yield from map(parse, structured(page).dates)
    yield from (parse(metas[name][:MAX_LINE], day_first) for name in META if name in metas)
    yield _from_times(times)
    yield _from_address(page.url)
    yield _from_lines(page.root, day_first)


def published(page: Page) -> str | None:
    """Return when the page was published as YYYY-MM-DD, with the time if the page gives it with its zone, or None."""
    return next(filter(None, _evidence(page)), None)
