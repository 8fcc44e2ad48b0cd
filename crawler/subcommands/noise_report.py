"""`scrapy noise report`: what was skipped as noise, by which model, what that saved, and how often it was wrong."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from rich.filesize import decimal
from scrapy.settings import BaseSettings

from crawler.state.database import StateError, database_url, shown
from crawler.state.verdicts import MOST_SITES, Judged, judged
from crawler.subcommands import Subcommand, WrongUseError
from crawler.wording import counted, printable

UNKNOWN = "unknown, as nothing was downloaded"
NAME_WIDTH = 40  # of a site in the table; longer ones end in dots


def report(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print what was said of the pictures of all crawls, or of one; the exit status."""
    if len(args) > 1:
        raise WrongUseError(f"{args[1]!r} is too much; one crawl is shown, or all: scrapy noise report [NAME]")
    try:
        url = database_url(settings["STATE_URL"], Path(settings["OUTPUT_DIR"]))
    except StateError as error:
        raise WrongUseError(str(error)) from None
    crawls = judged(url)
    if not crawls:
        raise WrongUseError(f"no crawl was ever run here ({shown(url)})")
    wanted = [one for one in crawls if not args or one.name == args[0]]
    if not wanted:
        raise WrongUseError(f"there is no crawl {args[0]!r}; there are {', '.join(one.name for one in crawls[:10])}")
    print("\n\n".join(printable("\n".join(words(one))) for one in wanted))
    return 0


def words(crawl: Judged) -> Iterator[str]:
    """The report of one crawl, in lines."""
    if not crawl.counts:
        yield f"{crawl.name}: no picture was judged."
        return
    for kind, noun in (("image", "picture"), ("link", "link behind a picture")):
        many = "links behind pictures" if kind == "link" else ""
        if total := crawl.total(kind=kind):
            skipped = crawl.total(kind=kind, noise=True, audited=False)
            yield f"{crawl.name}: {counted(total, noun, many)} judged, {skipped:,} skipped as noise."
    yield from _models(crawl)
    yield from _savings(crawl)
    yield from _audit(crawl)
    yield from _sites(crawl)


def _models(crawl: Judged) -> Iterator[str]:
    yield f"  {'skipped by':<14}{'pictures':>12}{'links':>12}"
    for model in sorted({one.decided_by for one in crawl.matching(noise=True, audited=False)}):
        skipped = {"noise": True, "audited": False, "decided_by": model}
        pictures, links = (crawl.total(kind=kind, **skipped) for kind in ("image", "link"))
        yield f"  {model:<14}{pictures:>12,}{links:>12,}"


def _savings(crawl: Judged) -> Iterator[str]:
    skipped = {"noise": True, "audited": False}
    said = f"Requests saved: {crawl.total(**skipped):,}."
    count, size = crawl.downloaded(audited=False)
    if pictures := crawl.total(kind="image", **skipped):
        saved = crawl.saved(pictures)
        known = UNKNOWN if saved is None else f"about {decimal(saved)}, by the mean size of the pictures downloaded"
        said += f" Bytes saved: {known}."
    yield said
    if count:
        yield f"Downloaded: {counted(count, 'picture')}, {decimal(size)}, measured."


def _audit(crawl: Judged) -> Iterator[str]:
    chosen = crawl.total(audited=True)
    if not chosen:
        yield "None of the noise was chosen to be fetched to see whether it is (IMAGE_NOISE_AUDIT)."
        return
    pictures, size = crawl.downloaded(audited=True)
    yield f"Audited: {chosen:,} of the noise chosen to be fetched all the same."
    measured = f" ({decimal(size)}, measured)" if pictures else ""
    yield f"  Fetched of it: {counted(pictures, 'picture')}{measured}, {counted(crawl.audited_pages, 'page')} stored."
    told = [one for one in crawl.matching(audited=True) if one.mistaken is not None]
    if count := sum(one.number for one in told):
        wrong = sum(one.number for one in told if one.mistaken)
        rate = f"{wrong:,} of {count:,} pictures ({wrong / count:.1%})"
        yield f"  Error rate: {rate} look like content by their size."


def _sites(crawl: Judged) -> Iterator[str]:
    if crawl.site_count > MOST_SITES:
        yield f"The {MOST_SITES} sites with the most noise, of {crawl.site_count:,}:"
    yield f"  {'site':<{NAME_WIDTH}}{'kept':>10}{'chosen':>10}{'skipped':>10}{'saved (estimated)':>20}"
    for name, kept, chosen, skipped, pictures in crawl.sites:
        short = name if len(name) <= NAME_WIDTH - 2 else f"{name[: NAME_WIDTH - 3]}…"
        saved = crawl.saved(pictures)
        size = "unknown" if saved is None else decimal(saved)
        yield f"  {short:<{NAME_WIDTH}}{kept:>10,}{chosen:>10,}{skipped:>10,}{size:>20}"


REPORT = Subcommand("[NAME]", report)
