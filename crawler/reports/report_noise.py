"""`scrapy noise report`: what was skipped as noise, by which model, what that saved, and how often it was wrong."""

import argparse
from collections.abc import Iterator

from rich.filesize import decimal
from scrapy.settings import BaseSettings

from crawler.reports.noise_figures import MOST_SITES, NoiseFigures, noise_figures
from crawler.store.database import display_url, state_url
from crawler.terminal import WrongUseError
from crawler.translation.message import counted, printable

UNKNOWN = "unknown, as nothing was downloaded"
NAME_WIDTH = 40  # of a site in the table; longer ones end in dots


def report(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print what was said of the pictures of all crawls, or of one; the exit status."""
    url = state_url(settings)
    crawls = noise_figures(url)
    if not crawls:
        raise WrongUseError(f"no crawl was ever run here ({display_url(url)})")
    wanted = [one for one in crawls if opts.name in (None, one.name)]
    if not wanted:
        raise WrongUseError(f"there is no crawl {opts.name!r}; there are {', '.join(one.name for one in crawls[:10])}")
    print("\n\n".join(printable("\n".join(words(one))) for one in wanted))
    return 0


def words(crawl: NoiseFigures) -> Iterator[str]:
    """The report of one crawl, in lines."""
    if not crawl.pictures and not crawl.links:
        yield f"{crawl.name}: no picture was judged."
        return
    if crawl.pictures:
        said = counted(crawl.pictures, "picture")
        yield f"{crawl.name}: {said} judged, {crawl.skipped_pictures:,} skipped as noise."
    if crawl.links:
        said = counted(crawl.links, "link behind a picture", "links behind pictures")
        yield f"{crawl.name}: {said} judged, {crawl.skipped_links:,} skipped as noise."
    yield f"  {'skipped by':<14}{'pictures':>12}{'links':>12}"
    yield from (f"  {one.name:<14}{one.pictures:>12,}{one.links:>12,}" for one in crawl.models)
    said = f"Requests saved: {crawl.skipped_pictures + crawl.skipped_links:,}."
    if crawl.skipped_pictures:
        saved = crawl.saved_bytes
        known = UNKNOWN if saved is None else f"about {decimal(saved)}, by the mean size of the pictures downloaded"
        said += f" Bytes saved: {known}."
    yield said
    if crawl.downloaded:
        yield f"Downloaded: {counted(crawl.downloaded, 'picture')}, {decimal(crawl.downloaded_bytes)}, measured."
    yield from _audit(crawl)
    yield from _sites(crawl)


def _audit(crawl: NoiseFigures) -> Iterator[str]:
    if not crawl.audited:
        yield "None of the noise was chosen to be fetched to see whether it is (IMAGE_NOISE_AUDIT)."
        return
    yield f"Audited: {crawl.audited:,} of the noise chosen to be fetched all the same."
    measured = f" ({decimal(crawl.audited_bytes)}, measured)" if crawl.audited_pictures else ""
    pictures, pages = counted(crawl.audited_pictures, "picture"), counted(crawl.audited_pages, "page")
    yield f"  Fetched of it: {pictures}{measured}, {pages} stored."
    if crawl.told:
        rate = f"{crawl.mistaken:,} of {crawl.told:,} pictures ({crawl.mistaken / crawl.told:.1%})"
        yield f"  Error rate: {rate} look like content by their size."


def _sites(crawl: NoiseFigures) -> Iterator[str]:
    if crawl.site_count > MOST_SITES:
        yield f"The {MOST_SITES} sites with the most noise, of {crawl.site_count:,}:"
    yield f"  {'site':<{NAME_WIDTH}}{'kept':>10}{'chosen':>10}{'skipped':>10}{'saved (estimated)':>20}"
    for one in crawl.sites:
        short = one.name if len(one.name) <= NAME_WIDTH - 2 else f"{one.name[: NAME_WIDTH - 3]}…"
        size = "unknown" if one.saved_bytes is None else decimal(one.saved_bytes)
        yield f"  {short:<{NAME_WIDTH}}{one.kept:>10,}{one.audited:>10,}{one.skipped:>10,}{size:>20}"
