"""The priority of a queued link is its score in thousandths, and far lower if it is unlikely to lead to the topic.

Seeds, lists, images and examples have fixed priorities outside this range.
"""

SCALE = 1_000
"""The priority of a link whose score is 1."""
HIGHEST = SCALE - 1
"""The highest priority of a link; only links that exploration chooses have it."""
UNLIKELY = -20_000
"""Added to the priority of a link that is unlikely to lead to the topic: it comes after all images."""
LEAST_LIKELY = UNLIKELY + SCALE
"""Only unlikely links have priorities below this."""
BEHIND_IMAGE = -1_000
"""The priority of a link that is only an image: mostly an advert, so it comes after all other likely links."""


def is_unlikely(priority: int) -> bool:
    """Whether a priority is that of a link that is unlikely to lead to the topic.

    >>> is_unlikely(UNLIKELY + 60), is_unlikely(60), is_unlikely(-10_000)
    (True, False, False)
    """
    return priority < LEAST_LIKELY


def score_of(priority: int) -> float | None:
    """The score of a link with this priority; None if the priority says nothing about a score.

    >>> score_of(60), score_of(UNLIKELY + 60), score_of(HIGHEST), score_of(-1_000)
    (0.06, 0.06, None, None)
    """
    thousandths = priority - UNLIKELY if is_unlikely(priority) else priority
    if 0 <= thousandths < HIGHEST:
        return thousandths / SCALE
    return None
