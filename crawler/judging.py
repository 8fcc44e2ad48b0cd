"""The judge of pictures as the settings have it, and what it knows of the sites whose pages show them."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from crawler.arguments import ArgumentError
from crawler.explanation import Reason
from crawler.noise.evidence import Evidence
from crawler.noise.filter_list import FilterLists
from crawler.noise.reasons import NoiseReason
from crawler.noise.sighting import Sighting
from crawler.noise.verdict import MODELS, Judge, Verdict
from crawler.state.entries import Evidence as Counts
from crawler.urls.parsing import site

if TYPE_CHECKING:  # it imports numpy, which is not for every command
    from crawler.noise.learned import Model

LIMIT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
BY_LIST = "filter_list"


@dataclass(frozen=True)
class Court:
    """A judge of pictures, and filter lists that overrule it."""

    judge: Judge
    lists: FilterLists | None = None

    def verdict(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict on a picture, by what its site shows on all its pages so far."""
        said = self.judge.judge(sighting, evidence)
        if self._is_listed(sighting):
            reasons = (*(said.reasons if said.is_noise else ()), Reason(NoiseReason.BLOCKED_BY_LIST, {}))
            return said._replace(is_noise=True, probability=1.0, reasons=reasons, decided_by=BY_LIST)
        return said

    def _is_listed(self, sighting: Sighting) -> bool:
        """Whether a picture or where it leads is on the lists."""
        if self.lists is None:
            return False
        if self.lists.hit(sighting.url, sighting.page):
            return True
        return bool(sighting.target) and self.lists.hit(sighting.target, sighting.page, "document")


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
    limits = dict(map(_model, settings.getlist("IMAGE_NOISE_MODELS")))
    if not limits:
        raise _wrong_models("it names none")
    return Judge(
        tuple(limits),
        learned=_weights(settings["IMAGE_NOISE_WEIGHTS"], limits),
        **{f"{name}_limit": limit for name, limit in limits.items() if limit is not None},  # type: ignore[arg-type]
    )


def _model(written: str) -> tuple[str, float | None]:
    """A model's name and its limit, if one is written behind it."""
    name, colon, limit = (part.strip() for part in str(written).partition(":"))
    if name not in MODELS:
        raise _wrong_models(f"{name[:100]!r} is not known")
    if not colon:
        return name, None
    if name == "size":
        raise _wrong_models("'size' has no limit")
    if not LIMIT.fullmatch(limit) or (float(limit) > 1 and name != "keyword"):
        least = "a number" if name == "keyword" else "a number from 0 to 1"
        raise _wrong_models(f"the limit of {name!r} is {limit[:100]!r} and not {least}")
    return name, float(limit)


def _wrong_models(why: str) -> ArgumentError:
    return ArgumentError(
        f"setting IMAGE_NOISE_MODELS is wrong, {why}; allowed are {', '.join(MODELS)}, separated by commas, "
        "and limits such as redundancy:0.3"
    )


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
