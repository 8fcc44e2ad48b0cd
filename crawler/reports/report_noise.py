"""`winnow noise report`: what was skipped as noise, by which model, the savings, and the error rate."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.filesize import decimal
from scrapy.settings import BaseSettings
from sqlalchemy import BigInteger, ColumnElement, Connection, bindparam, cast, func, select
from sqlalchemy.engine import URL

from crawler.command_line.terminal import printable
from crawler.frontier.page_result import AddressKind
from crawler.reports.crawls import check_name
from crawler.reports.saved_bytes import saved_bytes
from crawler.store.crawl_tables import address, crawl, site
from crawler.store.database import state_url
from crawler.store.page_tables import page, verdict
from crawler.store.read_only import exists, reading
from crawler.translation.message import counted

UNKNOWN = "unknown, as nothing was downloaded"
NAME_WIDTH = 40  # characters of a site in the table; longer ones are shortened
MOST_SITES = 20


@dataclass(frozen=True, slots=True)
class NoiseModelFigures:
    """What one model skipped."""

    name: str
    images: int
    links: int
    """Pages behind images."""


@dataclass(frozen=True, slots=True)
class NoiseSite:
    """The images, and the pages behind them, that a site's pages show, counted by their verdicts."""

    name: str
    kept: int
    audited: int
    skipped: int
    saved_bytes: int | None
    """By the mean size of images that were downloaded; null where none was."""


@dataclass(frozen=True, slots=True)
class NoiseFigures:
    """What a crawl skipped as noise; images chosen for the audit count as audited, not as skipped."""

    name: str
    images: int
    skipped_images: int
    links: int
    """Pages behind images."""
    skipped_links: int
    saved_bytes: int | None
    """By the mean size of images that were downloaded; null where none was."""
    downloaded: int
    """Images, without those of the audit."""
    downloaded_bytes: int
    audited: int
    """Chosen for the audit although they are noise."""
    audited_links: int
    """How many of them are pages behind images."""
    audited_images: int
    """How many of them are downloaded images."""
    audited_bytes: int
    audited_pages: int
    """Pages that are stored although only noise leads to them."""
    told: int
    """Audited images whose size tells whether they are content."""
    mistaken: int
    """How many of these are content."""
    models: tuple[NoiseModelFigures, ...]
    sites: tuple[NoiseSite, ...]
    site_count: int


is_image = verdict.c.kind == AddressKind.IMAGE
is_link = verdict.c.kind == AddressKind.LINK
skipped = verdict.c.noise & ~verdict.c.audited
audited = verdict.c.audited
downloaded = verdict.c.bytes_are_measured & ~audited
fetched = verdict.c.bytes_are_measured & audited


def _count(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count().filter(*conditions)


def _bytes(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(verdict.c.bytes).filter(condition), 0), BigInteger)


TOTALS = select(
    _count(is_image).label("images"),
    _count(is_image, skipped).label("skipped_images"),
    _count(is_link).label("links"),
    _count(is_link, skipped).label("skipped_links"),
    _count(downloaded).label("downloaded"),
    _bytes(downloaded).label("downloaded_bytes"),
    _count(audited).label("audited"),
    _count(audited, is_link).label("audited_links"),
    _count(fetched).label("audited_images"),
    _bytes(fetched).label("audited_bytes"),
    _count(audited, verdict.c.mistaken.is_not(None)).label("told"),
    _count(audited, verdict.c.mistaken).label("mistaken"),
    func.count(verdict.c.site_id.distinct()).label("site_count"),
)
BY_MODEL = (
    select(verdict.c.decided_by, _count(is_image), _count(is_link))
    .where(skipped)
    .group_by(verdict.c.decided_by)
    .order_by(verdict.c.decided_by)
)
BY_SITE = (
    select(site.c.name, _count(~verdict.c.noise), _count(audited), _count(skipped), _count(skipped, is_image))
    .join(site, site.c.id == verdict.c.site_id)
    .group_by(site.c.name)
    .order_by(_count(skipped).desc(), site.c.name)
    .limit(MOST_SITES)
)
_chosen = select(address.c.url).join(verdict, verdict.c.key == address.c.key)
_chosen = _chosen.where(verdict.c.crawl_id == bindparam("crawl"), is_link, audited)
# By the requested address: after a redirect, the page has the key of that address.
AUDITED_PAGES = select(func.count()).where(page.c.crawl_id == bindparam("crawl"), page.c.requested_url.in_(_chosen))


def noise_figures(url: URL) -> list[NoiseFigures]:
    """What each crawl skipped as noise; empty if no crawl was ever run."""
    if not exists(url):
        return []
    with reading(url) as connection:
        crawls = connection.execute(select(crawl.c.id, crawl.c.name).order_by(crawl.c.id)).all()
        return [_figures(connection, row) for row in crawls]


def noise_figures_of(url: URL, number: int) -> NoiseFigures | None:
    """What the crawl of this number skipped as noise; None if there is no such crawl."""
    with reading(url) as connection:
        row = connection.execute(select(crawl.c.id, crawl.c.name).where(crawl.c.id == number)).one_or_none()
        if row is not None:
            return _figures(connection, row)
        return None


def _figures(connection: Connection, row: Any) -> NoiseFigures:
    of_crawl = verdict.c.crawl_id == row.id
    totals = connection.execute(TOTALS.where(of_crawl)).one()
    measured = totals.downloaded, totals.downloaded_bytes
    # If there is no such link, the pages need not be read.
    pages = connection.execute(AUDITED_PAGES, {"crawl": row.id}).scalar_one() if totals.audited_links else 0
    return NoiseFigures(
        name=row.name,
        saved_bytes=saved_bytes(totals.skipped_images, *measured),
        audited_pages=pages,
        models=tuple(NoiseModelFigures(*values) for values in connection.execute(BY_MODEL.where(of_crawl))),
        sites=tuple(
            NoiseSite(name, kept, chosen, noise, saved_bytes(images, *measured))
            for name, kept, chosen, noise, images in connection.execute(BY_SITE.where(of_crawl))
        ),
        **totals._mapping,
    )


def report(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the reports of all crawls or of one; returns the exit status."""
    url = state_url(settings)
    crawls = noise_figures(url)
    check_name([figures.name for figures in crawls], opts.name, url)
    chosen = [figures for figures in crawls if opts.name in (None, figures.name)]
    print("\n\n".join(printable("\n".join(words(figures))) for figures in chosen))
    return 0


def words(crawl: NoiseFigures) -> Iterator[str]:
    if not crawl.images and not crawl.links:
        yield f"{crawl.name}: no image was judged."
        return
    if crawl.images:
        images = counted(crawl.images, "image")
        yield f"{crawl.name}: {images} judged, {crawl.skipped_images:,} skipped as noise."
    if crawl.links:
        links = counted(crawl.links, "link behind an image", "links behind images")
        yield f"{crawl.name}: {links} judged, {crawl.skipped_links:,} skipped as noise."
    yield f"  {'skipped by':<14}{'images':>12}{'links':>12}"
    yield from (f"  {model.name:<14}{model.images:>12,}{model.links:>12,}" for model in crawl.models)
    savings = f"Requests saved: {crawl.skipped_images + crawl.skipped_links:,}."
    if crawl.skipped_images:
        saved = crawl.saved_bytes
        saved_bytes_words = (
            UNKNOWN if saved is None else f"about {decimal(saved)}, by the mean size of the images downloaded"
        )
        savings += f" Bytes saved: {saved_bytes_words}."
    yield savings
    if crawl.downloaded:
        yield f"Downloaded: {counted(crawl.downloaded, 'image')}, {decimal(crawl.downloaded_bytes)}, measured."
    yield from _audit(crawl)
    yield from _sites(crawl)


def _audit(crawl: NoiseFigures) -> Iterator[str]:
    if not crawl.audited:
        yield "There was no audit of the noise (setting IMAGE_NOISE_AUDIT)."
        return
    yield f"Audit: {crawl.audited:,} skipped images or links were chosen."
    measured = f" ({decimal(crawl.audited_bytes)}, measured)" if crawl.audited_images else ""
    images = counted(crawl.audited_images, "image")
    pages = counted(crawl.audited_pages, "page")
    yield f"  Downloaded of these: {images}{measured}, {pages} stored."
    if crawl.told:
        rate = f"{crawl.mistaken:,} of {crawl.told:,} images ({crawl.mistaken / crawl.told:.1%})"
        yield f"  Error rate: {rate} look like content by their size."


def _sites(crawl: NoiseFigures) -> Iterator[str]:
    if crawl.site_count > MOST_SITES:
        yield f"The {MOST_SITES} sites with the most noise, of {crawl.site_count:,}:"
    yield f"  {'site':<{NAME_WIDTH}}{'kept':>10}{'chosen':>10}{'skipped':>10}{'saved (estimated)':>20}"
    for noise_site in crawl.sites:
        name = noise_site.name
        short = name if len(name) <= NAME_WIDTH - 2 else f"{name[: NAME_WIDTH - 3]}…"
        size = "unknown" if noise_site.saved_bytes is None else decimal(noise_site.saved_bytes)
        counts = f"{noise_site.kept:>10,}{noise_site.audited:>10,}{noise_site.skipped:>10,}"
        yield f"  {short:<{NAME_WIDTH}}{counts}{size:>20}"
