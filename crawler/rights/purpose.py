"""The purpose of a crawl: the uses that its pages are collected for, and what becomes of pages that disallow them."""

from collections.abc import Iterable
from dataclasses import dataclass

from crawler.rights.statement import RightsEvidence, Signal, Use, refusal
from crawler.rights.tdm_reservation import MINING

LABEL = "label"
"""The word that keeps all pages: the item field `rights` only records what is allowed."""
PURPOSES = (LABEL, Use.AI_TRAIN.value, Use.AI_INPUT.value, Use.SEARCH.value)
"""The words of which the purpose of a crawl consists."""


@dataclass(frozen=True)
class Purpose:
    """The purpose of a crawl."""

    uses: frozenset[Use] = frozenset()
    """The uses that the pages are collected for."""
    keeps_disallowed: bool = True
    """Whether pages that disallow these uses are kept."""

    @classmethod
    def of(cls, words: Iterable[str]) -> "Purpose":
        """The purpose that these words name, each of which is one of `PURPOSES`."""
        names = set(words)
        return cls(uses=frozenset(Use(name) for name in names - {LABEL}), keeps_disallowed=LABEL in names)

    @property
    def wants_reservations(self) -> bool:
        """Whether the tdmrep.json of each host is requested. It only says whether mining is allowed."""
        return not self.uses.isdisjoint(MINING)

    @property
    def leaves_out_images(self) -> bool:
        """Whether images are not downloaded from pages whose directives for robots have `noimageai`."""
        return Use.AI_TRAIN in self.uses and not self.keeps_disallowed

    def refusal(self, evidence: Iterable[RightsEvidence]) -> Signal | None:
        """The first signal because of which a page is not kept; None if it is kept."""
        if self.keeps_disallowed:
            return None
        return refusal(evidence, self.uses)


LABEL_ONLY = Purpose()
"""The default: all pages are kept, and neither licence files nor a tdmrep.json is requested."""
