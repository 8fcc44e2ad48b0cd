"""The judge of pictures as the settings have it, and what it knows of the sites whose pages show them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from crawler import settings as our_settings
from crawler.arguments import ArgumentError
from crawler.explanation import Reason
from crawler.methods import check_number
from crawler.noise.evidence import Evidence
from crawler.noise.filter_list import FilterLists
from crawler.noise.keyword import NoiseWords, from_file, shipped
from crawler.noise.reasons import NoiseReason
from crawler.noise.sighting import Sighting
from crawler.noise.verdict import MODELS, Judge, Verdict
from crawler.state.entries import Evidence as Counts
from crawler.urls import site

if TYPE_CHECKING:  # it imports numpy, which is not for every command
    from crawler.noise.learned import Model

LIMITS = ("IMAGE_NOISE_LIMIT", "IMAGE_NOISE_KEYWORD_LIMIT")
"""Settings that may be left empty."""
BY_LIST = "filter_list"


@dataclass(frozen=True)
class Court:
    """A judge, filter lists whose word is final, and what the user calls noise."""

    judge: Judge
    lists: FilterLists | None = None

    def verdict(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict on a picture, by what its site shows on all its pages so far."""
        said = self.judge.judge(sighting, evidence)
        if self.lists is not None and self.is_listed(self.lists, sighting):
            reasons = (*(said.reasons if said.is_noise else ()), Reason(NoiseReason.BLOCKED_BY_LIST, {}))
            return said._replace(is_noise=True, probability=1.0, reasons=reasons, decided_by=BY_LIST)
        return said

    def is_listed(self, lists: FilterLists, sighting: Sighting) -> bool:
        """Whether a picture or where it leads is on the lists."""
        if lists.hit(sighting.url, sighting.page):
            return True
        return bool(sighting.target) and lists.hit(sighting.target, sighting.page, "document")


def court_of(settings: BaseSettings) -> Court:
    """The judge and the lists, or an ArgumentError that says which setting is wrong."""
    judge = judge_of(settings)
    lists = [Path(path.strip()) for path in settings.getlist("IMAGE_NOISE_LISTS") if path.strip()]
    try:
        return Court(judge, FilterLists(lists) if lists else None)
    except ValueError as error:
        raise ArgumentError(f"setting IMAGE_NOISE_LISTS is wrong: {error}") from None


def judge_of(settings: BaseSettings) -> Judge:
    """The judge, or an ArgumentError that says which setting is wrong."""
    for name, default in vars(our_settings).items():
        if name.startswith("IMAGE_") and isinstance(default, int | float):
            check_number(name, settings[name], default)
    limits = {name: _limit(name, settings[name]) for name in LIMITS}
    models = tuple(dict.fromkeys(name.strip() for name in settings.getlist("IMAGE_NOISE_MODELS")))
    if not models or (unknown := [name for name in models if name not in MODELS]):
        said = f"{unknown[0]!r} is not known" if models else "it names none"
        raise ArgumentError(f"setting IMAGE_NOISE_MODELS is wrong, {said}; allowed are {', '.join(MODELS)}")
    return Judge(
        models,
        learned=_weights(settings["IMAGE_NOISE_WEIGHTS"], models),
        noise_words=_words(settings["IMAGE_NOISE_KEYWORDS"]),
        learned_limit=limits["IMAGE_NOISE_LIMIT"],
        keyword_limit=limits["IMAGE_NOISE_KEYWORD_LIMIT"],
        redundancy_limit=settings.getfloat("IMAGE_NOISE_REDUNDANCY_LIMIT"),
        entropy_limit=settings.getfloat("IMAGE_NOISE_ENTROPY_LIMIT"),
    )


def _limit(name: str, value: object) -> float | None:
    """A number, or None for one that is left empty."""
    if value is None or not str(value).strip():
        return None
    check_number(name, value, 0.5)
    return float(str(value))


def _weights(path: str, models: Collection[str]) -> "Model | None":
    """The learned model of a file, or None for the one that comes with the crawler, which is seen to be whole."""
    if not path and "learned" not in models:
        return None
    from crawler.noise.learned import WeightsError, load, shipped

    try:
        if path:
            return load(Path(path))
        shipped()  # now, and not at the first picture
    except WeightsError as error:
        said = "setting IMAGE_NOISE_WEIGHTS is wrong" if path else "the model 'learned' cannot judge pictures"
        raise ArgumentError(f"{said}: {error}") from None
    return None


def _words(path: str) -> NoiseWords:
    """The noise words of a file, or those that come with the crawler."""
    if not path:
        return shipped()
    try:
        words = from_file(Path(path))
    except ValueError as error:
        raise ArgumentError(f"setting IMAGE_NOISE_KEYWORDS={path!r} is wrong: {error}") from None
    if not words.weights:
        raise ArgumentError(f"setting IMAGE_NOISE_KEYWORDS={path!r} holds no word; give one a line, a weight behind it")
    return words


def leads_to_noise(sighting: Sighting, verdict: Verdict, judge: Judge, pages: int) -> bool:
    """Whether the page behind a picture is noise too, by the judge and by how many pages of the site it has seen.

    A picture that is noise may lead to a good page of the same site: the thumbnail of another story does. So the page
    is noise only if it is another site's, if the picture is on a large share of this site's pages (a menu, which words
    lead to as well; a banner), or if words of adverts or a filter list say so.
    """
    if not verdict.is_noise:
        return False
    elsewhere = bool(sighting.target) and site(sighting.target) != site(sighting.page)
    everywhere = verdict.redundancy is not None and judge.is_everywhere(verdict.redundancy, pages)
    of_adverts = judge.noise_words.is_over(verdict.keyword, judge.keyword_limit)
    return elsewhere or everywhere or of_adverts or verdict.decided_by == BY_LIST


def counted(pages: Iterable[tuple[Sighting, ...]]) -> str:
    """The record of the evidence of pages of one site, by the pictures they show."""
    evidence = Evidence()
    for page in pages:
        evidence.see(page)
    return evidence.record()


class Shelf:
    """The evidence of the sites whose pictures are being judged."""

    def __init__(self) -> None:
        self._sites: dict[int, Evidence] = {}

    def of(self, site_id: int | None) -> Evidence:
        """The evidence of a site; none where nothing was counted."""
        return self._sites.get(site_id or 0) or Evidence()

    def take_in(self, news: Iterable[Counts], forgotten: Iterable[int]) -> None:
        """Add what was counted since, and forget sites that were not asked for lately."""
        for one in news:
            known = Evidence() if one.whole else self._sites.get(one.site_id, Evidence())
            for record in one.counts:
                known.add(Evidence.of(record))
            self._sites[one.site_id] = known
        for site_id in forgotten:
            self._sites.pop(site_id, None)
