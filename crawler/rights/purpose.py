"""What the pages of a crawl are collected for, as its user says."""

from collections.abc import Iterable
from dataclasses import dataclass

from crawler.rights.statement import RightsEvidence, Signal, Use, refusal
from crawler.rights.tdm_reservation import MINING

LABEL = "label"
PURPOSES = (LABEL, *(use.value for use in (Use.AI_TRAIN, Use.AI_INPUT, Use.SEARCH)))


@dataclass(frozen=True)
class Purpose:
    """The uses that are meant, and whether what is disallowed for them is left out or labelled only."""

    uses: frozenset[Use] = frozenset()
    is_label: bool = True

    @classmethod
    def of(cls, words: Iterable[str]) -> "Purpose":
        """The purpose that these words of `PURPOSES` name."""
        names = set(words)
        return cls(frozenset(Use(word) for word in names - {LABEL}), LABEL in names)

    @property
    def wants_licences(self) -> bool:
        """Whether the licence files that sites name are asked for."""
        return bool(self.uses)

    @property
    def wants_reservations(self) -> bool:
        """Whether hosts are asked for their tdmrep.json, which is about mining only."""
        return not self.uses.isdisjoint(MINING)

    @property
    def leaves_out_images(self) -> bool:
        """Whether the images of pages with noimageai are left out."""
        return Use.AI_TRAIN in self.uses and not self.is_label

    def refusal(self, evidence: Iterable[RightsEvidence]) -> Signal | None:
        """The first signal for which a page is left out, or None."""
        if self.is_label:
            return None
        return refusal(evidence, self.uses)


LABEL_ONLY = Purpose()
