"""What filter lists say of a picture: lists in the format of EasyList, by Brave's engine (the extra `adblock`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.noise.reasons import NoiseReason
from crawler.translation.reasons import Reason
from crawler.urls.parsing import site

if TYPE_CHECKING:
    from crawler.noise.evidence import Evidence
    from crawler.noise.sighting import Sighting
    from crawler.noise.verdict import Judge, Verdict


class FilterLists:
    """Lists of rules, read once; a check takes some 2 us."""

    def __init__(self, lists: Iterable[Path]) -> None:
        try:
            import adblock
        except ImportError:
            raise ValueError("Filter lists need the package adblock: pip install 'winnow-crawler[adblock]'.") from None
        rules = adblock.FilterSet()
        for path in lists:
            try:
                rules.add_filter_list(path.read_text(encoding="utf-8", errors="replace"))
            except OSError as error:
                raise ValueError(f"The filter list {path} cannot be read: {error.strerror}.") from None
        self._engine = adblock.Engine(rules)

    def hit(self, url: str, page: str, kind: str = "image") -> bool:
        """Whether a browser with these lists would not load an address for a page.

        `kind` is what the page loads it as: `image` for pictures, `document` for where a link leads.
        """
        return bool(self._engine.check_network_urls(url, page, kind).matched)


BY_LIST = "filter_list"


@dataclass(frozen=True)
class ImageNoiseFilter:
    """A judge of pictures, and filter lists that overrule it."""

    judge: "Judge"
    lists: FilterLists | None = None

    def verdict(self, sighting: "Sighting", evidence: "Evidence") -> "Verdict":
        """The verdict on a picture, by what its site shows on all its pages so far."""
        said = self.judge.judge(sighting, evidence)
        if self._is_listed(sighting):
            reasons = (*(said.reasons if said.is_noise else ()), Reason(NoiseReason.BLOCKED_BY_LIST, {}))
            return said._replace(is_noise=True, probability=1.0, reasons=reasons, decided_by=BY_LIST)
        return said

    def _is_listed(self, sighting: "Sighting") -> bool:
        """Whether a picture or where it leads is on the lists."""
        if self.lists is None:
            return False
        if self.lists.hit(sighting.url, sighting.page):
            return True
        return bool(sighting.target) and self.lists.hit(sighting.target, sighting.page, "document")


def leads_to_noise(sighting: "Sighting", verdict: "Verdict", judge: "Judge", pages: int) -> bool:
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
