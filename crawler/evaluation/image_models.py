"""The models that are compared: the verdict by default, those of Li 2006 alone and joined, and filter lists."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crawler.noise.evidence import Evidence
from crawler.noise.image_filter import FilterLists
from crawler.noise.sighting import Sighting
from crawler.noise.verdict import Judge, Verdict

PAPER = ("keyword", "redundancy", "entropy")
JOINT, THREE, LISTS, ALL_CONTENT = "joint verdict", "the three joined", "filter lists", "everything is content"


@dataclass(frozen=True)
class SingleModel:
    """One model of the paper, by its own score."""

    name: str

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict of the model; its score stands as the probability, and what it knows nothing of comes last."""
        verdict = _judge(self.name).judge(sighting, evidence)
        score = getattr(verdict, self.name)
        return verdict._replace(probability=-1.0 if score is None else score)


@dataclass(frozen=True)
class FilterListModel:
    """Filter lists: noise is what they would block, or what links to something that they would."""

    paths: tuple[Path, ...]

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict of the lists."""
        lists = _lists(self.paths)
        url, target, page = sighting.url, sighting.target, sighting.page
        hit = lists.hit(url, page) or (bool(target) and lists.hit(target, page, "document"))
        return Verdict(hit, float(hit))


class AllContent:
    """The model that takes everything for content."""

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """Always the same."""
        return Verdict(False, 0.0)


def models(lists: tuple[Path, ...]) -> dict[str, Judge | SingleModel | FilterListModel | AllContent]:
    """The models that are compared, by their names in tables; a ValueError where lists cannot be read."""
    found: dict[str, Judge | SingleModel | FilterListModel | AllContent] = {JOINT: Judge()}
    found |= {name: SingleModel(name) for name in PAPER}
    found[THREE] = Judge(models=PAPER)
    if lists:
        _lists(lists)
        found[LISTS] = FilterListModel(lists)
    return found | {ALL_CONTENT: AllContent()}


@cache
def _judge(name: str) -> Judge:
    return Judge(models=(name,))


@cache
def _lists(paths: tuple[Path, ...]) -> FilterLists:
    return FilterLists(paths)
