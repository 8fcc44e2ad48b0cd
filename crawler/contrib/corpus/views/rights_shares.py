"""The permitted uses of the pages of a crawl, as numbers of pages and bytes of text, by site; and their licences."""

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
"""The number of licences that are listed: those with the most pages."""
MOST_COUNTED = 1_000
"""The most licences that are counted separately: a site may name a different one on each page."""
READ_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of pages, and the total size of their texts."""

    pages: int = 0
    bytes: int = 0
    """Bytes of the texts in UTF-8, in which Chinese and English words have about the same length."""

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.pages + other.pages, self.bytes + other.bytes)


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class RightsShares:
    """The permitted uses and the licences of some pages."""

    site: str | None
    """The name of their site; None for pages of several sites."""
    all: Amount
    uses: Mapping[str, Mapping[str, Amount]]
    """The pages by use and state, with the states in a fixed order."""
    licences: Mapping[str, Amount]
    """The pages of the most frequent licences."""
    other_licences: Amount
    """The pages of all other licences together."""


@dataclass(frozen=True, slots=True)
class CorpusRights:
    """The permitted uses of the pages of a crawl, in total and by site."""

    whole: RightsShares
    sites: tuple[RightsShares, ...]
    """The sites with the most pages."""
    others: RightsShares | None
    """The pages of all other sites together."""
    other_sites: int


@dataclass
class RightsTally:
    """Counts the pages of a site, or of several."""

    all: Amount = NOTHING
    uses: dict[tuple[str, str], Amount] = field(default_factory=dict)
    """The pages by use and state."""
    licences: dict[str, Amount] = field(default_factory=dict)
    other_licences: Amount = NOTHING

    def add(self, states: Sequence[str], licence: str | None, amount: Amount) -> None:
        """Count pages with the same state for each use, and the same licence."""
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
        """The counts so far; `site` is the name of their site, None for several sites."""
        uses = {
            use.value: {state.value: self.uses[use, state] for state in State if (use, state) in self.uses}
            for use in Use
        }
        licences = sorted(self.licences.items(), key=lambda pair: (-pair[1].pages, pair[0]))
        others = sum((amount for _, amount in licences[MOST_LICENCES:]), self.other_licences)
        return RightsShares(
            site=site, all=self.all, uses=uses, licences=dict(licences[:MOST_LICENCES]), other_licences=others
        )


def corpus_rights(connection: Connection, crawl_id: int) -> CorpusRights:
    """The permitted uses of the pages of a crawl. All rows are read, which takes a minute for a million pages."""
    names = _largest_sites(connection, crawl_id)
    whole = RightsTally()
    others = RightsTally()
    tallies = {site_id: RightsTally() for site_id in names}
    for site_id, states, licence, amount in _groups(connection, crawl_id, [*names]):
        whole.add(states, licence, amount)
        tally = others if site_id is None else tallies[site_id]
        tally.add(states, licence, amount)
    sites = [tally.shares(names[site_id]) for site_id, tally in tallies.items() if tally.all.pages]
    sites.sort(key=lambda shares: -shares.all.pages)
    count = func.count(page.c.site_id.distinct())
    other_sites = connection.execute(select(count).where(page.c.crawl_id == crawl_id)).scalar_one() - len(names)
    return CorpusRights(
        whole=whole.shares(),
        sites=tuple(sites),
        others=others.shares() if others.all.pages else None,
        other_sites=other_sites,
    )


def _largest_sites(connection: Connection, crawl_id: int) -> dict[int, str]:
    """The names of the sites with the most pages, by id; only an index is read."""
    pages = func.count()
    sites = select(page.c.site_id).where(page.c.crawl_id == crawl_id, page.c.site_id.is_not(None))
    largest = sites.group_by(page.c.site_id).order_by(pages.desc(), page.c.site_id).limit(MOST_SITES)
    site_ids = connection.execute(largest).scalars().all()
    names = select(site.c.id, site.c.name).where(site.c.id.in_(site_ids), site.c.crawl_id == crawl_id)
    return {row.id: row.name for row in connection.execute(names)}


def _groups(
    connection: Connection, crawl_id: int, sites: Sequence[int]
) -> Iterator[tuple[int | None, tuple[str, ...], str | None, Amount]]:
    """The pages grouped by site, states of the uses, and licence. The site is None if it is not in `sites`.

    Large groups come first, so that the licences that RightsTally counts separately are frequent ones.
    """
    dialect = connection.dialect.name
    columns = select(
        case((page.c.site_id.in_(sites), page.c.site_id)).label("site"),
        # All uses at once, because PostgreSQL parses the column for each value.
        json_value(page.c.rights, dialect, "uses").label("uses"),
        json_value(page.c.rights, dialect, "licence").label("licence"),
        text_bytes(page.c.text, dialect).label("bytes"),
    )
    rows = columns.where(*in_corpus(connection, crawl_id)).subquery()
    by = rows.c.site, rows.c.uses, rows.c.licence
    pages = func.count().label("pages")
    size = func.coalesce(func.sum(rows.c.bytes), 0).label("bytes")
    grouped = select(*by, pages, size).group_by(*by).order_by(pages.desc())
    with connection.execute(grouped, execution_options={"yield_per": READ_AT_ONCE}) as groups:
        for group in groups:
            state_by_use = json.loads(group.uses or "{}")
            states = tuple(state_by_use.get(use.value, State.UNKNOWN.value) for use in Use)
            yield group.site, states, group.licence, Amount(group.pages, int(group.bytes))
