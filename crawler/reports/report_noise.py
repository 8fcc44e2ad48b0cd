"""`winnow noise report`: what was skipped as noise, by which model, what that saved, and the error rate."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.filesize import decimal
from scrapy.settings import BaseSettings
from sqlalchemy import BigInteger, ColumnElement, Connection, Select, cast, func, select
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
NAME_WIDTH = 40
"""The width of the column of site names in characters; longer names are shortened."""
MOST_SITES = 20
"""The most sites in the report of a crawl."""


@dataclass(frozen=True, slots=True)
class NoiseModelFigures:
    """How many images and links one model skipped."""

    name: str
    images: int
    links: int
    """Links behind images."""


@dataclass(frozen=True, slots=True)
class NoiseSite:
    """The images on a site's pages and the links behind them, counted by their verdicts."""

    name: str
    kept: int
    audited: int
    skipped: int
    saved_bytes: int | None
    """Estimated by the mean size of the images that were downloaded; null if none was."""


@dataclass(frozen=True, slots=True)
class NoiseFigures:
    """What a crawl skipped as noise; images chosen for the audit count as audited, not as skipped."""

    name: str
    images: int
    """Judged images."""
    skipped_images: int
    links: int
    """Judged links behind images."""
    skipped_links: int
    saved_bytes: int | None
    """Estimated by the mean size of the images that were downloaded; null if none was."""
    downloaded: int
    """Images that were downloaded, without those of the audit."""
    downloaded_bytes: int
    audited: int
    """Images and links that are noise but were chosen for the audit."""
    audited_links: int
    """How many of the audited are links behind images."""
    audited_images: int
    """How many of the audited are images that were downloaded."""
    audited_bytes: int
    """Bytes of these images."""
    audited_pages: int
    """Pages that are stored although only noise leads to them."""
    judged_by_size: int
    """Audited images that were judged again, by their size."""
    mistaken: int
    """How many of these look like content."""
    models: tuple[NoiseModelFigures, ...]
    sites: tuple[NoiseSite, ...]
    site_count: int


IS_IMAGE = verdict.c.kind == AddressKind.IMAGE
IS_LINK = verdict.c.kind == AddressKind.LINK
IS_SKIPPED = verdict.c.noise & ~verdict.c.audited
IS_DOWNLOADED = verdict.c.bytes_are_measured & ~verdict.c.audited
IS_DOWNLOADED_FOR_AUDIT = verdict.c.bytes_are_measured & verdict.c.audited


def _count(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count().filter(*conditions)


def _bytes(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(verdict.c.bytes).filter(condition), 0), BigInteger)


TOTALS = select(
    _count(IS_IMAGE).label("images"),
    _count(IS_IMAGE, IS_SKIPPED).label("skipped_images"),
    _count(IS_LINK).label("links"),
    _count(IS_LINK, IS_SKIPPED).label("skipped_links"),
    _count(IS_DOWNLOADED).label("downloaded"),
    _bytes(IS_DOWNLOADED).label("downloaded_bytes"),
    _count(verdict.c.audited).label("audited"),
    _count(verdict.c.audited, IS_LINK).label("audited_links"),
    _count(IS_DOWNLOADED_FOR_AUDIT).label("audited_images"),
    _bytes(IS_DOWNLOADED_FOR_AUDIT).label("audited_bytes"),
    _count(verdict.c.audited, verdict.c.mistaken.is_not(None)).label("judged_by_size"),
    _count(verdict.c.audited, verdict.c.mistaken).label("mistaken"),
    func.count(verdict.c.site_id.distinct()).label("site_count"),
)
"""The query for the counts of verdicts, labelled by the names of the fields of NoiseFigures."""
BY_MODEL = (
    select(verdict.c.decided_by, _count(IS_IMAGE), _count(IS_LINK))
    .where(IS_SKIPPED)
    .group_by(verdict.c.decided_by)
    .order_by(verdict.c.decided_by)
)
"""The query for the skipped images and links of each model."""
BY_SITE = (
    select(
        site.c.name,
        _count(~verdict.c.noise).label("kept"),
        _count(verdict.c.audited).label("audited"),
        _count(IS_SKIPPED).label("skipped"),
        _count(IS_SKIPPED, IS_IMAGE).label("skipped_images"),
    )
    .join(site, site.c.id == verdict.c.site_id)
    .group_by(site.c.name)
    .order_by(_count(IS_SKIPPED).desc(), site.c.name)
    .limit(MOST_SITES)
)
"""The query for the sites with the most noise."""


def audited_pages(crawl_id: int) -> Select[int]:
    """The query for the number of pages of a crawl that are stored although only noise leads to them."""
    audited_links = (
        select(address.c.url)
        .join(verdict, verdict.c.key == address.c.key)
        .where(verdict.c.crawl_id == crawl_id, IS_LINK, verdict.c.audited)
    )
    # Pages are found by the requested address: after a redirect, the page has another key.
    return select(func.count()).where(page.c.crawl_id == crawl_id, page.c.requested_url.in_(audited_links))


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
        if row is None:
            return None
        return _figures(connection, row)


def _figures(connection: Connection, crawl_row: Any) -> NoiseFigures:
    of_crawl = verdict.c.crawl_id == crawl_row.id
    totals = connection.execute(TOTALS.where(of_crawl)).one()
    pages = 0
    if totals.audited_links:  # otherwise no page comes from the audit
        pages = connection.execute(audited_pages(crawl_row.id)).scalar_one()

    return NoiseFigures(
        name=crawl_row.name,
        saved_bytes=saved_bytes(totals.skipped_images, totals.downloaded, totals.downloaded_bytes),
        audited_pages=pages,
        models=tuple(NoiseModelFigures(*values) for values in connection.execute(BY_MODEL.where(of_crawl))),
        sites=tuple(
            NoiseSite(
                name=row.name,
                kept=row.kept,
                audited=row.audited,
                skipped=row.skipped,
                saved_bytes=saved_bytes(row.skipped_images, totals.downloaded, totals.downloaded_bytes),
            )
            for row in connection.execute(BY_SITE.where(of_crawl))
        ),
        **totals._mapping,
    )


def report(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the reports of all crawls or of one; returns the exit status."""
    url = state_url(settings)
    crawls = noise_figures(url)
    check_name([figures.name for figures in crawls], opts.name, url)
    reported = [figures for figures in crawls if opts.name in (None, figures.name)]
    print("\n\n".join(printable("\n".join(report_lines(figures))) for figures in reported))
    return 0


def report_lines(crawl: NoiseFigures) -> Iterator[str]:
    """The lines of the report on a crawl."""
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
        saved = UNKNOWN
        if crawl.saved_bytes is not None:
            saved = f"about {decimal(crawl.saved_bytes)}, by the mean size of the images downloaded"
        savings += f" Bytes saved: {saved}."
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
    images = counted(crawl.audited_images, "image")
    if crawl.audited_images:
        images += f" ({decimal(crawl.audited_bytes)}, measured)"
    pages = counted(crawl.audited_pages, "page")
    yield f"  Downloaded of these: {images}, {pages} stored."
    if crawl.judged_by_size:
        share = crawl.mistaken / crawl.judged_by_size
        rate = f"{crawl.mistaken:,} of {crawl.judged_by_size:,} images ({share:.1%})"
        yield f"  Error rate: {rate} look like content by their size."


def _sites(crawl: NoiseFigures) -> Iterator[str]:
    if crawl.site_count > MOST_SITES:
        yield f"The {MOST_SITES} sites with the most noise, of {crawl.site_count:,}:"
    yield f"  {'site':<{NAME_WIDTH}}{'kept':>10}{'chosen':>10}{'skipped':>10}{'saved (estimated)':>20}"
    for noise_site in crawl.sites:
        name = noise_site.name
        if len(name) > NAME_WIDTH - 2:
            name = f"{name[: NAME_WIDTH - 3]}…"
        size = "unknown" if noise_site.saved_bytes is None else decimal(noise_site.saved_bytes)
        counts = f"{noise_site.kept:>10,}{noise_site.audited:>10,}{noise_site.skipped:>10,}"
        yield f"  {name:<{NAME_WIDTH}}{counts}{size:>20}"
