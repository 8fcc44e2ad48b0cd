"""How well a noise model does (Li 2006, part 4): NPrecision and NRecall.

The paper prints NPrecision as the noise links filtered over all noise links filtered, which is always 1. It is read as
the true noise among what was skipped over all that was skipped; NRecall is as printed, over all noise. What the user
loses is neither of them, and is told beside them: the share of content that is kept.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Measures(NamedTuple):
    """The measures of a model; None where there is nothing to divide by."""

    links: int
    n_precision: float | None
    """True noise skipped over all skipped."""
    n_recall: float | None
    """True noise skipped over all noise."""
    content_kept: float | None
    """Content not skipped over all content."""


def measures(judged: Iterable[tuple[bool, bool]]) -> Measures:
    """The measures over links of which two things are known: whether it was skipped, and whether it is noise.

    >>> measures([(True, True), (True, False), (False, True), (False, False), (False, False)])
    Measures(links=5, n_precision=0.5, n_recall=0.5, content_kept=0.6666666666666666)
    """
    pairs = list(judged)
    skipped = [is_noise for was_skipped, is_noise in pairs if was_skipped]
    noise = sum(is_noise for _, is_noise in pairs)
    content = len(pairs) - noise
    return Measures(
        len(pairs),
        _share(sum(skipped), len(skipped)),
        _share(sum(skipped), noise),
        _share(content - (len(skipped) - sum(skipped)), content),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
