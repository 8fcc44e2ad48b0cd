"""The verdict on a picture, with its reasons in words."""

from dataclasses import dataclass
from typing import NamedTuple

from crawler.noise.evidence import Evidence
from crawler.noise.sighting import Sighting


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


@dataclass(frozen=True)
class Judge:
    """Judges pictures by the settings it was made with."""

    def judge(self, sighting: Sighting, evidence: Evidence) -> Verdict:
        """The verdict on a picture, by what its site shows on all its pages so far."""
        raise NotImplementedError
