"""How a crawl kept to its topic, and what it skipped as noise: the figures of the two reports, as they are shown."""

from typing import NamedTuple

from crawler.dashboard.background import Result
from crawler.evaluation.focus_tables import Kept
from crawler.evaluation.gathering import WINDOW, Group
from crawler.state.verdicts import Judged
from crawler.wording import Message


class Computed(NamedTuple):
    """When figures were computed that take their time."""

    at: float | None
    """In seconds since 1970; null where they were not yet: ask again."""
    took: float
    is_busy: bool
    """Whether they are being computed, for the first time or anew."""
    done: int
    """The pages looked through so far, while they are."""
    error: Message | None
    """Why there are none, or none that are newer."""


class FocusGroup(NamedTuple):
    """Pages that have something in common, and what they are to the topic."""

    name: str
    pages: int
    on_topic: int
    harvest: float
    relevance: float
    """The mean."""
    link_score: float | None
    """The mean of the pages that have one."""


class FocusPoint(NamedTuple):
    """How things stood after so many pages."""

    pages: int
    lately: float
    harvest: float


class FocusFigures(NamedTuple):
    """How well a crawl kept to its topic."""

    limit: float
    """The relevance from which on a page is on topic."""
    pages: int
    on_topic: int
    harvest: float
    """The share of pages that are on topic."""
    window: int
    lately: float
    """The harvest of the last pages, as many as the window holds."""
    ranking: float | None
    """How often, of a page on topic and one off it, the first had the better link score; .5 is chance."""
    off_topic: int
    """Pages that were read and not kept, as the crawl was told."""
    waiting: int
    promising: int
    """Of the addresses that wait, those whose score reaches the limit, and seeds."""
    ways: tuple[FocusGroup, ...]
    """The pages by how they were found."""
    sites: tuple[FocusGroup, ...]
    """Those with most pages on topic."""
    site_count: int
    course: tuple[FocusPoint, ...]


class FocusReport(NamedTuple):
    """The focus report of a crawl."""

    crawl: str
    computed: Computed
    figures: FocusFigures | None
    """Null where there is no page, or nothing is computed yet."""


class NoiseModel(NamedTuple):
    """What one model skipped."""

    name: str
    pictures: int
    links: int
    """Pages behind pictures."""


class NoiseSite(NamedTuple):
    """What became of the pictures, and the pages behind them, that a site's pages show."""

    name: str
    kept: int
    audited: int
    skipped: int
    saved_bytes: int | None
    """By the mean size of pictures that were downloaded; null where none was."""


class NoiseFigures(NamedTuple):
    """What a crawl skipped as noise."""

    pictures: int
    skipped_pictures: int
    links: int
    """Pages behind pictures."""
    skipped_links: int
    saved_bytes: int | None
    """By the mean size of pictures that were downloaded; null where none was."""
    downloaded: int
    downloaded_bytes: int
    audited: int
    """Chosen to be fetched although they are noise."""
    audited_pictures: int
    """Of them, the pictures that were downloaded."""
    audited_pages: int
    """Pages that are stored although only noise leads to them."""
    models: tuple[NoiseModel, ...]
    sites: tuple[NoiseSite, ...]
    """Those with the most noise."""
    site_count: int


class NoiseReport(NamedTuple):
    """The noise report of a crawl."""

    crawl: str
    computed: Computed
    figures: NoiseFigures | None
    """Null where no picture was judged, or nothing is computed yet."""


def computed(result: Result) -> Computed:
    """When the result of a computation came."""
    return Computed(result.at, result.took, result.busy, result.done if result.busy else 0, result.error)


def focus_figures(kept: Kept) -> FocusFigures:
    """How well a crawl kept to its topic."""
    figures = kept.figures
    return FocusFigures(
        *(figures.limit, figures.total.pages, figures.total.on_topic, figures.total.harvest, WINDOW, figures.lately),
        *(figures.ranking, kept.off_topic, kept.waiting.total, kept.waiting.promising),
        ways=tuple(map(_group, figures.ways)),
        sites=tuple(map(_group, figures.sites)),
        site_count=figures.site_count,
        course=tuple(FocusPoint(one.pages, one.lately, one.harvest) for one in figures.course),
    )


def _group(one: Group) -> FocusGroup:
    return FocusGroup(one.name, one.pages, one.on_topic, one.harvest, one.relevance, one.link_score)


def noise_figures(crawl: Judged) -> NoiseFigures | None:
    """What a crawl skipped as noise; None where it judged nothing."""
    if not crawl.counts:
        return None
    skipped = {"noise": True, "audited": False}
    models = sorted({one.decided_by for one in crawl.matching(**skipped)})
    pictures, links = (crawl.total(kind=kind, **skipped) for kind in ("image", "link"))
    downloaded, size = crawl.downloaded(audited=False)
    return NoiseFigures(
        *(crawl.total(kind="image"), pictures, crawl.total(kind="link"), links),
        *(crawl.saved(pictures), downloaded, int(size)),  # PostgreSQL's sums are decimals
        audited=crawl.total(audited=True),
        audited_pictures=crawl.downloaded(audited=True)[0],
        audited_pages=crawl.audited_pages,
        models=tuple(
            NoiseModel(name, *(crawl.total(kind=kind, decided_by=name, **skipped) for kind in ("image", "link")))
            for name in models
        ),
        sites=tuple(
            NoiseSite(one.name, one.kept, one.audited, one.skipped, crawl.saved(one.skipped_pictures))
            for one in crawl.sites
        ),
        site_count=crawl.site_count,
    )
