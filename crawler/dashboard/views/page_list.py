"""The pages of a crawl as a list shows them, and what there is to choose among.

Whether a page has the words that are searched for, in whatever script and case.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple
from urllib.parse import unquote

from sqlalchemy import Connection, func, select

from crawler.store.page_tables import page
from crawler.store.schema import crawl, site

BEGINNING = 300
"""Letters of a text that a list shows."""
MOST_LIKE = 2_000
"""Sites of similar names that are sorted."""


class Held(NamedTuple):
    """A crawl, and its rounds."""

    id: int
    name: str
    round: int
    first_round: int
    started_at: float


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page as a list shows it."""

    id: int
    url: str
    title: str
    site: str | None
    """None of a page whose site is not known."""
    language: str | None
    page_type: str
    relevance: float
    fetched_at: str
    round: int
    """In which it was last fetched."""
    first_round: int
    changed_round: int | None
    """In which its text was last found changed; None if it never was."""
    changed_at: str | None
    gone_round: int | None
    """In which it was found gone; None while it is there."""
    gone_at: str | None
    duplicate_of: str | None
    """The address of the page that it is a near copy of."""
    beginning: str
    """Of its text."""


@dataclass(frozen=True, slots=True)
class PageCounts:
    """What the pages of a crawl are, and how many."""

    pages: int
    languages: Mapping[str, int]
    page_types: Mapping[str, int]


def held(connection: Connection, name: str) -> Held | None:
    """The crawl of a name; without one that with the newest page, or the first where none has a page."""
    newest = select(func.max(page.c.fetched_at)).where(page.c.crawl_id == crawl.c.id).scalar_subquery()
    order = func.coalesce(newest, "").desc(), crawl.c.id
    columns = crawl.c.id, crawl.c.name, crawl.c.round, crawl.c.first_round, crawl.c.started_at
    found = select(*columns).where(crawl.c.name == name) if name else select(*columns).order_by(*order).limit(1)
    row = connection.execute(found).one_or_none()
    return Held._make(row) if row is not None else None


def listed(connection: Connection, numbers: Sequence[int]) -> list[ListedPage]:
    """The pages of these numbers, in this order; those that are there no more are left out."""
    names = [one.name for one in fields(ListedPage)][:-1]
    columns = [site.c.name if name == "site" else page.c[name] for name in names]
    beginning = func.substr(page.c.text, 1, BEGINNING, type_=page.c.text.type)
    rows = select(*columns, beginning).outerjoin(site, site.c.id == page.c.site_id)
    found = {row[0]: ListedPage(*tuple(row)) for row in connection.execute(rows.where(page.c.id.in_(numbers)))}
    return [found[number] for number in numbers if number in found]


def site_number(connection: Connection, crawl_id: int, name: str) -> int | None:
    """The number of a site by its name; None where a crawl has none like it."""
    found = select(site.c.id).where(site.c.crawl_id == crawl_id, site.c.name == name)
    return connection.execute(found).scalar()


def sites_like(connection: Connection, crawl_id: int, part: str, most: int) -> list[tuple[int, str]]:
    """Sites whose names hold a part, with their numbers, the largest first; where very many do, of the first found."""
    named = select(site.c.id).where(site.c.crawl_id == crawl_id, site.c.name.contains(part, autoescape=True))
    found = select(site.c.id, site.c.name).where(site.c.id.in_(named.limit(MOST_LIKE)))
    return [
        (row.id, row.name) for row in connection.execute(found.order_by(site.c.pages.desc(), site.c.id).limit(most))
    ]


def largest_sites(connection: Connection, crawl_id: int, most: int) -> list[str]:
    """The names of the sites with the most pages; an index tells them."""
    order = site.c.pages.desc(), site.c.id.desc()
    found = select(site.c.name).where(site.c.crawl_id == crawl_id).order_by(*order).limit(most)
    return list(connection.execute(found).scalars())


def choices(connection: Connection, crawl_id: int) -> PageCounts:
    """What the pages of a crawl are; an index alone tells, but a million entries take a second."""
    groups = select(page.c.language, page.c.page_type, func.count()).where(page.c.crawl_id == crawl_id)
    languages: Counter[str] = Counter()
    page_types: Counter[str] = Counter()
    pages = 0
    for language, page_type, count in connection.execute(groups.group_by(page.c.language, page.c.page_type)):
        pages += count
        languages[language or ""] += count
        page_types[page_type] += count
    return PageCounts(pages, dict(languages.most_common()), dict(page_types.most_common()))


def has_all(words: Sequence[str], *texts: str) -> bool:
    """Whether each of the case-folded words is in one of the texts; the first ones should be the short ones.

    >>> has_all(["äpfel", "蜜蜂"], "ÄPFEL", "关于蜜蜂"), has_all(["strasse"], "Straße"), has_all(["bees"], "be")
    (True, True, False)
    """
    missing = list(words)
    for text in texts:
        folded = ""
        for word in list(missing):
            if word not in text:  # as it mostly is where it has no case, and folding takes time
                folded = folded or text.casefold()
                if word not in folded:
                    continue
            missing.remove(word)
        if not missing:
            return True
    return not missing


def address(url: str) -> str:
    """An address as it is searched: as people write it.

    >>> address("http://a.example/%E8%9C%9C%E8%9C%82")
    'http://a.example/蜜蜂'
    """
    return unquote(url) if "%" in url else url
