"""The verdict on a picture, with its reasons in words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.noise.entropy import entropy
from crawler.noise.evidence import Evidence
from crawler.noise.keyword import NoiseWords, shipped
from crawler.noise.redundancy import LEAST_PAGES, redundancy
from crawler.noise.sighting import Sighting
from crawler.noise.words import description

MOST_NAMED = 5
"""Words that a reason names."""


class Opinion(NamedTuple):
    """What one model says of a picture."""

    score: float | None = None
    """None where the model has nothing to go by."""
    limit: float = 1.0
    """The score from which on the picture is noise."""
    is_noise: bool = False
    reason: str = ""
    """Why it is noise, in words; empty where it is not."""

    @property
    def probability(self) -> float:
        """The score as if it were a probability: one half at the limit, straight lines to 0 and 1; not calibrated."""
        if self.score is None:
            return 0.0
        if self.is_noise:
            over = (self.score - self.limit) / (1 - self.limit) if self.limit < 1 else 0.0
            return 0.5 + min(max(over, 0.0), 1.0) / 2
        return min(max(self.score / self.limit, 0.0), 1.0) / 2 if self.limit > 0 else 0.0


NOTHING = Opinion()


class Verdict(NamedTuple):
    """What is said of a picture."""

    is_noise: bool
    probability: float
    """Of noise."""
    keyword: float | None = None
    """The scores of the three models; None where a model has nothing to go by."""
    redundancy: float | None = None
    entropy: float | None = None
    reasons: tuple[str, ...] = ()
    decided_by: str = ""
    """The first model that called it noise; empty where none did."""


@dataclass(frozen=True)
class Judge:
    """Judges pictures by the settings it was made with: noise is what one of its models calls so."""

    models: tuple[str, ...] = ("keyword", "redundancy", "entropy")
    """Names of `MODELS`."""
    noise_words: NoiseWords = field(default_factory=shipped)
    keyword_limit: float | None = None
    """None for formula 2: the mean weight of the words."""
    redundancy_limit: float = 0.3
    entropy_limit: float = 0.8

    def __post_init__(self) -> None:
        if unknown := [name for name in self.models if name not in MODELS]:
            raise ValueError(f"There is no noise model {unknown[0]!r}: there are {', '.join(MODELS)}.")

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict on a picture, by what its site shows on all its pages so far."""
        opinions = {name: MODELS[name](sighting, evidence, self) for name in self.models}
        said = opinions.values()
        return Verdict(
            is_noise=any(one.is_noise for one in said),
            probability=max((one.probability for one in said), default=0.0),
            keyword=opinions.get("keyword", NOTHING).score,
            redundancy=opinions.get("redundancy", NOTHING).score,
            entropy=opinions.get("entropy", NOTHING).score,
            reasons=tuple(one.reason for one in said if one.is_noise),
            decided_by=next((name for name, one in opinions.items() if one.is_noise), ""),
        )


def _by_keyword(sighting: Sighting, evidence: Evidence, judge: Judge) -> Opinion:
    known = judge.noise_words
    words = description(sighting)
    score = known.score(words)
    limit = known.limit if judge.keyword_limit is None else judge.keyword_limit
    if not known.is_over(score, limit):
        return Opinion(score, limit)
    telling = [word for word in known.common(words) if known.weights[word] >= limit]
    heaviest = sorted(telling, key=lambda word: (-known.weights[word], word))[:MOST_NAMED]
    return Opinion(
        score, limit, True, f"its words are those of adverts, navigation or decoration: {', '.join(heaviest)}"
    )


def _by_redundancy(sighting: Sighting, evidence: Evidence, judge: Judge) -> Opinion:
    limit = judge.redundancy_limit
    score = redundancy(sighting.url, evidence.shown, evidence.pages)
    if score is None or score <= limit or (pages := round(score * evidence.pages)) < LEAST_PAGES:
        return Opinion(score, limit)
    return Opinion(score, limit, True, f"shown on {pages} of {evidence.pages} pages of the site")


def _by_entropy(sighting: Sighting, evidence: Evidence, judge: Judge) -> Opinion:
    limit = judge.entropy_limit
    words = description(sighting)
    score = entropy(words, evidence.times, evidence.spread, evidence.links)
    # The pictures of a page or two share the words of their host and folder, whatever they show.
    if score is None or score <= limit or evidence.pages < LEAST_PAGES:
        return Opinion(score, limit)
    commonest = sorted(set(words), key=lambda word: (-evidence.times[word], word))
    reason = f"its words stand in many pictures of the site: {', '.join(commonest[:MOST_NAMED])}"
    return Opinion(score, limit, True, reason)


MODELS: dict[str, Callable[[Sighting, Evidence, Judge], Opinion]] = {
    "keyword": _by_keyword,
    "redundancy": _by_redundancy,
    "entropy": _by_entropy,
}
