"""What the pages of a crawl may be used for: how many pages and how much text, by site; and their licences."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, case, func, select

from crawler.contrib.corpus.views.corpus_pages import in_corpus
from crawler.contrib.dashboard.computed_columns import json_value, text_bytes
from crawler.rights.statement import State, Use
from crawler.store.crawl_tables import site
from crawler.store.page_tables import page

MOST_SITES = 20
MOST_LICENCES = 5
"""Licences that are named, those with the most pages."""
MOST_COUNTED = 1_000
"""Different licences that are counted: a site may name another one on each page."""
READ_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Amount:
    """Some pages, and the size that their texts have together."""

    pages: int = 0
    bytes: int = 0
    """Bytes of the texts in UTF-8, in which a word is about as long in Chinese as in English."""

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.pages + other.pages, self.bytes + other.bytes)


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class RightsShares:
    """What some pages may be used for."""

    site: str | None
    """The name of their site; None for pages of several sites."""
    all: Amount
    uses: Mapping[str, Mapping[str, Amount]]
    """By use and state, the states in a fixed order."""
    licences: Mapping[str, Amount]
    """The most frequent ones."""
    other_licences: Amount
    """Pages with licences that are not among them."""


@dataclass(frozen=True, slots=True)
class CorpusRights:
    """What the pages of a crawl may be used for."""

    whole: RightsShares
    sites: tuple[RightsShares, ...]
    """The sites with the most pages."""
    others: RightsShares | None
    """The pages of all other sites together."""
    other_sites: int


@dataclass
class RightsTally:
    """Counts the pages of a site, or of all."""

    all: Amount = NOTHING
    uses: dict[tuple[str, str], Amount] = field(default_factory=dict)
    licences: dict[str, Amount] = field(default_factory=dict)
    other_licences: Amount = NOTHING

    def add(self, states: Sequence[str], licence: str | None, amount: Amount) -> None:
        """Count pages that say the same."""
        self.all += amount
        for key in zip(Use, states, strict=True):
            self.uses[key] = self.uses.get(key, NOTHING) + amount
        if licence is None:
            return
        if licence in self.licences or len(self.licences) < MOST_COUNTED:
            self.licences[licence] = self.licences.get(licence, NOTHING) + amount
        else:
            self.other_licences += amount

    def shares(self, site: str | None = None) -> RightsShares:
        """What was counted, under the name of the site."""
        uses = {
            use.value: {state.value: found for state in State if (found := self.uses.get((use, state)))} for use in Use
        }
        licences = sorted(self.licences.items(), key=lambda one: (-one[1].pages, one[0]))
        others = sum((amount for _, amount in licences[MOST_LICENCES:]), self.other_licences)
        return RightsShares(site, self.all, uses, dict(licences[:MOST_LICENCES]), others)


def corpus_rights(connection: Connection, crawl_id: int) -> CorpusRights:
    """What the pages of a crawl may be used for; all rows are read, a million take a minute."""
    names = _largest_sites(connection, crawl_id)
    whole = RightsTally()
    others = RightsTally()
    tallies = {number: RightsTally() for number in names}
    for number, states, licence, amount in _groups(connection, crawl_id, [*names]):
        whole.add(states, licence, amount)
        (tallies[number] if number is not None else others).add(states, licence, amount)
    sites = [tally.shares(names[number]) for number, tally in tallies.items() if tally.all.pages]
    sites.sort(key=lambda one: -one.all.pages)
    count = func.count(page.c.site_id.distinct())
    other_sites = connection.execute(select(count).where(page.c.crawl_id == crawl_id)).scalar_one() - len(names)
    return CorpusRights(whole.shares(), tuple(sites), others.shares() if others.all.pages else None, other_sites)


def _largest_sites(connection: Connection, crawl_id: int) -> dict[int, str]:
    """The names of the sites with the most pages, by number; an index alone is read."""
    pages = func.count()
    found = select(page.c.site_id).where(page.c.crawl_id == crawl_id, page.c.site_id.is_not(None))
    found = found.group_by(page.c.site_id).order_by(pages.desc(), page.c.site_id).limit(MOST_SITES)
    numbers = connection.execute(found).scalars().all()
    names = select(site.c.id, site.c.name).where(site.c.id.in_(numbers), site.c.crawl_id == crawl_id)
    return {row.id: row.name for row in connection.execute(names)}


def _groups(
    connection: Connection, crawl_id: int, sites: Sequence[int]
) -> Iterator[tuple[int | None, tuple[str, ...], str | None, Amount]]:
    """Pages of the same site, one of these or any other, that say the same: the largest groups first."""
    dialect = connection.dialect.name
    columns = select(
        case((page.c.site_id.in_(sites), page.c.site_id)).label("site"),
        # As a whole, because PostgreSQL parses the column for each value.
        json_value(page.c.rights, dialect, "uses").label("uses"),
        json_value(page.c.rights, dialect, "licence").label("licence"),
        text_bytes(page.c.text, dialect).label("bytes"),
    )
    rows = columns.where(*in_corpus(connection, crawl_id)).subquery()
    names = [column for column in rows.c if column.name != "bytes"]
    pages = func.count().label("pages")
    grouped = select(*names, pages, func.coalesce(func.sum(rows.c.bytes), 0)).group_by(*names).order_by(pages.desc())
    with connection.execute(grouped, execution_options={"yield_per": READ_AT_ONCE}) as found:
        for number, uses, licence, count, size in map(tuple, found):
            said = json.loads(uses or "{}")
            states = tuple(said.get(use.value, State.UNKNOWN.value) for use in Use)
            yield number, states, licence, Amount(count, int(size))
