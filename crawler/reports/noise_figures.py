"""The pictures of crawls that were skipped as noise or audited, counted for reports."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, bindparam, cast, func, select
from sqlalchemy.engine import URL

from crawler.store.crawl_tables import address, crawl, site
from crawler.store.page_tables import page, verdict
from crawler.store.read_only import exists, reading

MOST_SITES = 20


def saved_bytes(skipped: int, kept: int, size: int) -> int | None:
    """The bytes of pictures that were skipped, by the mean size of those kept; None where none was.

    >>> saved_bytes(3, 2, 2_000), saved_bytes(0, 0, 0), saved_bytes(3, 0, 0)
    (3000, 0, None)
    """
    if not skipped:
        return 0
    return round(skipped * size / kept) if kept else None


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """What one model skipped."""

    name: str
    pictures: int
    links: int
    """Pages behind pictures."""


@dataclass(frozen=True, slots=True)
class NoiseSite:
    """The pictures, and the pages behind them, that a site's pages show, counted by their verdicts."""

    name: str
    kept: int
    audited: int
    skipped: int
    saved_bytes: int | None
    """By the mean size of pictures that were downloaded; null where none was."""


@dataclass(frozen=True, slots=True)
class NoiseFigures:
    """What a crawl skipped as noise; what was chosen to be fetched all the same is not skipped but audited."""

    name: str
    """Of the crawl."""
    pictures: int
    skipped_pictures: int
    links: int
    """Pages behind pictures."""
    skipped_links: int
    saved_bytes: int | None
    """By the mean size of pictures that were downloaded; null where none was."""
    downloaded: int
    """Pictures, without those of the audit."""
    downloaded_bytes: int
    audited: int
    """Chosen to be fetched although they are noise."""
    audited_links: int
    """Of them, pages behind pictures."""
    audited_pictures: int
    """Of them, the pictures that were downloaded."""
    audited_bytes: int
    audited_pages: int
    """Pages that are stored although only noise leads to them."""
    told: int
    """Audited pictures of which their size tells whether they are content."""
    mistaken: int
    """Those of them that are."""
    models: tuple[NoiseModel, ...]
    sites: tuple[NoiseSite, ...]
    """Those with the most noise."""
    site_count: int


is_picture, is_link = verdict.c.kind == "image", verdict.c.kind == "link"
skipped, audited = verdict.c.noise & ~verdict.c.audited, verdict.c.audited
downloaded = verdict.c.bytes_are_measured & ~audited
fetched = verdict.c.bytes_are_measured & audited


def _count(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count().filter(*conditions)


def _bytes(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(verdict.c.bytes).filter(condition), 0), BigInteger)


TOTALS = select(
    _count(is_picture).label("pictures"),
    _count(is_picture, skipped).label("skipped_pictures"),
    _count(is_link).label("links"),
    _count(is_link, skipped).label("skipped_links"),
    _count(downloaded).label("downloaded"),
    _bytes(downloaded).label("downloaded_bytes"),
    _count(audited).label("audited"),
    _count(audited, is_link).label("audited_links"),
    _count(fetched).label("audited_pictures"),
    _bytes(fetched).label("audited_bytes"),
    _count(audited, verdict.c.mistaken.is_not(None)).label("told"),
    _count(audited, verdict.c.mistaken).label("mistaken"),
    func.count(verdict.c.site_id.distinct()).label("site_count"),
)
BY_MODEL = (
    select(verdict.c.decided_by, _count(is_picture), _count(is_link))
    .where(skipped)
    .group_by(verdict.c.decided_by)
    .order_by(verdict.c.decided_by)
)
BY_SITE = (
    select(site.c.name, _count(~verdict.c.noise), _count(audited), _count(skipped), _count(skipped, is_picture))
    .join(site, site.c.id == verdict.c.site_id)
    .group_by(site.c.name)
    .order_by(_count(skipped).desc(), site.c.name)
    .limit(MOST_SITES)
)
_chosen = select(address.c.url).join(verdict, verdict.c.key == address.c.key)
_chosen = _chosen.where(verdict.c.crawl_id == bindparam("crawl"), is_link, audited)
# By what was asked for at first: where a redirect led elsewhere, the page has the key of that.
AUDITED_PAGES = select(func.count()).where(page.c.crawl_id == bindparam("crawl"), page.c.requested_url.in_(_chosen))


def noise_figures(url: URL) -> list[NoiseFigures] | None:
    """What each crawl skipped as noise; None when no crawl was ever run there."""
    if not exists(url):
        return None
    with reading(url) as connection:
        crawls = connection.execute(select(crawl.c.id, crawl.c.name).order_by(crawl.c.id)).all()
        return [_figures(connection, row) for row in crawls]


def noise_figures_of(url: URL, number: int) -> NoiseFigures | None:
    """What the crawl of this number skipped as noise; None where there is none."""
    with reading(url) as connection:
        row = connection.execute(select(crawl.c.id, crawl.c.name).where(crawl.c.id == number)).one_or_none()
        return _figures(connection, row) if row is not None else None


def _figures(connection: Connection, row: Any) -> NoiseFigures:
    mine = verdict.c.crawl_id == row.id
    totals = connection.execute(TOTALS.where(mine)).one()
    measured = totals.downloaded, totals.downloaded_bytes
    # Where there is no such link, the pages need not be looked through.
    pages = connection.execute(AUDITED_PAGES, {"crawl": row.id}).scalar_one() if totals.audited_links else 0
    return NoiseFigures(
        name=row.name,
        saved_bytes=saved_bytes(totals.skipped_pictures, *measured),
        audited_pages=pages,
        models=tuple(NoiseModel(*values) for values in connection.execute(BY_MODEL.where(mine))),
        sites=tuple(
            NoiseSite(name, kept, chosen, noise, saved_bytes(pictures, *measured))
            for name, kept, chosen, noise, pictures in connection.execute(BY_SITE.where(mine))
        ),
        **totals._mapping,
    )
